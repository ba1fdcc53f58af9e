"""What sensors see: scene, caster and velocities together, shared by all who see the same."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco

from lidar_sim.cast.motion import Motion
from lidar_sim.cast.scene import Scene
from lidar_sim.cast.table import make_caster
from lidar_sim.cast.visibility import excluded_bodies, visible_groups
from lidar_sim.records import Hits, Keyframe, RayBatch


class View:
    """One scene, its caster, and how things move in it; posed once for all sensors that share it.

    Args:
        scene: what rays can hit.
        caster: a key of ``CASTERS``.
        threads: None = all that Numba has.

    Raises:
        OptionError: no such caster, or invalid ``threads``.

    Attributes:
        scene: as given.
        caster: name of the caster.
    """

    def __init__(self, scene: Scene, caster: str, threads: int | None = None) -> None:
        self.scene = scene
        self.caster = caster
        self._caster = make_caster(caster, scene, threads)
        self._motion = Motion(scene, moving_geoms=self._caster.moving_geoms)
        self._stand = (0, 0, 0)

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let everything stand, or move between two keyframes; nothing to do where it does so already."""
        if before.capture > 0 and (before.capture, after.capture, self.scene.version) == self._stand:
            return
        self._caster.pose(before, after)
        self._motion.pose(before, after)
        self._stand = (before.capture, after.capture, self.scene.version)

    def cast(self, rays: RayBatch, carrier_body: int = 0) -> Hits:
        """What rays hit, with velocities.

        Args:
            rays: posed between the keyframes of ``pose``.
            carrier_body: body that carries the sensor.

        Raises:
            LidarSimError: never posed, or rays that are not finite or not of unit length.
        """
        return self._motion.with_velocities(self._caster.cast(rays), rays, carrier_body)


class Views:
    """All views of one model: whoever asks for what another one sees already, by the same caster, shares it.

    Args:
        model: the model, looked at again at each pose (see ``Scene``).
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._views: dict[object, View] = {}

    def view(
        self,
        *,
        carrier_body: int,
        exclude: str | Sequence[str],
        geomgroups: Sequence[int] | None,
        caster: str,
        threads: int | None,
    ) -> View:
        """View of a sensor; arguments and errors as of ``Scene`` and ``make_caster``."""
        excluded = excluded_bodies(self._model, carrier_body, exclude)
        key = (excluded.tobytes(), visible_groups(geomgroups).tobytes(), caster, threads)
        if key not in self._views:
            scene = Scene(self._model, carrier_body=carrier_body, exclude=exclude, geomgroups=geomgroups)
            self._views[key] = View(scene, caster, threads)
        return self._views[key]

    def refresh(self) -> None:
        """Read the model anew, meshes and height fields too."""
        for view in self._views.values():
            view.scene.refresh()
