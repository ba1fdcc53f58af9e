"""PCD 0.7, the format of the Point Cloud Library, in its three encodings.

Format: https://pointclouds.org/documentation/tutorials/pcd_file_format.html
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from lidar_sim.errors import ExportError, MissingExtraError, OptionError, unknown_name
from lidar_sim.export.about import comment, parse_comment
from lidar_sim.export.columns import FieldNames, as_records, chosen_fields, file_columns, text_rows
from lidar_sim.export.whole import whole_file
from lidar_sim.records import F64, Array, Scan
from lidar_sim.transforms import compose, interpolate_poses, invert

ENCODINGS = ("ascii", "binary", "binary_compressed")

_TITLE = "# .PCD v0.7 - Point Cloud Data file format"
_IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
# A literal run of LZF costs one byte in 32, so that this much always holds the result.
_LZF_GROWTH = 32
_LZF_ROOM = 16


@dataclass(frozen=True, slots=True)
class PcdFile:
    """What stands in a PCD file."""

    fields: Mapping[str, Array]
    """Name -> (width * height,) array, row by row; (width * height, count) where COUNT is not 1."""
    width: int
    """Columns of an organised cloud, else number of points."""
    height: int
    """Rows of an organised cloud, else 1."""
    viewpoint: F64
    """(7,) position m and quaternion w x y z."""
    encoding: str
    """One of ``ENCODINGS``."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Device, sensor, frame number, stamp and frame, if lidar_sim wrote the file."""

    def __len__(self) -> int:
        return self.width * self.height

    @property
    def points(self) -> Array:
        """(N, 3) m."""
        return np.stack([self.fields[axis] for axis in "xyz"], axis=1)


def write_pcd(
    scan: Scan,
    path: str | os.PathLike[str],
    *,
    fields: FieldNames | None = None,
    encoding: str = "binary",
    organized: bool | None = None,
) -> None:
    """Write a scan as PCD 0.7.

    VIEWPOINT is the pose, at the scan's stamp, of the frame in which x y z stand: of the sensor or the body in the
    world; the identity for a scan in the world frame.

    Args:
        scan: in any frame.
        path: of the file.
        fields: layout or names, None = "device".
        encoding: "ascii", "binary" or "binary_compressed".
        organized: True writes the device's grid, WIDTH x HEIGHT, NaN where nothing came back and first returns
            only; False writes the points one after another; None takes the grid where there is one, unless
            that would lose second returns.

    Raises:
        ExportError: the file cannot be written.
        OptionError: unknown field or encoding, or no grid to organise by.
        MissingExtraError: "binary_compressed" without python-neo-lzf.
    """
    if encoding not in ENCODINGS:
        raise OptionError(unknown_name("PCD encoding", encoding, ENCODINGS))
    as_grid = _has_grid(scan) if organized is None else organized
    if as_grid and scan.shape is None:
        raise OptionError(f"this scan of {scan.device} has no rows and columns; write it with organized=False")
    columns = file_columns(scan, chosen_fields(scan, fields), organized=as_grid)
    height, width = scan.shape if as_grid and scan.shape else (1, len(scan))
    data = _ENCODE[encoding](columns)
    with whole_file(path) as stream:
        stream.write(_header(scan, columns, width, height, encoding).encode("ascii"))
        stream.write(data)


def read_pcd(path: str | os.PathLike[str]) -> PcdFile:
    """Read a PCD file of version 0.7 in any of its encodings.

    Raises:
        ExportError: the file cannot be read, or is not what its header says.
        MissingExtraError: "binary_compressed" without python-neo-lzf.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ExportError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from error
    try:
        return _parse(content)
    except (KeyError, ValueError, IndexError, struct.error) as error:
        raise ExportError(f"{os.fspath(path)} is not a whole PCD file: {error}") from error


def _has_grid(scan: Scan) -> bool:
    return scan.shape is not None and not (scan["return_number"] > 1).any()


def _header(scan: Scan, columns: Mapping[str, Array], width: int, height: int, encoding: str) -> str:
    dtypes = [values.dtype for values in columns.values()]
    lines = [
        _TITLE,
        f"# {comment(scan)}",
        "VERSION 0.7",
        "FIELDS " + " ".join(columns),
        "SIZE " + " ".join(str(dtype.itemsize) for dtype in dtypes),
        "TYPE " + " ".join(dtype.kind.upper() for dtype in dtypes),
        "COUNT " + " ".join("1" for _ in dtypes),
        f"WIDTH {width}",
        f"HEIGHT {height}",
        "VIEWPOINT " + " ".join(np.format_float_positional(value, trim="-") for value in _viewpoint(scan)),
        f"POINTS {width * height}",
        f"DATA {encoding}",
    ]
    return "\n".join(lines) + "\n"


def _viewpoint(scan: Scan) -> F64:
    """(7,) pose of the scan's frame in the world at its stamp; adding 0 turns -0 into 0."""
    if scan.frame == "world":
        return _IDENTITY
    track, stamp_ns = scan.track, np.array([scan.stamp_ns], np.int64)
    position, quaternion = interpolate_poses(track.time_ns, track.position, track.quaternion, stamp_ns)
    if scan.frame == "body":
        position, quaternion = compose(position, quaternion, *invert(scan.T_body_sensor[:3], scan.T_body_sensor[3:]))
    return np.concatenate([position[0], quaternion[0]]) + 0.0


def _encode_ascii(columns: Mapping[str, Array]) -> bytes:
    return text_rows(columns).encode("ascii")


def _encode_binary(columns: Mapping[str, Array]) -> bytes:
    return as_records(columns).tobytes()


def _encode_compressed(columns: Mapping[str, Array]) -> bytes:
    """Two sizes (uint32), then the columns one after another through LZF."""
    plain = b"".join(values.tobytes() for values in columns.values())
    packed = _lzf().compress(plain, len(plain) + len(plain) // _LZF_GROWTH + _LZF_ROOM) if plain else b""
    return struct.pack("<II", len(packed), len(plain)) + packed


_ENCODE = {"ascii": _encode_ascii, "binary": _encode_binary, "binary_compressed": _encode_compressed}


def _parse(content: bytes) -> PcdFile:
    header, about, data = _split_header(content)
    names = header["FIELDS"]
    dtypes = [np.dtype(f"<{kind.lower()}{size}") for kind, size in zip(header["TYPE"], header["SIZE"], strict=True)]
    counts = [int(count) for count in header.get("COUNT", ["1"] * len(names))]
    width, height = int(header["WIDTH"][0]), int(header["HEIGHT"][0])
    encoding = header["DATA"][0]
    if encoding not in ENCODINGS:
        raise ValueError(unknown_name("PCD encoding", encoding, ENCODINGS))
    layout = np.dtype(
        [(name, dtype, (count,) if count > 1 else ()) for name, dtype, count in zip(names, dtypes, counts, strict=True)]
    )
    viewpoint = np.array([float(value) for value in header.get("VIEWPOINT", _IDENTITY)])
    return PcdFile(_DECODE[encoding](data, layout, width * height), width, height, viewpoint, encoding, about)


def _split_header(content: bytes) -> tuple[dict[str, list[str]], dict[str, Any], bytes]:
    """Entries of the header, our own comment, and the data behind it."""
    header: dict[str, list[str]] = {}
    about: dict[str, Any] = {}
    start = 0
    while "DATA" not in header:
        end = content.index(b"\n", start)
        line = content[start:end].decode("ascii", "replace").strip()
        start = end + 1
        if line.startswith("#"):
            about = parse_comment(line[1:].strip()) or about
        elif line:
            key, *values = line.split()
            header[key] = values
    return header, about, content[start:]


def _decode_ascii(data: bytes, layout: np.dtype[Any], length: int) -> dict[str, Array]:
    width = sum(int(np.prod(layout[name].shape)) for name in layout.names or ())
    tokens = np.array(data.split(), dtype="S").reshape(length, width)
    fields: dict[str, Array] = {}
    first = 0
    for name in layout.names or ():
        entry = layout[name]
        last = first + int(np.prod(entry.shape))
        # By way of double, because NumPy refuses "nan" for float32 bytes on some versions.
        values = tokens[:, first:last].astype(np.float64).astype(entry.base)
        fields[name] = values if entry.shape else values[:, 0]
        first = last
    return fields


def _decode_binary(data: bytes, layout: np.dtype[Any], length: int) -> dict[str, Array]:
    records = np.frombuffer(data, layout, length)
    return {name: np.ascontiguousarray(records[name]) for name in layout.names or ()}


def _decode_compressed(data: bytes, layout: np.dtype[Any], length: int) -> dict[str, Array]:
    packed_size, plain_size = struct.unpack_from("<II", data)
    if len(data) < 8 + packed_size or plain_size != length * layout.itemsize:
        raise ValueError(f"{len(data)} bytes of data do not hold {length} points")
    plain = _lzf().decompress(data[8 : 8 + packed_size], plain_size) if plain_size else b""
    fields: dict[str, Array] = {}
    first = 0
    for name in layout.names or ():
        entry = layout[name]
        fields[name] = np.frombuffer(plain, entry.base, length * int(np.prod(entry.shape)), first).reshape(
            (length, *entry.shape)
        )
        first += length * entry.itemsize
    return fields


_DECODE = {"ascii": _decode_ascii, "binary": _decode_binary, "binary_compressed": _decode_compressed}


def _lzf() -> ModuleType:
    try:
        import lzf  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("python-neo-lzf", "pcd", "the PCD encoding binary_compressed") from None
    return lzf  # type: ignore[no-any-return,unused-ignore]
