"""The sensor's poses of the frame under way; older ones are forgotten."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np

from lidar_sim.errors import TimeError
from lidar_sim.records import F64, Keyframe, PoseTrack


class PoseLog:
    """Poses in order of time, from which the track of a frame is cut."""

    def __init__(self) -> None:
        self._time_ns: list[int] = []
        self._position: list[F64] = []
        self._quaternion: list[F64] = []

    def __len__(self) -> int:
        return len(self._time_ns)

    def note(self, keyframe: Keyframe) -> None:
        """Add the next pose; one at the same instant as the last takes its place.

        Raises:
            TimeError: the pose is older than the last.
        """
        if self._time_ns and keyframe.time_ns < self._time_ns[-1]:
            raise TimeError(f"a pose at {keyframe.time_ns} ns cannot follow one at {self._time_ns[-1]} ns")
        if self._time_ns and keyframe.time_ns == self._time_ns[-1]:
            self._drop(slice(-1, None))
        self._time_ns.append(int(keyframe.time_ns))
        self._position.append(np.array(keyframe.position, np.float64))
        self._quaternion.append(np.array(keyframe.quaternion, np.float64))

    def track(self, first_ns: int, last_ns: int) -> PoseTrack:
        """From the last pose at or before ``first_ns`` to the first at or after ``last_ns``, where there are such.

        Raises:
            TimeError: no pose was noted.
        """
        if not self._time_ns:
            raise TimeError("beams came before any pose of the sensor was noted")
        first = max(bisect_right(self._time_ns, first_ns) - 1, 0)
        last = max(bisect_left(self._time_ns, last_ns) + 1, first + 1)
        return PoseTrack(
            time_ns=np.array(self._time_ns[first:last], np.int64),
            position=np.array(self._position[first:last]),
            quaternion=np.array(self._quaternion[first:last]),
        )

    def forget_before(self, time_ns: int) -> None:
        """Drop what no track from ``time_ns`` on can need."""
        self._drop(slice(0, max(bisect_right(self._time_ns, time_ns) - 1, 0)))

    def _drop(self, which: slice) -> None:
        del self._time_ns[which], self._position[which], self._quaternion[which]
