"""Fixed-point products of the kernels against Python's exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lidar_sim.pattern.kernels.fixed_point import multiply, to_unit, wide_product, wrapped_sum
from lidar_sim.pattern.rates import ceil_product, fixed_rate, fixed_turns, floor_product, rational

WORD = 2**64
word = st.integers(0, WORD - 1)
# Denominators of rates that profiles can state, and counters up to years of beams: D * n < 2^128.
rate = st.builds(Fraction, st.integers(1, 10**13), st.integers(1, 10**13))
counter = st.integers(0, 2**60)


@given(word, word)
@example(WORD - 1, WORD - 1)
def test_wide_product(a, b):
    high, low = wide_product(np.uint64(a), np.uint64(b))
    assert int(high) * WORD + int(low) == a * b


@given(word, word)
@example(WORD - 1, 1)
@example(WORD - 1, 0)
def test_wrapped_sum(a, b):
    total, carry = wrapped_sum(np.uint64(a), np.uint64(b))
    assert int(carry) * WORD + int(total) == a + b


@given(counter, rate)
@example(3_125_000, Fraction(1728, 3_125_000))
@example(3 * 10**12, Fraction(1, 3))
def test_products_have_exact_floors_and_fractions_to_the_last_bit(n, rate):
    if n * rate >= 2**62:
        n = int(2**62 / rate)
    floor, fraction = multiply(np.int64(n), fixed_rate(rate))
    assert floor == floor_product(n, rate)
    assert 0 <= Fraction(int(fraction), WORD) - (n * rate - floor) + Fraction(1, WORD) <= Fraction(2, WORD)


@given(st.integers(-(10**15), 10**15), rate)
def test_floor_and_ceil_enclose(n, rate):
    assert floor_product(n, rate) <= n * rate <= ceil_product(n, rate)
    assert ceil_product(n, rate) - floor_product(n, rate) == (0 if (n * rate).denominator == 1 else 1)


@pytest.mark.parametrize(
    ("value", "exact"), [(450.1, (4501, 10)), (600, (600, 1)), (1e-3, (1, 1000)), (1e22, (10**22, 1))]
)
def test_a_profile_means_the_decimal_it_states(value, exact):
    assert rational(value) == Fraction(*exact)


def test_turns_wrap_into_one():
    assert fixed_turns(Fraction(-1, 4)) == 3 * 2**62
    assert fixed_turns(Fraction(9, 4)) == 2**62
    assert to_unit(fixed_turns(Fraction(5, 2))) == 0.5
