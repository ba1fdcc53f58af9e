"""What the device reports of a batch of beams: ranges, their errors and limits, turned directions, signals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lidar_sim.jit import inline_jit, jit
from lidar_sim.rng import draw_many, normals_of

NOISE_STREAM = 1
# Beams whose errors are drawn at once: enough for vector instructions, few enough to stay in the nearest cache.
BLOCK = 512


@inline_jit
def quantise(range_m, resolution_m):  # type: ignore[no-untyped-def]
    """Whole multiples of the unit, halves up; 0 = no unit."""
    return np.floor(range_m * (1.0 / resolution_m) + 0.5) * resolution_m if resolution_m > 0.0 else range_m


@inline_jit
def cosine_and_sinc(squared):  # type: ignore[no-untyped-def]
    """cos(a) and sin(a) / a of an angle a in rad, given a^2; Taylor's series where it is exact to the last bits."""
    if squared < 0.01:
        return (
            1.0 - squared / 2.0 * (1.0 - squared / 12.0 * (1.0 - squared / 30.0 * (1.0 - squared / 56.0))),
            1.0 - squared / 6.0 * (1.0 - squared / 20.0 * (1.0 - squared / 42.0 * (1.0 - squared / 72.0))),
        )
    angle = math.sqrt(squared)
    return math.cos(angle), math.sin(angle) / angle


@inline_jit
def turn(x, y, z, a, b):  # type: ignore[no-untyped-def]
    """Unit vector (x, y, z) turned by hypot(a, b) rad towards a * u + b * v, where (u, v) span its tangent plane.

    The frame (u, v) is the branchless one of Duff et al., "Building an Orthonormal Basis, Revisited"
    (Journal of Computer Graphics Techniques 6(1), 2017).
    """
    sign = 1.0 if z >= 0.0 else -1.0
    p = -1.0 / (sign + z)
    q = x * y * p
    ux, uy, uz = 1.0 + sign * x * x * p, sign * q, -sign * x
    vx, vy, vz = q, sign + y * y * p, -y
    c, s = cosine_and_sinc(a * a + b * b)
    return (
        c * x + s * (a * ux + b * vx),
        c * y + s * (a * uy + b * vy),
        c * z + s * (a * uz + b * vz),
    )


@jit
def draw_errors(index, key, range_std_m, angle_std_rad, dropout_ratio):  # type: ignore[no-untyped-def]
    """Error of the range m, whether the return is lost, and two angles rad, for each beam (N,).

    Four uniform numbers a beam, one for each use, so that switching one use off leaves the others' numbers alone.
    What is not asked for is zero.
    """
    n = len(index)
    range_m, a, b, lost = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    if range_std_m > 0.0 or angle_std_rad > 0.0 or dropout_ratio > 0.0:
        uniform = draw_many(key, index, NOISE_STREAM)
        if range_std_m > 0.0:
            range_m = normals_of(uniform[0])
        if angle_std_rad > 0.0:
            a, b = normals_of(uniform[2]), normals_of(uniform[3])
        for i in range(n):
            range_m[i] *= range_std_m
            lost[i] = uniform[1, i] < dropout_ratio
            a[i] *= angle_std_rad
            b[i] *= angle_std_rad
    return range_m, lost, a, b


@jit
def measure_beams(index, direction, hits, scale, errors, brightness, out) -> Any:  # type: ignore[no-untyped-def]
    """Report N beams, one row each.

    Args:
        index: (N,) i64 number of each beam.
        direction: (N, 3) f64 unit, sensor frame.
        hits: distance (N,) m, +inf = nothing; geom (N,) i32; flex (N,) i32; cos_incidence (N,).
        scale: shortest and longest range m, unit m (0 = none), offset m, whether ranges are depths along x.
        errors: key u64, standard deviation and bias of the range m, that of the two angles rad, share lost.
        brightness: reflectivity 0..1 of each geom, (G,), and of flexes.
        out: firing (N,), valid (N,), range (N,) m, direction (N, 3), distance (N,) m, reflectivity (N,) f32,
            signal (N,) f32, return_number (N,), flags (N,). ``direction`` may be the one given.

    Returns:
        -1, or a geom that has no reflectivity.
    """
    distance, geom, flex, cos_incidence = hits
    min_m, max_m, resolution_m, offset_m, planar = scale
    key, range_std_m, bias_m, angle_std_rad, dropout_ratio = errors
    rho_of_geom, rho_of_flex = brightness
    firing, valid, range_m, believed, believed_m, reflectivity, signal, return_number, flags = out
    exact = range_std_m == 0.0 and bias_m == 0.0 and resolution_m == 0.0
    for i in range(len(distance)):
        k = i % BLOCK
        if k == 0:
            error_m, lost, a, b = draw_errors(index[i : i + BLOCK], key, range_std_m, angle_std_rad, dropout_ratio)
        if geom[i] >= len(rho_of_geom):
            return geom[i]
        x, y, z = direction[i, 0], direction[i, 1], direction[i, 2]
        true_m = distance[i] * (x if planar else 1.0) + offset_m
        # A miss stays a miss: infinity, whatever the error.
        measured_m = quantise(true_m + (bias_m + error_m[k]), resolution_m)
        known = min_m <= measured_m <= max_m and not lost[k]
        if known and angle_std_rad > 0.0:
            x, y, z = turn(x, y, z, a[k], b[k])
        along_m = distance[i] if exact else (measured_m - offset_m) / (x if planar else 1.0)
        rho = 0.0
        if known:
            rho = rho_of_geom[geom[i]] if geom[i] >= 0 else (rho_of_flex if flex[i] >= 0 else 0.0)
        firing[i] = i
        valid[i] = known
        range_m[i] = measured_m if known else np.nan
        believed[i, 0], believed[i, 1], believed[i, 2] = x, y, z
        believed_m[i] = along_m if known else np.nan
        reflectivity[i] = 100.0 * rho
        signal[i] = rho * cos_incidence[i] / (distance[i] * distance[i])
        return_number[i] = 1
        flags[i] = 0
    return -1
