"""One ray against triangles: meshes, height fields and flexes, each in its own frame."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lidar_sim.cast.kernels.primitives import MISS, TINY, along, dot, ray_box, ray_capsule
from lidar_sim.jit import inline_jit, jit

# Faces of a tetrahedron; that of a triangle comes first.
_CORNERS = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
# A point this close to a wall's plane (m, and relative to the distance travelled) lies on it.
_ON_WALL = 1e-9


class Meshes(NamedTuple):
    """Triangles of all meshes of a model, as in mjModel."""

    vert: Any
    """(V, 3) f32 m."""
    face: Any
    """(F, 3) i32 vertices, counted from the mesh's first."""
    vert_first: Any
    """(M,) i32."""
    face_first: Any
    """(M,) i32."""
    face_count: Any
    """(M,) i32."""


class HeightFields(NamedTuple):
    """All height fields of a model, as in mjModel."""

    size: Any
    """(H, 4) f64 m: half length in x, in y, height of elevation 1 above z = 0, depth of the base below."""
    rows: Any
    """(H,) i32."""
    columns: Any
    """(H,) i32."""
    first: Any
    """(H,) i32 into elevation."""
    elevation: Any
    """(E,) f32 in 0..1, row by row: rows along y, columns along x."""


class Flexes(NamedTuple):
    """Visible flexes, as in mjModel, and where their vertices are."""

    ids: Any
    """(F,) i32 the visible ones; the arrays below hold all."""
    dim: Any
    radius: Any
    vert_first: Any
    edge: Any
    edge_first: Any
    edge_count: Any
    elem: Any
    elem_first: Any
    elem_data_first: Any
    elem_count: Any
    elem_layer: Any
    vert: Any
    """(V, 3) f64 m, world frame."""


@inline_jit
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline_jit
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline_jit
def _row(array, i):
    return np.float64(array[i, 0]), np.float64(array[i, 1]), np.float64(array[i, 2])


@jit
def ray_triangle(a, b, c, o, d):
    """Triangle seen from both sides; the normal is that of a, b, c counter-clockwise.

    Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection" (1997).
    """
    ab, ac, ao = _minus(b, a), _minus(c, a), _minus(o, a)
    n = _cross(ab, ac)
    det = -dot(d, n)
    if abs(det) < TINY:
        return MISS
    q = _cross(ao, d)
    u, v = dot(ac, q) / det, -dot(ab, q) / det
    if u < 0.0 or v < 0.0 or u + v > 1.0:
        return MISS
    length = math.sqrt(dot(n, n))
    return dot(ao, n) / det, n[0] / length, n[1] / length, n[2] / length


@jit
def ray_mesh(meshes, mesh, o, d):
    """Mesh number ``mesh``: its nearest triangle."""
    best = MISS
    first_vert = meshes.vert_first[mesh]
    first_face = meshes.face_first[mesh]
    for f in range(first_face, first_face + meshes.face_count[mesh]):
        a = _row(meshes.vert, first_vert + meshes.face[f, 0])
        b = _row(meshes.vert, first_vert + meshes.face[f, 1])
        c = _row(meshes.vert, first_vert + meshes.face[f, 2])
        hit = ray_triangle(a, b, c, o, d)
        if 0.0 <= hit[0] < best[0]:
            best = hit
    return best


@jit
def ray_hfield(fields, field, o, d):
    """Height field number ``field``: a base box below z = 0, and above it two triangles a cell, walled in."""
    sx, sy, sz, depth = fields.size[field]
    best = ray_box((sx, sy, 0.5 * depth), (o[0], o[1], o[2] + 0.5 * depth), d)
    enter, leave = _through_box((sx, sy, 0.5 * sz), (o[0], o[1], o[2] - 0.5 * sz), d)
    if leave < 0.0:
        return best
    ground = _ray_cells(fields, field, o, d, max(enter, 0.0), leave)
    if ground[0] < best[0]:
        best = ground
    for t in (enter, leave):
        wall = _ray_wall(fields, field, o, d, t)
        if 0.0 <= wall[0] < best[0]:
            best = wall
    return best


@jit
def _through_box(size, o, d):
    """Distances at which the ray's line enters and leaves a box; leave = -inf if it misses."""
    enter, leave = -math.inf, math.inf
    for axis in range(3):
        if abs(d[axis]) <= TINY:
            if abs(o[axis]) > size[axis]:
                return math.inf, -math.inf
            continue
        one = (-size[axis] - o[axis]) / d[axis]
        two = (size[axis] - o[axis]) / d[axis]
        enter, leave = max(enter, min(one, two)), min(leave, max(one, two))
    if enter > leave:
        return math.inf, -math.inf
    return enter, leave


@inline_jit
def _grid_point(fields, field, row, column):
    sx, sy, sz, _ = fields.size[field]
    rows, columns = fields.rows[field], fields.columns[field]
    z = fields.elevation[fields.first[field] + row * columns + column]
    return 2.0 * sx * column / (columns - 1) - sx, 2.0 * sy * row / (rows - 1) - sy, z * sz


@inline_jit
def _cell_range(one, two, half, points):
    """Cells between two coordinates on an axis from -half to half, with one to spare on each side."""
    cell = 2.0 * half / (points - 1)
    first = math.floor((min(one, two) + half) / cell) - 1
    last = math.floor((max(one, two) + half) / cell) + 2
    return max(0, first), min(points - 1, last)


@jit
def _ray_cells(fields, field, o, d, enter, leave):
    """Nearest triangle of the cells that the ray passes between two distances; normals point up."""
    best = MISS
    start, end = along(o, d, enter), along(o, d, leave)
    first_row, last_row = _cell_range(start[1], end[1], fields.size[field, 1], fields.rows[field])
    first_column, last_column = _cell_range(start[0], end[0], fields.size[field, 0], fields.columns[field])
    for row in range(first_row, last_row):
        for column in range(first_column, last_column):
            a = _grid_point(fields, field, row, column)
            b = _grid_point(fields, field, row, column + 1)
            c = _grid_point(fields, field, row + 1, column + 1)
            e = _grid_point(fields, field, row + 1, column)
            for hit in (ray_triangle(a, b, c, o, d), ray_triangle(a, c, e, o, d)):
                if 0.0 <= hit[0] < best[0]:
                    best = hit
    return best


@jit
def _ray_wall(fields, field, o, d, t):
    """The wall under the rim of the ground at distance t, if t is on one of the four sides and below the rim."""
    sx, sy, _, _ = fields.size[field]
    rows, columns = fields.rows[field], fields.columns[field]
    x, y, z = along(o, d, t)
    on_x = abs(abs(x) - sx) < abs(abs(y) - sy)
    near = (abs(abs(x) - sx) if on_x else abs(abs(y) - sy)) <= _ON_WALL * (1.0 + abs(t))
    if not near:
        return MISS
    if on_x:
        side = math.copysign(1.0, x)
        place = (y + sy) / (2.0 * sy) * (rows - 1)
        k = min(max(math.floor(place), 0), rows - 2)
        column = columns - 1 if side > 0.0 else 0
        low, high = _grid_point(fields, field, k, column)[2], _grid_point(fields, field, k + 1, column)[2]
    else:
        side = math.copysign(1.0, y)
        place = (x + sx) / (2.0 * sx) * (columns - 1)
        k = min(max(math.floor(place), 0), columns - 2)
        row = rows - 1 if side > 0.0 else 0
        low, high = _grid_point(fields, field, row, k)[2], _grid_point(fields, field, row, k + 1)[2]
    if z >= low + (high - low) * (place - k):
        return MISS
    return (t, side, 0.0, 0.0) if on_x else (t, 0.0, side, 0.0)


@jit
def ray_flex(flexes, flex, o, d):
    """Flex number ``flex`` in the world frame: edges with their radius if 1D, else outer faces without it."""
    if flexes.dim[flex] == 1:
        return _ray_edges(flexes, flex, o, d)
    return _ray_faces(flexes, flex, o, d)


@jit
def _ray_edges(flexes, flex, o, d):
    best = MISS
    first_vert, first_edge = flexes.vert_first[flex], flexes.edge_first[flex]
    for e in range(first_edge, first_edge + flexes.edge_count[flex]):
        a = _row(flexes.vert, first_vert + flexes.edge[e, 0])
        b = _row(flexes.vert, first_vert + flexes.edge[e, 1])
        hit = _ray_segment(a, b, flexes.radius[flex], o, d)
        if hit[0] < best[0]:
            best = hit
    return best


@jit
def _ray_segment(a, b, radius, o, d):
    """Capsule of a radius around the segment from a to b."""
    ab = _minus(b, a)
    length = math.sqrt(dot(ab, ab))
    z = (ab[0] / length, ab[1] / length, ab[2] / length)
    side = (0.0, 1.0, 0.0) if abs(z[0]) > 0.5 else (1.0, 0.0, 0.0)
    x = _cross(side, z)
    norm = math.sqrt(dot(x, x))
    x = (x[0] / norm, x[1] / norm, x[2] / norm)
    y = _cross(z, x)
    p = (o[0] - 0.5 * (a[0] + b[0]), o[1] - 0.5 * (a[1] + b[1]), o[2] - 0.5 * (a[2] + b[2]))
    t, nx, ny, nz = ray_capsule(
        (radius, 0.5 * length, 0.0), (dot(x, p), dot(y, p), dot(z, p)), (dot(x, d), dot(y, d), dot(z, d))
    )
    return (
        t,
        nx * x[0] + ny * y[0] + nz * z[0],
        nx * x[1] + ny * y[1] + nz * z[1],
        nx * x[2] + ny * y[2] + nz * z[2],
    )


@jit
def _ray_faces(flexes, flex, o, d):
    best = MISS
    dim, first_vert = flexes.dim[flex], flexes.vert_first[flex]
    for e in range(flexes.elem_count[flex]):
        if dim == 3 and flexes.elem_layer[flexes.elem_first[flex] + e] != 0:
            continue
        at = flexes.elem_data_first[flex] + e * (dim + 1)
        for face in range(1 if dim == 2 else 4):
            i, j, k = _CORNERS[face]
            a = _row(flexes.vert, first_vert + flexes.elem[at + i])
            b = _row(flexes.vert, first_vert + flexes.elem[at + j])
            c = _row(flexes.vert, first_vert + flexes.elem[at + k])
            hit = ray_triangle(a, b, c, o, d)
            if 0.0 <= hit[0] < best[0]:
                best = hit
    return best
