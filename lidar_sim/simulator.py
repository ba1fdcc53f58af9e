"""Devices on a MuJoCo model: the whole pipeline in one screen, and several of them in one rig."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import mujoco
import numpy as np

from lidar_sim.cast import Views
from lidar_sim.cloud import Assembler
from lidar_sim.errors import ModelError, OptionError, TimeError
from lidar_sim.measure import Measurement
from lidar_sim.pattern import make_pattern
from lidar_sim.profile import DeviceProfile, load_profile
from lidar_sim.records import F64, Firings, Keyframe, RayBatch, Scan
from lidar_sim.rng import make_key
from lidar_sim.schedule import Kinematics, PoseSource, Scheduler
from lidar_sim.schedule.clock import simulation_ns


class Lidar:
    """A LiDAR (or any other device of a profile) mounted on a MuJoCo model.

    Call ``step(data)`` in your own loop: the first call switches the device on, every later one fires the beams
    that became due since the call before, each at its own time. ``scan(data)`` takes one whole frame of a scene at
    rest. The caller's model and data are never written to.

    Args:
        model: the compiled model; a private copy is taken, and follows when the model changes (see ``refresh``).
        device: name or alias of a shipped device, a path to a profile, or a DeviceProfile.
        mount: site, body or camera that carries the sensor ("site:NAME" where a name is ambiguous).
        offset: pose of the sensor in the mount: (position m (3,), roll pitch yaw deg (3,)), or (7,) position m
            and quaternion w x y z.
        mode: mode of the device, None = its default.
        exclude: what the beams pass through: "none", "body" (the body that carries the sensor), "subtree"
            (the whole robot it sits on), or names of bodies.
        geomgroups: geom groups (0-5) that beams can hit, None = all.
        noise: False gives the truth exactly.
        seed: seed of all randomness; equal seeds give equal bits.
        caster: name of a caster, see ``lidar_sim.cast.CASTERS``.
        motion: "rolling" poses each beam at its own time, "frozen" a step's beams at the step's end.
        keep_misses: keep a NaN row for each beam without a return.
        threads: threads of the caster, None = all cores.
        name: name of the sensor, tells apart the noise of equal devices; None = device name and mount.
        rig: what is shared with other sensors on the model; ``Rig.lidar`` gives it.

    Raises:
        ProfileError: unknown device or mode, or a faulty profile.
        ModelError: unknown or ambiguous mount or body, or a rig of another model.
        OptionError: an option outside its valid values.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        device: str | Path | DeviceProfile,
        *,
        mount: str,
        offset: Any = None,
        mode: str | None = None,
        exclude: str | Sequence[str] = "body",
        geomgroups: Sequence[int] | None = None,
        noise: bool = True,
        seed: int = 0,
        caster: str = "multiray",
        motion: str = "rolling",
        keep_misses: bool = False,
        threads: int | None = None,
        name: str | None = None,
        rig: Rig | None = None,
    ) -> None:
        shared = rig if rig is not None else Rig(model)
        if shared.model is not model:
            raise ModelError("the rig is of another model: give rig.model, or use rig.lidar")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise OptionError(f"seed must be a whole number, found {seed!r}")
        self.profile = device if isinstance(device, DeviceProfile) else load_profile(device, mode)
        self.name = name if name is not None else f"{self.profile.name}@{mount}"
        self.seed = seed
        self._mode = mode if mode is not None else self.profile.default_mode
        self._noise = noise
        self.pattern = make_pattern(self.profile, seed)
        self._poses = PoseSource(model, mount, offset, shared.kinematics)
        # Stills have their own, for a capture ends the life of the one before the last.
        self._still_poses = PoseSource(model, mount, offset, shared.kinematics)
        self._scheduler = Scheduler(self.pattern, motion=motion)
        self._view = shared.views.view(
            carrier_body=self._poses.carrier_body,
            exclude=exclude,
            geomgroups=geomgroups,
            caster=caster,
            threads=threads,
        )
        self._measurement, self._scene_version = self._new_measurement(), self._view.scene.version
        self._keep_misses = keep_misses
        self._assembler = self._new_assembler()
        self._before: Keyframe | None = None
        self._latest: Scan | None = None
        self._next_still_frame = 0
        self._first_frame = 0

    def __repr__(self) -> str:
        caster, mode = self._view.caster, self._mode or "its only mode"
        return f"<{type(self).__name__} {self.name}: {self.profile.title}, {mode}, caster {caster}, seed {self.seed}>"

    @property
    def T_body_sensor(self) -> F64:  # noqa: N802  (a frame in a name)
        """(7,) pose of the sensor in the body that carries it: position m, quaternion w x y z."""
        return self._poses.T_body_sensor

    def step(self, data: mujoco.MjData) -> list[Scan]:
        """Fire the beams due since the last call and return the frames that became complete.

        The first call switches the device on; a second one at the same ``data.time`` does nothing.

        Args:
            data: state of the model at ``data.time``; may stand before or after ``mj_step`` or ``mj_forward``.

        Raises:
            TimeError: ``data.time`` went backwards; call ``reset()`` when the simulation was reset.
        """
        if not self._is_later(data):
            return []
        return self._advance(self._poses.capture(data))

    def _advance(self, after: Keyframe) -> list[Scan]:
        before = self._before
        if before is None:
            self._power_on(after)
            return []
        self._scheduler.add(after)
        self._before = after
        for pose in self._scheduler.poses():
            self._assembler.note_pose(pose)
        self._pose(before, after)
        scans: list[Scan] = []
        for firings, rays in self._scheduler.due(before.time_ns, after.time_ns):
            if firings.frame[-1] >= self._first_frame:
                scans += self._fire(self._assembler, firings, rays)
        scans = [scan for scan in scans if scan.frame_number >= self._first_frame]
        self._latest = scans[-1] if scans else self._latest
        return scans

    def scan(self, data: mujoco.MjData, frame: int | None = None) -> Scan:
        """One whole frame of the scene as it stands, all beams from one pose; ``step`` is not disturbed.

        Args:
            data: state of the model.
            frame: number of the frame (non-repeating patterns and noise differ from frame to frame);
                None = the one after the last call's, beginning with 0.

        Raises:
            OptionError: ``frame`` is negative.
        """
        number = None if frame is None else _checked_frame(frame)
        return self._still(self._still_poses.capture(data), number)

    def _still(self, keyframe: Keyframe, frame: int | None) -> Scan:
        number = self._next_still_frame if frame is None else frame
        assembler = self._new_assembler()
        assembler.note_pose(keyframe)
        self._pose(keyframe, keyframe)
        first, last = self.pattern.frame_start(number), self.pattern.frame_start(number + 1)
        scans: list[Scan] = []
        for firings, rays in self._scheduler.at(keyframe, first, last):
            scans += self._fire(assembler, firings, rays)
        self._next_still_frame = number + 1
        return scans[0]

    def read(self) -> Scan | None:
        """The last frame that ``step`` finished, None before the first."""
        return self._latest

    def start(self, data: mujoco.MjData, *, frame: int = 0) -> None:
        """Switch the device on at ``data.time``; ``step`` does it at its first call otherwise.

        Args:
            data: state of the model.
            frame: first frame that ``step`` shall give. The beams before it are counted but not cast, so that
                a recording goes on where it ended at the cost of the motion alone.

        Raises:
            OptionError: ``frame`` is negative.
        """
        self.reset()
        self._first_frame = _checked_frame(frame)
        self._power_on(self._poses.capture(data))

    def reset(self) -> None:
        """Switch the device off; the next ``step`` begins with frame 0."""
        self._before = None
        self._latest = None
        self._next_still_frame = 0
        self._first_frame = 0
        self._assembler = self._new_assembler()

    def refresh(self) -> None:
        """Read the model anew after vertices of a mesh or heights of a height field changed; the next call follows.

        All else is noticed without a call: geom groups, colours and alphas, materials, sizes, where geoms are in their
        bodies, poses of joints and mocap bodies.
        """
        self._view.scene.refresh()

    def _is_later(self, data: mujoco.MjData) -> bool:
        """False at the last keyframe's own time; looked at before the capture, which ends an older one's life."""
        if self._before is None:
            return True
        now_ns, last_ns = simulation_ns(data.time), self._before.time_ns
        if now_ns < last_ns:
            raise TimeError(f"simulation time went back from {last_ns} to {now_ns} ns: call reset() on {self.name}")
        return now_ns > last_ns

    def _power_on(self, keyframe: Keyframe) -> None:
        self._before = keyframe
        self._scheduler.start(keyframe)
        self._assembler.note_pose(keyframe)

    def _pose(self, before: Keyframe, after: Keyframe) -> None:
        self._view.pose(before, after)
        if self._scene_version != self._view.scene.version:
            self._measurement, self._scene_version = self._new_measurement(), self._view.scene.version

    def _fire(self, assembler: Assembler, firings: Firings, rays: RayBatch) -> list[Scan]:
        hits = self._view.cast(rays, self._poses.carrier_body)
        returns = self._measurement.measure(firings, hits)
        return assembler.add(firings, rays, hits, returns)

    def _new_measurement(self) -> Measurement:
        return Measurement(
            self.profile.range,
            self.profile.noise,
            key=make_key(self.seed, self.name),
            noise=self._noise,
            geom_reflectivity=self._view.scene.geom_reflectivity,
        )

    def _new_assembler(self) -> Assembler:
        return Assembler(
            device=self.profile.name,
            sensor=self.name,
            pattern=self.pattern,
            planar=self.profile.range.planar,
            keep_misses=self._keep_misses,
            T_body_sensor=self._poses.T_body_sensor,
            info={"seed": self.seed, "mode": self._mode, "caster": self._view.caster, "noise": self._noise},
        )


class DepthCamera(Lidar):
    """A depth camera: a Lidar whose scans are images.

    Raises:
        OptionError: the device measures ranges, not depth (and what ``Lidar`` raises).
    """

    def __init__(
        self, model: mujoco.MjModel, device: str | Path | DeviceProfile, *, mount: str, **options: Any
    ) -> None:
        super().__init__(model, device, mount=mount, **options)
        if not self.profile.range.planar:
            raise OptionError(f"{self.profile.name} measures ranges, not depth: use Lidar, or a depth camera (d435i)")

    def depth_image(self, scan: Scan) -> F64:
        """Planar depth (H, W) m of a scan of this camera, 0 where invalid, row 0 at the top."""
        return np.nan_to_num(scan.organized("depth"), nan=0.0)


Sensor = TypeVar("Sensor", bound=Lidar)


class Rig:
    """Several sensors on one model that share what they can, so that a step costs one refresh for all of them.

    The poses of a step are computed once, and sensors that see the same (by exclusion, groups, caster and threads)
    share one scene, posed once. What the sensors give is, bit for bit, what each would give by itself.

    Args:
        model: the compiled model.

    Raises:
        OptionError: no compiled model.

    Attributes:
        model: as given.
        sensors: in the order they were made.
        kinematics: poses of the bodies, for all sensors.
        views: what the sensors see.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        if not isinstance(model, mujoco.MjModel):
            raise OptionError(f"model must be a compiled mujoco.MjModel, found {type(model).__name__}")
        self.model = model
        self.sensors: list[Lidar] = []
        self.kinematics = Kinematics(model)
        self.views = Views(model)

    def lidar(self, device: str | Path | DeviceProfile, *, mount: str, **options: Any) -> Lidar:
        """A new sensor of the rig; arguments and errors as of ``Lidar``.

        Raises:
            OptionError: the rig has a sensor of that name.
        """
        return self._add(Lidar(self.model, device, mount=mount, rig=self, **options))

    def depth_camera(self, device: str | Path | DeviceProfile, *, mount: str, **options: Any) -> DepthCamera:
        """A new camera of the rig; arguments and errors as of ``DepthCamera``.

        Raises:
            OptionError: the rig has a sensor of that name.
        """
        return self._add(DepthCamera(self.model, device, mount=mount, rig=self, **options))

    def _add(self, sensor: Sensor) -> Sensor:
        if sensor.name in (other.name for other in self.sensors):
            raise OptionError(f"the rig has a sensor {sensor.name!r} already: give each its own name=")
        self.sensors.append(sensor)
        return sensor

    def step(self, data: mujoco.MjData) -> list[Scan]:
        """``Lidar.step`` of all sensors; ``scan.sensor`` tells whose a scan is.

        Raises:
            TimeError: ``data.time`` went backwards (before anything was fired); call ``reset()``.
        """
        later = [sensor for sensor in self.sensors if sensor._is_later(data)]
        if not later:
            return []
        snapshot = self.kinematics.capture(data)
        return [scan for sensor in later for scan in sensor._advance(sensor._poses.at(snapshot))]

    def scan(self, data: mujoco.MjData, frame: int | None = None) -> list[Scan]:
        """``Lidar.scan`` of all sensors, one scan each, in the order of ``sensors``.

        Raises:
            OptionError: ``frame`` is negative.
        """
        number = None if frame is None else _checked_frame(frame)
        snapshot = self.kinematics.capture(data)
        return [sensor._still(sensor._still_poses.at(snapshot), number) for sensor in self.sensors]

    def reset(self) -> None:
        """Switch all sensors off; the next ``step`` begins with frame 0."""
        for sensor in self.sensors:
            sensor.reset()

    def refresh(self) -> None:
        """Read the model anew, as ``Lidar.refresh``, for all sensors."""
        self.views.refresh()


def _checked_frame(frame: int) -> int:
    if isinstance(frame, bool) or not isinstance(frame, int | np.integer):
        raise OptionError(f"frame must be a whole number, found {frame!r}")
    if frame < 0:
        raise OptionError(f"frame must be 0 or more, found {frame}")
    return frame
