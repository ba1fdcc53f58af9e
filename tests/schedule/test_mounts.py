"""Mounts by name: where MuJoCo itself puts them, and what is said when there is no such name."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.errors import ModelError, OptionError
from lidar_sim.schedule import PoseSource, parse_offset, resolve_mount
from lidar_sim.transforms import compose, quaternion_to_matrix

# Roundings of positions near 1 m after four turns.
POSE = 1e-13

MODEL = """
<mujoco>
  <worldbody>
    <site name="post" pos="1 2 3" euler="10 20 30"/>
    <site/>
    <body name="trunk" pos=".3 -.2 .7" euler="5 15 25">
      <freejoint/>
      <geom size=".1 .2 .05" type="box" pos=".01 .02 .03" euler="1 2 3"/>
      <site name="lidar" pos=".2 .1 .3" euler="0 15 0"/>
      <site name="both" pos=".1 0 0"/>
      <camera name="eye" pos=".3 0 .1" euler="60 10 -90"/>
      <camera name="both" pos="0 .1 0"/>
      <body name="head" pos=".4 0 .2" euler="0 0 40">
        <joint name="neck" axis="0 1 0"/>
        <geom size=".05"/>
        <camera name="follower" mode="trackcom" pos="1 0 0"/>
        <site name="a:b"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(MODEL)


@pytest.fixture(scope="module")
def data(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    data.qpos[:] = np.random.default_rng(1).normal(size=model.nq)
    mujoco.mj_forward(model, data)
    return data


def pose(model, data, mount, offset=None) -> tuple[np.ndarray, np.ndarray]:
    keyframe = PoseSource(model, mount, offset).capture(data)
    return keyframe.position, quaternion_to_matrix(keyframe.quaternion)


@pytest.mark.parametrize("mount", ["lidar", "site:lidar", "post", "site:both", "a:b"])
def test_a_site_is_where_mujoco_puts_it(model, data, mount) -> None:
    position, rotation = pose(model, data, mount)
    site = data.site(mount.removeprefix("site:"))
    np.testing.assert_allclose(position, site.xpos, atol=POSE)
    np.testing.assert_allclose(rotation, site.xmat.reshape(3, 3), atol=POSE)


@pytest.mark.parametrize("mount", ["trunk", "body:head", "world"])
def test_a_body_is_where_mujoco_puts_it(model, data, mount) -> None:
    position, rotation = pose(model, data, mount)
    body = data.body(mount.removeprefix("body:"))
    np.testing.assert_allclose(position, body.xpos, atol=POSE)
    np.testing.assert_allclose(rotation, body.xmat.reshape(3, 3), atol=POSE)


@pytest.mark.parametrize("mount", ["eye", "camera:both"])
def test_a_sensor_at_a_camera_looks_where_it_looks(model, data, mount) -> None:
    position, rotation = pose(model, data, mount)
    camera = data.cam(mount.removeprefix("camera:"))
    right, up, back = camera.xmat.reshape(3, 3).T
    np.testing.assert_allclose(position, camera.xpos, atol=POSE)
    np.testing.assert_allclose(rotation.T, [-back, -right, up], atol=POSE)


@pytest.mark.parametrize(
    ("mount", "body"), [("lidar", "trunk"), ("trunk", "trunk"), ("eye", "trunk"), ("a:b", "head"), ("post", "world")]
)
def test_the_carrier_carries(model, data, mount, body) -> None:
    source = PoseSource(model, mount)
    assert source.carrier_body == model.body(body).id
    assert source.name == mount
    keyframe = source.capture(data)
    carrier = data.body(body)
    position, quaternion = compose(carrier.xpos, carrier.xquat, source.T_body_sensor[:3], source.T_body_sensor[3:])
    np.testing.assert_allclose(position, keyframe.position, atol=POSE)
    assert abs(quaternion @ keyframe.quaternion) == pytest.approx(1.0, abs=POSE)


HALF = np.sqrt(0.5)


@pytest.mark.parametrize(
    "offset",
    [
        ((0.1, 0.2, 0.3), (0.0, 0.0, 90.0)),
        ([0.1, 0.2, 0.3], np.array([HALF, 0.0, 0.0, HALF])),
        (np.array([0.1, 0.2, 0.3]), [2.0, 0.0, 0.0, 2.0]),
        (0.1, 0.2, 0.3, HALF, 0.0, 0.0, HALF),
        np.array([0.1, 0.2, 0.3, HALF, 0.0, 0.0, HALF]),
    ],
)
@pytest.mark.parametrize("mount", ["lidar", "eye"])
def test_an_offset_is_a_pose_in_the_sensors_frame_at_the_mount(model, data, mount, offset) -> None:
    base_position, base = pose(model, data, mount)
    position, rotation = pose(model, data, mount, offset)
    np.testing.assert_allclose(position, base_position + base @ [0.1, 0.2, 0.3], atol=POSE)
    np.testing.assert_allclose(rotation, base @ [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=POSE)


def test_an_offset_may_be_a_position_only() -> None:
    for offset in ((1, 2, 3), [1.0, 2.0, 3.0], np.array([1, 2, 3])):
        position, quaternion = parse_offset(offset)
        np.testing.assert_array_equal(position, [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(quaternion, [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    "offset",
    [
        1.0,
        (1, 2),
        (1, 2, 3, 4),
        ((1, 2), (3, 4)),
        ((1, 2, 3), (1, 2, 3, 4, 5)),
        ((1, 2, 3), (0, 0, 0, 0)),
        (1, 2, float("nan")),
        ((0, 0, 0), (0, float("inf"), 0)),
        "forward",
        ("a", "b", "c"),
        ((1, 2, 3), None),
        {"x": 1},
        np.zeros((3, 3)).tolist(),
    ],
)
def test_any_other_offset_is_refused(offset) -> None:
    with pytest.raises(OptionError, match="offset"):
        parse_offset(offset)


@pytest.mark.parametrize(
    ("mount", "message"),
    [
        (
            "lidr",
            r"unknown mount 'lidr' \(did you mean 'lidar'\?\); valid: sites: a:b, both, lidar, post; bodies: head, ",
        ),
        ("", r"unknown mount ''; valid: sites"),
        ("site:eye", r"unknown mount 'site:eye'; valid: sites: a:b, both, lidar, post$"),
        ("camera:eyes", r"unknown mount 'camera:eyes' \(did you mean 'eye'\?\); valid: cameras: both, eye, follower$"),
        ("Trunk", r"did you mean 'trunk'"),
        ("both", r"mount 'both' names a site and a camera: write 'site:both' or 'camera:both'"),
        ("follower", r"camera 'follower' tracks or targets a body"),
    ],
)
def test_a_wrong_name_lists_the_right_ones(model, mount, message) -> None:
    with pytest.raises(ModelError, match=message) as error:
        resolve_mount(model, mount)
    assert "\n" not in str(error.value)


def test_a_mount_that_is_no_text_is_refused(model) -> None:
    with pytest.raises(OptionError, match="found 3"):
        resolve_mount(model, 3)  # type: ignore[arg-type]


def test_a_long_list_of_names_is_cut() -> None:
    sites = "".join(f'<site name="s{i:03}"/>' for i in range(100))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{sites}</worldbody></mujoco>")
    with pytest.raises(ModelError, match=r"s038, s039 and 60 more; bodies: world; cameras: none$"):
        resolve_mount(model, "nowhere")
