"""Random numbers: published answers, an independent reference, distribution, and no hidden state."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lidar_sim.jit import jit, parallel_jit, prange
from lidar_sim.rng import draw, draw_many, draw_normal, make_key, normal_of, normals_of, philox

WORD = st.integers(0, 2**32 - 1)
KEY = make_key(7, "lidar")
N = 40_000
# A fair generator fails a check of this size once in a hundred million; the draws are fixed, so it never flickers.
ALPHA = 1e-8
SIGMAS = 6.0
# Some ten roundings of a polynomial.
ROUNDINGS = 1e-14

# kat_vectors of the Random123 distribution, philox4x32-10.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def words_of(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(word) for word in philox(*(np.uint64(word) for word in (*counter, *key))))


def reference_philox(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """The paper's round in Python's own integers."""
    c, (k0, k1) = counter, key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c[2], 2**32)
        c = (high1 ^ c[1] ^ k0, low1, high0 ^ c[3] ^ k1, low0)
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return c


@jit
def _uniforms(key, first, stream, out):
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = draw(key, first + i, stream)


@jit
def _normals(key, first, stream, out):
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = draw_normal(key, first + i, stream)


@parallel_jit
def _normals_in_parallel(key, first, stream, out):
    for i in prange(len(out)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = draw_normal(key, first + i, stream)


def fill(kernel, *, key: int = KEY, first: int = 0, stream: int = 1, count: int = N) -> np.ndarray:
    out = np.empty((count, 4))
    kernel(np.uint64(key), first, stream, out)
    return out


def kolmogorov_smirnov(sample: np.ndarray, cdf) -> float:
    """Largest distance of the empirical distribution from the continuous one, over its critical value at ALPHA."""
    ordered = np.sort(sample)
    expected = np.array([cdf(value) for value in ordered])
    steps = np.arange(len(ordered) + 1) / len(ordered)
    distance = max(np.abs(steps[1:] - expected).max(), np.abs(steps[:-1] - expected).max())
    return distance / math.sqrt(-math.log(ALPHA / 2.0) / (2.0 * len(ordered)))


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_published_answers(counter, key, answer) -> None:
    assert words_of(counter, key) == answer
    assert reference_philox(counter, key) == answer


@given(st.tuples(WORD, WORD, WORD, WORD), st.tuples(WORD, WORD))
def test_agrees_with_pythons_integers(counter, key) -> None:
    assert words_of(counter, key) == reference_philox(counter, key)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**62), st.integers(0, 1000))
def test_draws_are_the_words_of_index_stream_and_key(key, index, stream) -> None:
    words = reference_philox((index % 2**32, index >> 32, stream, 0), (key % 2**32, key >> 32))
    uniforms = draw(np.uint64(key), index, stream)
    assert uniforms == tuple((word + 0.5) / 2**32 for word in words)
    assert all(0.0 < value < 1.0 for value in uniforms)


def test_uniforms_are_uniform() -> None:
    sample = fill(_uniforms)
    for column in sample.T:
        assert kolmogorov_smirnov(column, lambda value: value) < 1.0


@given(st.integers(0, 2**32 - 1))
@example(0)
@example(2**32 - 1)
def test_normals_are_the_inverse_of_their_cumulative_distribution(word) -> None:
    uniform = (word + 0.5) / 2**32
    assert normal_of(uniform) == pytest.approx(NormalDist().inv_cdf(uniform), rel=ROUNDINGS, abs=ROUNDINGS)


def test_normals_are_normal() -> None:
    sample = fill(_normals)
    for column in sample.T:
        assert kolmogorov_smirnov(column, lambda value: 0.5 * (1.0 + math.erf(value / math.sqrt(2.0)))) < 1.0


@pytest.mark.parametrize("kernel", [_uniforms, _normals])
def test_numbers_are_uncorrelated(kernel) -> None:
    base = fill(kernel)
    columns = np.concatenate(
        [base, fill(kernel, stream=2), fill(kernel, key=make_key(8, "lidar")), np.roll(base, 1, 0)], 1
    )
    correlation = np.corrcoef(columns.T) - np.eye(16)
    assert np.abs(correlation).max() < SIGMAS / math.sqrt(N)


def test_numbers_depend_on_nothing_else() -> None:
    whole = fill(_normals)
    pieces = [fill(_normals, first=first, count=1000) for first in range(0, N, 1000)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    np.testing.assert_array_equal(fill(_normals_in_parallel), whole)


@pytest.mark.parametrize("count", [0, 1, 7, 64, N])
def test_many_at_once_are_the_same(count) -> None:
    uniform = draw_many(np.uint64(KEY), np.arange(count), 1)
    np.testing.assert_array_equal(uniform.T, fill(_uniforms, count=count))
    np.testing.assert_array_equal([normals_of(row) for row in uniform], fill(_normals, count=count).T)


def test_high_half_of_the_index_counts() -> None:
    assert not np.isin(fill(_uniforms, first=2**32, count=1000), fill(_uniforms, count=1000)).any()


def test_keys_are_stable_and_apart() -> None:
    assert make_key(0, "lidar") == 0xAC832E5436807CF3
    keys = {make_key(seed, sensor) for seed in range(-50, 50) for sensor in ("lidar", "camera", "")}
    assert len(keys) == 300
    assert all(0 <= key < 2**64 for key in keys)
