"""Rays of a batch in an order in which neighbours look the same way."""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_sim.cast.bvh.kernels.layout import LANES
from lidar_sim.jit import inline_jit, jit

_DIGIT_BITS = 11
_DIGITS = 1 << _DIGIT_BITS
_CELLS = np.float32(2**11 - 1)


@inline_jit
def _spread(x):
    """Bits of an 11-bit number, a 0 after each (Morton)."""
    x = (x | (x << 8)) & 0x00FF00FF
    x = (x | (x << 4)) & 0x0F0F0F0F
    x = (x | (x << 2)) & 0x33333333
    return (x | (x << 1)) & 0x55555555


@inline_jit
def _direction_key(x, y, z):
    """Place of a direction along a curve over the octahedron, 22 bits.

    The sphere unfolded to a square as in Z. Cigolle et al., "A Survey of Efficient Representations for Independent
    Unit Vectors" (2014); cells of the square numbered by G. Morton's interleaved bits.
    """
    over = np.float32(1) / (abs(x) + abs(y) + abs(z))
    u, v = x * over, y * over
    if z < 0:
        u, v = (
            (np.float32(1) - abs(v)) * (np.float32(1) if u >= 0 else np.float32(-1)),
            (np.float32(1) - abs(u)) * (np.float32(1) if v >= 0 else np.float32(-1)),
        )
    half = np.float32(0.5)
    column = np.uint32((u * half + half) * _CELLS)
    row = np.uint32((v * half + half) * _CELLS)
    return _spread(column) | (_spread(row) << 1)


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
        keys[i] = _direction_key(x, y, z)
        rows[i] = i
    _sort_digit(keys, rows[:n], other_keys, other_rows, 0)
    _sort_digit(other_keys, other_rows, keys, rows[:n], _DIGIT_BITS)
    rows[n:] = rows[n - 1]
    return rows
