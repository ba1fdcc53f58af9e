"""Device by device: identities of physics and digits held by hand that the shipped numbers must meet."""

from __future__ import annotations

import itertools
import math

import pytest

from lidar_sim.profile import load_profile
from lidar_sim.profile.schema import Raster, Rosette, RosetteMirror, SpinningFree, SpinningLocked

PRINTED_MM = 0.06  # the manual prints the vertical corrections to 0.1 mm
VELODYNE_FOCAL_MM = -41.91


def spinning_free(name: str) -> SpinningFree:
    pattern = load_profile(name).pattern
    assert isinstance(pattern, SpinningFree)
    return pattern


def spinning_locked(name: str, mode: str | None = None) -> SpinningLocked:
    pattern = load_profile(name, mode).pattern
    assert isinstance(pattern, SpinningLocked)
    return pattern


def test_vlp16_sequence_is_sixteen_firings_and_the_recharge() -> None:
    pattern = spinning_free("vlp16")
    assert 16 * 2304 + 18432 == pattern.cycle_ns == 55296
    assert pattern.fire_time_ns == tuple(range(0, 16 * 2304, 2304))
    assert 60e9 / pattern.rpm / pattern.cycle_ns == pytest.approx(1808.4, abs=0.1)


def test_vlp16_vertical_offsets_come_from_one_focal_point() -> None:
    pattern = spinning_free("vlp16")
    assert pattern.vertical_offset_mm is not None
    for elevation, offset in zip(pattern.elevation_deg, pattern.vertical_offset_mm, strict=True):
        assert offset == pytest.approx(VELODYNE_FOCAL_MM * math.tan(math.radians(elevation)), abs=PRINTED_MM)
    assert sum(pattern.elevation_deg) == 0


def test_vlp16_rings_are_two_degrees_apart() -> None:
    assert sorted(spinning_free("vlp16").elevation_deg) == list(range(-15, 16, 2))


def test_vlp32c_fires_in_pairs_of_one_sequence() -> None:
    pattern = spinning_free("vlp32c")
    assert pattern.fire_time_ns is not None
    assert pattern.cycle_ns == 16 * 2304 + 18432
    assert pattern.fire_time_ns[0::2] == pattern.fire_time_ns[1::2] == tuple(range(0, 16 * 2304, 2304))


def test_vlp32c_offsets_stand_in_four_columns_2_8_degrees_apart() -> None:
    pattern = spinning_free("vlp32c")
    assert pattern.azimuth_offset_deg is not None
    assert sorted(set(pattern.azimuth_offset_deg)) == [-4.2, -1.4, 1.4, 4.2]
    assert (pattern.elevation_deg[0], pattern.azimuth_offset_deg[0]) == (-25.0, -1.4)
    assert (pattern.elevation_deg[29], pattern.azimuth_offset_deg[29]) == (15.0, 1.4)


def test_hdl32e_sequence_is_thirty_two_firings_and_the_recharge() -> None:
    pattern = spinning_free("hdl32e")
    assert 32 * 1152 + 9216 == pattern.cycle_ns == 46080
    assert pattern.fire_time_ns == tuple(range(0, 32 * 1152, 1152))


def test_hdl32e_banks_interleave_four_thirds_of_a_degree_apart() -> None:
    elevation = sorted(spinning_free("hdl32e").elevation_deg)
    steps = [b - a for a, b in itertools.pairwise(elevation)]
    assert steps == pytest.approx([4 / 3] * 31, abs=0.01)
    assert spinning_free("hdl32e").elevation_deg[15] == 0.0


def test_hdl64e_blocks_fire_together_eight_groups_of_four() -> None:
    pattern = spinning_free("hdl64e")
    assert pattern.fire_time_ns is not None
    upper, lower = pattern.fire_time_ns[0::2], pattern.fire_time_ns[1::2]
    assert upper == lower
    assert pattern.cycle_ns == 8 * 6000
    assert [b - a for a, b in zip(upper, upper[4:], strict=False)] == [6000] * 28
    assert min(pattern.elevation_deg[0::2]) > max(pattern.elevation_deg[1::2]), "every upper laser above every lower"


def test_hdl64e_lines_cross_the_axis_where_the_calibration_puts_them() -> None:
    pattern = spinning_free("hdl64e")
    assert pattern.vertical_offset_mm is not None
    # laser 0 (upper block) and laser 32 (lower block) of 64e_s3-xiesc.yaml
    by_hand = {0: (-7.2297, 215.69468), 1: (-22.3575, 159.70787)}
    for i, (elevation, offset) in by_hand.items():
        assert pattern.elevation_deg[i] == elevation
        line = offset / math.cos(math.radians(elevation))
        assert pattern.vertical_offset_mm[i] == pytest.approx(line, abs=0.006)


def test_xt32_channels_are_one_degree_and_1512_ns_apart() -> None:
    pattern = spinning_free("xt32")
    assert pattern.elevation_deg == tuple(range(15, -17, -1))
    assert pattern.fire_time_ns == tuple(range(0, 32 * 1512, 1512))
    assert 32 * 1e9 / pattern.cycle_ns == 640_000
    assert 360 * pattern.rpm / 60e9 * pattern.cycle_ns == pytest.approx(0.18)


def test_helios_keeps_each_channels_time_through_the_sorting() -> None:
    pattern = spinning_free("helios5515")
    assert pattern.fire_time_ns is not None
    at = dict(zip(pattern.elevation_deg, pattern.fire_time_ns, strict=True))
    assert (at[15], at[-10], at[-13], at[-16], at[-25], at[-28], at[-55]) == (
        0, 26530, 27770, 29010, 32730, 33980, 45150,
    )  # fmt: skip
    assert 32 * 1e9 / pattern.cycle_ns == pytest.approx(576_000, rel=1e-4)
    assert 360 * pattern.rpm / 60e9 * pattern.cycle_ns == pytest.approx(0.2, abs=1e-4)


def test_rplidar_has_eight_hundred_samples_a_turn() -> None:
    pattern = spinning_free("rplidar_a2")
    assert 60e9 / pattern.rpm / pattern.cycle_ns == 800
    assert 360 / 800 == 0.45


# pixel_shift_by_row of the SDK's metadata for these very units, first eight rows, 1024 columns.
PIXEL_SHIFT = {
    "ouster_os1_128": [12, 4, -4, -12, 12, 4, -4, -12],
    "ouster_os0_128": [31, 10, -10, -29, 30, 10, -9, -28],
}


@pytest.mark.parametrize(("name", "shift"), PIXEL_SHIFT.items())
def test_ouster_offsets_give_the_units_own_pixel_shift(name: str, shift: list[int]) -> None:
    pattern = spinning_locked(name)
    assert pattern.azimuth_offset_deg is not None
    ours = [round(-offset * pattern.columns_per_turn / 360) for offset in pattern.azimuth_offset_deg]
    assert ours[:8] == shift


@pytest.mark.parametrize("name", ["ouster_os1_64_gen1", "ouster_os2_128"])
def test_older_firmware_counts_the_pixel_shift_from_the_last_column(name: str) -> None:
    pattern = spinning_locked(name)
    assert pattern.azimuth_offset_deg is not None
    shift = [-offset * pattern.columns_per_turn / 360 for offset in pattern.azimuth_offset_deg]
    printed = {"ouster_os1_64_gen1": [18, 12, 6, 0], "ouster_os2_128": [12, 8, 4, 0]}[name]
    assert [round(each - shift[3]) for each in shift[:4]] == printed


@pytest.mark.parametrize("name", ["os0-128", "os1-64", "os1-64-gen1", "os1-128", "os2-128"])
def test_ouster_counts_range_from_the_axis(name: str) -> None:
    profile, pattern = load_profile(name), spinning_locked(name)
    assert profile.range.offset_m == pytest.approx(pattern.beam_origin_radius_mm * 1e-3, rel=1e-12)
    assert (pattern.clockwise, pattern.start_azimuth_deg) == (True, 180.0)
    assert list(pattern.elevation_deg) == sorted(pattern.elevation_deg, reverse=True)
    assert pattern.fire_time_ns is None, "a column fires all rows at once"


@pytest.mark.parametrize("name", ["os0-128", "os1-64", "os1-64-gen1", "os1-128", "os2-128"])
def test_ouster_has_its_five_modes(name: str) -> None:
    for mode in ("512x10", "1024x10", "2048x10", "512x20", "1024x20"):
        pattern = spinning_locked(name, mode)
        assert f"{pattern.columns_per_turn}x{pattern.rate_hz:g}" == mode
    assert load_profile(name).default_mode == "1024x10"


def test_os1_64_beam_origin_and_top_rate_are_printed() -> None:
    assert spinning_locked("os1-64").beam_origin_radius_mm == 15.806
    assert spinning_locked("os1-64-gen1").beam_origin_radius_mm == 12.163
    assert load_profile("os1-64", "2048x10").nominal.points_per_s == 1_310_720
    assert spinning_locked("os1-64").elevation_deg[:3] == (21.45, 20.84, 20.21)
    assert spinning_locked("os1-64").azimuth_offset_deg[:4] == (-1.5, 4.16, -1.49, 4.15)  # type: ignore[index]


def test_os1_64_gen1_rows_are_evenly_spaced_in_four_columns() -> None:
    pattern = spinning_locked("os1-64-gen1")
    steps = [a - b for a, b in zip(pattern.elevation_deg, pattern.elevation_deg[1:], strict=False)]
    assert steps == pytest.approx([2 * 16.611 / 63] * 63, abs=0.001)
    assert pattern.azimuth_offset_deg == (-3.164, -1.055, 1.055, 3.164) * 16


@pytest.mark.parametrize(
    ("name", "front", "last"), [("utm30lx", 540, 1080), ("ust10lx", 540, 1080), ("tim571", 405, 810)]
)
def test_the_middle_step_of_a_2d_scanner_looks_forward(name: str, front: int, last: int) -> None:
    pattern = spinning_locked(name)
    step = 360 / pattern.columns_per_turn
    assert not pattern.clockwise
    assert pattern.start_azimuth_deg + (pattern.first_column + front) * step == pytest.approx(0, abs=1e-12)
    assert pattern.columns == last + 1


def test_2d_scanners_keep_their_clocks() -> None:
    for name in ("utm30lx", "ust10lx"):
        assert 1e3 / spinning_locked(name).rate_hz == 25  # ms a turn
    tim = spinning_locked("tim571")
    assert tim.columns_per_turn * tim.rate_hz == 16_200  # the manual's spot-to-spot frequency


@pytest.mark.parametrize(
    ("mode", "min_z_mm"), [("1280x720", 280), ("848x480", 195), ("640x480", 175), ("424x240", 105)]
)
def test_d435i_min_z_is_the_data_sheets(mode: str, min_z_mm: int) -> None:
    profile = load_profile("d435i", mode)
    pattern = profile.pattern
    assert isinstance(pattern, Raster)
    assert profile.range.min_m == min_z_mm / 1000
    assert f"{pattern.width_px}x{pattern.height_px}" == mode
    assert pattern.rate_hz == 30
    assert (pattern.baseline_mm, profile.range.resolution_m, profile.range.planar) == (50, 0.001, True)
    # the stereo pair searches 126 px: Min-Z = f B / 126, up to the margin of the printed table
    disparity_px = pattern.fx_px * 0.050 / profile.range.min_m
    assert 90 < disparity_px < 126


@pytest.mark.parametrize("mode", ["1280x720", "848x480", "640x480", "424x240"])
def test_d435i_noise_is_a_subpixel_error_at_two_metres(mode: str) -> None:
    profile = load_profile("d435i", mode)
    assert isinstance(profile.pattern, Raster)
    sigma = 0.08 * 2.0**2 / (profile.pattern.fx_px * 0.050)
    assert profile.noise.range_std_m == pytest.approx(sigma, abs=0.00006)


def test_d435i_modes_of_one_unit_share_one_lens() -> None:
    focal_per_width = {}
    for mode in ("1280x720", "848x480", "424x240"):
        pattern = load_profile("d435i", mode).pattern
        assert isinstance(pattern, Raster)
        assert pattern.fx_px == pattern.fy_px
        focal_per_width[mode] = pattern.fx_px / pattern.width_px
    assert max(focal_per_width.values()) == pytest.approx(min(focal_per_width.values()), rel=1e-3)


@pytest.mark.parametrize(
    ("name", "repeat_s"),
    [("avia", 20 / 3), ("horizon", 60), ("tele15", 20 / 3), ("mid40", 30), ("mid70", 30)],
)
def test_livox_rotors_close_after_the_published_time(name: str, repeat_s: float) -> None:
    pattern = load_profile(name).pattern
    assert isinstance(pattern, Rosette)
    # Rotors and the frame of firings close when every rotor has made whole turns.
    turns = [wedge.rpm / 60 * repeat_s for wedge in pattern.wedges]
    assert turns == pytest.approx([round(turn) for turn in turns], abs=1e-9)
    for n in (2, 3):
        shorter = [turn / n for turn in turns]
        assert any(abs(turn - round(turn)) > 1e-9 for turn in shorter)


@pytest.mark.parametrize(("name", "scale"), [("avia", 0.0156664), ("horizon", 0.0156664), ("tele15", 0.00552944)])
def test_livox_fan_is_evenly_spaced_in_the_tangent(name: str, scale: float) -> None:
    pattern = load_profile(name).pattern
    assert isinstance(pattern, Rosette)
    fan = [math.degrees(math.atan(scale * k)) for k in (2.5, 1.5, 0.5, -0.5, -1.5, -2.5)]
    assert pattern.laser_offset_deg == pytest.approx(fan, abs=1e-5)


def test_mid360_prism_and_wedge_close_after_twelve_seconds() -> None:
    pattern = load_profile("mid360").pattern
    assert isinstance(pattern, RosetteMirror)
    assert pattern.prism_rpm / 60 * 12 == round(pattern.prism_rpm / 60 * 12) == -2189
    assert pattern.wedge_relative_rpm / 60 == 10
    assert pattern.prism_rpm + pattern.wedge_relative_rpm == -10345
    fan = [math.tan(math.radians(offset)) for offset in pattern.laser_offset_deg]
    assert [fan[0] / fan[1], fan[3] / fan[2]] == pytest.approx([3, 3], abs=2e-3)
