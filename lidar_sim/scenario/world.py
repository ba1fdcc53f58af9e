"""From a scene and a robot, each a bundled name or a path, to one compiled MuJoCo model."""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from lidar_sim.bundled import bundled_folder
from lidar_sim.errors import ScenarioError, unknown_name
from lidar_sim.records import F64
from lidar_sim.transforms import compose

_SUFFIXES = (".xml", ".mjcf", ".urdf")
_ROBOT_PREFIX = "robot_"
_HOME = "home"
# The robot is what moves: its solver settings are kept; gravity, wind and the like belong to the scene.
_ROBOT_OPTIONS = ("timestep", "integrator", "cone", "impratio", "solver", "iterations", "tolerance", "ls_iterations")
_ELEMENTS = ("bodies", "geoms", "joints", "sites", "cameras", "lights", "meshes", "materials", "textures", "hfields",
             "skins", "tendons", "actuators", "sensors", "equalities", "excludes", "pairs", "keys", "numerics", "texts",
             "tuples", "plugins", "flexes")  # fmt: skip


def bundled_models() -> dict[str, Path]:
    """Name -> file of every model that comes with lidar_sim, sorted by name."""
    return {path.stem: path for path in sorted(bundled_folder("models").glob("*.xml"))}


def find_model(model: str | Path) -> Path:
    """File of a bundled model by name, or of a user's own MJCF or URDF by path.

    Args:
        model: "warehouse", or a path that ends in .xml, .mjcf or .urdf.

    Raises:
        ScenarioError: no such file, or no such bundled model.
    """
    text = str(model)
    if text.endswith(_SUFFIXES):
        path = Path(text).expanduser()
        if not path.is_file():
            raise ScenarioError(f"no model at {path}")
        return path
    bundled = bundled_models()
    if text not in bundled:
        raise ScenarioError(unknown_name("model", text, bundled) + f", or a path to a {', '.join(_SUFFIXES)} file")
    return bundled[text]


def build_model(
    scene: str | Path,
    robot: str | Path | None = None,
    *,
    pose: Sequence[float] | F64 | None = None,
    mocap: bool = False,
    timestep_s: float | None = None,
) -> mujoco.MjModel:
    """One model of a scene with a robot in it.

    The robot's names stay as they are, unless one of them is taken in the scene: then all of them get the
    prefix ``robot_``. Its solver settings and keyframes come with it, the keyframes moved to ``pose``.

    Args:
        scene: bundled name or path.
        robot: bundled name or path; None = the scene as it is.
        pose: (7,) position m and quaternion w x y z, in the scene, of the robot file's own origin (its
            ground point, not its base); None = the scene's origin.
        mocap: hang the robot's first body on a mocap body instead of its free joint, for kinematic drives.
        timestep_s: physics timestep; None = the robot's, or else the scene's.

    Raises:
        ScenarioError: a file that cannot be found or compiled, or a robot without a free joint to replace.
    """
    spec = _read(find_model(scene))
    if robot is not None:
        place = _checked_pose(pose)
        _attach(spec, _robot_spec(robot, mocap), place, Path(str(scene)).name)
    elif pose is not None or mocap:
        raise ScenarioError("pose and mocap place a robot: name a robot too")
    if timestep_s is not None:
        spec.option.timestep = timestep_s
    with _one_line(f"{scene} with {robot}" if robot is not None else str(scene)):
        return spec.compile()


def initial_data(model: mujoco.MjModel, keyframe: str | None = None) -> mujoco.MjData:
    """Data of a model at a keyframe.

    Args:
        model: any model.
        keyframe: its name; None = "home" where the model has it, else its reference pose (qpos0).

    Raises:
        ScenarioError: no keyframe of that name.
    """
    data = mujoco.MjData(model)
    names = [model.key(i).name for i in range(model.nkey)]
    if keyframe is None:
        keyframe = next((name for name in names if name in (_HOME, _ROBOT_PREFIX + _HOME)), None)
    if keyframe is not None:
        if keyframe not in names:
            raise ScenarioError(unknown_name("keyframe", keyframe, names))
        mujoco.mj_resetDataKeyframe(model, data, names.index(keyframe))
    mujoco.mj_forward(model, data)
    return data


def model_digest(model: mujoco.MjModel) -> str:
    """SHA-256 of the compiled model, for manifests; equal for equal models under one MuJoCo version."""
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return hashlib.sha256(buffer.tobytes()).hexdigest()


def _read(path: Path) -> Any:
    with _one_line(str(path)):
        return mujoco.MjSpec.from_file(str(path))


def _robot_spec(robot: str | Path, mocap: bool) -> Any:
    spec = _read(find_model(robot))
    if mocap:
        _free_joint_to_mocap(spec, robot)
    return spec


def _free_joint_to_mocap(spec: Any, robot: str | Path) -> None:
    free = [joint for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_FREE]
    if len(free) != 1:
        raise ScenarioError(f"mocap needs a robot with one free joint; {robot} has {len(free)}")
    body, at = free[0].parent, _free_addresses(spec)[0]
    keys = {key.name: np.array(key.qpos) for key in spec.keys}
    if len(keys.get(_HOME, ())):  # a keyframe may leave qpos out
        body.pos, body.quat = keys[_HOME][at : at + 3], keys[_HOME][at + 3 : at + 7]
    spec.delete(free[0])
    body.mocap = True
    for key in spec.keys:
        key.qpos = np.delete(keys[key.name], slice(at, at + 7))
        key.qvel = []


def _free_addresses(spec: Any) -> list[int]:
    """Where the free joints of a robot lie in its own qpos."""
    with _one_line(str(spec.modelname)):
        model = spec.copy().compile()
    return [int(at) for at in model.jnt_qposadr[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]]


def _checked_pose(pose: Sequence[float] | F64 | None) -> F64:
    place = np.array([0, 0, 0, 1, 0, 0, 0] if pose is None else pose, np.float64)
    norm = np.linalg.norm(place[3:]) if place.shape == (7,) else 0.0
    if not np.isfinite(place).all() or norm == 0.0:
        raise ScenarioError(
            f"pose is position m and quaternion w x y z, seven numbers, found {np.ndarray.tolist(place)}"
        )
    place[3:] /= norm
    return place


def _attach(scene: Any, robot: Any, place: F64, scene_name: str) -> None:
    """Hang the robot's bodies into the scene at ``place``, and its keyframes with them."""
    for option in _ROBOT_OPTIONS:
        setattr(scene.option, option, getattr(robot.option, option))
    _move_keyframes(robot, place)
    prefix = _ROBOT_PREFIX if _names(scene) & _names(robot) else ""
    frame = scene.worldbody.add_frame(pos=place[:3], quat=place[3:])
    with _one_line(f"{robot.modelname} in {scene_name}"):
        scene.attach(robot, prefix=prefix, frame=frame)


def _names(spec: Any) -> set[tuple[str, str]]:
    """(kind, name) of every named element, default classes too; the world body is shared anyway."""
    named = {(kind, element.name) for kind in _ELEMENTS for element in getattr(spec, kind, ()) if element.name}
    return named - {("bodies", "world")}


def _move_keyframes(robot: Any, place: F64) -> None:
    """Carry the free joints of every keyframe to ``place``; MuJoCo attaches keyframes as they stand."""
    free = _free_addresses(robot)
    for key in robot.keys:
        qpos = np.array(key.qpos)
        for at in free if len(qpos) else ():
            position, quaternion = compose(place[:3], place[3:], qpos[at : at + 3], qpos[at + 3 : at + 7])
            qpos[at : at + 7] = *position, *quaternion
        key.qpos = qpos


@contextlib.contextmanager
def _one_line(what: str) -> Iterator[None]:
    """MuJoCo's faults as one line; its remarks on attaching kept off the screen and out of MUJOCO_LOG.TXT."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    except (ValueError, mujoco.FatalError) as error:
        raise ScenarioError(f"{what}: {' '.join(str(error).split())}") from None
    finally:
        mujoco.set_mju_user_warning(before)
