"""What every pattern can do, and the checks that all of them share."""

from __future__ import annotations

from typing import Protocol

from lidar_sim.errors import OptionError
from lidar_sim.records import U16, Firings


class Pattern(Protocol):
    """Where and when the beams of a device fire, in the sensor frame (x forward, y left, z up).

    Beams are numbered from power-on, one number per beam, in order of non-decreasing time; sensor time 0 is
    power-on. Everything is computed from the number: any range costs the same, however late.
    """

    rows: int
    """Number of rings: laser rows, image rows, or lasers of a pattern without rows."""
    ring_to_row: U16 | None
    """(rows,) row of the organised view (0 = top) of each ring; None for patterns without rows."""
    frame_period_ns: float
    """Nominal ns from frame to frame."""

    def index_at(self, time_ns: int) -> int:
        """Number of beams fired strictly before a sensor time: the first beam whose time is >= ``time_ns``."""
        ...

    def frame_start(self, frame: int) -> int:
        """First beam of a frame, which ends before the first beam of the next one.

        Raises:
            OptionError: ``frame`` is negative.
        """
        ...

    def frame_shape(self, frame: int) -> tuple[int, int] | None:
        """(rows, columns) of the organised view of that frame; None for patterns without rows."""
        ...

    def firings(self, first: int, last: int) -> Firings:
        """Beams [first, last).

        Raises:
            OptionError: ``first`` is negative or greater than ``last``, or the time does not fit int64 ns.
        """
        ...


def checked_beams(first: int, last: int, end: int) -> tuple[int, int]:
    """The range of beams as plain integers, if it lies within [0, end).

    Raises:
        OptionError: it does not.
    """
    if not 0 <= first <= last <= end:
        raise OptionError(f"beams [{first}, {last}) are not a range within [0, {end})")
    return int(first), int(last)


def checked_frame(frame: int) -> int:
    """The number of a frame as a plain integer, so that products with it cannot overflow.

    Raises:
        OptionError: it is negative.
    """
    if frame < 0:
        raise OptionError(f"frames are numbered from 0, found {frame}")
    return int(frame)
