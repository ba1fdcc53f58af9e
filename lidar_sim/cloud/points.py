"""From beams, hits and returns of a frame to the fields of its points."""

from __future__ import annotations

import numpy as np

from lidar_sim.cloud.pieces import Piece
from lidar_sim.fields import FIELDS
from lidar_sim.records import F64, I64, U16, Array, Firings, Hits, Returns


def point_fields(
    piece: Piece, *, stamp_ns: int, ring_to_row: U16 | None, planar: bool, keep_misses: bool
) -> dict[str, Array]:
    """Fields (N,) of the points of a frame, in the order and types of ``fields.FIELDS``.

    Args:
        piece: the whole frame.
        stamp_ns: simulation time of its first firing.
        ring_to_row: (rings,) row of the organised view for each ring, None where there is no such view.
        planar: True adds ``depth``.
        keep_misses: False drops the rows without a return.
    """
    kept = np.arange(len(piece.returns)) if keep_misses else np.flatnonzero(piece.returns.valid)
    beam = piece.returns.firing[kept]
    found = {
        **_measured(piece.firings, piece.returns, kept, beam),
        "t": piece.rays.time_ns[beam] - stamp_ns,
        **_truth(piece.hits, beam),
    }
    if planar:
        found["depth"] = found["x"]
    if ring_to_row is not None:
        found["row"] = np.asarray(ring_to_row)[found["ring"]]
    return {name: np.array(found[name], entry.dtype, order="C") for name, entry in FIELDS.items() if name in found}


def _measured(firings: Firings, returns: Returns, kept: I64, beam: I64) -> dict[str, Array]:
    silent = ~returns.valid[kept]
    distance_m = np.where(silent, np.nan, returns.distance_m[kept])
    points = firings.origin[beam] + returns.direction[kept] * distance_m[:, None]
    return {
        "x": points[:, 0],
        "y": points[:, 1],
        "z": points[:, 2],
        "range": np.where(silent, np.nan, returns.range_m[kept]),
        "intensity": np.where(silent, np.float32(np.nan), returns.reflectivity[kept]),
        "signal": np.where(silent, np.float32(np.nan), returns.signal[kept]),
        "ring": firings.ring[beam],
        "column": firings.column[beam],
        "return_number": returns.return_number[kept],
        "flags": returns.flags[kept],
        "firing": firings.index[beam],
    }


def _truth(hits: Hits, beam: I64) -> dict[str, Array]:
    normal, velocity = hits.normal[beam], hits.velocity[beam]
    return {
        "true_distance": _finite_or_nan(hits.distance[beam]),
        "geom": hits.geom[beam],
        "body": hits.body[beam],
        "flex": hits.flex[beam],
        "normal_x": normal[:, 0],
        "normal_y": normal[:, 1],
        "normal_z": normal[:, 2],
        "cos_incidence": hits.cos_incidence[beam],
        "velocity_x": velocity[:, 0],
        "velocity_y": velocity[:, 1],
        "velocity_z": velocity[:, 2],
        "radial_velocity": hits.radial_velocity[beam],
    }


def _finite_or_nan(distance: F64) -> F64:
    """At this door a miss stops being +inf: points and files say NaN."""
    return np.where(np.isfinite(distance), distance, np.nan)
