"""What casting costs beside the rays: moving geoms, refreshing them, small calls, a second thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import mujoco
import numpy as np

from lidar_sim.bench.arenas import Arena, room
from lidar_sim.bench.beams import batch, spinning
from lidar_sim.bench.contest import SUBJECT, keyframe_of, visible_scene
from lidar_sim.bench.kernels import cast_firings
from lidar_sim.bench.race import race
from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.cast import Caster, make_caster
from lidar_sim.cast.bvh import caster as caster_module
from lidar_sim.cast.bvh.kernels.packets import cast_serial
from lidar_sim.records import F64, Keyframe, RayBatch

_STEP_NS = 2_000_000
# Everything drifts at up to so much, as robots and people do.
_SPEED_M_PER_S, _SPIN_RAD_PER_S = 1.0, 1.0
_KEYFRAMES, _LAPS = 12, 6
_FIRING = 16


@dataclass(frozen=True, slots=True)
class Upkeep:
    """One figure.

    Attributes:
        what: is measured.
        geoms: of the model.
        value: median.
        worst: largest, or the same where there is only one.
        unit: of both.
    """

    what: str
    geoms: int
    value: float
    worst: float
    unit: str


def measure_refresh(obstacles: int) -> list[Upkeep]:
    """Time of ``pose`` for a robot and obstacles that all move a little each 2 ms step, at rest and in between.

    Args:
        obstacles: in the room.
    """
    arena = room("moving", obstacles, moving=True)
    keyframes = _drift(arena, _KEYFRAMES)
    caster = make_caster(SUBJECT, visible_scene(arena), 1)
    caster.pose(keyframes[0], keyframes[0])
    turns = {
        "pose, frozen at each step": [(frame, frame) for frame in keyframes],
        "pose, moving from step to step": list(pairwise(keyframes)),
    }
    rows = []
    for what, pairs in turns.items():
        lap = [*pairs, *pairs[::-1]]
        seconds = [_pose_s(caster, pair) for pair in lap * _LAPS][len(lap) :]
        rows.append(Upkeep(what, arena.geoms, float(np.median(seconds)) * 1e3, max(seconds) * 1e3, "ms"))
    return rows


def measure_motion(obstacles: int, rounds: int) -> Upkeep:
    """Cast while everything moves over the cast at rest, one thread, same rays.

    Args:
        obstacles: in the room.
        rounds: of the race.

    Raises:
        NoHitsError: no ray hit anything.
    """
    arena = room("moving", obstacles, moving=True)
    before, after = _drift(arena, 2)
    rest, moving = (make_caster(SUBJECT, visible_scene(arena), 1) for _ in range(2))
    rest.pose(after, after)
    moving.pose(before, after)
    direction = spinning(1024, np.linspace(-22.5, 22.5, 64))
    rays = batch(arena.origin, direction, np.linspace(0.0, 1.0, len(direction)))
    _refuse_nothing(np.isfinite(moving.cast(rays).distance).sum(), arena)
    times = race({"rest": lambda: rest.cast(rays), "moving": lambda: moving.cast(rays)}, rounds=rounds, threads=1)
    ratio = times["moving"] / times["rest"]
    return Upkeep("cast in motion / at rest", arena.geoms, float(np.median(ratio)), float(ratio.max()), "x")


def measure_scaling(arena: Arena, direction: F64, rounds: int) -> Upkeep:
    """Wall time on one thread over that on two, same rays.

    Args:
        arena: where.
        direction: (N, 3) unit.
        rounds: of the race.
    """
    rays, keyframe = batch(arena.origin, direction), keyframe_of(arena.data)
    runs: dict[str, Callable[[], object]] = {}
    for threads in (1, 2):
        caster = make_caster(SUBJECT, visible_scene(arena), threads)
        caster.pose(keyframe, keyframe)
        runs[str(threads)] = lambda caster=caster: caster.cast(rays)  # type: ignore[misc]
    times = race(runs, rounds=rounds, threads=2)
    ratio = times["1"] / times["2"]
    return Upkeep(f"{arena.name}: 1 thread / 2 threads", arena.geoms, float(np.median(ratio)), float(ratio.max()), "x")


def measure_firings(arena: Arena, rounds: int) -> Upkeep:
    """Time of one call for 16 rays, called from compiled code.

    Args:
        arena: where.
        rounds: of the race.

    Raises:
        NoHitsError: no ray hit anything.
    """
    caster = make_caster(SUBJECT, visible_scene(arena), 1)
    keyframe = keyframe_of(arena.data)
    caster.pose(keyframe, keyframe)
    rays = batch(arena.origin, spinning(1800, np.linspace(-15.0, 15.0, _FIRING)))
    table, order, hits, packed = _kernel_arguments(caster, batch(arena.origin, rays.direction[:_FIRING]))

    def run() -> int:
        return int(cast_firings(table, order, rays.origin, rays.direction, rays.phase, hits, packed, _FIRING))

    _refuse_nothing(run(), arena)
    each_us = race({"": run}, rounds=rounds, threads=1)[""] / (len(rays) / _FIRING) * 1e6
    what = f"{arena.name}: call of {_FIRING} rays"
    return Upkeep(what, arena.geoms, float(np.median(each_us)), float(each_us.max()), "us")


def _kernel_arguments(caster: Caster, rays: RayBatch) -> tuple[Any, Any, Any, Any]:
    """Scene, order, room for hits and way of casting, as the caster itself hands them to its kernel."""
    handed: list[tuple[Any, ...]] = []

    def listen(*work: Any) -> None:
        handed.append(work)
        cast_serial(*work)

    names = vars(caster_module)
    names["cast_serial"] = listen
    try:
        caster.cast(rays)
    finally:
        names["cast_serial"] = cast_serial
    scene, order, _, hits, packed = handed[0]
    return scene, order, hits, packed


def _refuse_nothing(found: int, arena: Arena) -> None:
    if not found:
        raise NoHitsError(f"no ray hit anything in {arena.name}: no report")


def _drift(arena: Arena, count: int) -> list[Keyframe]:
    """Keyframes 2 ms apart, in which every free body and every mocap body moves and turns evenly."""
    model, rng = arena.model, np.random.default_rng(1)
    speed = rng.uniform(-1, 1, (model.nmocap, 3)) * _SPEED_M_PER_S
    spin = rng.uniform(-1, 1, (model.nmocap, 3)) * _SPIN_RAD_PER_S
    velocity = rng.uniform(-1, 1, model.nv)
    step_s, keyframes = _STEP_NS * 1e-9, []
    qpos, place, turn = arena.data.qpos.copy(), arena.data.mocap_pos.copy(), arena.data.mocap_quat.copy()
    for k in range(count):
        data = mujoco.MjData(model)
        data.qpos[:], data.mocap_pos[:], data.mocap_quat[:] = qpos, place, turn
        mujoco.mj_kinematics(model, data)
        keyframes.append(keyframe_of(data, k * _STEP_NS))
        place += step_s * speed
        for row, rate in zip(turn, spin, strict=True):
            mujoco.mju_quatIntegrate(row, rate, step_s)
        mujoco.mj_integratePos(model, qpos, velocity, step_s)
    return keyframes


def _pose_s(caster: Caster, pair: tuple[Keyframe, Keyframe]) -> float:
    start = perf_counter()
    caster.pose(*pair)
    return perf_counter() - start
