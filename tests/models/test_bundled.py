from __future__ import annotations

import re

import mujoco
import numpy as np
import pytest

from lidar_sim.scenario.world import build_model, bundled_models, find_model, initial_data

SCENES = ("room", "terrain", "warehouse")
MODELS = ("quadruped", *SCENES)
MAX_FILE_BYTES = 300_000
# Under position control the legs give way a little under the body's weight.
STANDING_SAG_M = 0.01
STANDING_TILT_DEG = 1.0
AT_REST_M_S = 0.01
# A standing foot touches the ground: MuJoCo's contacts give way by less than this.
FOOT_PENETRATION_M = 2e-3
# Samples of the height field are stored in 1/9999 of its span of some 6 m, and lie 0.4 m apart.
TERRAIN_TOLERANCE_M = 0.02


def test_the_table_of_bundled_models_is_what_the_folder_holds():
    assert tuple(bundled_models()) == tuple(sorted(MODELS))


@pytest.mark.parametrize("name", MODELS)
def test_model_needs_no_other_file_and_is_small(name):
    text = find_model(name).read_text(encoding="utf-8")
    assert len(text) < MAX_FILE_BYTES
    assert not re.search(r"\bfile\s*=|<include|<model ", text)


@pytest.mark.parametrize("name", SCENES)
def test_scene_is_full_of_things_in_colour(name):
    model = build_model(name)
    colours = {tuple(model.mat_rgba[material]) for material in model.geom_matid if material >= 0}
    assert model.ngeom > 150
    assert len(colours) >= 10
    assert len(set(model.geom_type)) >= 5


@pytest.mark.parametrize("name", SCENES)
def test_the_origin_is_free_for_a_robot(name):
    """A quadruped at the origin stands in nobody's way, with 0.4 m to spare in front and at its sides."""
    model = build_model(name, "quadruped")
    data = initial_data(model)
    robot = {i for i in range(model.nbody) if model.body_rootid[i] == model.body("base").id}
    for contact in data.contact[: data.ncon]:
        bodies = {int(model.geom_bodyid[geom]) for geom in contact.geom}
        assert bodies <= robot | {0}
    start = data.site("lidar").xpos.copy()
    geom = np.zeros(1, np.int32)
    for angle in np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False):
        ray = np.array([np.cos(angle), np.sin(angle), 0.0])
        distance = mujoco.mj_ray(model, data, start, ray, None, 1, model.body("base").id, geom)
        assert distance < 0.0 or distance > 0.4


def test_the_quadruped_has_its_mounts():
    model = mujoco.MjModel.from_xml_path(str(find_model("quadruped")))
    assert {model.site(i).name for i in range(model.nsite)} == {"lidar", "depth_camera", "imu"}
    assert [model.camera(i).name for i in range(model.ncam)] == ["front"]
    assert [model.key(i).name for i in range(model.nkey)] == ["home"]
    assert (model.nq, model.nv, model.nu) == (19, 18, 12)
    data = initial_data(model)
    camera = data.camera("front").xmat.reshape(3, 3)
    site = data.site("depth_camera").xmat.reshape(3, 3)
    # MuJoCo cameras look along -z with y up, sensors along x with z up.
    np.testing.assert_allclose(np.stack([-camera[:, 2], -camera[:, 0], camera[:, 1]], axis=1), site, atol=1e-4)
    assert -20.0 < np.degrees(np.arcsin(site[2, 0])) < -5.0


def test_visual_geoms_are_not_collision_geoms():
    model = mujoco.MjModel.from_xml_path(str(find_model("quadruped")))
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    assert set(model.geom_group[collides]) == {3}
    assert set(model.geom_group[~collides]) == {2}
    assert collides.sum() >= 14
    assert (~collides).sum() >= 30


@pytest.mark.parametrize("bodyexclude", ["nothing", "base"])
def test_the_lidar_sees_over_its_robot(bodyexclude):
    """No part of the robot stands in a beam down to 15 degrees below the horizon, excluded or not."""
    model = build_model("warehouse", "quadruped")
    data = initial_data(model)
    exclude = -1 if bodyexclude == "nothing" else model.body("base").id
    start, geom = data.site("lidar").xpos.copy(), np.zeros(1, np.int32)
    for azimuth in np.radians(np.arange(0.0, 360.0, 3.0)):
        for elevation in np.radians([-15.0, -7.0, 0.0, 15.0, 40.0]):
            c = np.cos(elevation)
            ray = np.array([c * np.cos(azimuth), c * np.sin(azimuth), np.sin(elevation)])
            if mujoco.mj_ray(model, data, start, ray, None, 1, exclude, geom) >= 0.0:
                assert model.body_rootid[model.geom_bodyid[geom[0]]] != model.body("base").id


def test_the_depth_camera_sees_nothing_of_its_robot():
    model = build_model("room", "quadruped")
    data = initial_data(model)
    site, geom = data.site("depth_camera"), np.zeros(1, np.int32)
    turn = site.xmat.reshape(3, 3)
    for y in np.linspace(-1.0, 1.0, 21):
        for z in np.linspace(-0.6, 0.6, 15):
            ray = turn @ (np.array([1.0, y, z]) / np.linalg.norm([1.0, y, z]))
            if mujoco.mj_ray(model, data, site.xpos.copy(), ray, None, 1, -1, geom) >= 0.0:
                assert model.body_rootid[model.geom_bodyid[geom[0]]] != model.body("base").id


def test_the_quadruped_stands_for_two_seconds():
    model = build_model("room", "quadruped")
    data = initial_data(model)
    height = data.qpos[2]
    while data.time < 2.0:
        mujoco.mj_step(model, data)
    upright = data.body("base").xmat.reshape(3, 3)[2, 2]
    assert abs(data.qpos[2] - height) < STANDING_SAG_M
    assert np.degrees(np.arccos(min(upright, 1.0))) < STANDING_TILT_DEG
    assert np.abs(data.qvel).max() < AT_REST_M_S
    feet = [data.geom(name).xpos[2] - model.geom(name).size[0] for name in ("FL", "FR", "RL", "RR")]
    assert np.abs(feet).max() < FOOT_PENETRATION_M
    assert not any(warning.number for warning in data.warning)


@pytest.mark.parametrize("scene", ["warehouse", "terrain"])
def test_the_written_scene_is_what_its_generator_writes(scene, monkeypatch, request):
    monkeypatch.syspath_prepend(str(request.path.parent))
    generator = __import__(f"generate_{scene}")
    written, made = find_model(scene).read_text(encoding="utf-8").split(), getattr(generator, scene)().split()
    differing = [(a, b) for a, b in zip(written, made, strict=True) if a != b]
    # The sine of another C library may round one sample of the hills the other way.
    assert all(a.isdigit() and b.isdigit() and abs(int(a) - int(b)) <= 1 for a, b in differing)


def test_everything_stands_on_the_hills(monkeypatch, request):
    """MJCF's elevation runs from +y to -y: a flipped field would leave the trees in the air."""
    monkeypatch.syspath_prepend(str(request.path.parent))
    from generate_terrain import Ground as Hills

    from lidar_sim.scenario.ground import Ground

    model = build_model("terrain")
    ground, hills = Ground(model), Hills()
    assert abs(ground.height_m(0.0, 0.0)) < TERRAIN_TOLERANCE_M
    for i in range(model.nbody):
        if model.body(i).name.startswith(("tree", "fir", "hut")):
            x, y, z = model.body_pos[i]
            assert abs(ground.height_m(x, y) - z) < TERRAIN_TOLERANCE_M
            assert abs(hills.at(x, y) - z) < TERRAIN_TOLERANCE_M
