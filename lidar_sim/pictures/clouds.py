"""Pictures of point clouds without a display: the cloud in the round, beside it what the device saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lidar_sim.cloud import to_frame
from lidar_sim.errors import OptionError, unknown_name
from lidar_sim.pictures import canvas
from lidar_sim.pictures.coloring import Coloring, color_by, paint, palette_map
from lidar_sim.pictures.markers import draw_ground_rings, draw_sensor, ground_below
from lidar_sim.pictures.seen import draw_seen, seen_ratio
from lidar_sim.pictures.splat import View, fit, splat
from lidar_sim.records import F32, F64, Scan
from lidar_sim.transforms import rotate_vectors

VIEWS = ("perspective", "top")

_SUPERSAMPLING = 2
_LOOK_DOWN_DEG = 34.0
_LOOK_ASIDE_DEG = 24.0
_WIDE_IMAGE = 3.0  # columns per row from which on an image lies below the cloud, not beside it
_BAR_PX = 14
_DOT_OF_ONE_ROW_PX = 4
# A few points far away must not make all others small; of a map more is asked, to be whole.
_OUTLIERS_OF_A_SCAN, _OUTLIERS_OF_A_MAP = 2.0, 0.5
_SMALLEST_POINT_M, _LARGEST_POINT_M = 0.004, 0.03
_SPREAD = 1.7  # more than the mean spacing, for points lie denser near the sensor


def draw_scan(
    scan: Scan,
    path: str | Path,
    *,
    color: str | None = None,
    view: str = "perspective",
    title: str | None = None,
    size_px: tuple[int, int] = (1600, 1000),
) -> Path:
    """Picture of one scan: the cloud in the world frame, and the image (or directions) as the device saw them.

    Surfaces turned away from the beholder are left out where the scan holds the true normals, so that one
    looks into a closed room through its ceiling.

    Args:
        scan: in any frame.
        path: a .png.
        color: "height", "distance" or a field of the scan; None = height, for a scanner of one row distance.
        view: one of ``VIEWS``; a scanner of one row is always seen from the top.
        title: first line, None = the device's name.
        size_px: width, height.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OptionError: an unknown view or colour, or a size that cannot be drawn.
        ExportError: a path that cannot be written.
    """
    if view not in VIEWS:
        raise OptionError(unknown_name("view", view, VIEWS))
    figure = canvas.new_figure(size_px)
    world, rows = _world_points(scan)
    forward, eye = _sensor(scan)
    flat = scan.shape is not None and scan.shape[0] == 1
    coloring = color_by(color or ("distance" if flat else "height"), scan, world, eye)
    canvas.heading(figure, title or scan.device, _facts(scan, rows))
    main, side, bar, horizontal = _layout(figure, seen_ratio(scan, rows), scan.shape is not None, size_px)
    chosen = _view("top" if flat else view, forward)
    shown = rows & _facing(scan, world, chosen, rows)
    _draw_cloud(
        figure,
        main,
        world[shown],
        replace(coloring, rgb=coloring.rgb[shown]),
        chosen,
        size_px,
        eye[None],
        forward,
        least_px=_DOT_OF_ONE_ROW_PX if flat else 1,
    )
    draw_seen(side, bar, scan, rows, horizontal=horizontal)
    return canvas.save(figure, path)


def draw_map(
    scans: Sequence[Scan],
    path: str | Path,
    *,
    view: str = "top",
    title: str = "map",
    size_px: tuple[int, int] = (1600, 1000),
) -> Path:
    """Picture of many scans in one world, coloured by height, with the way of the sensor.

    Args:
        scans: in any frame, in order of time.
        path: a .png.
        view: one of ``VIEWS``.
        title: first line.
        size_px: width, height.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OptionError: no scans, an unknown view, or a size that cannot be drawn.
        ExportError: a path that cannot be written.
    """
    if not scans:
        raise OptionError("a map needs at least one scan")
    if view not in VIEWS:
        raise OptionError(unknown_name("view", view, VIEWS))
    figure = canvas.new_figure(size_px)
    clouds = [_world_points(scan) for scan in scans]
    chosen = _view(view, _sensor(scans[0])[0])
    shown = [
        world[rows & _facing(scan, world, chosen, rows)] for scan, (world, rows) in zip(scans, clouds, strict=True)
    ]
    points = np.concatenate(shown)
    seconds = (scans[-1].stamp_ns - scans[0].stamp_ns) * 1e-9
    canvas.heading(figure, title, f"{len(scans)} scans over {seconds:.1f} s   {len(points):,} points")
    main = _pixel_axes(figure, (20, 24, size_px[0] - 120, size_px[1] - 94), size_px)
    way = np.concatenate([scan.track.position for scan in scans])
    coloring = paint(points[:, 2], "turbo", "height m")
    forward, _ = _sensor(scans[-1])
    _draw_cloud(figure, main, points, coloring, chosen, size_px, way, forward, outliers_percent=_OUTLIERS_OF_A_MAP)
    return canvas.save(figure, path)


def _world_points(scan: Scan) -> tuple[F64, Any]:
    """(N, 3) m in the world frame, and which rows hold a point."""
    world = scan if scan.frame == "world" else to_frame(scan, "world")
    points = world.points
    return points, np.isfinite(points).all(axis=1)


def _sensor(scan: Scan) -> tuple[F64, F64]:
    """Forward axis and position (3,) m of the sensor in the middle of the scan, world frame."""
    middle = len(scan.track.time_ns) // 2
    forward = rotate_vectors(scan.track.quaternion[middle], np.array([1.0, 0.0, 0.0]))
    return forward, scan.track.position[middle]


def _view(view: str, forward: F64) -> View:
    """From behind the sensor and above it, or straight down with its forward direction to the right."""
    heading_deg = float(np.degrees(np.arctan2(forward[1], forward[0])))
    if view == "top":
        return View(np.zeros(3), round(heading_deg / 90) * 90 + 90, 90.0, parallel=True)
    return View(np.zeros(3), heading_deg - _LOOK_ASIDE_DEG, _LOOK_DOWN_DEG)


def _facing(scan: Scan, world: F64, view: View, rows: Any) -> Any:
    """(N,) True where the surface is turned towards the beholder, or where its normal is not known."""
    if not all(f"normal_{axis}" in scan.fields for axis in "xyz") or not rows.any():
        return np.ones(len(world), np.bool_)
    normal = np.stack([scan[f"normal_{axis}"] for axis in "xyz"], axis=1).astype(np.float64)
    eye = fit(view, world[rows], 1.6).eye()
    to_eye = -view.axes()[2] if view.parallel else eye - world
    facing = np.sum(normal * to_eye, axis=1)
    return ~(facing < 0.0)


def _layout(figure: Any, ratio: float, drawn: bool, size_px: tuple[int, int]) -> tuple[Any, Any, Any, bool]:
    """Axes of the cloud, of what the device saw, of its scale, and whether that lies level.

    Args:
        figure: to draw in.
        ratio: width over height of what the device saw; from ``_WIDE_IMAGE`` on it lies below the cloud.
        drawn: its pixels need not be square: a strip of any height will do.
        size_px: width, height of the figure.
    """
    width, height = size_px
    if ratio > _WIDE_IMAGE:
        wanted = 0.19 * height if drawn else (width - 170) / ratio + 10
        strip = int(min(wanted, 0.28 * height))
        main = _pixel_axes(figure, (20, strip + 70, width - 120, height - strip - 140), size_px)
        side = _pixel_axes(figure, (70, 44, width - 170, strip - 10), size_px)
        return main, side, _pixel_axes(figure, (width - 86, 44, _BAR_PX, strip - 10), size_px), False
    column = int(0.34 * width)
    main = _pixel_axes(figure, (column + 90, 24, width - column - 190, height - 94), size_px)
    side_height = max(min(int((column - 60) / ratio), height - 230), 20)
    bottom = (height - side_height) // 2
    side = _pixel_axes(figure, (70, bottom, column - 60, side_height), size_px)
    return main, side, _pixel_axes(figure, (70, bottom - 74, column - 60, _BAR_PX), size_px), True


def _pixel_axes(figure: Any, box_px: tuple[int, int, int, int], size_px: tuple[int, int]) -> Any:
    (left, bottom, width, height), (full_width, full_height) = box_px, size_px
    axes = figure.add_axes((left / full_width, bottom / full_height, width / full_width, height / full_height))
    canvas.dark_axes(axes)
    return axes


def _draw_cloud(
    figure: Any,
    axes: Any,
    points: F64,
    coloring: Coloring,
    view: View,
    size_px: tuple[int, int],
    way: F64,
    forward: F64,
    *,
    least_px: int = 1,
    outliers_percent: float = _OUTLIERS_OF_A_SCAN,
) -> None:
    box = axes.get_position()
    width, height = round(box.width * size_px[0]), round(box.height * size_px[1])
    ground = ground_below(points, way[-1])
    foot = np.array([[way[-1, 0], way[-1, 1], ground.height_m]])
    framed = np.concatenate([_without_farthest(points, way.mean(axis=0), outliers_percent), way, foot])
    view = fit(view, framed, width / height, outliers_percent=0.0)
    image = splat(
        points,
        coloring.rgb,
        view,
        (width * _SUPERSAMPLING, height * _SUPERSAMPLING),
        point_m=_point_m(points),
        least_px=_SUPERSAMPLING * least_px,
    )
    axes.set_xticks([])
    axes.set_yticks([])
    aspect = width / height
    draw_ground_rings(axes, view, way[-1], ground, aspect, points)
    axes.imshow(_downsampled(image), extent=(-aspect, aspect, -1, 1), aspect="auto", interpolation="none", zorder=2)
    draw_sensor(axes, view, way, forward, ground)
    axes.set_xlim(-aspect, aspect)
    axes.set_ylim(-1, 1)
    bar = _pixel_axes(
        figure,
        (round((box.x1) * size_px[0]) + 14, round(box.y0 * size_px[1]) + height // 4, _BAR_PX, height // 2),
        size_px,
    )
    canvas.color_bar(
        figure,
        bar,
        limits=coloring.limits,
        colormap=palette_map(coloring.palette),
        label=coloring.label,
        logarithmic=coloring.logarithmic,
    )


def _without_farthest(points: F64, middle: F64, percent: float) -> F64:
    """The points but a share of them, those farthest from the middle."""
    if not len(points):
        return points
    distance = np.linalg.norm(points - middle, axis=1)
    return np.asarray(points[distance <= np.percentile(distance, 100.0 - percent)])


def _point_m(points: F64) -> float:
    """Side of the square that a point stands for: dense clouds are drawn with fine points."""
    if not len(points):
        return _LARGEST_POINT_M
    low, high = np.percentile(points, [5.0, 95.0], axis=0)
    spacing_m = _SPREAD * float(np.linalg.norm(high - low)) / len(points) ** 0.5
    return float(min(max(spacing_m, _SMALLEST_POINT_M), _LARGEST_POINT_M))


def _downsampled(image: F32) -> F32:
    """Mean of each square of pixels, alpha-weighted, so that edges are smooth."""
    n = _SUPERSAMPLING
    height, width = image.shape[0] // n, image.shape[1] // n
    blocks = image.reshape(height, n, width, n, 4)
    alpha = blocks[..., 3:].sum(axis=(1, 3))
    rgb = blocks[..., :3].sum(axis=(1, 3)) / np.maximum(alpha, 1.0)
    # A lone point on one of four pixels shall not fade to a quarter.
    return np.concatenate([rgb, np.minimum(alpha / (n * n) * 1.6, 1.0)], axis=-1)


def _facts(scan: Scan, rows: Any) -> str:
    distances = scan["range"][rows]
    reach = f"   {distances.min():.2f} to {distances.max():.2f} m" if len(distances) else "   no return"
    return (
        f"{scan.sensor}   frame {scan.frame_number} at {scan.stamp_ns * 1e-9:.3f} s   {int(rows.sum()):,} points{reach}"
    )
