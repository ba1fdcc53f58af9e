"""What a device reports: the truth without noise, limits, units, planar depth, its own zero, brightness."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lidar_sim.errors import ModelError, OptionError
from lidar_sim.measure import Measurement
from lidar_sim.profile import load_profile, shipped_profiles
from lidar_sim.records import Returns

# One rounding of a number near 100 m.
ROUNDING = 2e-14
# float32 holds seven digits.
SINGLE = 1e-6
NOISY = {"range_std_m": 0.03, "angle_std_deg": 0.1, "dropout_ratio": 0.1, "range_bias_m": 0.02}


def test_without_noise_it_is_the_truth_to_the_last_bit(device, beams) -> None:
    distance = np.random.default_rng(0).uniform(0.5, 100.0, 1000)
    firings, hits = beams(distance)
    for planar in (False, True):
        returns = device(noise=False, resolution_m=0.01, planar=planar, min_m=0.0, **NOISY).measure(firings, hits)
        assert returns.valid.all()
        np.testing.assert_array_equal(returns.distance_m, distance)
        np.testing.assert_array_equal(returns.direction, firings.direction)
        np.testing.assert_array_equal(returns.range_m, distance * (firings.direction[:, 0] if planar else 1.0))


@pytest.mark.parametrize("noise", [False, True])
def test_one_row_for_each_firing_with_the_records_types(device, beams, noise) -> None:
    returns = device(noise=noise, **NOISY).measure(*beams([10.0, np.inf, 0.1, 50.0, 1000.0]))
    np.testing.assert_array_equal(returns.firing, np.arange(5))
    np.testing.assert_array_equal(returns.return_number, 1)
    np.testing.assert_array_equal(returns.flags, 0)
    np.testing.assert_array_equal(returns.valid, np.isfinite(returns.range_m))
    np.testing.assert_array_equal(returns.valid, np.isfinite(returns.distance_m))
    dtypes = {field.name: getattr(returns, field.name).dtype.str for field in dataclasses.fields(Returns)}
    assert dtypes == {
        "firing": "<i8",
        "valid": "|b1",
        "range_m": "<f8",
        "direction": "<f8",
        "distance_m": "<f8",
        "reflectivity": "<f4",
        "signal": "<f4",
        "return_number": "|u1",
        "flags": "|u1",
    }


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize(
    ("distance", "valid"),
    [(0.0, False), (0.4999, False), (0.5, True), (99.0, True), (100.0, True), (100.01, False), (np.inf, False)],
)
def test_both_limits_belong_to_the_range(device, beams, noise, distance, valid) -> None:
    assert device(noise=noise).measure(*beams([distance])).valid[0] == valid


def test_the_limits_are_on_the_measured_range(device, beams) -> None:
    """A wall just beyond the limit is seen whenever the noise brings it in, and then only."""
    with_noise = device(range_std_m=0.03)
    without_limits = device(range_std_m=0.03, min_m=0.0, max_m=1e6)
    for distance in (0.49, 0.51, 99.99, 100.01):
        batch = beams(np.full(2000, distance))
        free = without_limits.measure(*batch).range_m
        returns = with_noise.measure(*batch)
        np.testing.assert_array_equal(returns.valid, (free >= 0.5) & (free <= 100.0))
        assert 0 < np.count_nonzero(returns.valid) < 2000


@pytest.mark.parametrize("offset_m", [0.0, 0.0158])
def test_the_offset_is_in_the_range_but_not_in_the_distance(device, beams, offset_m) -> None:
    distance = np.array([0.49, 1.0, 99.99])
    returns = device(offset_m=offset_m, noise=False).measure(*beams(distance))
    valid = (distance + offset_m >= 0.5) & (distance + offset_m <= 100.0)
    np.testing.assert_array_equal(returns.valid, valid)
    np.testing.assert_array_equal(returns.range_m[valid], (distance + offset_m)[valid])
    np.testing.assert_array_equal(returns.distance_m[valid], distance[valid])
    noisy = device(offset_m=offset_m, range_std_m=0.03).measure(*beams(distance))
    np.testing.assert_allclose(noisy.distance_m, noisy.range_m - offset_m, atol=ROUNDING)


@pytest.mark.parametrize("resolution_m", [0.001, 0.002, 0.004, 0.01, 0.03, 1 / 1024])
def test_ranges_are_whole_multiples_of_the_unit_and_nearest(device, beams, resolution_m) -> None:
    distance = np.random.default_rng(1).uniform(1.0, 99.0, 5000)
    returns = device(resolution_m=resolution_m).measure(*beams(distance))
    counts = np.rint(returns.range_m / resolution_m)
    np.testing.assert_array_equal(returns.range_m, counts * resolution_m)
    assert np.abs(returns.range_m - distance).max() <= resolution_m / 2 + ROUNDING


def test_halves_are_rounded_up(device, beams) -> None:
    returns = device(resolution_m=0.25).measure(*beams([1.125, 1.375, 1.12, 1.13]))
    np.testing.assert_array_equal(returns.range_m, [1.25, 1.5, 1.0, 1.25])


@pytest.mark.parametrize(
    ("resolution_m", "limits"), [(0.1, {"max_m": 0.6, "min_m": 0.0}), (0.002, {"min_m": 0.0, "max_m": 0.6})]
)
def test_a_limit_that_is_a_multiple_of_the_unit_is_within(device, beams, resolution_m, limits) -> None:
    assert 6 * 0.1 > 0.6, "a product of floats may lie beyond the same number in decimals"
    assert device(resolution_m=resolution_m, **limits).measure(*beams([0.6])).valid[0]


@pytest.mark.parametrize("name", shipped_profiles())
def test_a_shipped_device_keeps_its_own_limits_and_unit(beams, name) -> None:
    profile = load_profile(name)
    spec = profile.range
    edges = np.array([spec.min_m, spec.max_m])
    distance = np.concatenate([np.linspace(0.0, 1.2 * spec.max_m, 20_001), edges]) - spec.offset_m
    batch = beams(np.maximum(distance, 0.0), direction=(1, 0, 0))
    noisy, exact, quantised = (
        Measurement(spec, noise, key=3, noise=with_noise, geom_reflectivity=np.ones(1)).measure(*batch)
        for noise, with_noise in (
            (profile.noise, True),
            (profile.noise, False),
            (type(profile.noise)(range_std_m=0.0, source="test"), True),
        )
    )
    for returns in (noisy, exact, quantised):
        ranges = returns.range_m[returns.valid]
        assert len(ranges) > 10_000
        assert ranges.min() >= spec.min_m
        assert ranges.max() <= spec.max_m
    if spec.resolution_m:
        counts = noisy.range_m[noisy.valid] / spec.resolution_m
        assert np.abs(counts - np.rint(counts)).max() < SINGLE
    assert quantised.valid[-2:].all(), "a wall at the limit itself is seen"


def test_a_depth_camera_measures_along_its_axis(device, beams) -> None:
    """A wall square to the axis has one depth, whatever the pixel; limits and unit are on the depth."""
    firings, _ = beams(np.zeros(2000))
    firings, hits = beams(3.0 / firings.direction[:, 0], direction=firings.direction)
    assert firings.direction[:, 0].min() < 0.6
    returns = device(planar=True, resolution_m=0.001).measure(firings, hits)
    np.testing.assert_array_equal(returns.range_m, 3.0)
    np.testing.assert_allclose(returns.distance_m, hits.distance, rtol=SINGLE**2)
    assert not device(planar=True, max_m=2.999).measure(firings, hits).valid.any()
    assert device(planar=True, max_m=3.001).measure(firings, hits).valid.all()
    noisy = device(planar=True, range_std_m=0.03, angle_std_deg=1.0).measure(firings, hits)
    points = noisy.direction * noisy.distance_m[:, None]
    np.testing.assert_allclose(points[:, 0], noisy.range_m, atol=ROUNDING)


@given(
    distance=st.floats(0.6, 90.0),
    cos=st.floats(0.01, 1.0),
    geom=st.sampled_from([0, 1]),
)
def test_brightness_is_lamberts(device, beams, distance, cos, geom) -> None:
    firings, hits = beams([distance])
    hits = dataclasses.replace(hits, geom=np.array([geom], np.int32), cos_incidence=np.array([cos]))
    returns = device(noise=False).measure(firings, hits)
    rho = (0.2, 1.0)[geom]
    assert returns.reflectivity[0] == pytest.approx(100.0 * rho, rel=SINGLE)
    assert returns.signal[0] == pytest.approx(rho * cos / distance**2, rel=SINGLE)


def test_a_white_wall_at_one_metre_is_one(device, beams) -> None:
    assert device(geom_reflectivity=[1.0]).measure(*beams([1.0])).signal[0] == 1.0


def test_a_flex_is_grey(device, beams) -> None:
    firings, hits = beams([2.0])
    hits = dataclasses.replace(hits, geom=np.array([-1], np.int32), flex=np.array([0], np.int32))
    returns = device().measure(firings, hits)
    assert (returns.reflectivity[0], returns.signal[0]) == (50.0, 0.125)


def test_what_is_not_reported_is_dark(device, beams) -> None:
    returns = device().measure(*beams([0.1, 200.0, np.inf]))
    assert not returns.signal.any()
    assert not returns.reflectivity.any()


@pytest.mark.parametrize("noise", [False, True])
def test_no_beams_no_returns(device, beams, noise) -> None:
    returns = device(noise=noise, resolution_m=0.002, **NOISY).measure(*beams([]))
    assert all(len(getattr(returns, field.name)) == 0 for field in dataclasses.fields(returns))


def test_the_truth_is_not_written(device, beams) -> None:
    firings, hits = beams(np.linspace(0.0, 120.0, 500))
    before = [getattr(r, f.name).tobytes() for r in (firings, hits) for f in dataclasses.fields(r)]
    device(resolution_m=0.002, **NOISY).measure(firings, hits)
    assert [getattr(r, f.name).tobytes() for r in (firings, hits) for f in dataclasses.fields(r)] == before


def test_hits_of_other_beams_are_refused(device, beams) -> None:
    firings, _ = beams([1.0, 2.0])
    _, hits = beams([1.0])
    with pytest.raises(OptionError, match="2 firings cannot have 1 hits"):
        device().measure(firings, hits)


def test_a_geom_without_reflectivity_is_refused(device, beams) -> None:
    firings, hits = beams([1.0])
    hits = dataclasses.replace(hits, geom=np.array([2], np.int32))
    with pytest.raises(ModelError, match="geom 2 was hit; reflectivity is known for 2 geoms"):
        device().measure(firings, hits)


@pytest.mark.parametrize("reflectivity", [[1.1], [-0.1], [np.nan], [[0.5]], 0.5])
def test_reflectivities_that_are_none_are_refused(device, reflectivity) -> None:
    with pytest.raises(ModelError, match=r"0\.\.1 for each geom"):
        device(geom_reflectivity=reflectivity)
