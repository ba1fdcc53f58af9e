"""What is drawn over and under a cloud for orientation: rings on the ground, the sensor, its way, its forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lidar_sim.pictures import canvas
from lidar_sim.pictures.splat import View
from lidar_sim.records import F64, I64

_STEPS_M = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_MOST_RINGS = 5
_NEAREST_DEPTH_M = 0.2
# Share of the half picture that a label keeps from its edge.
_MARGIN = 0.05
_CORNERS = 181
# Side of the cells, in half heights of the picture, in which a label looks for points below it.
_CELL = 0.05


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the ground lies below a cloud, and how far the cloud reaches.

    Attributes:
        height_m: of the ground.
        step_m: radius of the first ring, and distance from each to the next.
        rings: how many there are.
    """

    height_m: float
    step_m: float
    rings: int


def ground_below(points: F64, eye: F64) -> Ground:
    """Ground of a cloud (N, 3) m seen from ``eye`` (3,) m, with five rings or fewer."""
    if not len(points):
        return Ground(float(eye[2]), 1.0, 0)
    height_m = min(float(np.percentile(points[:, 2], 2.0)), float(eye[2]))
    reach_m = float(np.percentile(np.linalg.norm(points[:, :2] - eye[:2], axis=1), 95.0))
    step_m = next((step for step in _STEPS_M if reach_m / step <= _MOST_RINGS), 200.0)
    return Ground(height_m, step_m, max(int(reach_m / step_m + 0.5), 1))


def draw_ground_rings(axes: Any, view: View, eye: F64, ground: Ground, aspect: float, points: F64) -> None:
    """Circles of round radii about the sensor, each with its radius where it is in the picture.

    Args:
        axes: of matplotlib, in the screen coordinates of ``view``.
        view: the beholder.
        eye: (3,) m, the sensor.
        ground: where they lie.
        aspect: width over height of the picture.
        points: (N, 3) m, the cloud, which the labels keep off where they can.
    """
    taken = _taken(view, points, aspect)
    turn = np.linspace(0.0, 2 * np.pi, _CORNERS)
    for number in range(1, ground.rings + 1):
        radius_m = number * ground.step_m
        circle = np.stack(
            [eye[0] + radius_m * np.cos(turn), eye[1] + radius_m * np.sin(turn), 0 * turn + ground.height_m], 1
        )
        screen, depth = view.project(circle)
        screen[depth < _NEAREST_DEPTH_M] = np.nan
        axes.plot(*screen.T, color=canvas.GRID, lw=0.9, zorder=1)
        with np.errstate(invalid="ignore"):
            shown = (np.abs(screen[:, 0]) < aspect - _MARGIN) & (np.abs(screen[:, 1]) < 1 - _MARGIN)
        if shown.any():
            places = screen[shown]
            free = ~taken[_cells(places, aspect)]
            places = places[free] if free.any() else places
            _label(axes, places[places[:, 1].argmax()], f"{radius_m:g} m")


def _taken(view: View, points: F64, aspect: float) -> NDArray[np.bool_]:
    """Which cells of the picture hold points, or have a neighbour to the left or right that does."""
    screen, depth = view.project(points)
    inside = (depth > _NEAREST_DEPTH_M) & (np.abs(screen) < [aspect, 1.0]).all(axis=1)
    held = np.zeros((int(2 * aspect / _CELL) + 1, int(2 / _CELL) + 1), np.bool_)
    held[_cells(screen[inside], aspect)] = True
    wide = np.pad(held, ((1, 1), (0, 0)))
    return np.asarray(wide[:-2] | wide[1:-1] | wide[2:])


def _cells(screen: F64, aspect: float) -> tuple[I64, I64]:
    places = ((screen + np.array([aspect, 1.0])) / _CELL).astype(np.int64)
    return places[:, 0], places[:, 1]


def _label(axes: Any, at: F64, text: str) -> None:
    box = {"facecolor": canvas.BACKGROUND, "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
    axes.text(*at, text, color=canvas.INK, size=8, ha="center", va="center", zorder=5, bbox=box)


def draw_sensor(axes: Any, view: View, way: F64, forward: F64, ground: Ground) -> None:
    """The way of the sensor, where it is, a line down to the ground, and an arrow forward.

    Args:
        axes: of matplotlib, in the screen coordinates of ``view``.
        view: the beholder.
        way: (K, 3) m, the sensor is at the last one.
        forward: (3,) unit, world frame.
        ground: where the line ends.
    """
    eye = way[-1]
    foot = np.array([eye[0], eye[1], ground.height_m])
    tip = eye + 0.6 * ground.step_m * forward
    screen, depth = view.project(np.concatenate([way, foot[None], tip[None]]))
    seen = depth > _NEAREST_DEPTH_M
    if seen[: len(way)].all():
        axes.plot(*screen[: len(way)].T, color="white", lw=1.6, alpha=0.9, zorder=3)
        if seen[-2]:
            axes.plot(*screen[[-3, -2]].T, ":", color="white", lw=1.2, zorder=3)
            axes.plot(*screen[-2], "x", color="white", ms=5, mew=1.2, zorder=3)
        if seen[-1]:
            arrow = {"arrowstyle": "-|>", "color": "white", "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", screen[-1], screen[-3], arrowprops=arrow, zorder=4, annotation_clip=False)
        axes.plot(*screen[-3], "o", color="white", ms=7, mec="black", mew=1.2, zorder=6)
