"""Bars on stderr: of a recording, with its rates, and of work that goes step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lidar_sim.scenario import Progress


@contextmanager
def recording_bar(beams_per_s: float) -> Iterator[Callable[[Progress], None]]:
    """A callback for ``record(progress=...)`` that draws simulated time, frames, beams per second and their ratio.

    Args:
        beams_per_s: beams that all sensors together fire in a second of simulated time.
    """
    from rich import progress as rich_progress

    from lidar_sim.cli.terminal import stderr_console

    columns = (
        rich_progress.TextColumn("recording"),
        rich_progress.BarColumn(),
        rich_progress.TaskProgressColumn(),
        rich_progress.TextColumn("{task.fields[rates]}"),
        rich_progress.TimeRemainingColumn(),
    )
    start = perf_counter()
    console = stderr_console()
    # What is refused before the first step shall not stand below an empty bar.
    waiting = console.status("preparing")
    bar = rich_progress.Progress(*columns, console=console)
    task = bar.add_task("recording", total=None, rates="")

    def show(progress: Progress) -> None:
        if not bar.live.is_started:
            waiting.stop()
            bar.start()
        factor = progress.time_s / max(perf_counter() - start, 1e-9)
        rates = f"{progress.frames} frames  {factor * beams_per_s * 1e-6:.2f} Mbeams/s  {factor:.2f} x real time"
        bar.update(task, total=progress.duration_s, completed=progress.time_s, rates=rates)

    waiting.start()
    try:
        yield show
    finally:
        waiting.stop()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def step_bar(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """A callback (done, total, what is done now) that draws steps of unequal length.

    Args:
        label: stands before the bar.
    """
    from rich import progress as rich_progress

    from lidar_sim.cli.terminal import stderr_console

    columns = (
        rich_progress.TextColumn(label),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TextColumn("{task.fields[what]}"),
    )
    with rich_progress.Progress(*columns, console=stderr_console()) as bar:
        task = bar.add_task(label, total=None, what="")

        def show(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, what=what)

        yield show
