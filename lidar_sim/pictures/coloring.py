"""What colours a cloud: a quantity of each point, its limits, its palette."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lidar_sim.errors import OptionError, unknown_name
from lidar_sim.fields import FIELDS
from lidar_sim.records import F32, F64, Scan

# Share of a palette that is used: its darkest end would drown in the dark background.
_USED = {"turbo": (0.08, 0.96), "turbo_r": (0.04, 0.92), "inferno": (0.16, 1.0), "viridis": (0.1, 1.0)}
_STEPS = 256

_DISTANCES = ("distance", "range", "depth")
_LEAST_LOGARITHMIC = 0.01  # m

_PALETTES = {"height": "turbo", **dict.fromkeys(_DISTANCES, "turbo_r"), "intensity": "inferno", "t": "viridis"}
_LABELS = {"height": "height m", "distance": "distance from the sensor m"}


@dataclass(frozen=True, slots=True)
class Coloring:
    """Colours of the points of one cloud.

    Attributes:
        rgb: (N, 3) 0..1.
        limits: values at the palette's two ends.
        palette: name of the matplotlib palette.
        label: the quantity with its unit.
        logarithmic: equal steps of colour are equal ratios, so that what is near does not drown in what is far.
    """

    rgb: F32
    limits: tuple[float, float]
    palette: str
    label: str
    logarithmic: bool = False


def color_by(quantity: str, scan: Scan, points: F64, eye: F64) -> Coloring:
    """Colours of a scan's points.

    Args:
        quantity: "height", "distance", or any field of the scan.
        scan: gives the fields.
        points: (N, 3) m, its points in the world frame.
        eye: (3,) m, the sensor in the world frame.

    Raises:
        OptionError: a quantity that the scan does not have.
    """
    if quantity == "height":
        values = points[:, 2]
    elif quantity == "distance":
        values = np.linalg.norm(points - eye, axis=1)
    elif quantity in scan.fields:
        values = scan[quantity].astype(np.float64)
    else:
        raise OptionError(unknown_name("quantity to colour by", quantity, ["height", "distance", *scan.fields]))
    unit = FIELDS[quantity].unit if quantity in FIELDS else ""
    label = _LABELS.get(quantity, f"{quantity} {unit}".strip())
    return paint(values, _PALETTES.get(quantity, "turbo"), label, logarithmic=quantity in _DISTANCES)


def paint(values: F64, palette: str, label: str, *, logarithmic: bool = False) -> Coloring:
    """Colours of any values (...,); a few outliers on either side do not stretch the scale.

    Args:
        values: not finite ones get any colour.
        palette: name of a matplotlib palette.
        label: for the scale.
        logarithmic: see ``Coloring``; the values must be greater than 0.
    """
    limits = robust_limits(values)
    if logarithmic:
        limits = (max(limits[0], _LEAST_LOGARITHMIC), max(limits[1], 2 * _LEAST_LOGARITHMIC))
        scaled, ends = np.log(np.fmax(values, limits[0])), (float(np.log(limits[0])), float(np.log(limits[1])))
        return Coloring(palette_rgb(scaled, ends, palette), limits, palette, label, logarithmic)
    return Coloring(palette_rgb(values, limits, palette), limits, palette, label)


def robust_limits(values: Any) -> tuple[float, float]:
    """First and last percent of the finite values, never equal."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    low, high = np.percentile(finite, [1.0, 99.0])
    return (float(low), float(high)) if high - low > 1e-6 else (float(low) - 0.5, float(low) + 0.5)


def palette_rgb(values: Any, limits: tuple[float, float], palette: str) -> F32:
    """(..., 3) colours of values on a palette."""
    scaled = np.clip((np.nan_to_num(values) - limits[0]) / (limits[1] - limits[0]), 0.0, 1.0)
    return np.asarray(palette_map(palette)(scaled)[..., :3], np.float32)


def palette_map(palette: str) -> Any:
    """The matplotlib colormap behind a palette's name, without the ends that a dark background would swallow."""
    from matplotlib import colormaps  # noqa: PLC0415  (an extra)
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    return ListedColormap(colormaps[palette](np.linspace(*_USED[palette], _STEPS)), palette)
