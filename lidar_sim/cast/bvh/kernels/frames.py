"""Eight rays in the frame of a geom, at rest or each at its own time; and normals back in the world.

A moving geom turns evenly about an axis through a pivot, while the pivot moves evenly along a straight line: with
phase s in 0..1 and R(s) = R(0) Q(s), Q(s) the turn by s times the whole angle (slerp), a ray in the geom's frame is
Q(s)^T R(0)^T (o - pivot(s)) + local pivot. Which point is the pivot is told in ``motion``.
"""

from __future__ import annotations

import numpy as np

from lidar_sim.cast.bvh.kernels.layout import (
    DIRECTION,
    G_MATRIX,
    G_MOTION,
    G_POSITION,
    LANES,
    M_AXIS,
    M_HALF_ANGLE,
    M_LOCAL_PIVOT,
    M_PIVOT,
    M_SHIFT,
    MOTION_BYTES,
    ORIGIN,
    PHASE,
    T_MOTIONS,
)
from lidar_sim.cast.bvh.kernels.shapes import dot
from lidar_sim.jit import inline_jit, strict_jit
from lidar_sim.simd import fma, load8_f64, load_f64, load_i32, load_i64, splat8


@inline_jit
def _into(record, x, y, z):
    """World vectors in the frame of a geom at rest."""
    return (
        dot(x, y, z, load_f64(record, G_MATRIX), load_f64(record, G_MATRIX + 3), load_f64(record, G_MATRIX + 6)),
        dot(x, y, z, load_f64(record, G_MATRIX + 1), load_f64(record, G_MATRIX + 4), load_f64(record, G_MATRIX + 7)),
        dot(x, y, z, load_f64(record, G_MATRIX + 2), load_f64(record, G_MATRIX + 5), load_f64(record, G_MATRIX + 8)),
    )


@inline_jit
def _out_of(record, x, y, z):
    """The way back."""
    return (
        dot(x, y, z, load_f64(record, G_MATRIX), load_f64(record, G_MATRIX + 1), load_f64(record, G_MATRIX + 2)),
        dot(x, y, z, load_f64(record, G_MATRIX + 3), load_f64(record, G_MATRIX + 4), load_f64(record, G_MATRIX + 5)),
        dot(x, y, z, load_f64(record, G_MATRIX + 6), load_f64(record, G_MATRIX + 7), load_f64(record, G_MATRIX + 8)),
    )


@inline_jit
def _sine_cosine(x):
    """Of angles in 0..pi/2, to 3e-16: the Taylor series, whose next terms are below that."""
    square = x * x
    sine = splat8(-1.0 / 121645100408832000.0)  # -1 / 19!
    for over in (
        *(1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0),
        *(1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0),
    ):
        sine = fma(sine, square, over)
    cosine = splat8(1.0 / 2432902008176640000.0)  # 1 / 20!
    for over in (
        *(-1.0 / 6402373705728000.0, 1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0),
        *(-1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0),
    ):
        cosine = fma(cosine, square, over)
    return sine * x, cosine


@inline_jit
def _turned(w, ux, uy, uz, x, y, z):
    """Vectors turned by unit quaternions w, u."""
    tx, ty, tz = 2.0 * (uy * z - uz * y), 2.0 * (uz * x - ux * z), 2.0 * (ux * y - uy * x)
    return (
        x + fma(w, tx, uy * tz - uz * ty),
        y + fma(w, ty, uz * tx - ux * tz),
        z + fma(w, tz, ux * ty - uy * tx),
    )


@inline_jit
def _turn_at(motion, phase):
    """Quaternions of Q(phase)."""
    sine, cosine = _sine_cosine(phase * load_f64(motion, M_HALF_ANGLE))
    return (
        cosine,
        sine * load_f64(motion, M_AXIS),
        sine * load_f64(motion, M_AXIS + 1),
        sine * load_f64(motion, M_AXIS + 2),
    )


@inline_jit
def _load3(scratch, at):
    return load8_f64(scratch, at), load8_f64(scratch, at + LANES), load8_f64(scratch, at + 2 * LANES)


@inline_jit
def local_directions(record, scratch, k):
    """Directions of lanes k to k + 7 in the frame of a geom at rest."""
    x, y, z = _load3(scratch, DIRECTION + k)
    return _into(record, x, y, z)


@inline_jit
def local_origins(record, scratch, k):
    """Origins of lanes k to k + 7 in the frame of a geom at rest."""
    x, y, z = _load3(scratch, ORIGIN + k)
    px, py, pz = load_f64(record, G_POSITION), load_f64(record, G_POSITION + 1), load_f64(record, G_POSITION + 2)
    return _into(record, x - px, y - py, z - pz)


@strict_jit
def moving_rays(record, motion, scratch, k):
    """Origins and directions of lanes k to k + 7 in the frame of a moving geom, each at its own phase."""
    phase = load8_f64(scratch, PHASE + k)
    w, ux, uy, uz = _turn_at(motion, phase)
    ox, oy, oz = _load3(scratch, ORIGIN + k)
    ox = ox - fma(phase, load_f64(motion, M_SHIFT), load_f64(motion, M_PIVOT))
    oy = oy - fma(phase, load_f64(motion, M_SHIFT + 1), load_f64(motion, M_PIVOT + 1))
    oz = oz - fma(phase, load_f64(motion, M_SHIFT + 2), load_f64(motion, M_PIVOT + 2))
    ox, oy, oz = _into(record, ox, oy, oz)
    ox, oy, oz = _turned(w, -ux, -uy, -uz, ox, oy, oz)
    dx, dy, dz = local_directions(record, scratch, k)
    dx, dy, dz = _turned(w, -ux, -uy, -uz, dx, dy, dz)
    return (
        ox + load_f64(motion, M_LOCAL_PIVOT),
        oy + load_f64(motion, M_LOCAL_PIVOT + 1),
        oz + load_f64(motion, M_LOCAL_PIVOT + 2),
        dx,
        dy,
        dz,
    )


@inline_jit
def motion_of(table, record):
    """Address of the motion record of a geom, 0 = at rest."""
    number = np.int64(load_i32(record, G_MOTION))
    return load_i64(table, T_MOTIONS) + number * MOTION_BYTES if number >= 0 else np.int64(0)


@inline_jit
def local_rays(table, record, scratch, k):
    """Origins and directions of lanes k to k + 7 in the frame of a geom, moving or not."""
    motion = motion_of(table, record)
    if motion != 0:
        ox, oy, oz, dx, dy, dz = moving_rays(record, motion, scratch, k)
    else:
        ox, oy, oz = local_origins(record, scratch, k)
        dx, dy, dz = local_directions(record, scratch, k)
    return ox, oy, oz, dx, dy, dz


@inline_jit
def world_normals(table, record, scratch, k, x, y, z):
    """Normals of lanes k to k + 7 out of the frame of a geom, moving or not."""
    motion = motion_of(table, record)
    if motion != 0:
        w, ux, uy, uz = _turn_at(motion, load8_f64(scratch, PHASE + k))
        x, y, z = _turned(w, ux, uy, uz, x, y, z)
    return _out_of(record, x, y, z)
