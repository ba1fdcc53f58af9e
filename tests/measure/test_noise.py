"""Noise: its distribution, and that it depends on the beam's number and nothing else (promise 8)."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lidar_sim.errors import OptionError
from lidar_sim.records import Returns
from lidar_sim.rng import make_key

N = 40_000
# Fixed draws: a check fails once in a hundred million for a fair generator, and then always.
ALPHA = 1e-8
SIGMAS = 6.0
STD_M = 0.03
STD_DEG = 0.2
# Roundings of a unit vector and of ranges near 10 m.
ROUNDING = 1e-14

NOISY = {
    "range_std_m": STD_M,
    "range_bias_m": 0.01,
    "angle_std_deg": STD_DEG,
    "dropout_ratio": 0.25,
    "resolution_m": 0.002,
}


def over_critical(sample: np.ndarray, cdf) -> float:
    """Kolmogorov-Smirnov distance from a continuous distribution, over its critical value at ALPHA."""
    ordered = np.sort(sample)
    expected = np.array([cdf(value) for value in ordered])
    steps = np.arange(len(ordered) + 1) / len(ordered)
    distance = max(np.abs(steps[1:] - expected).max(), np.abs(steps[:-1] - expected).max())
    return distance / math.sqrt(-math.log(ALPHA / 2.0) / (2.0 * len(ordered)))


def normal_cdf(value: float) -> float:
    return 0.5 * (1.0 + math.erf(value / math.sqrt(2.0)))


def rayleigh_cdf(value: float) -> float:
    return 1.0 - math.exp(-0.5 * value * value)


def joined(parts: list[Returns]) -> dict[str, np.ndarray]:
    names = [field.name for field in dataclasses.fields(Returns) if field.name != "firing"]
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}


def tangent_errors(nominal: np.ndarray, believed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angle between the two in rad, and its heading about the nominal direction, from a frame of our own."""
    up = np.cross(np.cross(nominal, [0.0, 0.0, 1.0]), nominal)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    side = np.cross(nominal, up)
    a, b = (believed * side).sum(1), (believed * up).sum(1)
    return np.arctan2(np.hypot(a, b), (believed * nominal).sum(1)), np.arctan2(a, b)


def test_range_errors_are_gaussian_with_the_profiles_deviation_and_bias(device, beams) -> None:
    distance = np.linspace(1.0, 90.0, N)
    firings, hits = beams(distance)
    returns = device(range_std_m=STD_M, range_bias_m=-0.2).measure(firings, hits)
    assert returns.valid.all()
    assert over_critical((returns.range_m - distance + 0.2) / STD_M, normal_cdf) < 1.0
    np.testing.assert_allclose(returns.distance_m, returns.range_m, atol=0.0)


def test_a_bias_alone_is_exact(device, beams) -> None:
    returns = device(range_bias_m=0.25).measure(*beams([1.0, 2.0]))
    np.testing.assert_array_equal(returns.range_m, [1.25, 2.25])


def test_angular_errors_are_gaussian_on_both_axes_and_have_no_preferred_heading(device, beams) -> None:
    firings, hits = beams(np.full(N, 10.0))
    returns = device(angle_std_deg=STD_DEG).measure(firings, hits)
    angle, heading = tangent_errors(firings.direction, returns.direction)
    assert over_critical(angle / math.radians(STD_DEG), rayleigh_cdf) < 1.0
    assert over_critical((heading + math.pi) / (2.0 * math.pi), lambda value: value) < 1.0
    for component in (angle * np.sin(heading), angle * np.cos(heading)):
        assert over_critical(component / math.radians(STD_DEG), normal_cdf) < 1.0


def test_angular_errors_are_rotations_and_leave_the_range(device, beams) -> None:
    firings, hits = beams(np.full(1000, 10.0))
    returns = device(angle_std_deg=20.0).measure(firings, hits)
    np.testing.assert_allclose(np.linalg.norm(returns.direction, axis=1), 1.0, atol=ROUNDING)
    np.testing.assert_array_equal(returns.distance_m, hits.distance)


@pytest.mark.parametrize("pole", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, 1, 0), (-1e-9, 0, -1)])
def test_angular_errors_work_at_every_pole(device, beams, pole) -> None:
    firings, hits = beams(np.full(N // 4, 10.0), direction=pole)
    returns = device(angle_std_deg=STD_DEG).measure(firings, hits)
    cos = returns.direction @ np.array(pole, np.float64)
    sin = np.linalg.norm(np.cross(returns.direction, pole), axis=1)
    assert over_critical(np.arctan2(sin, cos) / math.radians(STD_DEG), rayleigh_cdf) < 1.0


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.3, 0.999, 1.0])
def test_drop_outs_have_the_profiles_rate(device, beams, ratio) -> None:
    returns = device(dropout_ratio=ratio).measure(*beams(np.full(N, 10.0)))
    lost = N - np.count_nonzero(returns.valid)
    assert abs(lost - ratio * N) <= SIGMAS * math.sqrt(N * ratio * (1.0 - ratio))


def test_the_uses_do_not_share_numbers(device, beams) -> None:
    """Switching one error on leaves the others' draws alone, and they are uncorrelated."""
    firings, hits = beams(np.full(N, 10.0), direction=(0.6, 0.8, 0.0))
    alone = device(range_std_m=STD_M).measure(firings, hits)
    together = device(range_std_m=STD_M, angle_std_deg=STD_DEG, dropout_ratio=0.5).measure(firings, hits)
    np.testing.assert_array_equal(alone.range_m[together.valid], together.range_m[together.valid])
    angle, heading = tangent_errors(firings.direction, together.direction)
    a, b = angle * np.sin(heading), angle * np.cos(heading)
    error = alone.range_m - 10.0
    table = np.stack([error, np.abs(error), together.valid], 0)
    kept = np.stack([error, np.abs(error), a, b, np.hypot(a, b)], 0)[:, together.valid]
    for rows in (table, kept):
        correlation = np.corrcoef(rows) - np.eye(len(rows))
        assert np.abs(correlation).max() < SIGMAS / math.sqrt(rows.shape[1])


@given(cuts=st.lists(st.integers(0, 3000), max_size=8))
def test_any_slicing_gives_the_same_bits(device, beams, cuts) -> None:
    distance = np.where(np.arange(3000) % 11 == 3, np.inf, np.linspace(0.1, 120.0, 3000))
    measurement = device(**NOISY)
    whole = joined([measurement.measure(*beams(distance))])
    borders = sorted([0, 3000, *cuts])
    parts = [measurement.measure(*beams(distance[a:b], first=a)) for a, b in itertools.pairwise(borders)]
    for name, values in joined(parts).items():
        np.testing.assert_array_equal(values, whole[name], err_msg=name)


def test_order_does_not_matter(device, beams) -> None:
    firings, hits = beams(np.linspace(1.0, 90.0, 999))
    order = np.random.default_rng(0).permutation(999)
    shuffled = [
        type(record)(*(getattr(record, f.name)[order] for f in dataclasses.fields(record)))
        for record in (firings, hits)
    ]
    straight, mixed = device(**NOISY).measure(firings, hits), device(**NOISY).measure(*shuffled)
    for name in ("valid", "range_m", "direction", "distance_m"):
        np.testing.assert_array_equal(getattr(straight, name)[order], getattr(mixed, name))


def test_equal_keys_give_equal_noise_and_others_other(device, beams) -> None:
    batch = beams(np.full(100, 10.0))
    first = device(**NOISY, key=make_key(1, "a")).measure(*batch)
    again = device(**NOISY, key=make_key(1, "a")).measure(*batch)
    np.testing.assert_array_equal(first.range_m, again.range_m)
    for other in (make_key(2, "a"), make_key(1, "b")):
        assert not np.array_equal(first.direction, device(**NOISY, key=other).measure(*batch).direction)


def test_noise_is_never_added_to_a_miss(device, beams) -> None:
    firings, hits = beams(np.full(1000, np.inf))
    returns = device(**NOISY, max_m=1e300).measure(firings, hits)
    assert not returns.valid.any()
    assert np.isnan(returns.range_m).all()
    assert np.isnan(returns.distance_m).all()
    np.testing.assert_array_equal(returns.direction, firings.direction)
    assert not returns.signal.any()
    assert not returns.reflectivity.any()


@pytest.mark.parametrize("key", [-1, 2**64])
def test_a_key_beyond_64_bits_is_refused(device, key) -> None:
    with pytest.raises(OptionError, match="key must be within"):
        device(key=key)


@pytest.mark.parametrize("key", [0, 1, 2**63, 2**64 - 1])
def test_every_key_of_64_bits_is_taken(device, beams, key) -> None:
    assert device(**NOISY, key=key).measure(*beams([10.0] * 100)).valid.any()
