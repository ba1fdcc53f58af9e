"""The whole pipeline: the promises of time, order, poses, exclusion and determinism, through the public API."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim import DepthCamera, Lidar, Scan, accumulate, deskew, shipped_profiles, to_frame, write
from lidar_sim.errors import LidarSimError, ModelError, OptionError, ProfileError, TimeError

# Double precision over tens of metres and a few dozen operations.
EXACT_M = 1e-9
# What the flat wall of the issue allows after deskewing.
FLAT_M = 1e-6
FAST_STEP_S = 0.002

BOX_ROOM = """
<mujoco>
  <option gravity="0 0 0" timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="wall" type="box" size="0.1 20 4" pos="8.1 0 4"/>
    <geom name="back" type="box" size="0.1 20 4" pos="-8.1 0 4"/>
    <geom name="left" type="box" size="20 0.1 4" pos="0 8.1 4"/>
    <geom name="right" type="box" size="20 0.1 4" pos="0 -8.1 4"/>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom name="trunk" type="box" size="1.0 0.2 0.1"/>
      <site name="lidar" pos="0 0 0.3"/>
      <camera name="eye" pos="0.4 0 0" xyaxes="0 -1 0 0 0 1"/>
      <body name="leg" pos="0 0.9 0">
        <joint type="hinge" axis="0 1 0"/>
        <geom name="leg" type="sphere" size="0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(BOX_ROOM)


def drive(model: mujoco.MjModel, data: mujoco.MjData, time_s: float, speed: float, yaw_rate: float) -> None:
    """Put the base where constant velocity and constant turn rate have it at ``time_s``."""
    data.time = time_s
    data.qpos[:3] = [speed * time_s, 0.3 * speed * time_s, 1.0]
    half = 0.5 * yaw_rate * time_s
    data.qpos[3:7] = [np.cos(half), 0.0, 0.0, np.sin(half)]


def record(
    model: mujoco.MjModel, lidar: Lidar, times: np.ndarray, *, speed: float = 0.0, yaw_rate: float = 0.0
) -> list[Scan]:
    data = mujoco.MjData(model)
    scans: list[Scan] = []
    for time_s in times:
        drive(model, data, float(time_s), speed, yaw_rate)
        scans += lidar.step(data)
    return scans


def slicings() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {
        "one step": np.array([0.0, 0.25]),
        "50 steps of 2 ms and on": np.arange(126) * FAST_STEP_S,
        "random": np.concatenate([[0.0], np.sort(rng.uniform(0.0, 0.25, 40)), [0.25]]),
    }


def assert_equal_scans(a: list[Scan], b: list[Scan]) -> None:
    assert len(a) == len(b) > 0
    for one, other in zip(a, b, strict=True):
        assert one.stamp_ns == other.stamp_ns
        assert one.fields.keys() == other.fields.keys()
        for name in one.fields:
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("device", ["vlp16", "os1-64", "avia", "mid360"])
def test_a_sensor_at_rest_gives_the_same_bits_however_time_is_sliced(model: mujoco.MjModel, device: str) -> None:
    runs = [record(model, Lidar(model, device, mount="lidar", seed=3), times) for times in slicings().values()]
    for run in runs[1:]:
        assert_equal_scans(runs[0], run)


@pytest.mark.parametrize("device", ["vlp16", "avia"])
def test_a_moving_sensor_fires_every_beam_exactly_once(model: mujoco.MjModel, device: str) -> None:
    for times in slicings().values():
        lidar = Lidar(model, device, mount="lidar", noise=False, keep_misses=True)
        scans = record(model, lidar, times, speed=1.0, yaw_rate=0.5)
        fired = np.concatenate([scan["firing"] for scan in scans])
        np.testing.assert_array_equal(fired, np.arange(len(fired)))
        assert len(fired) == lidar.pattern.frame_start(len(scans))


def test_equal_seeds_give_equal_bits_on_any_number_of_threads(model: mujoco.MjModel) -> None:
    times = np.arange(60) * FAST_STEP_S
    runs = [record(model, Lidar(model, "vlp16", mount="lidar", seed=7, threads=n), times, speed=1.0) for n in (1, 2)]
    assert_equal_scans(*runs)


def test_noise_differs_between_seeds_and_between_sensors_of_one_seed(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    ranges = [
        Lidar(model, "vlp16", mount="lidar", seed=seed, name=name, keep_misses=True).scan(data)["range"]
        for seed, name in [(1, "a"), (2, "a"), (1, "b")]
    ]
    for a, b in [(0, 1), (0, 2)]:
        error = ranges[a] - ranges[b]
        assert np.nanstd(error) == pytest.approx(np.sqrt(2) * 0.03, rel=0.05)


def test_without_noise_every_point_lies_where_mj_ray_says(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    lidar = Lidar(model, "vlp16", mount="lidar", exclude="body", noise=False)
    scan = to_frame(lidar.scan(data), "world")
    geom = np.zeros(1, np.int32)
    for i in range(0, len(scan), 97):
        beam = int(scan["firing"][i])
        origin = data.site("lidar").xpos + lidar.pattern.firings(beam, beam + 1).origin[0]
        reach = scan.points[i] - origin
        distance = np.linalg.norm(reach)
        found = mujoco.mj_ray(model, data, origin, reach / distance, None, 1, model.body("base").id, geom)
        assert found == pytest.approx(distance, abs=EXACT_M)
        assert geom[0] == scan["geom"][i]


def test_a_wall_scanned_while_driving_and_turning_is_flat_again_after_deskew(model: mujoco.MjModel) -> None:
    lidar = Lidar(model, "vlp16", mount="lidar", noise=False, exclude="subtree")
    scans = record(model, lidar, np.arange(130) * FAST_STEP_S, speed=1.5, yaw_rate=1.0)
    wall = model.geom("wall").id
    for scan in scans:
        on_wall = scan["geom"] == wall
        assert on_wall.sum() > 500
        raw = plane_residual(scan.points[on_wall])
        flat = plane_residual(deskew(scan).points[on_wall])
        assert raw > 100 * FLAT_M, "the test must see the skew that it removes"
        assert flat < FLAT_M
        world = to_frame(scan, "world").points[on_wall]
        np.testing.assert_allclose(world[:, 0], 8.0, atol=FLAT_M)


def test_a_frozen_sensor_poses_whole_steps_and_its_track_says_so(model: mujoco.MjModel) -> None:
    """Ten-millisecond steps: beams leave from the step's end, and the world points lie on the wall all the same."""
    step_ns = 10_000_000
    lidar = Lidar(model, "vlp16", mount="lidar", noise=False, exclude="subtree", motion="frozen")
    scans = record(model, lidar, np.arange(26) * step_ns * 1e-9, speed=1.5, yaw_rate=1.0)
    wall = model.geom("wall").id
    for scan in scans:
        on_wall = scan["geom"] == wall
        world = to_frame(scan, "world")
        np.testing.assert_allclose(world.points[on_wall, 0], 8.0, atol=FLAT_M)
        beam = int(np.argmax(on_wall))
        end_s = (scan.t_ns[beam] // step_ns + 1) * step_ns * 1e-9
        data = mujoco.MjData(model)
        drive(model, data, end_s, 1.5, 1.0)
        mujoco.mj_forward(model, data)
        sensor = data.site("lidar")
        local = sensor.xmat.reshape(3, 3).T @ (world.points[beam] - sensor.xpos)
        np.testing.assert_allclose(local, scan.points[beam], atol=FLAT_M)


def plane_residual(points: np.ndarray) -> float:
    """Largest distance of points from their best plane."""
    centred = points - points.mean(axis=0)
    normal = np.linalg.svd(centred, full_matrices=False)[2][-1]
    return float(np.abs(centred @ normal).max())


def test_the_pose_belongs_to_its_time_whenever_the_caller_calls() -> None:
    """After mj_step, site_xpos lags qpos by one step; the scan must not."""
    moving = mujoco.MjModel.from_xml_string(BOX_ROOM)
    data = mujoco.MjData(moving)
    data.qvel[0] = 2.0
    mujoco.mj_step(moving, data)
    lidar = Lidar(moving, "vlp16", mount="lidar", noise=False, exclude="subtree")
    scan = lidar.scan(data)
    ahead = scan["x"][(scan["geom"] == moving.geom("wall").id)]
    true_x = 8.0 - data.qpos[0]
    np.testing.assert_allclose(ahead, true_x, atol=EXACT_M)
    assert abs(data.site("lidar").xpos[0] - data.qpos[0]) > 1e-3, "MuJoCo's own site pose lags"


def test_the_callers_model_and_data_stay_as_they_were(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    before = {name: np.copy(getattr(data, name)) for name in ("qpos", "qvel", "geom_xpos", "site_xpos", "sensordata")}
    groups, addresses = model.geom_group.copy(), model.body_bvhadr.copy()
    lidar = Lidar(model, "vlp16", mount="lidar", exclude="subtree")
    lidar.step(data)
    data.time = 0.05
    lidar.step(data)
    lidar.scan(data)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(data, name), value, err_msg=name)
    np.testing.assert_array_equal(model.geom_group, groups)
    np.testing.assert_array_equal(model.body_bvhadr, addresses)


@pytest.mark.parametrize(
    ("exclude", "hidden"),
    [
        ("none", set()),
        ("body", {"trunk"}),
        ("subtree", {"trunk", "leg"}),
        ("leg", {"leg"}),
        (["base", "leg"], {"trunk", "leg"}),
    ],
)
def test_exclusion_hides_what_it_names(model: mujoco.MjModel, exclude: str | list[str], hidden: set[str]) -> None:
    lidar = Lidar(model, "os1-64", mount="lidar", exclude=exclude, noise=False)
    seen = {model.geom(int(g)).name for g in np.unique(lidar.scan(mujoco.MjData(model))["geom"]) if g >= 0}
    assert {"trunk", "leg"} - seen == hidden


def test_a_still_scan_does_not_disturb_stepping(model: mujoco.MjModel) -> None:
    times = np.arange(70) * FAST_STEP_S
    plain = record(model, Lidar(model, "vlp16", mount="lidar"), times, speed=1.0)
    lidar, data, scans = Lidar(model, "vlp16", mount="lidar"), mujoco.MjData(model), []
    for time_s in times:
        drive(model, data, float(time_s), 1.0, 0.0)
        scans += lidar.step(data)
        lidar.scan(data)
    assert_equal_scans(plain, scans)


def test_the_first_revolution_stepped_at_rest_equals_the_still_scan(model: mujoco.MjModel) -> None:
    (stepped, *_) = record(model, Lidar(model, "vlp16", mount="lidar"), np.array([0.0, 0.15]))
    still = Lidar(model, "vlp16", mount="lidar").scan(mujoco.MjData(model))
    assert_equal_scans([stepped], [still])


@pytest.mark.parametrize("device", ["vlp16", "avia", "ust10lx"])
def test_a_start_at_a_later_frame_gives_the_same_frames_from_there_on(model: mujoco.MjModel, device: str) -> None:
    times = np.arange(170) * FAST_STEP_S
    whole = record(model, Lidar(model, device, mount="lidar"), times, speed=1.0, yaw_rate=0.5)
    lidar, data = Lidar(model, device, mount="lidar"), mujoco.MjData(model)
    drive(model, data, 0.0, 1.0, 0.5)
    lidar.start(data, frame=2)
    late = record(model, lidar, times[1:], speed=1.0, yaw_rate=0.5)
    assert late[0].frame_number == 2
    assert_equal_scans(whole[2:], late)
    np.testing.assert_array_equal(late[0].track.time_ns, whole[2].track.time_ns)
    with pytest.raises(OptionError, match="0 or more"):
        lidar.start(data, frame=-1)


def test_read_gives_the_last_finished_scan(model: mujoco.MjModel) -> None:
    lidar = Lidar(model, "vlp16", mount="lidar")
    assert lidar.read() is None
    scans = record(model, lidar, np.array([0.0, 0.35]))
    assert lidar.read() is scans[-1]


def test_time_that_goes_back_is_refused_until_reset(model: mujoco.MjModel) -> None:
    lidar = Lidar(model, "vlp16", mount="lidar")
    record(model, lidar, np.array([0.0, 0.15]))
    data = mujoco.MjData(model)
    with pytest.raises(TimeError, match=r"reset\(\)"):
        lidar.step(data)
    lidar.reset()
    assert lidar.step(data) == []
    data.time = 0.15
    assert lidar.step(data)[0].frame_number == 0


def test_a_scan_at_the_same_time_twice_gives_nothing_new(model: mujoco.MjModel) -> None:
    lidar, data = Lidar(model, "vlp16", mount="lidar"), mujoco.MjData(model)
    lidar.step(data)
    assert lidar.step(data) == []


@pytest.mark.parametrize("device", shipped_profiles())
def test_every_shipped_device_sees_the_room(model: mujoco.MjModel, device: str) -> None:
    lidar = Lidar(model, device, mount="lidar", noise=False, exclude="subtree")
    scan = lidar.scan(mujoco.MjData(model))
    assert len(scan) > 0.2 * (lidar.pattern.frame_start(1) - lidar.pattern.frame_start(0))
    distance = np.linalg.norm(scan.points, axis=1)
    assert distance.max() < 60.0
    assert scan["geom"].min() >= 0
    world = to_frame(scan, "world").points
    surfaces = np.stack(
        [
            np.abs(world[:, 2]),
            np.abs(np.abs(world[:, 0]) - 8.0),
            np.abs(np.abs(world[:, 1]) - 8.0),
            np.abs(world[:, 2] - 8.0),
        ]
    )
    assert surfaces.min(axis=0).max() < EXACT_M


def test_the_depth_camera_gives_planar_depth(model: mujoco.MjModel) -> None:
    camera = DepthCamera(model, "d435i", mount="eye", noise=False, exclude="subtree")
    data = mujoco.MjData(model)
    scan = camera.scan(data)
    depth = camera.depth_image(scan)
    assert depth.shape == (480, 848)
    grid = scan.organized("geom")
    wall = grid == model.geom("wall").id
    assert wall.sum() > 1000
    np.testing.assert_allclose(depth[wall], 8.0 - 0.4, atol=EXACT_M)
    assert np.argmax(wall[:, 424]) < 240, "row 0 is the top: the wall stands above the floor"


def test_silent_cells_of_the_grid_know_their_place(model: mujoco.MjModel) -> None:
    lidar = Lidar(model, "vlp16", mount="lidar", noise=False, exclude="none")
    every = Lidar(model, "vlp16", mount="lidar", noise=False, keep_misses=True).scan(mujoco.MjData(model))
    scan = lidar.scan(mujoco.MjData(model))
    for name in ("row", "column", "ring"):
        np.testing.assert_array_equal(scan.organized(name), every.organized(name))


def test_wrong_names_fail_at_construction_and_list_the_right_ones(model: mujoco.MjModel) -> None:
    with pytest.raises(ModelError, match=r"did you mean 'lidar'.*eye"):
        Lidar(model, "vlp16", mount="lidr")
    with pytest.raises(ProfileError, match="vlp16"):
        Lidar(model, "vlp17", mount="lidar")
    with pytest.raises(OptionError, match="multiray"):
        Lidar(model, "vlp16", mount="lidar", caster="multirai")
    with pytest.raises(ModelError, match="base"):
        Lidar(model, "vlp16", mount="lidar", exclude="bse")
    with pytest.raises(OptionError, match="rolling"):
        Lidar(model, "vlp16", mount="lidar", motion="rollin")
    with pytest.raises(LidarSimError):
        Lidar(model, "vlp16", mount="lidar", geomgroups=[9])


def test_the_wrong_kind_of_thing_is_named_in_one_line(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    lidar = Lidar(model, "vlp16", mount="lidar")
    with pytest.raises(OptionError, match=r"compiled mujoco\.MjModel, found str"):
        Lidar("car.xml", "vlp16", mount="lidar")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"seed must be a whole number, found 1\.5"):
        Lidar(model, "vlp16", mount="lidar", seed=1.5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="measures ranges, not depth"):
        DepthCamera(model, "vlp16", mount="lidar")
    with pytest.raises(ModelError, match="found MjModel"):
        lidar.scan(model)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="put it in a list"):
        accumulate(lidar.scan(data))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="takes a Scan, found Lidar"):
        write(lidar, "x.pcd")  # type: ignore[arg-type]


def test_a_scan_and_a_sensor_say_what_they_are_in_one_line(model: mujoco.MjModel) -> None:
    lidar = Lidar(model, "vlp16", mount="lidar", seed=4, caster="brute")
    assert repr(lidar) == "<Lidar velodyne_vlp16@lidar: Velodyne VLP-16 (Puck), 600rpm, caster brute, seed 4>"
    shown = repr(lidar.scan(mujoco.MjData(model)))
    assert shown.startswith("<Scan 0 of velodyne_vlp16@lidar: ")
    assert "sensor frame, grid 16 x 1809; fields x, y, z, range" in shown
    assert "\n" not in shown


def test_a_model_that_changes_is_followed(model: mujoco.MjModel) -> None:
    """Colour, group and size are noticed by step and by scan; what a fresh sensor would give is given."""
    changing = mujoco.MjModel.from_xml_string(BOX_ROOM)
    data = mujoco.MjData(changing)
    lidar = Lidar(changing, "vlp16", mount="lidar", seed=1)
    before = lidar.scan(data, 0)
    changing.geom("wall").rgba[:3] = 0.05
    changing.geom("left").size[1] = 0.6
    changing.geom("leg").group[0] = 4
    fresh = Lidar(changing, "vlp16", mount="lidar", seed=1)
    after = lidar.scan(data, 0)
    assert_equal_scans([after], [fresh.scan(data, 0)])
    assert not np.array_equal(before["intensity"], after["intensity"])
    changing.geom("right").rgba[3] = 0.0
    times = np.arange(0.0, 0.21, 0.01)
    scans = record(changing, lidar, times)
    assert_equal_scans(scans, record(changing, fresh, times))
    assert changing.geom("right").id not in scans[0]["geom"]


def test_heights_that_change_take_a_refresh() -> None:
    xml = """<mujoco><asset><hfield name="ground" nrow="4" ncol="4" size="9 9 1 .1"
      elevation="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"/></asset><worldbody><geom type="hfield" hfield="ground"/>
      <body name="mast" pos="0 0 2"><geom size=".01"/></body></worldbody></mujoco>"""
    ground = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(ground)
    lidar = Lidar(ground, "vlp16", mount="mast", noise=False)
    flat = lidar.scan(data, 0)
    ground.hfield_data[:] = 0.5
    assert_equal_scans([lidar.scan(data, 0)], [flat])
    lidar.refresh()
    raised = lidar.scan(data, 0)
    assert_equal_scans([raised], [Lidar(ground, "vlp16", mount="mast", noise=False).scan(data, 0)])
    np.testing.assert_allclose(to_frame(raised, "world")["z"][raised["ring"] < 8], 0.5, rtol=0, atol=EXACT_M)
