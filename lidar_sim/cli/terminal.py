"""How commands write to the terminal: tables on stdout, progress on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# In a pipe or a file nothing may be cut off for want of columns.
_WIDTH_WITHOUT_TERMINAL = 160

NOTHING_MET = "no beam met anything: is there a scene around the robot?"


def stdout_console() -> Console:
    """For results; wide enough when no terminal listens."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL, highlight=False)


def stderr_console() -> Console:
    """For progress and hints, so that stdout holds nothing but the result."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def note(text: str) -> None:
    """One line on stderr that is worth knowing, but no error."""
    print(f"lidar-sim: note: {text}", file=sys.stderr)


def plain_table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """A table with one line under its head and no frame.

    Args:
        title: above it.
        columns: heads, in order.
        right: those of them that hold numbers.
    """
    from rich import box
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table
