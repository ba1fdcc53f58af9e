"""Free-running scanners: times and angles of each laser against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# An angle in rad from float64 sine and cosine, a few roundings.
ANGLE_TOLERANCE_RAD = 1e-14
TEN_DAYS_NS = 10 * 86_400 * 10**9
TEN_DAYS_TOLERANCE_DEG = 1e-9

VLP16 = {
    "kind": "spinning_free",
    "elevation_deg": [-15, 1, -13, 3, -11, 5, -9, 7, -7, 9, -5, 11, -3, 13, -1, 15],
    "vertical_offset_mm": [11.2, -0.7, 9.7, -2.2, 8.1, -3.7, 6.6, -5.1, 5.1, -6.6, 3.7, -8.1, 2.2, -9.7, 0.7, -11.2],
    "fire_time_ns": [2304 * laser for laser in range(16)],
    "cycle_ns": 55296,
    "rpm": 600,
    "rpm_min": 300,
    "rpm_max": 1200,
    "clockwise": True,
    "source": "test",
}


def reference_beam(spec, beam):
    """One beam in plain Python: (time ns, azimuth rad, elevation rad, origin m, ring, frame, column)."""
    rows = len(spec["elevation_deg"])
    sequence, laser = divmod(beam, rows)
    turns_per_ns = Fraction(str(spec["rpm"])) / (60 * 10**9)
    time_ns = sequence * spec["cycle_ns"] + spec["fire_time_ns"][laser]
    sense = -1 if spec["clockwise"] else 1
    offset_deg = spec.get("azimuth_offset_deg", [0] * rows)[laser]
    turns = sense * time_ns * turns_per_ns + Fraction(str(spec.get("start_azimuth_deg", 0))) / 360
    azimuth = 2 * math.pi * float(turns % 1) + math.radians(offset_deg)
    frame = math.floor(sequence * spec["cycle_ns"] * turns_per_ns)
    first_sequence = math.ceil(frame / (spec["cycle_ns"] * turns_per_ns))
    origin = (0.0, 0.0, spec.get("vertical_offset_mm", [0] * rows)[laser] * 1e-3)
    ring = sorted(range(rows), key=lambda k: (spec["elevation_deg"][k], k)).index(laser)
    elevation = math.radians(spec["elevation_deg"][laser])
    return time_ns, azimuth, elevation, origin, ring, frame, sequence - first_sequence


@settings(max_examples=60, deadline=None)
@given(
    beam=st.one_of(st.integers(0, 100_000), st.integers(0, 10**12)),
    rpm=st.sampled_from([300, 450.5, 600, 601.37, 1200]),
    clockwise=st.booleans(),
    start=st.sampled_from([0, 90, -33.5]),
)
def test_beams_equal_the_slow_reference(build_pattern, beam, rpm, clockwise, start):
    offsets = [k - 8.0 for k in range(16)]
    spec = VLP16 | {"rpm": rpm, "clockwise": clockwise, "start_azimuth_deg": start, "azimuth_offset_deg": offsets}
    f = build_pattern(spec).firings(beam, beam + 1)
    time_ns, azimuth, elevation, origin, ring, frame, column = reference_beam(spec, beam)
    c = math.cos(elevation)
    direction = [c * math.cos(azimuth), c * math.sin(azimuth), math.sin(elevation)]
    np.testing.assert_allclose(f.direction[0], direction, atol=ANGLE_TOLERANCE_RAD, rtol=0)
    assert (f.time_ns[0], f.ring[0], f.frame[0], f.column[0]) == (time_ns, ring, frame, column)
    np.testing.assert_array_equal(f.origin[0], origin)


@pytest.mark.parametrize("rpm", [600, 450.5, 601.123456])
def test_after_ten_days_the_azimuth_is_exact(build_pattern, rpm):
    spec = VLP16 | {"rpm": rpm}
    pattern = build_pattern(spec)
    first = pattern.index_at(TEN_DAYS_NS)
    f = pattern.firings(first, first + 500)
    azimuth = np.degrees(np.arctan2(f.direction[:, 1], f.direction[:, 0]))
    expected = np.degrees([reference_beam(spec, beam)[1] for beam in range(first, first + 500)])
    error = (azimuth - expected + 180.0) % 360.0 - 180.0
    assert np.abs(error).max() < TEN_DAYS_TOLERANCE_DEG


def test_a_vlp16_fires_1808_4_sequences_a_revolution(build_pattern):
    pattern = build_pattern(VLP16)
    assert {pattern.frame_shape(frame) for frame in range(50)} == {(16, 1808), (16, 1809)}
    assert pattern.frame_start(1728) == 16 * 3_125_000  # 55296 ns * 10 Hz = 1728 / 3125000 turns
    assert pattern.frame_start(1728) / 1728 / 16 == pytest.approx(1808.449, abs=1e-3)


def test_the_pattern_repeats_exactly_when_sequence_and_turn_meet(build_pattern):
    pattern = build_pattern(VLP16)
    period = 16 * 3_125_000
    for times in (1, 10_000):
        a, b = pattern.firings(100, 5000), pattern.firings(100 + times * period, 5000 + times * period)
        assert np.abs(a.direction - b.direction).max() <= ANGLE_TOLERANCE_RAD
        assert np.all(b.time_ns - a.time_ns == times * 172_800_000_000)
        assert np.all(b.frame - a.frame == times * 1728)
        assert np.array_equal(a.column, b.column)


def test_clockwise_is_towards_negative_azimuth(build_pattern):
    spec = VLP16 | {"elevation_deg": [0] * 16}
    clockwise = build_pattern(spec).firings(0, 1600).direction
    azimuth = np.arctan2(clockwise[:, 1], clockwise[:, 0])
    assert azimuth[0] == 0.0
    assert np.all(np.diff(azimuth) < 0.0)
    counter = build_pattern(spec | {"clockwise": False}).firings(0, 1600).direction
    np.testing.assert_allclose(counter, clockwise * [1, -1, 1], atol=ANGLE_TOLERANCE_RAD)


def test_rings_rank_elevations_and_ties_by_firing_order(build_pattern):
    spec = VLP16 | {"elevation_deg": [5, -5, 5, -5] * 4, "vertical_offset_mm": None}
    pattern = build_pattern(spec)
    expected = [8, 0, 9, 1, 10, 2, 11, 3, 12, 4, 13, 5, 14, 6, 15, 7]
    assert list(pattern.firings(0, 16).ring) == expected
    assert list(pattern.ring_to_row) == list(range(15, -1, -1))


def test_columns_count_sequences_within_the_revolution(build_pattern):
    pattern = build_pattern(VLP16)
    start = pattern.frame_start(7)
    f = pattern.firings(start - 16, start + 32)
    assert list(f.column[::16]) == [pattern.frame_shape(6)[1] - 1, 0, 1]
