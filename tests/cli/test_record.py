"""`lidar-sim record` and `demo`: options are a scenario, and the scenario that is left behind is the same run."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from lidar_sim.cli import demo, record
from lidar_sim.cli.main import EXIT_INPUT, EXIT_INTERRUPTED, EXIT_OK, build_parser, main
from lidar_sim.export import read_pcd
from lidar_sim.scenario import ScenarioConfig, load_scenario

WORLD = ["record", "--scene", "room", "--robot", "quadruped", "--mount", "lidar"]
DRIVE = [*WORLD, "--devices", "vlp16", "--waypoints", "-0.5,0 0,0.1", "--speed", "1", "--timestep", "0.02"]


def config_of(argv: list[str]) -> ScenarioConfig:
    return record.scenario_of(record.tree_of(build_parser().parse_args([*argv, "--out", "x"])))


def contents(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_options_are_a_scenario():
    config = config_of(
        [*WORLD, "--devices", "vlp16,d435i@depth_camera", "--waypoints=-1,0 0,0 1,1", "--speed", "0.5", "--sway",
         "2,1,0.01", "--sway-hz", "2", "--trot", "--duration", "0.4", "--seed", "7", "--fields", "x,y,z", "--formats",
         "pcd,ply", "--exclude", "FL_hip,FR_hip", "--no-noise", "--robot-pose", "1,2,0,0,0,90"]
    )  # fmt: skip
    assert [(sensor.device, sensor.mount) for sensor in config.sensors] == [
        ("vlp16", "lidar"),
        ("d435i", "depth_camera"),
    ]
    assert all(sensor.exclude == ("FL_hip", "FR_hip") and not sensor.noise for sensor in config.sensors)
    assert config.motion.waypoints_m == ((-1.0, 0.0), (0.0, 0.0), (1.0, 1.0))
    assert config.motion.sway.model_dump() == {"roll_deg": 2.0, "pitch_deg": 1.0, "heave_m": 0.01, "frequency_hz": 2.0}
    assert config.motion.trot is not None
    assert (config.duration_s, config.seed) == (0.4, 7)
    assert (config.outputs.formats, config.outputs.fields) == (("pcd", "ply"), ("x", "y", "z"))
    assert config.robot_pose.rpy_deg == (0.0, 0.0, 90.0)


def test_what_is_not_given_is_the_scenarios_own_default():
    config = config_of([*WORLD, "--devices", "vlp16", "--duration", "1"])
    sensor = {"device": "vlp16", "mount": "lidar"}
    tree = {"scene": "room", "robot": "quadruped", "duration_s": 1.0, "sensors": [sensor]}
    assert config == ScenarioConfig.model_validate(tree)


@pytest.mark.parametrize(
    ("options", "kind"),
    [(["--replay", "log.csv"], "replay"), (["--controller", "m:f", "--duration", "1"], "controller")],
)
def test_other_motions(options, kind):
    assert config_of([*WORLD, "--devices", "vlp16", *options]).motion.kind == kind


def test_a_run_can_be_made_again_from_the_scenario_it_left(tmp_path, capsys):
    first, second = tmp_path / "first", tmp_path / "second"
    assert main([*DRIVE, "--out", str(first)]) == EXIT_OK
    said = capsys.readouterr().out
    assert "vlp16: 4 frames" in said  # half a second; the fifth would be complete with the beam after it
    assert load_scenario(first / "scenario.yaml") == config_of(DRIVE)
    assert main(["record", str(first / "scenario.yaml"), "--out", str(second), "--threads", "1"]) == EXIT_OK
    assert contents(first) == contents(second)
    assert json.loads((first / "manifest.json").read_text())["status"] == "complete"


def test_a_folder_in_use_is_refused_resumed_or_overwritten(tmp_path, capsys):
    out = tmp_path / "run"
    short = [*DRIVE, "--duration", "0.24", "--out", str(out)]
    assert main(short) == EXIT_OK
    before = contents(out)
    assert main(short) == EXIT_INPUT
    refused = capsys.readouterr().err.splitlines()[-1]
    assert refused.endswith("is not empty: --resume goes on with the recording in it, --overwrite begins anew")
    (out / "vlp16" / "000001.pcd").unlink()
    assert main([*short, "--resume"]) == EXIT_OK
    assert contents(out) == before
    assert main([*short, "--overwrite", "--seed", "1"]) == EXIT_OK
    assert contents(out) != before


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["record"], "needs a scenario file, or --scene and --devices"),
        (["record", "--scene", "room", "--devices", "vlp16"], "vlp16 has no mount"),
        ([*WORLD, "--devices", "vlp16"], "give duration_s"),
        ([*WORLD, "--devices", "vlp16,puck@lidar", "--duration", "1", "--mount", "lidr"], "unknown mount 'lidr'"),
        ([*WORLD, "--devices", "vlp16,vlp16@lidar", "--duration", "1"], "two sensors named 'vlp16@lidar'"),
        ([*WORLD, "--devices", "vlp16", "--duration", "1", "--mode", "avia=x"], "unknown device of --mode 'avia'"),
        ([*WORLD, "--devices", "vlp16", "--duration", "1", "--mode", "fast"], "unknown mode of velodyne_vlp16 'fast'"),
        ([*WORLD, "--devices", "vlp16", "--duration", "1", "--formats", "png"], "fields=range (--fields range)"),
        ([*WORLD, "--devices", "avia", "--duration", "1", "--formats", "png"], "no rows and columns"),
        ([*WORLD, "--devices", "vlp16", "--duration", "1", "--formats", "pcx"], "unknown format 'pcx'"),
        ([*WORLD, "--devices", "vlp16", "--replay", "missing.csv"], "missing.csv"),
        ([*WORLD, "--devices", "vlp16", "--duration", "1", "--controller", "nothing_here:f"], "nothing_here"),
        (["record", "missing.yaml"], "no scenario at missing.yaml"),
        (["record", "missing.yaml", "--seed", "3", "--trot"], "--seed, --trot cannot stand beside a scenario file"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(argv, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*argv, "--out", "run"]) == EXIT_INPUT
    err = capsys.readouterr().err
    assert err.splitlines()[-1].startswith("lidar-sim: error: ")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_finished_frames_to_resume_from(tmp_path, monkeypatch, capsys):
    out = tmp_path / "run"
    argv = [*DRIVE, "--out", str(out)]
    assert main(argv) == EXIT_OK
    whole = contents(out)

    from lidar_sim.scenario import recording

    write, count = recording.write, 0

    def write_twice(*args, **options):
        nonlocal count
        count += 1
        if count > 2:
            raise KeyboardInterrupt
        write(*args, **options)

    monkeypatch.setattr(recording, "write", write_twice)
    assert main([*argv, "--overwrite"]) == EXIT_INTERRUPTED
    command = ["record", str(out / "scenario.yaml"), "--out", str(out), "--resume"]
    assert f"go on with: lidar-sim {' '.join(command)}\n" in capsys.readouterr().err
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    assert len(list((out / "vlp16").iterdir())) == 2
    monkeypatch.undo()
    assert main(command) == EXIT_OK
    assert contents(out) == whole


def test_files_of_ones_own_are_found_again_by_the_scenario_that_is_left(tmp_path, monkeypatch, capsys):
    """A scene and a log named relative to the working directory, a failure, and the command that it printed."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / "work" / "own.xml").write_text(
        '<mujoco><worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 1"><joint type="slide"/>'
        '<geom size="0.1"/><site name="s"/></body></worldbody></mujoco>'
    )
    (tmp_path / "work" / "log.csv").write_text("0,0\n0.3,0.3\n")
    argv = ["record", "--scene", "own.xml", "--devices", "vlp16@s", "--replay", "log.csv", "--timestep", "0.02"]
    argv += ["--duration", "0.5"]
    assert main([*argv, "--out", "../whole"]) == EXIT_OK
    assert "note: the log ends at 0.300 s: its last pose is held until 0.500 s" in capsys.readouterr().err

    from lidar_sim.scenario import recording

    monkeypatch.setattr(recording, "TumWriter", _breaking(recording.TumWriter, after=2))
    assert main([*argv, "--out", "../broken"]) == EXIT_INPUT
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert main(["record", "broken/scenario.yaml", "--out", "broken", "--resume"]) == EXIT_OK
    assert contents(tmp_path / "broken") == contents(tmp_path / "whole")


def _breaking(writer, *, after):
    class Breaking(writer):
        def add(self, *pose):
            nonlocal after
            after -= 1
            if after < 0:
                raise OSError(28, "No space left on device")
            super().add(*pose)

    return Breaking


def test_a_scenario_that_says_the_same_is_left_as_its_author_wrote_it(tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    text = (
        "# my own words\nscene: room\nrobot: quadruped\nduration_s: 0.004\nsensors: [{device: vlp16, mount: lidar}]\n"
    )
    (out / "scenario.yaml").write_text(text)
    assert main(["record", str(out / "scenario.yaml"), "--out", str(out), "--overwrite"]) == EXIT_OK
    assert (out / "scenario.yaml").read_text() == text


def test_offsets_and_modes_of_all_devices_or_of_one():
    config = config_of(
        [*WORLD, "--devices", "vlp16@left,vlp16@right,avia", "--duration", "1", "--offset", "-0.1,0,0.1", "--offset",
         "vlp16@left=0,0,0.2,0,0,90", "--mode", "vlp16=1200rpm"]
    )  # fmt: skip
    left, right, avia = config.sensors
    assert [sensor.label for sensor in config.sensors] == ["vlp16@left", "vlp16@right", "avia"]
    assert (left.offset.position_m, left.offset.rpy_deg) == ((0.0, 0.0, 0.2), (0.0, 0.0, 90.0))
    assert right.offset == avia.offset
    assert (right.offset.position_m, right.offset.rpy_deg) == ((-0.1, 0.0, 0.1), (0.0, 0.0, 0.0))
    assert [left.mode, right.mode, avia.mode] == ["1200rpm", "1200rpm", None]


def test_two_equal_devices_are_two_recordings(tmp_path):
    out = tmp_path / "run"
    argv = [*WORLD, "--devices", "ust10lx@lidar,ust10lx@base", "--duration", "0.06", "--timestep", "0.02"]
    assert main([*argv, "--out", str(out)]) == EXIT_OK
    names = {"ust10lx@lidar", "ust10lx@base"}
    assert {path.name for path in out.iterdir() if path.is_dir()} == names
    one, other = ((out / name / "000000.pcd").read_bytes() for name in sorted(names))
    assert one != other


def test_flat_pcds_hold_the_returns_only(tmp_path):
    argv = [*WORLD, "--devices", "vlp16", "--duration", "0.12", "--timestep", "0.02"]
    for name, options in (("grid", []), ("flat", ["--flat"])):
        assert main([*argv, *options, "--out", str(tmp_path / name)]) == EXIT_OK
    grid, flat = (read_pcd(tmp_path / name / "vlp16" / "000000.pcd") for name in ("grid", "flat"))
    seen = np.isfinite(grid.fields["x"])
    assert not seen.all()
    assert np.array_equal(np.sort(flat.fields["x"]), np.sort(grid.fields["x"][seen]))


def test_an_image_of_a_lidar_is_its_range(tmp_path):
    argv = [*WORLD, "--devices", "vlp16", "--duration", "0.12", "--timestep", "0.02", "--formats", "png"]
    assert main([*argv, "--fields", "range", "--out", str(tmp_path / "run")]) == EXIT_OK
    assert (tmp_path / "run" / "vlp16" / "000000.png").is_file()


def test_no_frame_and_no_point_are_explained(tmp_path, capsys):
    assert main([*WORLD, "--devices", "vlp16", "--duration", "0.03", "--out", str(tmp_path / "short")]) == EXIT_OK
    err = capsys.readouterr().err
    assert "note: no frame was completed in 0.03 s: a frame of vlp16 takes 0.1 s, and is complete with the beam" in err
    (tmp_path / "sky.xml").write_text('<mujoco><worldbody><site name="s"/></worldbody></mujoco>')
    sky = ["record", "--scene", str(tmp_path / "sky.xml"), "--devices", "vlp16@s", "--duration", "0.12"]
    assert main([*sky, "--out", str(tmp_path / "empty")]) == EXIT_OK
    assert "note: vlp16: no beam met anything: is there a scene around the robot?" in capsys.readouterr().err


def test_no_bar_is_left_above_an_error(tmp_path, capsys):
    assert main([*WORLD, "--devices", "vlp16", "--duration", "1", "--caster", "bvx", "--out", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_demo_without_matplotlib_says_that_it_can_do_without(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo"]) == EXIT_INPUT
    assert "lidar-sim demo --no-pictures" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_demo_leaves_four_clouds_and_their_pictures(tmp_path, capsys, monkeypatch, read_png):
    monkeypatch.setattr(demo, "SENSORS", ({"device": "vlp16", "mount": "lidar"},
                                          {"device": "os1-64", "mount": "lidar", "mode": "512x10"}))  # fmt: skip
    out = tmp_path / "demo_out"
    assert main(["demo", "--out", str(out), "--seconds", "0.2"]) == EXIT_OK
    said = capsys.readouterr().out
    for name in ("vlp16", "os1-64"):
        assert len(list((out / name).glob("*.pcd"))) == 2
        assert read_png(out / f"{name}.png").shape == (1000, 1600, 4)
        assert f"{name}.png" in said
    assert (out / "map.png").is_file()
    assert "What next:" in said
    assert load_scenario(out / "scenario.yaml") == record.scenario_of(demo.scenario_tree(0.2))


def test_the_real_demo_has_the_four_devices_of_the_house():
    config = record.scenario_of(demo.scenario_tree(1.5))
    assert [sensor.device for sensor in config.sensors] == ["vlp16", "os1-64", "avia", "d435i"]
    assert (config.scene, config.robot, config.duration_s) == ("warehouse", "quadruped", 1.51)


@pytest.mark.slow
def test_the_real_demo(tmp_path, read_png):
    out = tmp_path / "demo_out"
    assert main(["demo", "--out", str(out)]) == EXIT_OK
    for name, frames in (("vlp16", 10), ("os1-64", 10), ("avia", 10), ("d435i", 31)):
        assert len(list((out / name).glob("*.pcd"))) == frames
        assert read_png(out / f"{name}.png").shape == (1000, 1600, 4)


def test_beams_per_second_are_those_of_the_devices():
    config = config_of([*WORLD, "--devices", "vlp16,avia", "--duration", "1"])
    assert record.beams_per_s(config) == pytest.approx(240_000 + 1e9 / 55_296 * 16, rel=1e-4)
