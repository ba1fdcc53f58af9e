"""Memory for hits, used again as soon as nobody looks at it any more."""

from __future__ import annotations

import sys

import numpy as np

from lidar_sim.records import I32, U8, Array, Hits

# Two references: the attribute and the argument of getrefcount. Every view of the block adds one.
_NOBODY_LOOKS = 2
_ALIGN = 64
_BYTES_PER_RAY = 8 + 4 + 4 + 24 + 8


class Room:
    """Gives arrays for hits, all carved from one block.

    Fresh memory costs a page fault every 4 KiB, together more than casting the rays in a small scene. The block
    is handed out again only when all arrays of the last time are gone. ``flex``, -1 throughout, is one array for all
    and read-only.
    """

    def __init__(self) -> None:
        self._block: U8 = np.empty(0, np.uint8)
        self._no_flex: I32 = np.empty(0, np.int32)

    def hits(self, count: int) -> Hits:
        """Hits of ``count`` rays, to be filled in."""
        needed = count * _BYTES_PER_RAY + 5 * _ALIGN
        fits = needed <= self._block.nbytes <= 4 * needed
        if not fits or sys.getrefcount(self._block) > _NOBODY_LOOKS:
            self._block = np.empty(needed, np.uint8)
        if count > len(self._no_flex):
            self._no_flex = np.full(count, -1, np.int32)
            self._no_flex.flags.writeable = False
        self._used = 0
        return Hits(
            distance=self._carve((count,), np.float64),
            geom=self._carve((count,), np.int32),
            body=self._carve((count,), np.int32),
            flex=self._no_flex[:count],
            normal=self._carve((count, 3), np.float64),
            cos_incidence=self._carve((count,), np.float64),
        )

    def _carve(self, shape: tuple[int, ...], dtype: type) -> Array:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        start = self._used
        self._used += -(-size // _ALIGN) * _ALIGN
        return self._block[start : start + size].view(dtype).reshape(shape)
