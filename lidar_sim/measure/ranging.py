"""The device's range scale: what it counts, from where, in which unit, between which limits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lidar_sim.measure import kernels
from lidar_sim.records import F64

# k * resolution can miss the same number written in decimals by rounding; far below any unit, far above rounding.
_SLACK_UNITS = 1e-6


class RangeScale:
    """From distances along the beam to the device's ranges, and back; +inf is nothing."""

    def __init__(self, *, min_m: float, max_m: float, resolution_m: float, offset_m: float, planar: bool) -> None:
        """Set the scale.

        Args:
            min_m: shortest range that is reported; what is nearer blocks the beam.
            max_m: longest range that is reported.
            resolution_m: unit of the reported range; 0 = none.
            offset_m: added to the distance (a device that counts from its axis, not from the beam's origin).
            planar: count depth along the optical axis (x of the sensor frame) instead of distance along the ray.
        """
        self._resolution_m = resolution_m
        self._min_m = min_m - _SLACK_UNITS * resolution_m
        self._max_m = max_m + _SLACK_UNITS * resolution_m
        self._offset_m = offset_m
        self._planar = planar

    def to_range(self, distance_m: F64, direction: F64) -> F64:
        """Ranges (N,) m of distances (N,) m along unit directions (N, 3), sensor frame; a new array."""
        range_m = np.empty(len(distance_m))
        kernels.range_of(distance_m, direction, self._planar, self._offset_m, range_m)  # type: ignore[no-untyped-call]
        return range_m

    def to_distance(self, range_m: F64, direction: F64) -> F64:
        """Inverse of ``to_range``; NaN stays."""
        distance_m = np.empty(len(range_m))
        kernels.distance_of(range_m, direction, self._planar, self._offset_m, distance_m)  # type: ignore[no-untyped-call]
        return distance_m

    def quantise(self, range_m: F64) -> None:
        """Round ranges (N,) in place to whole multiples of the unit, halves up."""
        if self._resolution_m > 0.0:
            kernels.quantise(self._resolution_m, range_m)  # type: ignore[no-untyped-call]

    def limit(self, range_m: F64) -> npt.NDArray[np.bool_]:
        """Which ranges (N,) are within the limits, both included; the others become NaN in place."""
        valid = np.empty(len(range_m), np.bool_)
        kernels.within(range_m, self._min_m, self._max_m, valid)  # type: ignore[no-untyped-call]
        return valid
