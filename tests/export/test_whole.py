"""Nothing half-written: whatever goes wrong, the old file stands and no part is left."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lidar_sim.errors import ExportError
from lidar_sim.export import WRITERS, whole_file, write
from lidar_sim.records import Scan

MakeScan = Callable[..., Scan]

OLD = b"what stood there before"


class Torn:
    """A stream that fails after some bytes."""

    def __init__(self, stream: Any, error: BaseException) -> None:
        self._stream, self._error = stream, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> Torn:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stream.close()

    def write(self, data: bytes) -> int:
        self._stream.write(bytes(data)[:5])
        raise self._error


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("old", [True, False], ids=["old file", "no file"])
@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), ExportError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (RuntimeError("anything"), RuntimeError),
        (MemoryError(), MemoryError),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_failure_in_the_middle_leaves_what_was_there(
    tmp_path: Path, make_scan: MakeScan, monkeypatch: pytest.MonkeyPatch,
    suffix: str, old: bool, error: BaseException, seen: type[BaseException],
) -> None:  # fmt: skip
    path = tmp_path / f"a{suffix}"
    if old:
        path.write_bytes(OLD)
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *args, **kwargs: Torn(opened(self, *args, **kwargs), error))
    with pytest.raises(seen) as caught:
        write(make_scan(planar=True), path)
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == ([path.name] if old else [])
    assert not old or path.read_bytes() == OLD
    if seen is ExportError:
        assert str(caught.value) == f"cannot write {path}: No space left on device"


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_old_file_is_replaced_whole(tmp_path: Path, make_scan: MakeScan, suffix: str) -> None:
    path, fresh = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    path.write_bytes(OLD * 100_000)
    write(make_scan(planar=True), path)
    write(make_scan(planar=True), fresh)
    assert path.read_bytes() == fresh.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_missing_folder_is_named_and_not_made(tmp_path: Path, make_scan: MakeScan, suffix: str) -> None:
    with pytest.raises(ExportError, match=r"there is no folder .*none"):
        write(make_scan(planar=True), tmp_path / "none" / f"a{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_folder_or_a_file_in_the_way_is_refused(tmp_path: Path, make_scan: MakeScan) -> None:
    (tmp_path / "a.pcd").mkdir()
    with pytest.raises(ExportError, match="it is a folder"):
        write(make_scan(), tmp_path / "a.pcd")
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(ExportError, match="there is no folder"):
        write(make_scan(), tmp_path / "file" / "a.pcd")
    assert not list((tmp_path / "a.pcd").iterdir())
    assert (tmp_path / "file").read_bytes() == OLD


def test_a_folder_that_cannot_be_written_to_is_refused(
    tmp_path: Path, make_scan: MakeScan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ExportError, match=r"cannot write .*a\.pcd: Permission denied"):
        write(make_scan(), tmp_path / "a.pcd")


def test_a_rename_that_is_refused_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ExportError, match="Permission denied"), whole_file(tmp_path / "a") as stream:
        stream.write(b"new")
    assert not list(tmp_path.iterdir())


def test_the_name_is_taken_only_when_the_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(OLD)
    with whole_file(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == OLD
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="links and modes of POSIX")
def test_a_link_is_written_through_and_the_umask_obeyed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(OLD)
    link.symlink_to(target)
    before = os.umask(0o027)
    try:
        with whole_file(link) as stream:
            stream.write(b"new")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(OLD)
    program = (
        "import os, signal, sys\n"
        "from lidar_sim.export.whole import whole_file\n"
        "with whole_file(sys.argv[1]) as stream:\n"
        "    stream.write(b'x' * 1_000_000); stream.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(path)], check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == OLD
    others = [entry for entry in tmp_path.iterdir() if entry != path]
    assert all(entry.suffix == ".part" and entry.name.startswith(".") for entry in others)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("through_link", [False, True])
def test_a_pipe_is_refused_and_stays_a_pipe(tmp_path: Path, make_scan: MakeScan, through_link: bool) -> None:
    os.mkfifo(tmp_path / "pipe.pcd")
    (tmp_path / "link.pcd").symlink_to("pipe.pcd")
    with pytest.raises(ExportError, match="it is no regular file"):
        write(make_scan(), tmp_path / ("link.pcd" if through_link else "pipe.pcd"))
    assert (tmp_path / "pipe.pcd").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.pcd", "pipe.pcd"]
