"""A trot for quadrupeds with hip, thigh and calf joints: joint angles as a function of the distance walked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from lidar_sim.errors import ScenarioError

# Diagonal pairs move together, half a cycle apart.
_LEG_PHASE = {"FL": 0.0, "RR": 0.0, "FR": 0.5, "RL": 0.5}


@dataclass(frozen=True, slots=True)
class _Leg:
    phase: float
    thigh_address: int
    calf_address: int
    thigh_m: float
    calf_m: float
    foot_angle_rad: float
    """Of the foot's centre off the calf's axis, seen from the calf joint."""
    home_x_m: float
    """Foot at rest, forward of the thigh joint."""
    home_z_m: float
    """Foot at rest, above (so negative) the thigh joint."""


class Trot:
    """Kinematic trot about the home stance; the standing feet do not slip over level ground.

    The legs are found by the names ``FL_thigh_joint``, ``FL_calf_joint``, and so on for FR, RL, RR, as on many
    quadrupeds, with any prefix. Both joints turn about +y; hips stay as they are.
    """

    def __init__(self, model: mujoco.MjModel, home: mujoco.MjData, *, stride_m: float, lift_m: float) -> None:
        """Trot of a model.

        Args:
            model: model with the robot.
            home: data at the stance that the feet move about.
            stride_m: distance walked in one cycle of all four legs.
            lift_m: how high a swinging foot rises.

        Raises:
            ScenarioError: the model lacks one of the joints, or a foot cannot reach that far.
        """
        if not (stride_m > 0.0 and lift_m >= 0.0):
            raise ScenarioError(f"trot needs stride_m > 0 and lift_m >= 0, found {stride_m} and {lift_m}")
        self._stride_m, self._lift_m = stride_m, lift_m
        self._legs = [_leg(model, home, name, phase) for name, phase in _LEG_PHASE.items()]
        for leg in self._legs:
            reach = math.hypot(abs(leg.home_x_m) + 0.25 * stride_m, leg.home_z_m)
            if reach >= leg.thigh_m + leg.calf_m or leg.home_z_m + lift_m >= -abs(leg.thigh_m - leg.calf_m):
                raise ScenarioError(f"the legs cannot reach a stride of {stride_m} m with a lift of {lift_m} m")

    def apply(self, data: mujoco.MjData, distance_m: float) -> None:
        """Write the joint angles of the legs after ``distance_m`` walked into ``data.qpos``."""
        for leg in self._legs:
            thigh_rad, calf_rad = _inverse(leg, *self.foot_m(leg, distance_m))
            data.qpos[leg.thigh_address] = thigh_rad
            data.qpos[leg.calf_address] = calf_rad

    def foot_m(self, leg: _Leg, distance_m: float) -> tuple[float, float]:
        """Foot (x, z) m from the thigh joint: on the ground for half the cycle, going back as the body goes on."""
        cycle = (distance_m / self._stride_m + leg.phase) % 1.0
        swing_m = 0.25 * self._stride_m
        if cycle < 0.5:
            return leg.home_x_m + swing_m * (1.0 - 4.0 * cycle), leg.home_z_m
        share = 2.0 * cycle - 1.0
        lift = self._lift_m * math.sin(math.pi * share) ** 2
        return leg.home_x_m - swing_m * math.cos(math.pi * share), leg.home_z_m + lift


def _leg(model: mujoco.MjModel, home: mujoco.MjData, name: str, phase: float) -> _Leg:
    thigh, calf = (_joint(model, f"{name}_{part}_joint") for part in ("thigh", "calf"))
    body = int(model.jnt_bodyid[calf])
    thigh_m = float(np.linalg.norm(model.body_pos[body]))
    thigh_address, calf_address = int(model.jnt_qposadr[thigh]), int(model.jnt_qposadr[calf])
    calf_m, foot_angle_rad = _calf(model, body, name) or (thigh_m, 0.0)
    q1, q2 = float(home.qpos[thigh_address]), float(home.qpos[calf_address]) + foot_angle_rad
    x = -thigh_m * math.sin(q1) - calf_m * math.sin(q1 + q2)
    z = -thigh_m * math.cos(q1) - calf_m * math.cos(q1 + q2)
    return _Leg(phase, thigh_address, calf_address, thigh_m, calf_m, foot_angle_rad, x, z)


def _joint(model: mujoco.MjModel, name: str) -> int:
    found = [i for i in range(model.njnt) if model.joint(i).name.endswith(name)]
    if len(found) != 1:
        raise ScenarioError(f"trot needs one joint named {name}; the model has {len(found)}")
    return found[0]


def _calf(model: mujoco.MjModel, body: int, name: str) -> tuple[float, float] | None:
    """Distance (m) and angle (rad) of the foot's sphere from the calf joint; None if no geom is named as the leg."""
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    feet = [geom for geom in range(first, first + count) if model.geom(geom).name.endswith(name)]
    if not feet:
        return None
    x, _, z = model.geom_pos[feet[0]]
    return math.hypot(x, z), math.atan2(-x, -z)


def _inverse(leg: _Leg, x_m: float, z_m: float) -> tuple[float, float]:
    """Thigh and calf angle (rad) that put the foot at (x, z): the law of cosines, knee pointing back."""
    a, b = leg.thigh_m, leg.calf_m
    cos_knee = (x_m * x_m + z_m * z_m - a * a - b * b) / (2.0 * a * b)
    knee = -math.acos(min(max(cos_knee, -1.0), 1.0))
    thigh = math.atan2(-x_m, -z_m) - math.atan2(b * math.sin(knee), a + b * math.cos(knee))
    return thigh, knee - leg.foot_angle_rad
