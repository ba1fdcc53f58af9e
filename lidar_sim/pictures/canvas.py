"""The door to matplotlib: figures without a display, one dark style, files that appear whole."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from lidar_sim.errors import ExportError, MissingExtraError, OptionError
from lidar_sim.export import whole_file

BACKGROUND = "#0d1117"
PANEL = "#0a0d12"
INK = "#e6edf3"
FAINT_INK = "#8b949e"
GRID = "#30363d"

_DPI = 100
_MOST_TICKS = 9


def new_figure(size_px: tuple[int, int]) -> Any:
    """An empty dark matplotlib Figure of that size (width, height) in pixels, tied to no display.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OptionError: a size that cannot be drawn.
    """
    width, height = size_px
    if not (200 <= width <= 20_000 and 200 <= height <= 20_000):
        raise OptionError(f"a picture has 200 to 20000 pixels a side, found {width} x {height}")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  (an extra)
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "a picture") from None
    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor=BACKGROUND)
    FigureCanvasAgg(figure)
    return figure


def dark_axes(axes: Any) -> None:
    """Give axes the dark style."""
    axes.set_facecolor(PANEL)
    axes.tick_params(colors=FAINT_INK, labelsize=9)
    for spine in axes.spines.values():
        spine.set_color(GRID)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(FAINT_INK)
        label.set_size(10)


def axes_title(axes: Any, text: str) -> None:
    """A small title at the left above axes."""
    axes.set_title(text, size=10, loc="left", color=INK)


def color_bar(
    figure: Any,
    axes: Any,
    *,
    limits: tuple[float, float],
    colormap: Any,
    label: str,
    logarithmic: bool = False,
    horizontal: bool = False,
) -> None:
    """A slim scale on given axes, for images whose colours were worked out by hand."""
    from matplotlib.cm import ScalarMappable  # noqa: PLC0415
    from matplotlib.colors import LogNorm, Normalize  # noqa: PLC0415

    scale = (LogNorm if logarithmic else Normalize)(*limits)
    lie = "horizontal" if horizontal else "vertical"
    bar = figure.colorbar(ScalarMappable(scale, colormap), cax=axes, orientation=lie)
    if logarithmic:
        ticks = _round_ticks(limits)
        bar.set_ticks(ticks, labels=[f"{tick:.3g}" for tick in ticks])
        bar.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label(label, color=FAINT_INK, size=10)
    axes.tick_params(colors=FAINT_INK, labelsize=9)


def _round_ticks(limits: tuple[float, float]) -> list[float]:
    """1, 2, 5, 10, ... between limits, finer where fewer than three lie there; else the limits themselves."""
    low, high = limits
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), range(1, 10)):
        ticks = [step * 10.0**decade for decade in decades for step in steps if low <= step * 10.0**decade <= high]
        if len(ticks) > 2:
            return ticks
    return [low, high]


def angle_limits(degrees: Any) -> tuple[float, float]:
    """Ends of an axis of angles: those of the values, with a little room, never equal."""
    if not len(degrees):
        return -1.0, 1.0
    low, high = float(degrees.min()), float(degrees.max())
    room = max(0.03 * (high - low), 0.5)
    return low - room, high + room


def angle_axis(axes: Any, degrees: Any, which: str) -> None:
    """Limits that fit the values, and ticks at round parts of a turn.

    Args:
        axes: of matplotlib.
        degrees: (N,) the values.
        which: "x" or "y".
    """
    from matplotlib.ticker import MultipleLocator  # noqa: PLC0415

    low, high = angle_limits(degrees)
    step = next((step for step in (1, 2, 5, 10, 15, 30, 45) if (high - low) / step <= _MOST_TICKS), 90)
    (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)
    (axes.xaxis if which == "x" else axes.yaxis).set_major_locator(MultipleLocator(step))


def heading(figure: Any, title: str, subtitle: str) -> None:
    """Two lines at the upper left."""
    height_px = figure.get_size_inches()[1] * _DPI
    figure.text(0.02, 1 - 16 / height_px, title, color=INK, size=15, weight="bold", va="top")
    figure.text(0.02, 1 - 42 / height_px, subtitle, color=FAINT_INK, size=10, va="top")


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure as PNG; the file appears whole or not at all.

    Raises:
        ExportError: the name does not end in .png, or the file cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() != ".png":
        raise ExportError(f"a picture is written as .png, found {target.name!r}")
    with whole_file(target) as stream:
        figure.savefig(stream, format="png", dpi=_DPI, facecolor=figure.get_facecolor())
    return target
