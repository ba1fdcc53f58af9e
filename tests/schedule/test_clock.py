"""Nanoseconds: whole, nearest, refused where they would not be true."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lidar_sim.errors import TimeError
from lidar_sim.schedule import Clock, simulation_ns


@pytest.mark.parametrize(("timestep_s", "step_ns"), [(0.002, 2_000_000), (0.001, 1_000_000), (1e-5, 10_000)])
def test_summed_steps_stay_on_the_grid(timestep_s, step_ns) -> None:
    time_s = 0.0
    for step in range(1, 10_001):
        time_s += timestep_s
        if step % 97 == 0:
            assert simulation_ns(time_s) == step * step_ns


@pytest.mark.parametrize(
    ("time_s", "time_ns"), [(0.0, 0), (-1.5, -(15 * 10**8)), (1.4e-9, 1), (1.6e-9, 2), (9e9, 9 * 10**18)]
)
def test_rounds_to_the_nearest(time_s, time_ns) -> None:
    assert simulation_ns(time_s) == time_ns


@pytest.mark.parametrize("time_s", [math.nan, math.inf, -math.inf, 9.3e9, 1e300])
def test_refuses_what_is_no_time(time_s) -> None:
    with pytest.raises(TimeError, match="is not a number of nanoseconds"):
        simulation_ns(time_s)


def test_sensor_time_and_simulation_time_are_inverse() -> None:
    clock = Clock(123_456_789)
    assert clock.to_sensor(123_456_789) == 0
    np.testing.assert_array_equal(clock.to_simulation(np.array([0, 7])), [123_456_789, 123_456_796])
    assert clock.to_sensor(int(clock.to_simulation(np.array([99]))[0])) == 99
