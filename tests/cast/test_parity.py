"""Every caster against mj_ray (and mj_rayFlex), in every scene, under every exclusion."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Scene, make_caster
from lidar_sim.cast import multiray as multiray_module

# DESIGN promise 5; our formulas and MuJoCo's round differently by some 1e-12 m at a few metres.
DISTANCE_M = 1e-9
# Unit vectors, computed from points that agree to DISTANCE_M or better.
NORMAL = 1e-8
# A ray this close to an edge may hit either side of it (m sideways, and at this angle).
EDGE = 1e-7


@pytest.fixture(autouse=True)
def every_path_on_small_batches(monkeypatch) -> None:
    monkeypatch.setattr(multiray_module, "_RAYS_PER_ORIGIN", 4)


def differing(found, expected) -> np.ndarray:
    """Rows in which two sets of hits tell different surfaces."""
    same_distance = (found.distance == expected.distance) | (
        np.abs(np.nan_to_num(found.distance) - np.nan_to_num(expected.distance)) < DISTANCE_M
    )
    same = (
        same_distance
        & (found.geom == expected.geom)
        & (found.body == expected.body)
        & (found.flex == expected.flex)
        & (np.abs(found.normal - expected.normal).max(axis=1) < NORMAL)
        & (np.abs(found.cos_incidence - expected.cos_incidence) < NORMAL)
    )
    return np.flatnonzero(~same)


def near_edge(oracle, data, origin, direction) -> bool:
    """Whether the oracle itself changes its mind when the ray is moved by a hair."""
    surface = oracle.ray(data, origin, direction)
    for seed in range(16):
        shift = np.random.default_rng(seed).normal(size=(2, 3)) * EDGE
        turned = direction + shift[1]
        moved = oracle.ray(data, origin + shift[0], turned / np.linalg.norm(turned))
        if moved[1:3] != surface[1:3] or np.abs(moved[3] - surface[3]).max() > 1e-3:
            return True
    return False


def assert_parity(found, oracle, data, origin, direction) -> None:
    expected = oracle.cast(data, origin, direction)
    wrong = [i for i in differing(found, expected) if not near_edge(oracle, data, origin[i], direction[i])]
    assert not wrong, [
        (i, found.distance[i], expected.distance[i], found.geom[i], expected.geom[i], found.normal[i])
        for i in wrong[:5]
    ]
    hits = np.isfinite(expected.distance)
    assert hits.mean() > 0.1, "the rays miss everything: this test tells nothing"


def test_casters_agree_with_mj_ray(
    caster_name, model, exclude, oracle, random_data, rays, keyframe, batch, names_excluded
) -> None:
    data = random_data(model)
    names = names_excluded.get(exclude, exclude) if isinstance(exclude, str) else exclude
    caster = make_caster(caster_name, Scene(model, carrier_body=model.body("head").id, exclude=exclude))
    caster.pose(keyframe(data), keyframe(data))
    origin, direction = rays(data)
    assert_parity(caster.cast(batch(origin, direction)), oracle(model, names), data, origin, direction)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("groups", [None, [0], [1, 3], [5], (0, 1, 2, 3, 4, 5), np.array([2, 4])])
@pytest.mark.parametrize("model", ["groups_and_alpha", "static_and_mocap", "flex_2d"], indirect=True)
def test_groups_and_static_are_as_in_mj_ray(
    caster_name, model, groups, static, oracle, random_data, rays, keyframe, batch
) -> None:
    data = random_data(model)
    scene = Scene(model, exclude="none", geomgroups=groups, static=static)
    truth = oracle(model, groups=groups, static=static)
    if groups is not None and 0 not in groups:
        truth.model.flex_dim[:] = 0  # the flex is in group 0; without dimension it has nothing to hit
    caster = make_caster(caster_name, scene)
    caster.pose(keyframe(data), keyframe(data))
    origin, direction = rays(data)
    found, expected = caster.cast(batch(origin, direction)), truth.cast(data, origin, direction)
    wrong = [i for i in differing(found, expected) if not near_edge(truth, data, origin[i], direction[i])]
    assert not wrong


def test_multiray_gives_the_very_bits_of_mj_ray(model, oracle, random_data, rays, keyframe, batch) -> None:
    data = random_data(model)
    caster = make_caster("multiray", Scene(model, exclude="none"))
    caster.pose(keyframe(data), keyframe(data))
    origin, direction = rays(data)
    found, expected = caster.cast(batch(origin, direction)), oracle(model).cast(data, origin, direction)
    np.testing.assert_array_equal(found.distance, expected.distance)
    np.testing.assert_array_equal(found.geom, expected.geom)
    np.testing.assert_array_equal(found.normal, expected.normal)


def test_the_scenes_hold_every_type_of_geom(scene_texts) -> None:
    every = {int(kind) for kind in mujoco.mjtGeom.__members__.values() if int(kind) <= int(mujoco.mjtGeom.mjGEOM_SDF)}
    found: set[int] = set()
    for name, xml in scene_texts.items():
        if name != "sdf_plugin":
            found |= set(mujoco.MjModel.from_xml_string(xml).geom_type.tolist())
    assert found == every


def test_a_flex_with_all_its_bodies_excluded_is_not_seen(caster_name, random_data, rays, keyframe, batch) -> None:
    xml = """<mujoco><worldbody><body name="stuff"><flexcomp name="soft" type="grid" count="4 5 1" spacing=".3 .3 .3"
      dim="2" radius=".01" mass="1"><edge equality="true"/></flexcomp></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = random_data(model)
    seen = {}
    one_vertex = model.body(model.flex_vertbodyid[0]).name
    for exclude in ("none", "subtree", one_vertex):
        caster = make_caster(caster_name, Scene(model, carrier_body=model.body("stuff").id, exclude=exclude))
        caster.pose(keyframe(data), keyframe(data))
        hits = caster.cast(batch(*rays(data)))
        seen[exclude] = (hits.flex == 0).sum()
        assert ((hits.flex == 0) == np.isfinite(hits.distance)).all()
        assert (hits.geom == -1).all()
        assert (hits.body == -1).all()
    assert seen["none"] > 100
    assert seen["subtree"] == 0
    assert seen[one_vertex] == seen["none"]
