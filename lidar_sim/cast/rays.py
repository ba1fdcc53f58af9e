"""The doors of every caster: rays checked on the way in, hits put together on the way out."""

from __future__ import annotations

import numpy as np

from lidar_sim.cast.kernels.batch import Rays
from lidar_sim.cast.kernels.checks import first_unfit
from lidar_sim.errors import LidarSimError
from lidar_sim.records import F64, I32, Hits, RayBatch

# Unit vectors that were rotated a few times are off by some 1e-15; a distance would be off by as much.
_UNIT_TOLERANCE = 1e-9


def check_rays(rays: RayBatch) -> tuple[F64, F64]:
    """Origins and directions, (N, 3) f64 contiguous.

    Raises:
        LidarSimError: a ray is not finite or its direction not of unit length. (MuJoCo would end the
            process at a zero direction.)
    """
    origin = np.ascontiguousarray(rays.origin, np.float64)
    direction = np.ascontiguousarray(rays.direction, np.float64)
    if origin.shape != direction.shape or origin.ndim != 2 or origin.shape[1] != 3:
        raise LidarSimError(f"rays need origin and direction of shape (N, 3); got {origin.shape} and {direction.shape}")
    row = int(first_unfit(origin, direction, _UNIT_TOLERANCE))
    if row >= 0:
        raise LidarSimError(
            f"ray {row} has origin {origin[row].tolist()} and direction {direction[row].tolist()}; "
            "valid: finite origins, finite directions of length 1"
        )
    return origin, direction


def empty_rays(origin: F64, direction: F64) -> Rays:
    """Checked rays with room for their results, to be filled by a kernel."""
    n = len(origin)
    return Rays(
        origin=origin,
        direction=direction,
        distance=np.empty(n),
        geom=np.empty(n, np.int32),
        flex=np.empty(n, np.int32),
        normal=np.empty((n, 3)),
        cos_incidence=np.empty(n),
    )


def to_hits(rays: Rays, geom_body: I32) -> Hits:
    """Hits of finished rays, with the body of each geom.

    Args:
        rays: results filled in.
        geom_body: (ngeom,) body of each geom.
    """
    body = np.full(len(rays.geom), -1, np.int32)
    hit = rays.geom >= 0
    body[hit] = geom_body[rays.geom[hit]]
    return Hits(
        distance=rays.distance,
        geom=rays.geom,
        body=body,
        flex=rays.flex,
        normal=rays.normal,
        cos_incidence=rays.cos_incidence,
    )
