"""NPZ: everything a Scan holds, to be read back as the same Scan."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from lidar_sim.errors import ExportError
from lidar_sim.export.columns import FieldNames, chosen_fields
from lidar_sim.export.whole import whole_file
from lidar_sim.records import Array, PoseTrack, Scan

_ABOUT = "about_json"
_TRACK = ("track_time_ns", "track_position", "track_quaternion")
_MOUNT = "T_body_sensor"
# What NumPy, zipfile, json and a wrong set of names raise.
_NOT_OURS = (KeyError, ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error)


def write_npz(
    scan: Scan, path: str | os.PathLike[str], *, fields: FieldNames | None = None, compressed: bool = False
) -> None:
    """Write a scan as NPZ: each field by its name in its type in memory, the track, and the rest as JSON.

    Args:
        scan: in any frame; its info must be made of what JSON knows, and of NumPy's numbers and arrays.
        path: of the file.
        fields: layout or names, None = all fields of the scan.
        compressed: True is smaller and slower.

    Raises:
        ExportError: the file cannot be written, or its info is not for JSON.
        OptionError: unknown field.
    """
    names = list(scan.fields) if fields is None else [entry.name for entry in chosen_fields(scan, fields)]
    arrays = {
        **{name: scan[name] for name in names},
        **dict(zip(_TRACK, (scan.track.time_ns, scan.track.position, scan.track.quaternion), strict=True)),
        _MOUNT: scan.T_body_sensor,
        _ABOUT: np.array(_about(scan)),
    }
    save: Any = np.savez_compressed if compressed else np.savez
    with whole_file(path) as stream:
        save(stream, **arrays)


def read_npz(path: str | os.PathLike[str]) -> Scan:
    """The Scan that ``write_npz`` wrote.

    Raises:
        ExportError: the file cannot be read, or is not one of ours.
    """
    try:
        # NumPy leaves a file that it opened itself open when it is no zip archive.
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            return _scan({name: stored[name] for name in stored.files})
    except OSError as error:
        raise ExportError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from error
    except _NOT_OURS as error:
        raise ExportError(f"{os.fspath(path)} is not a scan written by lidar_sim: {error}") from error


def _scan(arrays: dict[str, Array]) -> Scan:
    about = json.loads(str(arrays.pop(_ABOUT)))
    shape = about.pop("shape")
    track = PoseTrack(*(arrays.pop(name) for name in _TRACK))
    return Scan(
        **about,
        T_body_sensor=arrays.pop(_MOUNT),
        track=track,
        shape=None if shape is None else (shape[0], shape[1]),
        fields=arrays,
    )


def _about(scan: Scan) -> str:
    about = {
        "device": scan.device,
        "sensor": scan.sensor,
        "frame_number": int(scan.frame_number),
        "stamp_ns": int(scan.stamp_ns),
        "frame": scan.frame,
        "shape": scan.shape,
        "info": dict(scan.info),
    }
    try:
        return json.dumps(about, default=_plain)
    except TypeError as error:
        raise ExportError(f"the info of this scan cannot be written as JSON: {error}") from error


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's; whatever else JSON does not know."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r}")
