"""Beams that hit a wall at chosen distances, and the device that measures them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lidar_sim.measure import Measurement
from lidar_sim.profile.schema import NoiseSpec, RangeSpec
from lidar_sim.records import Firings, Hits
from lidar_sim.rng import make_key

KEY = make_key(5, "lidar")


def _range_spec(**changes) -> RangeSpec:
    return RangeSpec(**{"min_m": 0.5, "max_m": 100.0, "resolution_m": 0.0, "source": "test", **changes})


def _noise_spec(**changes) -> NoiseSpec:
    return NoiseSpec(**{"range_std_m": 0.0, "source": "test", **changes})


@pytest.fixture(scope="session")
def device() -> Callable[..., Measurement]:
    """A Measurement; keyword arguments go to RangeSpec, NoiseSpec or Measurement by their name."""

    def make(*, key: int = KEY, noise: bool = True, geom_reflectivity=(0.2, 1.0), **changes) -> Measurement:
        of_range = {name: changes[name] for name in changes if name in RangeSpec.model_fields}
        of_noise = {name: changes[name] for name in changes if name in NoiseSpec.model_fields}
        assert {**of_range, **of_noise} == changes
        return Measurement(
            _range_spec(**of_range),
            _noise_spec(**of_noise),
            key=key,
            noise=noise,
            geom_reflectivity=np.array(geom_reflectivity),
        )

    return make


@pytest.fixture(scope="session")
def beams() -> Callable[..., tuple[Firings, Hits]]:
    """Beams from number ``first`` on, in directions all over the sphere's front, that meet geom 0 at ``distance``."""

    def make(distance, first: int = 0, direction=None) -> tuple[Firings, Hits]:
        distance = np.array(distance, np.float64)
        count = len(distance)
        index = np.arange(first, first + count, dtype=np.int64)
        if direction is None:
            azimuth, elevation = np.sin(0.7 * index), np.cos(1.1 * index)
            direction = np.stack(
                [np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)], 1
            )
        direction = np.broadcast_to(np.array(direction, np.float64), (count, 3)).copy()
        firings = Firings(
            index, index * 1000, direction, np.zeros((count, 3)), np.zeros(count, np.uint16), index, 0 * index
        )
        met = np.isfinite(distance)
        ids = np.where(met, 0, -1).astype(np.int32)
        normal = np.where(met[:, None], -direction, 0.0)
        return firings, Hits(distance, ids, ids, np.full(count, -1, np.int32), normal, met.astype(np.float64))

    return make
