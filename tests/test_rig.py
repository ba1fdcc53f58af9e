"""Several sensors in one rig: the bits of separate ones, at one refresh a step."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim import DepthCamera, Lidar, Rig, Scan
from lidar_sim.cast import EXACT_CASTERS, View
from lidar_sim.cast.bvh import BvhCaster
from lidar_sim.errors import LidarSimError, ModelError, OptionError, TimeError

XML = """<mujoco><option gravity="0 0 0" timestep="0.002"/><worldbody>
<geom type="plane" size="0 0 1"/>
<geom name="wall" type="box" size=".1 9 3" pos="6 0 3"/>
<body name="base" pos="0 0 1"><freejoint/><geom name="trunk" type="box" size=".5 .2 .1"/>
  <site name="top" pos="0 0 .4"/><site name="front" pos=".6 0 0"/>
  <camera name="eye" pos=".6 0 .1" xyaxes="0 -1 0 0 0 1"/>
  <body name="leg" pos="0 .5 0"><joint type="hinge" axis="0 1 0"/>
    <geom type="capsule" size=".05 .3" pos="0 0 -.3"/></body>
</body>
<body name="fan" pos="3 1 1"><joint type="hinge" axis="1 0 0"/><geom type="box" size=".02 .9 .1"/></body>
</worldbody></mujoco>"""
# device, options; the first three see the same, the fourth has its own eyes, the fifth its own body.
SENSORS = {
    "top": ("vlp16", {"mount": "top", "exclude": "subtree"}),
    "front": ("mid360", {"mount": "front", "exclude": "subtree", "seed": 5}),
    "eye": ("d435i", {"mount": "eye", "exclude": "subtree", "mode": "424x240"}),
    "leg": ("ust10lx", {"mount": "leg", "exclude": "body", "keep_misses": True}),
    "fan": ("ust10lx", {"mount": "fan", "exclude": "fan", "motion": "frozen"}),
}
VIEWS = 3


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(XML)


def in_rig(model, **more) -> Rig:
    rig = Rig(model)
    for name, (device, options) in SENSORS.items():
        make = rig.depth_camera if device == "d435i" else rig.lidar
        make(device, name=name, **options, **more)
    return rig


def apart(model, **more) -> list[Lidar]:
    return [
        (DepthCamera if device == "d435i" else Lidar)(model, device, name=name, **options, **more)
        for name, (device, options) in SENSORS.items()
    ]


def moving(model):
    data = mujoco.MjData(model)
    data.qvel[:] = [0.8, -0.3, 0.1, 0.1, 0.2, 0.9, 7.0, 30.0]
    return data


def assert_equal(found: Scan, expected: Scan) -> None:
    assert (found.sensor, found.frame_number, found.stamp_ns) == (
        expected.sensor,
        expected.frame_number,
        expected.stamp_ns,
    )
    for name, values in expected.fields.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    np.testing.assert_array_equal(found.track.position, expected.track.position)


def by_sensor(scans: list[Scan]) -> dict[str, list[Scan]]:
    return {name: [scan for scan in scans if scan.sensor == name] for name in SENSORS}


@pytest.mark.parametrize("caster", [name for name in EXACT_CASTERS if name != "brute"])
def test_a_rig_gives_the_bits_of_separate_sensors(model, caster) -> None:
    rig, sensors, data = in_rig(model, caster=caster), apart(model, caster=caster), moving(model)
    together, separate = [], []
    for step in range(70):
        together += rig.step(data)
        for sensor in sensors:
            separate += sensor.step(data)
        if step == 31:  # stills in between disturb nobody
            for found, expected in zip(rig.scan(data), [sensor.scan(data) for sensor in sensors], strict=True):
                assert_equal(found, expected)
        mujoco.mj_step(model, data)
    together, separate = by_sensor(together), by_sensor(separate)
    for name in SENSORS:
        assert together[name], name
        for found, expected in zip(together[name], separate[name], strict=True):
            assert_equal(found, expected)
    assert any(np.any(scan["radial_velocity"] != 0) for scan in together["top"])


def test_one_capture_a_step_and_one_pose_a_view(model, monkeypatch) -> None:
    rig, data = in_rig(model, caster="bvh"), moving(model)
    rig.step(data)
    calls = {"kinematics": 0, "pose": 0}
    kinematics, pose = mujoco.mj_kinematics, BvhCaster.pose

    def count_kinematics(*args):
        calls["kinematics"] += 1
        kinematics(*args)

    def count_pose(*args):
        calls["pose"] += 1
        pose(*args)

    monkeypatch.setattr(mujoco, "mj_kinematics", count_kinematics)
    monkeypatch.setattr(BvhCaster, "pose", count_pose)
    for step in range(1, 6):
        data.time += 0.002
        data.qpos[7:] += 0.01
        rig.step(data)
        rig.step(data)  # at the same time: nothing to do
        assert calls == {"kinematics": step, "pose": VIEWS * step}
    rig.scan(data)
    assert calls == {"kinematics": 6, "pose": VIEWS * 6}


def test_worlds_are_used_again(model) -> None:
    rig, data = in_rig(model), moving(model)
    for _ in range(30):
        data.time += 0.002
        rig.step(data)
        rig.scan(data, 0)
    # Two that the last step lies between, one for stills, and the ones being captured meanwhile.
    assert len(rig.kinematics._worlds) <= 6


def test_sensors_of_a_rig_may_step_by_themselves(model) -> None:
    """Each at other times, then all together: no world is overwritten that a sensor still needs, none is mistaken."""
    rig, data = in_rig(model, caster="bvh"), moving(model)
    sensors = apart(model, caster="bvh")
    rng = np.random.default_rng(2)
    together, separate = [], []
    for step in range(150):
        if step % 3 == 0:
            together += rig.step(data)
            separate += [scan for sensor in sensors for scan in sensor.step(data)]
        for i in np.flatnonzero(rng.random(len(sensors)) < 0.3):
            together += rig.sensors[i].step(data)
            separate += sensors[i].step(data)
        mujoco.mj_step(model, data)
    assert len(together) > 5
    for found, expected in zip(together, separate, strict=True):
        assert_equal(found, expected)


def test_a_sensor_that_joins_later_begins_then(model) -> None:
    rig, data = Rig(model), moving(model)
    rig.lidar("vlp16", mount="top", name="first")
    for _ in range(10):
        rig.step(data)
        mujoco.mj_step(model, data)
    rig.lidar("vlp16", mount="top", name="second")
    starts = {
        scan.sensor: scan.stamp_ns for _ in range(80) for scan in (mujoco.mj_step(model, data), rig.step(data))[1]
    }
    assert starts["first"] < starts["second"]


def test_what_changes_in_the_model_reaches_all(model) -> None:
    rig, data = in_rig(model), mujoco.MjData(model)
    rig.scan(data, 0)
    model.geom("wall").size[:2] = (0.5, 2.0)
    model.geom("wall").rgba[:3] = 0.1
    for found, sensor in zip(rig.scan(data, 0), apart(model), strict=True):
        assert_equal(found, sensor.scan(data, 0))
    rig.refresh()
    for found, sensor in zip(rig.scan(data, 0), apart(model), strict=True):
        assert_equal(found, sensor.scan(data, 0))


def test_time_that_goes_back_is_told_before_anything_fires(model) -> None:
    rig, data = in_rig(model), mujoco.MjData(model)
    for data.time in (0.0, 0.01):
        rig.step(data)
    data.time = 0.004
    with pytest.raises(TimeError, match=r"call reset\(\)"):
        rig.step(data)
    data.time = 0.02
    rig.step(data)
    rig.reset()
    data.time = 0.0
    assert rig.step(data) == []


@pytest.mark.parametrize(
    ("attempt", "error", "words"),
    [
        (lambda rig: rig.lidar("vlp16", mount="top", name="top"), OptionError, "a sensor 'top' already"),
        (lambda rig: rig.lidar("vlp61", mount="top", name="x"), LidarSimError, "vlp16"),
        (lambda rig: rig.depth_camera("vlp16", mount="top", name="x"), OptionError, "not depth"),
        (lambda rig: rig.lidar("vlp16", mount="top", name="x", caster="bhv"), OptionError, "bvh"),
        (lambda rig: rig.scan(mujoco.MjData(rig.model), -1), OptionError, "0 or more"),
        (
            lambda rig: Lidar(mujoco.MjModel.from_xml_string(XML), "vlp16", mount="top", rig=rig),
            ModelError,
            "another model",
        ),
        (lambda rig: Rig(XML), OptionError, "compiled mujoco.MjModel"),
    ],
)
def test_what_a_rig_refuses_leaves_it_as_it_was(model, attempt, error, words) -> None:
    rig = in_rig(model)
    with pytest.raises(error, match=words):
        attempt(rig)
    assert [sensor.name for sensor in rig.sensors] == list(SENSORS)


def test_sensors_that_see_the_same_share_it(model) -> None:
    rig = in_rig(model)
    views = [sensor._view for sensor in rig.sensors]
    assert len({id(view) for view in views}) == VIEWS
    assert views[0] is views[1] is views[2]
    assert all(isinstance(view, View) for view in views)
    assert rig.lidar("vlp16", mount="top", exclude="subtree", name="a", geomgroups=[0])._view not in views
    assert rig.lidar("vlp16", mount="top", exclude="subtree", name="b", threads=1)._view not in views
    assert rig.lidar("vlp16", mount="top", exclude=["base", "leg"], name="c")._view in views
