"""Projection by closed form, the nearest point on top, a view that fits."""

from __future__ import annotations

import numpy as np
import pytest

from lidar_sim.pictures.splat import View, fit, splat

SIZE_PX = (80, 60)
# Splatting rounds to whole pixels; projections themselves are exact to double precision.
EXACT = 1e-12
RED, GREEN = np.array([1.0, 0.0, 0.0], np.float32), np.array([0.0, 1.0, 0.0], np.float32)


@pytest.mark.parametrize("azimuth_deg", [0.0, 37.0, 90.0, 200.0])
@pytest.mark.parametrize("elevation_deg", [0.0, 30.0, 90.0])
@pytest.mark.parametrize("parallel", [False, True])
def test_the_target_is_in_the_middle_and_the_axes_are_a_rotation(azimuth_deg, elevation_deg, parallel):
    view = View(np.array([1.0, 2.0, 3.0]), azimuth_deg, elevation_deg, 5.0, parallel=parallel)
    screen, depth = view.project(view.target[None])
    assert np.abs(screen).max() < EXACT
    assert depth[0] == pytest.approx(5.0, abs=EXACT)
    axes = view.axes()
    assert np.allclose(axes @ axes.T, np.eye(3), atol=EXACT)
    assert axes[1, 2] >= -EXACT, "up in the picture is never down in the world"


def test_left_is_left_and_up_is_up():
    view = View(np.zeros(3), 0.0, 10.0)
    screen, _ = view.project(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert screen[0, 0] < 0.0  # y is to the left of one who looks along x
    assert screen[1, 1] > 0.0


def test_perspective_halves_at_twice_the_distance_and_a_map_does_not():
    points = np.array([[0.0, 1.0, 0.0], [10.0, 1.0, 0.0]])
    near, far = View(np.zeros(3), 0.0, 0.0, 10.0).project(points)[0][:, 0]
    assert far == pytest.approx(near / 2, abs=EXACT)
    near, far = View(np.zeros(3), 0.0, 0.0, 10.0, parallel=True).project(points)[0][:, 0]
    assert far == pytest.approx(near, abs=EXACT)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_nearer_point_covers_the_farther_whatever_their_order(order):
    points = np.array([[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])[order]
    colors = np.stack([RED, GREEN])[order]
    image = splat(points, colors, View(np.array([2.0, 0.0, 0.0]), 0.0, 0.0, 10.0), SIZE_PX)
    covered = image[..., 3] > 0
    assert covered.any()
    assert (image[covered][:, 0] > 0).all()
    assert (image[covered][:, 1] == 0).all()


def test_a_point_alone_lies_at_its_projection():
    view = View(np.zeros(3), 0.0, 0.0, 10.0)
    point = np.array([[0.0, 1.0, 0.5]])
    image = splat(point, RED[None], view, SIZE_PX, point_m=0.0)
    (x, y), _ = view.project(point)[0][0], None
    row, column = np.argwhere(image[..., 3] > 0)[0]
    assert np.count_nonzero(image[..., 3]) == 1
    assert abs(column - (SIZE_PX[0] / 2 + x * SIZE_PX[1] / 2)) <= 1
    assert abs(row - (SIZE_PX[1] / 2 - y * SIZE_PX[1] / 2)) <= 1


def test_what_is_behind_the_beholder_is_not_drawn():
    image = splat(np.array([[-20.0, 0.0, 0.0]]), RED[None], View(np.zeros(3), 0.0, 0.0, 10.0), SIZE_PX)
    assert not image.any()


def test_no_points_make_an_empty_picture():
    assert not splat(np.empty((0, 3)), np.empty((0, 3), np.float32), View(np.zeros(3), 0.0, 0.0), SIZE_PX).any()
    view = View(np.zeros(3), 0.0, 0.0)
    assert fit(view, np.empty((0, 3)), 1.5) is view


@pytest.mark.parametrize("parallel", [False, True])
def test_a_fitted_view_holds_the_points_and_fills_the_picture(parallel):
    points = np.random.default_rng(1).uniform([-8, -3, 0], [20, 9, 4], (5000, 3))
    aspect = 1.6
    view = fit(View(np.zeros(3), 30.0, 35.0, parallel=parallel), points, aspect, outliers_percent=0.0)
    screen, depth = view.project(points)
    assert (depth > 0).all()
    reach = np.maximum(np.abs(screen[:, 0]).max() / aspect, np.abs(screen[:, 1]).max())
    assert 0.85 < reach <= 1.0  # 0.95 asked for, reached by a few steps of a fixed-point iteration
