"""Caster through Embree, as the library open3d offers it: for comparison and for cross-checks."""

from __future__ import annotations

from typing import Any, ClassVar

import mujoco
import numpy as np

from lidar_sim.cast.bvh.foreign import Foreign
from lidar_sim.cast.embree_triangles import geom_triangles
from lidar_sim.cast.rays import check_rays
from lidar_sim.cast.scene import Scene
from lidar_sim.cast.threads import thread_count
from lidar_sim.errors import LidarSimError, MissingExtraError
from lidar_sim.records import F64, I64, Hits, Keyframe, RayBatch

SAGITTA_M = 1e-3
# How far behind the back of a plane a ray goes on; its share of the distance is what f32 resolves.
_BEYOND_M, _BEYOND = 1e-4, 1e-6


class EmbreeCaster:
    """Triangles in single precision, cast by Embree.

    Spheres, capsules, ellipsoids and cylinders are triangles that lie inside, off the true surface by at most
    ``sagitta_m`` at right angles to it (more where the radius is over 10 m, see ``error_m``); a grazing ray is off by
    more, and a ray past the silhouette meets what is behind. Planes are one-sided; infinite ones end 1000 m from
    their centre. Coordinates are f32: some 1e-6 m within 10 m of the origin of the world. Normals are those of
    the triangles. SDF geoms and flexes are asked of MuJoCo. Everything stands as at the keyframe ``after``, and
    whatever moves has Embree build anew (open3d has no refit).

    Args:
        scene: what rays can hit.
        threads: None = all that Numba has.
        sagitta_m: how far triangles may lie off a curved surface, m.

    Raises:
        MissingExtraError: open3d is not installed.
        LidarSimError: open3d cannot be loaded.
        OptionError: ``threads`` below 1.

    Attributes:
        error_m: how far triangles do lie off, at most.
        embree: open3d's RaycastingScene of the last pose; None before.
    """

    name: ClassVar[str] = "embree"
    moving_geoms: ClassVar[bool] = False
    per_ray_origin: ClassVar[bool] = True
    tolerance_m: ClassVar[float] = 5 * SAGITTA_M
    """For rays that meet a surface by more than 12 degrees; 1e-9 holds where a caster does not say."""

    def __init__(self, scene: Scene, *, threads: int | None = None, sagitta_m: float = SAGITTA_M) -> None:
        self._scene = scene
        # Before open3d, whose TBB is too old for Numba and would be found first by it.
        self._threads = thread_count(threads)
        self._open3d = _open3d()
        self._sagitta_m = sagitta_m
        self._make_ready()

    def _make_ready(self) -> None:
        """All that hangs on what the scene shows."""
        scene, model = self._scene, self._scene.model
        self._version = scene.version
        self._geoms = np.flatnonzero(scene.geom_visible & (model.geom_type != mujoco.mjtGeom.mjGEOM_SDF))
        self._surfaces = [geom_triangles(model, int(geom), self._sagitta_m) for geom in self._geoms]
        self.error_m = max((surface.error_m for surface in self._surfaces), default=0.0)
        counts = [len(surface.faces) for surface in self._surfaces]
        self._face_geom = np.repeat(self._geoms, counts).astype(np.int32)
        self._face_is_plane = model.geom_type[self._face_geom] == mujoco.mjtGeom.mjGEOM_PLANE
        self._most_backs = 2 * int((model.geom_type[self._geoms] == mujoco.mjtGeom.mjGEOM_PLANE).sum())
        self._foreign = Foreign.of(scene, self._threads)
        self._placement = np.empty(0)
        self.embree: Any = None

    @property
    def triangles(self) -> int:
        """How many there are."""
        return len(self._face_geom)

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let everything stand as at ``after``."""
        self._scene.pose(before, after)
        if self._version != self._scene.version:
            self._make_ready()
        if self._foreign is not None:
            self._foreign.pose(before, after)
        position, matrix = after.world.geom_xpos[self._geoms], after.world.geom_xmat[self._geoms]
        placement = np.concatenate([position, matrix], axis=1)
        if self.embree is None or not np.array_equal(placement, self._placement):
            self._placement = placement
            self._build(position, matrix.reshape(-1, 3, 3))

    def cast(self, rays: RayBatch) -> Hits:
        """Nearest surface along each ray.

        Raises:
            LidarSimError: never posed, or rays that are not finite or not of unit length.
        """
        _ = self._scene.world
        origin, direction = check_rays(rays)
        distance, face, normal = self._first(origin, direction)
        for _ in range(self._most_backs):
            behind = self._is_back(face, normal, direction)
            if not len(behind):
                break
            start = distance[behind] + _BEYOND_M + _BEYOND * distance[behind]
            further, face[behind], normal[behind] = self._first(
                origin[behind] + start[:, None] * direction[behind], direction[behind]
            )
            distance[behind] = start + further
        hits = self._hits(distance, face, normal, direction)
        return hits if self._foreign is None else self._foreign.nearer(hits, rays)

    def tensor(self, origin: F64, direction: F64) -> Any:
        """Rays as ``embree.cast_rays`` takes them: (N, 6) f32."""
        return self._open3d.core.Tensor(np.concatenate([origin, direction], axis=1).astype(np.float32))

    def _build(self, position: F64, matrix: F64) -> None:
        self.embree = self._open3d.t.geometry.RaycastingScene(nthreads=self._threads)
        if not self.triangles:
            return
        corners, faces, count = [], [], 0
        for surface, at, turned in zip(self._surfaces, position, matrix, strict=True):
            corners.append((surface.corners @ turned.T + at).astype(np.float32))
            faces.append((surface.faces + count).astype(np.uint32))
            count += len(surface.corners)
        tensor = self._open3d.core.Tensor
        self.embree.add_triangles(tensor(np.concatenate(corners)), tensor(np.concatenate(faces)))

    def _first(self, origin: F64, direction: F64) -> tuple[F64, I64, F64]:
        """Distance (inf), face (-1) and unit normal (0) of the first triangle along each ray, from either side."""
        found = self.embree.cast_rays(self.tensor(origin, direction), nthreads=self._threads)
        distance = found["t_hit"].numpy().astype(np.float64)
        hit = np.isfinite(distance)
        face = np.where(hit, found["primitive_ids"].numpy().astype(np.int64), -1)
        normal = found["primitive_normals"].numpy().astype(np.float64)
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        return distance, face, np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)

    def _is_back(self, face: I64, normal: F64, direction: F64) -> I64:
        """Rows of the rays that met the back of a plane."""
        hit = np.flatnonzero(face >= 0)
        on_plane = hit[self._face_is_plane[face[hit]]]
        along = (normal[on_plane] * direction[on_plane]).sum(axis=1)
        return np.asarray(on_plane[along >= 0.0])

    def _hits(self, distance: F64, face: I64, normal: F64, direction: F64) -> Hits:
        hit = face >= 0
        geom, body = np.full((2, len(face)), -1, np.int32)
        geom[hit] = self._face_geom[face[hit]]
        body[hit] = self._scene.geom_body[geom[hit]]
        return Hits(
            distance=distance,
            geom=geom,
            body=body,
            flex=np.full(len(face), -1, np.int32),
            normal=normal,
            cos_incidence=np.abs((normal * direction).sum(axis=1)),
        )


def _open3d() -> Any:
    try:
        import open3d  # noqa: PLC0415  # an extra, and slow to load
    except ModuleNotFoundError:
        raise MissingExtraError("open3d", "open3d", "the caster 'embree'") from None
    except (ImportError, OSError) as error:
        raise LidarSimError(
            f"the caster 'embree' needs open3d, which is installed but cannot be loaded: {error} "
            "(on Debian and Ubuntu: apt-get install libusb-1.0-0 libgl1)"
        ) from None
    return open3d
