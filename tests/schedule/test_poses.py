"""Poses belong to their time stamp, and the caller's data are only read (promise 3)."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import pytest

from lidar_sim.errors import ModelError, TimeError
from lidar_sim.schedule import PoseSource

# What a step of 2 ms moves, at the least, in these tests; a pose that is one step old differs by more.
STALE = 1e-5
# The kinematics are the same function of the same qpos.
EXACT = 0.0
# The sensor's own pose goes by another way of multiplication than MuJoCo's.
POSE = 1e-13

MODEL = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="door" mocap="true" pos="2 0 1"><geom type="box" size=".05 .5 1"/></body>
    <body name="robot" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".3 .2 .1" mass="5"/>
      <site name="lidar" pos=".2 0 .2" euler="0 10 0"/>
      <body name="arm" pos=".3 0 0">
        <joint name="shoulder" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
        <camera name="hand" pos=".4 0 0"/>
      </body>
    </body>
    <camera name="chase" mode="targetbodycom" target="robot" pos="-2 0 2"/>
    {more}
  </worldbody>
</mujoco>
"""
FLEXES = """
    <flexcomp name="cloth" type="grid" count="4 4 1" spacing=".1 .1 .1" pos="0 0 2" radius=".01" dim="2">
      <edge equality="true"/></flexcomp>
    <flexcomp name="blob" type="grid" count="3 3 3" spacing=".1 .1 .1" pos="1 0 2" radius=".01" dim="3" dof="trilinear">
      <edge equality="true"/></flexcomp>
"""
DERIVED = (
    "xpos",
    "xquat",
    "xipos",
    "ximat",
    "geom_xpos",
    "geom_xmat",
    "site_xpos",
    "site_xmat",
    "cam_xpos",
    "cam_xmat",
)


def moving(more: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(MODEL.format(more=more))
    data = mujoco.MjData(model)
    data.qvel[:6] = [1.0, 0.5, 0.0, 0.2, 0.3, 2.0]
    for _ in range(5):
        mujoco.mj_step(model, data)
    return model, data


def forwarded(model: mujoco.MjModel, data: mujoco.MjData) -> mujoco.MjData:
    fresh = copy.copy(data)
    mujoco.mj_forward(model, fresh)
    return fresh


def arrays_of(data: mujoco.MjData) -> dict[str, bytes]:
    names = [name for name in dir(data) if not name.startswith("_")]
    values = {name: getattr(data, name) for name in names}
    arrays = {name: value.tobytes() for name, value in values.items() if isinstance(value, np.ndarray)}
    numbers = {name: repr(value).encode() for name, value in values.items() if isinstance(value, int | float)}
    return arrays | numbers


def test_after_a_step_the_pose_is_the_one_of_this_instant() -> None:
    model, data = moving()
    source = PoseSource(model, "lidar")
    for _ in range(20):
        mujoco.mj_step(model, data)
        keyframe = source.capture(data)
        now = forwarded(model, data)
        assert keyframe.time_ns == round(data.time * 1e9)
        np.testing.assert_allclose(keyframe.position, now.site("lidar").xpos, atol=POSE)
        assert np.abs(data.site("lidar").xpos - now.site("lidar").xpos).max() > STALE, "MuJoCo's own is one step behind"


@pytest.mark.parametrize("more", ["", FLEXES], ids=["rigid", "flexes"])
def test_the_whole_world_is_that_of_the_instant(more) -> None:
    model, data = moving(more)
    keyframe = PoseSource(model, "lidar").capture(data)
    now = forwarded(model, data)
    assert keyframe.world.time == data.time
    for name in (*DERIVED, "flexvert_xpos", "bvh_aabb_dyn"):
        np.testing.assert_allclose(getattr(keyframe.world, name), getattr(now, name), atol=EXACT, err_msg=name)


@pytest.mark.parametrize("call", [mujoco.mj_step, mujoco.mj_forward, mujoco.mj_kinematics, None])
def test_it_does_not_matter_what_was_called_before(call) -> None:
    model, data = moving()
    if call is mujoco.mj_step:
        mujoco.mj_step(model, data)
    else:
        data.qpos[:3] += [0.1, 0.2, 0.3]
        data.mocap_pos[0] += [0.0, 0.5, 0.0]
        if call is not None:
            call(model, data)
    keyframe = PoseSource(model, "lidar").capture(data)
    now = forwarded(model, data)
    np.testing.assert_allclose(keyframe.position, now.site("lidar").xpos, atol=POSE)
    np.testing.assert_array_equal(keyframe.world.geom_xpos, now.geom_xpos)


@pytest.mark.parametrize("mount", ["door", "lidar"])
def test_a_mocap_body_moves_at_once(mount) -> None:
    model, data = moving()
    data.mocap_pos[0], data.mocap_quat[0] = [5.0, 6.0, 7.0], [0.6, 0.0, 0.0, 0.8]
    keyframe = PoseSource(model, mount).capture(data)
    np.testing.assert_allclose(keyframe.world.body("door").xpos, [5.0, 6.0, 7.0], atol=POSE)
    if mount == "door":
        np.testing.assert_allclose(keyframe.position, [5.0, 6.0, 7.0], atol=POSE)
        np.testing.assert_allclose(keyframe.quaternion, [0.6, 0.0, 0.0, 0.8], atol=POSE)


def test_bodies_that_sleep_are_posed_too() -> None:
    asleep = '<body name="box" pos="3 0 .2" sleep="init"><freejoint/><geom type="box" size=".2 .2 .2"/></body>'
    xml = MODEL.format(more=asleep).replace('timestep="0.002"/>', 'timestep="0.002"><flag sleep="enable"/></option>')
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    source = PoseSource(model, "lidar")
    for x in (3.0, 4.0, 5.0):
        data.joint(model.njnt - 1).qpos[0] = x
        assert source.capture(data).world.body("box").xpos[0] == x
        assert source.capture(data).world.geom(model.ngeom - 1).xpos[0] == x


@pytest.mark.parametrize("more", ["", FLEXES], ids=["rigid", "flexes"])
def test_the_callers_data_are_untouched_to_the_last_bit(more) -> None:
    model, data = moving(more)
    data.qpos[3:7] *= 2.0  # the kinematics would normalise it, in the private data only
    before = arrays_of(data)
    assert len(before) > 100
    PoseSource(model, "lidar").capture(data)
    assert arrays_of(data) == before


def test_a_quaternion_of_any_length_is_a_rotation() -> None:
    model, data = moving()
    source = PoseSource(model, "lidar")
    unit = source.capture(data)
    data.qpos[3:7] *= 3.0
    scaled = source.capture(data)
    np.testing.assert_allclose(scaled.quaternion, unit.quaternion, atol=POSE)
    assert np.linalg.norm(scaled.quaternion) == pytest.approx(1.0, abs=POSE)


def test_the_keyframe_before_stays_valid() -> None:
    model, data = moving()
    source = PoseSource(model, "lidar")
    first = source.capture(data)
    kept = (first.position.copy(), first.world.geom_xpos.copy(), first.world.time)
    mujoco.mj_step(model, data)
    second = source.capture(data)
    np.testing.assert_array_equal(first.position, kept[0])
    np.testing.assert_array_equal(first.world.geom_xpos, kept[1])
    assert first.world.time == kept[2] < second.world.time


def test_at_rest_the_pose_is_the_same_to_the_last_bit() -> None:
    model, data = moving()
    source = PoseSource(model, "lidar")
    keyframes = [source.capture(data) for _ in range(5)]
    assert len({k.position.tobytes() + k.quaternion.tobytes() for k in keyframes}) == 1


def test_a_real_robot(go2_path) -> None:
    model = mujoco.MjModel.from_xml_path(str(go2_path))
    data = mujoco.MjData(model)
    source = PoseSource(model, "base", (0.2, 0.0, 0.1))
    for _ in range(10):
        mujoco.mj_step(model, data)
    keyframe, now = source.capture(data), forwarded(model, data)
    trunk = now.body("base")
    np.testing.assert_allclose(keyframe.position, trunk.xpos + trunk.xmat.reshape(3, 3) @ [0.2, 0, 0.1], atol=POSE)
    np.testing.assert_array_equal(keyframe.world.geom_xpos, now.geom_xpos)


def test_a_diverged_simulation_is_named() -> None:
    model, data = moving()
    source = PoseSource(model, "lidar")
    data.qpos[7] = np.nan
    with pytest.raises(ModelError, match=r"qpos\[7\] \(joint shoulder\) is nan at 0.01 s"):
        source.capture(data)
    data.qpos[7], data.qpos[1] = 0.0, np.inf
    with pytest.raises(ModelError, match=r"qpos\[1\] \(joint number 0\) is inf"):
        source.capture(data)


@pytest.mark.parametrize("field", ["mocap_pos", "mocap_quat"])
def test_a_mocap_pose_that_is_no_number_is_refused(field) -> None:
    model, data = moving()
    getattr(data, field)[0, 1] = np.nan
    with pytest.raises(ModelError, match="mocap pose is not finite"):
        PoseSource(model, "lidar").capture(data)


def test_a_time_that_is_no_number_is_refused() -> None:
    model, data = moving()
    data.time = np.nan
    with pytest.raises(TimeError):
        PoseSource(model, "lidar").capture(data)


def test_data_of_another_model_are_refused() -> None:
    model, _ = moving()
    _, other = moving('<body><freejoint/><geom size=".1"/></body>')
    with pytest.raises(ModelError, match="data belong to another model"):
        PoseSource(model, "lidar").capture(other)
