"""Loops of the measurement over beams: ranges, their errors and limits, turned directions, signals."""

from __future__ import annotations

import math

import numpy as np

from lidar_sim.jit import inline_jit, jit
from lidar_sim.rng import draw, draw_normal

# One stream of random numbers per use, so that switching one use off leaves the others' numbers alone.
RANGE_STREAM = 1
DROPOUT_STREAM = 2
ANGLE_STREAM = 3


@jit
def range_of(distance, direction, planar, offset_m, range_m):  # type: ignore[no-untyped-def]
    """Range as the device counts it: along the ray or the optical axis (x), from its own zero; inf stays."""
    for i in range(len(distance)):
        axis_cos = direction[i, 0] if planar else 1.0
        range_m[i] = distance[i] * axis_cos + offset_m


@jit
def distance_of(range_m, direction, planar, offset_m, distance):  # type: ignore[no-untyped-def]
    """Inverse of ``range_of``."""
    for i in range(len(range_m)):
        axis_cos = direction[i, 0] if planar else 1.0
        distance[i] = (range_m[i] - offset_m) / axis_cos


@jit
def disturb_range(index, key, bias_m, std_m, range_m):  # type: ignore[no-untyped-def]
    """Add the bias and a Gaussian error in place; misses (inf) stay misses."""
    for i in range(len(range_m)):
        if math.isfinite(range_m[i]):
            error_m = bias_m
            if std_m > 0.0:
                error_m += std_m * draw_normal(key, index[i], RANGE_STREAM)[0]
            range_m[i] += error_m


@jit
def drop_out(index, key, ratio, range_m):  # type: ignore[no-untyped-def]
    """Turn that share of the ranges into misses (inf), in place."""
    for i in range(len(range_m)):
        if draw(key, index[i], DROPOUT_STREAM)[0] < ratio:
            range_m[i] = np.inf


@jit
def quantise(resolution_m, range_m):  # type: ignore[no-untyped-def]
    """Round to whole multiples of the unit in place, halves up."""
    per_m = 1.0 / resolution_m
    for i in range(len(range_m)):
        range_m[i] = np.floor(range_m[i] * per_m + 0.5) * resolution_m


@jit
def within(range_m, min_m, max_m, valid):  # type: ignore[no-untyped-def]
    """Which ranges lie in [min_m, max_m]; the others become NaN in place."""
    for i in range(len(range_m)):
        valid[i] = min_m <= range_m[i] <= max_m
        if not valid[i]:
            range_m[i] = np.nan


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
    angle = math.sqrt(a * a + b * b)
    c = math.cos(angle)
    s = math.sin(angle) / angle if angle > 0.0 else 1.0
    return (
        c * x + s * (a * ux + b * vx),
        c * y + s * (a * uy + b * vy),
        c * z + s * (a * uz + b * vz),
    )


@jit
def disturb_direction(index, key, std_rad, valid, direction):  # type: ignore[no-untyped-def]
    """Turn the directions of valid rows in place by a Gaussian angle on each of two square axes."""
    for i in range(len(direction)):
        if valid[i]:
            n = draw_normal(key, index[i], ANGLE_STREAM)
            x, y, z = turn(direction[i, 0], direction[i, 1], direction[i, 2], std_rad * n[0], std_rad * n[1])
            direction[i, 0], direction[i, 1], direction[i, 2] = x, y, z


@jit
def reflect(geom, flex, cos_incidence, distance, valid, of_geom, of_flex, percent, signal):  # type: ignore[no-untyped-def]
    """Reflectivity in per cent, and the signal rho * cos / R^2 of a diffuse surface; 0 where not valid."""
    for i in range(len(geom)):
        if valid[i]:
            rho = of_geom[geom[i]] if geom[i] >= 0 else (of_flex if flex[i] >= 0 else 0.0)
            percent[i] = 100.0 * rho
            signal[i] = rho * cos_incidence[i] / (distance[i] * distance[i])
        else:
            percent[i] = 0.0
            signal[i] = 0.0
