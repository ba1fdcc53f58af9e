"""What a device profile says, in the words of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from lidar_sim.profile import DeviceProfile
from lidar_sim.profile.schema import Raster, SpinningFree, SpinningLocked

SECTIONS = ("pattern", "range", "noise", "beam", "nominal")
STATUSES = ("primary", "secondary", "computed", "unverified")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a profile.

    Attributes:
        name: its key, with the unit in it; list entries that are mappings as ``wedges.0.rpm``.
        text: the value, written out.
        source: title of where it comes from; empty for a default of the schema.
        status: how far the source can be trusted; "default" for a default of the schema.
    """

    name: str
    text: str
    source: str
    status: str


def values(profile: DeviceProfile, section: str) -> list[Value]:
    """Every value of one section with its source, those of the file first, then the schema's defaults."""
    spec: Any = getattr(profile, section)
    if spec is None:
        return []
    given = [name for name in type(spec).model_fields if name in spec.model_fields_set - {"kind", "source"}]
    defaults = [name for name in type(spec).model_fields if name not in spec.model_fields_set]
    rows = [row for name in given for row in _given(profile, spec, name)]
    return rows + [Value(name, _text(getattr(spec, name)), "", "default") for name in defaults]


def source_counts(profile: DeviceProfile) -> Counter[str]:
    """Number of values by the status of their source."""
    every = (value for section in SECTIONS for value in values(profile, section))
    return Counter(value.status for value in every if value.status != "default")


def frame_rate_hz(profile: DeviceProfile) -> float:
    """Frames per second in the profile's mode."""
    pattern = profile.pattern
    if isinstance(pattern, SpinningFree):
        return pattern.rpm / 60.0
    if isinstance(pattern, SpinningLocked | Raster):
        return pattern.rate_hz
    return pattern.frame_rate_hz


def rows(profile: DeviceProfile) -> int | None:
    """Rows of the organised view; None where the device has none."""
    pattern = profile.pattern
    if isinstance(pattern, Raster):
        return pattern.height_px
    if isinstance(pattern, SpinningFree | SpinningLocked):
        return len(pattern.elevation_deg)
    return None


def field_of_view(profile: DeviceProfile) -> str:
    """Horizontal by vertical, degrees."""
    return f"{profile.nominal.horizontal_fov_deg:g} x {profile.nominal.vertical_fov_deg:g}"


def ranges(profile: DeviceProfile) -> str:
    """Least to greatest range, metres."""
    return f"{profile.range.min_m:g} - {profile.range.max_m:g}"


def _given(profile: DeviceProfile, spec: Any, name: str) -> Iterator[Value]:
    keys = spec.source if isinstance(spec.source, dict) else {"rest": spec.source}
    source = profile.sources[keys[name if name in keys else "rest"]]
    for label, value in _flat(name, getattr(spec, name)):
        yield Value(label, _text(value), source.title, source.status)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        for i, entry in enumerate(value):
            for key in type(entry).model_fields:
                yield f"{name}.{i}.{key}", getattr(entry, key)
    else:
        yield name, value


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(_text(entry) for entry in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.10g}" if isinstance(value, float) else str(value)
