"""Moving geoms against closed forms: every ray meets the scene of its own moment."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Scene
from lidar_sim.cast.bvh import BvhCaster
from lidar_sim.records import Keyframe, RayBatch
from lidar_sim.schedule import PoseSource

STEP_S = 0.002
# The promise of the caster for motion at constant velocity.
ANALYTIC_M = 1e-6
# What double precision leaves of it at a few metres.
ROUNDING_M = 1e-12


def keyframes(xml: str, velocity: dict[str, list[float]]) -> tuple[mujoco.MjModel, Keyframe, Keyframe]:
    """Two keyframes a step apart, the joints (by name) moved on at constant velocity."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    poses = PoseSource(model, "world")
    before = poses.capture(data)
    qvel = np.zeros(model.nv)
    for name, value in velocity.items():
        first = model.joint(name).dofadr[0]
        qvel[first : first + len(value)] = value
    mujoco.mj_integratePos(model, data.qpos, qvel, STEP_S)
    data.time = STEP_S
    return model, before, poses.capture(data)


def cast(model, before, after, origin, direction, phase, **options):
    caster = BvhCaster(Scene(model, exclude="none"), **options)
    caster.pose(before, after)
    direction = np.asarray(direction, np.float64)
    direction = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return caster.cast(RayBatch(np.ascontiguousarray(origin), direction, np.zeros(len(phase), np.int64), phase))


WALLS = {
    "box": '<geom type="box" size="1 5 5" pos="1 0 0"/>',
    "mesh": '<geom type="mesh" mesh="wall" pos="1 0 0"/>',
    "hfield": '<geom type="hfield" hfield="flat" euler="0 -90 0"/>',
}
ASSET = """<asset><mesh name="wall" vertex="-1 -5 -5 1 -5 -5 1 5 -5 -1 5 -5 -1 -5 5 1 -5 5 1 5 5 -1 5 5"/>
<hfield name="flat" nrow="4" ncol="5" size="5 5 1 1" elevation="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"/></asset>"""


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("speed", [0.0, -3.0, 40.0])
def test_a_wall_moving_at_v(wall, speed) -> None:
    xml = f"""<mujoco>{ASSET}<worldbody><body pos="4 0 0"><joint name="rail" type="slide" axis="1 0 0"/>
      <inertial mass="1" diaginertia="1 1 1" pos="0 0 0"/>{WALLS[wall]}</body></worldbody></mujoco>"""
    phase = np.linspace(0, 1, 101)
    angle = np.linspace(-0.6, 0.6, 101)
    direction = np.stack([np.cos(angle), np.sin(angle), 0.1 * angle], axis=1)
    hits = cast(*keyframes(xml, {"rail": [speed]}), np.zeros((101, 3)), direction, phase)
    unit = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    expected = (4.0 + speed * STEP_S * phase) / unit[:, 0]
    np.testing.assert_allclose(hits.distance, expected, rtol=0, atol=ROUNDING_M)
    np.testing.assert_allclose(hits.normal, np.broadcast_to([-1.0, 0, 0], (101, 3)), rtol=0, atol=1e-12)


def test_a_plane_moving_at_v() -> None:
    """Planes belong to the world or to mocap bodies."""
    xml = """<mujoco><worldbody><body name="lift" mocap="true" pos="0 0 -1"><geom type="plane" size="0 0 1"/></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    poses = PoseSource(model, "world")
    before = poses.capture(data)
    data.mocap_pos[0, 2] -= 5.0 * STEP_S
    data.time = STEP_S
    phase = np.linspace(0, 1, 77)
    direction = np.stack([np.ones(77), np.zeros(77), -np.ones(77)], axis=1)
    hits = cast(model, before, poses.capture(data), np.zeros((77, 3)), direction, phase)
    expected = np.sqrt(2) * (1 + 5.0 * STEP_S * phase)
    np.testing.assert_allclose(hits.distance, expected, rtol=0, atol=ROUNDING_M)


@pytest.mark.parametrize("kind", ["box", "mesh"])
@pytest.mark.parametrize("omega", [5.0, -60.0, 800.0])
def test_a_box_turning_about_its_centre(kind, omega) -> None:
    geom = '<geom type="box" size="1 1 1"/>'
    if kind == "mesh":
        geom = '<geom type="mesh" mesh="cube"/>'
    xml = f"""<mujoco><asset><mesh name="cube" vertex="-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1"/>
      </asset><worldbody><body><joint name="spin" axis="0 0 1"/>
      <inertial mass="1" diaginertia="1 1 1" pos="0 0 0"/>{geom}</body></worldbody></mujoco>"""
    phase = np.linspace(0, 1, 200)
    origin = np.tile([3.0, 0.1, 0.2], (200, 1))
    hits = cast(*keyframes(xml, {"spin": [omega]}), origin, np.tile([-1.0, 0, 0], (200, 1)), phase)
    # Along y = 0.1, against a square turned by a quarter of a turn at most: the side it meets first.
    x = np.full(200, -np.inf)
    for quarter in range(4):
        a = omega * STEP_S * phase + quarter * np.pi / 2
        meets = (1 - 0.1 * np.sin(a)) / np.cos(a)
        on_side = np.abs(0.1 * np.cos(a) - meets * np.sin(a)) <= 1
        x = np.where(on_side & (np.cos(a) > 0), np.maximum(x, meets), x)
    np.testing.assert_allclose(hits.distance, 3.0 - x, rtol=0, atol=1e-11)


def test_a_fan_blade_stays_on_its_circle() -> None:
    """The chord would be wrong by r angle^2 / 8, here 1.4 mm."""
    omega, radius = 50.0, 1.2
    xml = f"""<mujoco><worldbody><body><joint name="fan" axis="0 0 1" pos=".5 0 0"/>
      <geom type="sphere" size=".1" pos="{0.5 + radius} 0 0"/></body></worldbody></mujoco>"""
    phase = np.linspace(0, 1, 64)
    angle = omega * STEP_S * phase
    outwards = np.stack([np.cos(angle), np.sin(angle), np.zeros(64)], axis=1)
    hits = cast(*keyframes(xml, {"fan": [omega]}), np.tile([0.5, 0, 0], (64, 1)), outwards, phase)
    np.testing.assert_allclose(hits.distance, radius - 0.1, rtol=0, atol=ROUNDING_M)
    np.testing.assert_allclose(hits.normal, -outwards, rtol=0, atol=1e-11)


def test_sensor_and_target_both_move() -> None:
    """A free body flies and turns; the sensor flies too. The target's centre is known at every time."""
    velocity = np.array([3.0, -2.0, 1.0, 4.0, 5.0, -6.0])
    xml = """<mujoco><worldbody><body pos="5 1 0"><joint name="fly" type="free"/><geom type="sphere" size=".5"/></body>
      </worldbody></mujoco>"""
    phase = np.linspace(0, 1, 200)
    time_s = phase[:, None] * STEP_S
    sensor = np.array([0.1, 0.2, 0.3]) + time_s * np.array([10.0, 2.0, -3.0])
    centre = np.array([5.0, 1.0, 0.0]) + time_s * velocity[:3]
    hits = cast(*keyframes(xml, {"fly": list(velocity)}), sensor, centre - sensor, phase)
    expected = np.linalg.norm(centre - sensor, axis=1) - 0.5
    assert np.abs(hits.distance - expected).max() < ANALYTIC_M
    np.testing.assert_allclose(hits.distance, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("phase", [0.0, 1.0])
def test_the_ends_are_the_keyframes(phase, random_data, rays, batch) -> None:
    """A robot of joints in every kind of motion, seen at phase 0 and 1, is the robot at rest in that pose."""
    xml = """<mujoco><worldbody><geom type="box" size="3 3 .1" pos="0 0 -.5"/>
      <body name="a" pos="0 0 .5"><freejoint/><geom type="box" size=".3 .2 .1"/>
        <body pos=".4 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".05 .3" pos=".1 0 -.3"/>
          <body pos="0 0 -.6"><joint type="slide" axis="0 0 1"/><joint axis="1 0 0"/>
            <geom type="cylinder" size=".2 .05"/>
        </body></body>
        <body pos="-.4 0 0"><joint type="ball"/><geom type="ellipsoid" size=".1 .2 .3" pos="-.2 .1 0"/></body></body>
      <body name="m" mocap="true" pos="0 1 0"><geom type="sphere" size=".4" pos=".3 0 0"/></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    worlds = [random_data(model, seed) for seed in (1, 2)]
    before, after = (Keyframe(k, np.zeros(3), np.array([1.0, 0, 0, 0]), world) for k, world in enumerate(worlds))
    origin, direction = rays(worlds[0], 3000)
    at_rest = (before, after)[int(phase)]
    caster = BvhCaster(Scene(model, exclude="none"))
    caster.pose(at_rest, at_rest)
    expected = caster.cast(batch(origin, direction))
    caster.pose(before, after)
    found = caster.cast(RayBatch(origin, direction, np.zeros(3000, np.int64), np.full(3000, phase)))
    same = found.geom == expected.geom
    assert (~same).sum() <= 1, "a ray on an edge may differ"
    np.testing.assert_allclose(found.distance[same], expected.distance[same], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.normal[same], expected.normal[same], rtol=0, atol=1e-8)
    caster.pose(at_rest, at_rest)
    again = caster.cast(batch(origin, direction))
    np.testing.assert_array_equal(again.distance, expected.distance)


def test_boxes_hold_all_of_the_motion(random_data) -> None:
    """Rays aimed at where things are at their phase never slip past boxes: packets against the geom alone."""
    xml = """<mujoco><worldbody><body pos="1 0 0"><joint name="j" axis=".3 .5 1" pos="-.5 0 .2"/>
      <geom type="box" size=".6 .02 .02" pos=".7 0 0"/></body>
      <body pos="0 0 3"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"""
    model, before, after = keyframes(xml, {"j": [1500.0]})  # 3 rad within the step
    phase = np.random.default_rng(4).random(4000)
    axis = np.array([0.3, 0.5, 1]) / np.linalg.norm([0.3, 0.5, 1])
    anchor, centre = np.array([0.5, 0, 0.2]), np.array([1.7, 0, 0])
    arm = centre - anchor
    a = (phase * 3.0)[:, None]
    turned = arm * np.cos(a) + np.cross(axis, arm) * np.sin(a) + axis * (axis @ arm) * (1 - np.cos(a))
    aim = anchor + turned
    origin = np.random.default_rng(5).normal(size=(4000, 3)) * 4
    hits = cast(model, before, after, origin, aim - origin, phase)
    assert (hits.geom == 0).mean() > 0.999
    assert (np.linalg.norm(aim - origin, axis=1) - hits.distance)[hits.geom == 0].max() < 0.61


def test_refit_and_rebuild_find_the_same(random_data, rays, batch, keyframe) -> None:
    """Geoms that leave their places for good: the tree grows, is built anew, and loses nothing."""
    bodies = "".join(
        f'<body pos="{k % 7} {k // 7} 0"><freejoint/><geom type="box" size=".2 .3 .1"/></body>' for k in range(60)
    )
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    kept = BvhCaster(Scene(model, exclude="none"))
    rng = np.random.default_rng(6)
    for _ in range(5):
        data.qpos.reshape(-1, 7)[:, :3] = rng.permutation(data.qpos.reshape(-1, 7)[:, :3]) + rng.normal(size=(60, 3))
        mujoco.mj_forward(model, data)
        fresh = BvhCaster(Scene(model, exclude="none"))
        origin, direction = rays(data, 900)
        found = []
        for caster in (kept, fresh):
            caster.pose(keyframe(data), keyframe(data))
            found.append(caster.cast(batch(origin, direction)))
        np.testing.assert_array_equal(found[0].distance, found[1].distance)
        np.testing.assert_array_equal(found[0].geom, found[1].geom)
