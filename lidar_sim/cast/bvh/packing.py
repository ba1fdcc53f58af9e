"""A scene as kernels want it: one table of addresses, and the arrays behind it kept alive."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from lidar_sim.cast.bvh.kernels.build import build_tree, refit_tree
from lidar_sim.cast.bvh.kernels.layout import (
    DEEPEST,
    G_FIELD,
    G_KIND,
    G_LEAVES,
    G_MOTION,
    G_NODES,
    G_SIZE,
    GEOM_BYTES,
    MOTION_BYTES,
    T_BODY,
    T_BOUNDED,
    T_GEOM_ID,
    T_GEOMS,
    T_MOTIONS,
    T_MOVING,
    T_NODES,
    T_PLANES,
    T_SLOT,
    TABLE_SIZE,
)
from lidar_sim.cast.bvh.kernels.pose import pose_geoms
from lidar_sim.cast.bvh.motion import Pivots, Placement
from lidar_sim.cast.bvh.surfaces import Surface, aligned, hfield_surface, mesh_surface
from lidar_sim.cast.scene import Scene
from lidar_sim.errors import LidarSimError
from lidar_sim.records import F64, I64, Keyframe

_T = mujoco.mjtGeom
# The tree is built anew when motion has made its boxes so much larger, summed, than when it was built.
_REBUILD_AREA = 1.3


class PackedScene:
    """Geoms of a scene that the kernels know (all but SDF), in a tree.

    Args:
        scene: what rays can hit.
        surfaces: trees over triangles that an earlier one of the same shapes has made.

    Raises:
        LidarSimError: the trees are deeper than the kernels' stack.

    Attributes:
        table: (TABLE_SIZE,) i64 addresses, see ``kernels.layout``.
        surfaces: (geom type, number of the mesh or height field) -> its trees.
    """

    def __init__(self, scene: Scene, surfaces: Mapping[tuple[int, int], Surface] | None = None) -> None:
        model = scene.model
        known = scene.geom_visible & (model.geom_type != _T.mjGEOM_SDF)
        is_plane = model.geom_type == _T.mjGEOM_PLANE
        self.surfaces = _surfaces(model, known, surfaces or {})
        self._bounded_ids = np.flatnonzero(known & ~is_plane).astype(np.int32)
        self._plane_ids = np.flatnonzero(known & is_plane).astype(np.int32)
        self._model = model
        self._local_boxes = _local_boxes(model, self.surfaces)
        self._pivots = Pivots(model)
        self._body = np.array(scene.geom_body, np.int32)
        self._area = np.inf
        self._built_area = 0.0
        self._allocate()

    def _allocate(self) -> None:
        count = len(self._bounded_ids) + len(self._plane_ids)
        self._ids = np.concatenate([self._bounded_ids, self._plane_ids])
        self._slot = np.zeros(self._model.ngeom + 1, np.int32)
        self._records = aligned(np.zeros((max(count, 1), GEOM_BYTES // 8)))
        self._motions = aligned(np.zeros((max(count, 1), MOTION_BYTES // 8)))
        self._boxes = np.zeros((max(count, 1), 6), np.float32)
        self._last = np.full((max(count, 1), 30), np.nan)
        self._nodes = aligned(np.zeros((1, 64), np.float32))
        self._parent = np.full(1, -1, np.int32)
        self.table: I64 = np.zeros(TABLE_SIZE, np.int64)
        self._renumber()

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Put geoms where they stand, or let them move between two keyframes."""
        end = self._pivots.placement(after.world)
        start = end if before is after or before.world is after.world else self._pivots.placement(before.world)
        first_time = bool(np.isinf(self._area))
        changed = self._place(start, end)
        if changed and len(self._bounded_ids):
            self._area = refit_tree(self._nodes, self._parent, self._boxes) if not first_time else np.inf
            if first_time or self._area > _REBUILD_AREA * self._built_area:
                self._build(start, end)
        if changed:
            self.table[T_MOVING] = (self._records.view(np.int32)[: len(self._ids), G_MOTION] >= 0).any()

    def _place(self, start: Placement, end: Placement) -> int:
        bounded = len(self._bounded_ids)
        return int(
            pose_geoms(
                self._ids, bounded, start, end, self._local_boxes, self._records, self._motions, self._boxes, self._last
            )
        )

    def _build(self, start: Placement, end: Placement) -> None:
        bounded = len(self._bounded_ids)
        nodes, order, _, parent, depth = build_tree(self._boxes[:bounded], 1)
        self._check_depth(int(depth))
        self._nodes, self._parent = aligned(nodes), parent
        self._ids[:bounded] = self._ids[:bounded][order]
        self._last[:] = np.nan
        self._renumber()
        self._place(start, end)
        self._area = self._built_area = float(refit_tree(self._nodes, self._parent, self._boxes))

    def _check_depth(self, depth: int) -> None:
        total = depth + max((surface.depth for surface in self.surfaces.values()), default=0)
        if total > DEEPEST:
            raise LidarSimError(f"the trees over this scene have {total} levels; the caster's stack holds {DEEPEST}")

    def _renumber(self) -> None:
        """Write all that goes with the order of the records but the poses, and the table."""
        model, ids = self._model, self._ids
        count = len(ids)
        self._slot[ids] = np.arange(count)
        self._records[:count, G_SIZE : G_SIZE + 3] = model.geom_size[ids]
        self._records.view(np.int32)[:count, G_KIND] = model.geom_type[ids]
        self._records.view(np.int32)[:count, G_MOTION] = -1
        addresses = self._records.view(np.int64)
        for slot, g in enumerate(ids):
            surface = self.surfaces.get(_surface_key(model, int(g)))
            if surface is not None:
                addresses[slot, G_NODES] = surface.nodes.ctypes.data
                addresses[slot, G_LEAVES] = surface.leaves.ctypes.data
                addresses[slot, G_FIELD] = surface.field.ctypes.data
        self.table[T_NODES] = self._nodes.ctypes.data
        self.table[T_GEOMS] = self._records.ctypes.data
        self.table[T_BOUNDED] = len(self._bounded_ids)
        self.table[T_PLANES] = len(self._plane_ids)
        self.table[T_GEOM_ID] = self._ids.ctypes.data
        self.table[T_SLOT] = self._slot.ctypes.data
        self.table[T_MOTIONS] = self._motions.ctypes.data
        self.table[T_BODY] = self._body.ctypes.data


def _surface_key(model: mujoco.MjModel, geom: int) -> tuple[int, int]:
    return int(model.geom_type[geom]), int(model.geom_dataid[geom])


def _surfaces(
    model: mujoco.MjModel, known: np.ndarray, made: Mapping[tuple[int, int], Surface]
) -> dict[tuple[int, int], Surface]:
    """Surface of each mesh and height field that a visible geom shows."""
    surfaces = dict(made)
    for g in np.flatnonzero(known):
        key = _surface_key(model, int(g))
        if key in surfaces:
            continue
        if key[0] == _T.mjGEOM_MESH:
            surfaces[key] = mesh_surface(_mesh_corners(model, key[1]))
        elif key[0] == _T.mjGEOM_HFIELD:
            surfaces[key] = hfield_surface(*_hfield(model, key[1]))
    return surfaces


def _mesh_corners(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    first_vert, first_face = model.mesh_vertadr[mesh], model.mesh_faceadr[mesh]
    vertices = model.mesh_vert[first_vert : first_vert + model.mesh_vertnum[mesh]]
    return np.asarray(vertices[model.mesh_face[first_face : first_face + model.mesh_facenum[mesh]]])


def _hfield(model: mujoco.MjModel, field: int) -> tuple[np.ndarray, F64]:
    rows, columns, first = model.hfield_nrow[field], model.hfield_ncol[field], model.hfield_adr[field]
    elevation = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
    return elevation, np.array(model.hfield_size[field])


def _local_boxes(model: mujoco.MjModel, surfaces: dict[tuple[int, int], Surface]) -> F64:
    """(ngeom, 6) m, centre and half lengths in each geom's frame."""
    boxes = np.zeros((model.ngeom, 6))
    kind, size = model.geom_type, np.array(model.geom_size)
    half = size.copy()
    round_ = np.isin(kind, (_T.mjGEOM_SPHERE, _T.mjGEOM_CAPSULE, _T.mjGEOM_CYLINDER))
    half[round_, 1] = size[round_, 0]
    half[round_, 2] = size[round_, 1]
    half[kind == _T.mjGEOM_SPHERE, 2] = size[kind == _T.mjGEOM_SPHERE, 0]
    half[kind == _T.mjGEOM_CAPSULE, 2] += size[kind == _T.mjGEOM_CAPSULE, 0]
    boxes[:, 3:] = half
    for g in range(model.ngeom):
        surface = surfaces.get(_surface_key(model, g))
        if surface is not None:
            boxes[g] = surface.box
    return boxes
