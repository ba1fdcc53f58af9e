"""Frames put together from batches of beams, however the batches were cut."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from lidar_sim.cloud.points import FramePoints
from lidar_sim.cloud.pose_log import PoseLog
from lidar_sim.errors import TimeError
from lidar_sim.records import F64, U16, Firings, Hits, Keyframe, RayBatch, Returns, Scan


class FramePattern(Protocol):
    """What the assembler asks of a pattern."""

    @property
    def ring_to_row(self) -> U16 | None:
        """(rings,) row of the organised view for each ring, None where there is no such view."""

    def frame_start(self, frame: int) -> int:
        """Number of the first beam of a frame."""

    def frame_shape(self, frame: int) -> tuple[int, int] | None:
        """(rows, columns) of the organised view of a frame."""


class Assembler:
    """Gathers beams until a frame is complete, then gives it out as a Scan.

    Args:
        device: name of the device profile.
        sensor: name of the mounted sensor.
        pattern: says where frames begin and which shape they have.
        planar: True for devices that measure depth; their scans have the field ``depth``.
        keep_misses: keep a row for each beam without a return, NaN in what is measured. The truth of such a
            row stays, but ``true_distance`` is NaN where there was no surface at all.
        T_body_sensor: (7,) position m, quaternion w x y z of the sensor in the body that carries it.
        info: copied into every scan.
    """

    def __init__(
        self,
        *,
        device: str,
        sensor: str,
        pattern: FramePattern,
        planar: bool,
        keep_misses: bool,
        T_body_sensor: F64,
        info: Mapping[str, Any],
    ) -> None:
        self._device = device
        self._sensor = sensor
        self._pattern = pattern
        self._planar = planar
        self._keep_misses = keep_misses
        self._T_body_sensor = np.array(T_body_sensor, np.float64)
        self._info = dict(info)
        self.reset()

    def reset(self) -> None:
        """Forget the frame under way and all poses."""
        self._poses = PoseLog()
        self._points: FramePoints | None = None
        self._frame_end = 0
        self._next_beam: int | None = None

    def note_pose(self, keyframe: Keyframe) -> None:
        """Remember the sensor's pose; the poses on both sides of a beam's time must be noted before the beam.

        Raises:
            TimeError: the pose is older than the last.
        """
        self._poses.note(keyframe)

    def add(self, firings: Firings, rays: RayBatch, hits: Hits, returns: Returns) -> list[Scan]:
        """Take the next beams, of any number of frames; give the frames that became complete.

        Args:
            firings: the next N beams.
            rays: the same N, posed.
            hits: what they hit.
            returns: M returns of them, ordered by ``firing``.

        Raises:
            TimeError: beams are missing before these, or no pose was noted.
        """
        scans: list[Scan] = []
        for first, last in _cut_at_frames(firings):
            frame = int(firings.frame[first])
            self._expect(int(firings.index[first]), last - first)
            points = self._points or self._begin(frame, int(firings.index[first]), int(rays.time_ns[first]))
            points.add(firings, rays, hits, returns, *_rows_of_returns(returns, first, last))
            if self._next_beam == self._frame_end:
                scans.append(self._finish(points, frame, int(rays.time_ns[last - 1])))
        return scans

    def _expect(self, beam: int, count: int) -> None:
        if self._next_beam is not None and beam != self._next_beam:
            raise TimeError(f"expected beam {self._next_beam}, found beam {beam}: each beam comes once, in order")
        self._next_beam = beam + count

    def _begin(self, frame: int, beam: int, stamp_ns: int) -> FramePoints:
        self._frame_end = self._pattern.frame_start(frame + 1)
        self._points = FramePoints(self._frame_end - beam, stamp_ns=stamp_ns, keep_misses=self._keep_misses)
        return self._points

    def _finish(self, points: FramePoints, frame: int, last_ns: int) -> Scan:
        self._points = None
        track = self._poses.track(points.stamp_ns, last_ns)
        self._poses.forget_before(last_ns)
        ring_to_row = self._pattern.ring_to_row
        return Scan(
            device=self._device,
            sensor=self._sensor,
            frame_number=frame,
            stamp_ns=points.stamp_ns,
            frame="sensor",
            fields=points.fields(ring_to_row=ring_to_row, planar=self._planar),
            shape=self._pattern.frame_shape(frame) if ring_to_row is not None else None,
            track=track,
            T_body_sensor=self._T_body_sensor.copy(),
            info=dict(self._info),
        )


def _cut_at_frames(firings: Firings) -> Iterator[tuple[int, int]]:
    """First row and row after the last of each frame's part of a batch, in order."""
    frame = firings.frame
    if len(frame) == 0:
        return
    if frame[0] == frame[-1]:
        yield 0, len(frame)
        return
    yield from itertools.pairwise([0, *(np.flatnonzero(np.diff(frame)) + 1).tolist(), len(frame)])


def _rows_of_returns(returns: Returns, first: int, last: int) -> tuple[int, int]:
    """Rows of the returns that answer the batch's firings [first, last)."""
    begin, end = np.searchsorted(returns.firing, [first, last]).tolist()
    return begin, end
