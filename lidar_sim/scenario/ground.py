"""How high the ground lies under a point: the scene's fixed planes and height fields, nothing that stands on them."""

from __future__ import annotations

import mujoco
import numpy as np

from lidar_sim.errors import ScenarioError
from lidar_sim.records import F64

_DOWN = np.array([0.0, 0.0, -1.0])
_GROUND_TYPES = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)


class Ground:
    """Planes and height fields that are fixed to the world of one model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, self._data)
        fixed = model.body_weldid[model.geom_bodyid] == 0
        self._geoms = np.flatnonzero(fixed & np.isin(model.geom_type, _GROUND_TYPES))
        if not len(self._geoms):
            raise ScenarioError(
                "follow_ground needs a plane or a height field that is fixed to the world; the model has none"
            )
        tops = self._data.geom_xpos[self._geoms, 2] + model.geom_rbound[self._geoms]
        self._above_m = float(tops.max()) + 1.0

    def height_m(self, x_m: float, y_m: float) -> float:
        """World z of the highest ground at (x, y).

        Raises:
            ScenarioError: no ground there.
        """
        start = np.array([x_m, y_m, self._above_m])
        depths = [depth for geom in self._geoms if (depth := self._ray(int(geom), start)) >= 0.0]
        if not depths:
            raise ScenarioError(f"there is no ground under x = {x_m:.3f} m, y = {y_m:.3f} m")
        return self._above_m - min(depths)

    def _ray(self, geom: int, start: F64) -> float:
        if self._model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_HFIELD:
            return float(mujoco.mj_rayHfield(self._model, self._data, geom, start, _DOWN))
        place, turn = self._data.geom_xpos[geom], self._data.geom_xmat[geom]
        size, kind = self._model.geom_size[geom], int(self._model.geom_type[geom])
        return float(mujoco.mju_rayGeom(place, turn, size, start, _DOWN, kind))
