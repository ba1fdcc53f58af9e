"""Rays against leaves of 8 triangles, of meshes and of height fields, in f64.

A ray is inside a triangle when it passes its three edges on the same side. With the corners a, b, c relative to
the ray's origin, the side of edge (a, b) is the sign of d . (a x b), computed without fused rounding: the two
triangles at an edge get the very same number with opposite signs, so no ray passes between them (the
reasoning of S. Woop, C. Benthin, I. Wald, "Watertight Ray/Triangle Intersection", 2013, in the form of Pluecker
coordinates). Where many triangles meet in a corner, three such numbers can all be rounding and contradict one
another; so a side counts as right up to the bound of that rounding, and closed meshes let no ray through. (mj_ray
may lose a ray that meets an edge exactly.) The distance comes from the plane, n . a / n . d with
n = (b - a) x (c - a).

All but the products with d depends on the origin only: rays with one origin share it.
"""

from __future__ import annotations

import numpy as np

from lidar_sim.cast.bvh.kernels.boxes import reach_of
from lidar_sim.cast.bvh.kernels.layout import (
    BEST,
    F_SIZE,
    F_STEP,
    FACE,
    GEOM,
    HFIELD,
    HFIELD_LEAF_COLUMN,
    HFIELD_LEAF_ROW,
    HFIELD_LEAF_SIZE,
    LANES,
    LEAF_TRIANGLES,
    LOCAL_DIRECTION,
    LOCAL_ORIGIN,
    MESH_LEAF_SIZE,
    OWN_ORIGINS,
    REACH,
)
from lidar_sim.cast.bvh.kernels.shapes import dot
from lidar_sim.jit import inline_jit, strict_jit
from lidar_sim.simd import (
    absolute,
    bits,
    constant_f64,
    load8_f32,
    load16_f32,
    load_f32,
    load_f64,
    load_i32,
    lowest,
    lowest_bit,
    maximum,
    shuffle,
    splat8,
    store,
    to_f64,
    where,
)

# Corners of a leaf's 8 triangles in its 3 x 3 points: cell by cell (lower left, lower right, upper left, upper
# right), in each the triangle below the diagonal, then the one above it; as mj_rayHfield divides cells.
_A = (0, 0, 1, 1, 3, 3, 4, 4)
_B = (1, 4, 2, 5, 4, 7, 5, 8)
_C = (4, 3, 5, 4, 7, 6, 8, 7)
_POINTS = (_A, _B, _C)
_points_a, _points_b, _points_c = shuffle(*_A), shuffle(*_B), shuffle(*_C)
_column_a, _column_b, _column_c = (constant_f64(*(p % 3 for p in points)) for points in (_A, _B, _C))
_row_a, _row_b, _row_c = (constant_f64(*(p // 3 for p in points)) for points in (_A, _B, _C))
# Rounding of n . a / n . d against the product it is compared with first.
_MARGIN = 1.0 + 2.0**-50
# d . (a x b): five roundings of 2^-53 of products no larger than |a| |b|.
_SIDE_ROUNDING = 2.0**-51


@inline_jit
def _mesh_corners(leaves, leaf):
    at = leaf * MESH_LEAF_SIZE
    return (
        to_f64(load8_f32(leaves, at)),
        to_f64(load8_f32(leaves, at + 8)),
        to_f64(load8_f32(leaves, at + 16)),
        to_f64(load8_f32(leaves, at + 24)),
        to_f64(load8_f32(leaves, at + 32)),
        to_f64(load8_f32(leaves, at + 40)),
        to_f64(load8_f32(leaves, at + 48)),
        to_f64(load8_f32(leaves, at + 56)),
        to_f64(load8_f32(leaves, at + 64)),
    )


@inline_jit
def _hfield_corners(leaves, leaf, field):
    at = leaf * HFIELD_LEAF_SIZE
    points = load16_f32(leaves, at)
    row = np.float64(load_i32(leaves, at + HFIELD_LEAF_ROW))
    column = np.float64(load_i32(leaves, at + HFIELD_LEAF_COLUMN))
    sx, sy, sz = load_f64(field, F_SIZE), load_f64(field, F_SIZE + 1), load_f64(field, F_SIZE + 2)
    step_x, step_y = load_f64(field, F_STEP), load_f64(field, F_STEP + 1)
    return (
        (_column_a() + column) * step_x - sx,
        (_row_a() + row) * step_y - sy,
        to_f64(_points_a(points)) * sz,
        (_column_b() + column) * step_x - sx,
        (_row_b() + row) * step_y - sy,
        to_f64(_points_b(points)) * sz,
        (_column_c() + column) * step_x - sx,
        (_row_c() + row) * step_y - sy,
        to_f64(_points_c(points)) * sz,
    )


@inline_jit
def _corners(kind, leaves, leaf, field):
    return _hfield_corners(leaves, leaf, field) if kind == HFIELD else _mesh_corners(leaves, leaf)


@inline_jit
def _cross(ax, ay, az, bx, by, bz):
    """Without fused rounding, so that b x a is exactly -(a x b)."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inline_jit
def _length(x, y, z):
    """A length no shorter than the true one."""
    return absolute(x) + absolute(y) + absolute(z)


@inline_jit
def _face_normals(corners):
    ax, ay, az, bx, by, bz, cx, cy, cz = corners
    return _cross(bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az)


@inline_jit
def _seen_from(corners, ox, oy, oz):
    """All that depends on the origin: normal, three edges, n . a, rounding of the sides (negative).

    Turned so that n . a is not negative.
    """
    ax, ay, az, bx, by, bz, cx, cy, cz = corners
    nx, ny, nz = _face_normals(corners)
    ax, ay, az = ax - ox, ay - oy, az - oz
    bx, by, bz = bx - ox, by - oy, bz - oz
    cx, cy, cz = cx - ox, cy - oy, cz - oz
    ux, uy, uz = _cross(bx, by, bz, cx, cy, cz)
    vx, vy, vz = _cross(cx, cy, cz, ax, ay, az)
    wx, wy, wz = _cross(ax, ay, az, bx, by, bz)
    reach = maximum(maximum(_length(ax, ay, az), _length(bx, by, bz)), _length(cx, cy, cz))
    height = dot(nx, ny, nz, ax, ay, az)
    side = where(height < 0.0, splat8(-1.0), splat8(1.0))
    return (
        nx * side,
        ny * side,
        nz * side,
        ux * side,
        uy * side,
        uz * side,
        vx * side,
        vy * side,
        vz * side,
        wx * side,
        wy * side,
        wz * side,
        absolute(height),
        reach * reach * -_SIDE_ROUNDING,
    )


@inline_jit
def _try_ray(seen, lane, scratch, geom, leaf):
    """One ray against the 8 triangles; whether it is a new nearest hit. Of equal ones the lowest geom and face win."""
    nx, ny, nz, ux, uy, uz, vx, vy, vz, wx, wy, wz, height, rounding = seen
    dx = load_f64(scratch, LOCAL_DIRECTION + lane)
    dy = load_f64(scratch, LOCAL_DIRECTION + LANES + lane)
    dz = load_f64(scratch, LOCAL_DIRECTION + 2 * LANES + lane)
    best = load_f64(scratch, BEST + lane)
    slope = dot(nx, ny, nz, dx, dy, dz)
    u, v, w = dot(ux, uy, uz, dx, dy, dz), dot(vx, vy, vz, dx, dy, dz), dot(wx, wy, wz, dx, dy, dz)
    inside = (u >= rounding) & (v >= rounding) & (w >= rounding)
    inside = inside & (slope > 0.0) & (height <= slope * (best * _MARGIN))
    if bits(inside) == 0:
        return False
    distance = where(inside, height / slope, np.inf)
    nearest = lowest(distance)
    face = np.int32(leaf * LEAF_TRIANGLES + lowest_bit(bits(distance == nearest)))
    owner = load_i32(scratch, GEOM + lane)
    earlier = geom < owner or (geom == owner and face < load_i32(scratch, FACE + lane))
    if nearest > best or (nearest == best and not earlier):
        return False
    store(scratch, BEST + lane, nearest)
    store(scratch, REACH + lane, reach_of(nearest))
    store(scratch, GEOM + lane, np.int32(geom))
    store(scratch, FACE + lane, face)
    return True


@inline_jit
def _turned_to(seen, lane, scratch):
    """Triangles in whose plane the origin lies, turned to face away from one ray, so that it hits them at 0."""
    nx, ny, nz, ux, uy, uz, vx, vy, vz, wx, wy, wz, height, rounding = seen
    dx = load_f64(scratch, LOCAL_DIRECTION + lane)
    dy = load_f64(scratch, LOCAL_DIRECTION + LANES + lane)
    dz = load_f64(scratch, LOCAL_DIRECTION + 2 * LANES + lane)
    against = (height == 0.0) & (dot(nx, ny, nz, dx, dy, dz) < 0.0)
    s = where(against, splat8(-1.0), splat8(1.0))
    return (
        nx * s,
        ny * s,
        nz * s,
        ux * s,
        uy * s,
        uz * s,
        vx * s,
        vy * s,
        vz * s,
        wx * s,
        wy * s,
        wz * s,
        height,
        rounding,
    )


@inline_jit
def _origin_in_plane(seen):
    """Whether the origin lies in the plane of any triangle (one that is no mere filling)."""
    nx, ny, nz, height = seen[0], seen[1], seen[2], seen[12]
    flat = height == 0.0
    return bits(flat) != 0 and bits(flat & (dot(nx, ny, nz, nx, ny, nz) > 0.0)) != 0


@strict_jit
def _try_in_plane(kind, leaves, leaf, field, geom, lane, scratch):
    """The rare case apart, so that the usual one keeps all it has seen in registers."""
    ox = load_f64(scratch, LOCAL_ORIGIN + lane)
    oy = load_f64(scratch, LOCAL_ORIGIN + LANES + lane)
    oz = load_f64(scratch, LOCAL_ORIGIN + 2 * LANES + lane)
    seen = _seen_from(_corners(kind, leaves, leaf, field), ox, oy, oz)
    return _try_ray(_turned_to(seen, lane, scratch), lane, scratch, geom, leaf)


@strict_jit
def test_leaf(kind, leaves, leaf, field, geom, lanes, scratch, mode):
    """Rays (bits) against one leaf; whether any got a nearer hit.

    Args:
        kind: MESH or HFIELD.
        leaves: address of the leaf blocks.
        leaf: number of the block.
        field: address of the height-field record.
        geom: id of the geom.
        lanes: bits.
        scratch: address.
        mode: OWN_ORIGINS, ONE_ORIGIN or ONE_RAY.
    """
    corners = _corners(kind, leaves, leaf, field)
    lane = lowest_bit(lanes)
    found = False
    while True:
        ox = load_f64(scratch, LOCAL_ORIGIN + lane)
        oy = load_f64(scratch, LOCAL_ORIGIN + LANES + lane)
        oz = load_f64(scratch, LOCAL_ORIGIN + 2 * LANES + lane)
        seen = _seen_from(corners, ox, oy, oz)
        in_plane = _origin_in_plane(seen)
        while True:
            lanes &= lanes - 1
            if in_plane:
                found |= _try_in_plane(kind, leaves, leaf, field, geom, lane, scratch)
            else:
                found |= _try_ray(seen, lane, scratch, geom, leaf)
            if lanes == 0:
                return found
            lane = lowest_bit(lanes)
            if mode == OWN_ORIGINS:
                break


@inline_jit
def _mesh_corner(leaves, leaf, triangle, corner):
    at = leaf * MESH_LEAF_SIZE + 24 * corner + triangle
    return (
        np.float64(load_f32(leaves, at)),
        np.float64(load_f32(leaves, at + 8)),
        np.float64(load_f32(leaves, at + 16)),
    )


@inline_jit
def _hfield_corner(leaves, leaf, triangle, corner, field):
    at = leaf * HFIELD_LEAF_SIZE
    point = _POINTS[corner][triangle]
    row = np.float64(load_i32(leaves, at + HFIELD_LEAF_ROW) + point // 3)
    column = np.float64(load_i32(leaves, at + HFIELD_LEAF_COLUMN) + point % 3)
    return (
        column * load_f64(field, F_STEP) - load_f64(field, F_SIZE),
        row * load_f64(field, F_STEP + 1) - load_f64(field, F_SIZE + 1),
        np.float64(load_f32(leaves, at + point)) * load_f64(field, F_SIZE + 2),
    )


@inline_jit
def _corner(kind, leaves, leaf, triangle, corner, field):
    if kind == HFIELD:
        return _hfield_corner(leaves, leaf, triangle, corner, field)
    return _mesh_corner(leaves, leaf, triangle, corner)


@inline_jit
def face_normal(kind, leaves, face, field):
    """Normal of one face, a b c counter-clockwise, of any length."""
    leaf, triangle = face // LEAF_TRIANGLES, face % LEAF_TRIANGLES
    ax, ay, az = _corner(kind, leaves, leaf, triangle, 0, field)
    bx, by, bz = _corner(kind, leaves, leaf, triangle, 1, field)
    cx, cy, cz = _corner(kind, leaves, leaf, triangle, 2, field)
    return _cross(bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az)
