"""`lidar-sim record` and `demo`: options are a scenario, and the scenario that is left behind is the same run."""

from __future__ import annotations

import json

import pytest

from lidar_sim.cli import demo, record
from lidar_sim.cli.main import EXIT_INPUT, EXIT_INTERRUPTED, EXIT_OK, build_parser, main
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
    assert "is not empty" in capsys.readouterr().err
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
        ([*WORLD, "--devices", "vlp16,vlp16@imu", "--duration", "1"], "two sensors named 'vlp16'"),
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
    assert "interrupted" in capsys.readouterr().err
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    assert len(list((out / "vlp16").iterdir())) == 2
    monkeypatch.undo()
    assert main([*argv, "--resume"]) == EXIT_OK
    assert contents(out) == whole


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
