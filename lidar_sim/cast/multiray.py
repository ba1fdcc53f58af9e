"""Caster that drives MuJoCo's own mj_ray and mj_multiRay from compiled loops."""

from __future__ import annotations

from typing import ClassVar

import mujoco
import numpy as np

from lidar_sim.cast.bounds import grow_mesh_trees
from lidar_sim.cast.kernels.grouping import group_by_origin, order_by_group
from lidar_sim.cast.kernels.mujoco_rays import SIGNATURES, Calls, cast_pieces, cast_pieces_alone
from lidar_sim.cast.mujoco_c import c_functions
from lidar_sim.cast.rays import check_rays, empty_rays, to_hits
from lidar_sim.cast.scene import Scene
from lidar_sim.cast.threads import thread_count, use_threads, works_alone
from lidar_sim.records import I32, I64, Hits, Keyframe, RayBatch

# From so many rays per origin on, mj_multiRay spares more than its set-up costs (measured: 46 to 50, at 72 and
# at 272 geoms).
_RAYS_PER_ORIGIN = 48
_NEVER = 2**62
# Work is cut so that the threads end together, but not so fine that the set-up of mj_multiRay is felt.
_PIECES_PER_THREAD = 8
_SMALLEST_PIECE = 256
# Ray-geom pairs (some 20 ns each) below which waking the threads costs more than they save.
_WORTH_THREADS = 100_000
# What rays read of mjData, beside the instances of SDF plugins.
_POSED_ARRAYS = (
    *("xpos", "xquat", "xmat", "xipos", "ximat", "geom_xpos", "geom_xmat"),
    *("flexvert_xpos", "flexelem_aabb", "bvh_aabb_dyn"),
)


class MultiRay:
    """MuJoCo's rays, corrected (by ``Scene``) to agree with mj_ray on every ray, and with flexes added.

    Where many rays share their origin to the last bit, wherever they stand in the batch, they go through
    mj_multiRay together; all others through mj_ray. Flexes, which both leave out, are asked one by one (mj_rayFlex): of
    a 1D flex the edges are seen, with their radius; of a 2D or 3D flex the faces of the outer layer, without
    the radius. A flex wins where it is nearer than every geom; its normals face the sensor, since the sense of
    its elements means nothing. Everything stands as at the keyframe
    ``after`` for a whole batch.

    Args:
        scene: what rays can hit.
        threads: None = all that Numba has.

    Raises:
        OptionError: ``threads`` below 1.
        LidarSimError: the installed MuJoCo is too old.
    """

    name: ClassVar[str] = "multiray"
    moving_geoms: ClassVar[bool] = False
    per_ray_origin: ClassVar[bool] = True

    def __init__(self, scene: Scene, *, threads: int | None = None) -> None:
        self._scene = scene
        self._threads = thread_count(threads)
        # mj_multiRay allocates on the stack of its mjData and SDF plugins keep their state there: one a thread.
        self._worlds = [mujoco.MjData(scene.model) for _ in range(self._threads)]
        self._addresses = np.array([world._address for world in self._worlds], np.intp)
        self._scratch = np.zeros((self._threads, 3))
        self._may_share = _has_room_for_multi_ray(scene.model)
        calls = c_functions(SIGNATURES)
        self._calls = Calls(
            ray=calls["mj_ray"],
            multi_ray=calls["mj_multiRay"],
            flex_ray=calls["mj_rayFlex"],
            model=scene.model._address,
            geomgroup=scene.geomgroup.ctypes.data,
            static=int(scene.static),
        )
        self._surface_version = -1
        self._make_ready()

    def _make_ready(self) -> None:
        """All that hangs on what the scene shows; the addresses of its model stay."""
        scene = self._scene
        self._flexes = _visible_flexes(scene)
        if self._surface_version != scene.surface_version:
            grow_mesh_trees(scene.model)
        self._version, self._surface_version = scene.version, scene.surface_version

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let everything stand as at ``after``."""
        self._scene.pose(before, after)
        if self._version != self._scene.version:
            self._make_ready()
        for world in self._worlds:
            for name in _POSED_ARRAYS:
                target = getattr(world, name)
                if target.size:
                    target[:] = getattr(after.world, name)

    def cast(self, rays: RayBatch) -> Hits:
        """Nearest surface along each ray.

        Raises:
            LidarSimError: never posed, or rays that are not finite or not of unit length.
        """
        _ = self._scene.world
        origin, direction = check_rays(rays)
        most = len(origin) // _RAYS_PER_ORIGIN if self._may_share else 0
        group, size = group_by_origin(origin, most)
        if len(size) == 0:
            start, stop = _pieces(np.array([len(origin)], np.int64), self._threads)
            return self._run(origin, direction, start, stop, _NEVER)
        start, stop = _pieces(size, self._threads)
        order, moved = order_by_group(group, size)
        if not moved:
            return self._run(origin, direction, start, stop, _RAYS_PER_ORIGIN)
        hits = self._run(origin[order], direction[order], start, stop, _RAYS_PER_ORIGIN)
        return _back_in_order(hits, order)

    def _run(self, origin: np.ndarray, direction: np.ndarray, start: I64, stop: I64, shared_from: int) -> Hits:
        rays = empty_rays(origin, direction)
        work = (self._calls, self._addresses, rays, start, stop, shared_from, self._flexes, self._scratch)
        pairs = len(origin) * len(self._scene.geom_body)
        if works_alone(self._threads) or len(start) <= 1 or pairs < _WORTH_THREADS:
            cast_pieces_alone(*work)
        else:
            with use_threads(self._threads):
                cast_pieces(*work)
        return to_hits(rays, self._scene.geom_body)


def _has_room_for_multi_ray(model: mujoco.MjModel) -> bool:
    """Whether the model's memory (``<size memory=.../>``) holds what mj_multiRay puts on the stack.

    From Python a stack overflow is an exception; in our compiled loops it would end the process.
    """
    out = np.zeros(1, np.int32), np.zeros(1), None
    try:
        mujoco.mj_multiRay(model, mujoco.MjData(model), np.zeros(3), np.ones(3), None, 1, -1, *out, 1, 1.0)
    except mujoco.FatalError:
        return False
    return True


def _visible_flexes(scene: Scene) -> I32:
    """(F, 3) flex id, whether its edges are seen, whether its faces are."""
    dim = scene.model.flex_dim
    rows = [(f, dim[f] == 1, dim[f] > 1) for f in np.flatnonzero(scene.flex_visible)]
    return np.array(rows, np.int32).reshape(-1, 3)


def _pieces(size: I64, threads: int) -> tuple[I64, I64]:
    """Rows [start, stop) of the pieces of work, none of which reaches over two groups.

    Args:
        size: (G,) rays in each group, groups one after another.
        threads: 1 = one piece a group.
    """
    end = np.cumsum(size)
    largest = int(end[-1]) if threads == 1 else -(-int(end[-1]) // (threads * _PIECES_PER_THREAD))
    largest = max(largest, _SMALLEST_PIECE)
    count = -(-size // largest)
    group = np.repeat(np.arange(len(size)), count)
    number = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    start = (end - size)[group] + number * largest
    return start, np.minimum(start + largest, end[group])


def _back_in_order(hits: Hits, order: I64) -> Hits:
    """Hits of rays that were cast in another order, row by row where the rays were."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Hits(
        distance=hits.distance[rank],
        geom=hits.geom[rank],
        body=hits.body[rank],
        flex=hits.flex[rank],
        normal=hits.normal[rank],
        cos_incidence=hits.cos_incidence[rank],
    )
