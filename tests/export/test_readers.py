"""Independent readers: open3d, pypcd4 and plyfile find the points that were written."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lidar_sim.export import write
from lidar_sim.export.pcd import ENCODINGS
from lidar_sim.export.ply import ENCODINGS as PLY_ENCODINGS
from lidar_sim.records import Scan

MakeScan = Callable[..., Scan]

FIELDS = ["x", "y", "z", "intensity", "range", "ring", "row", "column", "t", "return_number", "geom", "firing"]


def library(name: str, why: str) -> ModuleType:
    """The library; where CI runs, its absence is a failure, not a skip."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must have {name}: {error}")
        pytest.skip(f"{name} ({why}) cannot be imported: {error}")


@pytest.fixture(scope="module")
def open3d() -> ModuleType:
    return library("open3d", "extra 'open3d'; on Linux it needs libusb and libgl")


@pytest.fixture(scope="module")
def pypcd4() -> ModuleType:
    return library("pypcd4", "extra 'dev'")


def expected_points(scan: Scan, organized: bool) -> np.ndarray:
    return (scan.organized().reshape(-1, 3) if organized else scan.points).astype(np.float32)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("organized", [True, False], ids=["grid", "flat"])
def test_open3d_reads_the_same_points(
    tmp_path: Path, make_scan: MakeScan, open3d: ModuleType, encoding: str, organized: bool
) -> None:
    scan = make_scan()
    path = str(tmp_path / "a.pcd")
    write(scan, path, fields=FIELDS, encoding=encoding, organized=organized)
    expected = expected_points(scan, organized)
    legacy = open3d.io.read_point_cloud(path, remove_nan_points=False)
    np.testing.assert_array_equal(np.asarray(legacy.points).astype(np.float32), expected)
    tensor = open3d.t.io.read_point_cloud(path, remove_nan_points=False).point
    np.testing.assert_array_equal(tensor["positions"].numpy(), expected)
    for name in FIELDS[3:]:
        values = scan.organized(name).ravel() if organized else scan[name]
        found = tensor[name].numpy().ravel()
        np.testing.assert_array_equal(found, values.astype(found.dtype), err_msg=name)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("organized", [True, False], ids=["grid", "flat"])
def test_pypcd4_reads_the_same_points_and_header(
    tmp_path: Path, make_scan: MakeScan, pypcd4: ModuleType, encoding: str, organized: bool
) -> None:
    scan = make_scan()
    path = tmp_path / "a.pcd"
    write(scan, path, fields=FIELDS, encoding=encoding, organized=organized)
    found = pypcd4.PointCloud.from_path(path)
    np.testing.assert_array_equal(found.numpy(("x", "y", "z")), expected_points(scan, organized))
    assert tuple(found.fields) == tuple(FIELDS)
    for name in FIELDS:
        values = scan.organized(name).ravel() if organized else scan[name]
        np.testing.assert_array_equal(found.pc_data[name], values.astype(found.pc_data[name].dtype), err_msg=name)
    assert (found.metadata.height, found.metadata.width) == (scan.shape if organized else (1, len(scan)))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_pypcd4_reads_a_cloud_of_no_points(
    tmp_path: Path, make_scan: MakeScan, pypcd4: ModuleType, encoding: str
) -> None:
    write(make_scan(points=0, grid=False), tmp_path / "a.pcd", encoding=encoding)
    assert pypcd4.PointCloud.from_path(tmp_path / "a.pcd").points == 0


@pytest.mark.parametrize("encoding", PLY_ENCODINGS)
def test_plyfile_reads_the_same_vertices(tmp_path: Path, make_scan: MakeScan, encoding: str) -> None:
    plyfile = pytest.importorskip("plyfile", reason="plyfile (GPL, for tests only) comes with the extra 'dev'")
    scan = make_scan()
    write(scan, tmp_path / "a.ply", fields=FIELDS, encoding=encoding)
    vertices = plyfile.PlyData.read(tmp_path / "a.ply")["vertex"]
    assert [entry.name for entry in vertices.properties] == FIELDS
    for name in FIELDS:
        np.testing.assert_array_equal(vertices[name], scan[name].astype(vertices[name].dtype), err_msg=name)


@pytest.mark.parametrize("encoding", PLY_ENCODINGS)
def test_open3d_reads_the_same_vertices(tmp_path: Path, make_scan: MakeScan, open3d: ModuleType, encoding: str) -> None:
    scan = make_scan()
    path = str(tmp_path / "a.ply")
    write(scan, path, fields=FIELDS, encoding=encoding)
    found = np.asarray(open3d.io.read_point_cloud(path).points)
    np.testing.assert_array_equal(found.astype(np.float32), expected_points(scan, False))
