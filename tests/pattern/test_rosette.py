"""Livox patterns: the vendor's own rows, Snell's law, exact time, and starts drawn from the seed.

``livox_golden.json`` holds rows of the vendor's simulation tables (Livox-SDK/livox_laser_simulation, MIT), in
which all lasers fire together: azimuth and elevation in degrees per laser.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from lidar_sim.errors import ProfileError
from lidar_sim.pattern import make_pattern
from lidar_sim.pattern.kernels.rosette import refract
from lidar_sim.profile import load_profile, shipped_profiles

LIVOX = json.loads((Path(__file__).parent / "livox_golden.json").read_text())
# The rows are printed to 4 decimals; the Mid-360's azimuths to 5 significant digits.
GOLDEN_TOLERANCE_DEG = {"livox_mid360": 0.01}
PRINTED_TOLERANCE_DEG = 1e-4
# A handful of refractions in float64.
DIRECTION_TOLERANCE = 1e-13


def angles_deg(direction):
    return np.degrees(np.stack([np.arctan2(direction[:, 1], direction[:, 0]), np.arcsin(direction[:, 2])], axis=1))


def golden_error_deg(pattern, entry):
    worst = 0.0
    for firing, expected in entry["golden"]:
        time_ns = np.full(len(expected), firing * (10**9 // entry["firing_rate_hz"]), np.int64)
        found = angles_deg(pattern.directions_at(time_ns, np.arange(len(expected), dtype=np.uint16)))
        worst = max(worst, float(np.abs(found - expected).max()))
    return worst


@pytest.mark.parametrize("name", LIVOX)
def test_golden_rows(build_pattern, name):
    pattern = build_pattern(LIVOX[name]["pattern"])
    assert golden_error_deg(pattern, LIVOX[name]) < GOLDEN_TOLERANCE_DEG.get(name, PRINTED_TOLERANCE_DEG)


@pytest.mark.parametrize("name", sorted(set(LIVOX) & set(shipped_profiles())))
def test_golden_rows_of_the_shipped_devices(name):
    pattern = make_pattern(load_profile(name))
    assert golden_error_deg(pattern, LIVOX[name]) < GOLDEN_TOLERANCE_DEG.get(name, PRINTED_TOLERANCE_DEG)


def bend(direction, normal, before, after):
    """Snell's law by its parts: the part along the surface shrinks by the indices, the rest follows from length 1."""
    along_surface = before / after * (direction - direction.dot(normal) * normal)
    return along_surface + math.sqrt(1.0 - along_surface.dot(along_surface)) * normal


def turned(rpm, phase_deg, time_ns, lead_ns):
    turns = Fraction(str(rpm)) / (60 * 10**9) * (time_ns + lead_ns) + Fraction(str(phase_deg)) / 360
    return 2.0 * math.pi * float(turns % 1)


def reference_direction(spec, time_ns, laser):
    """One direction in plain NumPy, rotor angles from exact fractions."""
    lead_ns = Fraction(str(spec["sample_offset"])) * len(spec["laser_offset_deg"]) * 10**9
    lead_ns /= Fraction(str(spec["point_rate_hz"]))
    o = math.radians(spec["laser_offset_deg"][laser])
    if spec["kind"] == "rosette_mirror":
        return reference_mirror(spec, o, time_ns, lead_ns)
    d, axis = np.array([math.cos(o), 0.0, math.sin(o)]), np.array([1.0, 0.0, 0.0])
    for wedge in spec["wedges"]:
        tilt, n = math.radians(wedge["tilt_deg"]), wedge["refractive_index"]
        angle = turned(wedge["rpm"], wedge["phase_deg"], time_ns, lead_ns)
        slanted = np.array([math.cos(tilt), math.sin(tilt) * math.cos(angle), math.sin(tilt) * math.sin(angle)])
        faces = [slanted, axis] if wedge["tilted_face_first"] else [axis, slanted]
        d = bend(bend(d, faces[0], 1.0, n), faces[1], n, 1.0)
    return d


def reference_mirror(spec, offset, time_ns, lead_ns):
    def about_z(from_axis, angle):
        return np.array(
            [math.sin(from_axis) * math.cos(angle), math.sin(from_axis) * math.sin(angle), math.cos(from_axis)]
        )

    prism = turned(spec["prism_rpm"], spec["prism_phase_deg"], time_ns, lead_ns)
    clock = turned(spec["wedge_relative_rpm"], 0, time_ns, lead_ns)
    swing = spec["wedge_modulation_rad"] * math.sin(2.0 * clock)
    wedge = prism + clock + math.radians(spec["wedge_relative_phase_deg"]) + swing
    axis = np.array([0.0, 0.0, 1.0])
    glass, prism_glass = spec["wedge_refractive_index"], spec["prism_refractive_index"]
    d = about_z(offset, math.radians(spec["laser_fan_azimuth_deg"]))
    d = bend(d, axis, 1.0, glass)
    d = bend(d, about_z(math.radians(spec["wedge_tilt_deg"]), wedge), glass, 1.0)
    d = bend(d, axis, 1.0, prism_glass)
    mirror = about_z(math.radians(spec["mirror_normal_deg"]), prism)
    d = d - 2.0 * d.dot(mirror) * mirror
    leave = about_z(math.radians(spec["exit_normal_deg"]), prism)
    return bend(d, leave if d.dot(leave) > 0 else -leave, prism_glass, 1.0)


@pytest.mark.parametrize("first", [0, 7, 10**7, 10**12 + 3])
@pytest.mark.parametrize("name", LIVOX)
def test_each_beam_equals_the_slow_reference_at_its_own_time(build_pattern, name, first):
    spec = LIVOX[name]["pattern"]
    f = build_pattern(spec).firings(first, first + 60)
    lasers = len(spec["laser_offset_deg"])
    assert f.time_ns.tolist() == [math.floor(Fraction(i * 10**9, spec["point_rate_hz"])) for i in f.index.tolist()]
    assert f.ring.tolist() == [i % lasers for i in f.index.tolist()]
    expected = [reference_direction(spec, int(t), int(k)) for t, k in zip(f.time_ns, f.ring, strict=True)]
    np.testing.assert_allclose(f.direction, expected, atol=DIRECTION_TOLERANCE, rtol=0)


@pytest.mark.parametrize("name", LIVOX)
@pytest.mark.parametrize("repeats", [3, 3_000_000])
def test_the_pattern_repeats_after_its_published_period(build_pattern, name, repeats):
    """Three periods are a whole number of nanoseconds for all of them (6 2/3 s times 3 = 20 s)."""
    pattern = build_pattern(LIVOX[name]["pattern"])
    period_ns = round(3 * LIVOX[name]["repeat_period_s"]) * 10**9 * (repeats // 3)
    shift = pattern.index_at(period_ns)
    a, b = pattern.firings(500, 900), pattern.firings(500 + shift, 900 + shift)
    assert set(b.time_ns - a.time_ns) == {period_ns}
    np.testing.assert_allclose(a.direction, b.direction, atol=DIRECTION_TOLERANCE, rtol=0)


def test_beams_of_one_round_are_not_fired_together(build_pattern):
    """Over the 25 us of a round the Avia's pattern moves by up to 0.35 degrees, which the vendor's table leaves out."""
    pattern = build_pattern(LIVOX["livox_avia"]["pattern"])
    f = pattern.firings(0, 60_000)
    together = pattern.directions_at(f.time_ns - f.time_ns % 25_000, f.ring)
    moved_deg = np.degrees(np.arccos(np.clip(np.sum(f.direction * together, axis=1), -1.0, 1.0)))
    assert 0.2 < moved_deg.max() < 0.35


def test_refraction_keeps_snells_law():
    rng = np.random.default_rng(1)
    for _ in range(50):
        d, n = (v / np.linalg.norm(v) for v in rng.normal(loc=[2.0, 0.0, 0.0], size=(2, 3)))
        n = n if d.dot(n) > 0.0 else -n
        out = np.array(refract(*d, *n, 1.0 / 1.7))
        np.testing.assert_allclose(np.cross(d, n), 1.7 * np.cross(out, n), atol=1e-15)
        assert np.linalg.norm(out) == pytest.approx(1.0, abs=1e-15)
        np.testing.assert_allclose(refract(*out, *n, 1.7), d, atol=1e-14)


def test_frames_are_cut_by_number_of_beams(build_pattern):
    pattern = build_pattern(LIVOX["livox_avia"]["pattern"], point_rate_hz=100, frame_rate_hz=30)
    assert [pattern.frame_start(frame) for frame in range(5)] == [0, 4, 7, 10, 14]
    f = pattern.firings(0, 14)
    assert f.frame.tolist() == [0] * 4 + [1] * 3 + [2] * 3 + [3] * 4
    assert f.column.tolist() == [0] * 14
    assert pattern.frame_shape(0) is None
    assert pattern.ring_to_row is None
    avia = build_pattern(LIVOX["livox_avia"]["pattern"])
    assert avia.firings(24_000, 24_013).column.tolist() == [0] * 6 + [1] * 6 + [2]


SINGLE_WEDGE = {
    "kind": "rosette",
    "source": "test",
    "point_rate_hz": 1000,
    "frame_rate_hz": 10,
    "laser_offset_deg": [0],
    "wedges": [{"rpm": 6000, "phase_deg": 0, "tilt_deg": 10, "refractive_index": 1.5, "tilted_face_first": False}],
}


def rotor_turns(pattern, time_ns):
    """A single wedge bends the axis towards its thick side: the direction shows the rotor's angle."""
    d = pattern.directions_at(np.array([time_ns]), np.zeros(1, np.uint16))[0]
    return math.atan2(-d[2], -d[1]) / (2.0 * math.pi) % 1.0


def test_start_phases_are_even_over_the_turn_and_drawn_from_the_seed(build_pattern):
    spec = SINGLE_WEDGE | {"random_phase": True}
    phases = np.sort([rotor_turns(build_pattern(spec, seed), 0) for seed in range(400)])
    assert phases[3] == pytest.approx(sorted(rotor_turns(build_pattern(spec, s), 0) for s in range(400))[3])
    # Kolmogorov-Smirnov distance, 1 % level: 1.63 / sqrt(400).
    assert np.abs(phases - (np.arange(400) + 0.5) / 400).max() < 1.63 / 20
    assert rotor_turns(build_pattern(SINGLE_WEDGE, 1), 0) == rotor_turns(build_pattern(SINGLE_WEDGE, 2), 0)


def test_speed_errors_have_the_stated_spread_and_leave_the_start(build_pattern):
    ppm = 50.0
    spec = SINGLE_WEDGE | {"speed_error_ppm": ppm}
    second_ns, turns_per_s = 10**9, 100.0
    patterns = [build_pattern(spec, seed) for seed in range(400)]
    drift = np.array([(rotor_turns(p, second_ns) + 0.5) % 1.0 - 0.5 for p in patterns])
    relative = drift / turns_per_s * 1e6
    assert np.std(relative) == pytest.approx(ppm, rel=0.15)  # 400 draws: 3.5 % standard error
    assert abs(np.mean(relative)) < 4 * ppm / 20
    start = {round(rotor_turns(p, 0) % 1.0, 12) % 1.0 for p in patterns}
    assert start == {0.0}


def test_the_rotors_of_one_device_are_drawn_apart(build_pattern):
    """Two equal wedges bend twice as far where they stand alike, not at all where they stand opposite."""
    spec = SINGLE_WEDGE | {"wedges": SINGLE_WEDGE["wedges"] * 2}

    def bent_deg(beam, **options):
        forward = [build_pattern(spec | options, seed).firings(beam, beam + 1).direction[0, 0] for seed in range(40)]
        return np.degrees(np.arccos(forward))

    alike_deg = bent_deg(0).max()
    for drawn_deg in (bent_deg(0, random_phase=True), bent_deg(3000, speed_error_ppm=1000.0)):
        assert drawn_deg.min() < 0.2 * alike_deg
        assert 0.9 * alike_deg < drawn_deg.max() < 1.001 * alike_deg


def test_glass_that_reflects_totally_is_refused(build_pattern):
    wedge = SINGLE_WEDGE["wedges"][0] | {"tilt_deg": 60, "refractive_index": 1.9}
    with pytest.raises(ProfileError, match="totally reflected inside the glass"):
        build_pattern(SINGLE_WEDGE, wedges=[wedge])
