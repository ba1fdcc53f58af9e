"""Rays that no caster can follow."""

from __future__ import annotations

import math
from typing import Any

from lidar_sim.jit import jit


@jit
def first_unfit(origin, direction, tolerance) -> Any:
    """Row of the first ray that is not finite or whose direction is not of unit length; -1 = all are fit.

    Args:
        origin: (N, 3) f64.
        direction: (N, 3) f64.
        tolerance: allowed difference of the squared length from 1.
    """
    for i in range(len(origin)):
        length = direction[i, 0] ** 2 + direction[i, 1] ** 2 + direction[i, 2] ** 2
        place = origin[i, 0] + origin[i, 1] + origin[i, 2]
        if not (abs(length - 1.0) <= tolerance and math.isfinite(place)):
            return i
    return -1
