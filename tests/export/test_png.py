"""Depth images: whole millimetres, 0 where nothing is known, row 0 at the top."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lidar_sim.errors import OptionError
from lidar_sim.export import write_png
from lidar_sim.export.png import grey_steps
from lidar_sim.records import Scan

MakeScan = Callable[..., Scan]


def decode(content: bytes) -> np.ndarray:
    """The image by the words of the specification, each checksum checked."""
    assert content[:8] == bytes([137, 80, 78, 71, 13, 10, 26, 10])
    chunks: list[tuple[bytes, bytes]] = []
    start = 8
    while start < len(content):
        (length,) = struct.unpack_from(">I", content, start)
        kind, data = content[start + 4 : start + 8], content[start + 8 : start + 8 + length]
        assert struct.unpack_from(">I", content, start + 8 + length) == (zlib.crc32(kind + data),)
        chunks.append((kind, data))
        start += 12 + length
    assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, colour, rest) == (16, 0, [0, 0, 0])
    lines = np.frombuffer(zlib.decompress(chunks[1][1]), np.uint8).reshape(height, 1 + 2 * width)
    assert not lines[:, 0].any()
    return np.ascontiguousarray(lines[:, 1:]).view(">u2").astype(np.uint16)


@pytest.fixture
def scan(make_scan: MakeScan) -> Scan:
    """Depths of whole and broken millimetres, some silent, some beyond 16 bits."""
    scan = make_scan(planar=True, misses=True)
    depth = np.where(np.isnan(scan["depth"]), np.nan, np.random.default_rng(1).uniform(0.1, 80.0, len(scan)))
    return replace(scan, fields={**scan.fields, "depth": depth})


def test_each_pixel_is_the_depth_in_millimetres_or_0(tmp_path: Path, scan: Scan) -> None:
    write_png(scan, tmp_path / "a.png")
    image = decode((tmp_path / "a.png").read_bytes())
    assert image.shape == scan.shape
    for row, column, depth in zip(scan["row"], scan["column"], scan["depth"], strict=True):
        known = depth <= 65.535
        assert image[row, column] == (round(1000 * depth) if known else 0)
    assert {np.isnan(scan["depth"]).any(), (scan["depth"] > 65.535).any()} == {True}


def test_pillow_reads_the_same_image(tmp_path: Path, scan: Scan) -> None:
    pillow = pytest.importorskip("PIL.Image", reason="Pillow comes with the extra 'plot'")
    write_png(scan, tmp_path / "a.png")
    with pillow.open(tmp_path / "a.png") as picture:
        found = np.array(picture)
    np.testing.assert_array_equal(found, decode((tmp_path / "a.png").read_bytes()))


@pytest.mark.parametrize(
    ("metres", "steps"),
    [(1.234, 1234), (0.0005, 1), (0.00049, 0), (65.535, 65535), (65.5355, 0), (np.nan, 0), (np.inf, 0), (-1.0, 0)],
)
def test_steps_are_rounded_and_what_they_cannot_hold_is_0(metres: float, steps: int) -> None:
    assert grey_steps(np.array([[metres]]), 0.001).tolist() == [[steps]]


def test_every_step_survives_the_way_to_metres_and_back() -> None:
    steps = np.arange(2**16, dtype=np.uint16)
    for unit_m in (0.001, 0.0001, 0.002, 0.01):
        np.testing.assert_array_equal(grey_steps(steps * unit_m, unit_m), steps)


def test_a_range_image_with_another_unit(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan()
    write_png(scan, tmp_path / "a.png", fields="range", unit_m=0.01)
    expected = grey_steps(scan.organized("range"), 0.01)
    np.testing.assert_array_equal(decode((tmp_path / "a.png").read_bytes()), expected)


def test_what_is_no_image_is_refused(tmp_path: Path, make_scan: MakeScan, scan: Scan) -> None:
    path = tmp_path / "a.png"
    with pytest.raises(OptionError, match="has no field 'depth'"):
        write_png(make_scan(), path)
    with pytest.raises(OptionError, match="no rows and columns"):
        write_png(make_scan(grid=False, planar=True), path)
    with pytest.raises(OptionError, match="one field of depth, range"):
        write_png(scan, path, fields=["depth", "range"])
    with pytest.raises(OptionError, match="one field of depth, range"):
        write_png(scan, path, fields="intensity")
    with pytest.raises(OptionError, match="unit_m must be a positive"):
        write_png(scan, path, unit_m=0.0)
    assert not list(tmp_path.iterdir())
