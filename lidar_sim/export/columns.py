"""Fields of a scan as the columns of a file: which, in which order, of which type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from lidar_sim.errors import OptionError, nearest_hint
from lidar_sim.fields import LAYOUTS, Field, select_fields
from lidar_sim.records import Array, Scan

FieldNames: TypeAlias = "str | tuple[str, ...] | list[str]"

DEFAULT_LAYOUT = "device"


def chosen_fields(scan: Scan, names: FieldNames | None) -> tuple[Field, ...]:
    """Fields to write: a layout gives those of its fields that the scan has, names must all be there.

    Raises:
        OptionError: an unknown name, or a field that this scan does not have.
    """
    names = DEFAULT_LAYOUT if names is None else names
    entries = select_fields(names)
    if isinstance(names, str) and names in LAYOUTS:
        return tuple(entry for entry in entries if entry.name in scan.fields)
    for entry in entries:
        if entry.name not in scan.fields:
            hint = nearest_hint(entry.name, list(scan.fields))
            raise OptionError(
                f"this scan of {scan.device} has no field {entry.name!r}{hint}; it has: {', '.join(scan.fields)}"
            )
    return entries


def file_columns(scan: Scan, entries: tuple[Field, ...], *, organized: bool = False) -> dict[str, Array]:
    """Little-endian columns in their file types; of the grid row by row from the top if ``organized``.

    Formats that know no 64-bit integers (PCD 0.7, PLY) get them as doubles, exact below 2^53.
    """
    values = {entry.name: scan.organized(entry.name).ravel() if organized else scan[entry.name] for entry in entries}
    return {entry.name: values[entry.name].astype(_file_dtype(entry)) for entry in entries}


def as_records(columns: Mapping[str, Array]) -> Array:
    """Columns (N,) side by side without padding: one structured array (N,)."""
    length = len(next(iter(columns.values())))
    records = np.empty(length, [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        records[name] = values
    return records


def text_rows(columns: Mapping[str, Array]) -> str:
    """One line a point; as many digits as bring every float back to the last bit."""
    row = " ".join(_TEXT[values.dtype.kind + str(values.dtype.itemsize)] for values in columns.values()) + "\n"
    rows: list[Any] = as_records(columns).tolist()
    return "".join([row % values for values in rows])


_TEXT = {"f4": "%.9g", "f8": "%.17g", **{f"{sign}{size}": "%d" for sign in "iu" for size in (1, 2, 4)}}


def _file_dtype(entry: Field) -> np.dtype[Any]:
    dtype = np.dtype(entry.file_dtype)
    return np.dtype("<f8") if dtype.kind in "iu" and dtype.itemsize == 8 else dtype.newbyteorder("<")
