"""Synthetic beams: a grid pattern, hits and returns without caster or measurement."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from lidar_sim.cloud import Assembler
from lidar_sim.records import Firings, Hits, Keyframe, RayBatch, Returns, Scan
from lidar_sim.transforms import euler_to_quaternion, interpolate_poses

RINGS, COLUMNS = 4, 30
BEAMS = RINGS * COLUMNS
BEAM_NS = 1_000
POWER_ON_NS = 1_234_567_890_123_456_789
MOUNT = np.array([0.1, -0.2, 0.3, *euler_to_quaternion(3.0, -5.0, 40.0)])


class GridPattern:
    """Frames of different length: odd ones have one column less, as free-running scanners do."""

    ring_to_row = np.arange(RINGS, dtype=np.uint16)[::-1].copy()

    def frame_start(self, frame: int) -> int:
        return frame * BEAMS - RINGS * (frame // 2)

    def frame_shape(self, frame: int) -> tuple[int, int] | None:
        return (RINGS, COLUMNS)


class FlatPattern(GridPattern):
    ring_to_row = None  # type: ignore[assignment]

    def frame_shape(self, frame: int) -> tuple[int, int] | None:
        return None


@dataclass
class Beams:
    firings: Firings
    rays: RayBatch
    hits: Hits
    returns: Returns
    keyframes: list[Keyframe]

    def part(self, first: int, last: int) -> tuple[Firings, RayBatch, Hits, Returns]:
        rows = (self.returns.firing >= first) & (self.returns.firing < last)
        fields = {name: getattr(self.returns, name)[rows] for name in Returns.__slots__}
        fields["firing"] = fields["firing"] - first
        return (
            *(
                type(record)(*(getattr(record, name)[first:last] for name in type(record).__slots__))
                for record in (self.firings, self.rays, self.hits)
            ),
            Returns(**fields),
        )


def trajectory(time_ns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Constant velocity, and constant turn rate about a tilted axis: what lerp and slerp reproduce exactly."""
    t = (np.asarray(time_ns) - POWER_ON_NS) * 1e-9
    position = np.array([1.0, 2.0, 0.5]) + t[:, None] * np.array([300.0, -200.0, 100.0])
    axis = np.array([0.3, -0.4, 0.86602540378])
    half = 0.5 * 2000.0 * t
    quaternion = np.column_stack([np.cos(half), np.sin(half)[:, None] * axis / np.linalg.norm(axis)])
    return position, quaternion


def make_beams(frames: int, *, dual: bool = False, wall: bool = False, silent: bool = False, seed: int = 0) -> Beams:
    rng = np.random.default_rng(seed)
    pattern = GridPattern()
    n = pattern.frame_start(frames)
    index = np.arange(n)
    frame = np.searchsorted([pattern.frame_start(f) for f in range(frames + 1)], index, side="right") - 1
    within = index - np.array([pattern.frame_start(f) for f in range(frames)])[frame]
    azimuth, elevation = rng.uniform(-0.5, 0.5, n), rng.uniform(-0.3, 0.3, n)
    direction = np.column_stack(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    )
    firings = Firings(
        index=index,
        time_ns=index * BEAM_NS,
        direction=direction,
        origin=0.03 * rng.normal(size=(n, 3)),
        ring=(within % RINGS).astype(np.uint16),
        column=within // RINGS,
        frame=frame,
    )
    time_ns = POWER_ON_NS + firings.time_ns
    rays = pose_rays(firings, time_ns)
    distance = (50.0 - rays.origin[:, 0]) / rays.direction[:, 0] if wall else rng.uniform(1.0, 90.0, n)
    if not wall:
        distance[rng.random(n) < 0.2] = np.inf
    hits = Hits(
        distance=distance,
        geom=np.where(np.isfinite(distance), rng.integers(0, 9, n), -1).astype(np.int32),
        body=np.where(np.isfinite(distance), rng.integers(0, 5, n), -1).astype(np.int32),
        flex=np.full(n, -1, np.int32),
        normal=rng.normal(size=(n, 3)),
        cos_incidence=rng.random(n),
    )
    valid = np.isfinite(distance) & (not silent)
    firing = np.sort(np.concatenate([index, index[valid][::3]])) if dual else index
    second = np.r_[False, firing[1:] == firing[:-1]]
    ok = valid[firing]
    return_distance = np.where(ok, distance[firing] + 0.5 * second, np.nan)
    returns = Returns(
        firing=firing,
        valid=ok,
        range_m=return_distance + 0.01,
        direction=direction[firing],
        distance_m=return_distance,
        reflectivity=np.where(ok, rng.uniform(0, 255, len(firing)), 0.0).astype(np.float32),
        signal=np.where(ok, rng.random(len(firing)), 0.0).astype(np.float32),
        return_number=(1 + second).astype(np.uint8),
        flags=np.zeros(len(firing), np.uint8),
    )
    key_ns = POWER_ON_NS + np.arange(-1, n * BEAM_NS // 17_000 + 2) * 17_000
    keyframes = [
        Keyframe(int(t), p, q, None)  # type: ignore[arg-type]
        for t, p, q in zip(key_ns, *trajectory(key_ns), strict=True)
    ]
    return Beams(firings, rays, hits, returns, keyframes)


def pose_rays(firings: Firings, time_ns: np.ndarray) -> RayBatch:
    from lidar_sim.transforms import rotate_vectors

    position, quaternion = trajectory(time_ns)
    return RayBatch(
        origin=position + rotate_vectors(quaternion, firings.origin),
        direction=rotate_vectors(quaternion, firings.direction),
        time_ns=time_ns,
        phase=np.zeros(len(time_ns)),
    )


def make_assembler(pattern: Any = None, **changed: Any) -> Assembler:
    options: dict[str, Any] = {
        "device": "test_device",
        "sensor": "front",
        "pattern": pattern or GridPattern(),
        "planar": False,
        "keep_misses": False,
        "T_body_sensor": MOUNT,
        "info": {"seed": 3},
    }
    return Assembler(**{**options, **changed})


def assemble(beams: Beams, cuts: list[int] | None = None, *, early_poses: bool = True, **options: Any) -> list[Scan]:
    """All frames of the beams, given in the pieces that ``cuts`` says."""
    assembler = make_assembler(**options)
    waiting = list(beams.keyframes)
    noted_ns = -np.inf
    scans: list[Scan] = []
    for first, last in itertools.pairwise([0, *(cuts or []), len(beams.firings)]):
        until_ns = np.inf if early_poses else beams.rays.time_ns[max(last, 1) - 1]
        while waiting and noted_ns < until_ns:
            noted_ns = waiting[0].time_ns
            assembler.note_pose(waiting.pop(0))
        scans += assembler.add(*beams.part(first, last))
    return scans


def assert_equal_scans(a: Scan, b: Scan) -> None:
    """Bit for bit."""
    for name in ("device", "sensor", "frame_number", "stamp_ns", "frame", "shape"):
        assert getattr(a, name) == getattr(b, name), name
    assert list(a.fields) == list(b.fields)
    for name in a.fields:
        assert a[name].dtype == b[name].dtype
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    for name in ("time_ns", "position", "quaternion"):
        np.testing.assert_array_equal(getattr(a.track, name), getattr(b.track, name), err_msg=name)
    np.testing.assert_array_equal(a.T_body_sensor, b.T_body_sensor)
    assert dict(a.info) == dict(b.info)


class World:
    """The functions above, for test modules that cannot import their conftest."""

    rings, columns, beams_per_frame, beam_ns, power_on_ns = RINGS, COLUMNS, BEAMS, BEAM_NS, POWER_ON_NS
    mount = MOUNT
    FlatPattern, GridPattern = FlatPattern, GridPattern
    make_beams = staticmethod(make_beams)
    make_assembler = staticmethod(make_assembler)
    assemble = staticmethod(assemble)
    assert_equal = staticmethod(assert_equal_scans)
    trajectory = staticmethod(trajectory)
    interpolate_poses = staticmethod(interpolate_poses)


@pytest.fixture(scope="session")
def world() -> type[World]:
    return World
