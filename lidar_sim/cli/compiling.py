"""One line on stderr before kernels are compiled for the first time, and the time that takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# A VLP-16 scan with nothing in the cache, on one core of 2024.
_ABOUT_S = 60


@contextmanager
def notice_of_compiling() -> Iterator[None]:
    """Says so once, if a kernel has to be compiled inside and the cache is still empty."""
    from lidar_sim import jit

    told = False

    def tell() -> None:
        nonlocal told
        if not told and not kernels_in_cache():
            print(
                f"lidar-sim: compiling kernels, about {_ABOUT_S} s, once (`lidar-sim warmup` does it beforehand)",
                file=sys.stderr,
                flush=True,
            )
        told = True

    with jit.told_of_compiling(tell):
        yield


def kernels_in_cache() -> int:
    """Number of compiled kernels that the cache holds for the installed sources."""
    from lidar_sim import jit

    return sum(1 for _ in jit.cache_folder().rglob("*.nbc"))
