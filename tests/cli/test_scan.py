"""`lidar-sim scan` is Lidar.scan with files."""

from __future__ import annotations

import numpy as np
import pytest

from lidar_sim.cli.main import EXIT_INPUT, EXIT_OK, EXIT_USAGE, main
from lidar_sim.cloud import to_frame
from lidar_sim.export import read_npz, read_pcd
from lidar_sim.scenario import build_model, initial_data
from lidar_sim.simulator import Lidar

ROOM = ["scan", "room", "--robot", "quadruped", "--device", "vlp16", "--mount", "lidar"]


def by_hand(number: int = 0, **options):
    model = build_model("room", "quadruped")
    return Lidar(model, "vlp16", mount="lidar", **options).scan(initial_data(model), number)


def test_the_file_holds_what_the_lidar_gave(tmp_path, capsys):
    out = tmp_path / "a.npz"
    assert main([*ROOM, "--out", str(out), "--seed", "3", "--number", "2", "--exclude", "subtree"]) == EXIT_OK
    written, expected = read_npz(out), by_hand(2, seed=3, exclude="subtree")
    assert written.fields.keys() == expected.fields.keys()
    for name, values in expected.fields.items():
        assert np.array_equal(written[name], values, equal_nan=True), name
    said = capsys.readouterr().out
    assert f"{len(expected):,} points" in said
    assert f"wrote {out}" in said


def test_the_truth_in_the_world_frame(tmp_path):
    out = tmp_path / "a.npz"
    argv = [*ROOM, "--no-noise", "--frame", "world", "--fields", "xyz", "--threads", "1", "--out", str(out)]
    assert main(argv) == EXIT_OK
    assert np.array_equal(read_npz(out).points, to_frame(by_hand(noise=False), "world").points)


def test_fields_encoding_and_offset_reach_the_file(tmp_path):
    out = tmp_path / "a.pcd"
    options = ["--fields", "x,y,z,ring", "--encoding", "ascii", "--offset", "0,0,0.5,0,0,90"]
    assert main([*ROOM, *options, "--out", str(out)]) == EXIT_OK
    assert b"DATA ascii" in out.read_bytes()[:600]
    assert list(read_pcd(out).fields) == ["x", "y", "z", "ring"]


def test_a_flat_pcd_holds_the_returns_only(tmp_path):
    for name, options in (("grid.pcd", []), ("flat.pcd", ["--flat"])):
        assert main([*ROOM, *options, "--out", str(tmp_path / name)]) == EXIT_OK
    grid, flat = (read_pcd(tmp_path / name).fields["x"] for name in ("grid.pcd", "flat.pcd"))
    assert not np.isnan(flat).any()
    assert np.array_equal(np.sort(flat), np.sort(grid[np.isfinite(grid)]))


def test_a_scan_of_nothing_says_why(tmp_path, capsys):
    (tmp_path / "sky.xml").write_text("<mujoco><worldbody/></mujoco>")
    assert main(["scan", str(tmp_path / "sky.xml"), "--device", "vlp16", "--mount", "world"]) == EXIT_OK
    assert "note: no beam met anything: is there a scene around the robot?" in capsys.readouterr().err


def test_the_picture_is_one(tmp_path, read_png):
    picture = tmp_path / "a.png"
    assert main([*ROOM, "--picture", str(picture), "--color", "intensity", "--view", "top"]) == EXIT_OK
    assert read_png(picture).shape == (1000, 1600, 4)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--device", "vlp17"], "unknown device 'vlp17'"),
        (["--mount", "lidr"], "unknown mount 'lidr' (did you mean 'lidar'?)"),
        (["--robot", "quadrupd"], "unknown model 'quadrupd' (did you mean 'quadruped'?)"),
        (["--keyframe", "hom"], "unknown keyframe 'hom' (did you mean 'home'?)"),
        (["--caster", "bvx"], "unknown caster 'bvx'"),
        (["--mode", "fast"], "unknown mode"),
        (["--exclude", "trnk"], "trnk"),
        (["--number", "-1"], "--number counts from 0"),
        (["--fields", "x,yy", "--out", "a.pcd"], "unknown field 'yy'"),
        (["--fields", "xyz"], "need --out"),
        (["--out", "a.foo"], "unknown file suffix '.foo'"),
        (["--out", "nowhere/a.pcd"], "there is no folder"),
        (["--picture", "a.jpg"], "written as .png"),
        (["--picture", "a.png", "--color", "colour"], "unknown quantity"),
        (["--out", "a.npz", "--picture", "a.jpg"], "written as .png"),
        (["--out", "a.npz", "--picture", "a.png", "--color", "hieght"], "did you mean 'height'"),
        (["--out", "a.foo", "--picture", "a.png"], "unknown file suffix"),
        (["--out", "a.ply", "--flat"], "--flat is of .pcd files"),
        (["--flat"], "--flat is of .pcd files"),
        (["--out", "a.png"], "fields=range (--fields range)"),
        (["--device", "avia", "--out", "a.png"], "no rows and columns"),
        (["--out", "a.ply", "--encoding", "binary_compressed"], "PLY encoding"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(argv, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*ROOM, *argv]) == EXIT_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lidar-sim: error: ")
    assert said in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_model_file_is_one_line(capsys, tmp_path):
    broken = tmp_path / "broken.xml"
    broken.write_text("<mujoco><worldbody><geom/></worldbody></mujoco>")
    assert main(["scan", str(broken), "--device", "vlp16", "--mount", "world"]) == EXIT_INPUT
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("value", ["1,2", "a,b,c", "1,2,3,4"])
def test_an_offset_of_another_form_is_a_usage_error(value, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*ROOM, "--offset", value])
    assert ended.value.code == EXIT_USAGE
    assert "--offset" in capsys.readouterr().err
