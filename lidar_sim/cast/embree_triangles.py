"""Surfaces of geoms as triangles, with a bound on how far curved ones lie off."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from lidar_sim.records import F64, I64

# Half-width in m of a plane that MuJoCo takes as infinite; f32 still resolves 0.1 mm at its corners.
INFINITE_M = 1000.0
_FEWEST_SEGMENTS, _MOST_SEGMENTS = 8, 512
_T = mujoco.mjtGeom
_BOX_CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_BOX_FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


class Triangles(NamedTuple):
    """A surface in the frame of its geom, corners counter-clockwise as seen from outside."""

    corners: F64
    """(V, 3) m."""
    faces: I64
    """(F, 3) rows of ``corners``."""
    error_m: float
    """No point of the triangles is farther than this from the true surface."""


def geom_triangles(model: mujoco.MjModel, geom: int, sagitta_m: float) -> Triangles:
    """Triangles of one geom; all corners of curved surfaces lie on them, so that solids come out too small.

    Planes of size 0 reach ``INFINITE_M`` to each side. Meshes and height fields are what they are.

    Args:
        model: the MuJoCo model.
        geom: id of a geom that is no SDF.
        sagitta_m: how far triangles may lie off a curved surface; met up to a radius of some 10,000 times of it,
            where the number of segments ends. ``error_m`` tells what came of it.
    """
    kind, size = int(model.geom_type[geom]), np.array(model.geom_size[geom])
    if kind == _T.mjGEOM_PLANE:
        return _plane(size)
    if kind == _T.mjGEOM_BOX:
        return Triangles(_BOX_CORNERS * size, _BOX_FACES, 0.0)
    if kind == _T.mjGEOM_MESH:
        return _mesh(model, int(model.geom_dataid[geom]))
    if kind == _T.mjGEOM_HFIELD:
        return _height_field(model, int(model.geom_dataid[geom]))
    return _round(kind, size, sagitta_m)


def _plane(size: F64) -> Triangles:
    x, y = (half if half > 0.0 else INFINITE_M for half in size[:2])
    corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return Triangles(corners, np.array([[0, 1, 2], [0, 2, 3]]), 0.0)


def _mesh(model: mujoco.MjModel, mesh: int) -> Triangles:
    first_corner, first_face = model.mesh_vertadr[mesh], model.mesh_faceadr[mesh]
    corners = model.mesh_vert[first_corner : first_corner + model.mesh_vertnum[mesh]]
    faces = model.mesh_face[first_face : first_face + model.mesh_facenum[mesh]]
    return Triangles(np.array(corners, np.float64), np.array(faces, np.int64), 0.0)


def _height_field(model: mujoco.MjModel, field: int) -> Triangles:
    """Ground, walls from the rim down to z = 0, and the box under it."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    half_x, half_y, top, base = model.hfield_size[field]
    first = model.hfield_adr[field]
    height = model.hfield_data[first : first + rows * columns].reshape(rows, columns) * top
    y, x = np.meshgrid(np.linspace(-half_y, half_y, rows), np.linspace(-half_x, half_x, columns), indexing="ij")
    ground = np.stack([x, y, height], axis=-1)
    # Once round the rim, counter-clockwise as seen from above.
    rim = np.concatenate([ground[0], ground[1:, -1], ground[-1, -2::-1], ground[-2::-1, 0]])
    walls = np.stack([rim * (1.0, 1.0, 0.0), rim])
    box = _BOX_CORNERS * (half_x, half_y, base / 2) - (0.0, 0.0, base / 2)
    return _together([_grid(ground), _grid(walls), (box, _BOX_FACES)], 0.0)


def _round(kind: int, size: F64, sagitta_m: float) -> Triangles:
    """Sphere, ellipsoid, capsule or cylinder, as a line turned about the z axis."""
    radius = float(size.max() if kind == _T.mjGEOM_ELLIPSOID else size[0])
    segments = _segments(radius, sagitta_m)
    latitude = np.linspace(-np.pi / 2, np.pi / 2, 2 * -(-segments // 4) + 1)
    reach, height = np.cos(latitude), np.sin(latitude)
    reach[[0, -1]] = 0.0
    middle = len(latitude) // 2
    # Half the diagonal of the largest patch.
    opening = np.hypot(2 * np.pi / segments, latitude[1] - latitude[0]) / 2
    if kind == _T.mjGEOM_CYLINDER:
        reach, height = np.array([0.0, 1.0, 1.0, 0.0]) * radius, np.array([-1.0, -1.0, 1.0, 1.0]) * size[1]
        opening = np.pi / segments
    elif kind == _T.mjGEOM_CAPSULE:
        reach = np.concatenate([reach[: middle + 1], reach[middle:]]) * radius
        height = np.concatenate([height[: middle + 1] * radius - size[1], height[middle:] * radius + size[1]])
    scale = np.array({_T.mjGEOM_SPHERE: (radius,) * 3, _T.mjGEOM_ELLIPSOID: tuple(size)}.get(kind, (1.0, 1.0, 1.0)))
    corners, faces = _turned(reach, height, segments)
    return Triangles(corners * scale, faces, float(radius * (1.0 - np.cos(opening))))


def _segments(radius: float, sagitta_m: float) -> int:
    """Segments of a circle, so that a patch as long as it is wide is off by no more than the sagitta.

    A chord over the angle 2a is off by r (1 - cos a); the diagonal of the patch is sqrt(2) times its sides.
    """
    if sagitta_m >= radius:
        return _FEWEST_SEGMENTS
    wanted = np.ceil(2 * np.pi / (np.sqrt(2.0) * np.arccos(1.0 - sagitta_m / radius)))
    return int(min(max(wanted, _FEWEST_SEGMENTS), _MOST_SEGMENTS))


def _turned(reach: F64, height: F64, segments: int) -> tuple[F64, I64]:
    """The line (reach, height) turned about the z axis."""
    angle = 2 * np.pi * np.arange(segments + 1) / segments
    angle[-1] = 0.0
    x, y = np.outer(reach, np.cos(angle)), np.outer(reach, np.sin(angle))
    return _grid(np.stack([x, y, np.broadcast_to(height[:, None], x.shape)], axis=-1))


def _grid(points: F64) -> tuple[F64, I64]:
    """(R, C, 3) points as a strip of cells, two triangles each, those without area left out.

    Outside is where rows run up and columns run to the right.
    """
    rows, columns = points.shape[:2]
    corners = np.ascontiguousarray(points.reshape(-1, 3))
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
    c, d = number[1:, 1:].ravel(), number[1:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    one, two, three = (corners[faces[:, k]] for k in range(3))
    has_area = (one != two).any(axis=1) & (two != three).any(axis=1) & (three != one).any(axis=1)
    return corners, faces[has_area]


def _together(parts: list[tuple[F64, I64]], error_m: float) -> Triangles:
    start = np.cumsum([0] + [len(corners) for corners, _ in parts])
    faces = [faces + first for (_, faces), first in zip(parts, start[:-1], strict=True)]
    return Triangles(np.concatenate([corners for corners, _ in parts]), np.concatenate(faces), error_m)
