"""Hits do not depend on threads, on the order of rays, on how they are cut into batches, or on the caster before."""

from __future__ import annotations

from dataclasses import fields, replace

import mujoco
import numba
import numpy as np
import pytest

from lidar_sim.cast import Scene, make_caster
from lidar_sim.cast import multiray as multiray_module
from lidar_sim.jit import get_num_threads, set_num_threads
from lidar_sim.records import Hits

SCENE = ["crowd", "flex_2d", "sdf_plugin", "visual_only"]


def assert_same(one: Hits, two: Hits) -> None:
    for field in fields(Hits):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name), err_msg=field.name)


def rows(hits: Hits, index) -> Hits:
    return replace(hits, **{field.name: getattr(hits, field.name)[index] for field in fields(Hits)})


@pytest.fixture(autouse=True)
def every_path_on_small_batches(monkeypatch):
    monkeypatch.setattr(multiray_module, "_WORTH_THREADS", 0)
    monkeypatch.setattr(multiray_module, "_SMALLEST_PIECE", 16)
    monkeypatch.setattr(multiray_module, "_RAYS_PER_ORIGIN", 4)


@pytest.mark.parametrize("model", SCENE, indirect=True)
def test_threads_change_no_bit(caster_name, model, random_data, rays, keyframe, batch) -> None:
    data = random_data(model)
    key, beams = keyframe(data), batch(*rays(data, 3000))
    found = []
    for threads in (1, 2, None):
        caster = make_caster(caster_name, Scene(model, exclude="none"), threads)
        caster.pose(key, key)
        found.append(caster.cast(beams))
    assert_same(found[0], found[1])
    assert_same(found[0], found[2])


@pytest.mark.parametrize("model", SCENE, indirect=True)
def test_order_and_cutting_change_no_bit(caster_name, model, random_data, rays, keyframe, batch) -> None:
    data = random_data(model)
    caster = make_caster(caster_name, Scene(model, exclude="none"))
    caster.pose(keyframe(data), keyframe(data))
    origin, direction = rays(data, 900)
    whole = caster.cast(batch(origin, direction))
    order = np.random.default_rng(0).permutation(len(origin))
    assert_same(caster.cast(batch(origin[order], direction[order])), rows(whole, order))
    for first, last in ((0, 1), (1, 3), (3, 350), (350, 900)):
        part = caster.cast(batch(origin[first:last], direction[first:last]))
        assert_same(part, rows(whole, slice(first, last)))


def test_the_number_of_threads_of_others_is_left_alone(caster_name, keyframe, batch) -> None:
    model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom type="sphere" size="1"/></worldbody></mujoco>')
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    most = numba.config.NUMBA_NUM_THREADS
    set_num_threads(most)
    caster = make_caster(caster_name, Scene(model), threads=1)
    caster.pose(keyframe(data), keyframe(data))
    caster.cast(batch(np.zeros((500, 3)), np.tile([1.0, 0.0, 0.0], (500, 1))))
    assert get_num_threads() == most


def test_little_memory_in_the_model_is_no_harm(keyframe, batch, oracle) -> None:
    """mj_multiRay would overflow its stack here and end the process."""
    geoms = "".join(
        f'<geom type="sphere" size=".1" pos="{x} 0 0" contype="0" conaffinity="0"/>' for x in range(1, 3001)
    )
    model = mujoco.MjModel.from_xml_string(f'<mujoco><size memory="60K"/><worldbody>{geoms}</worldbody></mujoco>')
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    with pytest.raises(mujoco.FatalError):
        mujoco.mj_multiRay(
            model,
            mujoco.MjData(model),
            np.zeros(3),
            np.ones(3),
            None,
            1,
            -1,
            np.zeros(1, np.int32),
            np.zeros(1),
            None,
            1,
            1,
        )
    caster = make_caster("multiray", Scene(model))
    caster.pose(keyframe(data), keyframe(data))
    direction = np.tile([1.0, 0.0, 0.0], (50, 1))
    origin = np.zeros((50, 3))
    found = caster.cast(batch(origin, direction))
    np.testing.assert_array_equal(found.distance, oracle(model).cast(data, origin, direction).distance)


def test_a_new_pose_moves_everything(caster_name, keyframe, batch) -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body mocap="true" name="ball"><geom type="sphere" size=".5"/></body></worldbody></mujoco>'
    )
    scene = Scene(model, exclude="none")
    caster = make_caster(caster_name, scene)
    beam = batch(np.zeros((8, 3)), np.tile([1.0, 0.0, 0.0], (8, 1)))
    for x in (2.0, 3.0, 5.5):
        data = mujoco.MjData(model)
        data.mocap_pos[0] = (x, 0, 0)
        mujoco.mj_kinematics(model, data)
        caster.pose(keyframe(data), keyframe(data))
        np.testing.assert_allclose(caster.cast(beam).distance, x - 0.5, rtol=0, atol=1e-12)
