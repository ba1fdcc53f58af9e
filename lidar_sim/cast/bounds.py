"""Bounds by which MuJoCo's ray calls skip geoms and bodies, made large enough to hold what they stand for."""

from __future__ import annotations

import mujoco
import numpy as np

from lidar_sim.cast.visibility import Mask
from lidar_sim.records import F64, I32

_T = mujoco.mjtGeom
# More than the rounding errors of poses, norms and float32 vertices, less than what would cost speed.
_ROUNDING = 1.0 + 1e-6


ShapeBoxes = dict[tuple[int, int], tuple[F64, F64]]


def grow_geom_bounds(model: mujoco.MjModel, known: ShapeBoxes) -> None:
    """Let ``geom_aabb``, ``geom_rbound`` and the ``geom_size`` of meshes hold each geom as it is now.

    Sizes, vertices and heights may have been edited. As compiled they hold already, and stay. Planes have no bounds,
    and signed distance fields keep what they have.

    Args:
        model: to be written to.
        known: boxes of meshes and height fields by (geom type, number), of an earlier call where their shapes were the
            same; added to.
    """
    centre, half = _boxes(model, known)
    lower = np.minimum(model.geom_aabb[:, :3] - model.geom_aabb[:, 3:], centre - half)
    upper = np.maximum(model.geom_aabb[:, :3] + model.geom_aabb[:, 3:], centre + half)
    reach = np.linalg.norm(np.abs(centre) + half, axis=1)
    round_ = np.isin(model.geom_type, (_T.mjGEOM_SPHERE, _T.mjGEOM_CAPSULE, _T.mjGEOM_ELLIPSOID))
    reach[round_] = half[round_].max(axis=1)
    is_tube = model.geom_type == _T.mjGEOM_CYLINDER
    reach[is_tube] = np.hypot(model.geom_size[is_tube, 0], model.geom_size[is_tube, 1])
    outgrown = half.any(axis=1) & (reach > model.geom_rbound * _ROUNDING)
    model.geom_rbound[outgrown] = reach[outgrown] * _ROUNDING
    outgrown |= half.any(axis=1) & ((upper - lower) > 2.0 * model.geom_aabb[:, 3:] * _ROUNDING).any(axis=1)
    model.geom_aabb[outgrown, :3] = 0.5 * (lower + upper)[outgrown]
    model.geom_aabb[outgrown, 3:] = 0.5 * (upper - lower)[outgrown] * _ROUNDING
    # mj_rayMesh looks first whether the ray meets a box of these half lengths about the geom's frame.
    reach_of_box = np.maximum(np.abs(centre - half), np.abs(centre + half))
    outgrown = (model.geom_type == _T.mjGEOM_MESH) & (reach_of_box > model.geom_size * _ROUNDING).any(axis=1)
    model.geom_size[outgrown] = np.maximum(model.geom_size, reach_of_box * _ROUNDING)[outgrown]


def _boxes(model: mujoco.MjModel, known: ShapeBoxes) -> tuple[F64, F64]:
    """(ngeom, 3) m centre and half lengths in each geom's frame; all 0 = none."""
    kind, size = model.geom_type, model.geom_size
    centre, half = np.zeros((2, model.ngeom, 3))
    for types, columns in (
        ((_T.mjGEOM_SPHERE,), (0, 0, 0)),
        ((_T.mjGEOM_CAPSULE, _T.mjGEOM_CYLINDER), (0, 0, 1)),
        ((_T.mjGEOM_ELLIPSOID, _T.mjGEOM_BOX), (0, 1, 2)),
    ):
        rows = np.isin(kind, types)
        half[rows] = size[rows][:, columns]
    half[kind == _T.mjGEOM_CAPSULE, 2] += size[kind == _T.mjGEOM_CAPSULE, 0]
    for g in np.flatnonzero(np.isin(kind, (_T.mjGEOM_MESH, _T.mjGEOM_HFIELD))):
        key = (int(kind[g]), int(model.geom_dataid[g]))
        if key not in known:
            known[key] = _mesh_box(model, key[1]) if kind[g] == _T.mjGEOM_MESH else _hfield_box(model, key[1])
        lower, upper = known[key]
        centre[g], half[g] = 0.5 * (lower + upper), 0.5 * (upper - lower)
    return centre, half


def _mesh_box(model: mujoco.MjModel, mesh: int) -> tuple[F64, F64]:
    first = model.mesh_vertadr[mesh]
    vert = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
    return vert.min(axis=0).astype(np.float64), vert.max(axis=0).astype(np.float64)


def _hfield_box(model: mujoco.MjModel, field: int) -> tuple[F64, F64]:
    first, count = model.hfield_adr[field], model.hfield_nrow[field] * model.hfield_ncol[field]
    x, y, height, base = model.hfield_size[field]
    top = max(float(model.hfield_data[first : first + count].max()), 0.0) * height
    return np.array([-x, -y, -base]), np.array([x, y, top])


def grow_body_bounds(model: mujoco.MjModel, visible: Mask) -> None:
    """Let the bounding box of each body hold its visible geoms.

    mj_multiRay skips a body whose bounding box the ray misses. As compiled, that box holds the collidable
    geoms only (and up to MuJoCo 3.5 it is not turned with the inertial frame): hits on visual geoms that
    reach outside are lost. A cube centred on the inertial frame that holds a sphere around all visible
    geoms is right whichever way it is turned, and whether the box itself or a sphere around it is tested.
    """
    for body in np.flatnonzero(model.body_bvhadr >= 0):
        radius = _radius_of_visible_geoms(model, int(body), visible)
        model.bvh_aabb[model.body_bvhadr[body]] = (0.0, 0.0, 0.0, radius, radius, radius)


def _radius_of_visible_geoms(model: mujoco.MjModel, body: int, visible: Mask) -> float:
    """Radius in m, about the body's inertial frame, that holds all its visible geoms."""
    first = model.body_geomadr[body]
    geoms = np.arange(first, first + model.body_geomnum[body])
    geoms = geoms[visible[geoms]]
    if (model.geom_type[geoms] == _T.mjGEOM_PLANE).any():
        return float(mujoco.mjMAXVAL)
    reach = np.linalg.norm(model.geom_pos[geoms] - model.body_ipos[body], axis=1) + model.geom_rbound[geoms]
    return float(reach.max(initial=0.0)) * _ROUNDING


def grow_mesh_trees(model: mujoco.MjModel) -> None:
    """Let the boxes by which MuJoCo finds the triangles of meshes hold these triangles."""
    meshes = model.geom_dataid[model.geom_type == _T.mjGEOM_MESH]
    for mesh in np.unique(meshes):
        first = model.mesh_bvhadr[mesh]
        rows = slice(first, first + model.mesh_bvhnum[mesh])
        boxes = _leaf_boxes(model, int(mesh), model.bvh_nodeid[rows])
        if _outgrown(model.bvh_aabb[rows], boxes).any():
            _join_children(boxes, model.bvh_child[rows], model.bvh_depth[rows])
            _grow(model.bvh_aabb[rows], boxes)


def _leaf_boxes(model: mujoco.MjModel, mesh: int, node_face: I32) -> F64:
    """(K + 1, 6) m lower and upper corners of the triangle in each of K nodes; the others, and the last, are empty."""
    boxes = np.repeat([[np.inf] * 3 + [-np.inf] * 3], len(node_face) + 1, axis=0)
    leaf = np.flatnonzero(node_face >= 0)
    face = model.mesh_face[model.mesh_faceadr[mesh] + node_face[leaf]]
    corner = model.mesh_vert[model.mesh_vertadr[mesh] + face]
    boxes[leaf, :3], boxes[leaf, 3:] = corner.min(axis=1), corner.max(axis=1)
    return boxes


def _join_children(boxes: F64, child: I32, depth: I32) -> None:
    """Boxes of inner nodes, level by level from below; no child is -1, which stands for the last, empty, box."""
    is_inner = (child >= 0).any(axis=1)
    for level in range(int(depth.max(initial=0)), -1, -1):
        nodes = np.flatnonzero(is_inner & (depth == level))
        left, right = boxes[child[nodes, 0]], boxes[child[nodes, 1]]
        boxes[nodes, :3] = np.minimum(left[:, :3], right[:, :3])
        boxes[nodes, 3:] = np.maximum(left[:, 3:], right[:, 3:])


def _outgrown(aabb: F64, boxes: F64) -> Mask:
    slack = (_ROUNDING - 1.0) * (np.abs(aabb[:, :3]) + aabb[:, 3:])
    below = (boxes[:-1, :3] < aabb[:, :3] - aabb[:, 3:] - slack).any(axis=1)
    return np.asarray(below | (boxes[:-1, 3:] > aabb[:, :3] + aabb[:, 3:] + slack).any(axis=1))


def _grow(aabb: F64, boxes: F64) -> None:
    """Write (centre, half lengths) where the boxes were outgrown."""
    rows = _outgrown(aabb, boxes)
    lower, upper = boxes[:-1][rows, :3], boxes[:-1][rows, 3:]
    aabb[rows, :3] = 0.5 * (lower + upper)
    aabb[rows, 3:] = 0.5 * (upper - lower) * _ROUNDING
