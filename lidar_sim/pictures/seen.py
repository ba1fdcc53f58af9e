"""What the device saw, in its own order: a range or depth image, a range plot, or directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_sim.cloud import to_frame
from lidar_sim.pictures import canvas
from lidar_sim.pictures.coloring import Coloring, paint, palette_map
from lidar_sim.records import F64, Array, Scan

_PALETTE = "turbo_r"  # near red, far blue, as the cloud has it when it is coloured by distance


def seen_ratio(scan: Scan, rows: Any) -> float:
    """Width over height in which the view of the device is drawn: its grid's, or that of its field of view.

    Args:
        scan: in any frame.
        rows: (N,) bool, which rows of the scan hold a point.
    """
    if scan.shape is not None:
        return scan.shape[1] / scan.shape[0]
    if not rows.any():
        return 1.0
    azimuth, elevation, _ = _angles(scan, rows)
    (left, right), (low, high) = canvas.angle_limits(azimuth), canvas.angle_limits(elevation)
    return (right - left) / (high - low)


def draw_seen(axes: Any, bar: Any, scan: Scan, rows: Any, *, horizontal: bool) -> None:
    """The range image of an organised device, a range plot of one row, or directions by range.

    Args:
        axes: of matplotlib.
        bar: axes of its colour scale; taken away where there is none.
        scan: in any frame.
        rows: (N,) bool, which rows of the scan hold a point.
        horizontal: how the scale lies.
    """
    if scan.shape is not None and scan.shape[0] > 1:
        coloring = _draw_image(axes, scan)
    elif scan.shape is not None:
        _draw_profile(axes, scan, rows)
        bar.remove()
        return
    else:
        coloring = _draw_directions(axes, scan, rows)
    canvas.color_bar(
        axes.figure,
        bar,
        limits=coloring.limits,
        colormap=palette_map(coloring.palette),
        label=coloring.label,
        logarithmic=coloring.logarithmic,
        horizontal=horizontal,
    )


def _draw_image(axes: Any, scan: Scan) -> Coloring:
    planar = "depth" in scan.fields and scan.fields["depth"].any() and not _has_turn(scan)
    name = "depth" if planar else "range"
    image = scan.organized(name)
    if not planar:
        image = destaggered(image, scan)
    coloring = paint(image, _PALETTE, f"{name} m", logarithmic=True)
    rgba = np.concatenate([coloring.rgb, np.isfinite(image)[..., None]], axis=-1)
    axes.imshow(rgba, aspect="auto", interpolation="none" if image.shape[0] < 200 else "antialiased")
    canvas.axes_title(axes, f"{name} image")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("column")
    axes.set_ylabel("row")
    return coloring


def destaggered(image: Array, scan: Scan) -> Array:
    """Rows of an image moved so that what lies above one another in the world does so in the picture.

    The lasers of one column may look in different directions (Ouster: up to 3 degrees apart).

    Args:
        image: (rows, columns) of the scan.
        scan: gives the directions.
    """
    points = (scan if scan.frame == "sensor" else to_frame(scan, "sensor")).organized()
    towards = points[..., 0] + 1j * points[..., 1]
    with np.errstate(invalid="ignore"):
        towards = np.nan_to_num(towards / np.abs(towards))
    reference = towards[np.count_nonzero(towards, axis=1).argmax()]
    step_rad = np.angle(np.sum(reference[1:] * np.conj(reference[:-1])))
    if abs(step_rad) < 1e-6:
        return image
    ahead_rad = np.angle(np.sum(towards * np.conj(reference), axis=1))
    shifts = np.rint(ahead_rad / step_rad).astype(int)
    return np.stack([np.roll(row, shift) for row, shift in zip(image, shifts, strict=True)])


def _has_turn(scan: Scan) -> bool:
    """Whether points lie behind the sensor plane: then it is no camera."""
    x = scan.fields["x"]
    return scan.frame == "sensor" and bool((x[np.isfinite(x)] < 0.0).any())


def _draw_profile(axes: Any, scan: Scan, rows: Any) -> None:
    azimuth, _, distance = _angles(scan, rows)
    axes.scatter(azimuth, distance, s=9, c=paint(distance, _PALETTE, "", logarithmic=True).rgb, linewidths=0)
    canvas.angle_axis(axes, azimuth, "x")
    axes.invert_xaxis()
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("azimuth deg (left positive)")
    axes.set_ylabel("range m")
    axes.grid(color=canvas.GRID, lw=0.5)
    axes.set_axisbelow(True)


def _draw_directions(axes: Any, scan: Scan, rows: Any) -> Coloring:
    azimuth, elevation, distance = _angles(scan, rows)
    coloring = paint(distance, _PALETTE, "range m", logarithmic=True)
    axes.scatter(azimuth, elevation, s=1.6, c=coloring.rgb, linewidths=0)
    axes.set_aspect("equal", adjustable="box")
    canvas.angle_axis(axes, azimuth, "x")
    canvas.angle_axis(axes, elevation, "y")
    axes.invert_xaxis()
    canvas.axes_title(axes, "directions of the points")
    axes.set_xlabel("azimuth deg (left positive)")
    axes.set_ylabel("elevation deg")
    return coloring


def _angles(scan: Scan, rows: Any) -> tuple[F64, F64, F64]:
    """Azimuth and elevation (deg) and distance (m) of the points, sensor frame."""
    points = (scan if scan.frame == "sensor" else to_frame(scan, "sensor")).points[rows]
    distance = np.linalg.norm(points, axis=1)
    azimuth = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    elevation = np.degrees(np.arcsin(np.clip(points[:, 2] / np.maximum(distance, 1e-9), -1, 1)))
    return azimuth, elevation, distance
