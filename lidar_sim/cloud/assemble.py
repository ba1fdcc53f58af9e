"""Frames put together from batches of beams, however the batches were cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from lidar_sim.cloud.pieces import Piece, cut_at_frames, join
from lidar_sim.cloud.points import point_fields
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
        self._pieces: list[Piece] = []
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
        for piece in cut_at_frames(Piece(firings, rays, hits, returns)):
            self._append(piece)
            if self._next_beam == self._pattern.frame_start(int(piece.firings.frame[0]) + 1):
                scans.append(self._finish())
        return scans

    def _append(self, piece: Piece) -> None:
        first, last = int(piece.firings.index[0]), int(piece.firings.index[-1])
        if self._next_beam is not None and first != self._next_beam:
            raise TimeError(f"expected beam {self._next_beam}, found beam {first}: each beam comes once, in order")
        self._next_beam = last + 1
        self._pieces.append(piece)

    def _finish(self) -> Scan:
        frame = join(self._pieces)
        self._pieces = []
        first_ns, last_ns = int(frame.rays.time_ns[0]), int(frame.rays.time_ns[-1])
        track = self._poses.track(first_ns, last_ns)
        self._poses.forget_before(last_ns)
        number = int(frame.firings.frame[0])
        organised = self._pattern.ring_to_row is not None
        return Scan(
            device=self._device,
            sensor=self._sensor,
            frame_number=number,
            stamp_ns=first_ns,
            frame="sensor",
            fields=point_fields(
                frame,
                stamp_ns=first_ns,
                ring_to_row=self._pattern.ring_to_row,
                planar=self._planar,
                keep_misses=self._keep_misses,
            ),
            shape=self._pattern.frame_shape(number) if organised else None,
            track=track,
            T_body_sensor=self._T_body_sensor.copy(),
            info=dict(self._info),
        )
