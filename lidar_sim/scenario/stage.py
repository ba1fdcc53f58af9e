"""From a ScenarioConfig to what runs: the model, the motion and the sensors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco

from lidar_sim.errors import ScenarioError
from lidar_sim.scenario.config import (
    ControllerConfig,
    MotionConfig,
    PoseConfig,
    ReplayConfig,
    RestConfig,
    ScenarioConfig,
    SensorConfig,
    WaypointsConfig,
)
from lidar_sim.scenario.controller import ControllerDrive
from lidar_sim.scenario.drive import Sway, WaypointDrive
from lidar_sim.scenario.motion import Motion, Rest
from lidar_sim.scenario.replay import QposReplay
from lidar_sim.scenario.world import build_model
from lidar_sim.simulator import Lidar
from lidar_sim.transforms import euler_to_quaternion


@dataclass(frozen=True, slots=True)
class Stage:
    """A scenario ready to run.

    Attributes:
        model: scene and robot.
        motion: what moves them.
        sensors: switched off.
        duration_s: how long to run.
        about: digests of the files that the scenario names, for the manifest.
        remarks: what is worth knowing before the run, but no fault; one line each.
    """

    model: mujoco.MjModel
    motion: Motion
    sensors: tuple[Lidar, ...]
    duration_s: float
    about: dict[str, Any]
    remarks: tuple[str, ...] = ()


def set_stage(config: ScenarioConfig, *, threads: int | None = None) -> Stage:
    """Build everything that a scenario names.

    Raises:
        LidarSimError: whatever of it cannot be found or built.
    """
    model = build_model(
        config.scene,
        config.robot,
        pose=_pose(config.robot_pose) if config.robot_pose is not None else None,
        mocap=config.mocap,
        timestep_s=config.timestep_s,
    )
    motion = make_motion(config.motion, model)
    duration_s = config.duration_s if config.duration_s is not None else motion.duration_s
    if duration_s is None:
        raise ScenarioError("this motion has no end of its own: give duration_s")
    sensors = tuple(make_sensor(sensor, model, config, threads=threads) for sensor in config.sensors)
    return Stage(model, motion, sensors, duration_s, _file_digests(config), _remarks(config, motion, duration_s))


def make_motion(config: MotionConfig, model: mujoco.MjModel) -> Motion:
    """The motion that a section of a scenario describes."""
    motion: Motion = _MAKERS[config.kind](config, model)
    return motion


def make_sensor(config: SensorConfig, model: mujoco.MjModel, scenario: ScenarioConfig, *, threads: int | None) -> Lidar:
    """The sensor that a section of a scenario describes."""
    offset = (config.offset.position_m, config.offset.rpy_deg) if config.offset is not None else None
    return Lidar(
        model,
        config.device,
        mount=config.mount,
        offset=offset,
        mode=config.mode,
        exclude=config.exclude,
        geomgroups=config.geomgroups,
        noise=config.noise,
        seed=scenario.seed,
        caster=scenario.caster,
        motion=config.motion,
        keep_misses=config.keep_misses,
        threads=threads,
        name=config.label,
    )


def _pose(config: PoseConfig) -> list[float]:
    return [*config.position_m, *euler_to_quaternion(*config.rpy_deg)]


def _rest(config: RestConfig, model: mujoco.MjModel) -> Motion:
    return Rest()


def _waypoints(config: WaypointsConfig, model: mujoco.MjModel) -> Motion:
    sway = Sway(**config.sway.model_dump())
    return WaypointDrive(
        model,
        config.waypoints_m,
        speed_m_s=config.speed_m_s,
        corner_m=config.corner_m,
        closed=config.closed,
        body=config.body,
        height_m=config.height_m,
        sway=sway,
        follow_ground=config.follow_ground,
        footprint_m=config.footprint_m,
        trot_stride_m=config.trot.stride_m if config.trot is not None else None,
        trot_lift_m=config.trot.lift_m if config.trot is not None else 0.0,
    )


def _replay(config: ReplayConfig, model: mujoco.MjModel) -> Motion:
    return QposReplay(model, config.log)


def _controller(config: ControllerConfig, model: mujoco.MjModel) -> Motion:
    return ControllerDrive(config.function)


_MAKERS: dict[str, Any] = {
    "rest": _rest,
    "waypoints": _waypoints,
    "replay": _replay,
    "controller": _controller,
}


def _remarks(config: ScenarioConfig, motion: Motion, duration_s: float) -> tuple[str, ...]:
    end_s = motion.duration_s
    # Half a nanosecond: the clock's own rounding is no longer run.
    if end_s is None or duration_s <= end_s + 0.5e-9:
        return ()
    what = "log" if isinstance(config.motion, ReplayConfig) else "path"
    return (f"the {what} ends at {end_s:.3f} s: its last pose is held until {duration_s:.3f} s",)


def _file_digests(config: ScenarioConfig) -> dict[str, Any]:
    """SHA-256 of a replayed log: another log under the same name is another recording."""
    if not isinstance(config.motion, ReplayConfig):
        return {}
    return {"log_sha256": hashlib.sha256(Path(config.motion.log).read_bytes()).hexdigest()}
