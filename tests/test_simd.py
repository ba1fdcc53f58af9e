"""The vocabulary of vectors, word by word against NumPy, to the last bit."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from lidar_sim import simd
from lidar_sim.jit import strict_jit as jit

RNG = np.random.default_rng(3)
NUMBERS = np.concatenate([RNG.normal(size=5), [0.0, -0.0, 1e300]])
OTHERS = np.concatenate([RNG.normal(size=5), [0.0, 2.0, -1e-300]])


def run(body, *arrays, out=8, dtype=np.float64):
    """Kernel ``body(x, y, where_to)`` on the 8 f64 lanes of each array; what it stored."""
    result = np.zeros(out, dtype)

    @jit
    def kernel(a, b, c):
        body(simd.load8_f64(simd.address(a), 0), simd.load8_f64(simd.address(b), 0), simd.address(c))

    padded = [np.ascontiguousarray(array, np.float64) for array in (*arrays, OTHERS)[:2]]
    kernel(*padded, result)
    return result


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
def test_arithmetic_is_that_of_numpy(name) -> None:
    act = getattr(operator, name)

    @jit
    def body(x, y, c):
        simd.store(c, 0, act(x, y))
        simd.store(c, 8, act(x, 3.0))
        simd.store(c, 16, act(3.0, y))

    with np.errstate(all="ignore"):
        expected = np.concatenate([act(NUMBERS, OTHERS), act(NUMBERS, 3.0), act(3.0, OTHERS)])
    np.testing.assert_array_equal(run(body, NUMBERS, OTHERS, out=24), expected)


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparisons_give_masks_lane_0_lowest(name) -> None:
    act = getattr(operator, name)
    others = np.where(np.arange(8) % 3 == 0, NUMBERS, OTHERS)

    @jit
    def body(x, y, c):
        simd.store(c, 0, simd.bits(act(x, y)))

    found = run(body, NUMBERS, others, out=1, dtype=np.int64)[0]
    assert found == sum(1 << k for k, truth in enumerate(act(NUMBERS, others)) if truth)


def test_masks_combine_and_come_back_from_integers() -> None:
    @jit
    def body(x, y, c):
        one, two = simd.mask8(0b10110010), x < y
        simd.store(c, 0, simd.bits(one & two))
        simd.store(c, 1, simd.bits(one | two))
        simd.store(c, 2, simd.bits(one ^ two))
        simd.store(c, 3, simd.bits(one))

    two = sum(1 << k for k, truth in enumerate(NUMBERS < OTHERS) if truth)
    expected = [0b10110010 & two, 0b10110010 | two, 0b10110010 ^ two, 0b10110010]
    assert run(body, NUMBERS, OTHERS, out=4, dtype=np.int64).tolist() == expected


def test_choices() -> None:
    @jit
    def body(x, y, c):
        simd.store(c, 0, simd.where(x < y, x, 7.0))
        simd.store(c, 8, simd.minimum(x, y))
        simd.store(c, 16, simd.maximum(x, 0.25))
        simd.store(c, 24, simd.absolute(x))
        simd.store(c, 32, simd.square_root(simd.absolute(y)))
        simd.store(c, 40, -x)

    x, y = NUMBERS, OTHERS
    expected = [np.where(x < y, x, 7.0), np.minimum(x, y), np.maximum(x, 0.25), np.abs(x), np.sqrt(np.abs(y)), -x]
    np.testing.assert_array_equal(run(body, x, y, out=48), np.concatenate(expected))


def test_nan_loses_every_comparison_and_the_second_operand_is_taken() -> None:
    holes = np.where(np.arange(8) % 2 == 0, np.nan, NUMBERS)

    @jit
    def body(x, y, c):
        simd.store(c, 0, simd.minimum(x, y))
        simd.store(c, 8, simd.maximum(y, x))

    found = run(body, holes, OTHERS, out=16)
    np.testing.assert_array_equal(found[:8:2], OTHERS[::2])
    assert np.isnan(found[8::2]).all()


def test_fma_rounds_once_or_twice() -> None:
    @jit
    def body(x, y, c):
        simd.store(c, 0, simd.fma(x, y, -1.0))

    x, y = np.full(8, 1.0 + 2.0**-30), np.full(8, 1.0 - 2.0**-30)
    found = run(body, x, y)
    assert set(found) <= {-(2.0**-60), 0.0}


def test_reductions_shuffles_and_constants() -> None:
    reverse, one_to_eight = simd.shuffle(7, 6, 5, 4, 3, 2, 1, 0), simd.constant_f64(*range(1, 9))

    @jit
    def body(x, y, c):
        simd.store(c, 0, simd.lowest(x))
        simd.store(c, 1, simd.highest(x))
        simd.store(c, 2, reverse(x))
        simd.store(c, 10, one_to_eight())
        simd.store(c, 18, simd.splat8(np.float64(4)))

    expected = [[NUMBERS.min(), NUMBERS.max()], NUMBERS[::-1], np.arange(1, 9), np.full(8, 4.0)]
    np.testing.assert_array_equal(run(body, NUMBERS, out=26), np.concatenate(expected))


@pytest.mark.parametrize("number", [1, 2, 0b1011000, 2**40 + 2**13, 2**62])
def test_bits_of_integers(number) -> None:
    @jit
    def kernel(n):
        return simd.lowest_bit(n), simd.count_bits(n)

    assert kernel(number) == ((number & -number).bit_length() - 1, number.bit_count())


def test_single_and_double_precision() -> None:
    numbers = RNG.normal(size=16)

    @jit
    def kernel(numbers, single, double):
        lanes = simd.to_f32(simd.load16_f64(simd.address(numbers), 0))
        simd.store(simd.address(single), 0, lanes)
        simd.store(simd.address(double), 0, simd.to_f64(lanes))

    single, double = np.zeros(16, np.float32), np.zeros(16)
    kernel(numbers, single, double)
    np.testing.assert_array_equal(single, numbers.astype(np.float32))
    np.testing.assert_array_equal(double, single)


def test_loads_anywhere_gathers_and_the_stack() -> None:
    memory = simd.stack_memory(256)

    @jit
    def kernel(floats, doubles, integers, out):
        f, d, i, o = simd.address(floats), simd.address(doubles), simd.address(integers), simd.address(out)
        stack = memory()
        simd.store(stack, 3, simd.load8_f32(f, 5))
        simd.store(o, 0, simd.to_f64(simd.load8_f32(stack, 3)))
        simd.store(o, 8, simd.gather8_f64(d, simd.load8_i32(i, 1)))
        simd.store(o, 16, simd.load_f64(d, 2))
        simd.store(o, 17, np.float64(simd.load_f32(f, 4)))
        simd.store(o, 18, np.float64(simd.load_i32(i, 3)))
        simd.prefetch(0)

    floats, doubles = RNG.normal(size=20).astype(np.float32), RNG.normal(size=30)
    integers = np.array([9, 3, 29, 0, 3, 7, 11, 2, 1, 5], np.int32)
    out = np.zeros(19)
    kernel(floats, doubles, integers, out)
    expected = [floats[5:13], doubles[integers[1:9]], [doubles[2], floats[4], integers[3]]]
    np.testing.assert_array_equal(out, np.concatenate(expected))


def test_the_table_of_words_is_complete() -> None:
    for name in ("where", "fma", "bits", "mask8", "lowest", "highest", "store", "load8_f64", "splat8"):
        assert name in simd.__doc__
    for name in simd.__all__:
        assert getattr(simd, name).__doc__
