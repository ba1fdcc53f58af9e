"""Rays of a batch in an order in which neighbours look the same way."""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_sim.cast.bvh.kernels.layout import LANES
from lidar_sim.jit import inline_jit, jit

_CELL_BITS = 9
_CELLS = np.float32(2**_CELL_BITS - 1)
_DIGIT_BITS = 9
_DIGITS = 1 << _DIGIT_BITS


@inline_jit
def _along_curve(x, y):
    """Place of a cell along D. Hilbert's curve, whose neighbours are neighbours in the square."""
    place = np.int64(0)
    for level in range(_CELL_BITS - 1, -1, -1):
        right, upper = (x >> level) & 1, (y >> level) & 1
        place += ((3 * right) ^ upper) << (2 * level)
        flip = -(right & (1 - upper))  # all bits set, or none
        x, y = x ^ flip, y ^ flip
        swap = (x ^ y) & (upper - 1)
        x, y = x ^ swap, y ^ swap
    return place


@inline_jit
def _direction_key(x, y, z):
    """Place of a direction along a curve over the octahedron, 2 * _CELL_BITS bits.

    The sphere is unfolded to a square as in Z. Cigolle et al., "A Survey of Efficient Representations for
    Independent Unit Vectors" (2014).
    """
    over = np.float32(1) / (abs(x) + abs(y) + abs(z))
    u, v = x * over, y * over
    if z < 0:
        u, v = (
            (np.float32(1) - abs(v)) * (np.float32(1) if u >= 0 else np.float32(-1)),
            (np.float32(1) - abs(u)) * (np.float32(1) if v >= 0 else np.float32(-1)),
        )
    half = np.float32(0.5)
    return _along_curve(np.int64((u * half + half) * _CELLS), np.int64((v * half + half) * _CELLS))


@jit
def _sort_digit(keys, rows, keys_out, rows_out, shift):
    """One pass of a radix sort: stable, by one digit of the keys."""
    place = np.zeros(_DIGITS, np.int64)
    for i in range(len(keys)):
        place[(keys[i] >> shift) & (_DIGITS - 1)] += 1
    total = 0
    for digit in range(_DIGITS):
        place[digit], total = total, total + place[digit]
    for i in range(len(keys)):
        digit = (keys[i] >> shift) & (_DIGITS - 1)
        keys_out[place[digit]] = keys[i]
        rows_out[place[digit]] = rows[i]
        place[digit] += 1


@jit
def order_by_direction(direction) -> Any:
    """Rows of (N, 3) f64 unit vectors, neighbours together; filled up to whole packets with the last row.

    Returns:
        (P,) i32.
    """
    n = len(direction)
    rows = np.empty(-(-n // LANES) * LANES, np.int32)
    other_rows = np.empty(n, np.int32)
    keys, other_keys = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for i in range(n):
        x, y, z = np.float32(direction[i, 0]), np.float32(direction[i, 1]), np.float32(direction[i, 2])
        keys[i] = np.uint32(_direction_key(x, y, z))
        rows[i] = i
    _sort_digit(keys, rows[:n], other_keys, other_rows, 0)
    _sort_digit(other_keys, other_rows, keys, rows[:n], _DIGIT_BITS)
    rows[n:] = rows[n - 1]
    return rows


@jit
def packet_spread(vectors, order, samples) -> Any:
    """How far apart the vectors of a packet are: extent summed over x, y, z, mean of some packets.

    Args:
        vectors: (N, 3) f64.
        order: (P,) i32 rows, packet by packet.
        samples: how many packets to look at, at most.
    """
    packets = len(order) // LANES
    count = min(samples, packets)
    total = 0.0
    for k in range(count):
        first = (k * packets // count) * LANES
        for axis in range(3):
            least, most = np.inf, -np.inf
            for lane in range(LANES):
                value = vectors[order[first + lane], axis]
                least, most = min(least, value), max(most, value)
            total += most - least
    return total / count
