"""How many threads a caster uses, without changing what others in the process use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from lidar_sim.errors import OptionError
from lidar_sim.jit import get_num_threads, set_num_threads


def thread_count(threads: int | None) -> int:
    """Threads to use: what was asked for, at most what Numba has now; None = all of those.

    Raises:
        OptionError: not a whole number of at least 1.
    """
    available = int(get_num_threads())
    if threads is None:
        return available
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise OptionError(f"threads is {threads!r}; valid: whole numbers from 1, or None for all {available}")
    return min(threads, available)


def works_alone(threads: int) -> bool:
    """True where a caster must stay on the calling thread: it has only that one, or the process was forked.

    GNU OpenMP ends a forked process that starts threads after its parent did.
    """
    return threads == 1 or _forked.is_set()


_forked = Event()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked.set)


@contextmanager
def use_threads(threads: int) -> Iterator[None]:
    """Parallel kernels run on so many threads inside, and as before afterwards."""
    before = get_num_threads()
    set_num_threads(threads)
    try:
        yield
    finally:
        set_num_threads(before)
