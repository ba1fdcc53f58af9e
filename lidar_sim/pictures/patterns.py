"""Picture of where a device looks: one frame's directions, coloured by firing time."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np

from lidar_sim.pictures import canvas
from lidar_sim.pictures.coloring import palette_map
from lidar_sim.profile import DeviceProfile
from lidar_sim.records import Firings

_PALETTE = "turbo"
_MOST_DOTS = 150_000


class FiringPattern(Protocol):
    """What a picture needs of a pattern."""

    def frame_start(self, frame: int) -> int:
        """Index of the first beam of a frame."""
        ...

    def firings(self, first: int, last: int) -> Firings:
        """Beams [first, last)."""
        ...


def draw_pattern(
    profile: DeviceProfile,
    pattern: FiringPattern,
    path: str | Path,
    *,
    frame: int = 0,
    size_px: tuple[int, int] = (1600, 800),
) -> Path:
    """Directions of one frame over azimuth and elevation, coloured by firing time.

    Args:
        profile: names the picture.
        pattern: the profile's pattern.
        path: a .png.
        frame: which frame.
        size_px: width, height.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OptionError: a size that cannot be drawn.
        ExportError: a path that cannot be written.
    """
    figure = canvas.new_figure(size_px)
    firings = pattern.firings(pattern.frame_start(frame), pattern.frame_start(frame + 1))
    azimuth_deg, elevation_deg = _angles(firings)
    time_ms = (firings.time_ns - firings.time_ns[0]) * 1e-6
    every = -(-len(firings) // _MOST_DOTS)
    axes = figure.add_axes((0.06, 0.1, 0.85, 0.76))
    canvas.dark_axes(axes)
    side = max(0.6, min(6.0, 400_000 / len(firings)))
    axes.scatter(
        azimuth_deg[::every],
        elevation_deg[::every],
        s=side,
        c=time_ms[::every],
        cmap=palette_map(_PALETTE),
        linewidths=0,
    )
    if np.ptp(azimuth_deg) < 180.0:
        axes.set_aspect("equal", adjustable="datalim")
    axes.invert_xaxis()
    axes.grid(color=canvas.GRID, lw=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("azimuth deg (left positive, as seen from the sensor)")
    axes.set_ylabel("elevation deg")
    bar = figure.add_axes((0.93, 0.2, 0.01, 0.56))
    limits = (0.0, max(float(time_ms.max()), 1e-3))
    canvas.color_bar(figure, bar, limits=limits, colormap=palette_map(_PALETTE), label="firing time ms")
    canvas.heading(figure, profile.title, _facts(profile, firings, azimuth_deg, elevation_deg, every))
    return canvas.save(figure, path)


def _angles(firings: Firings) -> tuple[np.ndarray, np.ndarray]:
    x, y, z = firings.direction.T
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arcsin(np.clip(z, -1.0, 1.0)))


def _facts(
    profile: DeviceProfile, firings: Firings, azimuth_deg: np.ndarray, elevation_deg: np.ndarray, every: int
) -> str:
    mode = f"   mode {profile.default_mode}" if profile.default_mode else ""
    drawn = "" if every == 1 else f" (one in {every} drawn)"
    return (
        f"{len(firings):,} beams in one frame{drawn}{mode}   azimuth {azimuth_deg.min():.2f} to "
        f"{azimuth_deg.max():.2f}   elevation {elevation_deg.min():.2f} to {elevation_deg.max():.2f} deg"
    )
