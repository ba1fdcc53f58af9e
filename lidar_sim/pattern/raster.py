"""Pinhole camera: all pixels of a frame at one time, x of the sensor frame is the optical axis."""

from __future__ import annotations

import numpy as np

from lidar_sim.pattern.kernels.beams import allocate
from lidar_sim.pattern.kernels.raster import fire_raster
from lidar_sim.pattern.pattern import checked_beams, checked_frame
from lidar_sim.pattern.rates import LAST_NS, NS_PER_S, ceil_product, fixed_rate, rational
from lidar_sim.profile import schema
from lidar_sim.records import U16, Firings


class Raster:
    """Beam = frame * H * W + v * W + u, fired at floor(frame / rate) ns.

    Pixel (u, v) looks along (1, -(u - cx) / fx, -(v - cy) / fy), normalised: forward, left, up. The ring is the
    image row v, 0 at the top, the column is u.

    Args:
        spec: the pattern of a profile.
        seed: not used; this pattern has nothing random.
    """

    def __init__(self, spec: schema.Raster, seed: int = 0) -> None:
        self.rows = spec.height_px
        self.ring_to_row: U16 | None = np.arange(self.rows, dtype=np.uint16)
        self._width = spec.width_px
        self._pinhole = (spec.fx_px, spec.fy_px, spec.cx_px, spec.cy_px)
        self._ns_per_frame = NS_PER_S / rational(spec.rate_hz)
        self.frame_period_ns = float(self._ns_per_frame)
        self._kernel_rate = fixed_rate(self._ns_per_frame)
        self._end = min(self.index_at(LAST_NS), LAST_NS)

    def index_at(self, time_ns: int) -> int:
        """First pixel whose time is >= ``time_ns``; always the first of a frame."""
        return self.frame_start(ceil_product(max(int(time_ns), 0), 1 / self._ns_per_frame))

    def frame_start(self, frame: int) -> int:
        """First pixel of image ``frame``."""
        return checked_frame(frame) * self.rows * self._width

    def frame_shape(self, frame: int) -> tuple[int, int]:
        """(height, width) in pixels."""
        checked_frame(frame)
        return self.rows, self._width

    def firings(self, first: int, last: int) -> Firings:
        """Beams [first, last)."""
        first, last = checked_beams(first, last, self._end)
        beams = allocate(last - first)
        fire_raster(first, last, self._width, self.rows, *self._pinhole, self._kernel_rate, beams)
        return Firings(*beams)
