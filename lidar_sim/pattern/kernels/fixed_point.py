"""Exact products of a counter and a rational rate: 128-bit fixed point in 64-bit words.

A rate such as "turns per nanosecond" is no binary fraction: n * rate in float64 loses the angle of a rotor within
an hour, and n * numerator overflows int64. Here the rate carries 128 bits behind the point, so that the product
of any n < 2^63 is known to 2^-64. No operation overflows, so the functions also run without the compiler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lidar_sim.jit import inline_jit

_32 = np.uint64(32)
_0 = np.uint64(0)
_1 = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_UNIT = 2.0**-64


class FixedRate(NamedTuple):
    """The number whole + (high * 2^64 + low) / 2^128."""

    whole: np.int64
    high: np.uint64
    low: np.uint64


@inline_jit
def wide_product(a, b):
    """(high, low) words of the 128-bit product of two uint64 (schoolbook, four 32-bit products)."""
    a0, a1 = a & _LOW, a >> _32
    b0, b1 = b & _LOW, b >> _32
    p00, p01, p10 = a0 * b0, a0 * b1, a1 * b0
    middle = (p00 >> _32) + (p01 & _LOW) + (p10 & _LOW)
    high = a1 * b1 + (p01 >> _32) + (p10 >> _32) + (middle >> _32)
    return high, ((middle & _LOW) << _32) | (p00 & _LOW)


@inline_jit
def wrapped_sum(a, b):
    """(a + b modulo 2^64, carry) of two uint64."""
    room = _FULL - a
    if b > room:
        return b - room - _1, _1
    return a + b, _0


@inline_jit
def multiply(n, rate):
    """(floor, fraction) of n * rate.

    Args:
        n: int64, n >= 0.
        rate: FixedRate.

    Returns:
        int64 floor, and the fraction in units of 2^-64 as uint64.
    """
    count = np.uint64(n)
    low_high, _ = wide_product(count, rate.low)
    high_high, high_low = wide_product(count, rate.high)
    fraction, carry = wrapped_sum(high_low, low_high)
    return np.int64(n) * rate.whole + np.int64(high_high) + np.int64(carry), fraction


@inline_jit
def to_unit(fraction):
    """A uint64 fraction as float64 in [0, 1]."""
    return np.float64(fraction) * _UNIT
