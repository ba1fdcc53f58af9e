from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from lidar_sim.errors import ScenarioError
from lidar_sim.scenario.drive import Sway, WaypointDrive
from lidar_sim.scenario.ground import Ground
from lidar_sim.scenario.world import build_model, initial_data
from lidar_sim.transforms import quaternion_to_matrix

ROUNDING = 1e-12
# Angles come back from a rotation matrix by asin and atan2.
ANGLE_TOLERANCE_DEG = 1e-6
SPEED_STEP_S = 1e-4
SPEED_TOLERANCE = 1e-6
# A standing foot slips by what a frame's worth of sampling shows: rounding only.
SLIP_M = 1e-9

TURNS = [[0.0, 0.0], [3.0, 0.0], [3.0, 2.5], [-1.0, 2.0]]


@pytest.fixture(scope="module")
def model():
    return build_model("warehouse", "quadruped")


@pytest.fixture(scope="module")
def hills():
    return build_model("terrain", "quadruped")


def _roll_pitch_yaw_deg(quaternion):
    m = quaternion_to_matrix(quaternion)
    return tuple(
        math.degrees(a) for a in (math.atan2(m[2, 1], m[2, 2]), -math.asin(m[2, 0]), math.atan2(m[1, 0], m[0, 0]))
    )


@pytest.mark.parametrize("speed_m_s", [0.3, 1.0, 2.5])
def test_speed_along_the_path_is_as_asked(model, speed_m_s):
    drive = WaypointDrive(model, TURNS, speed_m_s=speed_m_s, body="base")
    for time_s in np.linspace(SPEED_STEP_S, drive.duration_s - SPEED_STEP_S, 200):
        before, after = drive.pose(time_s - SPEED_STEP_S)[0], drive.pose(time_s + SPEED_STEP_S)[0]
        assert np.linalg.norm(after - before) / (2.0 * SPEED_STEP_S) == pytest.approx(speed_m_s, rel=SPEED_TOLERANCE)


def test_duration_is_path_over_speed_and_the_end_is_held(model):
    drive = WaypointDrive(model, TURNS, speed_m_s=0.5, body="base")
    assert drive.duration_s == drive.path.length_m / 0.5
    position, quaternion = drive.pose(drive.duration_s)
    np.testing.assert_allclose(position[:2], TURNS[-1], atol=ROUNDING * 100)
    later = drive.pose(drive.duration_s + 10.0)
    np.testing.assert_array_equal(position, later[0])
    np.testing.assert_array_equal(quaternion, later[1])
    assert WaypointDrive(model, TURNS, speed_m_s=0.5, closed=True, body="base").duration_s is None


@pytest.mark.parametrize("sway", [Sway(3.0, 0.0, 0.0, 1.0), Sway(0.0, 2.0, 0.0, 1.3), Sway(1.5, 2.5, 0.02, 2.2)])
def test_sway_is_a_sine_of_the_amplitude_asked_for(model, sway):
    drive = WaypointDrive(model, TURNS, speed_m_s=0.5, sway=sway, body="base")
    for time_s in np.linspace(0.0, 2.0, 57):
        position, quaternion = drive.pose(time_s)
        roll, pitch, _ = _roll_pitch_yaw_deg(quaternion)
        phase = 2.0 * math.pi * sway.frequency_hz * time_s
        assert roll == pytest.approx(sway.roll_deg * math.sin(phase), abs=ANGLE_TOLERANCE_DEG)
        assert pitch == pytest.approx(sway.pitch_deg * math.sin(2.0 * phase), abs=ANGLE_TOLERANCE_DEG)
        assert position[2] - drive.height_m == pytest.approx(sway.heave_m * math.sin(2.0 * phase), abs=ROUNDING)


def test_sway_reaches_its_amplitude_in_the_quarter_of_its_period(model):
    drive = WaypointDrive(model, TURNS, speed_m_s=0.5, sway=Sway(4.0, 3.0, 0.05, 1.0), body="base")
    assert _roll_pitch_yaw_deg(drive.pose(0.25)[1])[0] == pytest.approx(4.0, abs=ANGLE_TOLERANCE_DEG)
    assert _roll_pitch_yaw_deg(drive.pose(0.125)[1])[1] == pytest.approx(3.0, abs=ANGLE_TOLERANCE_DEG)
    assert drive.pose(0.125)[0][2] == pytest.approx(drive.height_m + 0.05, abs=ROUNDING)


def test_poses_are_unit_quaternions_that_face_ahead(model):
    drive = WaypointDrive(model, TURNS, speed_m_s=0.5, sway=Sway(3.0, 2.0, 0.01, 1.5), body="base")
    for time_s in np.linspace(0.0, drive.duration_s, 100):
        _, quaternion = drive.pose(time_s)
        assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=ROUNDING)
        heading_deg = math.degrees(drive.path.at(0.5 * time_s)[2])
        difference = _roll_pitch_yaw_deg(quaternion)[2] - heading_deg
        assert math.remainder(difference, 360.0) == pytest.approx(0.0, abs=ANGLE_TOLERANCE_DEG)


def test_free_joint_and_mocap_are_driven_alike(model):
    mocap = build_model("warehouse", "quadruped", mocap=True)
    for a_model, place in ((model, "qpos"), (mocap, "mocap")):
        data = initial_data(a_model)
        drive = WaypointDrive(a_model, TURNS, speed_m_s=0.5, sway=Sway(3.0, 2.0, 0.01, 1.5), body="base")
        drive.advance(a_model, data, 3.3)
        mujoco.mj_kinematics(a_model, data)
        position, quaternion = drive.pose(3.3)
        np.testing.assert_allclose(data.body("base").xpos, position, atol=ROUNDING, err_msg=place)
        np.testing.assert_allclose(data.body("base").xquat, quaternion, atol=ROUNDING, err_msg=place)
        assert data.time == 3.3


def test_a_drive_is_a_function_of_time_alone(model):
    """What makes a recording resumable: the state at a time does not depend on the way there."""
    drive = WaypointDrive(model, TURNS, speed_m_s=0.5, sway=Sway(1.0, 1.0, 0.01), trot_stride_m=0.4, body="base")
    often, once = initial_data(model), initial_data(model)
    for time_s in np.arange(0.0, 2.0, 0.013):
        drive.advance(model, often, time_s)
    drive.advance(model, often, 2.0)
    drive.advance(model, once, 2.0)
    np.testing.assert_array_equal(often.qpos, once.qpos)


def test_only_the_driven_body_moves(model):
    data = initial_data(model)
    before = data.qpos.copy()
    WaypointDrive(model, TURNS, speed_m_s=1.0, body="base").advance(model, data, 1.0)
    np.testing.assert_array_equal(data.qpos[7:], before[7:])
    np.testing.assert_array_equal(data.mocap_pos, initial_data(model).mocap_pos)


def test_a_cart_is_driven_by_its_mocap_pose(model):
    data = initial_data(model)
    drive = WaypointDrive(model, [[8.0, 2.0], [2.0, 2.0]], speed_m_s=1.0, body="cart")
    drive.advance(model, data, 2.0)
    np.testing.assert_allclose(data.mocap_pos[0], [6.0, 2.0, 0.0], atol=ROUNDING)


@pytest.mark.parametrize("robot", ["quadruped", "go2"])
def test_standing_feet_do_not_slip_and_swinging_feet_rise(robot, request):
    model = build_model("room", request.getfixturevalue("go2_path") if robot == "go2" else robot)
    data, home = initial_data(model), initial_data(model)
    drive = WaypointDrive(model, [[-2.0, 0.0], [2.0, 0.0]], speed_m_s=1.0, trot_stride_m=0.4, trot_lift_m=0.05)
    home_m = {foot: home.geom(foot).xpos[2] for foot in ("FL", "FR", "RL", "RR")}
    times = np.linspace(0.0, 0.4, 201)
    places = {foot: [] for foot in home_m}
    for time_s in times:
        drive.advance(model, data, time_s)
        mujoco.mj_kinematics(model, data)
        for foot, track in places.items():
            track.append(data.geom(foot).xpos - [0.0, 0.0, home_m[foot]])
    for foot, samples in places.items():
        track = np.array(samples)
        standing = np.abs(track[:, 2]) < SLIP_M
        assert 0.45 < standing.mean() < 0.55, foot
        assert track[:, 2].max() == pytest.approx(0.05, abs=1e-3)
        assert track[:, 2].min() > -SLIP_M
        both = standing[1:] & standing[:-1]
        assert np.abs(np.diff(track[:, 0]))[both].max() < SLIP_M, foot
    np.testing.assert_allclose(np.array(places["FL"])[:, 2], np.array(places["RR"])[:, 2], atol=SLIP_M)


def test_the_joints_of_a_trot_stay_in_their_limits(model):
    drive = WaypointDrive(model, TURNS, speed_m_s=0.8, trot_stride_m=0.5, body="base")
    data = initial_data(model)
    hinges = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
    for time_s in np.linspace(0.0, 2.0, 200):
        drive.advance(model, data, time_s)
        angle = data.qpos[model.jnt_qposadr[hinges]]
        assert ((angle >= model.jnt_range[hinges, 0]) & (angle <= model.jnt_range[hinges, 1])).all()


def test_height_and_tilt_follow_the_ground(hills):
    """The four points under the body's footprint that it is laid on, seen from the body, balance out."""
    drive = WaypointDrive(hills, [[0.0, 0.0], [8.0, 2.0], [16.0, 4.0]], speed_m_s=1.0, follow_ground=True)
    ground = Ground(hills)
    rise = [drive.pose(time_s)[0][2] for time_s in (0.0, 8.0, drive.duration_s)]
    assert max(rise) - min(rise) > 0.5
    for time_s in np.linspace(0.0, drive.duration_s, 40):
        position, quaternion = drive.pose(time_s)
        x, y, heading = drive.path.at(time_s)
        c, s = math.cos(heading), math.sin(heading)
        feet = [(x + a * c - b * s, y + a * s + b * c) for a, b in ((0.2, 0), (-0.2, 0), (0, 0.15), (0, -0.15))]
        front, back, left, right = (ground.height_m(*foot) for foot in feet)
        roll, pitch, _ = _roll_pitch_yaw_deg(quaternion)
        assert position[2] - drive.height_m == pytest.approx((front + back + left + right) / 4, abs=ROUNDING)
        assert math.tan(math.radians(pitch)) == pytest.approx((back - front) / 0.4, abs=ROUNDING * 100)
        assert math.tan(math.radians(roll)) == pytest.approx((left - right) / 0.3, abs=ROUNDING * 100)


def test_ground_is_the_highest_plane_and_nothing_that_stands_on_it():
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], pos=[0, 0, -1])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], pos=[0, 0, 0.25])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 1])
    ground = Ground(spec.compile())
    assert ground.height_m(0.0, 0.0) == pytest.approx(0.25, abs=ROUNDING)
    with pytest.raises(ScenarioError, match=r"no ground under x = 6\.000 m, y = 0\.000 m"):
        ground.height_m(6.0, 0.0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"speed_m_s": 0.0}, "speed_m_s must be greater than 0, found 0.0"),
        ({"speed_m_s": math.nan}, "speed_m_s must be greater than 0"),
        ({"body": "bass"}, r"'bass' \(did you mean 'base'\?\); valid: base, cart"),
        ({"body": "forklift"}, "valid: base, cart"),
        ({"footprint_m": (0.0, 0.3)}, "footprint_m must be greater than 0"),
        ({"trot_stride_m": 3.0}, "cannot reach a stride of 3.0 m"),
        ({"trot_stride_m": -1.0}, "stride_m > 0"),
    ],
)
def test_bad_drives_are_refused(model, options, expected):
    with pytest.raises(ScenarioError, match=expected):
        WaypointDrive(model, TURNS, **{"speed_m_s": 1.0, "body": "base", **options})


def test_a_model_without_anything_to_drive_or_walk_is_refused():
    with pytest.raises(ScenarioError, match="bodies with a free joint or mocap: none"):
        WaypointDrive(build_model("room"), TURNS, speed_m_s=1.0)
    with pytest.raises(ScenarioError, match="trot needs one joint named FL_thigh_joint; the model has 0"):
        WaypointDrive(build_model("warehouse"), TURNS, speed_m_s=1.0, trot_stride_m=0.4)
    with pytest.raises(ScenarioError, match="fixed to the world; the model has none"):
        Ground(mujoco.MjModel.from_xml_string("<mujoco/>"))
