"""PNG, 16 bits of grey: depth or range images in whole units, as depth cameras give them.

Format: ISO/IEC 15948 (https://www.w3.org/TR/png/). Written here because Matplotlib writes 8 bits only.
"""

from __future__ import annotations

import os
import struct
import zlib

import numpy as np
import numpy.typing as npt

from lidar_sim.errors import OptionError
from lidar_sim.export.columns import FieldNames, chosen_fields
from lidar_sim.export.whole import whole_file
from lidar_sim.records import F64, U16, Scan

FIELDS = ("depth", "range")

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BITS = 16
_GREY = 0
_LARGEST = 2**_BITS - 1


def write_png(
    scan: Scan, path: str | os.PathLike[str], *, fields: FieldNames | None = None, unit_m: float = 0.001
) -> None:
    """Write one field of an organised scan as a 16-bit grey image, row 0 at the top.

    Args:
        scan: of a device with rows and columns.
        path: of the file.
        fields: "depth" or "range", None = "depth".
        unit_m: metres of one grey step, halves up; 0 stands for no return, and for what is beyond 65535 steps.

    Raises:
        ExportError: the file cannot be written.
        OptionError: no grid, another field, or a unit that is not positive.
    """
    chosen = chosen_fields(scan, "depth" if fields is None else fields)
    if len(chosen) != 1 or chosen[0].name not in FIELDS:
        raise OptionError(f"a PNG holds one field of {', '.join(FIELDS)}, found {fields!r}")
    if scan.shape is None:
        raise OptionError(f"this scan of {scan.device} has no rows and columns; an image needs them")
    if not unit_m > 0.0:
        raise OptionError(f"unit_m must be a positive number of metres, found {unit_m!r}")
    data = _png(grey_steps(scan.organized(chosen[0].name), unit_m))
    with whole_file(path) as stream:
        stream.write(data)


def grey_steps(metres: F64, unit_m: float) -> U16:
    """Whole steps (H, W) of an image (H, W) m; 0 where it is NaN or beyond 16 bits."""
    steps = np.floor(np.nan_to_num(metres, nan=0.0, posinf=0.0, neginf=0.0) / unit_m + 0.5)
    return np.where((steps > 0) & (steps <= _LARGEST), steps, 0.0).astype(np.uint16)


def _png(image: npt.NDArray[np.uint16]) -> bytes:
    height, width = image.shape
    lines = np.zeros((height, 1 + 2 * width), np.uint8)  # each line begins with its filter, 0 = none
    lines[:, 1:] = image.astype(">u2").view(np.uint8)
    head = struct.pack(">IIBBBBB", width, height, _BITS, _GREY, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
