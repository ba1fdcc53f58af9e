"""Simulation time in whole nanoseconds, the sensor's own time since power-on, the way between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lidar_sim.errors import TimeError
from lidar_sim.records import I64

_NS_PER_S = 1e9
_MAX_NS = 2**63 - 1


def simulation_ns(time_s: float) -> int:
    """MuJoCo's ``data.time`` as whole nanoseconds, rounded to the nearest.

    Args:
        time_s: s.

    Raises:
        TimeError: not finite, or beyond what int64 nanoseconds can hold (292 years).
    """
    time_ns = time_s * _NS_PER_S
    if not math.isfinite(time_ns) or abs(time_ns) >= _MAX_NS:
        raise TimeError(f"simulation time {time_s!r} s is not a number of nanoseconds within +-292 years")
    return round(time_ns)


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a sensor that was powered on at one instant of simulation time."""

    power_on_ns: int
    """ns of simulation time at which sensor time is 0."""

    def to_sensor(self, simulation_time_ns: int) -> int:
        """Sensor time (ns since power-on) of an instant of simulation time (ns)."""
        return simulation_time_ns - self.power_on_ns

    def to_simulation(self, sensor_time_ns: I64) -> I64:
        """Simulation times (N,) ns of sensor times (N,) ns since power-on."""
        return sensor_time_ns + self.power_on_ns
