"""PCD 0.7 by its specification: header entries, viewpoint, grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lidar_sim.cloud import deskew, to_frame
from lidar_sim.errors import OptionError
from lidar_sim.export import read_pcd, write_pcd
from lidar_sim.export.pcd import ENCODINGS
from lidar_sim.records import Scan
from lidar_sim.transforms import interpolate_poses, rotate_vectors

MakeScan = Callable[..., Scan]

# Two float32 roundings of coordinates below 1e4 m are far below this; float64 all the way is far above.
FLOAT32_M = 1e-2


def header_of(path: Path) -> list[str]:
    lines = []
    for line in path.read_bytes().split(b"\n"):
        lines.append(line.decode("ascii"))
        if line.startswith(b"DATA"):
            return lines
    raise AssertionError("no DATA entry")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_header_is_the_one_of_the_specification(tmp_path: Path, make_scan: MakeScan, encoding: str) -> None:
    path = tmp_path / "a.pcd"
    scan = make_scan(frame="world")
    write_pcd(scan, path, fields=["x", "y", "z", "ring", "t", "return_number", "geom", "firing"], encoding=encoding)
    title, comment, *entries = header_of(path)
    assert title == "# .PCD v0.7 - Point Cloud Data file format"
    assert comment.startswith("# lidar_sim {")
    assert entries == [
        "VERSION 0.7",
        "FIELDS x y z ring t return_number geom firing",
        "SIZE 4 4 4 2 4 1 4 8",
        "TYPE F F F U U U I F",
        "COUNT 1 1 1 1 1 1 1 1",
        "WIDTH 40",
        "HEIGHT 6",
        "VIEWPOINT 0 0 0 1 0 0 0",
        "POINTS 240",
        f"DATA {encoding}",
    ]


def test_the_comment_says_where_the_points_stand_and_when(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan()
    write_pcd(scan, tmp_path / "a.pcd")
    assert read_pcd(tmp_path / "a.pcd").about == {
        "device": scan.device,
        "sensor": scan.sensor,
        "frame_number": scan.frame_number,
        "stamp_ns": scan.stamp_ns,
        "frame": "sensor",
    }


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_grid_is_the_organised_view_row_by_row(tmp_path: Path, make_scan: MakeScan, encoding: str) -> None:
    scan = make_scan()
    assert scan.shape is not None
    path = tmp_path / "a.pcd"
    write_pcd(scan, path, fields="full", encoding=encoding)
    found = read_pcd(path)
    assert (found.height, found.width) == scan.shape
    for name, values in found.fields.items():
        expected = scan.organized(name).astype(values.dtype)
        np.testing.assert_array_equal(values.reshape(scan.shape), expected, err_msg=name)
    assert np.isnan(found.fields["x"]).sum() == found.width * found.height - len(scan) > 0


def test_a_grid_can_be_written_flat(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan()
    write_pcd(scan, tmp_path / "a.pcd", organized=False)
    found = read_pcd(tmp_path / "a.pcd")
    assert (found.height, found.width) == (1, len(scan))
    np.testing.assert_array_equal(found.points, scan.points.astype(np.float32))


def test_second_returns_are_not_lost_unless_the_grid_is_asked_for(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan(dual=True)
    write_pcd(scan, tmp_path / "a.pcd")
    assert len(read_pcd(tmp_path / "a.pcd")) == len(scan)
    write_pcd(scan, tmp_path / "b.pcd", organized=True)
    found = read_pcd(tmp_path / "b.pcd")
    assert (found.height, found.width) == scan.shape
    assert set(found.fields["return_number"]) == {0, 1}


def test_a_device_without_grid_writes_one_row_and_cannot_be_organised(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan(grid=False)
    write_pcd(scan, tmp_path / "a.pcd")
    assert read_pcd(tmp_path / "a.pcd").height == 1
    with pytest.raises(OptionError, match="test_device has no rows and columns"):
        write_pcd(scan, tmp_path / "b.pcd", organized=True)
    assert not (tmp_path / "b.pcd").exists()


@pytest.mark.parametrize("frame", ["sensor", "body"])
def test_the_viewpoint_carries_the_cloud_of_one_instant_into_the_world(
    tmp_path: Path, make_scan: MakeScan, frame: str
) -> None:
    """What viewers do with VIEWPOINT: place the points by it; with all points at the stamp it must be the truth."""
    scan = make_scan(grid=False)
    scan = replace(scan, fields={**scan.fields, "t": np.zeros(len(scan), np.uint32)})
    write_pcd(to_frame(scan, frame), tmp_path / "a.pcd")
    found = read_pcd(tmp_path / "a.pcd")
    placed = found.viewpoint[:3] + rotate_vectors(found.viewpoint[3:], found.points.astype(np.float64))
    np.testing.assert_allclose(placed, to_frame(scan, "world").points, rtol=1e-6, atol=FLOAT32_M)


def test_the_viewpoint_is_the_sensors_pose_at_the_stamp_to_the_last_bit(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan()
    position, quaternion = interpolate_poses(
        scan.track.time_ns, scan.track.position, scan.track.quaternion, np.array([scan.stamp_ns])
    )
    assert scan.track.time_ns[0] < scan.stamp_ns < scan.track.time_ns[1]
    write_pcd(scan, tmp_path / "a.pcd")
    np.testing.assert_array_equal(read_pcd(tmp_path / "a.pcd").viewpoint, np.concatenate([position[0], quaternion[0]]))


def test_the_viewpoint_of_a_deskewed_scan_is_the_pose_of_its_instant(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan()
    scan = replace(scan, fields={**scan.fields, "t": scan["t"] % 70_000_000})
    at_ns = int(scan.track.time_ns[1])
    write_pcd(deskew(scan, at_ns), tmp_path / "a.pcd")
    expected = np.concatenate([scan.track.position[1], scan.track.quaternion[1]])
    np.testing.assert_array_equal(read_pcd(tmp_path / "a.pcd").viewpoint, expected)


def test_ascii_has_a_line_a_point_and_binary_no_padding(tmp_path: Path, make_scan: MakeScan) -> None:
    scan = make_scan(misses=True)
    for encoding in ("ascii", "binary"):
        write_pcd(scan, tmp_path / f"{encoding}.pcd", fields=["x", "y", "z", "return_number"], encoding=encoding)
    text = (tmp_path / "ascii.pcd").read_text().splitlines()
    rows = text[text.index("DATA ascii") + 1 :]
    assert len(rows) == len(scan)
    assert {len(row.split(" ")) for row in rows} == {4}
    binary = (tmp_path / "binary.pcd").read_bytes()
    assert len(binary.split(b"DATA binary\n", 1)[1]) == 13 * len(scan)


def test_the_compressed_data_are_the_columns_one_after_another(tmp_path: Path, make_scan: MakeScan) -> None:
    lzf = pytest.importorskip("lzf", reason="python-neo-lzf comes with the extra 'pcd'")
    scan = make_scan(grid=False)
    write_pcd(scan, tmp_path / "a.pcd", fields=["x", "ring", "t"], encoding="binary_compressed")
    data = (tmp_path / "a.pcd").read_bytes().split(b"DATA binary_compressed\n", 1)[1]
    packed, plain = (int.from_bytes(data[i : i + 4], "little") for i in (0, 4))
    assert packed == len(data) - 8
    assert plain == 10 * len(scan)
    expected = b"".join(
        scan[name].astype(kind).tobytes() for name, kind in (("x", "<f4"), ("ring", "<u2"), ("t", "<u4"))
    )
    assert lzf.decompress(data[8:], plain) == expected


def test_what_does_not_compress_is_written_all_the_same(tmp_path: Path, make_scan: MakeScan) -> None:
    pytest.importorskip("lzf", reason="python-neo-lzf comes with the extra 'pcd'")
    scan = make_scan(grid=False, points=3)
    write_pcd(scan, tmp_path / "a.pcd", fields="xyz", encoding="binary_compressed")
    np.testing.assert_array_equal(read_pcd(tmp_path / "a.pcd").points, scan.points.astype(np.float32))


def test_fields_with_a_count_are_read(tmp_path: Path) -> None:
    """Other programs write descriptors with COUNT above one."""
    (tmp_path / "a.pcd").write_text(
        "VERSION 0.7\nFIELDS x d\nSIZE 4 2\nTYPE F U\nCOUNT 1 2\nWIDTH 2\nHEIGHT 1\nPOINTS 2\n"
        "DATA ascii\n1.5 1 2\nnan 3 4\n"
    )
    found = read_pcd(tmp_path / "a.pcd")
    np.testing.assert_array_equal(found.fields["x"], np.array([1.5, np.nan], np.float32))
    np.testing.assert_array_equal(found.fields["d"], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(found.viewpoint, [0, 0, 0, 1, 0, 0, 0])
    assert found.about == {}
