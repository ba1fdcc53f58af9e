"""One run of the benchmark: what was measured on which machine, as JSON, and against an earlier one."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from lidar_sim.bench.casting import CastSpeed, ColdStart, measure_casting
from lidar_sim.bench.pipeline import PipelineSpeed, measure_pipeline
from lidar_sim.bench.rig import Rig
from lidar_sim.cast import CASTERS
from lidar_sim.errors import ExportError, OptionError, unknown_name
from lidar_sim.export import whole_file
from lidar_sim.pattern import make_pattern
from lidar_sim.profile import load_profile

_FORMAT = "lidar_sim bench 1"
SLOWEST = 5.0
"""Casting time over frame time, above which a second of simulated time takes too long to be waited for."""


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What one run found.

    Attributes:
        machine: versions, processor, cores.
        rig: "robot in scene".
        geoms: of the model.
        triangles: of its meshes and height fields.
        cold: first cast of each caster.
        casting: one row for each device, caster and number of threads.
        pipeline: one row for each device, caster and step.
    """

    machine: dict[str, str]
    rig: str
    geoms: int
    triangles: int
    cold: list[ColdStart] = field(default_factory=list)
    casting: list[CastSpeed] = field(default_factory=list)
    pipeline: list[PipelineSpeed] = field(default_factory=list)

    def write(self, path: str | Path) -> None:
        """Write as JSON; the file appears whole or not at all.

        Raises:
            ExportError: it cannot be written.
        """
        with whole_file(path) as stream:
            stream.write((json.dumps({"format": _FORMAT, **asdict(self)}, indent=2) + "\n").encode())


def read_report(path: str | Path) -> BenchReport:
    """A report that was written before.

    Raises:
        ExportError: no such file, or not a report of this version.
    """
    try:
        tree = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: cannot be read as a bench report: {error}") from None
    if not isinstance(tree, dict) or tree.pop("format", None) != _FORMAT:
        raise ExportError(f"{path}: not a bench report of format {_FORMAT!r}")
    rows = {"cold": ColdStart, "casting": CastSpeed, "pipeline": PipelineSpeed}
    lists: dict[str, Any] = {name: [kind(**row) for row in tree.pop(name)] for name, kind in rows.items()}
    return BenchReport(**tree, **lists)


def run_bench(
    rig: Rig,
    devices: Sequence[str],
    casters: Sequence[str],
    threads: Sequence[int],
    *,
    rounds: int,
    step_ms: float,
    progress: Callable[[int, int, str], None] = lambda *_: None,
) -> BenchReport:
    """Measure casting, then the whole pipeline, for each device.

    Casters that need more than ``SLOWEST`` of real time for casting alone are not tried in the pipeline.

    Args:
        rig: robot, scene and mount.
        devices: names, aliases or paths of profiles.
        casters: keys of ``CASTERS``.
        threads: numbers of threads; the pipeline uses the largest.
        rounds: of casting.
        step_ms: simulated time between two steps of the pipeline.
        progress: is told how many measurements are done, of how many, and what is measured now.

    Raises:
        OptionError: an unknown caster.
        NoHitsError: a device whose rays hit nothing.
        MissingExtraError: a caster whose library is not installed.
    """
    for name in casters:
        if name not in CASTERS:
            raise OptionError(unknown_name("caster", name, CASTERS))
    report = BenchReport(machine_facts(), rig.name, int(rig.model.ngeom), rig.triangles)
    total = len(devices) * (1 + len(casters))
    for done, device in enumerate(devices):
        progress(done, total, f"casting {device}")
        report.casting.extend(measure_casting(rig, device, casters, threads, rounds=rounds, cold=report.cold))
    for done, (device, caster) in enumerate(product(devices, casters), start=len(devices)):
        progress(done, total, f"pipeline {device}, {caster}")
        if _casts_in_time(report, device, caster):
            report.pipeline.append(measure_pipeline(rig, device, caster, max(threads), step_ms=step_ms))
    progress(total, total, "done")
    return report


def _casts_in_time(report: BenchReport, device: str, caster: str) -> bool:
    profile = load_profile(device)
    frame_ms = make_pattern(profile).frame_period_ns * 1e-6
    times_ms = [row.median_ms for row in report.casting if (row.device, row.caster) == (profile.name, caster)]
    return min(times_ms) < SLOWEST * frame_ms


def machine_facts() -> dict[str, str]:
    """Versions and machine: what figures are worth nothing without."""
    names = ("lidar-sim", "mujoco", "numba", "numpy")
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in names},
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }


@dataclass(frozen=True, slots=True)
class Change:
    """One figure in two reports.

    Attributes:
        what: device, caster and threads.
        figure: name of the figure.
        before: in the earlier report.
        after: in the later one.
    """

    what: str
    figure: str
    before: float
    after: float

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after / self.before if self.before else float("inf")


def compare(before: BenchReport, after: BenchReport) -> list[Change]:
    """Every figure that both reports hold: speed beside plain mj_multiRay, beams per second, real-time factor.

    Raises:
        OptionError: reports on different rigs.
    """
    if before.rig != after.rig:
        raise OptionError(f"the reports are of different rigs: {before.rig!r} and {after.rig!r}")
    earlier = _figures(before)
    return [Change(*key, earlier[key], value) for key, value in _figures(after).items() if key in earlier]


def _figures(report: BenchReport) -> dict[tuple[str, str], float]:
    figures: dict[tuple[str, str], float] = {}
    for cast in report.casting:
        what = f"{cast.device}, {cast.caster}, {cast.threads} threads"
        figures[what, "ratio to plain"] = cast.ratio_to_plain
        figures[what, "Mbeams/s"] = cast.mbeams_per_s
    for row in report.pipeline:
        what = f"{row.device}, {row.caster}, {row.threads} threads, step {row.step_ms:g} ms"
        figures[what, "real-time factor"] = row.real_time_factor
    return figures
