"""What every shipped profile promises: names, sources, modes, and figures that agree with each other."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import yaml

from lidar_sim.profile import DeviceProfile, dump_profile, load_profile, shipped_profiles
from lidar_sim.profile.load import _plain
from lidar_sim.profile.schema import Raster, RosetteMirror, SpinningFree, SpinningLocked

NAMES = list(shipped_profiles())
MODES = [(name, mode) for name in NAMES for mode in (None, *load_profile(name).modes)]

PROMISED = {
    "velodyne_vlp16", "ouster_os1_64", "ouster_os1_64_gen1", "livox_avia", "realsense_d435i", "livox_mid360",
    "livox_mid40", "livox_mid70", "livox_horizon", "livox_tele15", "velodyne_hdl32e", "velodyne_vlp32c",
    "velodyne_hdl64e_s3", "hesai_xt32", "robosense_helios5515", "ouster_os0_128", "ouster_os1_128", "ouster_os2_128",
    "hokuyo_utm30lx", "hokuyo_ust10lx", "rplidar_a2", "sick_tim571",
}  # fmt: skip

SHORT_NAMES = {
    "vlp16": "velodyne_vlp16",
    "VLP-16": "velodyne_vlp16",
    "puck": "velodyne_vlp16",
    "os1-64": "ouster_os1_64",
    "OS1_64": "ouster_os1_64",
    "os1-64-gen1": "ouster_os1_64_gen1",
    "os0-128": "ouster_os0_128",
    "os1-128": "ouster_os1_128",
    "os2-128": "ouster_os2_128",
    "avia": "livox_avia",
    "mid360": "livox_mid360",
    "Mid-360": "livox_mid360",
    "mid40": "livox_mid40",
    "mid70": "livox_mid70",
    "horizon": "livox_horizon",
    "tele15": "livox_tele15",
    "tele-15": "livox_tele15",
    "d435i": "realsense_d435i",
    "RealSense D435i": "realsense_d435i",
    "hdl32e": "velodyne_hdl32e",
    "vlp32c": "velodyne_vlp32c",
    "hdl64e": "velodyne_hdl64e_s3",
    "xt32": "hesai_xt32",
    "helios5515": "robosense_helios5515",
    "utm30lx": "hokuyo_utm30lx",
    "UST-10LX": "hokuyo_ust10lx",
    "rplidar-a2": "rplidar_a2",
    "tim571": "sick_tim571",
}

# Data sheets round: "300 000 points/s" for 289 352 (VLP-16), "600 000" for 578 704 (VLP-32C), "1.3 million" for
# 1 333 333 (HDL-64E), "700 000" for 694 444 (HDL-32E).
ROUNDED_RATE = {"velodyne_vlp16": 0.04, "velodyne_vlp32c": 0.04, "velodyne_hdl64e_s3": 0.03, "velodyne_hdl32e": 0.01}
EXACT_RATE = 1e-4  # Helios: 575 954 is printed as 576 000

# Elevations against the printed vertical field of view. Ouster prints the design value: real 45-degree units span 42
# to 43 degrees; the HDL-64E's is one unit's calibration; the Mid-360's is its pattern's extent, not a list.
FOV_SLACK_DEG = {"ouster_os1_64": 3.0, "ouster_os1_128": 2.5, "ouster_os0_128": 1.0, "ouster_os2_128": 1.0,
                 "velodyne_hdl64e_s3": 0.5}  # fmt: skip
PRINTED_FOV_DEG = 0.1

# Intel gives its fields of view with 5 % tolerance. 640x480 goes beyond: its posted intrinsics belong to a wide unit.
CAMERA_FOV_RATIO = {"640x480": 0.07}
CAMERA_FOV_TOLERANCE = 0.05


def sections(profile: DeviceProfile):
    every = (profile.pattern, profile.range, profile.noise, profile.beam, profile.nominal)
    return [spec for spec in every if spec is not None]


def beams_per_s(profile: DeviceProfile) -> float:
    pattern = profile.pattern
    if isinstance(pattern, SpinningFree):
        return len(pattern.elevation_deg) * 1e9 / pattern.cycle_ns
    if isinstance(pattern, SpinningLocked):
        return len(pattern.elevation_deg) * (pattern.columns or pattern.columns_per_turn) * pattern.rate_hz
    if isinstance(pattern, Raster):
        return pattern.width_px * pattern.height_px * pattern.rate_hz
    return pattern.point_rate_hz


def test_every_promised_device_is_there() -> None:
    assert set(NAMES) >= PROMISED


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_called_as_the_device(name: str) -> None:
    assert load_profile(name).name == name


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_every_mode_loads_and_says_so(name: str, mode: str | None) -> None:
    profile = load_profile(name, mode)
    assert profile.default_mode == (mode or load_profile(name).default_mode)
    changes = profile.modes[mode].model_dump(exclude_unset=True) if mode else {}
    for section, values in changes.items():
        for key, value in values.items():
            assert getattr(getattr(profile, section), key) == value


@pytest.mark.parametrize("name", NAMES)
def test_a_default_mode_is_what_the_file_says_above(name: str) -> None:
    profile = load_profile(name)
    assert load_profile(name, profile.default_mode) == profile
    tree = yaml.safe_load(shipped_profiles()[name].read_text(encoding="utf-8"))
    assert DeviceProfile.model_validate(tree) == profile, "the default mode changes nothing"


@pytest.mark.parametrize("name", NAMES)
def test_every_source_is_used(name: str) -> None:
    profile = load_profile(name)
    modes = [profile, *(load_profile(name, mode) for mode in profile.modes)]
    used = {key for each in modes for spec in sections(each) for key in spec.source_keys()}
    assert used == set(profile.sources)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_assumed_is_not_dressed_up(name: str) -> None:
    for key, source in load_profile(name).sources.items():
        assert (key == "assumed" or "memory" in source.title) <= (source.status == "unverified")


def test_names_and_aliases_of_two_devices_never_meet() -> None:
    owners: dict[str, str] = {}
    for name in NAMES:
        for short in {_plain(spelling) for spelling in (name, *load_profile(name).aliases)}:
            assert owners.setdefault(short, name) == name


@pytest.mark.parametrize("name", NAMES)
def test_every_alias_finds_its_device(name: str) -> None:
    for alias in load_profile(name).aliases:
        assert load_profile(alias) == load_profile(name)
        assert load_profile(alias.upper()) == load_profile(name)


@pytest.mark.parametrize(("short", "name"), SHORT_NAMES.items())
def test_short_names_resolve(short: str, name: str) -> None:
    assert load_profile(short).name == name


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_points_per_second_are_what_the_pattern_fires(name: str, mode: str | None) -> None:
    profile = load_profile(name, mode)
    slack = ROUNDED_RATE.get(name, EXACT_RATE)
    assert beams_per_s(profile) == pytest.approx(profile.nominal.points_per_s, rel=slack)


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_the_vertical_field_of_view_is_what_the_beams_span(name: str, mode: str | None) -> None:
    profile = load_profile(name, mode)
    pattern, nominal = profile.pattern, profile.nominal
    if isinstance(pattern, SpinningFree | SpinningLocked):
        span = max(pattern.elevation_deg) - min(pattern.elevation_deg)
        assert span == pytest.approx(nominal.vertical_fov_deg, abs=FOV_SLACK_DEG.get(name, PRINTED_FOV_DEG))
        assert nominal.rows == len(pattern.elevation_deg)
    elif isinstance(pattern, Raster):
        fov = _camera_fov_deg(pattern.height_px, pattern.cy_px, pattern.fy_px)
        assert fov == pytest.approx(nominal.vertical_fov_deg, rel=CAMERA_FOV_RATIO.get(mode, CAMERA_FOV_TOLERANCE))
    elif nominal.rows is not None:
        assert nominal.rows == len(pattern.laser_offset_deg)


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_the_horizontal_field_of_view_is_what_the_columns_span(name: str, mode: str | None) -> None:
    profile = load_profile(name, mode)
    pattern, nominal = profile.pattern, profile.nominal
    if isinstance(pattern, SpinningLocked):
        step = 360.0 / pattern.columns_per_turn
        fired = pattern.columns or pattern.columns_per_turn
        assert (fired - 1) * step <= nominal.horizontal_fov_deg <= fired * step
    elif isinstance(pattern, Raster):
        fov = _camera_fov_deg(pattern.width_px, pattern.cx_px, pattern.fx_px)
        assert fov == pytest.approx(nominal.horizontal_fov_deg, rel=CAMERA_FOV_RATIO.get(mode, CAMERA_FOV_TOLERANCE))
    elif isinstance(pattern, SpinningFree | RosetteMirror):
        assert nominal.horizontal_fov_deg == 360


def _camera_fov_deg(size_px: int, centre_px: float, focal_px: float) -> float:
    edges = (centre_px + 0.5, size_px - 0.5 - centre_px)
    return math.degrees(sum(math.atan2(edge, focal_px) for edge in edges))


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_the_dumped_profile_loads_again_as_it_was(name: str, mode: str | None, tmp_path) -> None:
    profile = load_profile(name, mode)
    path = tmp_path / "effective.yaml"
    path.write_text(dump_profile(profile), encoding="utf-8")
    again = load_profile(path)
    assert again == profile
    assert again.pattern.model_fields_set == profile.pattern.model_fields_set
    assert dump_profile(again) == dump_profile(profile)


def test_a_speed_of_ones_own_survives_the_dump(tmp_path) -> None:
    profile = load_profile("vlp16", "450rpm")
    assert isinstance(profile.pattern, SpinningFree)
    assert (profile.pattern.rpm, profile.default_mode) == (450.0, "450rpm")
    path = tmp_path / "effective.yaml"
    path.write_text(dump_profile(profile), encoding="utf-8")
    assert load_profile(path) == profile
    assert "450rpm" not in load_profile("vlp16").modes


def test_a_profile_cannot_be_changed() -> None:
    profile = load_profile("vlp16")
    with pytest.raises(ValueError, match="frozen"):
        profile.range.max_m = 5.0  # type: ignore[misc]


def test_reading_profiles_needs_neither_numba_nor_mujoco() -> None:
    code = "import sys, lidar_sim.profile as p; p.load_profile('avia'); print({'numba', 'mujoco'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
