"""What is written is what is read: over the table of writers, over encodings, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lidar_sim.errors import ExportError, OptionError
from lidar_sim.export import WRITERS, read_npz, read_pcd, write
from lidar_sim.export.pcd import ENCODINGS as PCD_ENCODINGS
from lidar_sim.fields import FIELDS, LAYOUTS
from lidar_sim.records import Scan

MakeScan = Callable[..., Scan]
PCD_COMPRESSED = "binary_compressed"


def read_ply(path: Path) -> dict[str, np.ndarray]:
    """A reader of the test's own, for the binary and the ascii form."""
    head, body = path.read_bytes().split(b"end_header\n", 1)
    lines = head.decode("ascii").splitlines()
    types = {"float": "<f4", "double": "<f8", "uchar": "u1", "ushort": "<u2", "uint": "<u4", "int": "<i4"}
    layout = [(line.split()[2], types[line.split()[1]]) for line in lines if line.startswith("property")]
    count = int(next(line for line in lines if line.startswith("element vertex")).split()[2])
    if "format ascii 1.0" in lines:
        rows = np.array(body.split(), dtype="S").reshape(count, len(layout))
        return {name: rows[:, i].astype("f8").astype(kind) for i, (name, kind) in enumerate(layout)}
    records = np.frombuffer(body, np.dtype(layout))
    assert len(records) == count
    return {name: records[name] for name, _ in layout}


def read_png(path: Path) -> dict[str, np.ndarray]:
    image = pytest.importorskip("PIL.Image", reason="Pillow comes with the extra 'plot'")
    with image.open(path) as picture:
        assert picture.mode.startswith("I")
        return {"depth": np.array(picture)}


# A new row of WRITERS needs a reader here: the first test below says so.
READERS: dict[str, Callable[[Path], dict[str, np.ndarray]]] = {
    ".pcd": lambda path: dict(read_pcd(path).fields),
    ".ply": read_ply,
    ".npz": lambda path: dict(read_npz(path).fields),
    ".png": read_png,
}
POINT_FORMATS = sorted(set(WRITERS) - {".png"})
ENCODED = [
    *((".pcd", {"encoding": encoding}) for encoding in PCD_ENCODINGS),
    *((".ply", {"encoding": encoding}) for encoding in ("ascii", "binary_little_endian")),
    *((".npz", {"compressed": compressed}) for compressed in (False, True)),
]


def in_file(scan: Scan, name: str, suffix: str) -> np.ndarray:
    """A field in the type that the file can hold."""
    if suffix == ".npz":
        return scan[name]
    dtype = np.dtype(FIELDS[name].file_dtype)
    return scan[name].astype("f8" if dtype == np.dtype("i8") else dtype)


def test_every_writer_has_a_reader_in_these_tests() -> None:
    assert set(READERS) == set(WRITERS)


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_writer_writes_with_its_defaults(tmp_path: Path, make_scan: MakeScan, suffix: str) -> None:
    scan = make_scan(planar=True)
    path = tmp_path / f"a{suffix.upper()}"
    write(scan, path)
    assert READERS[suffix](path)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(("suffix", "options"), ENCODED)
@pytest.mark.parametrize("misses", [False, True], ids=["returns", "all rows"])
def test_every_field_comes_back_to_the_last_bit(
    tmp_path: Path, make_scan: MakeScan, suffix: str, options: dict[str, Any], misses: bool
) -> None:
    scan = make_scan(misses=misses, planar=True)
    if suffix == ".pcd":
        options = {**options, "organized": False}
    path = tmp_path / f"a{suffix}"
    write(scan, path, fields="full", **options)
    found = READERS[suffix](path)
    assert list(found) == list(scan.fields)
    for name in found:
        expected = in_file(scan, name, suffix)
        assert found[name].dtype == expected.dtype
        np.testing.assert_array_equal(found[name], expected, err_msg=name)


@pytest.mark.parametrize(("suffix", "options"), ENCODED)
@pytest.mark.parametrize("points", [0, 1, 2])
def test_clouds_of_few_points_come_back(
    tmp_path: Path, make_scan: MakeScan, suffix: str, options: dict[str, Any], points: int
) -> None:
    scan = make_scan(points=points, grid=False)
    path = tmp_path / f"a{suffix}"
    write(scan, path, fields="xyz", **options)
    found = READERS[suffix](path)
    for axis in "xyz":
        np.testing.assert_array_equal(found[axis], in_file(scan, axis, suffix))


@pytest.mark.parametrize("suffix", POINT_FORMATS)
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        *((layout, LAYOUTS[layout]) for layout in LAYOUTS),
        (["ring", "z", "x"], ("ring", "z", "x")),
        (("x", "y", "z", "geom"), ("x", "y", "z", "geom")),
        ("x, y,z , ring", ("x", "y", "z", "ring")),
    ],
)
def test_fields_are_chosen_by_layout_or_name_in_that_order(
    tmp_path: Path, make_scan: MakeScan, suffix: str, fields: Any, expected: tuple[str, ...]
) -> None:
    scan = make_scan()
    path = tmp_path / f"a{suffix}"
    write(scan, path, fields=fields)
    assert list(READERS[suffix](path)) == [name for name in expected if name in scan.fields]


@pytest.mark.parametrize("frame", ["sensor", "body", "world"])
@pytest.mark.parametrize("grid", [False, True])
def test_an_npz_is_the_scan(tmp_path: Path, make_scan: MakeScan, frame: str, grid: bool) -> None:
    scan = make_scan(frame=frame, grid=grid, misses=True)
    write(scan, tmp_path / "a.npz")
    found = read_npz(tmp_path / "a.npz")
    for name in ("device", "sensor", "frame_number", "stamp_ns", "frame", "shape"):
        assert getattr(found, name) == getattr(scan, name)
    assert list(found.fields) == list(scan.fields)
    for name in scan.fields:
        assert found[name].dtype == scan[name].dtype
        np.testing.assert_array_equal(found[name], scan[name])
    for name in ("time_ns", "position", "quaternion"):
        np.testing.assert_array_equal(getattr(found.track, name), getattr(scan.track, name))
    np.testing.assert_array_equal(found.T_body_sensor, scan.T_body_sensor)
    assert found.info == scan.info


def test_numpy_numbers_in_the_info_become_pythons(tmp_path: Path, make_scan: MakeScan) -> None:
    from dataclasses import replace

    scan = replace(make_scan(), info={"seed": np.int64(4), "gain": np.arange(3), "on": np.bool_(True)})
    write(scan, tmp_path / "a.npz")
    assert read_npz(tmp_path / "a.npz").info == {"seed": 4, "gain": [0, 1, 2], "on": True}
    with pytest.raises(ExportError, match=r"JSON.*object"):
        write(replace(scan, info={"model": object()}), tmp_path / "b.npz")
    assert not (tmp_path / "b.npz").exists()


@pytest.mark.parametrize("suffix", POINT_FORMATS)
def test_unknown_fields_options_and_values_are_refused_and_nothing_is_written(
    tmp_path: Path, make_scan: MakeScan, suffix: str
) -> None:
    scan, path = make_scan(), tmp_path / f"a{suffix}"
    with pytest.raises(OptionError, match=r"'intensty' \(did you mean 'intensity'\?\)"):
        write(scan, path, fields=["x", "intensty"])
    with pytest.raises(OptionError, match=r"test_device has no field 'depth'; it has: x, y, z, range"):
        write(scan, path, fields="x,y,z,depth")
    with pytest.raises(OptionError, match="named twice"):
        write(scan, path, fields=["x", "x"])
    with pytest.raises(OptionError, match=rf"unknown option of {suffix} files 'colour'; valid: "):
        write(scan, path, colour="red")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".pcd", ".ply"])
def test_an_unknown_encoding_names_the_valid_ones(tmp_path: Path, make_scan: MakeScan, suffix: str) -> None:
    with pytest.raises(OptionError, match=r"did you mean 'ascii'.*binary"):
        write(make_scan(), tmp_path / f"a{suffix}", encoding="ascci")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "hint"), [("a.pdc", "did you mean '.pcd'"), ("a", "''"), ("a.las", "'.las'")])
def test_an_unknown_suffix_names_the_valid_ones(tmp_path: Path, make_scan: MakeScan, name: str, hint: str) -> None:
    with pytest.raises(ExportError, match=f"{hint}.*valid: .npz, .pcd, .ply, .png"):
        write(make_scan(), tmp_path / name)


@pytest.mark.parametrize("reader", [read_npz, read_pcd])
def test_a_file_that_is_missing_or_another_is_refused_in_one_line(tmp_path: Path, reader: Any) -> None:
    with pytest.raises(ExportError, match=r"cannot read .*No such file"):
        reader(tmp_path / "none")
    for content in (b"", b"hello\nworld\n", b"\x00" * 100, b"VERSION 0.7\nFIELDS x\nDATA binary\n"):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(ExportError, match="is not a") as caught:
            reader(tmp_path / "other")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", PCD_ENCODINGS)
def test_a_pcd_that_was_cut_short_is_refused(tmp_path: Path, make_scan: MakeScan, encoding: str) -> None:
    path = tmp_path / "a.pcd"
    write(make_scan(), path, encoding=encoding)
    content = path.read_bytes()
    for kept in (len(content) - 20, len(content) // 2, 100):
        path.write_bytes(content[:kept])
        with pytest.raises(ExportError, match="is not a whole PCD file"):
            read_pcd(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_an_npz_that_was_cut_short_or_is_not_a_scan_is_refused(
    tmp_path: Path, make_scan: MakeScan, compressed: bool
) -> None:
    path = tmp_path / "a.npz"
    write(make_scan(), path, compressed=compressed)
    content = path.read_bytes()
    for kept in (len(content) - 20, len(content) // 2, 3, 0):
        path.write_bytes(content[:kept])
        with pytest.raises(ExportError, match="is not a scan written by lidar_sim"):
            read_npz(path)
    np.savez(path, x=np.zeros(3))
    with pytest.raises(ExportError, match="about_json"):
        read_npz(path)


def test_compression_without_its_library_names_the_extra(
    tmp_path: Path, make_scan: MakeScan, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from lidar_sim.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "lzf", None)
    with pytest.raises(MissingExtraError, match=r"python-neo-lzf.*lidar-sim\[pcd\]"):
        write(make_scan(), tmp_path / "a.pcd", encoding=PCD_COMPRESSED)
    assert not list(tmp_path.iterdir())
    write(make_scan(), tmp_path / "a.pcd")
