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
from lidar_sim.pictures.seen import draw_seen
from lidar_sim.pictures.splat import View, fit, splat
from lidar_sim.records import F32, F64, Scan
from lidar_sim.transforms import rotate_vectors

VIEWS = ("perspective", "top")

_SUPERSAMPLING = 2
_LOOK_DOWN_DEG = 34.0
_LOOK_ASIDE_DEG = 24.0
_WIDE_IMAGE = 3.0  # columns per row from which on an image lies below the cloud, not beside it
_BAR_PX = 14
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
    main, side = _layout(figure, scan.shape, size_px)
    chosen = _view("top" if flat else view, forward)
    shown = rows & _facing(scan, world, chosen, rows)
    _draw_cloud(figure, main, world[shown], replace(coloring, rgb=coloring.rgb[shown]), chosen, size_px, eye[None])
    draw_seen(side, scan, rows)
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
    _draw_cloud(figure, main, points, paint(points[:, 2], "turbo", "height m"), chosen, size_px, way)
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


def _layout(figure: Any, shape: tuple[int, int] | None, size_px: tuple[int, int]) -> tuple[Any, Any]:
    """Axes of the cloud and of what the device saw: below it if that is wide, beside it otherwise."""
    width, height = size_px
    if shape is not None and shape[1] > _WIDE_IMAGE * shape[0]:
        strip = int(0.19 * height)
        main = _pixel_axes(figure, (20, strip + 70, width - 120, height - strip - 140), size_px)
        return main, _pixel_axes(figure, (70, 44, width - 170, strip - 10), size_px)
    column = int(0.34 * width)
    main = _pixel_axes(figure, (column + 90, 24, width - column - 190, height - 94), size_px)
    ratio = 1.0 if shape is None else shape[0] / shape[1]
    side_height = min(int(ratio * (column - 60)), height - 150)
    return main, _pixel_axes(figure, (70, (height - side_height) // 2, column - 60, side_height), size_px)


def _pixel_axes(figure: Any, box_px: tuple[int, int, int, int], size_px: tuple[int, int]) -> Any:
    (left, bottom, width, height), (full_width, full_height) = box_px, size_px
    axes = figure.add_axes((left / full_width, bottom / full_height, width / full_width, height / full_height))
    canvas.dark_axes(axes)
    return axes


def _draw_cloud(
    figure: Any, axes: Any, points: F64, coloring: Coloring, view: View, size_px: tuple[int, int], way: F64
) -> None:
    box = axes.get_position()
    width, height = round(box.width * size_px[0]), round(box.height * size_px[1])
    # The sensor shall be in the picture, too.
    framed = np.concatenate([points, np.repeat(way, len(points) // (50 * len(way)) + 1, axis=0)])
    view = fit(view, framed, width / height)
    image = splat(
        points,
        coloring.rgb,
        view,
        (width * _SUPERSAMPLING, height * _SUPERSAMPLING),
        point_m=_point_m(points),
        least_px=_SUPERSAMPLING,
    )
    axes.set_xticks([])
    axes.set_yticks([])
    aspect = width / height
    _draw_ground_rings(axes, view, way[-1], points)
    axes.imshow(_downsampled(image), extent=(-aspect, aspect, -1, 1), aspect="auto", interpolation="none", zorder=2)
    _draw_way(axes, view, way)
    axes.set_xlim(-aspect, aspect)
    axes.set_ylim(-1, 1)
    bar = _pixel_axes(
        figure,
        (round((box.x1) * size_px[0]) + 14, round(box.y0 * size_px[1]) + height // 4, _BAR_PX, height // 2),
        size_px,
    )
    canvas.color_bar(figure, bar, limits=coloring.limits, colormap=palette_map(coloring.palette), label=coloring.label)


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


def _draw_ground_rings(axes: Any, view: View, eye: F64, points: F64) -> None:
    """Circles of round radii about the sensor on the ground, for scale."""
    if not len(points):
        return
    ground = float(np.percentile(points[:, 2], 2.0))
    reach = float(np.percentile(np.linalg.norm(points[:, :2] - eye[:2], axis=1), 95.0))
    step = next((r for r in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0) if reach / r <= 5), 100.0)
    turn = np.linspace(0.0, 2 * np.pi, 181)
    for radius in np.arange(step, reach + step / 2, step):
        circle = np.stack([eye[0] + radius * np.cos(turn), eye[1] + radius * np.sin(turn), 0 * turn + ground], 1)
        screen, depth = view.project(circle)
        screen[depth < 0.2] = np.nan
        axes.plot(*screen.T, color=canvas.GRID, lw=0.8, zorder=1)
        top = int(np.nanargmax(screen[:, 1])) if np.isfinite(screen).any() else 0
        axes.text(
            *screen[top], f"{radius:g} m", color=canvas.FAINT_INK, size=8, ha="center", va="bottom", zorder=3,
            clip_on=True,
        )  # fmt: skip


def _draw_way(axes: Any, view: View, way: F64) -> None:
    screen, depth = view.project(way)
    if (depth < 0.2).any():
        return
    axes.plot(*screen.T, color="white", lw=1.6, alpha=0.9, zorder=3)
    axes.plot(*screen[-1], "o", color="white", ms=7, mec="black", mew=1.2, zorder=4)


def _facts(scan: Scan, rows: Any) -> str:
    distances = scan["range"][rows]
    reach = f"   {distances.min():.2f} to {distances.max():.2f} m" if len(distances) else "   no return"
    return (
        f"{scan.sensor}   frame {scan.frame_number} at {scan.stamp_ns * 1e-9:.3f} s   {int(rows.sum()):,} points{reach}"
    )
