"""Poses in the format of the TUM RGB-D benchmark: ``time tx ty tz qx qy qz qw``, seconds and metres.

Format: https://cvg.cit.tum.de/data/datasets/rgbd-dataset/file_formats
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from lidar_sim.errors import ExportError
from lidar_sim.export.whole import refused, whole_file, writable_path
from lidar_sim.records import PoseTrack

_NS_PER_S = 10**9

Pose = tuple[int, npt.ArrayLike, npt.ArrayLike]


def write_tum(poses: PoseTrack | Iterable[Pose], path: str | os.PathLike[str]) -> None:
    """Write poses whole, or nothing.

    Args:
        poses: a track, or (time_ns, position (3,) m, quaternion (4,) w x y z) one after another.
        path: of the file.

    Raises:
        ExportError: the file cannot be written.
    """
    if isinstance(poses, PoseTrack):
        poses = zip(poses.time_ns.tolist(), poses.position, poses.quaternion, strict=True)
    with whole_file(path) as stream:
        for time_ns, position, quaternion in poses:
            stream.write(tum_line(time_ns, position, quaternion))


class TumWriter:
    """Poses written as they come, for recordings: each line is in the file, whole, when ``add`` returns.

    Use it as a context manager, or call ``close``.

    Args:
        path: of the file.
        append: True goes on behind the lines of a file that is there; a line that was cut short is taken off.
            False begins a new file.

    Raises:
        ExportError: the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        self._path = path
        target = writable_path(path)
        try:
            if append:
                _drop_cut_line(target)
            # Unbuffered: one line is one write, so that a kill cannot leave half of a buffer.
            self._stream = target.open("ab" if append else "wb", buffering=0)
        except OSError as error:
            raise refused(path, error) from error

    def add(self, time_ns: int, position: npt.ArrayLike, quaternion: npt.ArrayLike) -> None:
        """Append one pose.

        Args:
            time_ns: ns.
            position: (3,) m.
            quaternion: (4,) w x y z.

        Raises:
            ExportError: the system refused to write, or the writer is closed.
        """
        if self._stream.closed:
            raise ExportError(f"cannot write {os.fspath(self._path)}: it is closed already")
        try:
            self._stream.write(tum_line(time_ns, position, quaternion))
        except OSError as error:
            raise refused(self._path, error) from error

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._stream.close()

    def __enter__(self) -> TumWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def tum_line(time_ns: int, position: npt.ArrayLike, quaternion: npt.ArrayLike) -> bytes:
    """One line; the time exact to the nanosecond, all other numbers to the last bit."""
    x, y, z = np.asarray(position, np.float64).tolist()
    w, *q = np.asarray(quaternion, np.float64).tolist()
    numbers = " ".join(repr(value) for value in (x, y, z, *q, w))
    return f"{_seconds(int(time_ns))} {numbers}\n".encode("ascii")


def _seconds(time_ns: int) -> str:
    seconds, rest = divmod(abs(time_ns), _NS_PER_S)
    return f"{'-' if time_ns < 0 else ''}{seconds}.{rest:09d}"


def _drop_cut_line(path: Path) -> None:
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)
