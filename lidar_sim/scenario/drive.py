"""A kinematic motion along waypoints: speed, body sway, the lie of the ground, and a trot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from lidar_sim.errors import ScenarioError, unknown_name
from lidar_sim.records import F64
from lidar_sim.scenario.gait import Trot
from lidar_sim.scenario.ground import Ground
from lidar_sim.scenario.path import WaypointPath
from lidar_sim.scenario.world import initial_data
from lidar_sim.transforms import euler_to_quaternion

_FREE = mujoco.mjtJoint.mjJNT_FREE


@dataclass(frozen=True, slots=True)
class Sway:
    """How the body rocks: roll once, pitch and height twice in a period, as the trunk of a trotting animal does.

    Attributes:
        roll_deg: amplitude of roll, sin(2 pi f t).
        pitch_deg: amplitude of pitch, sin(4 pi f t).
        heave_m: amplitude of height, sin(4 pi f t).
        frequency_hz: f.
    """

    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    heave_m: float = 0.0
    frequency_hz: float = 1.5

    def at(self, time_s: float) -> tuple[float, float, float]:
        """Roll (deg), pitch (deg) and heave (m) at a time."""
        once, twice = (math.sin(2.0 * math.pi * n * self.frequency_hz * time_s) for n in (1, 2))
        return self.roll_deg * once, self.pitch_deg * twice, self.heave_m * twice


class WaypointDrive:
    """Drives a body with a free joint, or a mocap body, along a smooth path at constant speed, facing ahead.

    Attributes:
        path: the path.
        body: name of the driven body.
        height_m: height of the body's origin above the ground (above z = 0 without ``follow_ground``).
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        waypoints_m: Sequence[Sequence[float]] | F64,
        *,
        speed_m_s: float,
        corner_m: float = 1.0,
        closed: bool = False,
        body: str | None = None,
        height_m: float | None = None,
        sway: Sway | None = None,
        follow_ground: bool = False,
        footprint_m: tuple[float, float] = (0.4, 0.3),
        trot_stride_m: float | None = None,
        trot_lift_m: float = 0.06,
    ) -> None:
        """Drive along ``waypoints_m`` (N, 2), world frame.

        Args:
            model: model with the body.
            waypoints_m: the path's corners; see ``WaypointPath``.
            speed_m_s: speed along the path, greater than 0.
            corner_m: how far before and after a waypoint the turn begins and ends.
            closed: drive round for ever; otherwise the body stops at the last waypoint.
            body: its name; None = the only body with a free joint, or else the only mocap body.
            height_m: None = as in the model's "home" keyframe, or its reference pose.
            sway: rocking of the body; None = none.
            follow_ground: height and tilt follow the planes and height fields below the body.
            footprint_m: length and width (m) over which the tilt of the ground is taken.
            trot_stride_m: move the legs of a quadruped with this stride; None = legs as they are.
            trot_lift_m: how high the feet rise.

        Raises:
            ScenarioError: values that make no path, an unknown body, no ground, no legs.
        """
        if not (math.isfinite(speed_m_s) and speed_m_s > 0.0):
            raise ScenarioError(f"speed_m_s must be greater than 0, found {speed_m_s}")
        if min(footprint_m) <= 0.0:
            raise ScenarioError(f"footprint_m must be greater than 0, found {list(footprint_m)}")
        self.path = WaypointPath(waypoints_m, corner_m=corner_m, closed=closed)
        self.body = body if body is not None else _only_movable(model)
        self._base = _Base(model, self.body)
        self._speed_m_s = speed_m_s
        self._sway = sway if sway is not None else Sway()
        self._ground = Ground(model) if follow_ground else None
        self._footprint_m = footprint_m
        home = initial_data(model)
        self.height_m = height_m if height_m is not None else self._home_height_m(home)
        self._trot = (
            Trot(model, home, stride_m=trot_stride_m, lift_m=trot_lift_m) if trot_stride_m is not None else None
        )

    @property
    def duration_s(self) -> float | None:
        """Time to the last waypoint; None on a closed path."""
        return None if self.path.closed else self.path.length_m / self._speed_m_s

    def advance(self, model: mujoco.MjModel, data: mujoco.MjData, time_s: float) -> None:
        """Set the body's pose, and the legs, to those of ``time_s``."""
        position, quaternion = self.pose(time_s)
        self._base.place(data, position, quaternion)
        if self._trot is not None:
            self._trot.apply(data, self._distance_m(time_s))
        data.time = time_s

    def pose(self, time_s: float) -> tuple[F64, F64]:
        """(3,) m and unit quaternion (4,) w x y z of the body in the world at a time."""
        x, y, heading = self.path.at(self._distance_m(time_s))
        roll_deg, pitch_deg, heave_m = self._sway.at(time_s)
        ground_m, ground_roll_deg, ground_pitch_deg = self._lie(x, y, heading)
        position = np.array([x, y, ground_m + self.height_m + heave_m])
        return position, euler_to_quaternion(
            roll_deg + ground_roll_deg, pitch_deg + ground_pitch_deg, math.degrees(heading)
        )

    def _distance_m(self, time_s: float) -> float:
        distance = self._speed_m_s * time_s
        return distance if self.path.closed else min(distance, self.path.length_m)

    def _lie(self, x: float, y: float, heading: float) -> tuple[float, float, float]:
        """Height (m), roll and pitch (deg) of the ground under the body, from its footprint's four sides."""
        if self._ground is None:
            return 0.0, 0.0, 0.0
        c, s = math.cos(heading), math.sin(heading)
        length, width = self._footprint_m
        front, back = (self._ground.height_m(x + d * c, y + d * s) for d in (0.5 * length, -0.5 * length))
        left, right = (self._ground.height_m(x - d * s, y + d * c) for d in (0.5 * width, -0.5 * width))
        roll, pitch = math.atan2(left - right, width), math.atan2(back - front, length)
        return 0.25 * (front + back + left + right), math.degrees(roll), math.degrees(pitch)

    def _home_height_m(self, home: mujoco.MjData) -> float:
        x, y, z = self._base.position(home)
        return z - (self._ground.height_m(x, y) if self._ground is not None else 0.0)


class _Base:
    """Where the pose of a movable body is written: its free joint or its mocap pose."""

    def __init__(self, model: mujoco.MjModel, name: str) -> None:
        movable = _movable(model)
        if name not in movable:
            raise ScenarioError(unknown_name("body with a free joint or mocap body", name, movable))
        body = model.body(name).id
        self._mocap = int(model.body_mocapid[body])
        self._qpos = int(model.jnt_qposadr[model.body_jntadr[body]]) if self._mocap < 0 else -1

    def place(self, data: mujoco.MjData, position: F64, quaternion: F64) -> None:
        if self._mocap >= 0:
            data.mocap_pos[self._mocap], data.mocap_quat[self._mocap] = position, quaternion
        else:
            data.qpos[self._qpos : self._qpos + 3] = position
            data.qpos[self._qpos + 3 : self._qpos + 7] = quaternion

    def position(self, data: mujoco.MjData) -> tuple[float, float, float]:
        at = data.mocap_pos[self._mocap] if self._mocap >= 0 else data.qpos[self._qpos : self._qpos + 3]
        return float(at[0]), float(at[1]), float(at[2])


def _movable(model: mujoco.MjModel) -> list[str]:
    return [model.body(i).name for i in (*_free_bodies(model), *_mocap_bodies(model))]


def _free_bodies(model: mujoco.MjModel) -> list[int]:
    return [int(model.jnt_bodyid[joint]) for joint in np.flatnonzero(model.jnt_type == _FREE)]


def _mocap_bodies(model: mujoco.MjModel) -> list[int]:
    return [int(body) for body in np.flatnonzero(model.body_mocapid >= 0)]


def _only_movable(model: mujoco.MjModel) -> str:
    for bodies in (_free_bodies(model), _mocap_bodies(model)):
        if len(bodies) == 1:
            return str(model.body(bodies[0]).name)
        if bodies:
            break
    listed = ", ".join(_movable(model)) or "none"
    raise ScenarioError(f"name the body to drive; bodies with a free joint or mocap: {listed}")
