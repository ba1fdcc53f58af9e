"""How bodies move between two poses, and how fast the points of their surfaces that rays hit.

Between two poses a body turns evenly about a pivot that moves evenly along a straight line: with phase s in 0..1,
velocity w of the pivot and angular velocity u, both constant, the point p moves at w + u x (p - pivot(s)).
"""

from __future__ import annotations

import math
from typing import Any

from lidar_sim.cast.kernels.flex import ray_flex
from lidar_sim.cast.kernels.primitives import dot
from lidar_sim.cast.kernels.triangles import barycentric, minus, row
from lidar_sim.jit import inline_jit, jit

# ---- motion of a body, f64
PIVOT = 0
"""x 3, m, world frame, at phase 0."""
SHIFT = 3
"""x 3, m, world frame, way of the pivot until phase 1."""
LINEAR = 6
"""x 3, m/s, world frame, velocity of the pivot."""
ANGULAR = 9
"""x 3, rad/s, world frame."""
MOTION_SIZE = 12


@inline_jit
def _turn(p, q):
    """Rotation vector (rad, world frame, shorter way) that takes unit quaternion p to q: that of q p^-1."""
    w = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3]
    x = -q[0] * p[1] + q[1] * p[0] - q[2] * p[3] + q[3] * p[2]
    y = -q[0] * p[2] + q[1] * p[3] + q[2] * p[0] - q[3] * p[1]
    z = -q[0] * p[3] - q[1] * p[2] + q[2] * p[1] + q[3] * p[0]
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return 0.0, 0.0, 0.0
    half = math.atan2(length, abs(w))
    scale = math.copysign(2.0 * half / length, w)
    return scale * x, scale * y, scale * z


@inline_jit
def _same(a, b):
    same = True
    for k in range(len(a)):
        same &= a[k] == b[k]
    return same


@jit
def find_motions(movers, joint, before, after, span_s, motion, moving) -> Any:
    """Motions of bodies from the kinematics at both ends.

    Args:
        movers: (M,) i32 bodies to look at.
        joint: (B,) i32 joint whose anchor is the pivot of a body; -1 = the body's origin is.
        before: xpos (B, 3) m, xquat (B, 4), xanchor (J, 3) m at phase 0.
        after: the same at phase 1.
        span_s: time in between, > 0.
        motion: (B, MOTION_SIZE) f64, written for moving bodies.
        moving: (B,) bool, written for the bodies looked at.

    Returns:
        Whether any moves.
    """
    any_moves = False
    for b in movers:
        moving[b] = not (_same(before[0][b], after[0][b]) and _same(before[1][b], after[1][b]))
        if not moving[b]:
            continue
        any_moves = True
        start, end = (before[2][joint[b]], after[2][joint[b]]) if joint[b] >= 0 else (before[0][b], after[0][b])
        turn = _turn(before[1][b], after[1][b])
        for k in range(3):
            motion[b, PIVOT + k] = start[k]
            motion[b, SHIFT + k] = end[k] - start[k]
            motion[b, LINEAR + k] = (end[k] - start[k]) / span_s
            motion[b, ANGULAR + k] = turn[k] / span_s
    return any_moves


@inline_jit
def _velocity_at(m, phase, x, y, z):
    """Velocity of the point (x, y, z) of a body with motion m."""
    rx = x - (m[PIVOT] + phase * m[SHIFT])
    ry = y - (m[PIVOT + 1] + phase * m[SHIFT + 1])
    rz = z - (m[PIVOT + 2] + phase * m[SHIFT + 2])
    return (
        m[LINEAR] + m[ANGULAR + 1] * rz - m[ANGULAR + 2] * ry,
        m[LINEAR + 1] + m[ANGULAR + 2] * rx - m[ANGULAR] * rz,
        m[LINEAR + 2] + m[ANGULAR] * ry - m[ANGULAR + 1] * rx,
    )


@jit
def find_velocities(rays, hits, held_phase, mover, motion, moving, carrier, velocity, radial) -> Any:
    """Velocity of each surface point that was hit, and its rate along the beam seen from the beam's origin.

    Args:
        rays: origin (N, 3) m, direction (N, 3) unit, phase (N,).
        hits: distance (N,) m, body (N,) i32.
        held_phase: phase at which all surfaces stood; negative = each at its ray's own.
        mover: (B,) i32 body that carries each body along rigidly.
        motion: (B, MOTION_SIZE) f64.
        moving: (B,) bool.
        carrier: body whose motion the beams' origins have.
        velocity: (N, 3) f64 m/s, out; 0 on a miss.
        radial: (N,) f64 m/s, out; 0 on a miss.
    """
    origin, direction, phase = rays
    distance, body = hits
    carried = moving[mover[carrier]]
    own = motion[mover[carrier]]
    for i in range(len(distance)):
        vx, vy, vz, sx, sy, sz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        t = distance[i]
        if t < math.inf:
            x, y, z = origin[i, 0], origin[i, 1], origin[i, 2]
            dx, dy, dz = direction[i, 0], direction[i, 1], direction[i, 2]
            if carried:
                sx, sy, sz = _velocity_at(own, phase[i], x, y, z)
            if body[i] >= 0 and moving[mover[body[i]]]:
                s = phase[i] if held_phase < 0.0 else held_phase
                vx, vy, vz = _velocity_at(motion[mover[body[i]]], s, x + t * dx, y + t * dy, z + t * dz)
            radial[i] = (vx - sx) * dx + (vy - sy) * dy + (vz - sz) * dz
        else:
            radial[i] = 0.0
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = vx, vy, vz


@inline_jit
def _share_along(a, b, p):
    """How far p lies along the segment from a to b, 0..1."""
    ab = minus(b, a)
    return min(max(dot(minus(p, a), ab) / dot(ab, ab), 0.0), 1.0)


@jit
def find_flex_velocities(flexes, old_vert, span_s, rows, rays, flex, velocity, radial) -> Any:
    """Velocities of the points of flexes that were hit: those of the vertices around, interpolated linearly.

    Args:
        flexes: ``flex.Flexes`` at phase 1, where rays meet them.
        old_vert: (V, 3) f64 m, vertices at phase 0.
        span_s: time in between, > 0.
        rows: (R,) rows of the rays that hit a flex.
        rays: origin (N, 3) m, direction (N, 3).
        flex: (N,) i32.
        velocity: (N, 3) f64 m/s, written in those rows.
        radial: (N,) f64 m/s, added to in those rows.
    """
    origin, direction = rays
    for i in rows:
        o, d = row(origin, i), row(direction, i)
        hit, (va, vb, vc) = ray_flex(flexes, flex[i], o, d)
        if va < 0:
            continue
        first = flexes.vert_first[flex[i]]
        a, b = row(flexes.vert, first + va), row(flexes.vert, first + vb)
        p = (o[0] + hit[0] * d[0], o[1] + hit[0] * d[1], o[2] + hit[0] * d[2])
        if vc >= 0:
            share_b, share_c = barycentric(a, b, row(flexes.vert, first + vc), p)
        else:
            share_b, share_c, vc = _share_along(a, b, p), 0.0, va
        share_a = 1.0 - share_b - share_c
        for k in range(3):
            moved = share_a * (flexes.vert[first + va, k] - old_vert[first + va, k])
            moved += share_b * (flexes.vert[first + vb, k] - old_vert[first + vb, k])
            moved += share_c * (flexes.vert[first + vc, k] - old_vert[first + vc, k])
            velocity[i, k] = moved / span_s
            radial[i] += velocity[i, k] * d[k]
