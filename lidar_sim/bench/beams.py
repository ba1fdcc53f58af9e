"""Directions that casters are raced with: lidar frames from one point, and none in any order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lidar_sim.pattern import make_pattern
from lidar_sim.profile import load_profile
from lidar_sim.records import F64, RayBatch


def spinning(columns: int, elevation_deg: F64) -> F64:
    """(columns * lasers, 3) unit, laser by laser, column by column."""
    azimuth, elevation = np.meshgrid(
        np.linspace(0, 2 * np.pi, columns, endpoint=False), np.radians(elevation_deg), indexing="ij"
    )
    level = np.cos(elevation)
    return _unit(np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], -1).reshape(-1, 3))


def scattered(count: int) -> F64:
    """(count, 3) unit, evenly over the sphere, in no order."""
    return _unit(np.random.default_rng(0).normal(size=(count, 3)))


def device_frame(device: str) -> F64:
    """(N, 3) unit, directions of frame 0 of a device, sensor frame."""
    pattern = make_pattern(load_profile(device))
    return pattern.firings(pattern.frame_start(0), pattern.frame_start(1)).direction


BEAMS: dict[str, Callable[[], F64]] = {
    "os1": lambda: spinning(1024, np.linspace(-22.5, 22.5, 64)),
    "vlp16": lambda: spinning(1800, np.linspace(-15.0, 15.0, 16)),
    "avia": lambda: device_frame("avia"),
    "random": lambda: scattered(65536),
}
"""Name -> directions: 65,536 OS1-like, 28,800 VLP-16, a frame of an Avia, 65,536 at random."""


def batch(origin: F64, direction: F64, phase: F64 | None = None) -> RayBatch:
    """Rays from one point.

    Args:
        origin: (3,) m.
        direction: (N, 3) unit.
        phase: (N,) between two keyframes, None = 0.
    """
    n = len(direction)
    return RayBatch(
        origin=np.repeat(origin[None], n, axis=0),
        direction=direction,
        time_ns=np.zeros(n, np.int64),
        phase=np.zeros(n) if phase is None else phase,
    )


def every(direction: F64, wanted: int) -> F64:
    """About so many of the directions, evenly chosen, by an odd step that meets all lasers."""
    step = max(len(direction) // max(wanted, 1), 1)
    return np.ascontiguousarray(direction[:: step + 1 - step % 2])


def _unit(vectors: F64) -> F64:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
