"""Points carried between frames: sensor, body, world, and the sensor at one instant (deskew)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lidar_sim.errors import OptionError, TimeError, unknown_name
from lidar_sim.records import F64, I64, PoseTrack, Scan
from lidar_sim.transforms import interpolate_poses, invert, rotate_vectors

FRAMES = ("sensor", "body", "world")

_DESKEWED = "deskewed_to_ns"


def to_frame(scan: Scan, frame: str) -> Scan:
    """The same points in another frame, each by the sensor's pose at its own firing time.

    Any frame can follow any other, and back. Normals stay in the world frame, ``range`` and ``depth`` as the
    device reported them.

    Args:
        scan: in any frame.
        frame: "sensor", "body" (the body that carries the sensor, at each point's own time) or "world".

    Raises:
        OptionError: another frame, or a map, which has no firing times.
    """
    if frame not in FRAMES:
        raise OptionError(unknown_name("frame", frame, FRAMES))
    if frame == scan.frame:
        return replace(scan)
    in_sensor = _TO_SENSOR[scan.frame](scan)
    return _with_points(scan, _FROM_SENSOR[frame](scan, in_sensor), frame)


def deskew(scan: Scan, at_ns: int | None = None) -> Scan:
    """All points in the sensor frame of one instant, as if the sensor had not moved during the frame.

    The default is the scan's stamp, the instant for which recordings give the pose and PCD the viewpoint. The
    track of the result is the pose at that instant alone, and ``info["deskewed_to_ns"]`` names it, so that
    ``to_frame`` stays right afterwards; the firing times stay. The scene is taken to be at rest.

    Args:
        scan: in any frame.
        at_ns: ns of simulation time within the scan's track, None = its stamp.

    Raises:
        TimeError: an instant outside the track, or another one than a scan was already deskewed to.
        OptionError: a map, which has no firing times.
    """
    _check_firing_times(scan)
    instant_ns = _checked_instant(scan, scan.info.get(_DESKEWED, scan.stamp_ns) if at_ns is None else int(at_ns))
    world = to_frame(scan, "world")
    position, quaternion = _poses_at(scan.track, np.array([instant_ns], np.int64))
    points = _moved(*invert(position, quaternion), world.points)
    return replace(
        _with_points(scan, points, "sensor"),
        track=PoseTrack(np.array([instant_ns], np.int64), position, quaternion),
        info={**scan.info, _DESKEWED: instant_ns},
    )


def _check_firing_times(scan: Scan) -> None:
    if "t" not in scan.fields:
        raise OptionError(f"a map of {scan.device} has no firing times; it stays in the {scan.frame} frame")


def _checked_instant(scan: Scan, at_ns: int) -> int:
    done = scan.info.get(_DESKEWED)
    if done is not None and done != at_ns:
        raise TimeError(f"this scan is already deskewed to {done} ns; deskew the original one to {at_ns} ns")
    times = scan.track.time_ns
    # One pose is a sensor at rest; it holds at all times.
    if len(times) > 1 and not times[0] <= at_ns <= times[-1]:
        raise TimeError(f"cannot deskew to {at_ns} ns: the scan's poses reach from {times[0]} to {times[-1]} ns")
    return at_ns


def _poses_at(track: PoseTrack, time_ns: I64) -> tuple[F64, F64]:
    return interpolate_poses(track.time_ns, track.position, track.quaternion, time_ns)


def _sensor_in_world(scan: Scan) -> tuple[F64, F64]:
    """Pose (N, 3) m and (N, 4) of the sensor at each point's firing time; (1, 3) and (1, 4) for a single pose."""
    _check_firing_times(scan)
    if len(scan.track.time_ns) == 1:
        return scan.track.position, scan.track.quaternion
    return _poses_at(scan.track, scan.t_ns)


def _sensor_in_body(scan: Scan) -> tuple[F64, F64]:
    return scan.T_body_sensor[None, :3], scan.T_body_sensor[None, 3:]


def _moved(position: F64, quaternion: F64, points: F64) -> F64:
    return position + rotate_vectors(quaternion, points)


_TO_SENSOR: dict[str, Callable[[Scan], F64]] = {
    "sensor": lambda scan: scan.points,
    "body": lambda scan: _moved(*invert(*_sensor_in_body(scan)), scan.points),
    "world": lambda scan: _moved(*invert(*_sensor_in_world(scan)), scan.points),
}

_FROM_SENSOR: dict[str, Callable[[Scan, F64], F64]] = {
    "sensor": lambda scan, points: points,
    "body": lambda scan, points: _moved(*_sensor_in_body(scan), points),
    "world": lambda scan, points: _moved(*_sensor_in_world(scan), points),
}


def _with_points(scan: Scan, points: F64, frame: str) -> Scan:
    axes = {axis: np.ascontiguousarray(points[:, i]) for i, axis in enumerate("xyz")}
    return replace(scan, frame=frame, fields={**scan.fields, **axes})
