"""Files that appear whole: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from lidar_sim.errors import ExportError


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to be written in binary, which takes its name only when the block ends without an error.

    Until then it is a hidden ``.part`` file in the same folder; it is removed whatever goes wrong, an
    interrupt from the keyboard too. A file of that name is replaced, a link is written through; a device or
    a pipe is refused, since a rename would put a plain file in its place.

    Args:
        path: of the file; its folder must exist.

    Raises:
        ExportError: no such folder, a folder stands in its place, or the system refused to write.
    """
    target = writable_path(path)
    part = target.with_name(f".lidar_sim-{secrets.token_hex(6)}.part")
    try:
        with part.open("xb") as stream:
            yield stream
        part.replace(target)
    except OSError as error:
        raise refused(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def writable_path(path: str | os.PathLike[str]) -> Path:
    """The real path of a file to be written.

    Raises:
        ExportError: no such folder, or what stands in its place is no regular file.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise ExportError(f"cannot write {os.fspath(path)}: there is no folder {target.parent}")
    if target.is_dir():
        raise ExportError(f"cannot write {os.fspath(path)}: it is a folder")
    if target.exists() and not target.is_file():
        raise ExportError(f"cannot write {os.fspath(path)}: it is no regular file")
    return target


def refused(path: str | os.PathLike[str], error: OSError) -> ExportError:
    """The system's refusal in one line."""
    return ExportError(f"cannot write {os.fspath(path)}: {error.strerror or error}")
