"""Velocities of what is hit, against the closed forms of constant velocity and constant turn rate."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Motion, Scene, make_caster
from lidar_sim.records import Hits, Keyframe, RayBatch
from lidar_sim.schedule import PoseSource

STEP_S = 0.002
COUNT = 300
# Positions of some metres, rounded to 1e-15, over a step of 2 ms.
EXACT_M_S = 1e-10
# The sensor's own place on its arm is held on the chord: r angle^2 / 8 times the turn rate.
CHORD_M_S = 1e-4


class Filmed:
    """A model at constant joint velocities, and how one caster sees it in between."""

    def __init__(self, caster_name: str, xml: str, velocity: dict[str, list[float]], mount: str = "world") -> None:
        self.model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(self.model)
        poses = PoseSource(self.model, mount)
        self.carrier = poses.carrier_body
        self.before = poses.capture(data)
        qvel = np.zeros(self.model.nv)
        for name, value in velocity.items():
            first = self.model.joint(name).dofadr[0]
            qvel[first : first + len(value)] = value
        self.qvel = qvel
        mujoco.mj_integratePos(self.model, data.qpos, qvel, STEP_S)
        data.time = STEP_S
        self.after = poses.capture(data)
        scene = Scene(self.model, exclude="none")
        self.caster = make_caster(caster_name, scene)
        self.motion = Motion(scene, moving_geoms=self.caster.moving_geoms)
        self.pose(self.before, self.after)

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        self.caster.pose(before, after)
        self.motion.pose(before, after)

    def cast(self, rays: RayBatch) -> Hits:
        hits = self.motion.with_velocities(self.caster.cast(rays), rays, self.carrier)
        assert np.isfinite(hits.distance).mean() > 0.2, "the rays miss everything: this test tells nothing"
        return hits

    def phase_of_geoms(self, rays: RayBatch) -> np.ndarray:
        return rays.phase if self.caster.moving_geoms else np.ones(len(rays))


def beams(origin=(0.0, 0.0, 0.0), towards=(1.0, 0.0, 0.0), spread: float = 0.3, seed: int = 0) -> RayBatch:
    rng = np.random.default_rng(seed)
    direction = np.asarray(towards) + spread * rng.normal(size=(COUNT, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    start = np.asarray(origin) + 0.01 * rng.normal(size=(COUNT, 3))
    return RayBatch(start, direction, np.zeros(COUNT, np.int64), np.linspace(0.0, 1.0, COUNT))


def points(hits: Hits, rays: RayBatch) -> np.ndarray:
    distance = np.where(np.isfinite(hits.distance), hits.distance, 0.0)
    return rays.origin + distance[:, None] * rays.direction


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray((a * b).sum(axis=1))


WALL = """<mujoco><worldbody>
<body name="cart" pos="-.5 0 0"><freejoint name="cart"/><geom type="sphere" size=".01"/></body>
<body pos="3 0 0"><joint name="rail" type="slide" axis="3 4 0"/><geom type="box" size=".1 5 5"/></body>
<geom type="plane" size="0 0 1" pos="0 0 -2"/></worldbody></mujoco>"""
SPEED = 7.0
RAIL = SPEED * np.array([0.6, 0.8, 0.0])
CART = np.array([2.0, -1.0, 0.5])


def test_a_moving_wall(caster_name) -> None:
    film, rays = Filmed(caster_name, WALL, {"rail": [SPEED]}), beams()
    hits = film.cast(rays)
    on_wall = hits.body == 2
    assert on_wall.any()
    assert (hits.body == 0).any()
    np.testing.assert_allclose(hits.velocity, np.where(on_wall[:, None], RAIL, 0.0), rtol=0, atol=EXACT_M_S)
    expected = np.where(on_wall, rays.direction @ RAIL, 0.0)
    np.testing.assert_allclose(hits.radial_velocity, expected, rtol=0, atol=EXACT_M_S)


def test_a_sensor_moving_towards_what_stands(caster_name) -> None:
    film, rays = Filmed(caster_name, WALL, {"cart": [*CART, 0, 0, 0]}, "cart"), beams()
    hits = film.cast(rays)
    seen = np.isfinite(hits.distance)
    np.testing.assert_array_equal(hits.velocity[hits.body != 1], 0.0)
    expected = np.where(seen & (hits.body != 1), -rays.direction @ CART, 0.0)
    np.testing.assert_allclose(hits.radial_velocity, expected, rtol=0, atol=EXACT_M_S)
    ahead = seen & (hits.body == 2) & (rays.direction @ CART > 0)
    assert (hits.radial_velocity[ahead] < 0).all(), "approaching is negative"


def test_sensor_and_wall_both_move(caster_name) -> None:
    film, rays = Filmed(caster_name, WALL, {"rail": [SPEED], "cart": [*CART, 0, 0, 0]}, "cart"), beams()
    hits = film.cast(rays)
    wall = hits.body == 2
    np.testing.assert_allclose(hits.velocity[wall], np.tile(RAIL, (wall.sum(), 1)), rtol=0, atol=EXACT_M_S)
    expected = rays.direction[wall] @ (RAIL - CART)
    np.testing.assert_allclose(hits.radial_velocity[wall], expected, rtol=0, atol=EXACT_M_S)


@pytest.mark.parametrize("omega", [-40.0, 3.0, 700.0])
def test_a_drum_turning_off_its_centre(caster_name, omega) -> None:
    """v = omega x r about the joint's anchor, which is not the body's origin, at any place of the surface."""
    film = Filmed(
        caster_name,
        """<mujoco><worldbody><body pos="3 0 0"><joint name="axle" axis="0 0 1" pos=".2 -.1 0"/>
        <geom type="cylinder" size=".8 2"/><body pos="0 0 2.2"><geom type="box" size=".7 .7 .1"/></body></body>
        </worldbody></mujoco>""",
        {"axle": [omega]},
    )
    rays = beams(origin=(0, 0, 2.4), towards=(1, 0, -0.4), spread=0.15)
    hits = film.cast(rays)
    assert set(hits.body) == {-1, 1, 2}, "the body welded on turns along"
    seen = np.isfinite(hits.distance)
    arm = points(hits, rays) - [3.2, -0.1, 0.0]
    expected = np.where(seen[:, None], omega * np.stack([-arm[:, 1], arm[:, 0], np.zeros(COUNT)], axis=1), 0.0)
    np.testing.assert_allclose(hits.velocity, expected, rtol=1e-12, atol=EXACT_M_S)
    np.testing.assert_allclose(hits.radial_velocity, dot(expected, rays.direction), rtol=1e-12, atol=EXACT_M_S)


@pytest.mark.parametrize("geom", ['type="box" size=".5 .4 .3"', 'type="mesh" mesh="stone"', 'type="sdf" mesh="stone"'])
def test_a_tumbling_body_about_any_axis(caster_name, geom) -> None:
    linear, local_omega = np.array([3.0, -2.0, 1.0]), np.array([5.0, 9.0, -7.0])
    quaternion = np.array([0.5, 0.1, -0.7, 0.2]) / np.linalg.norm([0.5, 0.1, -0.7, 0.2])
    film = Filmed(
        caster_name,
        f"""<mujoco><asset><mesh name="stone" vertex="-.5 -.5 -.5 .5 -.5 -.5 0 .5 -.5 0 0 .6"/></asset><worldbody>
        <body pos="2 0 0" quat="{quaternion[0]} {quaternion[1]} {quaternion[2]} {quaternion[3]}">
        <freejoint name="free"/><geom {geom}/></body></worldbody></mujoco>""",
        {"free": [*linear, *local_omega]},
    )
    rays = beams(spread=0.1)
    hits = film.cast(rays)
    omega = np.empty(3)
    mujoco.mju_rotVecQuat(omega, local_omega, quaternion)
    s = film.phase_of_geoms(rays) if "sdf" not in geom else np.ones(COUNT)
    centre = np.array([2.0, 0, 0]) + (STEP_S * s)[:, None] * linear
    expected = linear + np.cross(omega, points(hits, rays) - centre)
    seen = np.isfinite(hits.distance)
    # An SDF stands as at the last keyframe in any caster, while bvh says nothing of that: a step's turn.
    atol = EXACT_M_S if "sdf" not in geom else np.linalg.norm(linear) * np.linalg.norm(omega) * STEP_S
    np.testing.assert_allclose(hits.velocity[seen], expected[seen], rtol=0, atol=atol)
    np.testing.assert_array_equal(hits.velocity[~seen], 0.0)


def test_a_sensor_on_a_turning_arm_sees_its_arm_at_rest(caster_name) -> None:
    """What moves with the sensor has no velocity along the beam; what stands recedes at omega x arm."""
    omega = 4.0
    film = Filmed(
        caster_name,
        """<mujoco><worldbody><body name="arm"><joint name="turn" axis="0 0 1"/>
        <geom type="box" size=".05 .05 .05" pos=".5 0 0"/><geom type="box" size=".02 1 1" pos="2 0 0"/></body>
        <geom type="sphere" size="9"/></worldbody></mujoco>""",
        {"turn": [omega]},
        "arm",
    )
    rays = beams(origin=(1.0, 0, 0), spread=1.0)
    hits = film.cast(rays)
    own = hits.body == 1
    assert 20 < own.sum() < COUNT
    np.testing.assert_allclose(hits.radial_velocity[own], 0.0, rtol=0, atol=EXACT_M_S)
    origin_velocity = omega * np.stack([-rays.origin[:, 1], rays.origin[:, 0], np.zeros(COUNT)], axis=1)
    expected = -dot(origin_velocity, rays.direction)
    np.testing.assert_allclose(hits.radial_velocity[~own], expected[~own], rtol=0, atol=CHORD_M_S)


def test_a_mocap_body_and_what_it_carries(caster_name) -> None:
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body name="hand" mocap="true" pos="2 0 0">
        <geom type="sphere" size=".5"/><body pos="0 0 1"><geom type="box" size=".3 .3 .3"/></body></body>
        </worldbody></mujoco>""")
    data, poses = mujoco.MjData(model), PoseSource(model, "world")
    before = poses.capture(data)
    turn = 0.3
    data.mocap_pos[0] += [0.1, -0.2, 0.3]
    data.mocap_quat[0] = [-np.cos(turn / 2), 0, -np.sin(turn / 2), 0]  # the other sign of the same rotation
    data.time = 0.1
    after = poses.capture(data)
    scene = Scene(model)
    caster = make_caster(caster_name, scene)
    motion = Motion(scene, moving_geoms=caster.moving_geoms)
    for step in (caster, motion):
        step.pose(before, after)
    rays = beams(towards=(1, 0, 0.2))
    hits = motion.with_velocities(caster.cast(rays), rays)
    assert set(hits.body) == {-1, 1, 2}
    s = rays.phase if caster.moving_geoms else np.ones(COUNT)
    linear = np.array([1.0, -2.0, 3.0])
    arm = points(hits, rays) - [2.0, 0, 0] - (0.1 * s)[:, None] * linear
    expected = linear + np.cross([0, turn / 0.1, 0], arm)
    seen = np.isfinite(hits.distance)
    np.testing.assert_allclose(hits.velocity[seen], expected[seen], rtol=0, atol=EXACT_M_S)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_flex_that_moves_and_stretches(caster_name, dim) -> None:
    """Vertices at x -> x + dt A x: the velocity of every point of the surface is A x, since A is linear."""
    count = {1: "9 1 1", 2: "5 6 1", 3: "4 4 4"}[dim]
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><body name="stuff" pos="2 0 0" euler="20 70 10">
        <flexcomp name="soft" type="grid" count="{count}" spacing=".3 .25 .2" dim="{dim}" radius=".03" mass="1">
        <edge equality="true"/></flexcomp></body></worldbody></mujoco>""")
    poses = PoseSource(model, "world")
    data = mujoco.MjData(model)
    before = poses.capture(data)
    rate = np.array([[0.2, -1.0, 0.3], [0.8, 0.1, 0.5], [-0.4, 0.6, 0.3]])
    dt = 0.01
    data.time = dt
    vert = before.world.flexvert_xpos.reshape(-1, 3).copy()
    # Each vertex has a body with three slides, in the frame of the body they hang on.
    turned = before.world.body("stuff").xmat.reshape(3, 3)
    data.qpos[:] = (dt * vert @ rate.T @ turned).ravel()
    after = poses.capture(data)
    rng = np.random.default_rng(3)
    aim = vert[rng.integers(len(vert), size=COUNT)] + 0.02 * rng.normal(size=(COUNT, 3))
    direction = aim / np.linalg.norm(aim, axis=1, keepdims=True)
    rays = RayBatch(np.zeros((COUNT, 3)), direction, np.zeros(COUNT, np.int64), np.linspace(0, 1, COUNT))
    scene = Scene(model)
    caster = make_caster(caster_name, scene)
    motion = Motion(scene, moving_geoms=caster.moving_geoms)
    for step in (caster, motion):
        step.pose(before, after)
    hits = motion.with_velocities(caster.cast(rays), rays)
    seen = np.flatnonzero(hits.flex == 0)
    assert len(seen) > 50
    # The point a step ago, where A is applied; off a 1D flex's axis by its radius.
    old = np.linalg.solve(np.eye(3) + dt * rate, points(hits, rays)[seen].T).T
    atol = 1e-9 if dim > 1 else 0.03 * np.linalg.norm(rate, 2)
    np.testing.assert_allclose(hits.velocity[seen], old @ rate.T, rtol=0, atol=atol)
    np.testing.assert_allclose(hits.radial_velocity, dot(hits.velocity, rays.direction), rtol=0, atol=1e-12)


def test_at_rest_all_is_zero_and_nothing_is_worked_out(caster_name) -> None:
    film, rays = Filmed(caster_name, WALL, {"rail": [SPEED]}), beams()
    film.pose(film.after, film.after)
    plain = film.caster.cast(rays)
    assert film.motion.with_velocities(plain, rays) is plain
    np.testing.assert_array_equal(plain.velocity, np.zeros((COUNT, 3)))
    np.testing.assert_array_equal(plain.radial_velocity, np.zeros(COUNT))
    film.pose(film.before, film.after)
    assert film.cast(rays).velocity.any(), "and moves again afterwards"


def test_the_velocity_is_the_rate_of_the_distance_where_a_surface_is_met_squarely() -> None:
    """Independent of the closed forms: bvh moves the wall, the distance along one ray changes."""
    film = Filmed("bvh", WALL, {"rail": [SPEED]})
    straight = RayBatch(np.zeros((2, 3)), np.tile([1.0, 0, 0], (2, 1)), np.zeros(2, np.int64), np.array([0.25, 0.75]))
    hits = film.cast(straight)
    rate = (hits.distance[1] - hits.distance[0]) / (0.5 * STEP_S)
    np.testing.assert_allclose(hits.radial_velocity, rate, rtol=0, atol=1e-9)
