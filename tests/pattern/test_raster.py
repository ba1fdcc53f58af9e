"""Pinhole cameras: every direction projects back onto its pixel."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

# Pixels; float64 at a few hundred pixels.
PIXEL_TOLERANCE = 1e-10

D435I = {
    "kind": "raster",
    "width_px": 424,
    "height_px": 240,
    "fx_px": 211.403,
    "fy_px": 211.5,
    "cx_px": 212.56,
    "cy_px": 117.73,
    "rate_hz": 30,
    "source": "test",
}
PIXELS = 424 * 240


def test_directions_project_back_onto_their_pixels(build_pattern):
    f = build_pattern(D435I).firings(0, PIXELS)
    forward, left, up = f.direction.T
    v, u = np.divmod(np.arange(PIXELS), 424)
    np.testing.assert_allclose(D435I["fx_px"] * -left / forward + D435I["cx_px"], u, atol=PIXEL_TOLERANCE)
    np.testing.assert_allclose(D435I["fy_px"] * -up / forward + D435I["cy_px"], v, atol=PIXEL_TOLERANCE)
    assert np.array_equal(f.ring, v)
    assert np.array_equal(f.column, u)
    assert np.all(f.origin == 0.0)
    assert np.all(forward > 0.0)


def test_a_depth_image_of_a_wall_unprojects_to_the_wall(build_pattern):
    """Planar depth is what the camera measures: ray length times the forward part of the direction."""
    f = build_pattern(D435I).firings(0, PIXELS)
    ray_length_m = 3.0 / f.direction[:, 0]
    points = ray_length_m[:, None] * f.direction
    np.testing.assert_allclose(points[:, 0], 3.0, rtol=1e-15)
    np.testing.assert_allclose(points[:, 1], -3.0 * (f.column - 212.56) / 211.403, atol=1e-13)


def test_the_top_left_pixel_looks_left_and_up(build_pattern):
    direction = build_pattern(D435I).firings(0, 1).direction[0]
    assert direction[1] > 0.0
    assert direction[2] > 0.0


@pytest.mark.parametrize("frame", [0, 1, 2, 31, 10**7 + 1])
@pytest.mark.parametrize("rate", [30, 29.97, 90])
def test_all_pixels_of_an_image_have_its_time(build_pattern, frame, rate):
    pattern = build_pattern(D435I, rate_hz=rate)
    f = pattern.firings(frame * PIXELS, (frame + 1) * PIXELS)
    assert set(f.time_ns) == {math.floor(frame * Fraction(10**9) / Fraction(str(rate)))}
    assert pattern.frame_shape(frame) == (240, 424)
    assert np.array_equal(pattern.ring_to_row, np.arange(240))
