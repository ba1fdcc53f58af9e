"""The bvh caster beside Embree, mj_multiRay and mj_rayHfield on one arena, and whom mj_ray agrees with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import mujoco
import numpy as np

from lidar_sim.bench.arenas import VISIBLE_GROUPS, Arena
from lidar_sim.bench.beams import batch, every
from lidar_sim.bench.plain import wrong_ratio
from lidar_sim.bench.race import race
from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.cast import Scene, make_caster
from lidar_sim.cast.embree import SAGITTA_M, EmbreeCaster
from lidar_sim.records import F64, Keyframe

SUBJECT = "bvh"
# What takes longer is given fewer rays; times are scaled.
_LONGEST_RUN_S = 0.3
_PROBE_RAYS, _PROBES = 512, 5
_SAMPLE_RAYS = 3000
# mj_ray and an exact caster round differently; Embree's surfaces lie off by the sagitta, grazing ones by more.
_EXACT_M, _EMBREE_M = 1e-9, 5 * SAGITTA_M


@dataclass(frozen=True, slots=True)
class Standing:
    """One contestant on the rays of one pattern in one arena.

    Attributes:
        arena: name.
        geoms: of the model.
        triangles: of its meshes and height fields; for Embree, of what it was given.
        beams: name of the pattern.
        rays: in the pattern.
        cast: of them in a run; fewer where the contestant is slow.
        hit_ratio: share of the pattern's rays that hit something.
        contestant: its name.
        threads: it used.
        cpu: for which it was compiled, "host" = this one.
        ms: of the whole pattern, median over the rounds.
        mrays_per_s: at the median.
        ratio: time over that of bvh on as many threads, median of the ratios of each round; 1 for bvh.
        wrong: of ``sampled`` rays, how many differ from mj_ray (1e-9 m; Embree 5 mm).
        sampled: rays asked of mj_ray too.
    """

    arena: str
    geoms: int
    triangles: int
    beams: str
    rays: int
    cast: int
    hit_ratio: float
    contestant: str
    threads: int
    cpu: str
    ms: float
    mrays_per_s: float
    ratio: float
    wrong: int
    sampled: int


@dataclass(frozen=True, slots=True)
class _Contestant:
    name: str
    triangles: int
    prepare: Callable[[F64], Callable[[], object]]
    """Directions -> what is timed."""
    distance: Callable[[F64], F64]
    """Directions -> m, +inf = none."""
    same_m: float


def contest(
    arena: Arena, beams: str, direction: F64, *, threads: int, rounds: int, against: tuple[str, ...], cpu: str = "host"
) -> list[Standing]:
    """Race bvh against others.

    Args:
        arena: where.
        beams: name of the pattern.
        direction: (N, 3) unit.
        threads: 1, or more for those that can use them.
        rounds: of the race.
        against: of ``CONTESTANTS``; those that cannot take part (threads, no height field) are left out.
        cpu: named in the result.

    Raises:
        NoHitsError: no ray hit anything.
        MissingExtraError: "embree" without open3d.
    """
    makers = [SUBJECT, *(name for name in against if _can_take_part(name, arena, threads))]
    entered = [CONTESTANTS[name](arena, threads) for name in makers]
    hit_ratio = float(np.isfinite(entered[0].distance(direction)).mean())
    if hit_ratio == 0.0:
        raise NoHitsError(f"none of the {len(direction):,} rays of {beams} hit anything in {arena.name}: no report")
    chosen = {one.name: every(direction, _affordable(one, direction)) for one in entered}
    times = race({one.name: one.prepare(chosen[one.name]) for one in entered}, rounds=rounds, threads=threads)
    frame_s = {name: found * len(direction) / len(chosen[name]) for name, found in times.items()}
    sample = every(direction, _SAMPLE_RAYS if arena.geoms < 5000 else _SAMPLE_RAYS // 10)
    true_m = _true_distance(arena, sample)
    return [
        Standing(
            arena=arena.name,
            geoms=arena.geoms,
            triangles=one.triangles,
            beams=beams,
            rays=len(direction),
            cast=len(chosen[one.name]),
            hit_ratio=hit_ratio,
            contestant=one.name,
            threads=threads,
            cpu=cpu,
            ms=float(np.median(frame_s[one.name])) * 1e3,
            mrays_per_s=len(direction) / float(np.median(frame_s[one.name])) * 1e-6,
            ratio=float(np.median(frame_s[one.name] / frame_s[SUBJECT])),
            wrong=round(wrong_ratio(one.distance(sample), true_m, one.same_m) * len(sample)),
            sampled=len(sample),
        )
        for one in entered
    ]


def keyframe_of(data: Any, time_ns: int = 0) -> Keyframe:
    """A keyframe without a sensor."""
    return Keyframe(time_ns, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), data)


def visible_scene(arena: Arena) -> Scene:
    """What a sensor that belongs to nobody sees."""
    return Scene(arena.model, exclude="none", geomgroups=VISIBLE_GROUPS)


def _can_take_part(name: str, arena: Arena, threads: int) -> bool:
    has_field = bool((arena.model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD).any())
    return {"mj_rayHfield": has_field and threads == 1, "mj_multiRay": threads == 1 and not has_field}.get(name, True)


def _affordable(one: _Contestant, direction: F64) -> int:
    probe = every(direction, _PROBE_RAYS)
    run = one.prepare(probe)
    seconds = []
    for _ in range(_PROBES):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    expected_s = min(seconds) * len(direction) / len(probe)
    return len(direction) if expected_s <= _LONGEST_RUN_S else int(len(direction) * _LONGEST_RUN_S / expected_s)


def _bvh(arena: Arena, threads: int) -> _Contestant:
    caster = make_caster(SUBJECT, visible_scene(arena), threads)
    keyframe = keyframe_of(arena.data)
    caster.pose(keyframe, keyframe)

    def prepare(direction: F64) -> Callable[[], object]:
        rays = batch(arena.origin, direction)
        return lambda: caster.cast(rays)

    distance = lambda direction: caster.cast(batch(arena.origin, direction)).distance  # noqa: E731
    return _Contestant(SUBJECT, arena.triangles, prepare, distance, _EXACT_M)


def _embree(arena: Arena, threads: int) -> _Contestant:
    """Embree alone, on rays that are f32 already; ours is timed with all that a user waits for."""
    caster = EmbreeCaster(visible_scene(arena), threads=threads)
    keyframe = keyframe_of(arena.data)
    caster.pose(keyframe, keyframe)

    def prepare(direction: F64) -> Callable[[], object]:
        rays = caster.tensor(np.repeat(arena.origin[None], len(direction), axis=0), direction)
        return lambda: caster.embree.cast_rays(rays, nthreads=threads)

    distance = lambda direction: caster.cast(batch(arena.origin, direction)).distance  # noqa: E731
    return _Contestant("embree", caster.triangles, prepare, distance, _EMBREE_M)


def _multi_ray(arena: Arena, threads: int) -> _Contestant:
    """MuJoCo's own call, without normals, which it is spared."""
    assert threads == 1

    def prepare(direction: F64) -> Callable[[], F64]:
        n, flat = len(direction), direction.ravel()
        geom, distance = np.empty(n, np.int32), np.empty(n)

        def run() -> F64:
            model, data, group = arena.model, arena.data, arena.geomgroup
            mujoco.mj_multiRay(model, data, arena.origin, flat, group, 1, -1, geom, distance, None, n, mujoco.mjMAXVAL)
            return distance

        return run

    return _Contestant("mj_multiRay", arena.triangles, prepare, lambda rays: _positive(prepare(rays)()), _EXACT_M)


def _hfield(arena: Arena, threads: int) -> _Contestant:
    """MuJoCo's height field alone, ray by ray; the loop of Python is less than a tenth of it."""
    assert threads == 1
    geom = int(np.flatnonzero(arena.model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD)[0])

    def prepare(direction: F64) -> Callable[[], F64]:
        model, data, origin, ray = arena.model, arena.data, arena.origin, mujoco.mj_rayHfield
        rows = list(direction)
        return lambda: np.array([ray(model, data, geom, origin, row, None) for row in rows])

    return _Contestant("mj_rayHfield", arena.triangles, prepare, lambda rays: _positive(prepare(rays)()), _EXACT_M)


CONTESTANTS: dict[str, Callable[[Arena, int], _Contestant]] = {
    SUBJECT: _bvh,
    "embree": _embree,
    "mj_multiRay": _multi_ray,
    "mj_rayHfield": _hfield,
}
"""Name -> how it is made ready for an arena and a number of threads."""


def _true_distance(arena: Arena, direction: F64) -> F64:
    geom, group = np.zeros(1, np.int32), arena.geomgroup
    return _positive(
        np.array(
            [mujoco.mj_ray(arena.model, arena.data, arena.origin, row, group, 1, -1, geom, None) for row in direction]
        )
    )


def _positive(distance: F64) -> F64:
    return np.where(distance < 0.0, np.inf, distance)
