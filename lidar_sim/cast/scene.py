"""What rays can hit: a private copy of the model, what of it is visible, where it stands."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import mujoco
import numpy as np

from lidar_sim.cast.visibility import (
    GROUPS,
    Mask,
    excluded_bodies,
    reflectivity,
    visible_flexes,
    visible_geoms,
    visible_groups,
)
from lidar_sim.errors import LidarSimError, ModelError
from lidar_sim.records import Keyframe

# More than the rounding errors of poses and norms, less than what would cost speed.
_ROUNDING = 1.0 + 1e-6


class Scene:
    """The visible part of a MuJoCo model, and its pose.

    The model is copied: later changes to colours, groups, sizes or height fields of the caller's model are
    not seen; make a new scene for them.

    Args:
        model: any MuJoCo model.
        carrier_body: id of the body that carries the sensor; 0 (the world) has nothing to exclude.
        exclude: "none", "body" (the carrier), "subtree" (the whole kinematic tree of the carrier), a body's
            name, or several names (the geoms of just those bodies). A flex is excluded when all bodies that
            it hangs on are.
        geomgroups: MuJoCo groups (0 to 5) that are visible, for geoms and flexes; None = all.
        static: False = what is welded to the world is not seen (``flg_static`` of mj_ray).

    Raises:
        ModelError: unknown body.
        OptionError: invalid groups.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        *,
        carrier_body: int = 0,
        exclude: str | Sequence[str] = "body",
        geomgroups: Sequence[int] | None = None,
        static: bool = True,
    ) -> None:
        if not 0 <= carrier_body < model.nbody:
            raise ModelError(f"carrier_body {carrier_body} is no body of this model; valid: 0 to {model.nbody - 1}")
        excluded = excluded_bodies(model, carrier_body, exclude)
        groups = visible_groups(geomgroups)
        self.static = static
        """As given."""
        self.geom_visible = visible_geoms(model, excluded, groups, static)
        """(ngeom,) bool, what rays can hit."""
        self.flex_visible = visible_flexes(model, excluded, groups, static)
        """(nflex,) bool."""
        self.geom_body = np.array(model.geom_bodyid, np.int32)
        """(ngeom,) body of each geom."""
        self.geom_reflectivity = reflectivity(model)
        """(ngeom,) f64 in 0..1, luminance of the colour: the material's, else the geom's own."""
        self.model = _private_copy(model, self.geom_visible)
        """Private copy: visible geoms are in group 0, the others in group 1."""
        self.geomgroup = np.array([1] + [0] * (GROUPS - 1), np.uint8)
        """(6,) to be handed to mj_ray together with ``model``."""
        self._keyframe: Keyframe | None = None

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let geoms and flexes stand as at ``after``; ``before`` is for casters that move them between."""
        self._keyframe = after

    def only(self, geoms: Mask) -> Scene:
        """The same scene with nothing but some of its geoms, and no flexes.

        Args:
            geoms: (ngeom,) True = kept, if it is visible at all.
        """
        part = copy.copy(self)
        part.geom_visible = self.geom_visible & geoms
        part.flex_visible = np.zeros_like(self.flex_visible)
        part.model = _private_copy(self.model, part.geom_visible)
        return part

    @property
    def world(self) -> mujoco.MjData:
        """Kinematics of the last pose; to be read only.

        Raises:
            LidarSimError: ``pose`` was never called.
        """
        if self._keyframe is None:
            raise LidarSimError("the scene has no pose yet: call pose(before, after) before cast(rays)")
        return self._keyframe.world


def _private_copy(model: mujoco.MjModel, visible: Mask) -> mujoco.MjModel:
    private = copy.copy(model)
    private.geom_group[:] = np.where(visible, 0, 1)
    # With this flag on, mj_ray writes into a mjData it calls const.
    private.vis.global_.bvactive = 0
    for body in np.flatnonzero(private.body_bvhadr >= 0):
        radius = _radius_of_visible_geoms(private, int(body), visible)
        private.bvh_aabb[private.body_bvhadr[body]] = (0.0, 0.0, 0.0, radius, radius, radius)
    return private


def _radius_of_visible_geoms(model: mujoco.MjModel, body: int, visible: Mask) -> float:
    """Radius in m, about the body's inertial frame, that holds all its visible geoms.

    mj_multiRay skips a body whose bounding box the ray misses. As compiled, that box holds the collidable
    geoms only (and up to MuJoCo 3.5 it is not turned with the inertial frame): hits on visual geoms that
    reach outside are lost. A cube centred on the inertial frame that holds a sphere around all visible
    geoms is right whichever way it is turned, and whether the box itself or a sphere around it is tested.
    """
    first = model.body_geomadr[body]
    geoms = np.arange(first, first + model.body_geomnum[body])
    geoms = geoms[visible[geoms]]
    if (model.geom_type[geoms] == mujoco.mjtGeom.mjGEOM_PLANE).any():
        return float(mujoco.mjMAXVAL)
    reach = np.linalg.norm(model.geom_pos[geoms] - model.body_ipos[body], axis=1) + model.geom_rbound[geoms]
    return float(reach.max(initial=0.0)) * _ROUNDING
