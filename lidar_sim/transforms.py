"""Rigid motion: quaternions (w x y z, as MuJoCo), poses along a track, slerp."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lidar_sim.jit import inline_jit, jit

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Below this angle (rad) sin(x)/x is 1 to double precision and slerp becomes a normalised lerp.
_SMALL_ANGLE = 1e-9


@inline_jit
def rotate(w, x, y, z, vx, vy, vz):  # type: ignore[no-untyped-def]
    """Vector (vx, vy, vz) turned by the unit quaternion (w, x, y, z)."""
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


@inline_jit
def slerp(aw, ax, ay, az, bw, bx, by, bz, phase):  # type: ignore[no-untyped-def]
    """Unit quaternion at ``phase`` in [0, 1] on the shorter arc from a to b (Shoemake 1985)."""
    dot = aw * bw + ax * bx + ay * by + az * bz
    sign = -1.0 if dot < 0.0 else 1.0
    # The chord, not acos(dot), which loses half the digits for small turns.
    dw, dx, dy, dz = sign * bw - aw, sign * bx - ax, sign * by - ay, sign * bz - az
    if dw == 0.0 and dx == 0.0 and dy == 0.0 and dz == 0.0:
        return aw, ax, ay, az  # at rest to the last bit, whatever the phase
    half_chord = 0.5 * math.sqrt(dw * dw + dx * dx + dy * dy + dz * dz)
    angle = 2.0 * math.asin(min(half_chord, 1.0))
    if angle < _SMALL_ANGLE:
        wa, wb = 1.0 - phase, sign * phase
    else:
        wa = math.sin((1.0 - phase) * angle) / math.sin(angle)
        wb = sign * math.sin(phase * angle) / math.sin(angle)
    w, x, y, z = wa * aw + wb * bw, wa * ax + wb * bx, wa * ay + wb * by, wa * az + wb * bz
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    return w / norm, x / norm, y / norm, z / norm


@jit
def _interpolate(track_ns, track_position, track_quaternion, time_ns, position, quaternion):  # type: ignore[no-untyped-def]
    last = len(track_ns) - 1
    for i in range(len(time_ns)):
        t = time_ns[i]
        k = np.searchsorted(track_ns, t, side="right") - 1
        if k < 0 or k >= last:
            k = min(max(k, 0), last)
            position[i] = track_position[k]
            quaternion[i] = track_quaternion[k]
            continue
        phase = (t - track_ns[k]) / (track_ns[k + 1] - track_ns[k])
        for j in range(3):
            position[i, j] = track_position[k, j] + phase * (track_position[k + 1, j] - track_position[k, j])
        a, b = track_quaternion[k], track_quaternion[k + 1]
        w, x, y, z = slerp(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], phase)
        quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3] = w, x, y, z


def interpolate_poses(track_ns: I64, track_position: F64, track_quaternion: F64, time_ns: I64) -> tuple[F64, F64]:
    """Poses at given times on a track; held at both ends.

    Args:
        track_ns: (K,) ns, strictly increasing.
        track_position: (K, 3) m.
        track_quaternion: (K, 4) unit, w x y z.
        time_ns: (N,) ns.

    Returns:
        (N, 3) m positions, linear between samples, and (N, 4) unit quaternions, slerped.
    """
    position = np.empty((len(time_ns), 3))
    quaternion = np.empty((len(time_ns), 4))
    _interpolate(
        np.ascontiguousarray(track_ns, np.int64),
        np.ascontiguousarray(track_position, np.float64),
        np.ascontiguousarray(track_quaternion, np.float64),
        np.ascontiguousarray(time_ns, np.int64),
        position,
        quaternion,
    )
    return position, quaternion


def quaternion_multiply(a: F64, b: F64) -> F64:
    """Hamilton product a * b of (..., 4) quaternions w x y z: b is applied first."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def quaternion_conjugate(q: F64) -> F64:
    """Inverse of (..., 4) unit quaternions w x y z."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate_vectors(q: F64, v: F64) -> F64:
    """Vectors (..., 3) turned by unit quaternions (..., 4), broadcast against each other."""
    w, u = q[..., :1], q[..., 1:]
    t = 2.0 * np.cross(u, v)
    return np.asarray(v + w * t + np.cross(u, t))


def compose(position_a: F64, quaternion_a: F64, position_b: F64, quaternion_b: F64) -> tuple[F64, F64]:
    """T_a * T_b of poses (..., 3) m and (..., 4): b's frame seen through a."""
    return (
        position_a + rotate_vectors(quaternion_a, position_b),
        quaternion_multiply(quaternion_a, quaternion_b),
    )


def invert(position: F64, quaternion: F64) -> tuple[F64, F64]:
    """Inverse of poses (..., 3) m and (..., 4)."""
    inverse = quaternion_conjugate(quaternion)
    return -rotate_vectors(inverse, position), inverse


def matrix_to_quaternion(matrix: F64) -> F64:
    """Unit quaternion (4,) w x y z of one (3, 3) rotation matrix, w >= 0 (Bar-Itzhack 2000)."""
    m = np.asarray(matrix, np.float64).reshape(3, 3)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = m
    k = np.array(
        [
            [xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, xx - yy - zz, xy + yx, xz + zx],
            [xz - zx, xy + yx, yy - xx - zz, yz + zy],
            [yx - xy, xz + zx, yz + zy, zz - xx - yy],
        ]
    )
    q = np.linalg.eigh(k)[1][:, -1]
    return np.asarray(q if q[0] >= 0.0 else -q)


def quaternion_to_matrix(q: F64) -> F64:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    return np.stack([rotate_vectors(q, axis) for axis in np.eye(3)], axis=-1)


def euler_to_quaternion(roll_deg: float, pitch_deg: float, yaw_deg: float) -> F64:
    """Unit quaternion (4,) of Rz(yaw) Ry(pitch) Rx(roll), angles in degrees, REP-103 axes."""
    (cr, sr), (cp, sp), (cy, sy) = (
        (math.cos(math.radians(a) / 2), math.sin(math.radians(a) / 2)) for a in (roll_deg, pitch_deg, yaw_deg)
    )
    return np.array(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )
