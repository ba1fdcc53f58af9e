"""Poses that belong to their time stamp: kinematics of the caller's qpos in a private MjData."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from lidar_sim.errors import ModelError
from lidar_sim.records import F64, Keyframe
from lidar_sim.schedule.clock import simulation_ns
from lidar_sim.schedule.mounts import Offset, parse_offset, resolve_mount
from lidar_sim.transforms import compose

_NEEDS_COM = (mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM, mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODYCOM)


# Numbers of captures, never given twice in a process.
_COUNT = itertools.count(1)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Where everything stood at one instant, seen from no sensor in particular.

    Attributes:
        time_ns: ns of simulation time.
        world: private MjData with the kinematics; belongs to the snapshot as long as anybody holds the snapshot.
        number: of the capture, unique in the process, from 1.
    """

    time_ns: int
    world: mujoco.MjData
    number: int


class Kinematics:
    """Poses of all bodies at the instant of ``data.time``, for any number of sensors on one model.

    After ``mj_step`` the derived arrays of MjData (``site_xpos``, ``geom_xpos``) are one step behind ``qpos``.
    So qpos and the mocap poses are copied and the kinematics run anew in a private MjData: the result is the
    same after ``mj_step``, after ``mj_forward``, or after writing qpos. The caller's MjData is only read. A private
    MjData is used again when nobody holds its snapshot any more.

    Args:
        model: the model whose data will be captured; kept, not copied.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._worlds: list[mujoco.MjData] = []
        self._holders: list[Callable[[], Snapshot | None]] = []
        self._with_com = bool(np.isin([*model.cam_mode, *model.light_mode], _NEEDS_COM).any())

    def capture(self, data: mujoco.MjData) -> Snapshot:
        """Snapshot of ``data``'s qpos and mocap poses, stamped ``data.time``.

        Args:
            data: data of the model given at construction; not written.

        Raises:
            ModelError: data of another model, or a pose that is not finite.
            TimeError: ``data.time`` is no number of nanoseconds.
        """
        self._check(data)
        time_ns = simulation_ns(data.time)
        place = self._free_place()
        world = self._worlds[place]
        _copy_pose(data, world)
        self._run(world)
        snapshot = Snapshot(time_ns, world, next(_COUNT))
        self._holders[place] = weakref.ref(snapshot)
        return snapshot

    def _free_place(self) -> int:
        for place, holder in enumerate(self._holders):
            if holder() is None:
                return place
        self._worlds.append(mujoco.MjData(self._model))
        self._holders.append(lambda: None)
        return len(self._worlds) - 1

    def _run(self, world: mujoco.MjData) -> None:
        mujoco.mj_kinematics(self._model, world)
        if self._with_com:
            mujoco.mj_comPos(self._model, world)
        mujoco.mj_camlight(self._model, world)
        if self._model.nflex:
            mujoco.mj_flex(self._model, world)

    def _check(self, data: mujoco.MjData) -> None:
        model = self._model
        if not isinstance(data, mujoco.MjData):
            raise ModelError(f"expected the model's mujoco.MjData, found {type(data).__name__}")
        found = (data.qpos.shape[0], data.mocap_pos.shape[0], data.xpos.shape[0])
        expected = (model.nq, model.nmocap, model.nbody)
        if found != expected:
            raise ModelError(
                f"data belong to another model: (nq, nmocap, nbody) are {found}, in the sensor's model {expected}"
            )
        if not np.isfinite(data.qpos).all():
            raise ModelError(_not_finite(model, data))
        if model.nmocap and not (np.isfinite(data.mocap_pos).all() and np.isfinite(data.mocap_quat).all()):
            raise ModelError(f"a mocap pose is not finite at {data.time:g} s")


class PoseSource:
    """Where one mounted sensor, and everything around it, stands at the instant of ``data.time``.

    Attributes:
        name: name of the mount.
        carrier_body: id of the body that carries the sensor.
        T_body_sensor: (7,) position m and quaternion w x y z of the sensor in that body, offset included.
    """

    def __init__(
        self, model: mujoco.MjModel, mount: str, offset: Offset | None = None, kinematics: Kinematics | None = None
    ) -> None:
        """Find the mount; its place in its body is read here, once.

        Args:
            model: the model whose data will be captured; kept, not copied.
            mount: name of a site, body or camera, unique across the three, or "site:NAME", "body:NAME",
                "camera:NAME". A sensor at a camera looks where the camera looks.
            offset: pose of the sensor in the mount: (x, y, z) m; ((x, y, z), (roll, pitch, yaw) degrees);
                ((x, y, z), (w, x, y, z)); or seven numbers x y z w x y z.
            kinematics: shared with other sensors on the model; None = its own.

        Raises:
            ModelError: the mount cannot be found, or its name is ambiguous.
            OptionError: the offset has another form.
        """
        place = resolve_mount(model, mount)
        position, quaternion = compose(place.position, place.quaternion, *parse_offset(offset))
        self.name = place.name
        self.carrier_body = place.body
        self.T_body_sensor: F64 = np.concatenate([position, quaternion / np.linalg.norm(quaternion)])
        self._kinematics = kinematics if kinematics is not None else Kinematics(model)
        self._held: tuple[Snapshot, ...] = ()

    def capture(self, data: mujoco.MjData) -> Keyframe:
        """Keyframe of ``data``'s qpos and mocap poses, stamped ``data.time``.

        A keyframe stays valid until the second one after it.

        Args:
            data: data of the model given at construction; not written.

        Raises:
            ModelError: data of another model, or a pose that is not finite.
            TimeError: ``data.time`` is no number of nanoseconds.
        """
        return self.at(self._kinematics.capture(data))

    def at(self, snapshot: Snapshot) -> Keyframe:
        """Keyframe of this sensor in a snapshot of the kinematics that it was given."""
        self._held = (*self._held[-1:], snapshot)
        world = snapshot.world
        position, quaternion = np.empty(3), np.empty(4)
        mujoco.mju_mulPose(
            position,
            quaternion,
            world.xpos[self.carrier_body],
            world.xquat[self.carrier_body],
            self.T_body_sensor[:3],
            self.T_body_sensor[3:],
        )
        return Keyframe(snapshot.time_ns, position, quaternion, world, snapshot.number)


def _copy_pose(data: mujoco.MjData, world: mujoco.MjData) -> None:
    world.time = data.time
    world.qpos[:] = data.qpos
    world.mocap_pos[:] = data.mocap_pos
    world.mocap_quat[:] = data.mocap_quat


def _not_finite(model: mujoco.MjModel, data: mujoco.MjData) -> str:
    bad = int(np.flatnonzero(~np.isfinite(data.qpos))[0])
    joint = int(np.searchsorted(model.jnt_qposadr, bad, side="right")) - 1
    name = model.joint(joint).name or f"number {joint}"
    return f"qpos[{bad}] (joint {name}) is {data.qpos[bad]} at {data.time:g} s: the simulation has diverged"
