"""One ray against a height field, in its own frame."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from lidar_sim.cast.kernels.primitives import MISS, TINY, along, ray_box
from lidar_sim.cast.kernels.triangles import ray_triangle
from lidar_sim.jit import inline_jit, jit

# A point this close to a wall's plane (m, and relative to the distance travelled) lies on it.
_ON_WALL = 1e-9


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
