"""Encoder-locked scanners: Ouster's XYZ formula, column times, and the windows of 2D scanners."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lidar_sim.errors import ProfileError
from lidar_sim.pattern import make_pattern
from lidar_sim.profile import load_profile
from lidar_sim.profile.schema import DeviceProfile

# Metres at 100 m range: float64 sine and cosine.
POSITION_TOLERANCE_M = 1e-12
ANGLE_TOLERANCE_RAD = 1e-14

ROWS = 64
ALTITUDE_DEG = [16.611 - 0.52733 * row for row in range(ROWS)]
AZIMUTH_DEG = [(3.164, 1.055, -1.055, -3.164)[row % 4] for row in range(ROWS)]
RADIUS_MM = 12.163
OUSTER = {
    "kind": "spinning_locked",
    "elevation_deg": ALTITUDE_DEG,
    "azimuth_offset_deg": [-angle for angle in AZIMUTH_DEG],
    "clockwise": True,
    "start_azimuth_deg": 180.0,
    "columns_per_turn": 1024,
    "rate_hz": 10,
    "beam_origin_radius_mm": RADIUS_MM,
    "source": "test",
}
SCANNER_2D = {
    "kind": "spinning_locked",
    "elevation_deg": [0],
    "clockwise": False,
    "start_azimuth_deg": -180,
    "columns_per_turn": 1440,
    "first_column": 180,
    "columns": 1081,
    "rate_hz": 40,
    "source": "test",
}


def ouster_xyz(column, row, columns, range_m):
    """Ouster's formula in its lidar frame, then turned into the sensor frame by diag(-1, -1, 1)."""
    encoder = 2.0 * math.pi * (1.0 - column / columns)
    azimuth = -math.radians(AZIMUTH_DEG[row])
    altitude = math.radians(ALTITUDE_DEG[row])
    n = RADIUS_MM * 1e-3
    x = (range_m - n) * math.cos(encoder + azimuth) * math.cos(altitude) + n * math.cos(encoder)
    y = (range_m - n) * math.sin(encoder + azimuth) * math.cos(altitude) + n * math.sin(encoder)
    z = (range_m - n) * math.sin(altitude)
    return [-x, -y, z]


@settings(max_examples=60, deadline=None)
@given(
    turn=st.integers(0, 10**7),
    column=st.integers(0, 511),
    row=st.integers(0, ROWS - 1),
    range_m=st.floats(0.3, 200.0),
    columns=st.sampled_from([512, 1024, 2048]),
)
def test_points_equal_ousters_formula(build_pattern, turn, column, row, range_m, columns):
    beam = (turn * columns + column) * ROWS + row
    f = build_pattern(OUSTER, columns_per_turn=columns).firings(beam, beam + 1)
    point = f.origin[0] + (range_m - RADIUS_MM * 1e-3) * f.direction[0]
    np.testing.assert_allclose(point, ouster_xyz(column, row, columns, range_m), atol=POSITION_TOLERANCE_M, rtol=0)
    assert (f.frame[0], f.column[0], f.ring[0]) == (turn, column, ROWS - 1 - row)


@pytest.mark.parametrize(("columns", "rate"), [(512, 10), (1024, 10), (2048, 10), (512, 20), (1024, 20), (997, 16.7)])
def test_column_times_are_floors_of_exact_fractions(build_pattern, columns, rate):
    pattern = build_pattern(OUSTER, columns_per_turn=columns, rate_hz=rate)
    for column in (0, 1, 2, columns - 1, columns, 12_345, 10**10 + 7):
        times = pattern.firings(column * ROWS, (column + 1) * ROWS).time_ns
        assert set(times) == {math.floor(column * Fraction(10**9) / (columns * Fraction(str(rate))))}


def test_a_turn_repeats_bit_for_bit(build_pattern):
    pattern = build_pattern(OUSTER)
    first, later = (pattern.firings(pattern.frame_start(turn), pattern.frame_start(turn + 1)) for turn in (0, 10**6))
    assert np.array_equal(first.direction, later.direction)
    assert np.array_equal(first.origin, later.origin)
    assert set(later.time_ns - first.time_ns) == {10**14}


def test_turning_clockwise_from_the_connector(build_pattern):
    f = build_pattern(OUSTER, elevation_deg=[0], azimuth_offset_deg=None).firings(0, 1024)
    np.testing.assert_allclose(f.direction[0], [-1, 0, 0], atol=ANGLE_TOLERANCE_RAD)
    np.testing.assert_allclose(f.direction[256], [0, 1, 0], atol=ANGLE_TOLERANCE_RAD)
    np.testing.assert_allclose(f.direction[512], [1, 0, 0], atol=ANGLE_TOLERANCE_RAD)
    np.testing.assert_allclose(f.direction[768], [0, -1, 0], atol=ANGLE_TOLERANCE_RAD)


def test_lasers_that_fire_later_are_turned_further_with_their_origin(build_pattern):
    late_ns, height_mm = 40_000, 2.0
    changes = {"elevation_deg": [0, 0], "azimuth_offset_deg": None, "fire_time_ns": [0, late_ns]}
    f = build_pattern(OUSTER, **changes, vertical_offset_mm=[0, height_mm]).firings(0, 2)
    turned = math.pi - 2.0 * math.pi * 10 * late_ns * 1e-9
    n = RADIUS_MM * 1e-3
    assert list(f.time_ns) == [0, late_ns]
    expected = [math.cos(turned), math.sin(turned), 0.0]
    np.testing.assert_allclose(f.direction[1], expected, atol=ANGLE_TOLERANCE_RAD)
    np.testing.assert_allclose(f.origin[1], [n * expected[0], n * expected[1], height_mm * 1e-3], atol=1e-16)


def test_the_front_step_of_a_2d_scanner_looks_along_x(build_pattern):
    f = build_pattern(SCANNER_2D).firings(0, 1081)
    assert f.direction[540].tolist() == [1.0, 0.0, 0.0]
    azimuth = np.degrees(np.arctan2(f.direction[:, 1], f.direction[:, 0]))
    np.testing.assert_allclose(azimuth, np.linspace(-135.0, 135.0, 1081), atol=1e-12)


def test_a_2d_scanner_pauses_outside_its_window(build_pattern):
    pattern = build_pattern(SCANNER_2D)
    assert pattern.frame_shape(0) == (1, 1081)
    f = pattern.firings(0, 2 * 1081)
    exact = [math.floor((1440 * turn + 180 + k) * Fraction(10**9, 57_600)) for turn in (0, 1) for k in range(1081)]
    assert f.time_ns.tolist() == exact
    first_ns, last_ns, next_turn_ns = exact[0], exact[1080], exact[1081]
    assert {pattern.index_at(t) for t in range(0, first_ns + 1, 97)} == {0}
    assert {pattern.index_at(t) for t in range(last_ns + 1, next_turn_ns + 1, 97)} == {1081}
    assert pattern.index_at(last_ns) == 1080
    assert pattern.index_at(next_turn_ns + 1) == 1082


def test_a_laser_that_fires_into_the_next_column_is_refused(build_pattern):
    changes = {"elevation_deg": [0, 1], "azimuth_offset_deg": None, "fire_time_ns": [0, 97_656]}
    with pytest.raises(ProfileError, match="97656 ns after its column, the next column follows after 97656 ns"):
        build_pattern(OUSTER, **changes)


def test_a_faulty_device_is_named():
    tree = load_profile("vlp16").model_dump(exclude_unset=True) | {"default_mode": None, "modes": {}}
    late = {"elevation_deg": [0], "azimuth_offset_deg": None, "fire_time_ns": [100_000], "source": "manual"}
    profile = DeviceProfile.model_validate(tree | {"pattern": OUSTER | late})
    with pytest.raises(ProfileError, match=r"^velodyne_vlp16: the last laser"):
        make_pattern(profile)
