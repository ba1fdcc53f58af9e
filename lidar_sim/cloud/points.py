"""The points of one frame: a column for each field, written batch by batch while the batch is at hand."""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from lidar_sim.cloud.kernels.points import write_points
from lidar_sim.fields import FIELDS
from lidar_sim.records import U16, Array, Firings, Hits, RayBatch, Returns

# In the order in which the kernel takes them.
_MEASURED = ("x", "y", "z", "range", "intensity", "signal", "ring", "column", "return_number", "flags", "firing")
_TRUTH = (
    *("true_distance", "geom", "body", "flex", "normal_x", "normal_y", "normal_z", "cos_incidence"),
    *("velocity_x", "velocity_y", "velocity_z", "radial_velocity"),
)
_COLUMNS = (*_MEASURED, *_TRUTH, "t")
_firing_arrays = attrgetter(*Firings.__slots__)
_hit_arrays = attrgetter(
    *("distance", "geom", "body", "flex", "normal", "cos_incidence", "velocity", "radial_velocity"),
)
_return_arrays = attrgetter(*Returns.__slots__)


class FramePoints:
    """Points of a frame under way, one row for each valid return, or for each return where misses are kept.

    Args:
        room: points to make room for at first.
        stamp_ns: simulation time of the frame's first firing.
        keep_misses: False leaves out the rows without a return.
    """

    def __init__(self, room: int, *, stamp_ns: int, keep_misses: bool) -> None:
        self.stamp_ns = stamp_ns
        self._keep_misses = keep_misses
        self._count = 0
        self._room = room
        self._columns: dict[str, Array] = {name: np.empty(room, FIELDS[name].dtype) for name in _COLUMNS}
        self._measured = tuple(self._columns[name] for name in _MEASURED)
        self._truth = tuple(self._columns[name] for name in _TRUTH)

    def add(self, firings: Firings, rays: RayBatch, hits: Hits, returns: Returns, first: int, last: int) -> None:
        """Take rows [first, last) of the returns of a batch."""
        if self._count + last - first > self._room:
            self._resize(2 * self._room + last - first)
        self._count = write_points(
            first,
            last,
            self._count,
            self._keep_misses,
            self.stamp_ns,
            _firing_arrays(firings),
            rays.time_ns,
            _hit_arrays(hits),
            _return_arrays(returns),
            self._measured,
            self._truth,
            self._columns["t"],
        )

    def fields(self, *, ring_to_row: U16 | None, planar: bool) -> dict[str, Array]:
        """Fields (N,) in the order and types of ``fields.FIELDS``; nothing can be added any more.

        Args:
            ring_to_row: (rings,) row of the organised view for each ring, None where there is no such view.
            planar: True adds ``depth``.
        """
        self._resize(self._count)
        found = dict(self._columns)
        if planar:
            found["depth"] = found["x"].copy()
        if ring_to_row is not None:
            found["row"] = np.take(np.asarray(ring_to_row, FIELDS["row"].dtype), found["ring"])
        return {name: found[name] for name in FIELDS if name in found}

    def _resize(self, room: int) -> None:
        """Grow or trim the columns where they lie."""
        self._room = room
        for column in self._columns.values():
            column.resize(room, refcheck=False)
