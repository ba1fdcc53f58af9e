"""Kernel of pinhole cameras: all pixels of a frame at one time."""

from __future__ import annotations

import math

from lidar_sim.jit import jit
from lidar_sim.pattern.kernels.beams import Beams
from lidar_sim.pattern.kernels.fixed_point import FixedRate, multiply


@jit
def fire_raster(
    first: int,
    last: int,
    width: int,
    height: int,
    fx: float,
    fy: float,
    cx: float,
    cy: float,
    ns_per_frame: FixedRate,
    out: Beams,
) -> None:
    """Pixels [first, last), row by row, frame after frame.

    Args:
        first: int64 first pixel.
        last: int64 pixel after the last.
        width: int64 pixels.
        height: int64 pixels.
        fx: focal length in pixels, horizontal; ``fy`` vertical.
        fy: see ``fx``.
        cx: column of the principal point; ``cy`` its row.
        cy: see ``cx``.
        ns_per_frame: FixedRate.
        out: Beams of last - first rows, origins already zero.
    """
    for line in range(first // width, (last + width - 1) // width):
        frame = line // height
        v = line - frame * height
        time_ns, _ = multiply(frame, ns_per_frame)
        z = -(v - cy) / fy
        base = line * width
        for u in range(max(first - base, 0), min(last - base, width)):
            row = base + u - first
            y = -(u - cx) / fx
            norm = math.sqrt(1.0 + y * y + z * z)
            out.beam[row] = base + u
            out.time_ns[row] = time_ns
            out.direction[row, 0] = 1.0 / norm
            out.direction[row, 1] = y / norm
            out.direction[row, 2] = z / norm
            out.ring[row] = v
            out.column[row] = u
            out.frame[row] = frame
