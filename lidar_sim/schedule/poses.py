"""Poses that belong to their time stamp: kinematics of the caller's qpos in a private MjData."""

from __future__ import annotations

import mujoco
import numpy as np

from lidar_sim.errors import ModelError
from lidar_sim.records import F64, Keyframe
from lidar_sim.schedule.clock import simulation_ns
from lidar_sim.schedule.mounts import Offset, parse_offset, resolve_mount
from lidar_sim.transforms import compose

_NEEDS_COM = (mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM, mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODYCOM)


class PoseSource:
    """Where one mounted sensor, and everything around it, stands at the instant of ``data.time``.

    After ``mj_step`` the derived arrays of MjData (``site_xpos``, ``geom_xpos``) are one step behind ``qpos``.
    So qpos and the mocap poses are copied and the kinematics run anew in a private MjData: the result is the
    same after ``mj_step``, after ``mj_forward``, or after writing qpos. The caller's MjData is only read.

    Attributes:
        name: name of the mount.
        carrier_body: id of the body that carries the sensor.
        T_body_sensor: (7,) position m and quaternion w x y z of the sensor in that body, offset included.
    """

    def __init__(self, model: mujoco.MjModel, mount: str, offset: Offset | None = None) -> None:
        """Find the mount; its place in its body is read here, once.

        Args:
            model: the model whose data will be captured; kept, not copied.
            mount: name of a site, body or camera, unique across the three, or "site:NAME", "body:NAME",
                "camera:NAME". A sensor at a camera looks where the camera looks.
            offset: pose of the sensor in the mount: (x, y, z) m; ((x, y, z), (roll, pitch, yaw) degrees);
                ((x, y, z), (w, x, y, z)); or seven numbers x y z w x y z.

        Raises:
            ModelError: the mount cannot be found, or its name is ambiguous.
            OptionError: the offset has another form.
        """
        place = resolve_mount(model, mount)
        position, quaternion = compose(place.position, place.quaternion, *parse_offset(offset))
        self.name = place.name
        self.carrier_body = place.body
        self.T_body_sensor: F64 = np.concatenate([position, quaternion / np.linalg.norm(quaternion)])
        self._model = model
        self._worlds = (mujoco.MjData(model), mujoco.MjData(model))
        self._captures = 0
        self._with_com = bool(np.isin([*model.cam_mode, *model.light_mode], _NEEDS_COM).any())

    def capture(self, data: mujoco.MjData) -> Keyframe:
        """Keyframe of ``data``'s qpos and mocap poses, stamped ``data.time``.

        Two private MjData take turns: a keyframe stays valid until the second capture after it.

        Args:
            data: data of the model given at construction; not written.

        Raises:
            ModelError: data of another model, or a pose that is not finite.
            TimeError: ``data.time`` is no number of nanoseconds.
        """
        self._check(data)
        time_ns = simulation_ns(data.time)
        world = self._worlds[self._captures % 2]
        self._captures += 1
        _copy_pose(data, world)
        self._run_kinematics(world)
        position, quaternion = np.empty(3), np.empty(4)
        mujoco.mju_mulPose(
            position,
            quaternion,
            world.xpos[self.carrier_body],
            world.xquat[self.carrier_body],
            self.T_body_sensor[:3],
            self.T_body_sensor[3:],
        )
        return Keyframe(time_ns, position, quaternion, world)

    def _run_kinematics(self, world: mujoco.MjData) -> None:
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
