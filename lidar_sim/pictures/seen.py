"""What the device saw, in its own order: a range or depth image, a range plot, or directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_sim.cloud import to_frame
from lidar_sim.pictures import canvas
from lidar_sim.pictures.coloring import palette_rgb, robust_limits
from lidar_sim.records import Array, Scan


def draw_seen(axes: Any, scan: Scan, rows: Any) -> None:
    """The range image of an organised device, a range plot of one row, or directions by range.

    Args:
        axes: of matplotlib.
        scan: in any frame.
        rows: (N,) bool, which rows of the scan hold a point.
    """
    if scan.shape is not None and scan.shape[0] > 1:
        _draw_image(axes, scan)
    elif scan.shape is not None:
        _draw_profile(axes, scan, rows)
    else:
        _draw_directions(axes, scan, rows)


def _draw_image(axes: Any, scan: Scan) -> None:
    planar = "depth" in scan.fields and scan.fields["depth"].any() and not _has_turn(scan)
    image = scan.organized("depth" if planar else "range")
    if not planar:
        image = destaggered(image, scan)
    colors = palette_rgb(np.nan_to_num(image), robust_limits(image), "turbo_r")
    rgba = np.concatenate([colors, np.isfinite(image)[..., None]], axis=-1)
    axes.imshow(rgba, aspect="auto", interpolation="none" if image.shape[0] < 200 else "antialiased")
    canvas.axes_title(axes, f"{'depth' if planar else 'range'} image, near red to far blue")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("column")
    axes.set_ylabel("row")


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
    axes.plot(scan["column"][rows], scan["range"][rows], ".", ms=2, color="#58a6ff")
    axes.set_xlabel("column (firing order)")
    axes.set_ylabel("range m")
    axes.grid(color=canvas.GRID, lw=0.5)


def _draw_directions(axes: Any, scan: Scan, rows: Any) -> None:
    points = (scan if scan.frame == "sensor" else to_frame(scan, "sensor")).points[rows]
    distance = np.linalg.norm(points, axis=1)
    azimuth = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    elevation = np.degrees(np.arcsin(np.clip(points[:, 2] / np.maximum(distance, 1e-9), -1, 1)))
    colors = palette_rgb(distance, robust_limits(distance), "turbo_r")
    axes.scatter(azimuth, elevation, s=1.2, c=colors, linewidths=0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.invert_xaxis()
    canvas.axes_title(axes, "directions, near red to far blue")
    axes.set_xlabel("azimuth deg (left positive)")
    axes.set_ylabel("elevation deg")
