"""A motion read from a log of joint positions over time."""

from __future__ import annotations

import zipfile
from pathlib import Path

import mujoco
import numpy as np

from lidar_sim.errors import ScenarioError
from lidar_sim.records import F64

# A logged quaternion further than this from unit length is a wrong column, not rounding.
_QUATERNION_TOLERANCE = 1e-3
_QUATERNION_OFFSET = {mujoco.mjtJoint.mjJNT_FREE: 3, mujoco.mjtJoint.mjJNT_BALL: 0}


class QposReplay:
    """Replays a log; between samples positions are linear and rotations follow the shortest arc.

    Time 0 of the recording is the first sample; before and after the log the state is held.
    """

    def __init__(self, model: mujoco.MjModel, log: str | Path | tuple[F64, F64]) -> None:
        """Replay of a log on a model.

        Args:
            model: model whose ``nq`` the log has.
            log: (time_s (N,), qpos (N, nq)), or a file: NPZ with arrays ``time_s`` and ``qpos``, or CSV with the
                time in seconds in the first column and qpos in the others, with or without a line of titles.

        Raises:
            ScenarioError: a file that cannot be read, times that do not increase, a wrong number of columns,
                numbers that are not finite, or quaternions that are not of unit length.
        """
        name, (time_s, qpos) = ("log", log) if isinstance(log, tuple) else (str(log), _read(Path(log)))
        time_s, qpos = np.array(time_s, np.float64), np.array(qpos, np.float64)
        _check(name, model, time_s, qpos)
        self._time_s, self._qpos = time_s - time_s[0], qpos
        self._step = np.empty(model.nv)

    @property
    def duration_s(self) -> float | None:
        """Length of the log."""
        return float(self._time_s[-1])

    def advance(self, model: mujoco.MjModel, data: mujoco.MjData, time_s: float) -> None:
        """Set ``data.qpos`` to the log at ``time_s``."""
        before = int(np.searchsorted(self._time_s, time_s, side="right")) - 1
        k = min(max(before, 0), len(self._time_s) - 1)
        data.qpos[:] = self._qpos[k]
        if before >= 0 and k + 1 < len(self._time_s) and time_s > self._time_s[k]:
            phase = (time_s - self._time_s[k]) / (self._time_s[k + 1] - self._time_s[k])
            mujoco.mj_differentiatePos(model, self._step, 1.0, self._qpos[k], self._qpos[k + 1])
            mujoco.mj_integratePos(model, data.qpos, self._step, phase)
        data.time = time_s


def _read(path: Path) -> tuple[F64, F64]:
    if path.suffix not in (".npz", ".csv"):
        raise ScenarioError(f"{path}: a log is a .npz or a .csv file")
    try:
        return _read_npz(path) if path.suffix == ".npz" else _read_csv(path)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, EOFError, zipfile.BadZipFile, TypeError) as error:
        raise ScenarioError(f"{path}: not a {path.suffix} log: {type(error).__name__}") from None


def _read_npz(path: Path) -> tuple[F64, F64]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return np.asarray(arrays["time_s"], np.float64), np.asarray(arrays["qpos"], np.float64)
    except KeyError as error:
        raise ScenarioError(f"{path}: {' '.join(str(error.args[0]).split())}; a log has time_s and qpos") from None
    except ValueError as error:
        raise ScenarioError(f"{path}: not a log of numbers: {' '.join(str(error).split())}") from None


def _read_csv(path: Path) -> tuple[F64, F64]:
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    rows = [(number, line.split(",")) for number, line in enumerate(lines, 1) if line.strip()]
    if rows and not _is_number(rows[0][1][0]):
        rows = rows[1:]
    width = len(rows[0][1]) if rows else 0
    table = np.empty((len(rows), width))
    for i, (number, cells) in enumerate(rows):
        if len(cells) != width:
            raise ScenarioError(f"{path}:{number}: found {len(cells)} columns, {width} in the first row")
        for j, cell in enumerate(cells):
            if not _is_number(cell):
                raise ScenarioError(f"{path}:{number}: column {j + 1} is no number: {cell.strip()!r}")
            table[i, j] = float(cell)
    return table[:, 0] if width else np.empty(0), table[:, 1:]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check(name: str, model: mujoco.MjModel, time_s: F64, qpos: F64) -> None:
    if time_s.ndim != 1 or qpos.ndim != 2 or not len(time_s) or len(time_s) != len(qpos):
        raise ScenarioError(f"{name}: a log is time_s (N,) and qpos (N, nq), found {time_s.shape} and {qpos.shape}")
    if qpos.shape[1] != model.nq:
        raise ScenarioError(f"{name}: qpos has {qpos.shape[1]} columns, the model has nq = {model.nq}")
    if not (np.isfinite(time_s).all() and np.isfinite(qpos).all()):
        row = int(np.argmin(np.isfinite(time_s) & np.isfinite(qpos).all(axis=1)))
        raise ScenarioError(f"{name}: sample {row} holds a number that is not finite")
    if (np.diff(time_s) <= 0.0).any():
        row = int(np.argmax(np.diff(time_s) <= 0.0)) + 1
        raise ScenarioError(f"{name}: time must increase; sample {row} is at {time_s[row]} s after {time_s[row - 1]} s")
    for joint in range(model.njnt):
        offset = _QUATERNION_OFFSET.get(mujoco.mjtJoint(int(model.jnt_type[joint])))
        if offset is not None:
            at = int(model.jnt_qposadr[joint]) + offset
            wrong = np.abs(np.linalg.norm(qpos[:, at : at + 4], axis=1) - 1.0) > _QUATERNION_TOLERANCE
            if wrong.any():
                raise ScenarioError(
                    f"{name}: sample {int(np.argmax(wrong))}: columns {at} to {at + 3} of qpos are the quaternion "
                    f"of joint {model.joint(joint).name!r}, but not of unit length"
                )
