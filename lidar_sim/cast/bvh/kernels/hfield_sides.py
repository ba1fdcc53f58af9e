"""Rays against what surrounds the ground of a height field: the base box below it and the walls up to its rim.

As mj_rayHfield has them: the base reaches from z = -depth to 0; above it, each side is solid up to the straight
lines between the points of the rim.
"""

from __future__ import annotations

import math

import numpy as np

from lidar_sim.cast.bvh.kernels.boxes import reach_of
from lidar_sim.cast.bvh.kernels.layout import (
    BEST,
    F_COUNT,
    F_ELEVATION,
    F_SIZE,
    FACE,
    GEOM,
    LANES,
    LOCAL_DIRECTION,
    LOCAL_ORIGIN,
    REACH,
    SIDE_FACES,
)
from lidar_sim.jit import inline_jit, strict_jit
from lidar_sim.simd import load_f32, load_f64, load_i32, load_i64, lowest_bit, store

# mjMINVAL: below it MuJoCo takes a number for zero.
_TINY = 1e-15


@inline_jit
def _rim_height(field, axis, upper, along):
    """Height of the rim of the side that is lower or upper on an axis, at a coordinate on the other axis."""
    columns, rows = int(load_f64(field, F_COUNT)), int(load_f64(field, F_COUNT + 1))
    points = rows if axis == 0 else columns
    half = load_f64(field, F_SIZE + 1 - axis)
    place = (along + half) / (2.0 * half) * (points - 1)
    k = min(max(math.floor(place), 0), points - 2)
    if axis == 0:
        first, step = k * columns + (columns - 1 if upper else 0), columns
    else:
        first, step = k + ((rows - 1) * columns if upper else 0), 1
    elevation = load_i64(field, F_ELEVATION)
    low, high = np.float64(load_f32(elevation, first)), np.float64(load_f32(elevation, first + step))
    return (low + (high - low) * (place - k)) * load_f64(field, F_SIZE + 2)


@inline_jit
def _keep(t, geom, face, lane, scratch):
    best, owner = load_f64(scratch, BEST + lane), load_i32(scratch, GEOM + lane)
    earlier = geom < owner or (geom == owner and face < load_i32(scratch, FACE + lane))
    if t < best or (t == best and earlier):
        store(scratch, BEST + lane, t)
        store(scratch, REACH + lane, reach_of(t))
        store(scratch, GEOM + lane, np.int32(geom))
        store(scratch, FACE + lane, np.int32(face))


@strict_jit
def _test_side(field, geom, axis, upper, lane, scratch):
    """One ray against one upright side: base below z = 0, wall above it up to the rim."""
    d = load_f64(scratch, LOCAL_DIRECTION + axis * LANES + lane)
    if abs(d) <= _TINY:
        return
    size = load_f64(field, F_SIZE + axis)
    t = ((size if upper else -size) - load_f64(scratch, LOCAL_ORIGIN + axis * LANES + lane)) / d
    other = 1 - axis
    along = load_f64(scratch, LOCAL_ORIGIN + other * LANES + lane)
    along += t * load_f64(scratch, LOCAL_DIRECTION + other * LANES + lane)
    if not (0.0 <= t <= load_f64(scratch, BEST + lane)) or abs(along) > load_f64(field, F_SIZE + other):
        return
    z = load_f64(scratch, LOCAL_ORIGIN + 2 * LANES + lane) + t * load_f64(scratch, LOCAL_DIRECTION + 2 * LANES + lane)
    if z < -load_f64(field, F_SIZE + 3):
        return
    if z <= 0.0 or z < _rim_height(field, axis, upper, along):
        _keep(t, geom, SIDE_FACES + 2 * axis + upper, lane, scratch)


@strict_jit
def _test_lid(field, geom, upper, lane, scratch):
    """One ray against the top (z = 0) or the bottom of the base."""
    d = load_f64(scratch, LOCAL_DIRECTION + 2 * LANES + lane)
    if abs(d) <= _TINY:
        return
    z = 0.0 if upper else -load_f64(field, F_SIZE + 3)
    t = (z - load_f64(scratch, LOCAL_ORIGIN + 2 * LANES + lane)) / d
    x = load_f64(scratch, LOCAL_ORIGIN + lane) + t * load_f64(scratch, LOCAL_DIRECTION + lane)
    y = load_f64(scratch, LOCAL_ORIGIN + LANES + lane) + t * load_f64(scratch, LOCAL_DIRECTION + LANES + lane)
    if t >= 0.0 and abs(x) <= load_f64(field, F_SIZE) and abs(y) <= load_f64(field, F_SIZE + 1):
        _keep(t, geom, SIDE_FACES + 4 + upper, lane, scratch)


@strict_jit
def test_sides(field, geom, lanes, scratch):
    """Rays (bits), local in the scratch, against the base and the walls of a height field."""
    while lanes != 0:
        lane = lowest_bit(lanes)
        lanes &= lanes - 1
        for upper in range(2):
            _test_side(field, geom, 0, upper, lane, scratch)
            _test_side(field, geom, 1, upper, lane, scratch)
            _test_lid(field, geom, upper, lane, scratch)
