"""What rays can hit: a private copy of the model, what of it is visible, where it stands."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import mujoco
import numpy as np

from lidar_sim.cast.bounds import ShapeBoxes, grow_body_bounds, grow_geom_bounds
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

# Small arrays of a model that decide what rays hit: they are compared at every pose.
_WATCHED = (
    *("geom_group", "geom_rgba", "geom_matid", "geom_size", "geom_pos", "geom_dataid", "body_ipos"),
    *("mat_rgba", "hfield_size", "flex_group", "flex_rgba", "flex_matid", "flex_radius"),
)
# Large ones, read by ``refresh`` only.
_SURFACES = (
    *("mesh_vert", "mesh_face", "hfield_data", "bvh_aabb", "bvh_child", "bvh_nodeid", "bvh_depth"),
    *("geom_aabb", "geom_rbound", "oct_aabb", "oct_coeff", "oct_child", "flex_edge", "flex_elem", "flex_elemlayer"),
)
_RESHAPES = frozenset(("hfield_size", "geom_dataid"))


class Scene:
    """The visible part of a MuJoCo model, and its pose.

    The model is copied, and the caller's is looked at again. Changes of geom groups, colours, alphas, materials, sizes,
    places of geoms in their bodies, and of which mesh a geom shows, are noticed at the next ``pose``. Vertices of
    meshes and heights of height fields are too many to be looked through: call ``refresh`` after changing them. Poses
    of joints and mocap bodies come with every keyframe. Who is excluded, and which groups are visible, stays as
    it was asked for.

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
        self._excluded = excluded_bodies(model, carrier_body, exclude)
        self._groups = visible_groups(geomgroups)
        self._source: mujoco.MjModel | None = model
        self._watched = [getattr(model, name) for name in _WATCHED]
        self.static = static
        """As given."""
        self.model = _private_copy(model)
        """Private copy: visible geoms are in group 0, the others in group 1."""
        self.geomgroup = np.array([1] + [0] * (GROUPS - 1), np.uint8)
        """(6,) to be handed to mj_ray together with ``model``."""
        self.geom_body = np.array(model.geom_bodyid, np.int32)
        """(ngeom,) body of each geom."""
        self.version = 0
        """Goes up when the arrays of ``model`` or what is visible have changed; casters then make ready anew."""
        self.surface_version = 0
        """Goes up when the shape of a mesh or height field may have changed."""
        self._shape_boxes: ShapeBoxes = {}
        self._keyframe: Keyframe | None = None
        self._look(model)

    def refresh(self) -> None:
        """Read the caller's model anew, meshes and height fields too; casters follow at their next ``pose``."""
        if self._source is not None:
            self._read(self._source, (*_WATCHED, *_SURFACES), reshaped=True)

    def _notice(self) -> None:
        """Read what is watched, if it changed."""
        if self._source is None:
            return
        changed = {
            name
            for name, values, seen in zip(_WATCHED, self._watched, self._seen, strict=True)
            if values.tobytes() != seen
        }
        if changed:
            self._read(self._source, _WATCHED, reshaped=not changed.isdisjoint(_RESHAPES))

    def _read(self, source: mujoco.MjModel, names: Sequence[str], *, reshaped: bool) -> None:
        if reshaped:
            self.surface_version += 1
            self._shape_boxes = {}
        for name in names:
            getattr(self.model, name)[...] = getattr(source, name)
        self._look(source)
        self.version += 1

    def _look(self, source: mujoco.MjModel) -> None:
        """What is visible, and the private copy's groups and bounds, from the source's present state."""
        self._seen = [values.tobytes() for values in self._watched]
        self.geom_visible = visible_geoms(source, self._excluded, self._groups, self.static)
        """(ngeom,) bool, what rays can hit."""
        self.flex_visible = visible_flexes(source, self._excluded, self._groups, self.static)
        """(nflex,) bool."""
        self.geom_reflectivity = reflectivity(source)
        """(ngeom,) f64 in 0..1, luminance of the colour: the material's, else the geom's own."""
        grow_geom_bounds(self.model, self._shape_boxes)
        _show(self.model, self.geom_visible)

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let geoms and flexes stand as at ``after``; ``before`` is for casters that move them between.

        What changed in the caller's model since the last time is noticed here.
        """
        self._notice()
        self._keyframe = after

    def only(self, geoms: Mask) -> Scene:
        """The same scene with nothing but some of its geoms, and no flexes; it notices no change.

        Args:
            geoms: (ngeom,) True = kept, if it is visible at all.
        """
        part = copy.copy(self)
        part._source = None
        part.geom_visible = self.geom_visible & geoms
        part.flex_visible = np.zeros_like(self.flex_visible)
        part.model = _private_copy(self.model)
        _show(part.model, part.geom_visible)
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


def _private_copy(model: mujoco.MjModel) -> mujoco.MjModel:
    private = copy.copy(model)
    # With this flag on, mj_ray writes into a mjData it calls const.
    private.vis.global_.bvactive = 0
    return private


def _show(private: mujoco.MjModel, visible: Mask) -> None:
    private.geom_group[:] = np.where(visible, 0, 1)
    grow_body_bounds(private, visible)
