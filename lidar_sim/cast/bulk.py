"""Rays without a sensor: mj_ray in bulk."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
import numpy.typing as npt

from lidar_sim.cast.scene import Scene
from lidar_sim.cast.table import make_caster
from lidar_sim.errors import ModelError, OptionError
from lidar_sim.records import F64, Hits, Keyframe, RayBatch


def cast_rays(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    origins: npt.ArrayLike,
    directions: npt.ArrayLike,
    *,
    caster: str = "multiray",
    geomgroups: Sequence[int] | None = None,
    exclude_bodies: Sequence[str] = (),
    static: bool = True,
    threads: int | None = None,
) -> Hits:
    """What rays hit, each with its own origin.

    The scene stands as ``data.qpos`` and the mocap poses say: kinematics are computed in a private MjData, so
    the call is right at any moment (also between ``mj_step`` and ``mj_forward``) and ``data`` is not
    written to. The scene is built anew in each call; for many calls, keep a ``Scene`` and a caster.

    Args:
        model: the MuJoCo model.
        data: its state.
        origins: (N, 3) m, world frame; or (3,) for all rays.
        directions: (N, 3), world frame, any length but 0; distances are in metres whatever the length.
        caster: a key of ``CASTERS``.
        geomgroups: MuJoCo groups (0 to 5) that are visible; None = all.
        exclude_bodies: names of bodies whose own geoms are not seen.
        static: False = what is welded to the world is not seen.
        threads: None = all that Numba has.

    Returns:
        N hits; distance +inf and geom -1 where nothing is hit.

    Raises:
        OptionError: wrong shapes, numbers that are not finite, directions of length 0, unknown caster.
        ModelError: unknown body, or data of another model.
    """
    rays = _ray_batch(origins, directions)
    names = (exclude_bodies,) if isinstance(exclude_bodies, str) else tuple(exclude_bodies)
    scene = Scene(model, exclude=names, geomgroups=geomgroups, static=static)
    worker = make_caster(caster, scene, threads)
    keyframe = _keyframe(model, data)
    worker.pose(keyframe, keyframe)
    return worker.cast(rays)


def _ray_batch(origins: npt.ArrayLike, directions: npt.ArrayLike) -> RayBatch:
    direction = _vectors("directions", directions)
    origin = _vectors("origins", origins)
    if len(origin) == 1:
        origin = np.repeat(origin, len(direction), axis=0)
    if len(origin) != len(direction):
        raise OptionError(f"{len(origin)} origins for {len(direction)} directions; valid: as many, or one origin")
    length = np.linalg.norm(direction, axis=1, keepdims=True)
    if not (length > 0.0).all():
        raise OptionError(f"direction {int(np.argmin(length))} has length 0; valid: any other length")
    n = len(direction)
    return RayBatch(
        origin=origin, direction=direction / length, time_ns=np.zeros(n, np.int64), phase=np.zeros(n, np.float64)
    )


def _vectors(name: str, values: npt.ArrayLike) -> F64:
    try:
        array = np.atleast_2d(np.asarray(values, np.float64))
    except (TypeError, ValueError):
        raise OptionError(f"{name} are not numbers; valid: (N, 3) finite numbers") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise OptionError(f"{name} have shape {np.shape(values)}; valid: (N, 3)")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise OptionError(f"{name}[{row}] is {array[row].tolist()}; valid: finite numbers")
    return np.ascontiguousarray(array)


def _keyframe(model: mujoco.MjModel, data: mujoco.MjData) -> Keyframe:
    if (data.qpos.shape, data.mocap_pos.shape) != ((model.nq,), (model.nmocap, 3)):
        raise ModelError(
            f"data belong to another model: nq and nmocap are {len(data.qpos)} and {len(data.mocap_pos)}, "
            f"in the model {model.nq} and {model.nmocap}"
        )
    world = mujoco.MjData(model)
    world.qpos[:] = data.qpos
    world.mocap_pos[:] = data.mocap_pos
    world.mocap_quat[:] = data.mocap_quat
    mujoco.mj_kinematics(model, world)
    mujoco.mj_comPos(model, world)
    mujoco.mj_flex(model, world)
    return Keyframe(
        time_ns=round(data.time * 1e9), position=np.zeros(3), quaternion=np.array([1.0, 0.0, 0.0, 0.0]), world=world
    )
