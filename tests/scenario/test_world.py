from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.errors import ScenarioError
from lidar_sim.scenario.world import build_model, find_model, initial_data, model_digest
from lidar_sim.transforms import compose, euler_to_quaternion

# Positions go through MuJoCo's compiler, quaternions through a normalisation: rounding only.
ROUNDING = 1e-12
QUARTER_TURN = (1.0, 2.0, 0.5, *euler_to_quaternion(0.0, 0.0, 90.0))


def _pose_of(model: mujoco.MjModel, body: str) -> tuple[np.ndarray, np.ndarray]:
    data = initial_data(model)
    return data.body(body).xpos.copy(), data.body(body).xquat.copy()


def _robot_alone(path) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize("scene", ["room", "warehouse", "terrain"])
def test_names_of_the_go2_are_kept_in_every_bundled_scene(scene, go2_path):
    robot, model = _robot_alone(go2_path), build_model(scene, go2_path)
    for kind in ("njnt", "nu", "nsite", "nkey"):
        assert getattr(model, kind) - getattr(build_model(scene), kind) == getattr(robot, kind)
    for i in range(1, robot.nbody):
        assert model.body(robot.body(i).name).id > 0


@pytest.mark.parametrize("pose", [None, QUARTER_TURN])
def test_every_part_of_the_robot_is_carried_to_the_pose(pose, go2_path):
    """Oracle: the robot's own model at its home keyframe, each body moved by the pose."""
    robot, model = _robot_alone(go2_path), build_model("room", go2_path, pose=pose)
    place = np.array([0, 0, 0, 1, 0, 0, 0] if pose is None else pose, float)
    for i in range(1, robot.nbody):
        name = robot.body(i).name
        expected = compose(place[:3], place[3:], *_pose_of(robot, name))
        position, quaternion = _pose_of(model, name)
        np.testing.assert_allclose(position, expected[0], atol=ROUNDING)
        assert abs(abs(quaternion @ expected[1]) - 1.0) < ROUNDING


def test_solver_settings_are_the_robots_and_the_timestep_can_be_set(go2_path):
    model = build_model("room", go2_path)
    assert model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert model.opt.impratio == 100.0
    assert build_model("room", "quadruped", timestep_s=0.005).opt.timestep == 0.005


def test_the_robot_moves_as_it_does_alone(tmp_path, go2_path):
    """The same physics in a scene with only a floor as in the model with that floor, to the last bit."""
    floor = '<mujoco><worldbody><geom name="ground_plane" type="plane" size="0 0 1"/></worldbody></mujoco>'
    (tmp_path / "floor.xml").write_text(floor)
    model = build_model(tmp_path / "floor.xml", go2_path)
    spec = mujoco.MjSpec.from_file(str(go2_path))
    spec.worldbody.add_geom(name="ground_plane", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    alone = spec.compile()
    data, data_alone = initial_data(model), initial_data(alone)
    for _ in range(100):
        mujoco.mj_step(model, data)
        mujoco.mj_step(alone, data_alone)
    np.testing.assert_array_equal(data.qpos, data_alone.qpos)


@pytest.mark.parametrize("taken", ["body", "material", "site"])
def test_a_name_that_is_taken_prefixes_the_robot(taken, tmp_path):
    things = {
        "body": '<worldbody><body name="FL_calf"><geom size="1"/></body></worldbody>',
        "material": '<asset><material name="quadruped_dark"/></asset>',
        "site": '<worldbody><site name="lidar"/></worldbody>',
    }
    (tmp_path / "scene.xml").write_text(f"<mujoco>{things[taken]}</mujoco>")
    model = build_model(tmp_path / "scene.xml", "quadruped")
    assert model.body("robot_base").id > 0
    assert model.site("robot_lidar").id >= 0
    assert initial_data(model).qpos[7 + 1] == 0.9  # its home keyframe is found under the prefix too


def test_mocap_replaces_the_free_joint_and_keeps_the_legs():
    model = build_model("room", "quadruped", mocap=True, pose=QUARTER_TURN)
    assert model.body("base").mocapid[0] == 0
    assert (model.nq, model.nu) == (12, 12)
    position, _ = _pose_of(model, "base")
    np.testing.assert_allclose(position, [1.0, 2.0, 0.785], atol=ROUNDING)
    np.testing.assert_array_equal(initial_data(model).qpos, [0.0, 0.9, -1.8] * 4)


def test_building_leaves_no_log_and_no_warning(tmp_path, monkeypatch, go2_path, capfd):
    monkeypatch.chdir(tmp_path)
    build_model("room", go2_path)
    build_model("warehouse", "quadruped")
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_digest_tells_models_apart():
    assert model_digest(build_model("room")) == model_digest(build_model("room"))
    assert model_digest(build_model("room", "quadruped")) != model_digest(
        build_model("room", "quadruped", pose=(0.001, 0, 0, 1, 0, 0, 0))
    )


def _bad_file(tmp_path, text="<mujoco><worldbody><geom size='x'/></worldbody></mujoco>"):
    path = tmp_path / "bad.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda tmp: find_model("warehose"), r"unknown model 'warehose' \(did you mean 'warehouse'\?\); valid: quad"),
        (lambda tmp: find_model(tmp / "none.xml"), r"no model at .*none\.xml"),
        (lambda tmp: build_model("room", "quadrupde"), r"did you mean 'quadruped'"),
        (lambda tmp: build_model(_bad_file(tmp)), r"bad\.xml: .*size"),
        (lambda tmp: build_model("room", _bad_file(tmp, "not xml")), r"bad\.xml: "),
        (lambda tmp: build_model("room", pose=QUARTER_TURN), r"name a robot too"),
        (lambda tmp: build_model("room", "quadruped", pose=(1, 2, 3)), r"seven numbers, found \[1\.0, 2\.0, 3\.0\]"),
        (lambda tmp: build_model("room", "quadruped", pose=(0,) * 7), r"seven numbers"),
        (lambda tmp: build_model("room", "quadruped", pose=(np.nan, 0, 0, 1, 0, 0, 0)), r"seven numbers"),
        (lambda tmp: build_model("room", "warehouse", mocap=True), r"one free joint; warehouse has 0"),
        (lambda tmp: initial_data(build_model("room", "quadruped"), "hom"), r"did you mean 'home'"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, expected, tmp_path):
    with pytest.raises(ScenarioError, match=expected) as caught:
        call(tmp_path)
    assert "\n" not in str(caught.value)
