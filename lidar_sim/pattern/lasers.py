"""The lasers of a spinning scanner, fixed to its rotor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lidar_sim.pattern.kernels.spinning import Lasers
from lidar_sim.profile.schema import SpinningFree, SpinningLocked
from lidar_sim.records import F64, U16


def rotor_lasers(spec: SpinningFree | SpinningLocked, turns_per_ns: Fraction, radius_m: float = 0.0) -> Lasers:
    """Lasers in the rotor frame, each turned by the angle the rotor moves until it fires.

    Args:
        spec: angles, offsets and times of the lasers.
        turns_per_ns: speed of the rotor, positive counter-clockwise seen from above.
        radius_m: distance of the beams' origin from the axis, along the rotor's own azimuth.
    """
    rows = len(spec.elevation_deg)
    fire_time_ns = np.array(spec.fire_time_ns or (0,) * rows, np.int64)
    turned = np.array([2.0 * math.pi * float(int(t) * turns_per_ns) for t in fire_time_ns])
    elevation = np.radians(spec.elevation_deg)
    azimuth = turned + np.radians(spec.azimuth_offset_deg or (0.0,) * rows)
    height_m = np.array(spec.vertical_offset_mm or (0.0,) * rows) * 1e-3
    return Lasers(
        direction=_stack(np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)),
        origin=_stack(radius_m * np.cos(turned), radius_m * np.sin(turned), height_m),
        fire_time_ns=fire_time_ns,
        ring=rank_by_elevation(spec.elevation_deg),
    )


def rank_by_elevation(elevation_deg: Sequence[float]) -> U16:
    """(L,) ring of each laser: 0 = lowest; equal elevations in firing order."""
    ring = np.empty(len(elevation_deg), np.uint16)
    ring[np.argsort(elevation_deg, kind="stable")] = np.arange(len(elevation_deg))
    return ring


def top_row_first(rows: int) -> U16:
    """(rows,) row of the organised view of each ring: the highest ring is row 0."""
    return np.arange(rows - 1, -1, -1, dtype=np.uint16)


def _stack(x: F64, y: F64, z: F64) -> F64:
    return np.ascontiguousarray(np.stack([x, y, z], axis=1))
