"""Points to pixels: a camera, a depth buffer, shading by depth; NumPy only."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lidar_sim.records import F32, F64, I64

_NEAR_M = 0.05
_MAX_SPLAT_PX = 9
# Strength and reach of the eye-dome lighting.
_SHADE_STRENGTH = 6.0
_SHADE_REACH_PX = (2, 4)


@dataclass(frozen=True, slots=True)
class View:
    """Where the beholder stands, world frame (z up).

    Attributes:
        target: (3,) m, the point in the middle of the picture.
        azimuth_deg: direction of looking, counter-clockwise from x.
        elevation_deg: how far down the look goes, 90 = straight down (the top of the picture is then
            ``azimuth_deg``).
        distance_m: from the eye to the target.
        half_height_ratio: half the picture's height over the distance (tangent of half the vertical angle).
        parallel: no perspective: a map.
    """

    target: F64
    azimuth_deg: float
    elevation_deg: float
    distance_m: float = 10.0
    half_height_ratio: float = 0.36
    parallel: bool = False

    def axes(self) -> F64:
        """(3, 3) rows right, up, forward in the world frame."""
        azimuth, elevation = math.radians(self.azimuth_deg), math.radians(self.elevation_deg)
        forward = [
            math.cos(elevation) * math.cos(azimuth),
            math.cos(elevation) * math.sin(azimuth),
            -math.sin(elevation),
        ]
        right = [math.sin(azimuth), -math.cos(azimuth), 0.0]
        return np.array([right, np.cross(right, forward), forward])

    def eye(self) -> F64:
        """(3,) m."""
        return np.asarray(self.target - self.distance_m * self.axes()[2])

    def project(self, points: F64) -> tuple[F64, F64]:
        """Screen coordinates (N, 2), in half heights, right and up of the middle; depth (N,) m."""
        seen = (points - self.eye()) @ self.axes().T
        depth = seen[:, 2]
        scale = np.full_like(depth, self.distance_m) if self.parallel else np.maximum(depth, _NEAR_M)
        return seen[:, :2] / (scale * self.half_height_ratio)[:, None], depth


def fit(view: View, points: F64, aspect: float, *, fill: float = 0.95, outliers_percent: float = 0.8) -> View:
    """The view moved and set back so that the points fill the picture.

    Args:
        view: its direction and kind are kept.
        points: (N, 3) m.
        aspect: width over height of the picture.
        fill: share of the picture that they shall fill.
        outliers_percent: share of the points that may lie outside on each side.
    """
    if not len(points):
        return view
    cuts = [outliers_percent, 100.0 - outliers_percent]
    low, high = np.percentile(points, cuts, axis=0)
    view = replace(view, target=(low + high) / 2, distance_m=2.0 * max(float(np.linalg.norm(high - low)), 0.5))
    for _ in range(6):
        screen, depth = view.project(points)
        edges = np.percentile(screen[depth > _NEAR_M], cuts, axis=0)
        middle = edges.mean(axis=0)
        right, up, _forward = view.axes()
        moved = view.target + view.distance_m * view.half_height_ratio * (middle[0] * right + middle[1] * up)
        zoom = max((edges[1, 0] - edges[0, 0]) / (2 * aspect), (edges[1, 1] - edges[0, 1]) / 2) / fill
        view = replace(view, target=moved, distance_m=max(view.distance_m * float(zoom), 0.2))
    return view


def splat(
    points: F64, colors: F32, view: View, size_px: tuple[int, int], *, point_m: float = 0.03, least_px: int = 1
) -> F32:
    """Picture of coloured points: the nearest wins its pixels, edges in depth are shaded.

    Args:
        points: (N, 3) m.
        colors: (N, 3) red green blue, 0..1.
        view: the beholder.
        size_px: width, height.
        point_m: side of the square that a point stands for.
        least_px: its least side on the picture.

    Returns:
        (height, width, 4) f32 red green blue alpha, alpha 0 where no point is.
    """
    width, height = size_px
    screen, depth = view.project(points)
    x = (screen[:, 0] * height / 2 + width / 2).astype(np.int64)
    y = (height / 2 - screen[:, 1] * height / 2).astype(np.int64)
    inside = (depth > _NEAR_M) & (x > -_MAX_SPLAT_PX) & (x < width + _MAX_SPLAT_PX)
    inside &= (y > -_MAX_SPLAT_PX) & (y < height + _MAX_SPLAT_PX)
    x, y, depth, colors = x[inside], y[inside], depth[inside], colors[inside]
    reach = np.full_like(depth, view.distance_m) if view.parallel else depth
    side = np.clip(np.rint(point_m * height / (2 * view.half_height_ratio * reach)), least_px, _MAX_SPLAT_PX)
    owner = _nearest(x, y, depth, side.astype(np.int64), size_px)
    return _shaded(owner, depth, colors)


def _nearest(x: I64, y: I64, depth: F64, side: I64, size_px: tuple[int, int]) -> I64:
    """(height, width) row of the nearest point whose square covers each pixel, -1 = none."""
    width, height = size_px
    pixels, points = [], []
    largest = int(side.max(initial=0))
    for step_y in range(largest):
        for step_x in range(largest):
            chosen = np.flatnonzero(side > max(step_x, step_y))
            column, row = x[chosen] + step_x - side[chosen] // 2, y[chosen] + step_y - side[chosen] // 2
            visible = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            pixels.append((row * width + column)[visible])
            points.append(chosen[visible])
    owner = np.full(width * height, -1, np.int64)
    if not pixels:
        return owner.reshape(height, width)
    pixel, point = np.concatenate(pixels), np.concatenate(points)
    far_to_near = np.argsort(-depth[point], kind="stable")
    owner[pixel[far_to_near]] = point[far_to_near]  # of equal indices the last, nearest one stays
    return owner.reshape(height, width)


def _shaded(owner: I64, depth: F64, colors: F32) -> F32:
    """Eye-dome lighting: a pixel darkens by how much nearer its neighbours are (Boucheny 2009)."""
    covered = owner >= 0
    image = np.zeros((*owner.shape, 4), np.float32)
    if not covered.any():
        return image
    log_depth = np.full(owner.shape, np.inf, np.float32)
    log_depth[covered] = np.log2(depth[owner[covered]])
    slope = np.zeros(owner.shape, np.float32)
    for reach in _SHADE_REACH_PX:
        padded = np.pad(log_depth, reach, constant_values=np.inf)
        rows, columns = owner.shape
        for shift_y, shift_x in ((0, 1), (2, 1), (1, 0), (1, 2)):
            near = padded[shift_y * reach :, shift_x * reach :][:rows, :columns]
            difference = np.where(covered, log_depth, 0.0) - near
            slope += np.clip(difference, 0.0, 0.3) * (2.0 / reach)
    shade = np.exp2(-_SHADE_STRENGTH * slope / (4 * len(_SHADE_REACH_PX)))
    image[covered, :3] = colors[owner[covered]] * np.maximum(shade[covered], 0.15)[:, None]
    image[covered, 3] = 1.0
    return image
