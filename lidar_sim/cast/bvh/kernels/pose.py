"""Geoms put where they stand or move: their records, motions and boxes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lidar_sim.cast.bvh.kernels.layout import (
    G_MATRIX,
    G_MOTION,
    G_POSITION,
    M_AXIS,
    M_HALF_ANGLE,
    M_LOCAL_PIVOT,
    M_PIVOT,
    M_SHIFT,
)
from lidar_sim.jit import inline_jit, jit

# Two units in the last place of f32.
_ULP = np.float32(1.3e-7)
# Rounding of poses and sizes, m and relative to the size.
_ROUNDING = 1e-9
# Far outside any scene, and products of three still finite in f64.
_OUTERMOST = 1e37


@inline_jit
def _same(last, slot, pose, column, width):
    """Whether numbers are those of the last time; they are noted."""
    same = True
    for k in range(width):
        same &= last[slot, column + k] == pose[k]
        last[slot, column + k] = pose[k]
    return same


@jit
def _world_box(position, matrix, local_box, pad, box):
    """Box (6,) f64 in the world around a geom in one pose."""
    for k in range(3):
        row = matrix[3 * k : 3 * k + 3]
        centre = position[k] + row[0] * local_box[0] + row[1] * local_box[1] + row[2] * local_box[2]
        half = abs(row[0]) * local_box[3] + abs(row[1]) * local_box[4] + abs(row[2]) * local_box[5]
        half = half * (1.0 + _ROUNDING) + _ROUNDING + pad
        box[k] = min(box[k], centre - half)
        box[3 + k] = max(box[3 + k], centre + half)


@jit
def _write_box(box, boxes, slot):
    """Rounded outwards to f32; a pose that is not finite, which no ray can hit, gets a box all the same."""
    for k in range(3):
        lower = max(min(box[k], _OUTERMOST), -_OUTERMOST) if box[k] == box[k] else 0.0
        upper = max(min(box[3 + k], _OUTERMOST), -_OUTERMOST) if box[3 + k] == box[3 + k] else 0.0
        lower_f32, upper_f32 = np.float32(lower), np.float32(upper)
        boxes[slot, k] = lower_f32 - abs(lower_f32) * _ULP
        boxes[slot, 3 + k] = upper_f32 + abs(upper_f32) * _ULP


@jit
def _relative_turn(before, after):
    """Quaternion (w >= 0) of before^T after, of rotation matrices row by row (S. Shepperd, 1978)."""
    m = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            m[i, j] = before[i] * after[j] + before[3 + i] * after[3 + j] + before[6 + i] * after[6 + j]
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    q = np.empty(4)
    if trace > 0.0:
        s = 2.0 * math.sqrt(trace + 1.0)
        q[0] = 0.25 * s
        q[1], q[2], q[3] = (m[2, 1] - m[1, 2]) / s, (m[0, 2] - m[2, 0]) / s, (m[1, 0] - m[0, 1]) / s
    else:
        i = 0 if m[0, 0] >= m[1, 1] and m[0, 0] >= m[2, 2] else (1 if m[1, 1] >= m[2, 2] else 2)
        j, k = (i + 1) % 3, (i + 2) % 3
        s = 2.0 * math.sqrt(max(1.0 + m[i, i] - m[j, j] - m[k, k], 0.0))
        q[0] = (m[k, j] - m[j, k]) / s
        q[1 + i], q[1 + j], q[1 + k] = 0.25 * s, (m[j, i] + m[i, j]) / s, (m[k, i] + m[i, k]) / s
    return -q if q[0] < 0.0 else q


@jit
def _write_motion(motion, position, matrix, pivot, turn, shift):
    """Fill a motion record; the angle in rad."""
    length = math.sqrt(turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3])
    motion[M_HALF_ANGLE] = math.atan2(length, turn[0])
    for k in range(3):
        motion[M_PIVOT + k] = pivot[k]
        motion[M_SHIFT + k] = shift[k]
        motion[M_AXIS + k] = turn[1 + k] / length if length > 0.0 else 0.0
        motion[M_LOCAL_PIVOT + k] = 0.0
        for j in range(3):
            motion[M_LOCAL_PIVOT + k] += matrix[3 * j + k] * (pivot[j] - position[j])
    return 2.0 * motion[M_HALF_ANGLE]


@inline_jit
def _sag(motion, local_box, angle):
    """Most that a point of the geom leaves the straight line between its two ends, m.

    On a circle of radius r, a point turning by an angle is never farther than r angle^2 / 8 from where even motion
    along the chord would have it (the error bound of linear interpolation).
    """
    away, reach = 0.0, 0.0
    for k in range(3):
        away += (motion[M_LOCAL_PIVOT + k] - local_box[k]) ** 2
        reach += local_box[3 + k] ** 2
    return (math.sqrt(away) + math.sqrt(reach)) * angle * angle / 8.0


@jit
def pose_geoms(ids, bounded, before, after, local_boxes, records, motions, boxes, last) -> Any:
    """Write what changed since the last call.

    Args:
        ids: (K,) i32 geom of each record.
        bounded: the first so many have boxes.
        before: geom position (G, 3) m, rotation (G, 9), pivot (G, 3) m, all in the world, at phase 0.
        after: the same at phase 1.
        local_boxes: (G, 6) f64 m, centre and half lengths in the geom's frame.
        records: (K, 16) f64, geom records.
        motions: (K, 16) f64, motion records.
        boxes: (K, 6) f32, lower and upper corners in the world.
        last: (K, 30) f64, poses of the last call; NaN = never.

    Returns:
        How many records changed.
    """
    records_i32 = records.view(np.int32)
    changed = 0
    box = np.empty(6)
    for slot in range(len(ids)):
        g = ids[slot]
        same = _same(last, slot, before[0][g], 0, 3)
        same &= _same(last, slot, before[1][g], 3, 9)
        same &= _same(last, slot, after[0][g], 12, 3)
        same &= _same(last, slot, after[1][g], 15, 9)
        same &= _same(last, slot, before[2][g], 24, 3)
        same &= _same(last, slot, after[2][g], 27, 3)
        if same:
            continue
        changed += 1
        box[:3], box[3:] = np.inf, -np.inf
        if (before[0][g] == after[0][g]).all() and (before[1][g] == after[1][g]).all():
            records_i32[slot, G_MOTION] = -1
            _world_box(after[0][g], after[1][g], local_boxes[g], 0.0, box)
        else:
            records_i32[slot, G_MOTION] = slot
            turn = _relative_turn(before[1][g], after[1][g])
            shift = after[2][g] - before[2][g]
            angle = _write_motion(motions[slot], before[0][g], before[1][g], before[2][g], turn, shift)
            pad = _sag(motions[slot], local_boxes[g], angle)
            _world_box(before[0][g], before[1][g], local_boxes[g], pad, box)
            _world_box(after[0][g], after[1][g], local_boxes[g], pad, box)
        for k in range(3):
            records[slot, G_POSITION + k] = before[0][g, k]
        for k in range(9):
            records[slot, G_MATRIX + k] = before[1][g, k]
        if slot < bounded:
            _write_box(box, boxes, slot)
    return changed
