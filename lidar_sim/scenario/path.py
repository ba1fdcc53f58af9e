"""A path through waypoints, by arc length: straight lines, and corners whose curvature starts and ends at zero.

A corner turns the heading by delta over the length L as h(u) = u - sin(2 pi u) / (2 pi), u = s / L in [0, 1]:
heading, curvature and its rate are continuous. Position is the integral of the unit tangent, so that the speed
along the path is exact. This is the idea of a clothoid pair with a smooth curvature bump in place of the triangle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lidar_sim.errors import ScenarioError
from lidar_sim.records import F64

_MAX_TURN_DEG = 170.0
# 32 nodes integrate the smooth tangent of one corner to double precision.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of path; a straight line has no turn."""

    start_m: float
    length_m: float
    x_m: float
    y_m: float
    heading_rad: float
    turn_rad: float

    def at(self, distance_m: float) -> tuple[float, float, float]:
        s = distance_m - self.start_m
        if self.turn_rad == 0.0:
            c, d = math.cos(self.heading_rad), math.sin(self.heading_rad)
            return self.x_m + s * c, self.y_m + s * d, self.heading_rad
        u = s / self.length_m
        heading = self.heading_rad + self.turn_rad * _turned(u * _NODES)
        x = self.x_m + s * float(_WEIGHTS @ np.cos(heading))
        y = self.y_m + s * float(_WEIGHTS @ np.sin(heading))
        return x, y, self.heading_rad + self.turn_rad * float(_turned(np.float64(u)))


class WaypointPath:
    """Smooth path through waypoints.

    The straight lines between waypoints are kept up to ``corner_m`` before each waypoint, or half the way to
    the next one where that is less; in between the path turns, passing the waypoint on the inside. A closed
    path starts where the turn at its first waypoint ends.

    Attributes:
        length_m: length of the path; of one round where it is closed.
        closed: True where the last waypoint leads back to the first.
    """

    def __init__(self, waypoints_m: Sequence[Sequence[float]] | F64, *, corner_m: float, closed: bool = False) -> None:
        """Path of ``waypoints_m`` (N, 2), N >= 2.

        Raises:
            ScenarioError: too few points, equal neighbours, or a turn back by more than 170 degrees.
        """
        points = _checked_waypoints(waypoints_m)
        if not (math.isfinite(corner_m) and corner_m > 0.0):
            raise ScenarioError(f"corner_m must be greater than 0, found {corner_m}")
        self.closed = closed
        self._pieces = _pieces(points, corner_m, closed)
        self.length_m = self._pieces[-1].start_m + self._pieces[-1].length_m
        self._starts_m = np.array([piece.start_m for piece in self._pieces])

    def at(self, distance_m: float) -> tuple[float, float, float]:
        """Place x, y (m) and heading (rad, continuous) after ``distance_m``; held at the ends, or round again."""
        rounds = math.floor(distance_m / self.length_m) if self.closed else 0
        along = min(max(distance_m - rounds * self.length_m, 0.0), self.length_m)
        piece = self._pieces[max(int(np.searchsorted(self._starts_m, along, side="right")) - 1, 0)]
        x, y, heading = piece.at(along)
        return x, y, heading + rounds * self._turn_per_round()

    def _turn_per_round(self) -> float:
        return sum(piece.turn_rad for piece in self._pieces)


def _turned(u: F64 | np.float64) -> F64:
    """Share of a corner's turn that is done at share ``u`` of its length."""
    return np.asarray(u - np.sin(2.0 * np.pi * u) / (2.0 * np.pi))


def _checked_waypoints(waypoints_m: Sequence[Sequence[float]] | F64) -> F64:
    try:
        points = np.array(waypoints_m, np.float64)
    except ValueError:
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.isfinite(points).all():
        raise ScenarioError("waypoints_m needs two or more points [x, y] of finite numbers")
    return points


def _legs(points: F64, closed: bool) -> tuple[F64, F64]:
    """Length (m) and heading (rad) of every straight leg."""
    ends = np.roll(points, -1, axis=0) if closed else points[1:]
    starts = points if closed else points[:-1]
    step = ends - starts
    length = np.hypot(step[:, 0], step[:, 1])
    if (length == 0.0).any():
        k = int(np.argmin(length))
        raise ScenarioError(f"waypoints {k} and {(k + 1) % len(points)} are the same point {starts[k].tolist()}")
    return length, np.arctan2(step[:, 1], step[:, 0])


def _pieces(points: F64, corner_m: float, closed: bool) -> list[_Piece]:
    length, heading = _legs(points, closed)
    legs = len(length)
    # Corner k lies at the end of leg k; an open path has none at its two ends.
    turns = [
        _turn(heading[k], heading[(k + 1) % legs], (k + 1) % len(points)) if closed or k + 1 < legs else 0.0
        for k in range(legs)
    ]
    reach = [min(corner_m, 0.5 * length[k], 0.5 * length[(k + 1) % legs]) if turns[k] else 0.0 for k in range(legs)]
    pieces: list[_Piece] = []
    done = 0.0
    angle = float(heading[0])
    for k in range(legs):
        before = reach[k - 1] if closed or k else 0.0
        c, s = math.cos(angle), math.sin(angle)
        x, y = points[k, 0] + before * c, points[k, 1] + before * s
        straight = float(length[k]) - before - reach[k]
        if straight > 0.0 or not turns[k]:
            pieces.append(_Piece(done, straight, float(x), float(y), angle, 0.0))
            done += straight
        if turns[k]:
            corner = _corner_length(reach[k], turns[k])
            pieces.append(_Piece(done, corner, float(x + straight * c), float(y + straight * s), angle, turns[k]))
            done += corner
        angle += turns[k]
    return pieces


def _turn(before_rad: float, after_rad: float, k: int) -> float:
    turn = math.remainder(float(after_rad - before_rad), 2.0 * math.pi)
    if abs(turn) > math.radians(_MAX_TURN_DEG):
        raise ScenarioError(
            f"the path turns by {abs(math.degrees(turn)):.0f} deg at waypoint {k}, more than {_MAX_TURN_DEG:.0f}: "
            "add a waypoint beside it"
        )
    return turn


def _corner_length(reach_m: float, turn_rad: float) -> float:
    """Length of the corner whose ends lie ``reach_m`` before and after the waypoint.

    By symmetry the chord has the mean heading; its length is L times the mean cosine of the heading off it.
    """
    chord_ratio = float(_WEIGHTS @ np.cos(turn_rad * (_turned(_NODES) - 0.5)))
    return 2.0 * reach_m * math.cos(0.5 * turn_rad) / chord_ratio
