from __future__ import annotations

import re

import numpy as np
import pytest

from lidar_sim.errors import ScenarioError
from lidar_sim.scenario.config import ScenarioConfig
from lidar_sim.scenario.controller import ControllerDrive
from lidar_sim.scenario.drive import WaypointDrive
from lidar_sim.scenario.load import effective_beside, load_scenario, save_scenario
from lidar_sim.scenario.motion import Rest
from lidar_sim.scenario.replay import QposReplay
from lidar_sim.scenario.stage import set_stage
from lidar_sim.scenario.world import build_model, initial_data

WHOLE = """\
scene: room
robot: quadruped
robot_pose: {position_m: [0.5, 0.2, 0.0], rpy_deg: [0, 0, 90]}
keyframe: home
timestep_s: 0.005
duration_s: 2.0
seed: 7
sensors:
  - device: vlp16
    mount: lidar
    exclude: subtree
  - device: ust10lx
    name: low
    mount: base
    offset:
      position_m: [0.2, 0, 0]
      rpy_deg: [0, 5, 0]
    exclude: [base, FL_thigh]
    geomgroups: [0, 2]
    noise: false
motion:
  kind: waypoints
  waypoints_m: [[0.5, 0.2], [0.5, 1.2]]
  speed_m_s: 0.5
  sway:
    roll_deg: 2
    frequency_hz: 1.2
  trot: {stride_m: 0.3}
outputs:
  formats: [pcd, npz]
  fields: full
"""


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "run.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_a_whole_scenario_is_read_and_staged(write):
    config = load_scenario(write(WHOLE))
    stage = set_stage(config)
    vlp16, low = stage.sensors
    assert (vlp16.name, low.name) == ("vlp16", "low")
    assert (vlp16.seed, low.seed) == (7, 7)
    np.testing.assert_allclose(low.T_body_sensor[:3], [0.2, 0.0, 0.0])
    assert stage.model.opt.timestep == 0.005
    assert isinstance(stage.motion, WaypointDrive)
    assert stage.motion.pose(0.0)[0][:2] == pytest.approx([0.5, 0.2])
    assert stage.duration_s == 2.0


def test_effective_values_make_the_same_scenario_again(write):
    config = load_scenario(write(WHOLE))
    assert ScenarioConfig.model_validate(config.effective()) == config


@pytest.mark.parametrize("form", ["[0.2, 0, 0, 0, 5, 0]", "{position_m: [0.2, 0, 0], rpy_deg: [0, 5, 0]}"])
def test_an_offset_is_a_mapping_or_a_list(write, form):
    mapping = "offset:\n      position_m: [0.2, 0, 0]\n      rpy_deg: [0, 5, 0]"
    assert load_scenario(write(_replaced(mapping, f"offset: {form}"))) == load_scenario(write(WHOLE))
    short = load_scenario(write(_replaced(mapping, "offset: [0.2, 0, 0]"))).sensors[1].offset
    assert (short.position_m, short.rpy_deg) == ((0.2, 0.0, 0.0), (0.0, 0.0, 0.0))


def test_a_saved_scenario_is_the_same_from_wherever_it_is_read(write, tmp_path, monkeypatch):
    (tmp_path / "deep" / "run").mkdir(parents=True)
    config = load_scenario(write(WHOLE.replace("scene: room", "scene: own.xml")))
    monkeypatch.chdir(tmp_path)
    save_scenario(config, "deep/run/scenario.yaml")
    assert load_scenario(tmp_path / "deep" / "run" / "scenario.yaml") == config
    assert str(tmp_path) not in (tmp_path / "deep" / "run" / "scenario.yaml").read_text()
    here = load_scenario("deep/run/scenario.yaml")
    assert here.scene == "own.xml"
    assert effective_beside(here, "deep/run") == effective_beside(config, tmp_path / "deep" / "run")


def test_a_motion_shorter_than_the_run_is_remarked(write):
    whole = set_stage(load_scenario(write(WHOLE.replace("duration_s: 2.0", "duration_s: 3.5"))))
    assert whole.remarks == ("the path ends at 2.000 s: its last pose is held until 3.500 s",)
    assert set_stage(load_scenario(write(WHOLE))).remarks == ()


def test_every_kind_of_motion_is_staged(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "still.py").write_text("def hold(model, data):\n    pass\n")
    qpos = initial_data(build_model("room", "quadruped")).qpos
    np.savez(tmp_path / "log.npz", time_s=np.array([0.0, 1.5]), qpos=np.stack([qpos, qpos]))
    head = WHOLE[: WHOLE.index("motion:")].replace("duration_s: 2.0\n", "")
    cases = {
        "motion: {kind: replay, log: log.npz}\n": (QposReplay, 1.5),
        "motion: {kind: waypoints, waypoints_m: [[0, 0], [0, 3]], speed_m_s: 2}\n": (WaypointDrive, 1.5),
        "motion: {kind: controller, function: 'still:hold'}\nduration_s: 3\n": (ControllerDrive, 3.0),
        "motion: {kind: rest}\nduration_s: 4\n": (Rest, 4.0),
        "duration_s: 5\n": (Rest, 5.0),
    }
    for text, (kind, duration_s) in cases.items():
        stage = set_stage(load_scenario(write(head + text)))
        assert type(stage.motion) is kind
        assert stage.duration_s == duration_s


def test_files_lie_beside_the_scenario(write, tmp_path):
    (tmp_path / "mine.xml").write_text('<mujoco><worldbody><site name="s"/><geom size="1"/></worldbody></mujoco>')
    config = load_scenario(write("scene: mine.xml\nduration_s: 1\nsensors: [{device: vlp16, mount: s}]\n"))
    assert config.scene == str(tmp_path / "mine.xml")
    assert set_stage(config).model.ngeom == 1
    assert config.sensors[0].device == "vlp16"


def _replaced(before, after):
    assert before in WHOLE
    return WHOLE.replace(before, after)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_replaced("seed: 7", "sede: 7"), r"run\.yaml:7: sede: unknown key \(did you mean 'seed'\?\); valid: scene, "),
        (
            _replaced("    exclude: subtree", "    exclued: subtree"),
            r"yaml:11: sensors\.0\.exclued: unknown key \(did you mean 'exclude'\?\); valid: device, mount, name",
        ),
        (
            _replaced("      rpy_deg: [0, 5, 0]", "      rpy_dge: [0, 5, 0]"),
            r"yaml:17: sensors\.1\.offset\.rpy_dge: unknown key .*'rpy_deg'\?\); valid: position_m, rpy_deg$",
        ),
        (
            _replaced("  speed_m_s: 0.5", "  speed_ms: 0.5"),
            r"yaml:24: motion\.speed_ms: unknown key \(did you mean 'speed_m_s'\?\); valid: kind, waypoints_m",
        ),
        (
            _replaced("    roll_deg: 2", "    rol_deg: 2"),
            r"yaml:26: motion\.sway\.rol_deg: unknown key .*valid: roll_deg, pitch_deg",
        ),
        (_replaced("speed_m_s: 0.5", "speed_m_s: -1"), r"yaml:24: motion\.speed_m_s: must be greater than 0, found -1"),
        (
            _replaced("kind: waypoints", "kind: waypoint"),
            r"yaml:22: motion\.kind: unknown value 'waypoint' .*'waypoints'",
        ),
        (_replaced("    mount: lidar\n", ""), r"yaml:9: sensors\.0\.mount: this key is missing"),
        (_replaced("name: low", "name: vlp16"), r"yaml:12: sensors\.1: there are two sensors named 'vlp16'"),
        (_replaced("name: low", "name: ../low"), r"yaml:13: sensors\.1\.name: "),
        (_replaced("[pcd, npz]", "[pdc]"), r"yaml:30: outputs\.formats: unknown format 'pdc' \(did you mean 'pcd'\?\)"),
        (_replaced("duration_s: 2.0", "duration_s: .inf"), r"yaml:6: duration_s: .*finite"),
        (
            _replaced("[0, 2]", "[0, 6]"),
            r"yaml:19: geomgroups|sensors\.1\.geomgroups\.1: must be less than or equal to 5",
        ),
        (
            _replaced("offset:\n      position_m: [0.2, 0, 0]\n      rpy_deg: [0, 5, 0]", "offset: [1, 2]"),
            r"yaml:15: sensors\.1\.offset: must be \[x, y, z\] in m, \[x, y, z, roll, pitch, yaw\] in m and deg, or a "
            r"mapping of position_m, rpy_deg, found \[1, 2\]$",
        ),
        (
            _replaced("  waypoints_m: [[0.5, 0.2], [0.5, 1.2]]\n  speed_m_s: 0.5\n", ""),
            r"yaml:21: motion: missing keys: speed_m_s, waypoints_m$",
        ),
        ("duration_s: 1\n", r"run\.yaml:1: missing keys: scene, sensors$"),
        (_replaced("seed: 7", "seed: [7"), r"run\.yaml:\d+: not valid YAML"),
        (_replaced("seed: 7", "seed: 7\nseed: 8"), r"run\.yaml:8: not valid YAML: key 'seed' is given twice"),
        ("- 1\n", r"run\.yaml:1: a scenario is a mapping of keys, found a list"),
        ("scene: room\nsensors: []\nduration_s: 1\n", r"yaml:2: sensors: must "),
        (
            "scene: room\nsensors: [{device: a, mount: b}]\n",
            r"motion: this motion has no end of its own: give duration_s",
        ),
    ],
)
def test_faults_are_one_line_with_file_and_line(write, text, expected):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(text))
    assert re.search(expected, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_scenario_is_named(tmp_path):
    with pytest.raises(ScenarioError, match=r"no scenario at .*none\.yaml"):
        load_scenario(tmp_path / "none.yaml")
