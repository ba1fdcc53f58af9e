"""A real robot in a room: no hit lost, where MuJoCo's own batch call loses some."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Scene, make_caster

ROWS, COLUMNS = 64, 1024
# The reference agrees in exact arithmetic; its formulas round differently by some 1e-12 m.
DISTANCE_M = 1e-9


@pytest.fixture(scope="module")
def room(go2_path) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_file(str(go2_path))
    world = spec.worldbody
    box, plane = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
    world.add_geom(type=plane, size=[0, 0, 1])
    for x, y in ((4, 0), (-4, 0), (0, 4), (0, -4)):
        world.add_geom(type=box, size=[4 if y else 0.1, 4 if x else 0.1, 1.5], pos=[x, y, 1.5])
    world.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[0.2, 0.5, 0], pos=[1.5, 1, 0.5])
    world.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.3, 0, 0], pos=[-1, 2, 0.3])
    return spec.compile()


@pytest.fixture(scope="module")
def data(room) -> mujoco.MjData:
    data = mujoco.MjData(room)
    if room.nkey:
        mujoco.mj_resetDataKeyframe(room, data, 0)
    mujoco.mj_forward(room, data)
    return data


@pytest.fixture(scope="module")
def os1() -> np.ndarray:
    azimuth, elevation = np.meshgrid(
        np.arange(COLUMNS) * 2 * np.pi / COLUMNS, np.radians(np.linspace(22.5, -22.5, ROWS)), indexing="ij"
    )
    level = np.cos(elevation)
    vectors = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], -1).reshape(-1, 3)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def truth(room, data, origin, directions, excluded=()) -> tuple[np.ndarray, np.ndarray]:
    model = room.__copy__()
    for g in np.flatnonzero(np.isin(model.geom_bodyid, list(excluded))):
        model.geom_matid[g] = -1
        model.geom_rgba[g, 3] = 0
    geom, one = np.empty(len(directions), np.int32), np.zeros(1, np.int32)
    distance = np.empty(len(directions))
    for i, direction in enumerate(directions):
        distance[i] = mujoco.mj_ray(model, data, origin, direction, None, 1, -1, one)
        geom[i] = one[0]
    return np.where(distance < 0, np.inf, distance), geom


PLACES = {"on its back": (0.2, 0.0, 0.6), "behind it": (-0.5, 0.0, 0.4), "between the feet": (0.3, 0.2, 0.05)}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("exclude", ["none", "body", "subtree", "FL_calf"])
def test_multiray_loses_nothing(room, data, os1, keyframe, batch, place, exclude) -> None:
    origin = np.array(PLACES[place])
    carrier = 1
    scene = Scene(room, carrier_body=carrier, exclude=exclude)
    caster = make_caster("multiray", scene)
    caster.pose(keyframe(data), keyframe(data))
    found = caster.cast(batch(np.repeat(origin[None], len(os1), 0), os1))
    bodies = {"none": [], "body": [carrier], "subtree": list(range(1, room.nbody))}
    excluded = bodies[exclude] if exclude in bodies else [room.body(exclude).id]
    distance, geom = truth(room, data, origin, os1, excluded)
    assert (found.geom != geom).sum() == 0
    np.testing.assert_array_equal(found.distance, distance)


def test_plain_multi_ray_loses_hits(room, data, os1) -> None:
    """Why the private model exists: when this fails, MuJoCo has mended its bodies' volumes."""
    origin = np.array(PLACES["behind it"])
    _, expected = truth(room, data, origin, os1)
    geom, distance = np.empty(len(os1), np.int32), np.empty(len(os1))
    mujoco.mj_multiRay(room, data, origin, os1.ravel(), None, 1, -1, geom, distance, None, len(os1), 1e10)
    lost = (geom != expected).sum()
    assert lost > 50


@pytest.mark.parametrize("place", PLACES)
def test_the_reference_agrees(room, data, os1, keyframe, batch, place) -> None:
    origin = np.array(PLACES[place])
    scene = Scene(room, exclude="none")
    caster = make_caster("brute", scene)
    caster.pose(keyframe(data), keyframe(data))
    some = os1[:: 7 if place == "on its back" else 29]
    found = caster.cast(batch(np.repeat(origin[None], len(some), 0), some))
    distance, geom = truth(room, data, origin, some)
    assert (found.geom != geom).sum() == 0
    hit = geom >= 0
    assert np.abs(found.distance[hit] - distance[hit]).max() < DISTANCE_M
