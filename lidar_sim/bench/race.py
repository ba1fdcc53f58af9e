"""Side by side: every contestant once a round, so that a busy moment of the machine meets all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter, process_time

import numpy as np

from lidar_sim.records import F64

_WARM_UPS = 2


def race(runs: Mapping[str, Callable[[], object]], *, rounds: int, threads: int, repeats: int = 3) -> dict[str, F64]:
    """Seconds of each run in each round, the best of a few repeats.

    One thread is timed by the CPU time of the process, pinned to one core: what a neighbour takes of the core is not
    counted, and no run is moved from core to core. Several threads are timed by the clock on the wall, since
    CPU time would add them up.

    Args:
        runs: name -> what is run.
        rounds: in each of them, every run has its turn.
        threads: that the runs use.
        repeats: in each turn; the shortest counts.

    Returns:
        name -> (rounds,) s.
    """
    clock = process_time if threads == 1 else perf_counter
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(_WARM_UPS):
        for run in runs.values():
            run()
    with _one_core() if threads == 1 else _all_cores():
        for _ in range(rounds):
            for name, run in runs.items():
                seconds[name].append(min(_time(run, clock) for _ in range(repeats)))
    return {name: np.array(found) for name, found in seconds.items()}


def _time(run: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    run()
    return clock() - start


@contextmanager
def _one_core() -> Iterator[None]:
    """The calling thread stays on the last core that it may use, where the system can pin at all."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def _all_cores() -> Iterator[None]:
    yield
