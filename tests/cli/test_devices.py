"""`lidar-sim devices` says what the profiles say."""

from __future__ import annotations

import json

import pytest

from lidar_sim.cli import device_facts
from lidar_sim.cli.main import EXIT_INPUT, EXIT_OK, main
from lidar_sim.profile import load_profile, shipped_profiles

PROFILES = sorted(shipped_profiles())


def test_the_table_names_every_device_with_its_figures(capsys):
    assert main(["devices"]) == EXIT_OK
    lines = capsys.readouterr().out.splitlines()
    for name in PROFILES:
        profile = load_profile(name)
        row = next(line for line in lines if line.split()[:1] == [name])
        assert f"{profile.nominal.points_per_s:,.0f}" in row
        assert f"{profile.range.min_m:g} - {profile.range.max_m:g}" in row
        assert row.count("…") == 0


def test_the_json_of_all_devices_is_all_profiles(capsys):
    assert main(["devices", "--json"]) == EXIT_OK
    trees = json.loads(capsys.readouterr().out)
    assert trees == [load_profile(name).model_dump(mode="json", exclude_unset=True) for name in PROFILES]


@pytest.mark.parametrize("name", PROFILES)
def test_the_json_of_a_device_is_a_profile_that_loads_as_the_same_device(name, capsys, tmp_path):
    assert main(["devices", name, "--json"]) == EXIT_OK
    copy = tmp_path / "copy.yaml"
    copy.write_text(capsys.readouterr().out)
    assert load_profile(copy) == load_profile(name)


@pytest.mark.parametrize("mode", ["1200rpm", "450rpm"])
def test_the_json_of_a_mode_loads_in_that_mode(mode, capsys, tmp_path):
    assert main(["devices", "vlp16", "--mode", mode, "--json"]) == EXIT_OK
    copy = tmp_path / "copy.yaml"
    copy.write_text(capsys.readouterr().out)
    assert load_profile(copy).pattern == load_profile("vlp16", mode).pattern


@pytest.mark.parametrize("name", PROFILES)
def test_one_device_is_shown_whole_with_the_source_of_every_value(name, capsys):
    assert main(["devices", name]) == EXIT_OK
    shown = "".join(capsys.readouterr().out.split())
    profile = load_profile(name)
    for section in device_facts.SECTIONS:
        for value in device_facts.values(profile, section):
            assert "".join(value.name.split()) in shown
    for mode in profile.modes:
        assert "".join(mode.split()) in shown


@pytest.mark.parametrize("name", PROFILES)
def test_every_value_of_the_file_has_a_status(name):
    profile = load_profile(name)
    for section in device_facts.SECTIONS:
        spec = getattr(profile, section)
        given = set() if spec is None else spec.model_fields_set - {"kind", "source"}
        rows = [value for value in device_facts.values(profile, section) if value.status != "default"]
        assert {row.name.split(".")[0] for row in rows} == given
        assert {row.status for row in rows} <= set(device_facts.STATUSES)
        assert all(row.source for row in rows)


def test_the_status_is_that_of_the_source_named_in_the_file():
    values = {value.name: value for value in device_facts.values(load_profile("vlp16"), "range")}
    assert values["min_m"].source.startswith("ros-drivers")
    assert values["resolution_m"].source.startswith("VLP-16 User Manual")
    assert values["offset_m"].status == "default"


@pytest.mark.parametrize(
    ("name", "mode"), [*((name, None) for name in PROFILES), ("vlp16", "1200rpm"), ("vlp16", "450rpm")]
)
def test_the_yaml_of_a_device_is_a_profile_of_ones_own_to_start_from(name, mode, capsys, tmp_path):
    assert main(["devices", name, "--yaml", *(["--mode", mode] if mode else [])]) == EXIT_OK
    copy = tmp_path / "mine.yaml"
    copy.write_text(capsys.readouterr().out)
    own, shipped = load_profile(copy), load_profile(name, mode)
    assert (own.name, own.aliases) == (f"my_{shipped.name}", ())
    for section in device_facts.SECTIONS:
        assert getattr(own, section) == getattr(shipped, section)
    assert "aliases" not in copy.read_text()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["devices", "--yaml"], "--yaml needs one device"),
        (["devices", "vlp61"], "unknown device 'vlp61' (did you mean 'vlp16'?)"),
        (["devices", "vlp16", "--mode", "10rpm"], "rpm 10 is outside 300 to 1200"),
        (["devices", "vlp16", "--mode", "fast"], "unknown mode of velodyne_vlp16 'fast'"),
        (["devices", "--mode", "600rpm"], "--mode needs one device"),
        (["devices", "--plot", "x.png"], "--plot needs one device"),
        (["devices", "missing.yaml"], "no device profile at missing.yaml"),
    ],
)
def test_wrong_input_is_one_line(argv, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == EXIT_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lidar-sim: error: ")
    assert said in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("picture", "said"),
    [("nowhere/x.png", "cannot write nowhere/x.png: there is no folder"), ("x.jpg", "written as .png")],
)
def test_a_plot_that_cannot_be_written_is_one_line(picture, said, capsys, tmp_path, monkeypatch, read_png):
    monkeypatch.chdir(tmp_path)
    assert main(["devices", "vlp16", "--plot", picture]) == EXIT_INPUT
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_plot_is_written_and_the_table_still_printed(capsys, tmp_path, read_png):
    picture = tmp_path / "vlp16.png"
    assert main(["devices", "vlp16", "--plot", str(picture)]) == EXIT_OK
    assert read_png(picture).shape == (800, 1600, 4)
    assert "velodyne_vlp16" in capsys.readouterr().out
