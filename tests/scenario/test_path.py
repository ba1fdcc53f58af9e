from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lidar_sim.errors import ScenarioError
from lidar_sim.scenario.path import WaypointPath

# 32 nodes of Gauss-Legendre leave rounding; the places are metres of a few tens.
ROUNDING_M = 1e-10
# Central differences over 2e-4 m of a path whose curvature is at most a few 1/m.
DERIVATIVE_STEP_M = 1e-4
DERIVATIVE_TOLERANCE = 1e-6

SQUARE = [[0.0, 0.0], [6.0, 0.0], [6.0, 4.0], [0.0, 4.0]]
ZIGZAG = [[0.0, 0.0], [3.0, 0.0], [4.0, 2.0], [3.5, 5.0], [-2.0, 5.0], [-2.5, 1.0]]


def _samples(path: WaypointPath, count: int = 2001) -> tuple[np.ndarray, np.ndarray]:
    distance = np.linspace(0.0, path.length_m, count)
    return distance, np.array([path.at(s) for s in distance])


def test_a_straight_path_is_the_line():
    path = WaypointPath([[1.0, 2.0], [4.0, 6.0]], corner_m=1.0)
    assert path.length_m == pytest.approx(5.0, abs=ROUNDING_M)
    for share in (0.0, 0.3, 1.0):
        assert path.at(5.0 * share) == pytest.approx((1 + 3 * share, 2 + 4 * share, math.atan2(4, 3)), abs=ROUNDING_M)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("waypoints", [SQUARE, ZIGZAG])
@pytest.mark.parametrize("corner_m", [0.2, 1.0, 50.0])
def test_distance_is_arc_length_and_heading_is_the_tangent(waypoints, corner_m, closed):
    """d(x, y)/ds = (cos, sin) of the heading everywhere: unit speed, facing ahead, no jump in between."""
    path = WaypointPath(waypoints, corner_m=corner_m, closed=closed)
    for s in np.linspace(DERIVATIVE_STEP_M, path.length_m - DERIVATIVE_STEP_M, 500):
        before, after = np.array(path.at(s - DERIVATIVE_STEP_M)), np.array(path.at(s + DERIVATIVE_STEP_M))
        tangent = (after - before)[:2] / (2.0 * DERIVATIVE_STEP_M)
        heading = path.at(s)[2]
        np.testing.assert_allclose(tangent, [math.cos(heading), math.sin(heading)], atol=DERIVATIVE_TOLERANCE)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("waypoints", [SQUARE, ZIGZAG])
@pytest.mark.parametrize("corner_m", [0.2, 1.0, 50.0])
def test_the_path_has_no_gap(waypoints, corner_m, closed):
    """No chord is longer than the path between its ends, wherever corners meet."""
    path = WaypointPath(waypoints, corner_m=corner_m, closed=closed)
    distance, places = _samples(path)
    chord = np.hypot(*np.diff(places[:, :2], axis=0).T)
    assert (chord <= np.diff(distance) + ROUNDING_M).all()


@pytest.mark.parametrize("closed", [False, True])
def test_heading_and_turn_rate_are_continuous(closed):
    """The largest step of heading and of curvature shrinks with the spacing: neither has a jump."""
    path = WaypointPath(ZIGZAG, corner_m=0.8, closed=closed)
    jumps = []
    for count in (4001, 8001):
        distance, places = _samples(path, count)
        curvature = np.diff(places[:, 2]) / np.diff(distance)
        jumps.append((np.abs(np.diff(places[:, 2])).max(), np.abs(np.diff(curvature)).max()))
    assert jumps[1][0] < 0.55 * jumps[0][0]
    assert jumps[1][1] < 0.6 * jumps[0][1]


def test_straight_parts_are_kept_and_corners_cut_where_asked():
    path = WaypointPath([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0]], corner_m=2.0)
    assert path.at(8.0) == pytest.approx((8.0, 0.0, 0.0), abs=ROUNDING_M)
    x, y, heading = path.at(path.length_m - 8.0)
    assert (x, y, heading) == pytest.approx((10.0, 2.0, math.pi / 2), abs=ROUNDING_M)
    assert path.at(path.length_m) == pytest.approx((10.0, 10.0, math.pi / 2), abs=ROUNDING_M)


def test_the_corner_is_symmetric_about_its_bisector():
    path = WaypointPath([[-5.0, 0.0], [0.0, 0.0], [0.0, 5.0]], corner_m=1.5)
    for s in np.linspace(0.0, path.length_m / 2, 50):
        (ax, ay, a), (bx, by, b) = path.at(s), path.at(path.length_m - s)
        assert (bx, by, b) == pytest.approx((-ay, -ax, math.pi / 2 - a), abs=ROUNDING_M)


def test_the_ends_are_held():
    path = WaypointPath(SQUARE, corner_m=1.0)
    assert path.at(-1.0) == path.at(0.0) == (0.0, 0.0, 0.0)
    assert path.at(path.length_m + 5.0) == path.at(path.length_m)


@pytest.mark.parametrize(("waypoints", "turns"), [(SQUARE, 1), (SQUARE[::-1], -1)])
def test_a_closed_path_comes_round_again_with_its_heading_counted_on(waypoints, turns):
    path = WaypointPath(waypoints, corner_m=1.0, closed=True)
    for s in (0.0, 1.7, path.length_m - 0.1):
        x, y, heading = path.at(s)
        again = path.at(s + 3.0 * path.length_m)
        assert again == pytest.approx((x, y, heading + turns * 6.0 * math.pi), abs=ROUNDING_M)
    assert path.at(path.length_m - 1e-9)[:2] == pytest.approx(path.at(0.0)[:2], abs=1e-8)


def test_collinear_waypoints_change_nothing():
    plain = WaypointPath([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]], corner_m=0.5)
    more = WaypointPath([[0.0, 0.0], [1.0, 0.0], [2.5, 0.0], [4.0, 0.0], [4.0, 4.0]], corner_m=0.5)
    for s in np.linspace(0.0, plain.length_m, 40):
        assert more.at(s) == pytest.approx(plain.at(s), abs=ROUNDING_M)


@given(
    turn_deg=st.floats(-169.0, 169.0).filter(lambda a: abs(a) > 0.01),
    first_m=st.floats(0.1, 20.0),
    second_m=st.floats(0.1, 20.0),
    corner_m=st.floats(0.01, 30.0),
)
@settings(max_examples=60, deadline=None)
def test_any_corner_leads_from_one_line_to_the_other(turn_deg, first_m, second_m, corner_m):
    turn = math.radians(turn_deg)
    end = [first_m + second_m * math.cos(turn), second_m * math.sin(turn)]
    path = WaypointPath([[0.0, 0.0], [first_m, 0.0], end], corner_m=corner_m)
    assert path.at(path.length_m) == pytest.approx((*end, turn), abs=ROUNDING_M)
    assert path.length_m <= first_m + second_m + ROUNDING_M


@pytest.mark.parametrize(
    ("waypoints", "corner_m", "expected"),
    [
        ([[0.0, 0.0]], 1.0, "two or more points"),
        ([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], 1.0, "two or more points"),
        ([[0.0], [1.0, 2.0]], 1.0, "two or more points"),
        ([[0.0, 0.0], [math.nan, 0.0]], 1.0, "finite"),
        ([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]], 1.0, r"waypoints 1 and 2 are the same point \[1\.0, 0\.0\]"),
        ([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], 1.0, r"turns by 180 deg at waypoint 1"),
        (SQUARE, 0.0, "corner_m must be greater than 0"),
        (SQUARE, math.nan, "corner_m must be greater than 0"),
    ],
)
def test_bad_paths_are_refused(waypoints, corner_m, expected):
    with pytest.raises(ScenarioError, match=expected):
        WaypointPath(waypoints, corner_m=corner_m)


def test_a_closed_path_names_its_closing_fault():
    with pytest.raises(ScenarioError, match="waypoints 2 and 0 are the same point"):
        WaypointPath([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], corner_m=1.0, closed=True)
