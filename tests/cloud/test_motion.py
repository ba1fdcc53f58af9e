"""Frames and deskew: closed forms of a wall, inverse pairs, and what is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lidar_sim.cloud import FRAMES, accumulate, deskew, to_frame
from lidar_sim.errors import OptionError, TimeError
from lidar_sim.records import PoseTrack, Scan
from lidar_sim.transforms import compose, invert, rotate_vectors

# Double precision over tens of metres and a handful of rotations.
EXACT_M = 1e-11
# What the issue asks of the wall.
FLAT_M = 1e-6
WALL_X_M = 50.0


@pytest.fixture
def scan(world: Any) -> Scan:
    """The second frame of a wall at x = 50 m, scanned while driving and turning."""
    return world.assemble(world.make_beams(3, wall=True))[1]


def flatness(points: np.ndarray) -> float:
    centred = points - points.mean(axis=0)
    return float(np.abs(centred @ np.linalg.svd(centred, full_matrices=False)[2][-1]).max())


def test_a_wall_scanned_while_driving_and_turning_is_flat_again(scan: Scan) -> None:
    assert flatness(scan.points) > 1000 * FLAT_M, "the test must see the skew that it removes"
    assert flatness(deskew(scan).points) < EXACT_M < FLAT_M
    np.testing.assert_allclose(to_frame(scan, "world")["x"], WALL_X_M, rtol=0, atol=EXACT_M)


@pytest.mark.parametrize("share", [0.0, 0.37, 1.0])
def test_deskewed_points_stand_where_the_sensor_of_that_instant_sees_them(world: Any, scan: Scan, share: float) -> None:
    first, last = scan.track.time_ns[[0, -1]]
    at_ns = int(first) + round(share * int(last - first))
    found = deskew(scan, at_ns)
    position, quaternion = world.trajectory(np.array([at_ns]))
    in_world = position + rotate_vectors(quaternion, found.points)
    np.testing.assert_allclose(in_world[:, 0], WALL_X_M, rtol=0, atol=EXACT_M)
    np.testing.assert_allclose(in_world, to_frame(scan, "world").points, rtol=0, atol=EXACT_M)
    assert found.frame == "sensor"
    assert found.info["deskewed_to_ns"] == at_ns


def test_the_default_instant_is_the_stamp(scan: Scan) -> None:
    np.testing.assert_array_equal(deskew(scan).points, deskew(scan, scan.stamp_ns).points)
    earliest = np.argmin(scan["t"])
    assert scan["t"][earliest] == 0
    np.testing.assert_allclose(deskew(scan).points[earliest], scan.points[earliest], rtol=0, atol=EXACT_M)


def test_the_world_frame_is_the_sensors_pose_at_each_points_own_time(world: Any, scan: Scan) -> None:
    position, quaternion = world.trajectory(scan.t_ns)
    expected = position + rotate_vectors(quaternion, scan.points)
    np.testing.assert_allclose(to_frame(scan, "world").points, expected, rtol=0, atol=EXACT_M)


def test_the_body_frame_is_the_mount_and_fits_the_bodys_own_pose(world: Any, scan: Scan) -> None:
    body = to_frame(scan, "body")
    mount_m, mount_q = world.mount[:3], world.mount[3:]
    np.testing.assert_allclose(body.points, mount_m + rotate_vectors(mount_q, scan.points), rtol=0, atol=EXACT_M)
    position, quaternion = compose(*world.trajectory(scan.t_ns), *invert(mount_m, mount_q))
    in_world = position + rotate_vectors(quaternion, body.points)
    np.testing.assert_allclose(in_world, to_frame(scan, "world").points, rtol=0, atol=EXACT_M)


@pytest.mark.parametrize("prepare", [lambda s: s, deskew], ids=["as fired", "deskewed"])
@pytest.mark.parametrize(("a", "b", "c"), list(itertools.product(FRAMES, repeat=3)))
def test_every_way_between_frames_leads_to_the_same_points(scan: Scan, prepare: Any, a: str, b: str, c: str) -> None:
    direct = to_frame(to_frame(prepare(scan), a), c)
    detour = to_frame(to_frame(to_frame(prepare(scan), a), b), c)
    assert direct.frame == detour.frame == c
    np.testing.assert_allclose(direct.points, detour.points, rtol=0, atol=EXACT_M)


@pytest.mark.parametrize("frame", FRAMES)
def test_deskew_takes_a_scan_in_any_frame(scan: Scan, frame: str) -> None:
    found = deskew(to_frame(scan, frame))
    assert found.frame == "sensor"
    np.testing.assert_allclose(found.points, deskew(scan).points, rtol=0, atol=EXACT_M)


def test_deskewing_again_changes_nothing_and_another_instant_is_refused(scan: Scan) -> None:
    at_ns = int(scan.track.time_ns[-1])
    once = deskew(scan, at_ns)
    for again in (deskew(once, at_ns), deskew(once)):
        np.testing.assert_allclose(again.points, once.points, rtol=0, atol=EXACT_M)
    with pytest.raises(TimeError, match=f"already deskewed to {at_ns} ns.* {scan.stamp_ns} ns"):
        deskew(once, scan.stamp_ns)


def test_world_points_of_a_deskewed_scan_are_those_of_the_scan(scan: Scan) -> None:
    at_ns = int(scan.track.time_ns[-1])
    np.testing.assert_allclose(
        to_frame(deskew(scan, at_ns), "world").points, to_frame(scan, "world").points, rtol=0, atol=EXACT_M
    )


def test_only_place_frame_track_and_note_change(scan: Scan) -> None:
    before = {name: values.copy() for name, values in scan.fields.items()}
    for changed in (deskew(scan), to_frame(scan, "world"), to_frame(scan, "body"), to_frame(scan, "sensor")):
        assert changed is not scan
        assert list(changed.fields) == list(scan.fields)
        assert (changed.stamp_ns, changed.frame_number, changed.shape) == (scan.stamp_ns, scan.frame_number, scan.shape)
        for name in set(scan.fields) - set("xyz"):
            np.testing.assert_array_equal(changed[name], before[name])
    for name, values in before.items():
        np.testing.assert_array_equal(scan[name], values)
    assert scan.frame == "sensor"
    assert "deskewed_to_ns" not in scan.info


def test_rows_without_a_return_stay_rows_without_a_return(world: Any) -> None:
    scan = world.assemble(world.make_beams(1), keep_misses=True)[0]
    silent = np.isnan(scan["x"])
    assert 0 < silent.sum() < len(scan)
    for changed in (deskew(scan), to_frame(scan, "world"), to_frame(scan, "body")):
        np.testing.assert_array_equal(np.isnan(changed.points), np.repeat(silent[:, None], 3, axis=1))


def test_a_scan_of_no_points_can_be_moved(world: Any) -> None:
    (empty,) = world.assemble(world.make_beams(1, silent=True))
    for changed in (deskew(empty), to_frame(empty, "world"), to_frame(empty, "body")):
        assert changed.points.shape == (0, 3)


def test_a_sensor_at_rest_can_be_deskewed_to_any_instant(scan: Scan) -> None:
    still = replace(scan, track=PoseTrack(*(getattr(scan.track, name)[:1] for name in PoseTrack.__slots__)))
    found = deskew(still, scan.stamp_ns + 10**12)
    np.testing.assert_allclose(found.points, still.points, rtol=0, atol=EXACT_M)


@pytest.mark.parametrize("end", [0, -1])
def test_an_instant_outside_the_track_is_refused(scan: Scan, end: int) -> None:
    outside = int(scan.track.time_ns[end]) + (1 if end else -1)
    with pytest.raises(TimeError, match=f"{outside} ns.*{scan.track.time_ns[0]} to {scan.track.time_ns[-1]}"):
        deskew(scan, outside)


def test_an_unknown_frame_names_the_valid_ones(scan: Scan) -> None:
    with pytest.raises(OptionError, match=r"'wrold' \(did you mean 'world'\?\); valid: body, sensor, world"):
        to_frame(scan, "wrold")


def test_a_map_stays_in_the_world_frame(scan: Scan) -> None:
    world_map = accumulate([scan])
    assert to_frame(world_map, "world").frame == "world"
    with pytest.raises(OptionError, match="no firing times"):
        to_frame(world_map, "sensor")
    with pytest.raises(OptionError, match="no firing times"):
        deskew(world_map)
