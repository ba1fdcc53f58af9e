"""NPZ: everything a Scan holds, to be read back as the same Scan."""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any

import numpy as np

from lidar_sim.errors import ExportError
from lidar_sim.export.columns import FieldNames, chosen_fields
from lidar_sim.export.whole import whole_file
from lidar_sim.records import PoseTrack, Scan

_ABOUT = "about_json"
_TRACK = ("track_time_ns", "track_position", "track_quaternion")
_MOUNT = "T_body_sensor"


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
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        about = json.loads(str(arrays.pop(_ABOUT)))
        track = PoseTrack(*(arrays.pop(name) for name in _TRACK))
        mount = arrays.pop(_MOUNT)
    except OSError as error:
        raise ExportError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from error
    except (KeyError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise ExportError(f"{os.fspath(path)} is not a scan written by lidar_sim: {error}") from error
    shape = about.pop("shape")
    return Scan(
        **about,
        fields=arrays,
        shape=None if shape is None else (shape[0], shape[1]),
        track=track,
        T_body_sensor=mount,
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
