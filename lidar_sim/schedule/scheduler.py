"""The scheduler: every beam of an interval exactly once, in order, posed at its own instant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lidar_sim.errors import OptionError, TimeError, unknown_name
from lidar_sim.records import I64, Firings, Keyframe, RayBatch
from lidar_sim.schedule.clock import Clock
from lidar_sim.schedule.kernels import pose_firings

MOTIONS = ("rolling", "frozen")
"""rolling: each beam at the pose of its own time; frozen: a whole interval at the last pose."""


class _Pattern(Protocol):
    def index_at(self, time_ns: int) -> int: ...

    def firings(self, first: int, last: int) -> Firings: ...


@dataclass(slots=True)
class _Stretch:
    """The time between the last two poses, and how much of it was given."""

    clock: Clock
    before: Keyframe
    after: Keyframe
    given_ns: int

    def give(self, t0_ns: int, t1_ns: int) -> None:
        asked = f"[{t0_ns}, {t1_ns}) ns"
        if t1_ns < t0_ns:
            raise TimeError(f"the interval {asked} ends before it begins")
        if t0_ns < self.given_ns:
            raise TimeError(f"the interval {asked} was given already, up to {self.given_ns} ns")
        if t1_ns > self.after.time_ns:
            raise TimeError(f"the interval {asked} reaches beyond the last pose, at {self.after.time_ns} ns")
        if t0_ns > self.given_ns:
            raise TimeError(f"the interval {asked} leaves out the beams of [{self.given_ns}, {t0_ns}) ns")
        self.given_ns = t1_ns


class Scheduler:
    """Turns simulation time into posed beams between the last two poses of one sensor.

    Call ``start`` once, then for each new pose ``add`` and ``due`` over the time in between, in one piece or in
    many: a beam on a border belongs to the interval that begins there.
    """

    def __init__(self, pattern: _Pattern, *, motion: str = "rolling", max_beams: int = 262144) -> None:
        """Schedule the beams of a pattern.

        Args:
            pattern: gives the number of beams before a sensor time, and the beams of a range.
            motion: one of ``MOTIONS``.
            max_beams: longest piece that ``due`` and ``at`` give; bounds the memory.

        Raises:
            OptionError: an unknown motion, or ``max_beams`` below 1.
        """
        if motion not in MOTIONS:
            raise OptionError(unknown_name("motion", motion, MOTIONS))
        if max_beams < 1:
            raise OptionError(f"max_beams must be at least 1, found {max_beams}")
        self._pattern = pattern
        self._frozen = motion == "frozen"
        self._max_beams = max_beams
        self._stretch: _Stretch | None = None

    def start(self, keyframe: Keyframe) -> None:
        """Power on at ``keyframe.time_ns`` (sensor time 0); forgets everything before."""
        self._stretch = _Stretch(Clock(keyframe.time_ns), keyframe, keyframe, keyframe.time_ns)

    def add(self, keyframe: Keyframe) -> None:
        """Take the next pose; ``due`` may now reach up to its time.

        Raises:
            TimeError: not started, time does not increase, or beams before the last pose were never asked for.
        """
        stretch = self._powered()
        last = stretch.after
        if keyframe.time_ns <= last.time_ns:
            raise TimeError(
                f"simulation time must increase: {keyframe.time_ns} ns came after {last.time_ns} ns; "
                "where the simulation was reset, call the sensor's reset() too"
            )
        if stretch.given_ns < last.time_ns:
            raise TimeError(
                f"the beams of [{stretch.given_ns}, {last.time_ns}) ns were not asked for before the pose at "
                f"{keyframe.time_ns} ns came"
            )
        stretch.before, stretch.after = last, keyframe

    def poses(self) -> tuple[Keyframe, ...]:
        """What a pose track must hold of the time between the last two poses, so that it poses the beams as we do.

        Rolling: the last pose. Frozen: the last pose at the interval's first and last instant, for a track
        interpolates and these beams do not.

        Raises:
            TimeError: not started.
        """
        before, after = self._powered().before, self._powered().after
        if not self._frozen or before is after:
            return (after,)
        return replace(after, time_ns=before.time_ns), replace(after, time_ns=after.time_ns - 1)

    def due(self, t0_ns: int, t1_ns: int) -> Iterator[tuple[Firings, RayBatch]]:
        """The beams fired in [t0_ns, t1_ns), each exactly once however time is sliced.

        Args:
            t0_ns: ns of simulation time: where the last interval ended, or power-on.
            t1_ns: ns of simulation time, at most that of the last pose.

        Returns:
            Pieces of at most ``max_beams``, in order, none of them empty; world frame, phase between the last
            two poses (1 for all beams when frozen). The interval counts as given at once, whether the pieces are
            fetched or not.

        Raises:
            TimeError: not started; an interval given already, leaving beams out, or outside the last two poses.
        """
        stretch = self._powered()
        stretch.give(t0_ns, t1_ns)
        first, last = (self._pattern.index_at(stretch.clock.to_sensor(time_ns)) for time_ns in (t0_ns, t1_ns))
        if self._frozen:
            return self._pieces(first, last, stretch.clock, stretch.after, stretch.after, held_phase=1.0)
        return self._pieces(first, last, stretch.clock, stretch.before, stretch.after)

    def at(self, keyframe: Keyframe, first: int, last: int) -> Iterator[tuple[Firings, RayBatch]]:
        """Beams [first, last) in a scene at rest: all at the pose of one keyframe, phase 0.

        Independent of ``start``, ``add`` and ``due``.

        Args:
            keyframe: the pose; its time is that of beam ``first``.
            first: number of the first beam since power-on.
            last: one past the last.

        Returns:
            Pieces of at most ``max_beams``, in order, none of them empty.

        Raises:
            OptionError: a range that is negative.
        """
        if not 0 <= first <= last:
            raise OptionError(f"beams [{first}, {last}) are no range: 0 <= first <= last")
        if first == last:
            return iter(())
        start_ns = int(self._pattern.firings(first, first + 1).time_ns[0])
        return self._pieces(first, last, Clock(keyframe.time_ns - start_ns), keyframe, keyframe)

    def _pieces(
        self, first: int, last: int, clock: Clock, before: Keyframe, after: Keyframe, held_phase: float = 0.0
    ) -> Iterator[tuple[Firings, RayBatch]]:
        for begin in range(first, last, self._max_beams):
            firings = self._pattern.firings(begin, min(begin + self._max_beams, last))
            yield firings, _pose(firings, clock.to_simulation(firings.time_ns), before, after, held_phase)

    def _powered(self) -> _Stretch:
        if self._stretch is None:
            raise TimeError("the scheduler has no pose yet: call start() with the first keyframe")
        return self._stretch


def _pose(firings: Firings, time_ns: I64, before: Keyframe, after: Keyframe, held_phase: float) -> RayBatch:
    origin, direction = np.empty((len(firings), 3)), np.empty((len(firings), 3))
    phase = np.empty(len(firings))
    pose_firings(  # type: ignore[no-untyped-call]
        time_ns,
        firings.origin,
        firings.direction,
        before.time_ns,
        after.time_ns - before.time_ns,
        held_phase,
        before.position,
        before.quaternion,
        after.position,
        after.quaternion,
        origin,
        direction,
        phase,
    )
    return RayBatch(origin, direction, time_ns, phase)
