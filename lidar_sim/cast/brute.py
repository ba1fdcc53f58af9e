"""Caster that tries every geom: the reference that the others are measured against."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import mujoco
import numpy as np

from lidar_sim.cast.flexes import flexes_of
from lidar_sim.cast.kernels.brute_rays import Faces, Geoms, cast_brute
from lidar_sim.cast.kernels.hfield import HeightFields
from lidar_sim.cast.kernels.triangles import Meshes
from lidar_sim.cast.multiray import MultiRay
from lidar_sim.cast.rays import check_rays, empty_rays, to_hits
from lidar_sim.cast.scene import Scene
from lidar_sim.cast.threads import thread_count, use_threads
from lidar_sim.records import Hits, Keyframe, RayBatch

# Types whose test costs more than asking first whether the ray comes near.
_COSTLY = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD)
# Rounding of the radius that MuJoCo compiled for a mesh of float32 vertices.
_ROUNDING = 1.0 + 1e-6


class Brute:
    """Plain loops over rays, geoms and triangles, written from the definition of each surface.

    Signed distance fields have no definition outside MuJoCo and its plugins: these geoms alone are asked of
    ``MultiRay``. Everything stands as at the keyframe ``after`` for a whole batch.

    Args:
        scene: what rays can hit.
        threads: None = all that Numba has.

    Raises:
        OptionError: ``threads`` below 1.
    """

    name: ClassVar[str] = "brute"
    moving_geoms: ClassVar[bool] = False
    per_ray_origin: ClassVar[bool] = True
    gives_faces: ClassVar[bool] = True

    def __init__(self, scene: Scene, *, threads: int | None = None) -> None:
        self._scene = scene
        self._threads = thread_count(threads)
        self._make_ready()

    def _make_ready(self) -> None:
        """All that hangs on what the scene shows."""
        scene = self._scene
        self._version = scene.version
        is_sdf = scene.model.geom_type == mujoco.mjtGeom.mjGEOM_SDF
        self._geoms = _geoms(scene, scene.geom_visible & ~is_sdf)
        self._meshes = _meshes(scene.model)
        self._fields = _height_fields(scene.model)
        self._flexes = flexes_of(scene)
        self._sdf: MultiRay | None = None
        if (scene.geom_visible & is_sdf).any():
            self._sdf = MultiRay(scene.only(is_sdf), threads=self._threads)

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let everything stand as at ``after``."""
        self._scene.pose(before, after)
        if self._version != self._scene.version:
            self._make_ready()
        if self._sdf is not None:
            self._sdf.pose(before, after)

    def cast(self, rays: RayBatch) -> Hits:
        """Nearest surface along each ray.

        Raises:
            LidarSimError: never posed, or rays that are not finite or not of unit length.
        """
        world = self._scene.world
        geoms = self._geoms._replace(pos=world.geom_xpos, mat=world.geom_xmat)
        flexes = self._flexes._replace(vert=world.flexvert_xpos.reshape(-1, 3))
        batch = empty_rays(*check_rays(rays))
        faces = Faces(np.empty(len(rays), np.int32), np.empty((len(rays), 2)))
        with use_threads(self._threads):
            cast_brute(geoms, self._meshes, self._fields, flexes, batch, faces)
        hits = replace(to_hits(batch, self._scene.geom_body), **faces._asdict())
        return hits if self._sdf is None else _nearer(hits, self._sdf.cast(rays))


def _geoms(scene: Scene, seen: np.ndarray) -> Geoms:
    model = scene.model
    reach = np.where(np.isin(model.geom_type, _COSTLY), model.geom_rbound * _ROUNDING, np.inf)
    return Geoms(
        ids=np.flatnonzero(seen).astype(np.int32),
        type=np.array(model.geom_type),
        size=np.array(model.geom_size),
        data=np.array(model.geom_dataid),
        reach=reach,
        pos=np.zeros((model.ngeom, 3)),
        mat=np.zeros((model.ngeom, 9)),
    )


def _meshes(model: mujoco.MjModel) -> Meshes:
    return Meshes(
        vert=model.mesh_vert.reshape(-1, 3),
        face=model.mesh_face.reshape(-1, 3),
        vert_first=model.mesh_vertadr,
        face_first=model.mesh_faceadr,
        face_count=model.mesh_facenum,
    )


def _height_fields(model: mujoco.MjModel) -> HeightFields:
    return HeightFields(
        size=model.hfield_size.reshape(-1, 4),
        rows=model.hfield_nrow,
        columns=model.hfield_ncol,
        first=model.hfield_adr,
        elevation=model.hfield_data,
    )


def _nearer(one: Hits, two: Hits) -> Hits:
    """Row by row the nearer hit; at equal distance the lower geom, as mj_ray finds it first."""
    second = (two.distance < one.distance) | ((two.distance == one.distance) & (two.geom < one.geom) & (two.geom >= 0))
    row = second[:, None]
    return Hits(
        distance=np.where(second, two.distance, one.distance),
        geom=np.where(second, two.geom, one.geom),
        body=np.where(second, two.body, one.body),
        flex=np.where(second, two.flex, one.flex),
        normal=np.where(row, two.normal, one.normal),
        cos_incidence=np.where(second, two.cos_incidence, one.cos_incidence),
        face=np.where(second, two.face, one.face),
        barycentric=np.where(row, two.barycentric, one.barycentric),
    )
