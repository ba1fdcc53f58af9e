"""Signs and frames: the shipped numbers, fired by the pattern room, against the vendors' own formulas."""

from __future__ import annotations

import numpy as np
import pytest

from lidar_sim.pattern import make_pattern
from lidar_sim.profile import load_profile
from lidar_sim.profile.schema import SpinningFree, SpinningLocked

SAME_LINE = 1e-9  # metres or unit vectors: the same arithmetic in another order
TABLE_DEG = 2e-4  # the tables' digits, printed to 1e-4, and the fit's own residual below 1e-4
MID360_DEG = 0.0105  # largest residual of the fit over all rows: the table's own rounding

# Laser 0 of firings 0, 1000 and 12345 in the vendor's tables: azimuth, elevation in degrees.
LIVOX_ROWS = {
    "livox_avia": {0: (-35.2711, 2.2429), 1000: (-12.189, -10.3361), 12345: (27.0389, 1.7258)},
    "livox_horizon": {0: (-40.9346, 2.2104), 1000: (-25.3033, 12.4423), 12345: (-15.4247, 11.9966)},
    "livox_tele15": {0: (-7.3226, 0.7284), 1000: (-2.0469, 2.1429), 12345: (0.2465, 0.5005)},
    "livox_mid40": {0: (19.1724, 0.0301), 1000: (3.8134, 18.8014), 12345: (1.811, 6.0722)},
    "livox_mid70": {0: (-35.2147, -0.0242), 1000: (-7.6197, -34.4794), 12345: (-2.4557, -9.4786)},
    "livox_mid360": {0: (-91.01, 52.162), 1000: (59.098, 23.993), 12345: (-98.09, -0.6019)},
}


@pytest.mark.parametrize("name", ["os1-64", "os1-64-gen1", "os1-128", "os0-128", "os2-128"])
def test_ouster_points_are_where_its_manual_computes_them(name: str) -> None:
    profile = load_profile(name)
    pattern = profile.pattern
    assert isinstance(pattern, SpinningLocked)
    rows, width = len(pattern.elevation_deg), pattern.columns_per_turn
    fired = make_pattern(profile).firings(0, rows * width)

    # range r, beam angles and origin n as in the metadata; lidar frame, then turned by 180 degrees about z
    column = np.repeat(np.arange(width), rows)
    altitude = np.deg2rad(np.tile(pattern.elevation_deg, width))
    beam_azimuth = np.deg2rad(-np.tile(pattern.azimuth_offset_deg or (), width))
    n = pattern.beam_origin_radius_mm * 1e-3
    encoder = 2 * np.pi * (1 - column / width)
    angle = encoder - beam_azimuth
    u = np.stack([np.cos(angle) * np.cos(altitude), np.sin(angle) * np.cos(altitude), np.sin(altitude)], axis=1)
    reported = 7.0
    beam_origin = n * np.stack([np.cos(encoder), np.sin(encoder), np.zeros_like(encoder)], axis=1)
    point = (reported - n) * u + beam_origin
    point[:, :2] *= -1

    ours = fired.origin + (reported - profile.range.offset_m) * fired.direction
    assert np.abs(ours - point).max() < SAME_LINE
    assert ours[0, 0] < 0, "column 0 looks back, to the connector"


@pytest.mark.parametrize("name", ["vlp16", "vlp32c", "hdl32e"])
def test_velodyne_points_are_where_its_driver_computes_them(name: str) -> None:
    profile = load_profile(name)
    pattern = profile.pattern
    assert isinstance(pattern, SpinningFree)
    rows = len(pattern.elevation_deg)
    fired = make_pattern(profile).firings(0, rows * 100)

    # azimuth clockwise from the front at each laser's own time; rawdata.cpp turns it back by rot_correction
    clockwise = 360.0 * pattern.rpm / 60e9 * fired.time_ns
    correction = np.tile(pattern.azimuth_offset_deg or np.zeros(rows), 100)
    turned = np.deg2rad(clockwise - correction)
    elevation = np.deg2rad(np.tile(pattern.elevation_deg, 100))
    x, y = np.cos(elevation) * np.sin(turned), np.cos(elevation) * np.cos(turned)
    in_ros = np.stack([y, -x, np.sin(elevation)], axis=1)
    assert np.abs(fired.direction - in_ros).max() < SAME_LINE


def test_hdl64e_lines_are_those_of_its_driver() -> None:
    profile = load_profile("hdl64e")
    pattern = profile.pattern
    assert isinstance(pattern, SpinningFree)
    fired = make_pattern(profile).firings(0, 64)
    elevation = np.deg2rad(pattern.elevation_deg)
    offset = np.asarray(pattern.vertical_offset_mm) * 1e-3 * np.cos(elevation)
    distance = 11.0
    height = distance * np.sin(elevation) + offset * np.cos(elevation)
    out = distance * np.cos(elevation) - offset * np.sin(elevation)
    # the driver's point lies on our line: walk it to the same distance from the axis
    along = out / np.hypot(fired.direction[:, 0], fired.direction[:, 1])
    assert np.abs(fired.origin[:, 2] + along * fired.direction[:, 2] - height).max() < SAME_LINE


@pytest.mark.parametrize("name", LIVOX_ROWS)
def test_livox_profiles_fire_the_vendors_table(name: str) -> None:
    pattern = load_profile(name).pattern
    lasers = len(pattern.laser_offset_deg)  # type: ignore[union-attr]
    fire = make_pattern(load_profile(name)).firings
    tolerance = MID360_DEG if name == "livox_mid360" else TABLE_DEG
    for firing, row in LIVOX_ROWS[name].items():
        x, y, z = fire(firing * lasers, firing * lasers + 1).direction[0]
        ours = np.rad2deg([np.arctan2(y, x), np.arcsin(z)])
        assert ours == pytest.approx(row, abs=tolerance)


def test_2d_scanners_sweep_from_right_to_left() -> None:
    for name in ("utm30lx", "ust10lx", "tim571"):
        fired = make_pattern(load_profile(name)).firings(0, 1081 if name != "tim571" else 811)
        azimuth = np.rad2deg(np.arctan2(fired.direction[:, 1], fired.direction[:, 0]))
        assert azimuth[[0, len(azimuth) // 2, -1]] == pytest.approx([-135, 0, 135], abs=1e-9)


def test_rplidar_headings_grow_clockwise() -> None:
    fired = make_pattern(load_profile("rplidar_a2")).firings(0, 201)
    assert fired.direction[0] == pytest.approx([1, 0, 0], abs=1e-12)
    assert fired.direction[200] == pytest.approx([0, -1, 0], abs=1e-9)
