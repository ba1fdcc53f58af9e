"""Rays that leave from the same point, found by the bits of their origins."""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_sim.jit import inline_jit, jit

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads near-equal bit patterns (Knuth, TAOCP 6.4)
_SHIFT = np.uint64(29)


@inline_jit
def _hash(x, y, z):
    mixed = (np.uint64(x) * _MIX) ^ (np.uint64(x) >> _SHIFT)
    mixed = (mixed ^ np.uint64(y)) * _MIX
    mixed = ((mixed ^ (mixed >> _SHIFT)) ^ np.uint64(z)) * _MIX
    return mixed ^ (mixed >> _SHIFT)


@jit
def group_by_origin(origin, most) -> Any:
    """Number the distinct origins in order of first appearance.

    Args:
        origin: (N, 3) f64.
        most: give up when there are more distinct origins than this.

    Returns:
        (N,) i64 group of each ray, and (G,) i64 rays in each group; G = 0 when there were more than ``most``.
    """
    bits = origin.view(np.int64)
    n = len(origin)
    slots = 4
    while slots < 2 * most:
        slots *= 2
    first_ray = np.full(slots, -1, np.int64)
    group_of_slot = np.zeros(slots, np.int64)
    group = np.zeros(n, np.int64)
    size = np.zeros(most, np.int64)
    found = 0
    for i in range(n):
        x, y, z = bits[i, 0], bits[i, 1], bits[i, 2]
        slot = np.int64(_hash(x, y, z) & np.uint64(slots - 1))
        while True:
            j = first_ray[slot]
            if j < 0:
                if found == most:
                    return group, size[:0]
                first_ray[slot] = i
                group_of_slot[slot] = found
                found += 1
                break
            if bits[j, 0] == x and bits[j, 1] == y and bits[j, 2] == z:
                break
            slot = (slot + 1) % slots
        group[i] = group_of_slot[slot]
        size[group[i]] += 1
    return group, size[:found]


@jit
def order_by_group(group, size) -> Any:
    """Rows sorted by group, equal groups in their first order (a counting sort).

    Returns:
        (N,) i64 permutation, and whether it moves anything at all.
    """
    place = np.zeros(len(size), np.int64)
    for g in range(1, len(size)):
        place[g] = place[g - 1] + size[g - 1]
    order = np.empty(len(group), np.int64)
    moved = False
    for i in range(len(group)):
        to = place[group[i]]
        place[group[i]] += 1
        order[to] = i
        moved |= to != i
    return order, moved
