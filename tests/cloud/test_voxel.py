"""Maps: against a slow dictionary, and the invariants of one point a voxel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lidar_sim.cloud import VoxelMap, accumulate, to_frame
from lidar_sim.cloud.voxel import KEEP
from lidar_sim.errors import OptionError
from lidar_sim.records import Scan

VOXEL_M = 7.0
# Sums of up to hundreds of coordinates of tens of metres.
MEAN_M = 1e-11


@pytest.fixture(scope="module")
def scans(world: Any) -> list[Scan]:
    return world.assemble(world.make_beams(6), keep_misses=True)


def by_dictionary(scans: list[Scan], voxel_m: float) -> tuple[list[list[np.ndarray]], list[int]]:
    """Points of each voxel in the order of their coming, and the firing number of the first."""
    points: dict[tuple[int, ...], list[np.ndarray]] = {}
    firing: dict[tuple[int, ...], int] = {}
    for scan in scans:
        world = to_frame(scan, "world")
        for point, number in zip(world.points, world["firing"], strict=True):
            if np.isnan(point).any():
                continue
            key = tuple(int(np.floor(c / voxel_m)) for c in point)
            points.setdefault(key, []).append(point)
            firing.setdefault(key, int(number))
    return list(points.values()), list(firing.values())


@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("voxel_m", [0.01, VOXEL_M, 1e3])
def test_a_map_is_what_a_dictionary_makes_of_the_points(scans: list[Scan], keep: str, voxel_m: float) -> None:
    points, firing = by_dictionary(scans, voxel_m)
    found = accumulate(scans, voxel_m, keep=keep)
    np.testing.assert_array_equal(found["firing"], firing)
    if keep == "first":
        np.testing.assert_array_equal(found.points, [group[0] for group in points])
    else:
        expected = [np.mean(group, axis=0) for group in points]
        np.testing.assert_allclose(found.points, expected, rtol=0, atol=MEAN_M)


def test_the_dictionary_test_sees_crowded_voxels_and_both_signs(scans: list[Scan]) -> None:
    points, _ = by_dictionary(scans, VOXEL_M)
    assert max(map(len, points)) > 1
    world = accumulate(scans)
    assert all(world[axis].min() < 0 < world[axis].max() for axis in "yz")


@pytest.mark.parametrize("keep", KEEP)
def test_a_grown_map_and_an_accumulated_one_are_equal_bit_for_bit(scans: list[Scan], keep: str) -> None:
    grown = VoxelMap(VOXEL_M, keep=keep)
    sizes = []
    for scan in scans:
        grown.add(scan)
        sizes.append(len(grown))
    assert sizes == sorted(sizes)
    found, expected = grown.scan(), accumulate(scans, VOXEL_M, keep=keep)
    assert len(grown) == len(found)
    for name in expected.fields:
        np.testing.assert_array_equal(found[name], expected[name])


def test_adding_a_scan_again_changes_nothing(scans: list[Scan]) -> None:
    once, twice = accumulate(scans, VOXEL_M), accumulate([*scans, *scans, scans[2]], VOXEL_M)
    for name in once.fields:
        np.testing.assert_array_equal(once[name], twice[name])


def test_a_thinned_map_thinned_again_is_itself(scans: list[Scan]) -> None:
    once = accumulate(scans, VOXEL_M)
    again = accumulate([once], VOXEL_M)
    for name in once.fields:
        np.testing.assert_array_equal(once[name], again[name])


@pytest.mark.parametrize("keep", KEEP)
def test_no_voxel_holds_two_points(scans: list[Scan], keep: str) -> None:
    found = accumulate(scans, VOXEL_M, keep=keep)
    voxels = np.floor(found.points / VOXEL_M)
    assert len(np.unique(voxels, axis=0)) == len(found)


def test_the_table_grows_past_its_first_size(scans: list[Scan]) -> None:
    n = 100_000
    rng = np.random.default_rng(2)
    points = rng.uniform(-40, 40, (n, 3))
    many = replace(
        to_frame(scans[0], "world"),
        fields={"firing": np.arange(n), **dict(zip("xyz", points.T.copy(), strict=True))},
    )
    found = VoxelMap(0.5)
    for rows in np.array_split(np.arange(n), 7):
        found.add(replace(many, fields={name: values[rows] for name, values in many.fields.items()}))
    first = np.sort(np.unique(np.floor(points / 0.5), axis=0, return_index=True)[1])
    np.testing.assert_array_equal(found.scan()["firing"], first)


def test_without_a_voxel_all_returns_are_kept_in_order(scans: list[Scan]) -> None:
    found = accumulate(iter(scans))
    expected = np.concatenate([to_frame(scan, "world").points for scan in scans])
    np.testing.assert_array_equal(found.points, expected[~np.isnan(expected[:, 0])])


def test_a_map_is_a_scan_in_the_world_frame_without_what_belongs_to_one_frame(scans: list[Scan]) -> None:
    found = accumulate(scans, VOXEL_M)
    assert found.frame == "world"
    assert found.shape is None
    assert (found.device, found.stamp_ns) == (scans[0].device, scans[0].stamp_ns)
    assert list(found.fields) == [name for name in scans[0].fields if name not in ("t", "row", "column")]
    for name in found.fields:
        assert found[name].dtype == scans[0][name].dtype


def test_scans_of_different_devices_share_the_fields_they_have_in_common(scans: list[Scan]) -> None:
    fewer = replace(scans[1], fields={name: v for name, v in scans[1].fields.items() if name != "signal"})
    for order in ([scans[0], fewer], [fewer, scans[0]]):
        found = accumulate(order)
        assert "signal" not in found.fields
        assert {len(values) for values in found.fields.values()} == {len(found)}


def test_a_map_does_not_share_memory_with_its_scans(scans: list[Scan]) -> None:
    world = to_frame(scans[0], "world")
    finite = replace(world, fields={n: v[np.isfinite(world["x"])] for n, v in world.fields.items()}, shape=None)
    found = accumulate([finite])
    assert not any(np.shares_memory(found[name], finite[name]) for name in found.fields)


def test_scans_without_returns_give_an_empty_map(world: Any) -> None:
    (empty,) = world.assemble(world.make_beams(1, silent=True))
    for keep in KEEP:
        assert len(accumulate([empty, empty], 0.1, keep=keep)) == 0
    assert len(accumulate([empty])) == 0


@pytest.mark.parametrize("voxel_m", [0.0, -1.0, float("nan"), float("inf")])
def test_an_edge_that_is_not_positive_is_refused(voxel_m: float) -> None:
    with pytest.raises(OptionError, match="voxel_m must be a positive number"):
        VoxelMap(voxel_m)


def test_an_unknown_choice_and_an_empty_map_are_refused() -> None:
    with pytest.raises(OptionError, match="did you mean 'centroid'"):
        VoxelMap(0.1, keep="centroyd")
    with pytest.raises(OptionError, match="at least one scan"):
        accumulate([])
    with pytest.raises(OptionError, match="at least one scan"):
        VoxelMap(0.1).scan()


def test_points_beyond_the_reach_of_the_index_are_refused_and_the_map_stays(scans: list[Scan]) -> None:
    found = VoxelMap(1e-5)
    with pytest.raises(OptionError, match="1048576 voxels each way"):
        found.add(scans[0])
    assert len(found) == 0
    with pytest.raises(OptionError, match="at least one scan"):
        found.scan()
