"""The caster: a tree over geoms, trees over their triangles, packets of 32 rays, every geom at each ray's own time."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lidar_sim.cast.bvh.foreign import Foreign
from lidar_sim.cast.bvh.kernels.packets import cast_parallel, cast_serial
from lidar_sim.cast.bvh.packets import PacketOrder
from lidar_sim.cast.bvh.packing import PackedScene
from lidar_sim.cast.bvh.room import Room
from lidar_sim.cast.rays import check_rays
from lidar_sim.cast.scene import Scene
from lidar_sim.cast.threads import thread_count, use_threads, works_alone
from lidar_sim.errors import LidarSimError
from lidar_sim.records import F64, Hits, Keyframe, RayBatch

# Below it, waking the other threads costs more than they save.
_SERIAL_RAYS = 1024
# So fine that threads end together, so coarse that handing out parts is not felt.
_RAYS_PER_PART = 512
_MOST_PARTS = 256
# Boxes are f32: far beyond it they would overflow, and a tree of such boxes leads nowhere.
_REACH_M = 1e18


class BvhCaster:
    """Nearest surfaces by bounding volume hierarchies.

    Distances are f64 and agree with mj_ray; boxes are f32 and never too strict. Of surfaces at the same distance
    the lowest geom wins, as in mj_ray. Each ray meets moving geoms where they are at its own phase between the
    keyframes (see ``motion``). Results are the same bits for any number of threads and however rays are shared out
    among calls. SDF geoms and flexes are asked of MuJoCo itself, and stand as at the keyframe ``after``.

    Args:
        scene: what rays can hit.
        threads: None = all that Numba has.

    Raises:
        OptionError: ``threads`` below 1.
        LidarSimError: trees too deep, or (with SDF geoms or flexes) a MuJoCo that is too old.
    """

    name: ClassVar[str] = "bvh"
    moving_geoms: ClassVar[bool] = True
    per_ray_origin: ClassVar[bool] = True

    def __init__(self, scene: Scene, *, threads: int | None = None) -> None:
        self._scene = scene
        self._threads = thread_count(threads)
        self._order = PacketOrder()
        self._room = Room()
        self._make_ready(PackedScene(scene))

    def _make_ready(self, packed: PackedScene) -> None:
        """All that hangs on what the scene shows."""
        self._packed = packed
        self._foreign = Foreign.of(self._scene, self._threads)
        self._version, self._surface_version = self._scene.version, self._scene.surface_version

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let geoms stand, or move between two keyframes (which may be the same one)."""
        for keyframe in (before, after):
            _check_reach("a geom stands", keyframe.world.geom_xpos)
        self._scene.pose(before, after)
        if self._version != self._scene.version:
            same_shapes = self._surface_version == self._scene.surface_version
            self._make_ready(PackedScene(self._scene, self._packed.surfaces if same_shapes else None))
        self._packed.pose(before, after)
        if self._foreign is not None:
            self._foreign.pose(before, after)

    def cast(self, rays: RayBatch) -> Hits:
        """Nearest surface along each ray.

        Raises:
            LidarSimError: never posed, or rays that are not finite or not of unit length.
        """
        _ = self._scene.world
        origin, direction = check_rays(rays)
        _check_reach("a ray starts", origin)
        hits = self._cast_known(origin, direction, np.ascontiguousarray(rays.phase, np.float64))
        return hits if self._foreign is None else self._foreign.nearer(hits, rays)

    def _cast_known(self, origin: F64, direction: F64, phase: F64) -> Hits:
        hits = self._room.hits(len(direction))
        if len(direction) == 0:
            return hits
        order, packed = self._order.of(origin, direction)
        results = (hits.distance, hits.geom, hits.body, hits.normal, hits.cos_incidence)
        work = (self._packed.table, order, (origin, direction, phase), results, packed)
        parts = min(-(-len(direction) // _RAYS_PER_PART), _MOST_PARTS)
        if works_alone(self._threads) or len(direction) < _SERIAL_RAYS:
            cast_serial(*work)
        else:
            with use_threads(self._threads):
                cast_parallel(*work, parts)
        return hits


def _check_reach(what: str, position: F64) -> None:
    if len(position) and np.abs(position).max() > _REACH_M:
        raise LidarSimError(
            f"{what} {np.abs(position).max():g} m from the origin of the world; valid: up to {_REACH_M:g} m"
        )
