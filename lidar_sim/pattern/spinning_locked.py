"""Spinning scanner whose encoder triggers the columns at fixed angles (Ouster, 2D scanners)."""

from __future__ import annotations

import numpy as np

from lidar_sim.errors import ProfileError
from lidar_sim.pattern.kernels.beams import allocate
from lidar_sim.pattern.kernels.spinning import fire_locked
from lidar_sim.pattern.lasers import rotor_lasers, top_row_first
from lidar_sim.pattern.pattern import checked_beams, checked_frame
from lidar_sim.pattern.rates import LAST_NS, NS_PER_S, ceil_product, fixed_rate, floor_product, rational
from lidar_sim.profile.schema import SpinningLocked
from lidar_sim.records import U16, Firings


class LockedSpinning:
    """Beam = fired column * L + laser; encoder column k of W fires at floor(k / (W * rate)) ns.

    Only the columns of the window fire; a frame is a turn of the encoder. Directions and origins are those of
    Ouster's XYZ formula in the sensor frame (Ouster, Software User Manual, "Lidar Range to XYZ"): the beam leaves
    at radius n along the rotor's azimuth and points along that azimuth plus the row's own offset.

    Args:
        spec: the pattern of a profile.
        seed: not used; this pattern has nothing random.

    Raises:
        ProfileError: a laser fires when the next column has begun.
    """

    def __init__(self, spec: SpinningLocked, seed: int = 0) -> None:
        rate_hz = rational(spec.rate_hz)
        turns_per_ns = rate_hz / NS_PER_S
        self.rows = len(spec.elevation_deg)
        self.ring_to_row: U16 | None = top_row_first(self.rows)
        self.frame_period_ns = float(1 / turns_per_ns)
        self._columns_per_turn = spec.columns_per_turn
        self._first_column = spec.first_column
        self._columns = spec.columns_per_turn if spec.columns is None else spec.columns
        self._ns_per_column = NS_PER_S / (spec.columns_per_turn * rate_hz)
        self._sense = -1.0 if spec.clockwise else 1.0
        self._start_turns = spec.start_azimuth_deg / 360.0
        self._lasers = rotor_lasers(
            spec, -turns_per_ns if spec.clockwise else turns_per_ns, spec.beam_origin_radius_mm * 1e-3
        )
        self._kernel_rate = fixed_rate(self._ns_per_column)
        self._check_fire_times()
        self._end = self.index_at(LAST_NS)

    def index_at(self, time_ns: int) -> int:
        """First beam whose time is >= ``time_ns``."""
        time_ns = max(int(time_ns), 0)
        started = ceil_product(time_ns + 1, 1 / self._ns_per_column) - 1  # last column with time <= time_ns
        turn, encoder = divmod(started, self._columns_per_turn)
        column = encoder - self._first_column
        if column < 0:
            return self.frame_start(turn)
        if column >= self._columns:
            return self.frame_start(turn + 1)
        rest_ns = time_ns - floor_product(started, self._ns_per_column)
        laser = int(np.searchsorted(self._lasers.fire_time_ns, rest_ns, side="left"))
        return (turn * self._columns + column) * self.rows + laser

    def frame_start(self, frame: int) -> int:
        """First beam of turn ``frame``."""
        return checked_frame(frame) * self._columns * self.rows

    def frame_shape(self, frame: int) -> tuple[int, int]:
        """(lasers, columns that fire in a turn)."""
        checked_frame(frame)
        return self.rows, self._columns

    def firings(self, first: int, last: int) -> Firings:
        """Beams [first, last)."""
        first, last = checked_beams(first, last, self._end)
        beams = allocate(last - first)
        fire_locked(
            first,
            last,
            self._lasers,
            self._columns_per_turn,
            self._first_column,
            self._columns,
            self._kernel_rate,
            self._start_turns,
            self._sense,
            beams,
        )
        return Firings(*beams)

    def _check_fire_times(self) -> None:
        column_ns = floor_product(1, self._ns_per_column)
        last_ns = int(self._lasers.fire_time_ns[-1])
        if last_ns >= column_ns:
            raise ProfileError(
                f"the last laser fires {last_ns} ns after its column, the next column follows after {column_ns} ns"
            )
