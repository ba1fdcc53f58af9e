"""TUM poses: exact times, complete lines, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lidar_sim.errors import ExportError
from lidar_sim.export import TumWriter, write_tum
from lidar_sim.records import PoseTrack
from lidar_sim.transforms import euler_to_quaternion

TIMES = [0, 1, 999_999_999, 1_000_000_000, 1_234_567_890_123_456_789, 2**63 - 1, -1, -1_500_000_000]
TEXTS = [
    "0.000000000", "0.000000001", "0.999999999", "1.000000000", "1234567890.123456789", "9223372036.854775807",
    "-0.000000001", "-1.500000000",
]  # fmt: skip


@pytest.fixture
def track() -> PoseTrack:
    rng = np.random.default_rng(4)
    quaternion = rng.normal(size=(5, 4))
    return PoseTrack(
        time_ns=1_700_000_000_000_000_000 + np.arange(5) * 100_000_001,
        position=rng.normal(size=(5, 3)) * 10.0 ** np.arange(-9, 6, 3)[:, None],
        quaternion=quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True),
    )


def parsed(path: Path) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Times in whole ns read as text, positions, quaternions w x y z."""
    rows = [line.split(" ") for line in path.read_text("ascii").splitlines()]
    assert {len(row) for row in rows} <= {8}
    times = [int(row[0].replace(".", "")) for row in rows]
    numbers = np.array([[float(value) for value in row[1:]] for row in rows]).reshape(-1, 7)
    return times, numbers[:, :3], numbers[:, [6, 3, 4, 5]]


def test_times_of_19_digits_are_exact(tmp_path: Path) -> None:
    at_rest = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    write_tum([(time_ns, *at_rest) for time_ns in TIMES], tmp_path / "poses.txt")
    assert [line.split(" ")[0] for line in (tmp_path / "poses.txt").read_text().splitlines()] == TEXTS


def test_a_line_is_time_position_and_quaternion_with_w_last(tmp_path: Path) -> None:
    write_tum([(1_500_000_000, [1.0, 2.0, 3.0], euler_to_quaternion(0, 0, 180.0))], tmp_path / "poses.txt")
    time, x, y, z, qx, qy, qz, qw = (tmp_path / "poses.txt").read_text().split()
    assert (time, x, y, z, qx, qy, qz) == ("1.500000000", "1.0", "2.0", "3.0", "0.0", "0.0", "1.0")
    assert abs(float(qw)) < 1e-15


def test_a_track_comes_back_to_the_last_bit(tmp_path: Path, track: PoseTrack) -> None:
    write_tum(track, tmp_path / "poses.txt")
    times, position, quaternion = parsed(tmp_path / "poses.txt")
    assert times == track.time_ns.tolist()
    np.testing.assert_array_equal(position, track.position)
    np.testing.assert_array_equal(quaternion, track.quaternion)


def test_the_stream_writes_the_same_lines_and_each_at_once(tmp_path: Path, track: PoseTrack) -> None:
    write_tum(track, tmp_path / "whole.txt")
    expected = (tmp_path / "whole.txt").read_bytes().splitlines(keepends=True)
    path = tmp_path / "stream.txt"
    with TumWriter(path) as writer:
        assert path.read_bytes() == b""
        for k in range(len(track.time_ns)):
            writer.add(int(track.time_ns[k]), track.position[k], track.quaternion[k])
            assert path.read_bytes() == b"".join(expected[: k + 1])


def test_a_recording_goes_on_behind_its_last_complete_line(tmp_path: Path, track: PoseTrack) -> None:
    path = tmp_path / "poses.txt"
    write_tum(track, path)
    whole = path.read_bytes()
    cut = whole[:-20]
    path.write_bytes(cut)
    with TumWriter(path, append=True) as writer:
        assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:-1])
        writer.add(int(track.time_ns[-1]), track.position[-1], track.quaternion[-1])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"", b"0.5 1 2", None], ids=["empty", "one cut line", "no file"])
def test_going_on_where_nothing_complete_stands_begins_anew(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "poses.txt"
    if content is not None:
        path.write_bytes(content)
    with TumWriter(path, append=True) as writer:
        writer.add(5, (0, 0, 0), (1, 0, 0, 0))
    assert path.read_text() == "0.000000005 0.0 0.0 0.0 0.0 0.0 0.0 1.0\n"


def test_without_append_an_old_file_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "poses.txt").write_text("old\n")
    TumWriter(tmp_path / "poses.txt").close()
    assert (tmp_path / "poses.txt").read_bytes() == b""


def test_an_error_in_the_block_leaves_complete_lines(tmp_path: Path) -> None:
    path = tmp_path / "poses.txt"
    writer = TumWriter(path)

    def record() -> None:
        with writer:
            writer.add(1, (0, 0, 0), (1, 0, 0, 0))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record()
    assert path.read_bytes().count(b"\n") == 1
    with pytest.raises(ExportError, match="closed"):
        writer.add(2, (0, 0, 0), (1, 0, 0, 0))
    writer.close()


def test_an_error_in_the_poses_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unpack"):
        write_tum([(1, (0, 0, 0), (1, 0, 0, 0)), (2, (0, 0), (1, 0, 0, 0))], tmp_path / "poses.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("append", [False, True])
def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path, append: bool) -> None:
    with pytest.raises(ExportError, match="there is no folder"):
        TumWriter(tmp_path / "none" / "poses.txt", append=append)
    with pytest.raises(ExportError, match="it is a folder"):
        TumWriter(tmp_path, append=append)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_killed_recording_keeps_every_pose(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from lidar_sim.export.tum import TumWriter\n"
        "writer = TumWriter(sys.argv[1])\n"
        "for k in range(100):\n"
        "    writer.add(k, (k, 0, 0), (1, 0, 0, 0))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "poses.txt"
    ended = subprocess.run([sys.executable, "-c", program, str(path)], check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    times, position, _ = parsed(path)
    assert times == list(range(100))
    np.testing.assert_array_equal(position[:, 0], np.arange(100.0))
