"""The one table of point fields: name, type in memory and in files, unit, meaning."""

from __future__ import annotations

from dataclasses import dataclass

from lidar_sim.errors import OptionError, unknown_name


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a point.

    Attributes:
        name: its name in a Scan and in files.
        dtype: NumPy type in memory.
        file_dtype: NumPy type in files.
        unit: unit, empty for counts and ids.
        truth: True for what only the simulator knows, False for what the device reports.
        meaning: one line.
    """

    name: str
    dtype: str
    file_dtype: str
    unit: str
    truth: bool
    meaning: str


_TABLE = (
    Field("x", "f8", "f4", "m", False, "forward in the sensor frame"),
    Field("y", "f8", "f4", "m", False, "left in the sensor frame"),
    Field("z", "f8", "f4", "m", False, "up in the sensor frame"),
    Field("range", "f8", "f4", "m", False, "range as the device reports it"),
    Field("depth", "f8", "f4", "m", False, "planar depth along the optical axis (x of the sensor frame)"),
    Field("intensity", "f4", "f4", "", False, "reflectivity as the device encodes it, 0..255"),
    Field("signal", "f4", "f4", "", False, "received signal; 1 = white wall at 1 m met squarely"),
    Field("ring", "u2", "u2", "", False, "laser row, 0 = lowest elevation; images: 0 = top row"),
    Field("row", "u2", "u2", "", False, "row of the organised view, 0 = top"),
    Field("column", "u4", "u4", "", False, "column within the frame"),
    Field("t", "u4", "u4", "ns", False, "firing time since the scan's stamp"),
    Field("return_number", "u1", "u1", "", False, "1 = first return of its firing"),
    Field("flags", "u1", "u1", "", False, "reserved"),
    Field("firing", "i8", "i8", "", False, "number of the beam since power-on"),
    Field("true_distance", "f8", "f4", "m", True, "distance from the beam's origin to the surface"),
    Field("geom", "i4", "i4", "", True, "geom that was hit, -1 = none"),
    Field("body", "i4", "i4", "", True, "body that was hit, -1 = none"),
    Field("flex", "i4", "i4", "", True, "flex that was hit, -1 = none"),
    Field("normal_x", "f4", "f4", "", True, "surface normal in the world frame"),
    Field("normal_y", "f4", "f4", "", True, "surface normal in the world frame"),
    Field("normal_z", "f4", "f4", "", True, "surface normal in the world frame"),
    Field("cos_incidence", "f4", "f4", "", True, "|cos| between beam and surface normal"),
    Field("velocity_x", "f4", "f4", "m/s", True, "velocity of the surface point in the world frame"),
    Field("velocity_y", "f4", "f4", "m/s", True, "velocity of the surface point in the world frame"),
    Field("velocity_z", "f4", "f4", "m/s", True, "velocity of the surface point in the world frame"),
    Field("radial_velocity", "f4", "f4", "m/s", True, "Doppler velocity along the beam, positive = receding"),
)

FIELDS: dict[str, Field] = {entry.name: entry for entry in _TABLE}

MEASURED: tuple[str, ...] = tuple(entry.name for entry in _TABLE if not entry.truth)
TRUTH: tuple[str, ...] = tuple(entry.name for entry in _TABLE if entry.truth)

LAYOUTS: dict[str, tuple[str, ...]] = {
    "xyz": ("x", "y", "z"),
    "xyzi": ("x", "y", "z", "intensity"),
    "device": ("x", "y", "z", "intensity", "range", "ring", "column", "t", "return_number"),
    "full": MEASURED + TRUTH,
}
"""Named selections of fields for writers."""


def select_fields(names: str | tuple[str, ...] | list[str]) -> tuple[Field, ...]:
    """Fields of a layout name, or of a list of field names (also comma-separated), in that order.

    Raises:
        OptionError: a name that is neither a layout nor a field, or a field named twice.
    """
    if isinstance(names, str):
        names = LAYOUTS[names] if names in LAYOUTS else tuple(name.strip() for name in names.split(","))
    for name in names:
        if name not in FIELDS:
            raise OptionError(unknown_name("field", name, [*FIELDS, *LAYOUTS]))
    if not names:
        raise OptionError("no field is named: name one at least")
    if len(set(names)) != len(names):
        raise OptionError(f"a field is named twice in {', '.join(names)}")
    return tuple(FIELDS[name] for name in names)
