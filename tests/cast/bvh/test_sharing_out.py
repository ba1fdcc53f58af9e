"""The same bits for any number of threads, any slicing, any order, packets or single rays."""

from __future__ import annotations

from dataclasses import fields

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Scene
from lidar_sim.cast.bvh import BvhCaster
from lidar_sim.jit import get_num_threads
from lidar_sim.records import Hits, RayBatch

BEFORE_AND_AFTER = (11, 12)


def assert_equal(one: Hits, two: Hits, rows=slice(None)) -> None:
    for field in fields(Hits):
        np.testing.assert_array_equal(getattr(one, field.name)[rows], getattr(two, field.name), field.name)


@pytest.fixture(params=["crowd", "mesh", "hfield_oblong_tilted", "capsule", "flex_2d"])
def world(request, scene_texts, random_data, keyframe):
    model = mujoco.MjModel.from_xml_string(scene_texts[request.param])
    return model, *(keyframe(random_data(model, seed)) for seed in BEFORE_AND_AFTER)


@pytest.fixture
def batch_of(rays):
    def make(data, count=4000) -> RayBatch:
        origin, direction = rays(data, count)
        phase = np.random.default_rng(8).random(count)
        return RayBatch(origin, direction, np.zeros(count, np.int64), phase)

    return make


def posed(world, **options) -> BvhCaster:
    model, before, after = world
    caster = BvhCaster(Scene(model, exclude="none"), **options)
    caster.pose(before, after)
    return caster


def part(rays: RayBatch, rows) -> RayBatch:
    return RayBatch(*(getattr(rays, f.name)[rows].copy() for f in fields(RayBatch)))


def test_threads_make_no_difference(world, batch_of) -> None:
    rays = batch_of(world[1].world)
    assert_equal(posed(world, threads=1).cast(rays), posed(world, threads=get_num_threads()).cast(rays))


@pytest.mark.parametrize("length", [1, 5, 32, 33, 700])
def test_slicing_makes_no_difference(world, batch_of, length) -> None:
    rays = batch_of(world[1].world)
    caster = posed(world)
    whole = caster.cast(rays)
    for first in range(0, min(len(rays), 40 * length), length):
        rows = slice(first, first + length)
        assert_equal(whole, caster.cast(part(rays, rows)), rows)


def test_order_makes_no_difference(world, batch_of) -> None:
    rays = batch_of(world[1].world)
    caster = posed(world)
    shuffled = np.random.default_rng(9).permutation(len(rays))
    assert_equal(caster.cast(rays), caster.cast(part(rays, shuffled)), shuffled)


def test_packets_and_single_rays_agree(world, batch_of, monkeypatch) -> None:
    rays = batch_of(world[1].world)
    caster = posed(world)
    packed = caster.cast(rays)
    order_of = caster._order.of
    monkeypatch.setattr(caster._order, "of", lambda *given: (order_of(*given)[0], False))
    assert_equal(caster.cast(rays), packed)
    monkeypatch.setattr(caster._order, "of", lambda *given: (order_of(*given)[0], True))
    assert_equal(caster.cast(rays), packed)
