"""Hashing of voxels: open addressing over packed voxel indices."""

from __future__ import annotations

import numpy as np

from lidar_sim.jit import inline_jit, jit

EMPTY = np.int64(-1)
# Finaliser of MurmurHash3 (Appleby, public domain): neighbours in space land far apart in the table.
_MIX_A = np.uint64(0xFF51AFD7ED558CCD)
_MIX_B = np.uint64(0xC4CEB9FE1A85EC53)
_33 = np.uint64(33)


@inline_jit
def _place(key, mask):  # type: ignore[no-untyped-def]
    h = np.uint64(key)
    h ^= h >> _33
    h *= _MIX_A
    h ^= h >> _33
    h *= _MIX_B
    h ^= h >> _33
    return np.int64(h & np.uint64(mask))


@inline_jit
def _seek(table_key, key):  # type: ignore[no-untyped-def]
    """Place of ``key`` in the table, or the empty place where it belongs."""
    mask = len(table_key) - 1
    place = _place(key, mask)
    while table_key[place] != key and table_key[place] != EMPTY:
        place = (place + 1) & mask
    return place


@jit
def claim(table_key, table_slot, key, count, slot, opened):  # type: ignore[no-untyped-def]
    """Give every key its slot; new keys open the next ones, in the order in which they come.

    Args:
        table_key: (2^k,) packed voxel indices, EMPTY where free; written to.
        table_slot: (2^k,) slot of each key; written to.
        key: (N,) packed voxel indices, >= 0; the table must have room for all of them.
        count: slots taken so far.
        slot: (N,) out, slot of each point.
        opened: (N,) out, the first entries are the rows that opened slots ``count``, ``count + 1``, ...

    Returns:
        Slots taken now.
    """
    first = count
    for i in range(len(key)):
        place = _seek(table_key, key[i])
        if table_key[place] == EMPTY:
            table_key[place] = key[i]
            table_slot[place] = count
            opened[count - first] = i
            count += 1
        slot[i] = table_slot[place]
    return count


@jit
def rehash(old_key, old_slot, table_key, table_slot):  # type: ignore[no-untyped-def]
    """Bring all keys of a table over into a larger, empty one."""
    for i in range(len(old_key)):
        if old_key[i] != EMPTY:
            place = _seek(table_key, old_key[i])
            table_key[place] = old_key[i]
            table_slot[place] = old_slot[i]


@jit
def add_points(point, slot, total, number):  # type: ignore[no-untyped-def]
    """Add points (N, 3) to the sums (S, 3) and counts (S,) of their slots (N,)."""
    for i in range(len(slot)):
        for j in range(3):
            total[slot[i], j] += point[i, j]
        number[slot[i]] += 1
