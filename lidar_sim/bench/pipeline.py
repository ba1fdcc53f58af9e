"""The whole pipeline against real time, and what each room takes of it."""

from __future__ import annotations

import cProfile
import pstats
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import mujoco

import lidar_sim
from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.bench.rig import Rig
from lidar_sim.simulator import Lidar

ROOMS = ("pattern", "schedule", "cast", "measure", "cloud")
_PACKAGE = str(Path(lidar_sim.__file__).parent)
_WARM_UP_S = 0.2
# A run that is slower than this is cut short; the real-time factor is that of what was simulated.
_LONGEST_RUN_S = 10.0


@dataclass(frozen=True, slots=True)
class PipelineSpeed:
    """A device stepped beside the physics of its robot.

    Attributes:
        device: name of the profile.
        caster: its name.
        threads: as asked for.
        step_ms: simulated time between two calls of ``Lidar.step``.
        simulated_s: simulated time in all.
        scans: frames that were finished.
        points: in all of them.
        lidar_s: wall time of the calls of ``Lidar.step``.
        physics_s: wall time of ``mj_step``.
        real_time_factor: simulated time over the wall time of ``Lidar.step``; above 1 is faster than real.
        shares: room -> share of the time of ``Lidar.step``, "rest" for the simulator itself; by a profiler, in a run
            of its own.
    """

    device: str
    caster: str
    threads: int
    step_ms: float
    simulated_s: float
    scans: int
    points: int
    lidar_s: float
    physics_s: float
    real_time_factor: float
    shares: dict[str, float] = field(default_factory=dict)


def measure_pipeline(
    rig: Rig, device: str, caster: str, threads: int, *, step_ms: float, simulated_s: float = 1.0
) -> PipelineSpeed:
    """Step a device through simulated time.

    Args:
        rig: robot, scene and mount.
        device: name, alias or path of a profile.
        caster: key of ``CASTERS``.
        threads: number of threads.
        step_ms: simulated time between two calls, rounded to whole physics steps.
        simulated_s: at least a frame of the device.

    Raises:
        NoHitsError: no frame held a point.
    """
    lidar = Lidar(rig.model, device, mount=rig.mount, offset=rig.offset, caster=caster, threads=threads)
    drive = _Drive(rig, lidar, step_ms)
    drive.run(_WARM_UP_S)
    drive.forget()
    drive.run(simulated_s)
    if not drive.points:
        raise NoHitsError(f"{lidar.profile.name} gave no point in {simulated_s:g} s of {rig.name}: no report")
    lidar_s, physics_s, scans, points = drive.lidar_s, drive.physics_s, drive.scans, drive.points
    return PipelineSpeed(
        device=lidar.profile.name,
        caster=caster,
        threads=threads,
        step_ms=drive.step_s * 1e3,
        simulated_s=drive.simulated_s,
        scans=scans,
        points=points,
        lidar_s=lidar_s,
        physics_s=physics_s,
        real_time_factor=drive.simulated_s / lidar_s,
        shares=room_shares(lambda: drive.run(simulated_s)),
    )


class _Drive:
    """The user's loop: physics, then the sensor, with a watch on both."""

    def __init__(self, rig: Rig, lidar: Lidar, step_ms: float) -> None:
        self._model, self._lidar = rig.model, lidar
        self._data = mujoco.MjData(rig.model)
        mujoco.mj_copyData(self._data, rig.model, rig.data)
        timestep_s = rig.model.opt.timestep
        self._physics_steps = max(round(step_ms * 1e-3 / timestep_s), 1)
        self.step_s = self._physics_steps * timestep_s
        self.forget()
        lidar.step(self._data)

    def forget(self) -> None:
        """Set all counts to 0."""
        self.lidar_s = self.physics_s = self.simulated_s = 0.0
        self.scans = self.points = 0

    def run(self, simulated_s: float) -> None:
        """Go on for so long, or until a frame is finished and patience is at its end."""
        impatient_s = perf_counter() + _LONGEST_RUN_S
        for _ in range(round(simulated_s / self.step_s)):
            if self.scans and perf_counter() > impatient_s:
                break
            start = perf_counter()
            mujoco.mj_step(self._model, self._data, self._physics_steps)
            between = perf_counter()
            scans = self._lidar.step(self._data)
            self.lidar_s += perf_counter() - between
            self.physics_s += between - start
            self.simulated_s += self.step_s
            self.scans += len(scans)
            self.points += sum(len(scan) for scan in scans)


def room_shares(run: Callable[[], None]) -> dict[str, float]:
    """Share of each room in the time spent inside lidar_sim, without what it called in other rooms."""
    profiler = cProfile.Profile()
    profiler.runcall(run)
    stats: Any = pstats.Stats(profiler)
    own_s: defaultdict[str, float] = defaultdict(float)
    for (path, _, _), (_, _, _, _, callers) in stats.stats.items():
        room = _room(path)
        for (caller_path, _, _), (_, _, _, inclusive_s) in callers.items():
            caller_room = _room(caller_path)
            if room is not None and caller_room != room:
                own_s[room] += inclusive_s
                own_s[caller_room or "outside"] -= inclusive_s
    total_s = sum(own_s[room] for room in (*ROOMS, "rest"))
    return {room: max(own_s[room], 0.0) / total_s for room in (*ROOMS, "rest")} if total_s > 0.0 else {}


def _room(path: str) -> str | None:
    """Room of a source file; "rest" for the simulator and what all rooms share, None outside lidar_sim."""
    if not path.startswith(_PACKAGE) or path.startswith(str(Path(_PACKAGE, "bench"))):
        return None
    folder = Path(path).relative_to(_PACKAGE).parts[0]
    return folder if folder in ROOMS else "rest"
