"""Scans and poses written to files, each whole or not at all; one file a format, one table."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from lidar_sim.errors import ExportError, OptionError, unknown_name
from lidar_sim.export.columns import FieldNames
from lidar_sim.export.npz import read_npz, write_npz
from lidar_sim.export.pcd import PcdFile, read_pcd, write_pcd
from lidar_sim.export.ply import write_ply
from lidar_sim.export.png import write_png
from lidar_sim.export.tum import TumWriter, tum_line, write_tum
from lidar_sim.export.whole import whole_file
from lidar_sim.records import Scan

__all__ = [
    "WRITERS",
    "PcdFile",
    "TumWriter",
    "read_npz",
    "read_pcd",
    "tum_line",
    "whole_file",
    "write",
    "write_npz",
    "write_pcd",
    "write_ply",
    "write_png",
    "write_tum",
]


Writer: TypeAlias = Callable[..., None]
"""``writer(scan, path, *, fields=None, **options of the format)``"""

WRITERS: dict[str, Writer] = {".pcd": write_pcd, ".ply": write_ply, ".npz": write_npz, ".png": write_png}


def write(scan: Scan, path: str | os.PathLike[str], *, fields: FieldNames | None = None, **options: Any) -> None:
    """Write a scan in the format that the suffix of ``path`` names.

    Args:
        scan: in any frame.
        path: of the file; its folder must exist. A file already there is replaced when the new one is whole.
        fields: name of a layout ("xyz", "xyzi", "device", "full"), names of fields, or None for the format's own
            choice.
        **options: of the format, see its writer in ``WRITERS``.

    Raises:
        ExportError: unknown suffix, no such folder, not writable; what stood there before stands there still.
        OptionError: unknown or missing field, unknown option or value.
        MissingExtraError: the format needs a library that is not installed.
    """
    if not isinstance(scan, Scan):
        raise OptionError(f"write takes a Scan, found {type(scan).__name__}")
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise ExportError(f"{os.fspath(path)}: {unknown_name('file suffix', suffix, WRITERS)}")
    writer = WRITERS[suffix]
    _check_options(suffix, writer, options)
    writer(scan, path, fields=fields, **options)


def _check_options(suffix: str, writer: Writer, options: dict[str, Any]) -> None:
    parameters = inspect.signature(writer).parameters.values()
    valid = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "fields"]
    for name in options:
        if name not in valid:
            raise OptionError(unknown_name(f"option of {suffix} files", name, valid))
