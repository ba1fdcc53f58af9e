"""Drives a model and writes what its sensors see: one file a frame, the poses, and a manifest."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import mujoco
import numpy as np

from lidar_sim.errors import ScenarioError
from lidar_sim.jit import numba_version
from lidar_sim.profile import DeviceProfile
from lidar_sim.records import Scan
from lidar_sim.scenario.config import OutputConfig, ScenarioConfig
from lidar_sim.scenario.load import effective_beside, save_scenario
from lidar_sim.scenario.motion import Motion
from lidar_sim.scenario.offers import check_fields, check_image, image_field
from lidar_sim.scenario.recording import Recording
from lidar_sim.scenario.stage import set_stage
from lidar_sim.scenario.world import initial_data, model_digest

SCENARIO = "scenario.yaml"
"""Name of the scenario's file in the folder of its recording."""

_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.@+-]")


class Sensor(Protocol):
    """What is recorded; ``simulator.Lidar`` is one."""

    name: str
    seed: int
    profile: DeviceProfile

    def start(self, data: mujoco.MjData, *, frame: int = 0) -> None:
        """Switch on; the first frame that ``step`` gives is ``frame``."""

    def step(self, data: mujoco.MjData) -> list[Scan]:
        """Frames that became complete since the last call."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a recording is; handed to the progress callback after every timestep.

    Attributes:
        time_s: simulation time.
        duration_s: simulation time at the end.
        frames: frames finished so far, of all sensors, those of an earlier run too.
        points: points in the frames of this run.
    """

    time_s: float
    duration_s: float
    frames: int
    points: int


ProgressCallback = Callable[[Progress], None]


def run_scenario(
    config: ScenarioConfig,
    out_dir: str | Path,
    *,
    overwrite: bool = False,
    resume: bool = False,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
    started: Callable[[Recording], None] | None = None,
    remark: Callable[[str], None] | None = None,
) -> Recording:
    """Record a scenario, and leave it as ``scenario.yaml`` in the folder before the first step.

    Args:
        config: see ``load_scenario``.
        out_dir: folder of the recording; see ``Recording`` for what is in it.
        overwrite: begin anew in a folder that is not empty.
        resume: go on with the same recording where it ended.
        threads: threads of the caster, None = all cores; they change nothing in the result.
        progress: called after every timestep.
        started: called once when the folder is ready, before the first step.
        remark: told what is worth knowing but no fault, such as a log shorter than the run.

    Raises:
        ScenarioError: a scenario that cannot be run, or the folder is not empty.
        LidarSimError: unknown device, mount, option, ...: whatever ``Lidar`` and the writers refuse.
    """
    stage = set_stage(config, threads=threads)
    if remark is not None:
        for text in stage.remarks:
            remark(text)

    def begin(recording: Recording) -> None:
        save_scenario(config, recording.folder / SCENARIO)
        if started is not None:
            started(recording)

    return record(
        stage.model,
        stage.motion,
        stage.sensors,
        out_dir,
        duration_s=stage.duration_s,
        keyframe=config.keyframe,
        outputs=config.outputs,
        about={"scenario": effective_beside(config, out_dir), **stage.about},
        overwrite=overwrite,
        resume=resume,
        progress=progress,
        started=begin,
    )


def record(
    model: mujoco.MjModel,
    motion: Motion,
    sensors: Sequence[Sensor],
    out_dir: str | Path,
    *,
    duration_s: float | None = None,
    keyframe: str | None = None,
    outputs: OutputConfig | None = None,
    about: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    progress: ProgressCallback | None = None,
    started: Callable[[Recording], None] | None = None,
) -> Recording:
    """Drive a model by a motion from time 0 and write every finished frame of every sensor.

    The sensors are switched on at time 0 and asked after every timestep of the model. Nothing of the result
    depends on the clock, on threads, or on whether it was made in one go.

    Args:
        model: the sensors' model.
        motion: brings the data from one timestep to the next.
        sensors: fresh ``Lidar`` objects on that model, with names that differ.
        out_dir: folder of the recording.
        duration_s: simulation time to drive, rounded to timesteps; None = as long as the motion lasts.
        keyframe: state at the start; None = "home" where the model has it.
        outputs: formats and fields; None = PCD of the layout "device".
        about: kept in the manifest; a recording is resumed only if it is equal.
        overwrite: begin anew in a folder that is not empty.
        resume: go on where the same recording ended. The motion is run again from the start, without casting;
            the last frame that is there must have been taken at the very pose it has now.
        progress: called after every timestep.
        started: called once when the folder is ready, before the first step.

    Raises:
        OptionError: a field that a device does not give, or images of a device that has none.
        ScenarioError: no duration, equal names, a motion that cannot go on, or a folder that is not empty.
    """
    duration_s = duration_s if duration_s is not None else motion.duration_s
    if duration_s is None or not duration_s > 0.0:
        raise ScenarioError(f"a recording needs a duration of more than 0 s, found {duration_s}")
    outputs = outputs if outputs is not None else OutputConfig()
    steps = round(duration_s / model.opt.timestep)
    names = _file_names(sensors)
    _check_outputs(sensors, outputs)
    data = initial_data(model, keyframe)
    manifest = _manifest(model, sensors, names, outputs, steps, about or {})
    recording = Recording(out_dir, manifest, names, outputs, overwrite=overwrite, resume=resume)
    try:
        if started is not None:
            started(recording)
        if not recording.was_complete:
            _drive(model, data, motion, dict(zip(names, sensors, strict=True)), recording, steps, progress)
    except BaseException as error:
        recording.end("failed" if isinstance(error, Exception) else "interrupted", _one_line(error))
        raise
    recording.end("complete")
    return recording


def _drive(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    motion: Motion,
    sensors: Mapping[str, Sensor],
    recording: Recording,
    steps: int,
    progress: ProgressCallback | None,
) -> None:
    points = 0
    for step in range(steps + 1):
        motion.advance(model, data, step * model.opt.timestep)
        for name, sensor in sensors.items():
            if step == 0:
                sensor.start(data, frame=recording.resume_frame(name))
            for scan in sensor.step(data):
                recording.take(name, scan)
                points += len(scan)
        if progress is not None:
            frames = sum(recording.finished.values())
            progress(Progress(data.time, steps * model.opt.timestep, frames, points))


def _check_outputs(sensors: Sequence[Sensor], outputs: OutputConfig) -> None:
    for sensor in sensors:
        if set(outputs.formats) != {"png"}:
            check_fields(sensor.profile, outputs.fields)
        if "png" in outputs.formats:
            check_image(sensor.profile, image_field(outputs.fields))


def _file_names(sensors: Sequence[Sensor]) -> list[str]:
    names = [_NOT_IN_FILE_NAMES.sub("_", sensor.name) for sensor in sensors]
    if not names:
        raise ScenarioError("there is no sensor to record")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ScenarioError(f"two sensors are named {name!r}: give each its own name=")
    return names


def _manifest(
    model: mujoco.MjModel,
    sensors: Sequence[Sensor],
    names: Sequence[str],
    outputs: OutputConfig,
    steps: int,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """What the recording is made of; no clock and no machine, so that equal recordings have equal manifests."""
    return {
        "versions": _versions(),
        "model_sha256": model_digest(model),
        "timestep_s": model.opt.timestep,
        "steps": steps,
        "outputs": outputs.model_dump(mode="json"),
        "sensors": {
            name: {"name": sensor.name, "seed": sensor.seed, "profile": sensor.profile.model_dump(mode="json")}
            for name, sensor in zip(names, sensors, strict=True)
        },
        **about,
    }


def _versions() -> dict[str, str]:
    return {
        "lidar_sim": metadata.version("lidar-sim"),
        "mujoco": mujoco.__version__,
        "numba": numba_version(),
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
