"""About which point each geom turns while it moves from one keyframe to the next."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from lidar_sim.records import F64

_TURNING = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_BALL))


class Placement(NamedTuple):
    """Where the geoms of a model stand, world frame."""

    position: F64
    """(ngeom, 3) m."""
    matrix: F64
    """(ngeom, 9) rotation, row by row."""
    pivot: F64
    """(ngeom, 3) m, point of the geom's body that moves along a straight line."""


class Pivots:
    """The point of each moving body that moves evenly along a straight line while the body turns evenly about it.

    For a hinge or ball joint it is the joint's anchor: a fan blade stays on its circle, whose chord would be wrong
    by r angle^2 / 8. For free, sliding and mocap bodies it is the body's origin, whose position MuJoCo itself
    integrates along a straight line.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        moving = np.array(model.body_weldid)
        # Mocap bodies have no joints, so that all welded to them counts as welded to the world.
        moving[moving == 0] = model.body_rootid[moving == 0]
        joint = np.full(model.nbody, -1)
        for j in range(model.njnt):
            if model.jnt_type[j] in _TURNING:
                joint[model.jnt_bodyid[j]] = j
        self._body = moving[model.geom_bodyid]
        self._joint = joint[self._body]
        self._turns = self._joint >= 0

    def placement(self, world: mujoco.MjData) -> Placement:
        """Geoms of a world whose kinematics are done."""
        pivot = world.xpos[self._body]
        if self._turns.any():
            pivot[self._turns] = world.xanchor[self._joint[self._turns]]
        return Placement(world.geom_xpos, world.geom_xmat, pivot)
