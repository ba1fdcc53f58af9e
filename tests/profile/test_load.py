"""Names, paths and modes: what load_profile finds, and how it says that it found nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lidar_sim.errors import ProfileError
from lidar_sim.profile import load_profile, shipped_profiles
from lidar_sim.profile.load import _aliases

from .own import OWN


def refusal(device: str | Path, mode: str | None = None) -> str:
    with pytest.raises(ProfileError) as caught:
        load_profile(device, mode)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.mark.parametrize("as_type", [str, Path])
def test_a_file_of_ones_own_loads(own: Path, as_type: type) -> None:
    assert load_profile(as_type(own)).name == "own_scanner"


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".YAML"])
def test_both_suffixes_of_yaml_will_do(own: Path, suffix: str) -> None:
    other = own.with_suffix(suffix)
    other.write_text(OWN, encoding="utf-8")
    assert load_profile(other) == load_profile(own)


def test_a_path_may_begin_at_home(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(own.parent))
    monkeypatch.setenv("USERPROFILE", str(own.parent))
    assert load_profile("~/own.yaml") == load_profile(own)


def test_a_path_may_be_relative(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.parent)
    assert load_profile("own.yaml") == load_profile(own)


def test_a_file_may_begin_with_a_byte_order_mark(own: Path) -> None:
    other = own.with_name("bom.yaml")
    other.write_text(OWN, encoding="utf-8-sig")
    assert load_profile(other) == load_profile(own)


def test_sections_may_be_shared_by_anchors(own: Path) -> None:
    text = OWN.replace("range:\n", "range: &range\n") + "  far: {range: {<<: *range, max_m: 40}}\n"
    own.write_text(text, encoding="utf-8")
    far = load_profile(own, "far")
    assert (far.range.min_m, far.range.max_m) == (0.5, 40)


def test_a_profile_of_ones_own_may_take_a_shipped_name(own: Path) -> None:
    own.write_text(OWN.replace("own_scanner", "velodyne_vlp16"), encoding="utf-8")
    assert load_profile(own).title == "Own scanner"
    assert load_profile("velodyne_vlp16").title != "Own scanner"


def test_an_unknown_device_hears_the_nearest_name_and_all_others() -> None:
    message = refusal("vlp61")
    assert message.startswith("unknown device 'vlp61' (did you mean 'vlp16'?); valid: ")
    assert all(name in message for name in shipped_profiles())
    assert message.endswith("or a path to a .yaml file")


@pytest.mark.parametrize("device", ["", " ", "9.json", "no such thing"])
def test_what_is_no_name_is_refused(device: str) -> None:
    assert refusal(device).startswith(f"unknown device {device!r}; valid: ")


def test_a_missing_file_hears_its_nearest_neighbour(own: Path) -> None:
    wrong = own.with_name("onw.yaml")
    assert refusal(wrong) == f"no device profile at {wrong} (did you mean 'own.yaml'?)"
    nowhere = own.parent / "nowhere" / "x.yaml"
    assert refusal(str(nowhere)) == f"no device profile at {nowhere}"


def test_a_folder_is_no_profile(own: Path) -> None:
    assert refusal(own.parent) == f"{own.parent} is a folder; a device profile is a file that ends in .yaml or .yml"
    folder = own.parent / "folder.yaml"
    folder.mkdir()
    assert refusal(str(folder)).startswith(f"{folder} is a folder")


def test_a_file_of_another_kind_is_refused_unread(own: Path) -> None:
    other = own.with_suffix(".txt")
    other.write_text(OWN, encoding="utf-8")
    assert refusal(other) == f"{other} does not end in .yaml or .yml, as a device profile does"


def test_a_home_that_does_not_exist_is_refused() -> None:
    assert refusal("~no-such-user/x.yaml").startswith("~no-such-user/x.yaml: ")


def test_an_unknown_mode_hears_the_right_ones() -> None:
    assert refusal("os1-64", "1024x11") == (
        "unknown mode of ouster_os1_64 '1024x11' (did you mean '1024x10'?); "
        "valid: 1024x10, 1024x20, 2048x10, 512x10, 512x20"
    )
    assert refusal("avia", "fast") == "unknown mode of livox_avia 'fast'; valid: none"
    assert refusal("vlp16", "700").endswith("<n>rpm")


@pytest.mark.parametrize(("mode", "rpm"), [("450rpm", 450), ("450 rpm", 450), ("333.5rpm", 333.5), ("1200rpm", 1200)])
def test_a_free_running_scanner_takes_any_speed_within_its_limits(mode: str, rpm: float) -> None:
    assert load_profile("vlp16", mode).pattern.rpm == rpm  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["299rpm", "1201rpm", "0rpm"])
def test_a_speed_beyond_the_limits_is_refused(mode: str) -> None:
    rpm = mode.removesuffix("rpm")
    assert refusal("vlp16", mode) == f"mode {mode!r} of velodyne_vlp16: rpm {rpm} is outside 300 to 1200"


def test_an_encoder_locked_scanner_takes_no_speed() -> None:
    assert refusal("os1-64", "600rpm").startswith("unknown mode of ouster_os1_64 '600rpm'")


@pytest.mark.parametrize(
    ("written", "aliases"),
    [
        ("aliases: [a, b-c, 'd']\n", ["a", "b-c", "d"]),
        ("aliases: [\n  a,\n  b,\n]\n", ["a", "b"]),
        ("aliases:\n  - a\n  - b  # spoken of so\n", ["a", "b"]),
        ("aliases:\n- a\n- b\n", ["a", "b"]),
        ("aliases: []\n", []),
        ("aliases:\n", []),
        ("", []),
        ("aliases: [a\n", []),
    ],
)
def test_aliases_are_found_however_the_list_is_written(written: str, aliases: list[str], tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        f"name: own\n{written}title: Own\nsources:\n  aliases: {{title: none of these}}\n", encoding="utf-8"
    )
    assert _aliases(path) == aliases
