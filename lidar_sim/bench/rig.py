"""What is measured on: a robot in a scene, where the sensor sits, how much there is to hit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from lidar_sim.errors import ModelError
from lidar_sim.scenario.world import build_model, initial_data

# Mounts that robots are likely to have; the first one found is taken.
_LIKELY_MOUNTS = ("lidar", "robot_lidar")
# How far above the highest point of its body a sensor without a mount of its own stands.
_CLEARANCE_M = 0.1


@dataclass(frozen=True, slots=True)
class Rig:
    """A robot standing in a scene with a place for a sensor.

    Attributes:
        name: "robot in scene".
        model: compiled.
        data: at the robot's home keyframe, if it has one.
        mount: site, body or camera that carries the sensor.
        offset: pose of the sensor in the mount, None = none.
    """

    name: str
    model: Any
    data: Any
    mount: str
    offset: tuple[float, float, float] | None

    @property
    def triangles(self) -> int:
        """Triangles of all meshes and height fields that rays can hit."""
        return triangle_count(self.model)


def triangle_count(model: Any) -> int:
    """Triangles of all meshes and height fields that geoms show."""
    mesh = model.geom_dataid[model.geom_type == mujoco.mjtGeom.mjGEOM_MESH]
    field = model.geom_dataid[model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD]
    cells = (model.hfield_nrow[field] - 1) * (model.hfield_ncol[field] - 1)
    return int(model.mesh_facenum[mesh].sum() + 2 * cells.sum())


def make_rig(
    scene: str | Path, robot: str | Path | None, *, mount: str | None = None, timestep_s: float | None = None
) -> Rig:
    """Put a robot into a scene.

    Args:
        scene: bundled name or path.
        robot: bundled name or path, None = the scene is all there is.
        mount: None = a site, body or camera "lidar" where there is one, else above the robot's first body.
        timestep_s: physics timestep, None = the robot's own.

    Raises:
        ScenarioError: a model that cannot be found or compiled.
        ModelError: no mount was named and there is nothing to sit on.
    """
    model = build_model(scene, robot, timestep_s=timestep_s)
    data = initial_data(model)
    name = f"{_short(robot)} in {_short(scene)}" if robot is not None else _short(scene)
    if mount is not None:
        return Rig(name, model, data, mount, None)
    found = [likely for likely in _LIKELY_MOUNTS if _is_mount(model, likely)]
    if found:
        return Rig(name, model, data, found[0], None)
    body = _first_moving_body(model)
    return Rig(name, model, data, f"body:{model.body(body).name}", (0.0, 0.0, _top(model, data, body) + _CLEARANCE_M))


def _short(model: str | Path) -> str:
    return Path(str(model)).stem


def _is_mount(model: Any, name: str) -> bool:
    """Whether exactly one site, body or camera has that name."""
    kinds = (mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_CAMERA)
    return [mujoco.mj_name2id(model, kind, name) >= 0 for kind in kinds].count(True) == 1


def _first_moving_body(model: Any) -> int:
    """The root of the tree with the most bodies that is named and not welded to the world."""
    roots = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0 and model.body(b).name]
    moving = [b for b in roots if model.body_weldid[b] != 0]
    if not moving:
        raise ModelError(
            "no mount was named, and nothing here is called 'lidar' or can move: name a site, body or camera"
        )
    size = np.bincount(model.body_rootid, minlength=model.nbody)
    return max(moving, key=lambda b: int(size[b]))


def _top(model: Any, data: Any, body: int) -> float:
    """Height of the highest point of a body's geoms over its origin, by their bounding spheres or boxes; m."""
    heights = [0.0]
    for geom in np.flatnonzero(model.geom_bodyid == body):
        centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        rotation = data.geom_xmat[geom].reshape(3, 3)
        middle = data.geom_xpos[geom] + rotation @ centre
        heights.append(float(middle[2] + np.abs(rotation[2]) @ half - data.xpos[body, 2]))
    return max(heights)
