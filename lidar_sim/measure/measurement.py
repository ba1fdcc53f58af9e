"""From the truth of a batch of beams to what the device reports: the order of its errors and limits."""

from __future__ import annotations

import math
from operator import attrgetter

import numpy as np

from lidar_sim.errors import ModelError, OptionError
from lidar_sim.measure.kernels import measure_beams
from lidar_sim.profile.schema import NoiseSpec, RangeSpec
from lidar_sim.records import F64, Firings, Hits, Returns

FLEX_REFLECTIVITY = 0.5
"""Of every flex, until flexes are given their own."""
# k * resolution can miss the same number written in decimals by rounding; far below any unit, far above rounding.
_SLACK_UNITS = 1e-6
_arrays = attrgetter(*Returns.__slots__)


class Measurement:
    """One device's way of measuring, in this order.

    1. The true range: distance from the beam's origin, or planar depth, plus the device's offset.
    2. Bias and Gaussian noise; drop-out. Misses stay misses.
    3. Quantisation to the device's unit, halves up.
    4. The limits, on that value: nearer than the minimum blocks the beam, and gives nothing; farther than the
       maximum gives nothing.
    5. The angular error of the direction, of valid returns only: Gaussian on each of two square axes.

    Without noise only 1 and 4 remain: ranges and directions are the truth, to the last bit. Errors depend on the key
    and the beam's number only: batches, order and threads cannot matter.

    Surfaces are diffuse (Lambertian) and fill the beam: signal = rho * cos(incidence) / R^2, 1 = white wall at 1 m
    met squarely; the reflectivity byte is rho in per cent. Both are 0 where nothing is reported.
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
        if not 0 <= key < 2**64:
            raise OptionError(f"key must be within 0 and 2**64 - 1, found {key}")
        self._scale = _scale(range_spec, range_spec.resolution_m if noise else 0.0)
        self._errors = (np.uint64(key), *(_errors(noise_spec) if noise else (0.0, 0.0, 0.0, 0.0)))
        self._turns_beams = noise and noise_spec.angle_std_deg > 0.0
        self._brightness = _checked_reflectivity(geom_reflectivity), FLEX_REFLECTIVITY

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
        direction = np.empty((len(firings), 3)) if self._turns_beams else firings.direction
        returns = _empty_returns(len(firings), direction)
        unknown = measure_beams(
            firings.index,
            firings.direction,
            (hits.distance, hits.geom, hits.flex, hits.cos_incidence),
            self._scale,
            self._errors,
            self._brightness,
            _arrays(returns),
        )
        if unknown >= 0:
            known = len(self._brightness[0])
            raise ModelError(f"geom {unknown} was hit; reflectivity is known for {known} geoms")
        return returns


def _scale(spec: RangeSpec, resolution_m: float) -> tuple[float, float, float, float, bool]:
    slack_m = _SLACK_UNITS * resolution_m
    return spec.min_m - slack_m, spec.max_m + slack_m, resolution_m, spec.offset_m, spec.planar


def _errors(spec: NoiseSpec) -> tuple[float, float, float, float]:
    return spec.range_std_m, spec.range_bias_m, math.radians(spec.angle_std_deg), spec.dropout_ratio


def _checked_reflectivity(geom_reflectivity: F64) -> F64:
    of_geom = np.array(geom_reflectivity, np.float64)
    if of_geom.ndim != 1 or not ((of_geom >= 0.0) & (of_geom <= 1.0)).all():
        raise ModelError("geom_reflectivity must be one number in 0..1 for each geom")
    return of_geom


def _empty_returns(n: int, direction: F64) -> Returns:
    return Returns(
        firing=np.empty(n, np.int64),
        valid=np.empty(n, np.bool_),
        range_m=np.empty(n),
        direction=direction,
        distance_m=np.empty(n),
        reflectivity=np.empty(n, np.float32),
        signal=np.empty(n, np.float32),
        return_number=np.empty(n, np.uint8),
        flags=np.empty(n, np.uint8),
    )
