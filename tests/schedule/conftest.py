"""A small pattern whose every value is a closed form of the beam's number, and a track of moving poses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from lidar_sim.records import Firings


@dataclass(frozen=True)
class TinyPattern:
    """Beam k fires at floor(k / beams_at_once) * period_ns, rounded up; origin and direction follow from k."""

    period_ns: float
    beams_at_once: int = 1

    def _times(self, index: np.ndarray) -> np.ndarray:
        return np.ceil(index // self.beams_at_once * self.period_ns).astype(np.int64)

    def index_at(self, time_ns: int) -> int:
        shot = max(0, int(time_ns / self.period_ns) - 2)
        while self._times(np.array([shot * self.beams_at_once]))[0] < time_ns:
            shot += 1
        return shot * self.beams_at_once

    def firings(self, first: int, last: int) -> Firings:
        index = np.arange(first, last, dtype=np.int64)
        azimuth, elevation = 0.01 * index, 0.3 * np.sin(0.1 * index)
        direction = np.stack(
            [np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)], 1
        )
        origin = np.stack([0.03 * np.cos(azimuth), 0.03 * np.sin(azimuth), 0.001 * (index % 7)], 1)
        return Firings(
            index, self._times(index), direction, origin, (index % 7).astype(np.uint16), index // 7, index // 700
        )


TINY_PATTERNS = {
    "single": TinyPattern(2304.0),
    "odd_period": TinyPattern(4166.666),
    "columns": TinyPattern(97656.25, beams_at_once=7),
    "camera": TinyPattern(3_000_000.0, beams_at_once=500),
}


@pytest.fixture(scope="session", params=TINY_PATTERNS.values(), ids=TINY_PATTERNS)
def pattern(request: pytest.FixtureRequest) -> TinyPattern:
    return request.param
