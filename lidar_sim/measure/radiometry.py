"""How bright a surface appears: its reflectivity, and the signal that comes back (first version)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lidar_sim.errors import ModelError
from lidar_sim.measure import kernels
from lidar_sim.records import F32, F64, Hits

FLEX_REFLECTIVITY = 0.5
"""Of every flex, until flexes are given their own."""


class Radiometry:
    """Diffuse (Lambertian) surfaces that fill the beam: signal = rho * cos(incidence) / R^2."""

    def __init__(self, geom_reflectivity: F64) -> None:
        """Keep each geom's reflectivity.

        Args:
            geom_reflectivity: (ngeom,) 0..1.

        Raises:
            ModelError: another shape, or a value outside 0..1.
        """
        self._of_geom = np.array(geom_reflectivity, np.float64)
        if self._of_geom.ndim != 1 or not ((self._of_geom >= 0.0) & (self._of_geom <= 1.0)).all():
            raise ModelError("geom_reflectivity must be one number in 0..1 for each geom")

    def measure(self, hits: Hits, valid: npt.NDArray[np.bool_]) -> tuple[F32, F32]:
        """Reflectivity byte (N,) 0..100 = diffuse per cent, and signal (N,), 1 = white wall at 1 m met squarely.

        Args:
            hits: truth of N beams.
            valid: (N,) which of them the device reports; the others give 0.

        Raises:
            ModelError: a geom that has no reflectivity.
        """
        if int(hits.geom.max(initial=-1)) >= len(self._of_geom):
            raise ModelError(f"geom {hits.geom.max()} was hit; reflectivity is known for {len(self._of_geom)} geoms")
        reflectivity, signal = np.empty(len(hits), np.float32), np.empty(len(hits), np.float32)
        kernels.reflect(  # type: ignore[no-untyped-call]
            hits.geom,
            hits.flex,
            hits.cos_incidence,
            hits.distance,
            valid,
            self._of_geom,
            FLEX_REFLECTIVITY,
            reflectivity,
            signal,
        )
        return reflectivity, signal
