"""Rays against the boxes of a node's children, in f32, never too strict.

Two tests. ``children_entered`` compares 8 boxes with the whole packet at once: with intervals that hold all its
origins and directions. ``lanes_entering`` compares one box with each ray (the slab test of Kay and Kajiya, 1986).

f32 is safe since boxes are rounded outwards and widened (``build``), entry and exit distances get a relative
slack, and origins are taken relative to a base point that f32 holds exactly: the rest of each origin enters as
(rest / direction), and where origins are spread the box is widened by the rounding of the rest.
"""

from __future__ import annotations

import numpy as np

from lidar_sim.cast.bvh.kernels.layout import (
    LANES,
    NEAR,
    NODE_UPPER,
    ONE_ORIGIN,
    ONE_RAY,
    REACH,
)
from lidar_sim.jit import inline_jit, jit
from lidar_sim.simd import (
    absolute,
    bits,
    fma,
    highest,
    load8_f32,
    load16_f32,
    load16_f64,
    load_f32,
    load_f64,
    lowest,
    maximum,
    minimum,
    splat8,
    splat16,
    store,
    to_f32,
    where,
)

_ZERO, _ONE = np.float32(0), np.float32(1)
_HUGE, _TINY = np.float32(1e30), np.float32(1e-30)
_LARGEST = np.float32(3e38)
# Three roundings (2^-24 each) of distances, doubled and more.
_EARLIER, _LATER = np.float32(1 - 2e-6), np.float32(1 + 2e-6)
# Two units in the last place of f32.
_ULP = np.float32(1.3e-7)
# Roundings of the way back to the base point, relative to the longest such way.
_SPREAD = np.float32(5e-7)

# Span of a packet: what bounds its rays, f32, three numbers (x, y, z) each.
_ORIGIN_MAX, _ORIGIN_MIN = 0, 3
_NEAR_LOWER, _NEAR_UPPER = 6, 9
_FAR_UPPER, _FAR_LOWER = 12, 15
_BASE_LOWER, _BASE_UPPER = 18, 21


@inline_jit
def _inverse(direction):
    side = where(direction >= _ZERO, splat16(_TINY), splat16(-_TINY))
    return splat16(_ONE) / where(absolute(direction) < _TINY, side, direction)


@inline_jit
def _store_directions(scratch, span, axis, least, most):
    """Bounds of 1 / direction, so that no sign of a box's distance makes the packet enter late or leave early."""
    over_least = _ONE / least if abs(least) > _TINY else _HUGE
    over_most = _ONE / most if abs(most) > _TINY else _HUGE
    forwards, backwards = most >= _ZERO, least <= _ZERO
    store(scratch, span + _NEAR_LOWER + axis, over_most if most > _TINY else _HUGE)
    store(scratch, span + _NEAR_UPPER + axis, over_least if least < -_TINY else -_HUGE)
    store(scratch, span + _FAR_UPPER + axis, (over_least if least > _TINY else _HUGE) if forwards else _ZERO)
    store(scratch, span + _FAR_LOWER + axis, (over_most if most < -_TINY else -_HUGE) if backwards else _ZERO)


@inline_jit
def _store_origins(scratch, span, axis, base, least, most, spread):
    """Bounds of the origins, and the base point for lower and upper sides of boxes."""
    store(scratch, span + _ORIGIN_MAX + axis, most + abs(most) * _ULP)
    store(scratch, span + _ORIGIN_MIN + axis, least - abs(least) * _ULP)
    slack = spread * _SPREAD
    store(scratch, span + _BASE_LOWER + axis, base + slack)
    store(scratch, span + _BASE_UPPER + axis, base - slack)


@inline_jit
def _prepare_ray(scratch, rays, span, axis):
    direction = np.float32(load_f64(scratch, rays + axis * LANES))
    origin = np.float32(load_f64(scratch, rays + (3 + axis) * LANES))
    _store_directions(scratch, span, axis, direction, direction)
    _store_origins(scratch, span, axis, origin, origin, origin, _ZERO)


@inline_jit
def _prepare_axis(scratch, rays, slabs, span, axis, mode):
    d, o = rays + axis * LANES, rays + (3 + axis) * LANES
    inverse, back = slabs + axis * LANES, slabs + (3 + axis) * LANES
    first = load_f64(scratch, o)
    base = np.float32(first)
    least, most = _LARGEST, -_LARGEST
    origin_least, origin_most = base, base
    rest = np.float32(np.float64(base) - first)
    spread = abs(rest)
    for k in range(0, LANES, 16):
        direction = to_f32(load16_f64(scratch, d + k))
        least, most = min(least, lowest(direction)), max(most, highest(direction))
        over = _inverse(direction)
        store(scratch, inverse + k, over)
        if mode == ONE_ORIGIN:
            store(scratch, back + k, over * rest)
        else:
            origin = load16_f64(scratch, o + k)
            rests = to_f32(np.float64(base) - origin)
            store(scratch, back + k, rests * over)
            spread = max(spread, highest(absolute(rests)))
            origin_least = min(origin_least, np.float32(lowest(origin)))
            origin_most = max(origin_most, np.float32(highest(origin)))
    _store_directions(scratch, span, axis, least, most)
    _store_origins(scratch, span, axis, base, origin_least, origin_most, spread)


@jit
def prepare_boxes(scratch, rays, slabs, span, mode):
    """Make ready for box tests of the rays (directions, then origins) that stand at ``rays`` in the scratch.

    Args:
        scratch: address.
        rays: f64 element of the directions.
        slabs: f32 element where numbers of each ray go.
        span: f32 element where bounds of all go.
        mode: OWN_ORIGINS, ONE_ORIGIN or ONE_RAY.
    """
    for axis in range(3):
        if mode == ONE_RAY:
            _prepare_ray(scratch, rays, span, axis)
        else:
            _prepare_axis(scratch, rays, slabs, span, axis, mode)


@inline_jit
def _entry(lower, upper, scratch, span, axis):
    return maximum(
        lower * load_f32(scratch, span + _NEAR_LOWER + axis), upper * load_f32(scratch, span + _NEAR_UPPER + axis)
    )


@inline_jit
def _exit(lower, upper, scratch, span, axis):
    return maximum(
        upper * load_f32(scratch, span + _FAR_UPPER + axis), lower * load_f32(scratch, span + _FAR_LOWER + axis)
    )


@inline_jit
def _child_sides(nodes, node, scratch, span, axis):
    lower = load8_f32(nodes, node + 8 * axis) - load_f32(scratch, span + _ORIGIN_MAX + axis)
    upper = load8_f32(nodes, node + 8 * axis + NODE_UPPER) - load_f32(scratch, span + _ORIGIN_MIN + axis)
    return lower, upper


@inline_jit
def children_entered(nodes, node, scratch, span, reach):
    """Children (bits) that any ray might enter within ``reach``; where it might is left in NEAR."""
    lx, ux = _child_sides(nodes, node, scratch, span, 0)
    ly, uy = _child_sides(nodes, node, scratch, span, 1)
    lz, uz = _child_sides(nodes, node, scratch, span, 2)
    near_xy = maximum(_entry(lx, ux, scratch, span, 0), _entry(ly, uy, scratch, span, 1))
    near = maximum(near_xy, maximum(_entry(lz, uz, scratch, span, 2), splat8(_ZERO))) * _EARLIER
    far_xy = minimum(_exit(lx, ux, scratch, span, 0), _exit(ly, uy, scratch, span, 1))
    far = minimum(far_xy, minimum(_exit(lz, uz, scratch, span, 2), splat8(reach))) * _LATER
    store(scratch, NEAR, near)
    return bits(near <= far)


@inline_jit
def _side_distances(lower, upper, scratch, ray_slabs):
    inverse, back = load16_f32(scratch, ray_slabs), load16_f32(scratch, ray_slabs + 3 * LANES)
    one, two = fma(splat16(lower), inverse, back), fma(splat16(upper), inverse, back)
    return minimum(one, two), maximum(one, two)


@inline_jit
def lanes_entering(nodes, child, scratch, slabs, span):
    """Rays (bits) that may enter the box of one child before their nearest hit so far.

    Args:
        nodes: address.
        child: f32 element of the child's lower x.
        scratch: address.
        slabs: f32 element, filled by ``prepare_boxes``.
        span: f32 element, filled by ``prepare_boxes``.
    """
    lx = load_f32(nodes, child) - load_f32(scratch, span + _BASE_LOWER)
    ly = load_f32(nodes, child + 8) - load_f32(scratch, span + _BASE_LOWER + 1)
    lz = load_f32(nodes, child + 16) - load_f32(scratch, span + _BASE_LOWER + 2)
    ux = load_f32(nodes, child + NODE_UPPER) - load_f32(scratch, span + _BASE_UPPER)
    uy = load_f32(nodes, child + NODE_UPPER + 8) - load_f32(scratch, span + _BASE_UPPER + 1)
    uz = load_f32(nodes, child + NODE_UPPER + 16) - load_f32(scratch, span + _BASE_UPPER + 2)
    entering = np.int64(0)
    for k in range(0, LANES, 16):
        near, far = _side_distances(lx, ux, scratch, slabs + k)
        near_y, far_y = _side_distances(ly, uy, scratch, slabs + LANES + k)
        near_z, far_z = _side_distances(lz, uz, scratch, slabs + 2 * LANES + k)
        near = maximum(maximum(near, near_y), maximum(near_z, splat16(_ZERO)))
        far = minimum(minimum(far, far_y), minimum(far_z, load16_f32(scratch, REACH + k)))
        entering |= bits(near * _EARLIER <= far * _LATER) << k
    return entering


@inline_jit
def farthest_reach(scratch):
    """The farthest of the packet's nearest hits, f32."""
    reach = load16_f32(scratch, REACH)
    for k in range(16, LANES, 16):
        reach = maximum(reach, load16_f32(scratch, REACH + k))
    return highest(reach)


@inline_jit
def reach_of(distance):
    """A distance as f32, rounded up."""
    return np.float32(distance) * _LATER


@inline_jit
def reaches_of(distances):
    """Distances as f32, rounded up."""
    return to_f32(distances) * _LATER
