"""PLY (Stanford polygon format): the points as vertices.

Format: Greg Turk, "The PLY Polygon File Format" (1994). Written here because the usual library, plyfile, is GPL.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from lidar_sim.errors import OptionError, unknown_name
from lidar_sim.export.about import comment
from lidar_sim.export.columns import FieldNames, as_records, chosen_fields, file_columns, text_rows
from lidar_sim.export.whole import whole_file
from lidar_sim.records import Array, Scan

ENCODINGS = ("binary_little_endian", "ascii")

_TYPE = {"f4": "float", "f8": "double", "u1": "uchar", "u2": "ushort", "u4": "uint", "i4": "int"}


def write_ply(
    scan: Scan,
    path: str | os.PathLike[str],
    *,
    fields: FieldNames | None = None,
    encoding: str = "binary_little_endian",
) -> None:
    """Write a scan as PLY, one vertex a point.

    Args:
        scan: in any frame.
        path: of the file.
        fields: layout or names, None = "device".
        encoding: "binary_little_endian" or "ascii".

    Raises:
        ExportError: the file cannot be written.
        OptionError: unknown field or encoding.
    """
    if encoding not in ENCODINGS:
        raise OptionError(unknown_name("PLY encoding", encoding, ENCODINGS))
    columns = file_columns(scan, chosen_fields(scan, fields))
    data = text_rows(columns).encode("ascii") if encoding == "ascii" else as_records(columns).tobytes()
    with whole_file(path) as stream:
        stream.write(_header(scan, columns, encoding).encode("ascii"))
        stream.write(data)


def _header(scan: Scan, columns: Mapping[str, Array], encoding: str) -> str:
    properties = [
        f"property {_TYPE[values.dtype.kind + str(values.dtype.itemsize)]} {name}" for name, values in columns.items()
    ]
    lines = [
        "ply",
        f"format {encoding} 1.0",
        f"comment {comment(scan)}",
        f"element vertex {len(scan)}",
        *properties,
        "end_header",
    ]
    return "\n".join(lines) + "\n"
