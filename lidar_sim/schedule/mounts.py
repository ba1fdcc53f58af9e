"""Where a sensor sits: the mount's name and offset, resolved to a pose in the body that carries it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lidar_sim.errors import ModelError, OptionError, nearest_hint
from lidar_sim.records import F64
from lidar_sim.transforms import compose, euler_to_quaternion

if TYPE_CHECKING:
    import mujoco

Offset: TypeAlias = npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]
"""Pose of the sensor in its mount: (x, y, z) m; ((x, y, z), (roll, pitch, yaw) degrees);
((x, y, z), (w, x, y, z)); or seven numbers x y z w x y z."""

# MuJoCo cameras look along -z with y up; the sensor frame looks along x with z up.
_CAMERA_TO_SENSOR = np.array([0.5, -0.5, 0.5, 0.5])
_CAMERA_FIXED = 0  # mjCAMLIGHT_FIXED
_MAX_LISTED = 40
_OFFSET_FORMS = "(x, y, z), ((x, y, z), (roll, pitch, yaw in degrees)), ((x, y, z), (w, x, y, z)) or x y z w x y z"


@dataclass(frozen=True, slots=True)
class Mount:
    """A site, body or camera that carries a sensor."""

    kind: str
    """"site", "body" or "camera"."""
    name: str
    body: int
    """Id of the body that it is part of."""
    position: F64
    """(3,) m, of the sensor frame in that body, without the user's offset."""
    quaternion: F64
    """(4,) w x y z, rotation of T_body_sensor, without the user's offset."""


def _site(model: mujoco.MjModel, index: int) -> tuple[int, F64, F64]:
    return model.site_bodyid[index], model.site_pos[index], model.site_quat[index]


def _body(model: mujoco.MjModel, index: int) -> tuple[int, F64, F64]:
    return index, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def _camera(model: mujoco.MjModel, index: int) -> tuple[int, F64, F64]:
    if model.cam_mode[index] != _CAMERA_FIXED:
        raise ModelError(
            f"camera {model.cam(index).name!r} tracks or targets a body; a sensor needs a camera of mode 'fixed'"
        )
    position, quaternion = compose(model.cam_pos[index], model.cam_quat[index], np.zeros(3), _CAMERA_TO_SENSOR)
    return model.cam_bodyid[index], position, quaternion


_KINDS: dict[str, tuple[str, str, Callable[[mujoco.MjModel, int], tuple[int, F64, F64]]]] = {
    "site": ("nsite", "site", _site),
    "body": ("nbody", "body", _body),
    "camera": ("ncam", "cam", _camera),
}
"""Kind -> MuJoCo's count, MuJoCo's accessor by id, pose in the carrying body."""


def resolve_mount(model: mujoco.MjModel, mount: str) -> Mount:
    """The mount of that name.

    Args:
        model: any model.
        mount: name of a site, body or camera; or "site:NAME", "body:NAME", "camera:NAME".

    Raises:
        ModelError: no such name (all names are listed, the nearest one first), a name that several kinds
            share, or a camera that is not fixed to its body.
        OptionError: not a text.
    """
    if not isinstance(mount, str):
        raise OptionError(f"mount must be the name of a site, body or camera, found {mount!r}")
    prefix, colon, rest = mount.partition(":")
    kinds, name = ([prefix], rest) if colon and prefix in _KINDS else (list(_KINDS), mount)
    found = [(kind, ids[name]) for kind in kinds if name in (ids := _names(model, kind))]
    if not found:
        raise ModelError(_unknown_mount(model, mount, name, kinds))
    if len(found) > 1:
        ways = " or ".join(repr(f"{kind}:{name}") for kind, _ in found)
        raise ModelError(f"mount {name!r} names a {' and a '.join(kind for kind, _ in found)}: write {ways}")
    kind, index = found[0]
    body, position, quaternion = _KINDS[kind][2](model, index)
    return Mount(kind, name, int(body), np.array(position, np.float64), np.array(quaternion, np.float64))


def parse_offset(offset: Offset | None) -> tuple[F64, F64]:
    """Position (3,) m and unit quaternion (4,) w x y z of an offset in one of its forms; None = none.

    Raises:
        OptionError: another form, a number that is not finite, or a quaternion of length 0.
    """
    if offset is None:
        return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    position, rotation = _split_offset(offset)
    if not (np.isfinite(position).all() and np.isfinite(rotation).all()):
        raise OptionError(f"offset must be finite, found {offset!r}")
    quaternion = euler_to_quaternion(*rotation) if len(rotation) == 3 else rotation
    length = float(np.linalg.norm(quaternion))
    if length == 0.0:
        raise OptionError(f"the quaternion of an offset must not be zero, found {offset!r}")
    return position, quaternion / length


def _split_offset(offset: Any) -> tuple[F64, F64]:
    parts: Sequence[Any] = (offset,)
    if isinstance(offset, Sequence) and len(offset) == 2:
        parts = offset
    try:
        arrays = [np.array(part, np.float64) for part in parts]
    except (TypeError, ValueError):
        arrays = []
    shapes = [array.shape for array in arrays]
    if shapes == [(3,)]:
        return arrays[0], np.array([1.0, 0.0, 0.0, 0.0])
    if shapes == [(7,)]:
        return arrays[0][:3], arrays[0][3:]
    if shapes in ([(3,), (3,)], [(3,), (4,)]):
        return arrays[0], arrays[1]
    raise OptionError(f"offset must be {_OFFSET_FORMS}; found {offset!r}")


def _names(model: mujoco.MjModel, kind: str) -> dict[str, int]:
    count, accessor, _ = _KINDS[kind]
    by_id = getattr(model, accessor)
    names = {by_id(index).name: index for index in range(getattr(model, count))}
    names.pop("", None)
    return names


def _unknown_mount(model: mujoco.MjModel, mount: str, name: str, kinds: list[str]) -> str:
    names = {kind: list(_names(model, kind)) for kind in kinds}
    hint = nearest_hint(name, [candidate for kind in kinds for candidate in names[kind]])
    valid = "; ".join(f"{_PLURAL[kind]}: {_listed(names[kind])}" for kind in kinds)
    return f"unknown mount {mount!r}{hint}; valid: {valid}"


_PLURAL = {"site": "sites", "body": "bodies", "camera": "cameras"}


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return (", ".join(sorted(names)[:_MAX_LISTED]) or "none") + more
