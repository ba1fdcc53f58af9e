"""The doors of every caster: rays checked on the way in, hits put together on the way out."""

from __future__ import annotations

import numpy as np

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


def to_hits(distance: F64, geom: I32, flex: I32, normal: F64, cos_incidence: F64, geom_body: I32) -> Hits:
    """Hits with the body of each geom.

    Args:
        distance: (N,) m, +inf = none.
        geom: (N,) geom id, -1 = none.
        flex: (N,) flex id, -1 = none.
        normal: (N, 3).
        cos_incidence: (N,).
        geom_body: (ngeom,) body of each geom.
    """
    body = np.full(len(geom), -1, np.int32)
    hit = geom >= 0
    body[hit] = geom_body[geom[hit]]
    return Hits(distance=distance, geom=geom, body=body, flex=flex, normal=normal, cos_incidence=cos_incidence)
