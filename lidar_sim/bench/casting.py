"""Beams per second of each caster, side by side with plain mj_multiRay in interleaved rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from lidar_sim import jit
from lidar_sim.bench.plain import SAME_M, SAMPLE_RAYS, MjRay, PlainMultiRay, wrong_ratio
from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.bench.rig import Rig
from lidar_sim.cast import Caster, Scene, make_caster, tolerance_m
from lidar_sim.pattern import make_pattern
from lidar_sim.profile import load_profile
from lidar_sim.records import F64, Keyframe, RayBatch
from lidar_sim.schedule import PoseSource, Scheduler

_WARM_UPS = 2
# A caster whose frame would take longer is given every n-th ray only, for so long.
_LONGEST_FRAME_S = 2.0
_SAMPLED_FRAME_S = 0.25
_FEW_RAYS, _MANY_RAYS = 512, 4096
_PROBES = 3


@dataclass(frozen=True, slots=True)
class ColdStart:
    """The first cast of a caster in this process, model copy and first pose included.

    Attributes:
        caster: its name.
        threads: as asked for.
        cold_s: seconds.
        compiled: True where kernels were compiled, False where they came from the cache (or were loaded already).
    """

    caster: str
    threads: int
    cold_s: float
    compiled: bool


@dataclass(frozen=True, slots=True)
class CastSpeed:
    """One caster on the rays of one frame of one device.

    Attributes:
        device: name of the profile.
        caster: its name; "mj_multiRay" = MuJoCo's own call from Python.
        threads: as asked for.
        rays: cast in a round; fewer than the frame's where the caster is too slow for all of them.
        frame_rays: of the whole frame.
        origins: different origins among the frame's rays.
        hit_ratio: share of the cast rays that hit something.
        wrong_ratio: share of a sample of rays that meet another surface than mj_ray's (farther off than 1e-6 m, or than
            the caster's own tolerance).
        median_ms: of a whole frame's rays, over the rounds.
        p95_ms: of a whole frame's rays, over the rounds.
        mbeams_per_s: million rays a second, at the median.
        ratio_to_plain: speed over that of plain mj_multiRay, the median of the ratios of each round.
    """

    device: str
    caster: str
    threads: int
    rays: int
    frame_rays: int
    origins: int
    hit_ratio: float
    wrong_ratio: float
    median_ms: float
    p95_ms: float
    mbeams_per_s: float
    ratio_to_plain: float


@dataclass(frozen=True, slots=True)
class _Runner:
    caster: str
    threads: int
    rays: int
    hit_ratio: float
    wrong_ratio: float
    run: Callable[[], object]


def measure_casting(
    rig: Rig, device: str, casters: Sequence[str], threads: Sequence[int], *, rounds: int, cold: list[ColdStart]
) -> list[CastSpeed]:
    """Speed of each caster with each number of threads on one frame of a device at rest.

    Args:
        rig: robot, scene and mount.
        device: name, alias or path of a profile.
        casters: keys of ``CASTERS``.
        threads: numbers of threads.
        rounds: in each of them every caster is run once, so that a busy moment meets all of them.
        cold: gets a row for each caster and number of threads that is not in it yet.

    Raises:
        NoHitsError: no ray of the device hit anything.
    """
    profile = load_profile(device)
    rays, keyframe, carrier_body = frame_rays(rig, device)
    plain = PlainMultiRay(rig.model, keyframe, rays, carrier_body)
    plain_hits = float(np.isfinite(plain.cast()).mean())
    sample = _every(rays, len(rays) // SAMPLE_RAYS)
    oracle = MjRay(rig.model, keyframe, carrier_body)
    true_m = oracle.cast(sample)
    plain_wrong = wrong_ratio(PlainMultiRay(rig.model, keyframe, sample, carrier_body).cast(), true_m)
    runners = [_Runner("mj_multiRay", 1, len(rays), plain_hits, plain_wrong, plain.run)]
    for name in casters:
        for count in threads:
            caster = _started(rig, name, count, rays, keyframe, carrier_body, cold)
            wrong = wrong_ratio(caster.cast(sample).distance, true_m, max(tolerance_m(name), SAME_M))
            runners.append(_runner(caster, name, count, rays, wrong))
    if not any(runner.hit_ratio for runner in runners):
        raise NoHitsError(f"none of the {len(rays):,} rays of {profile.name} hit anything in {rig.name}: no report")
    frame_s = _interleaved(runners, rounds) * np.array([len(rays) / runner.rays for runner in runners])
    return [
        _speed(profile.name, runner, len(rays), plain.calls, frame_s[:, k], frame_s[:, 0])
        for k, runner in enumerate(runners)
    ]


def frame_rays(rig: Rig, device: str) -> tuple[RayBatch, Keyframe, int]:
    """Rays of frame 0 of a device on the rig at rest, their keyframe, and the body that carries the sensor."""
    pattern = make_pattern(load_profile(device))
    poses = PoseSource(rig.model, rig.mount, rig.offset)
    keyframe = poses.capture(rig.data)
    count = pattern.frame_start(1) - pattern.frame_start(0)
    pieces = Scheduler(pattern, max_beams=max(count, 1)).at(keyframe, pattern.frame_start(0), pattern.frame_start(1))
    return next(iter(pieces))[1], keyframe, poses.carrier_body


def _started(
    rig: Rig, name: str, threads: int, rays: RayBatch, keyframe: Keyframe, carrier_body: int, cold: list[ColdStart]
) -> Caster:
    """A caster that has cast, the time of its first cast noted."""
    kernels_before, start = _cached_kernels(), perf_counter()
    caster = make_caster(name, Scene(rig.model, carrier_body=carrier_body), threads=threads)
    caster.pose(keyframe, keyframe)
    caster.cast(_every(rays, len(rays) // _FEW_RAYS))
    if not any((row.caster, row.threads) == (name, threads) for row in cold):
        cold.append(ColdStart(name, threads, perf_counter() - start, _cached_kernels() > kernels_before))
    return caster


def _runner(caster: Caster, name: str, threads: int, rays: RayBatch, wrong: float) -> _Runner:
    chosen = _affordable(caster, rays)
    hit_ratio = float(np.isfinite(caster.cast(chosen).distance).mean())
    return _Runner(name, threads, len(chosen), hit_ratio, wrong, lambda: caster.cast(chosen))


def _cached_kernels() -> int:
    return sum(1 for _ in jit.cache_folder().rglob("*.nbc"))


def _affordable(caster: Caster, rays: RayBatch) -> RayBatch:
    """All rays, or every n-th where all would take longer than ``_LONGEST_FRAME_S``."""
    expected_s = 0.0
    # A few rays cost more each than many do: only what many confirm is too slow.
    for count in (_FEW_RAYS, _MANY_RAYS):
        expected_s = _expected_s(caster, rays, count)
        if expected_s <= _LONGEST_FRAME_S:
            return rays
    return _every(rays, int(np.ceil(expected_s / _SAMPLED_FRAME_S)))


def _expected_s(caster: Caster, rays: RayBatch, count: int) -> float:
    """Seconds for all rays, from the quickest of a few casts of about ``count`` of them."""
    probe = _every(rays, len(rays) // count)
    times_s = []
    for _ in range(_PROBES):
        start = perf_counter()
        caster.cast(probe)
        times_s.append(perf_counter() - start)
    return min(times_s) * len(rays) / len(probe)


def _every(rays: RayBatch, step: int) -> RayBatch:
    if step <= 1:
        return rays
    # A step that shares a factor with the number of lasers would pick the same lasers each time.
    step += 1 - step % 2
    chosen = slice(None, None, step)
    return RayBatch(
        origin=rays.origin[chosen].copy(),
        direction=rays.direction[chosen].copy(),
        time_ns=rays.time_ns[chosen].copy(),
        phase=rays.phase[chosen].copy(),
    )


def _interleaved(runners: Sequence[_Runner], rounds: int) -> F64:
    """(rounds, runners) seconds of each run."""
    for _ in range(_WARM_UPS):
        for runner in runners:
            runner.run()
    return np.array([list(_one_round(runners)) for _ in range(rounds)])


def _one_round(runners: Sequence[_Runner]) -> Iterator[float]:
    for runner in runners:
        start = perf_counter()
        runner.run()
        yield perf_counter() - start


def _speed(device: str, runner: _Runner, frame_rays: int, origins: int, frame_s: F64, plain_s: F64) -> CastSpeed:
    median_s = float(np.median(frame_s))
    return CastSpeed(
        device=device,
        caster=runner.caster,
        threads=runner.threads,
        rays=runner.rays,
        frame_rays=frame_rays,
        origins=origins,
        hit_ratio=runner.hit_ratio,
        wrong_ratio=runner.wrong_ratio,
        median_ms=median_s * 1e3,
        p95_ms=float(np.percentile(frame_s, 95)) * 1e3,
        mbeams_per_s=frame_rays / median_s * 1e-6,
        ratio_to_plain=float(np.median(plain_s / frame_s)),
    )
