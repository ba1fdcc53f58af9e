"""Frames from beams: the same bits however the beams were cut, and every field what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lidar_sim.errors import TimeError
from lidar_sim.fields import FIELDS
from lidar_sim.records import Keyframe

FRAMES = 5


def cuttings(n: int) -> dict[str, list[int]]:
    rng = np.random.default_rng(11)
    return {
        "whole": [],
        "beam by beam": list(range(1, n)),
        "two halves": [n // 2],
        "with empty pieces": [0, 0, 7, 7, 200, 200, n],
        **{f"random {k}": sorted(rng.integers(0, n + 1, size).tolist()) for k, size in enumerate((3, 20, 90))},
    }


@pytest.mark.parametrize("dual", [False, True], ids=["single return", "dual return"])
@pytest.mark.parametrize("keep_misses", [False, True], ids=["returns", "all rows"])
@pytest.mark.parametrize("early_poses", [True, False], ids=["poses first", "poses as time passes"])
def test_the_same_bits_however_the_beams_were_cut(world: Any, dual: bool, keep_misses: bool, early_poses: bool) -> None:
    beams = world.make_beams(FRAMES, dual=dual)
    expected = world.assemble(beams, keep_misses=keep_misses)
    assert [scan.frame_number for scan in expected] == list(range(FRAMES))
    for name, cuts in cuttings(len(beams.firings)).items():
        found = world.assemble(beams, cuts, early_poses=early_poses, keep_misses=keep_misses)
        assert len(found) == FRAMES, name
        for a, b in zip(found, expected, strict=True):
            world.assert_equal(a, b)


def test_a_frame_comes_with_its_last_beam_and_not_before(world: Any) -> None:
    beams = world.make_beams(2)
    assembler = world.make_assembler()
    for keyframe in beams.keyframes:
        assembler.note_pose(keyframe)
    end = world.GridPattern().frame_start(1)
    assert assembler.add(*beams.part(0, end - 1)) == []
    (scan,) = assembler.add(*beams.part(end - 1, end))
    assert scan.frame_number == 0
    assert assembler.add(*beams.part(end, end)) == []


@pytest.mark.parametrize("keep_misses", [False, True])
def test_every_point_is_what_its_beam_and_return_say(world: Any, keep_misses: bool) -> None:
    beams = world.make_beams(3, dual=True)
    scans = world.assemble(beams, keep_misses=keep_misses)
    firings, hits, returns = beams.firings, beams.hits, beams.returns
    chosen = [r for r in range(len(returns)) if keep_misses or returns.valid[r]]
    rows = iter(chosen)
    for scan in scans:
        stamp_ns = world.power_on_ns + firings.time_ns[world.GridPattern().frame_start(scan.frame_number)]
        assert scan.stamp_ns == stamp_ns
        for k in range(len(scan)):
            r = next(rows)
            i = returns.firing[r]
            row = {name: scan[name][k] for name in scan.fields}
            point = firings.origin[i] + returns.direction[r] * returns.distance_m[r]
            np.testing.assert_array_equal([row["x"], row["y"], row["z"]], point)
            assert row["firing"] == i
            assert stamp_ns + int(row["t"]) == beams.rays.time_ns[i] == scan.t_ns[k]
            assert (row["ring"], row["column"]) == (firings.ring[i], firings.column[i])
            assert row["row"] == world.rings - 1 - row["ring"]
            assert (row["geom"], row["body"], row["flex"]) == (hits.geom[i], hits.body[i], hits.flex[i])
            assert row["return_number"] == returns.return_number[r]
            normal = [row[f"normal_{axis}"] for axis in "xyz"]
            np.testing.assert_array_equal(normal, hits.normal[i].astype(np.float32))
            assert row["cos_incidence"] == np.float32(hits.cos_incidence[i])
            if returns.valid[r]:
                assert row["range"] == returns.range_m[r]
                assert row["intensity"] == returns.reflectivity[r]
                assert row["signal"] == returns.signal[r]
                assert row["true_distance"] == hits.distance[i]
            else:
                measured = [row[name] for name in ("x", "y", "z", "range", "intensity", "signal", "true_distance")]
                assert np.isnan(measured).all()
    assert next(rows, None) is None


def test_what_the_device_did_not_report_keeps_its_truth(world: Any) -> None:
    beams = world.make_beams(1, silent=True)
    (scan,) = world.assemble(beams, keep_misses=True)
    assert np.isnan(scan.points).all()
    hit = np.isfinite(beams.hits.distance)
    np.testing.assert_array_equal(scan["true_distance"][hit], beams.hits.distance[hit])
    np.testing.assert_array_equal(scan["geom"], beams.hits.geom)


def test_a_frame_without_any_return_is_a_scan_of_no_points(world: Any) -> None:
    (scan,) = world.assemble(world.make_beams(1, silent=True))
    assert len(scan) == 0
    assert scan.points.shape == (0, 3)
    assert scan.t_ns.shape == (0,)
    assert np.isnan(scan.organized()).all()
    assert scan.organized("range").shape == (world.rings, world.columns)


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("grid", [False, True])
def test_fields_have_the_order_and_types_of_the_one_table(world: Any, planar: bool, grid: bool) -> None:
    pattern = world.GridPattern() if grid else world.FlatPattern()
    (scan,) = world.assemble(world.make_beams(1), pattern=pattern, planar=planar)
    has = {"depth": planar, "row": grid}
    assert list(scan.fields) == [name for name in FIELDS if has.get(name, True)]
    for name, values in scan.fields.items():
        assert values.dtype == np.dtype(FIELDS[name].dtype)
        assert values.shape == (len(scan),)
        assert values.flags.c_contiguous
    assert scan.shape == ((world.rings, world.columns) if grid else None)
    if planar:
        np.testing.assert_array_equal(scan["depth"], scan["x"])


def test_the_organised_view_has_each_point_in_its_cell(world: Any) -> None:
    beams = world.make_beams(1)
    (scan,) = world.assemble(beams)
    grid = scan.organized("firing")
    for row in range(world.rings):
        for column in range(world.columns):
            i = column * world.rings + (world.rings - 1 - row)
            assert grid[row, column] == (i if beams.returns.valid[i] else -1)


def test_the_track_reaches_from_the_pose_before_to_the_pose_after_the_frame(world: Any) -> None:
    beams = world.make_beams(FRAMES)
    all_ns = np.array([keyframe.time_ns for keyframe in beams.keyframes])
    for scan in world.assemble(beams, keep_misses=True):
        first_ns, last_ns = scan.t_ns[0], scan.t_ns[-1]
        expected = all_ns[(all_ns >= all_ns[all_ns <= first_ns].max()) & (all_ns <= all_ns[all_ns >= last_ns].min())]
        np.testing.assert_array_equal(scan.track.time_ns, expected)
        position, quaternion = world.trajectory(expected)
        np.testing.assert_array_equal(scan.track.position, position)
        np.testing.assert_array_equal(scan.track.quaternion, quaternion)


def test_one_pose_is_track_enough_for_a_scene_at_rest(world: Any) -> None:
    beams = world.make_beams(1)
    assembler = world.make_assembler()
    assembler.note_pose(beams.keyframes[1])
    (scan,) = assembler.add(*beams.part(0, len(beams.firings)))
    assert scan.track.time_ns.tolist() == [beams.keyframes[1].time_ns]


def test_memory_does_not_grow_with_simulated_time(world: Any) -> None:
    beams = world.make_beams(40)
    assembler = world.make_assembler()
    waiting = list(beams.keyframes)
    most = 0
    for first in range(0, len(beams.firings), 13):
        last = min(first + 13, len(beams.firings))
        while waiting and waiting[0].time_ns <= beams.rays.time_ns[last - 1] + 17_000:
            assembler.note_pose(waiting.pop(0))
        assembler.add(*beams.part(first, last))
        most = max(most, len(assembler._poses))
    assert most <= world.beams_per_frame * world.beam_ns // 17_000 + 4
    assert assembler._points is None


def test_the_keyframes_arrays_may_be_used_again(world: Any) -> None:
    beams = world.make_beams(1)
    assembler = world.make_assembler()
    position, quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    assembler.note_pose(Keyframe(world.power_on_ns, position, quaternion, None))  # type: ignore[arg-type]
    position += 5.0
    quaternion[:] = np.nan
    (scan,) = assembler.add(*beams.part(0, len(beams.firings)))
    np.testing.assert_array_equal(scan.track.position, [[0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(scan.track.quaternion, [[1.0, 0.0, 0.0, 0.0]])


def test_a_scan_shares_no_memory_with_its_batch_or_with_other_scans(world: Any) -> None:
    beams = world.make_beams(2)
    first, second = world.assemble(beams, keep_misses=True)
    for name in first.fields:
        assert not np.shares_memory(first[name], second[name])
    assert not np.shares_memory(first["firing"], beams.firings.index)
    assert not np.shares_memory(first.T_body_sensor, second.T_body_sensor)
    assert not np.shares_memory(first["x"], first["y"])


def test_the_last_of_two_poses_at_one_instant_counts(world: Any) -> None:
    beams = world.make_beams(1)
    assembler = world.make_assembler()
    at_rest = np.array([1.0, 0.0, 0.0, 0.0])
    for x in (1.0, 2.0):
        assembler.note_pose(Keyframe(world.power_on_ns, np.array([x, 0.0, 0.0]), at_rest, None))  # type: ignore[arg-type]
    (scan,) = assembler.add(*beams.part(0, len(beams.firings)))
    np.testing.assert_array_equal(scan.track.position, [[2.0, 0.0, 0.0]])


def test_beams_that_are_missing_or_come_twice_are_refused(world: Any) -> None:
    beams = world.make_beams(2)
    assembler = world.make_assembler()
    for keyframe in beams.keyframes:
        assembler.note_pose(keyframe)
    assembler.add(*beams.part(0, 10))
    with pytest.raises(TimeError, match="expected beam 10, found beam 12"):
        assembler.add(*beams.part(12, 20))
    with pytest.raises(TimeError, match="expected beam 10, found beam 0"):
        assembler.add(*beams.part(0, 10))


def test_poses_out_of_order_and_beams_without_pose_are_refused(world: Any) -> None:
    beams = world.make_beams(1)
    assembler = world.make_assembler()
    with pytest.raises(TimeError, match="before any pose"):
        assembler.add(*beams.part(0, len(beams.firings)))
    assembler.note_pose(beams.keyframes[2])
    with pytest.raises(TimeError, match=f"{beams.keyframes[1].time_ns} ns .* {beams.keyframes[2].time_ns} ns"):
        assembler.note_pose(beams.keyframes[1])


def test_reset_forgets_the_frame_under_way(world: Any) -> None:
    beams = world.make_beams(1)
    assembler = world.make_assembler()
    assembler.note_pose(beams.keyframes[-1])
    assembler.add(*beams.part(0, 50))
    assembler.reset()
    for keyframe in beams.keyframes:
        assembler.note_pose(keyframe)
    (scan,) = assembler.add(*beams.part(0, len(beams.firings)))
    world.assert_equal(scan, world.assemble(beams)[0])


def test_a_frame_of_its_own_number_can_be_the_first(world: Any) -> None:
    beams = world.make_beams(3)
    assembler = world.make_assembler()
    for keyframe in beams.keyframes:
        assembler.note_pose(keyframe)
    start = world.GridPattern().frame_start(2)
    (scan,) = assembler.add(*beams.part(start, len(beams.firings)))
    world.assert_equal(scan, world.assemble(beams)[2])
