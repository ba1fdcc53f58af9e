"""What casters are raced on: a robot in rooms of few and of many geoms, one large mesh, one height field."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from lidar_sim.bench.rig import triangle_count
from lidar_sim.bundled import bundled_folder
from lidar_sim.records import F64

_T = mujoco.mjtGeom
_HALF_ROOM_M = 12.0
_OBSTACLES = (_T.mjGEOM_BOX, _T.mjGEOM_SPHERE, _T.mjGEOM_CAPSULE, _T.mjGEOM_CYLINDER, _T.mjGEOM_ELLIPSOID)
# Collision geoms of the robots are in group 3; what a lidar sees are the visual ones.
VISIBLE_GROUPS = (0, 1, 2, 4, 5)


@dataclass(frozen=True, slots=True)
class Arena:
    """A model at rest with a sensor at one point.

    Attributes:
        name: as chosen.
        model: compiled.
        data: kinematics done.
        origin: (3,) m, world frame, of all rays.
        geoms: that rays can hit or are hidden by their group.
        triangles: of meshes and height fields.
        note: what a reader of its figures must know, or empty.
    """

    name: str
    model: Any
    data: Any
    origin: F64
    geoms: int
    triangles: int
    note: str = ""

    @property
    def geomgroup(self) -> Any:
        """(6,) u8 as MuJoCo wants it."""
        return np.isin(np.arange(6), VISIBLE_GROUPS).astype(np.uint8)


def robot_path() -> tuple[Path, str]:
    """The Unitree Go2 of ``LIDAR_SIM_ROBOTS`` or of ``../shared/robots``; else the bundled quadruped, and a note."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "robots"
    for place in (os.environ.get("LIDAR_SIM_ROBOTS", ""), str(beside)):
        path = Path(place) / "unitree_go2" / "go2.xml"
        if place and path.is_file():
            return path, ""
    note = "no Unitree Go2 (set LIDAR_SIM_ROBOTS): the bundled quadruped stands in its place"
    return bundled_folder("models") / "quadruped.xml", note


def room(name: str, obstacles: int, *, moving: bool = False) -> Arena:
    """The robot between four walls, with boxes, spheres, capsules, cylinders and ellipsoids around.

    Args:
        name: of the arena.
        obstacles: how many; the more, the smaller.
        moving: True = each obstacle is a mocap body.
    """
    path, note = robot_path()
    spec = mujoco.MjSpec.from_file(str(path))
    world, rng = spec.worldbody, np.random.default_rng(0)
    far, wall = _HALF_ROOM_M, (0.1, _HALF_ROOM_M, 1.5)
    world.add_geom(type=_T.mjGEOM_PLANE, size=[0, 0, 1])
    for x, y in ((far, 0), (-far, 0), (0, far), (0, -far)):
        world.add_geom(type=_T.mjGEOM_BOX, pos=[x, y, wall[2]], size=wall if x else [wall[1], wall[0], wall[2]])
    largest = min(1.0, (200 / max(obstacles, 1)) ** 0.4)
    for k in range(obstacles):
        place = _outside(rng.uniform(-far + 1, far - 1, 2), rng.uniform(1.5, far - 1))
        pose = {"pos": [*place, rng.uniform(0.0, 2.5)], "quat": _unit(rng.normal(size=4))}
        shape = {"type": _OBSTACLES[k % len(_OBSTACLES)], "size": rng.uniform(0.1, 0.5, 3) * largest}
        if moving:
            world.add_body(mocap=True, **pose).add_geom(**shape)
        else:
            world.add_geom(**shape, **pose)
    return _arena(name, spec, (0.2, 0.0, 0.6), note)


def rough_room(name: str, triangles: int) -> Arena:
    """Floor, walls and twenty boulders, none of them flat, as one mesh around the sensor."""
    rng = np.random.default_rng(0)
    half, patches = _HALF_ROOM_M, []
    side = max(int(np.sqrt(0.25 * triangles)), 2)
    u, v = _square(side, side)
    patches.append(np.stack([half * u, half * v, _waves(half * u, half * v, rng)], -1))
    wall = max(int(np.sqrt(0.15 * triangles / 16)), 2)
    u, v = _square(4 * wall, wall)
    for quarter in range(4):
        inward = np.stack([half + _waves(half * u, 1.5 * v, rng), half * u, 1.5 * v + 1.0], -1)
        patches.append(inward @ _turn(quarter * np.pi / 2).T)
    boulder = max(int(np.sqrt(0.1 * triangles / 40)), 3)
    u, v = _square(2 * boulder, boulder)
    for _ in range(20):
        centre = _outside(rng.uniform(-10, 10, 2), 3.0)
        radius = rng.uniform(0.2, 0.8) * (1 + 0.2 * np.sin(5 * np.pi * u) * np.cos(1.5 * np.pi * v))
        level, up = radius * np.cos(v * np.pi / 2), radius * np.sin(v * np.pi / 2)
        x, y = centre[0] + level * np.cos(np.pi * u), centre[1] + level * np.sin(np.pi * u)
        patches.append(np.stack([x, y, 0.5 + up], -1))
    return _arena(name, _mesh_spec(patches), (0.2, 0.0, 0.6), "")


def hills(name: str, points: int) -> Arena:
    """A square height field, 40 m wide, with the sensor 0.9 m over its middle."""
    rng = np.random.default_rng(0)
    u, v = _square(points - 1, points - 1)
    height = _waves(20 * u, 20 * v, rng)
    height = (height - height.min()) / np.ptp(height)
    spec = mujoco.MjSpec()
    spec.add_hfield(name="hills", nrow=points, ncol=points, size=[20, 20, 2, 0.5], userdata=height.ravel())
    spec.worldbody.add_geom(type=_T.mjGEOM_HFIELD, hfieldname="hills")
    middle = float(height[points // 2, points // 2])
    # Off the grid lines, along which rays would graze edges of triangles only.
    return _arena(name, spec, (0.003, 0.007, 2 * middle + 0.9), "")


ARENAS: dict[str, Callable[[str], Arena]] = {
    "room10": lambda name: room(name, 10),
    "room100": lambda name: room(name, 100),
    "room1000": lambda name: room(name, 1000),
    "room10000": lambda name: room(name, 10000),
    "mesh97k": lambda name: rough_room(name, 97_000),
    "mesh1M": lambda name: rough_room(name, 1_000_000),
    "mesh2M": lambda name: rough_room(name, 2_000_000),
    "hills512": lambda name: hills(name, 512),
}
"""Name -> builder; rooms are named after the number of their obstacles, meshes after their triangles."""


def _arena(name: str, spec: Any, origin: tuple[float, float, float], note: str) -> Arena:
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return Arena(name, model, data, np.array(origin), int(model.ngeom), triangle_count(model), note)


def _mesh_spec(patches: list[F64]) -> Any:
    corners, faces, count = [], [], 0
    for patch in patches:
        rows, columns = patch.shape[:2]
        number = count + np.arange(rows * columns).reshape(rows, columns)
        a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
        faces += [np.stack([x.ravel() for x in three], 1) for three in ((a, b, c), (a, c, d))]
        corners.append(patch.reshape(-1, 3))
        count += rows * columns
    spec = mujoco.MjSpec()
    shell = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    spec.add_mesh(
        name="room",
        uservert=np.concatenate(corners).astype(np.float32).ravel(),
        userface=np.concatenate(faces).astype(np.int32).ravel(),
        inertia=shell,
    )
    spec.worldbody.add_geom(type=_T.mjGEOM_MESH, meshname="room", contype=0, conaffinity=0)
    return spec


def _square(rows: int, columns: int) -> tuple[F64, F64]:
    """Coordinates in -1..1 of the corners of so many cells."""
    u, v = np.meshgrid(np.linspace(-1, 1, rows + 1), np.linspace(-1, 1, columns + 1), indexing="ij")
    return u, v


def _waves(x: F64, y: F64, rng: np.random.Generator) -> F64:
    """Roughness in m: two dozen waves, the longer the higher."""
    total = np.zeros_like(x)
    for _ in range(24):
        kx, ky = rng.uniform(0.3, 6, 2) * rng.choice([-1, 1], 2)
        total += 0.03 * np.sin(kx * x + ky * y + rng.uniform(0, 2 * np.pi)) / (0.3 + 0.2 * np.hypot(kx, ky))
    return total


def _outside(place: F64, radius: float) -> F64:
    """The place, moved out to the radius if it is nearer than 1.5 m to the middle."""
    distance = float(np.hypot(*place))
    return place if distance >= 1.5 else place * radius / max(distance, 1e-3)


def _turn(angle: float) -> F64:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _unit(vector: F64) -> F64:
    return np.asarray(vector / np.linalg.norm(vector))
