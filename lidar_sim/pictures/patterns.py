"""Picture of where a device looks: one frame's directions, coloured by firing time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lidar_sim.pictures import canvas
from lidar_sim.pictures.coloring import palette_map
from lidar_sim.profile import DeviceProfile
from lidar_sim.records import Firings

_PALETTE = "turbo"
_MOST_DOTS = 150_000
_INNER_RADIUS = 0.15
_GRID_LINES = 17
_GRID_COLOR = "#58a6ff"


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
    at_once = not time_ms.any()
    if not np.ptp(elevation_deg):
        _draw_turn(figure, azimuth_deg, time_ms)
    elif at_once:
        every = 1
        _draw_grid(_angle_axes(figure, azimuth_deg, elevation_deg), firings, azimuth_deg, elevation_deg)
    else:
        axes = _angle_axes(figure, azimuth_deg, elevation_deg)
        side = max(0.6, min(6.0, 400_000 / len(firings)))
        colors = {"c": time_ms[::every], "cmap": palette_map(_PALETTE)}
        axes.scatter(azimuth_deg[::every], elevation_deg[::every], s=side, linewidths=0, **colors)
    bar = figure.add_axes((0.93, 0.2, 0.01, 0.56))
    if at_once:
        bar.set_axis_off()
        bar.text(0.5, 0.5, "all pixels at once", color=canvas.FAINT_INK, size=10, rotation=90, ha="center", va="center")
    else:
        limits = (0.0, float(time_ms.max()))
        canvas.color_bar(figure, bar, limits=limits, colormap=palette_map(_PALETTE), label="firing time ms")
    canvas.heading(figure, profile.title, _facts(profile, firings, azimuth_deg, elevation_deg, every))
    return canvas.save(figure, path)


def _angle_axes(figure: Any, azimuth_deg: np.ndarray, elevation_deg: np.ndarray) -> Any:
    """Axes of azimuth, left positive, and elevation; one degree is as long on both where the view is narrow."""
    axes = figure.add_axes((0.06, 0.1, 0.85, 0.76))
    canvas.dark_axes(axes)
    canvas.angle_axis(axes, azimuth_deg, "x")
    canvas.angle_axis(axes, elevation_deg, "y")
    if np.ptp(azimuth_deg) < 180.0:
        axes.set_aspect("equal", adjustable="box")
    axes.invert_xaxis()
    axes.grid(color=canvas.GRID, lw=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("azimuth deg (left positive, as seen from the sensor)")
    axes.set_ylabel("elevation deg")
    return axes


def _draw_turn(figure: Any, azimuth_deg: np.ndarray, time_ms: np.ndarray) -> None:
    """The beams of one row from above, forward up; each from the sensor outwards."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415  (an extra)

    axes = figure.add_axes((0.2, 0.1, 0.6, 0.74), projection="polar")
    axes.set_facecolor(canvas.PANEL)
    axes.set_theta_zero_location("N")
    azimuth = np.radians(azimuth_deg)
    ends = np.stack([np.stack([azimuth, np.full_like(azimuth, r)], 1) for r in (_INNER_RADIUS, 1.0)], 1)
    beams = LineCollection(list(ends), array=time_ms, cmap=palette_map(_PALETTE), linewidths=2.0)
    axes.add_collection(beams)
    axes.set_ylim(0.0, 1.05)
    axes.set_yticks([])
    turn_deg = np.arange(0, 360, 30)
    signed = np.where(turn_deg > 180, turn_deg - 360, turn_deg)
    axes.set_thetagrids(turn_deg, [f"{each}" for each in signed])
    axes.tick_params(colors=canvas.FAINT_INK, labelsize=9)
    axes.grid(color=canvas.GRID, lw=0.5)
    axes.spines["polar"].set_color(canvas.GRID)
    axes.text(0.5, -0.07, "azimuth deg, forward up, left positive", transform=axes.transAxes, ha="center", size=10,
              color=canvas.FAINT_INK)  # fmt: skip


def _draw_grid(axes: Any, firings: Firings, azimuth_deg: np.ndarray, elevation_deg: np.ndarray) -> None:
    """Lines along some rows and columns of an image, its edges among them."""
    for lines, along in ((firings.ring, firings.column), (firings.column, firings.ring)):
        numbers = np.unique(lines)
        chosen = numbers[np.unique(np.linspace(0, len(numbers) - 1, _GRID_LINES).astype(int))]
        for number in chosen:
            on = np.flatnonzero(lines == number)
            on = on[np.argsort(along[on])]
            edge = number in (numbers[0], numbers[-1])
            axes.plot(azimuth_deg[on], elevation_deg[on], color=_GRID_COLOR, lw=1.8 if edge else 0.8)


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
