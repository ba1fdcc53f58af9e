"""Rates as exact fractions, and their fixed-point form for the kernels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lidar_sim.pattern.kernels.fixed_point import FixedRate

NS_PER_S = 1_000_000_000
NS_PER_MINUTE = 60 * NS_PER_S
LAST_NS = 2**63 - 1
"""Last instant that int64 can name, 292 years after power-on."""

_BITS = 128
_WORD = 1 << 64


def rational(value: float) -> Fraction:
    """The decimal number a profile states, exactly: 450.1 is 4501/10 and not its nearest double."""
    return Fraction(repr(float(value)))


def fixed_rate(rate: Fraction) -> FixedRate:
    """A rate >= 0 for the kernels, rounded up in the 128th bit.

    Rounding up keeps floors exact where n * rate is a whole number; for a rate of denominator D, the floor of
    n * rate is exact for all n < 2^128 / D.
    """
    whole, bits = divmod(_ceil(rate * (1 << _BITS)), 1 << _BITS)
    return FixedRate(np.int64(whole), np.uint64(bits // _WORD), np.uint64(bits % _WORD))


def fixed_turns(turns: Fraction) -> np.uint64:
    """An angle modulo one turn in units of 2^-64."""
    bits: np.uint64 = np.uint64(round(turns * _WORD) % _WORD)
    return bits


def ceil_product(n: int, rate: Fraction) -> int:
    """Smallest integer >= n * rate."""
    return -((-n * rate.numerator) // rate.denominator)


def floor_product(n: int, rate: Fraction) -> int:
    """Largest integer <= n * rate."""
    return (n * rate.numerator) // rate.denominator


def _ceil(value: Fraction) -> int:
    return -((-value.numerator) // value.denominator)
