"""The yardstick: MuJoCo's mj_multiRay as its Python binding gives it, one call for each origin."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from lidar_sim.records import F64, Keyframe, RayBatch


class PlainMultiRay:
    """A frame's rays, sorted by origin beforehand, so that only the calls themselves are measured.

    What MuJoCo's call does not find it does not find here either: the hits of ``mj_multiRay`` are fewer than
    those of ``mj_ray`` on models with visual-only geoms.

    Args:
        model: the model itself, no corrected copy.
        keyframe: where everything stands.
        rays: N rays in the world frame.
        excluded_body: id of the one body that the rays pass through.
    """

    def __init__(self, model: Any, keyframe: Keyframe, rays: RayBatch, excluded_body: int) -> None:
        self._model, self._excluded_body = model, excluded_body
        self._data = mujoco.MjData(model)
        self._data.qpos[:] = keyframe.world.qpos
        self._data.mocap_pos[:] = keyframe.world.mocap_pos
        self._data.mocap_quat[:] = keyframe.world.mocap_quat
        mujoco.mj_forward(model, self._data)
        _, group = np.unique(rays.origin, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        self._origin, self._direction = rays.origin[order], np.ascontiguousarray(rays.direction[order])
        starts = np.flatnonzero(np.diff(group.ravel()[order], prepend=-1))
        stops = np.append(starts[1:], len(order))
        n = len(order)
        self.distance = np.empty(n)
        """(N,) m in the order of the calls, -1 = nothing, as MuJoCo gives it."""
        self._geom, self._normal = np.empty(n, np.int32), np.empty(3 * n)
        self._calls = [self._arguments(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]

    @property
    def calls(self) -> int:
        """Number of mj_multiRay calls: of different origins."""
        return len(self._calls)

    def cast(self) -> F64:
        """All calls; returns ``distance``."""
        for arguments in self._calls:
            mujoco.mj_multiRay(*arguments)
        return self.distance

    def _arguments(self, start: int, stop: int) -> tuple[Any, ...]:
        return (
            self._model,
            self._data,
            self._origin[start],
            self._direction[start:stop].ravel(),
            None,
            1,
            self._excluded_body,
            self._geom[start:stop],
            self.distance[start:stop],
            self._normal[3 * start : 3 * stop],
            stop - start,
            mujoco.mjMAXVAL,
        )
