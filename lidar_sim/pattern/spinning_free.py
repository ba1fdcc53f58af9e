"""Spinning scanner whose motor runs freely while the lasers keep their own clock (Velodyne, Hesai, RoboSense)."""

from __future__ import annotations

import numpy as np

from lidar_sim.pattern.kernels.beams import allocate
from lidar_sim.pattern.kernels.spinning import fire_free
from lidar_sim.pattern.lasers import rotor_lasers, top_row_first
from lidar_sim.pattern.pattern import checked_beams, checked_frame
from lidar_sim.pattern.rates import (
    LAST_NS,
    NS_PER_MINUTE,
    ceil_product,
    fixed_rate,
    floor_product,
    rational,
)
from lidar_sim.profile.schema import SpinningFree
from lidar_sim.records import U16, Firings


class FreeSpinning:
    """Beam = sequence * L + laser, fired at sequence * cycle + fire time of the laser.

    The azimuth follows from each beam's own time at constant speed. A frame is a revolution: a sequence belongs
    to the revolution in which it starts, so the number of sequences differs from one to the next (VLP-16 at
    600 rpm: 1808 or 1809).

    Args:
        spec: the pattern of a profile.
        seed: not used; this pattern has nothing random.
    """

    def __init__(self, spec: SpinningFree, seed: int = 0) -> None:
        turns_per_ns = rational(spec.rpm) / NS_PER_MINUTE
        self.rows = len(spec.elevation_deg)
        self.ring_to_row: U16 | None = top_row_first(self.rows)
        self.frame_period_ns = float(1 / turns_per_ns)
        self._cycle_ns = spec.cycle_ns
        self._turns_per_sequence = spec.cycle_ns * turns_per_ns
        self._sense = -1.0 if spec.clockwise else 1.0
        self._start_turns = spec.start_azimuth_deg / 360.0
        self._lasers = rotor_lasers(spec, -turns_per_ns if spec.clockwise else turns_per_ns)
        self._kernel_rate = fixed_rate(self._turns_per_sequence)
        self._end = self.index_at(LAST_NS)

    def index_at(self, time_ns: int) -> int:
        """First beam whose time is >= ``time_ns``."""
        sequence, rest_ns = divmod(max(int(time_ns), 0), self._cycle_ns)
        return sequence * self.rows + int(np.searchsorted(self._lasers.fire_time_ns, rest_ns, side="left"))

    def frame_start(self, frame: int) -> int:
        """First beam of the first sequence that starts in revolution ``frame``."""
        return self.rows * self._first_sequence(checked_frame(frame))

    def frame_shape(self, frame: int) -> tuple[int, int]:
        """(lasers, sequences that start in revolution ``frame``)."""
        frame = checked_frame(frame)
        return self.rows, self._first_sequence(frame + 1) - self._first_sequence(frame)

    def firings(self, first: int, last: int) -> Firings:
        """Beams [first, last)."""
        first, last = checked_beams(first, last, self._end)
        beams = allocate(last - first)
        frame = floor_product(first // self.rows, self._turns_per_sequence)
        fire_free(
            first,
            last,
            self._lasers,
            self._cycle_ns,
            self._kernel_rate,
            self._start_turns,
            self._sense,
            self._first_sequence(frame),
            beams,
        )
        return Firings(*beams)

    def _first_sequence(self, frame: int) -> int:
        return ceil_product(frame, 1 / self._turns_per_sequence)
