"""The yardsticks: MuJoCo's mj_multiRay as its Python binding gives it for speed, its mj_ray for truth."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from lidar_sim.records import F64, Keyframe, RayBatch

SAMPLE_RAYS = 4000
# Another surface, not another rounding: distances of equal hits agree to 1e-9 m.
SAME_M = 1e-6


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
        self._data = _data_at(model, keyframe)
        _, group = np.unique(rays.origin, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        self._origin, self._direction = rays.origin[order], np.ascontiguousarray(rays.direction[order])
        starts = np.flatnonzero(np.diff(group.ravel()[order], prepend=-1))
        stops = np.append(starts[1:], len(order))
        n = len(order)
        self._order = order
        self._distance, self._geom, self._normal = np.empty(n), np.empty(n, np.int32), np.empty(3 * n)
        self._calls = [self._arguments(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]

    @property
    def calls(self) -> int:
        """Number of mj_multiRay calls: of different origins."""
        return len(self._calls)

    def run(self) -> None:
        """All calls, and nothing else."""
        for arguments in self._calls:
            mujoco.mj_multiRay(*arguments)

    def cast(self) -> F64:
        """(N,) m in the order of the rays, +inf = nothing."""
        self.run()
        distance = np.empty_like(self._distance)
        distance[self._order] = np.where(self._distance < 0.0, np.inf, self._distance)
        return distance

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
            self._distance[start:stop],
            self._normal[3 * start : 3 * stop],
            stop - start,
            mujoco.mjMAXVAL,
        )


class MjRay:
    """MuJoCo's single ray, the truth that every other way is held against.

    Args:
        model: the model itself.
        keyframe: where everything stands.
        excluded_body: id of the one body that the rays pass through.
    """

    def __init__(self, model: Any, keyframe: Keyframe, excluded_body: int) -> None:
        self._model, self._excluded_body = model, excluded_body
        self._data = _data_at(model, keyframe)

    def cast(self, rays: RayBatch) -> F64:
        """(N,) m, +inf = nothing."""
        geom = np.zeros(1, np.int32)
        distance = np.array(
            [
                mujoco.mj_ray(self._model, self._data, origin, direction, None, 1, self._excluded_body, geom, None)
                for origin, direction in zip(rays.origin, rays.direction, strict=True)
            ]
        )
        return np.where(distance < 0.0, np.inf, distance)


def wrong_ratio(distance_m: F64, true_m: F64, same_m: float = SAME_M) -> float:
    """Share of rays that hit where nothing is, miss what is there, or meet a surface farther off than ``same_m``."""
    hit = np.isfinite(distance_m) & np.isfinite(true_m)
    same = distance_m == true_m
    same[hit] = np.abs(distance_m[hit] - true_m[hit]) < same_m
    return float(1.0 - same.mean()) if len(same) else 0.0


def _data_at(model: Any, keyframe: Keyframe) -> Any:
    data = mujoco.MjData(model)
    data.qpos[:] = keyframe.world.qpos
    data.mocap_pos[:] = keyframe.world.mocap_pos
    data.mocap_quat[:] = keyframe.world.mocap_quat
    mujoco.mj_forward(model, data)
    return data
