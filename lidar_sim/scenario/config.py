"""What a scenario holds: scene, robot, sensors, motion, duration and outputs, every value with its unit in the key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from lidar_sim.errors import unknown_name
from lidar_sim.export import WRITERS
from lidar_sim.profile.schema import Positive, fault

Vector = tuple[float, float, float]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PoseConfig(_Frozen):
    """A place: Rz(yaw) Ry(pitch) Rx(roll). Also given as a list of x, y, z, and perhaps roll, pitch, yaw."""

    position_m: Vector = (0.0, 0.0, 0.0)
    rpy_deg: Vector = (0.0, 0.0, 0.0)

    @model_validator(mode="before")
    @classmethod
    def _a_list_is_a_pose_too(cls, data: Any) -> Any:
        if isinstance(data, list | tuple) and len(data) in (3, 6):
            return {"position_m": data[:3], "rpy_deg": data[3:] or (0.0, 0.0, 0.0)}
        if isinstance(data, dict | PoseConfig):
            return data
        raise fault(
            "",
            "must be [x, y, z] in m, [x, y, z, roll, pitch, yaw] in m and deg, "
            f"or a mapping of {', '.join(cls.model_fields)}, found {data!r}",
        )


class SensorConfig(_Frozen):
    """One device on a mount."""

    device: str
    """Name or alias of a shipped device, or a path to a profile."""
    mount: str
    """Site, body or camera that carries it."""
    name: FileName | None = None
    """Names its files, and tells its noise apart from that of equal devices; None = the device's name."""
    offset: PoseConfig | None = None
    """Of the sensor in the mount."""
    mode: str | None = None
    exclude: str | tuple[str, ...] = "body"
    """What the beams pass through: none, body, subtree, or names of bodies."""
    geomgroups: tuple[Annotated[int, Field(ge=0, le=5)], ...] | None = None
    noise: bool = True
    motion: Literal["rolling", "frozen"] = "rolling"
    keep_misses: bool = False

    @property
    def label(self) -> str:
        """The sensor's name."""
        return self.name if self.name is not None else Path(self.device).stem


class RestConfig(_Frozen):
    """Nothing moves."""

    kind: Literal["rest"] = "rest"


class SwayConfig(_Frozen):
    """Rocking of the body, see ``drive.Sway``."""

    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    heave_m: float = 0.0
    frequency_hz: Positive = 1.5


class TrotConfig(_Frozen):
    """Moving legs of a quadruped, see ``gait.Trot``."""

    stride_m: Positive = 0.4
    lift_m: Annotated[float, Field(ge=0.0)] = 0.06


class WaypointsConfig(_Frozen):
    """A kinematic drive along waypoints, see ``drive.WaypointDrive``."""

    kind: Literal["waypoints"]
    waypoints_m: tuple[tuple[float, float], ...] = Field(min_length=2)
    speed_m_s: Positive
    corner_m: Positive = 1.0
    closed: bool = False
    body: str | None = None
    height_m: float | None = None
    sway: SwayConfig = SwayConfig()
    follow_ground: bool = False
    footprint_m: tuple[Positive, Positive] = (0.4, 0.3)
    trot: TrotConfig | None = None


class ReplayConfig(_Frozen):
    """A replayed log, see ``replay.QposReplay``."""

    kind: Literal["replay"]
    log: str


class ControllerConfig(_Frozen):
    """Physics under a controller, see ``controller.ControllerDrive``."""

    kind: Literal["controller"]
    function: str
    """"module:function"."""


MotionConfig = Annotated[RestConfig | WaypointsConfig | ReplayConfig | ControllerConfig, Field(discriminator="kind")]


class OutputConfig(_Frozen):
    """Which files a frame becomes."""

    formats: tuple[str, ...] = Field(default=("pcd",), min_length=1)
    """Suffixes of ``lidar_sim.export.WRITERS``, without the dot."""
    fields: str | tuple[str, ...] | None = None
    """A layout, or names of fields; None = each format's own choice. Images hold "range" where it is named
    and "depth" is not, else "depth"."""
    encoding: Literal["ascii", "binary", "binary_compressed"] = "binary"
    """Of PCD files."""
    flat: bool = False
    """PCD files hold the points one after another, not the device's grid with NaN where nothing came back."""
    frame: Literal["sensor", "body", "world"] = "sensor"
    """Frame of the points."""

    @model_validator(mode="after")
    def _formats_are_written(self) -> OutputConfig:
        for entry in self.formats:
            if f".{entry}" not in WRITERS:
                raise fault("formats", unknown_name("format", entry, [suffix[1:] for suffix in WRITERS]))
        return self


class ScenarioConfig(_Frozen):
    """One run: everything that is needed to make a recording again."""

    scene: str
    """Bundled model, or a path."""
    robot: str | None = None
    """Bundled model, or a path, of a robot to put into the scene."""
    robot_pose: PoseConfig | None = None
    """Of the robot file's origin in the scene."""
    mocap: bool = False
    """Hang the robot on a mocap body instead of its free joint."""
    keyframe: str | None = None
    """State at the start; None = "home" where the model has it."""
    timestep_s: Positive | None = None
    """Time between two poses, and the physics timestep; None = the model's."""
    duration_s: Positive | None = None
    """None = as long as the motion lasts."""
    seed: int = 0
    caster: str = "multiray"
    sensors: tuple[SensorConfig, ...] = Field(min_length=1)
    motion: MotionConfig = RestConfig()
    outputs: OutputConfig = OutputConfig()

    @model_validator(mode="after")
    def _names_differ(self) -> ScenarioConfig:
        labels = [sensor.label for sensor in self.sensors]
        for i, label in enumerate(labels):
            if label in labels[:i]:
                raise fault(f"sensors.{i}", f"there are two sensors named {label!r}: give one another name")
        return self

    @model_validator(mode="after")
    def _has_an_end(self) -> ScenarioConfig:
        endless = self.motion.kind in ("rest", "controller") or getattr(self.motion, "closed", False)
        if self.duration_s is None and endless:
            raise fault("motion", "this motion has no end of its own: give duration_s")
        return self

    def effective(self) -> dict[str, Any]:
        """All values, defaults too, as JSON knows them."""
        return self.model_dump(mode="json")
