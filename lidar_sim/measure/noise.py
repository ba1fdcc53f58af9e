"""The device's errors: Gaussian range and angle, constant bias, drop-out."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lidar_sim.errors import OptionError
from lidar_sim.measure import kernels
from lidar_sim.records import F64, I64


class Noise:
    """Errors that depend on the key and the beam's number only: batches, order and threads cannot matter."""

    def __init__(
        self, *, key: int, range_std_m: float, range_bias_m: float, angle_std_deg: float, dropout_ratio: float
    ) -> None:
        """Set the errors.

        Args:
            key: 64 bits, from ``rng.make_key``.
            range_std_m: standard deviation of the range.
            range_bias_m: added to every range.
            angle_std_deg: standard deviation of the beam's direction on each of two square axes.
            dropout_ratio: share of returns that are lost.

        Raises:
            OptionError: the key is not within 64 bits.
        """
        if not 0 <= key < 2**64:
            raise OptionError(f"key must be within 0 and 2**64 - 1, found {key}")
        self._key = np.uint64(key)
        self._range_std_m = range_std_m
        self._range_bias_m = range_bias_m
        self._angle_std_rad = math.radians(angle_std_deg)
        self._dropout_ratio = dropout_ratio

    def disturb_range(self, index: I64, range_m: F64) -> None:
        """Add bias and noise to ranges (N,) of beams (N,) in place, and lose some (+inf); misses stay misses."""
        if self._range_std_m > 0.0 or self._range_bias_m != 0.0:
            kernels.disturb_range(index, self._key, self._range_bias_m, self._range_std_m, range_m)  # type: ignore[no-untyped-call]
        if self._dropout_ratio > 0.0:
            kernels.drop_out(index, self._key, self._dropout_ratio, range_m)  # type: ignore[no-untyped-call]

    def disturb_direction(self, index: I64, valid: npt.NDArray[np.bool_], direction: F64) -> F64:
        """Directions (N, 3) as the device believes them; those of beams without a return stay as they are."""
        if self._angle_std_rad == 0.0:
            return direction
        believed = np.array(direction, np.float64)
        kernels.disturb_direction(index, self._key, self._angle_std_rad, valid, believed)  # type: ignore[no-untyped-call]
        return believed
