"""Velocities of what rays hit: the same step after every caster."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import mujoco
import numpy as np

from lidar_sim.cast.flexes import flexes_of
from lidar_sim.cast.kernels.velocity import MOTION_SIZE, find_flex_velocities, find_motions, find_velocities
from lidar_sim.cast.scene import Scene
from lidar_sim.records import F64, I32, Hits, Keyframe, RayBatch

_TURNING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_BALL)
_S_PER_NS = 1e-9
_OWN_PHASE, _LAST_PHASE = -1.0, 1.0


class Movers(NamedTuple):
    """Which bodies move by themselves, and about what."""

    of_body: I32
    """(nbody,) body that carries each body along rigidly."""
    ids: I32
    """(M,) bodies that are of themselves."""
    joint: I32
    """(nbody,) hinge or ball joint whose anchor is the body's pivot, -1 = the body's origin is the pivot."""


class Motion:
    """How bodies and flexes move between two keyframes, and how fast the points that rays hit.

    A body turns evenly, the shorter way, about a pivot that moves evenly along a straight line, as the caster
    ``bvh`` moves it: about the anchor of its (last) hinge or ball joint, else about its origin. At a constant
    velocity and turn rate that is exact at each ray's phase; where a joint's anchor itself goes round in circles, the
    chord replaces the arc (relative error half the angle of a step). Vertices of flexes move evenly along straight
    lines; between them velocities are interpolated, on a 1D flex along its edge.

    Args:
        scene: what rays can hit.
        moving_geoms: whether the caster meets geoms at each ray's own phase, or all as at the keyframe ``after``.
    """

    def __init__(self, scene: Scene, *, moving_geoms: bool) -> None:
        self._scene = scene
        model = scene.model
        self._held_phase = _OWN_PHASE if moving_geoms else _LAST_PHASE
        self._movers = _movers(model)
        self._motion = np.zeros((model.nbody, MOTION_SIZE))
        self._moving = np.zeros(model.nbody, np.bool_)
        self._bodies_move = False
        self._flexes, self._version = flexes_of(scene), scene.version
        self._old_vert: F64 | None = None
        self._span_s = 0.0

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Find how everything moves from one keyframe to the other (which may be the same one: at rest)."""
        self._span_s = (after.time_ns - before.time_ns) * _S_PER_NS
        self._bodies_move, self._old_vert = False, None
        if self._version != self._scene.version:
            self._flexes, self._version = flexes_of(self._scene), self._scene.version
        if self._span_s <= 0.0 or before.world is after.world:
            return
        one, two = before.world, after.world
        self._bodies_move = find_motions(
            self._movers.ids,
            self._movers.joint,
            (one.xpos, one.xquat, one.xanchor),
            (two.xpos, two.xquat, two.xanchor),
            self._span_s,
            self._motion,
            self._moving,
        )
        if len(self._flexes.ids) and not np.array_equal(one.flexvert_xpos, two.flexvert_xpos):
            self._old_vert = one.flexvert_xpos.reshape(-1, 3)
            self._flexes = self._flexes._replace(vert=two.flexvert_xpos.reshape(-1, 3))

    def with_velocities(self, hits: Hits, rays: RayBatch, carrier_body: int = 0) -> Hits:
        """The same hits with ``velocity`` and ``radial_velocity``; the very same where nothing moves.

        Args:
            hits: of a caster that was posed at the same two keyframes.
            rays: what was cast.
            carrier_body: body that carries the sensor; the beams' origins move with it.
        """
        if not self._bodies_move and self._old_vert is None:
            return hits
        velocity, radial = np.empty((len(hits), 3)), np.empty(len(hits))
        find_velocities(
            (rays.origin, rays.direction, rays.phase),
            (hits.distance, hits.body),
            self._held_phase,
            self._movers.of_body,
            self._motion,
            self._moving,
            carrier_body,
            velocity,
            radial,
        )
        if self._old_vert is not None:
            rows = np.flatnonzero(hits.flex >= 0)
            work = (rays.origin, rays.direction), hits.flex, velocity, radial
            find_flex_velocities(self._flexes, self._old_vert, self._span_s, rows, *work)
        return replace(hits, velocity=velocity, radial_velocity=radial)


def _movers(model: mujoco.MjModel) -> Movers:
    of_body = np.array(model.body_weldid, np.int32)
    # A mocap body has no joint: until MuJoCo 3.12 all welded to it counts as welded to the world.
    of_body[of_body == 0] = model.body_rootid[of_body == 0]
    joint = np.full(model.nbody, -1, np.int32)
    turning = np.flatnonzero(np.isin(model.jnt_type, _TURNING))
    joint[model.jnt_bodyid[turning]] = turning
    return Movers(of_body, np.unique(of_body), joint)
