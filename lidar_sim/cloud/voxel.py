"""Many scans gathered into one map in the world frame, thinned to one point a voxel."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from lidar_sim.cloud.kernels import voxels
from lidar_sim.cloud.motion import to_frame
from lidar_sim.errors import OptionError, unknown_name
from lidar_sim.records import F64, I64, Array, Scan

KEEP = ("first", "centroid")

_OF_ONE_FRAME = ("t", "row", "column")
_BITS = 21
_HALF = 1 << (_BITS - 1)
_SMALLEST_TABLE = 1 << 12


class VoxelMap:
    """A map that grows scan by scan; every voxel holds one point, in the order in which voxels were first seen.

    Args:
        voxel_m: edge of the voxels; their corners lie at whole multiples of it in the world frame.
        keep: "first" keeps the first point of each voxel, "centroid" the mean of all. All other fields are
            those of the first point in both.

    Raises:
        OptionError: an edge that is not positive, or another ``keep``.
    """

    def __init__(self, voxel_m: float, *, keep: str = "first") -> None:
        if not (math.isfinite(voxel_m) and voxel_m > 0.0):
            raise OptionError(f"voxel_m must be a positive number of metres, found {voxel_m!r}")
        if keep not in KEEP:
            raise OptionError(unknown_name("keep", keep, KEEP))
        self._voxel_m = float(voxel_m)
        self._table = _SlotTable()
        self._gathered = _Gathered()
        self._means = _Means() if keep == "centroid" else None

    def __len__(self) -> int:
        return len(self._table)

    def add(self, scan: Scan) -> None:
        """Add the points of a scan in any frame; rows without a return are passed over.

        Raises:
            OptionError: a point farther from the origin than 2^20 voxels.
        """
        world = _returns_in_world(scan)
        slot, opened = self._table.slots(_packed(world.points, self._voxel_m))
        self._gathered.add(world, opened)
        if self._means is not None:
            self._means.add(world.points, slot, len(self._table))

    def scan(self) -> Scan:
        """The map as a Scan in the world frame; see ``accumulate``.

        Raises:
            OptionError: nothing was added yet.
        """
        gathered = self._gathered.scan()
        if self._means is None:
            return gathered
        mean = self._means.mean(len(self._table))
        return replace(gathered, fields={**gathered.fields, **dict(zip("xyz", mean.T.copy(), strict=True))})


def accumulate(scans: Iterable[Scan], voxel_m: float | None = None, *, keep: str = "first") -> Scan:
    """One map in the world frame of many scans.

    The result is a Scan without grid, with device, stamp, track and info of the first scan. It has the fields
    that all scans have, except ``t``, ``row`` and ``column``, which mean something within one frame only.

    Args:
        scans: in any frames, of any devices.
        voxel_m: edge of the voxels, None = all points.
        keep: "first" or "centroid", see ``VoxelMap``.

    Raises:
        OptionError: no scans, a scan that is not in a list, or a faulty option.
    """
    if isinstance(scans, Scan):
        raise OptionError("accumulate takes several scans, found one: put it in a list")
    gathered = _Gathered() if voxel_m is None else VoxelMap(voxel_m, keep=keep)
    for scan in scans:
        gathered.add(scan) if isinstance(gathered, VoxelMap) else gathered.add(_returns_in_world(scan))
    return gathered.scan()


class _Gathered:
    """Chosen points of scans in the world frame, one part a scan."""

    def __init__(self) -> None:
        self._first: Scan | None = None
        self._parts: list[dict[str, Array]] = []

    def add(self, world: Scan, rows: I64 | None = None) -> None:
        names = [name for name in world.fields if name not in _OF_ONE_FRAME]
        if self._first is None:
            self._first = replace(world, fields={})
        elif self._parts[0].keys() != set(names):
            names = [name for name in self._parts[0] if name in names]
            self._parts = [{name: part[name] for name in names} for part in self._parts]
        chosen = slice(None) if rows is None else rows
        self._parts.append({name: world[name][chosen].copy() for name in names})

    def scan(self) -> Scan:
        if self._first is None:
            raise OptionError("a map needs at least one scan, found none")
        fields = {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}
        return replace(self._first, fields=fields, shape=None)


class _SlotTable:
    """Hash table from packed voxel index to slot."""

    def __init__(self) -> None:
        self._allocate(_SMALLEST_TABLE)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def slots(self, key: I64) -> tuple[I64, I64]:
        """Slot (N,) of each key (N,), and the rows (M,) that opened the M new slots, in their order."""
        self._make_room(self._count + len(key))
        slot, opened = np.empty(len(key), np.int64), np.empty(len(key), np.int64)
        before = self._count
        self._count = int(voxels.claim(self._key, self._slot, key, before, slot, opened))  # type: ignore[no-untyped-call]
        return slot, opened[: self._count - before]

    def _make_room(self, wanted: int) -> None:
        size = len(self._key)
        while size < 2 * wanted:
            size *= 2
        if size > len(self._key):
            old_key, old_slot = self._key, self._slot
            self._allocate(size)
            voxels.rehash(old_key, old_slot, self._key, self._slot)  # type: ignore[no-untyped-call]

    def _allocate(self, size: int) -> None:
        self._key = np.full(size, voxels.EMPTY, np.int64)
        self._slot = np.zeros(size, np.int64)


class _Means:
    """Sum and number of the points in each slot."""

    def __init__(self) -> None:
        self._total = np.zeros((_SMALLEST_TABLE, 3))
        self._number = np.zeros(_SMALLEST_TABLE, np.int64)

    def add(self, points: F64, slot: I64, count: int) -> None:
        missing = count - len(self._number)
        if missing > 0:
            more = max(missing, len(self._number))
            self._total = np.concatenate([self._total, np.zeros((more, 3))])
            self._number = np.concatenate([self._number, np.zeros(more, np.int64)])
        voxels.add_points(points, slot, self._total, self._number)  # type: ignore[no-untyped-call]

    def mean(self, count: int) -> F64:
        """(S, 3) m."""
        return np.asarray(self._total[:count] / self._number[:count, None])


def _returns_in_world(scan: Scan) -> Scan:
    world = to_frame(scan, "world")
    found = np.isfinite(world["x"])
    if found.all():
        return world
    return replace(world, fields={name: values[found] for name, values in world.fields.items()}, shape=None)


def _packed(points: F64, voxel_m: float) -> I64:
    """Voxel index of each point, three times 21 bits in one int64."""
    index = np.floor(points / voxel_m)
    if len(index) and not np.abs(index).max() < _HALF:
        raise OptionError(
            f"voxel_m {voxel_m:g} is too small for points {np.abs(points).max():.6g} m from the origin:"
            f" a map reaches {_HALF} voxels each way"
        )
    shifted = index.astype(np.int64) + _HALF
    return (shifted[:, 0] << (2 * _BITS)) | (shifted[:, 1] << _BITS) | shifted[:, 2]
