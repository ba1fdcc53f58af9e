"""From the truth of a batch of beams to what the device reports: the order of its errors and limits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lidar_sim.errors import OptionError
from lidar_sim.measure.noise import Noise
from lidar_sim.measure.radiometry import Radiometry
from lidar_sim.measure.ranging import RangeScale
from lidar_sim.profile.schema import NoiseSpec, RangeSpec
from lidar_sim.records import F64, Firings, Hits, Returns


class Measurement:
    """One device's way of measuring, in this order.

    1. The true range: distance from the beam's origin, or planar depth, plus the device's offset.
    2. Bias and Gaussian noise; drop-out. Misses stay misses.
    3. Quantisation to the device's unit, halves up.
    4. The limits, on that value: nearer than the minimum blocks the beam, and gives nothing; farther than the
       maximum gives nothing.
    5. The angular error of the direction, of valid returns only.

    Without noise only 1 and 4 remain: ranges and directions are the truth, to the last bit.
    """

    def __init__(
        self, range_spec: RangeSpec, noise_spec: NoiseSpec, *, key: int, noise: bool, geom_reflectivity: F64
    ) -> None:
        """Set up one mounted sensor.

        Args:
            range_spec: limits, unit and zero of the range.
            noise_spec: the errors.
            key: of this sensor's random numbers, from ``rng.make_key``.
            noise: False gives the truth.
            geom_reflectivity: (ngeom,) 0..1.

        Raises:
            OptionError: a key beyond 64 bits.
            ModelError: reflectivities that are not one number in 0..1 for each geom.
        """
        self._scale = RangeScale(
            min_m=range_spec.min_m,
            max_m=range_spec.max_m,
            resolution_m=range_spec.resolution_m if noise else 0.0,
            offset_m=range_spec.offset_m,
            planar=range_spec.planar,
        )
        self._noise = Noise(
            key=key,
            range_std_m=noise_spec.range_std_m,
            range_bias_m=noise_spec.range_bias_m,
            angle_std_deg=noise_spec.angle_std_deg,
            dropout_ratio=noise_spec.dropout_ratio,
        )
        self._with_noise = noise
        self._radiometry = Radiometry(geom_reflectivity)

    def measure(self, firings: Firings, hits: Hits) -> Returns:
        """What the device reports of N beams: one row for each, in their order.

        Args:
            firings: the N beams, sensor frame.
            hits: what they hit.

        Raises:
            OptionError: another number of hits than of firings.
            ModelError: a geom without a reflectivity.
        """
        if len(firings) != len(hits):
            raise OptionError(f"{len(firings)} firings cannot have {len(hits)} hits")
        range_m = self._scale.to_range(hits.distance, firings.direction)
        if self._with_noise:
            self._noise.disturb_range(firings.index, range_m)
            self._scale.quantise(range_m)
        valid = self._scale.limit(range_m)
        direction, distance_m = self._believed(firings, hits, range_m, valid)
        reflectivity, signal = self._radiometry.measure(hits, valid)
        return Returns(
            firing=np.arange(len(firings), dtype=np.int64),
            valid=valid,
            range_m=range_m,
            direction=direction,
            distance_m=distance_m,
            reflectivity=reflectivity,
            signal=signal,
            return_number=np.ones(len(firings), np.uint8),
            flags=np.zeros(len(firings), np.uint8),
        )

    def _believed(self, firings: Firings, hits: Hits, range_m: F64, valid: npt.NDArray[np.bool_]) -> tuple[F64, F64]:
        """Direction (N, 3), and distance (N,) along it, of the point as the device places it."""
        if not self._with_noise:
            return firings.direction, np.where(valid, hits.distance, np.nan)
        direction = self._noise.disturb_direction(firings.index, valid, firings.direction)
        return direction, self._scale.to_distance(range_m, direction)
