"""Small batches as a compiled loop of a user's would cast them: one call a firing."""

from __future__ import annotations

import math
from typing import Any

from lidar_sim.cast.bvh.kernels.packets import cast_serial
from lidar_sim.jit import jit


@jit
def cast_firings(scene, order, origin, direction, phase, hits, packed, size) -> Any:
    """Number of hits of all rays, ``size`` of them in each call.

    Args:
        scene: as ``cast_serial`` takes it.
        order: (P,) i32 rows of the rays within a firing, whole packets of them.
        origin: (N, 3) f64 m.
        direction: (N, 3) f64 unit.
        phase: (N,) f64.
        hits: as ``cast_serial`` takes it, distance first; room for one firing, that of the last one at the end.
        packed: as ``cast_serial`` takes it.
        size: rays in a firing.
    """
    found = 0
    for first in range(0, len(phase) - size + 1, size):
        last = first + size
        cast_serial(scene, order, (origin[first:last], direction[first:last], phase[first:last]), hits, packed)
        for ray in range(size):
            found += math.isfinite(hits[0][ray])
    return found
