"""From beams, hits and returns to the columns of a point cloud."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lidar_sim.jit import strict_jit


@strict_jit
def _choose(first, last, keep_misses, valid):
    """Rows of the returns [first, last) that become points."""
    kept = np.empty(last - first, np.int64)
    count = 0
    for r in range(first, last):
        if valid[r] or keep_misses:
            kept[count] = r
            count += 1
    return kept[:count]


@strict_jit
def _write_measured(count, kept, firings, returns, columns):
    """What the device reports; NaN where it reports nothing."""
    index, _, _, origin, ring, column, _ = firings
    firing, valid, range_m, direction, distance_m, reflectivity, signal, return_number, flags = returns
    x, y, z, out_range, intensity, out_signal, out_ring, out_column, out_number, out_flags, out_firing = columns
    for k in range(len(kept)):
        r, place = kept[k], count + k
        i = firing[r]
        known = valid[r]
        distance = distance_m[r] if known else np.nan
        x[place] = origin[i, 0] + direction[r, 0] * distance
        y[place] = origin[i, 1] + direction[r, 1] * distance
        z[place] = origin[i, 2] + direction[r, 2] * distance
        out_range[place] = range_m[r] if known else np.nan
        intensity[place] = reflectivity[r] if known else np.float32(np.nan)
        out_signal[place] = signal[r] if known else np.float32(np.nan)
        out_ring[place] = ring[i]
        out_column[place] = column[i]
        out_number[place] = return_number[r]
        out_flags[place] = flags[r]
        out_firing[place] = index[i]


@strict_jit
def _write_truth(count, kept, firing, hits, columns):
    """What was hit; at this door a miss stops being +inf: points and files say NaN."""
    distance, geom, body, flex, normal, cos_incidence, velocity, radial_velocity = hits
    out_distance, out_geom, out_body, out_flex = columns[:4]
    normal_x, normal_y, normal_z, out_cos = columns[4:8]
    velocity_x, velocity_y, velocity_z, out_radial = columns[8:]
    for k in range(len(kept)):
        i, place = firing[kept[k]], count + k
        out_distance[place] = distance[i] if math.isfinite(distance[i]) else np.nan
        out_geom[place] = geom[i]
        out_body[place] = body[i]
        out_flex[place] = flex[i]
        normal_x[place] = normal[i, 0]
        normal_y[place] = normal[i, 1]
        normal_z[place] = normal[i, 2]
        out_cos[place] = cos_incidence[i]
        velocity_x[place] = velocity[i, 0]
        velocity_y[place] = velocity[i, 1]
        velocity_z[place] = velocity[i, 2]
        out_radial[place] = radial_velocity[i]


@strict_jit
def _write_times(count, kept, firing, time_ns, stamp_ns, t):
    for k in range(len(kept)):
        t[count + k] = time_ns[firing[kept[k]]] - stamp_ns


@strict_jit
def write_points(first, last, count, keep_misses, stamp_ns, firings, time_ns, hits, returns, measured, truth, t) -> Any:
    """Write the points of returns [first, last) behind those that the columns hold already.

    Tuples of arrays go in and out, for they cost a call far less than records.

    Args:
        first: first row of the returns.
        last: row after the last.
        count: points written so far.
        keep_misses: False leaves out the returns that are not valid.
        stamp_ns: simulation time of the frame's first firing.
        firings: arrays of the record Firings, in its order.
        time_ns: (N,) ns of simulation time.
        hits: distance, geom, body, flex, normal, cos_incidence, velocity, radial_velocity of the record Hits.
        returns: arrays of the record Returns, in its order.
        measured: columns x, y, z, range, intensity, signal, ring, column, return_number, flags, firing.
        truth: columns true_distance, geom, body, flex, normal_x, normal_y, normal_z, cos_incidence, velocity_x,
            velocity_y, velocity_z, radial_velocity.
        t: column of ns since the stamp.

    Returns:
        Points written now.
    """
    kept = _choose(first, last, keep_misses, returns[1])
    _write_measured(count, kept, firings, returns, measured)
    _write_truth(count, kept, returns[0], hits, truth)
    _write_times(count, kept, returns[0], time_ns, stamp_ns, t)
    return count + len(kept)
