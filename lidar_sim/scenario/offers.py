"""What a device's scans can be written as, fields and images: told before a run, not at its first frame."""

from __future__ import annotations

from collections.abc import Sequence

from lidar_sim.errors import OptionError, nearest_hint
from lidar_sim.fields import FIELDS, LAYOUTS, select_fields
from lidar_sim.pattern import make_pattern
from lidar_sim.profile import DeviceProfile


def offered_fields(profile: DeviceProfile) -> tuple[str, ...]:
    """Names of the fields that a device's scans have."""
    absent = set() if profile.range.planar else {"depth"}
    if make_pattern(profile).ring_to_row is None:
        absent.add("row")
    return tuple(name for name in FIELDS if name not in absent)


def check_fields(profile: DeviceProfile, fields: str | Sequence[str] | None) -> None:
    """Accept fields that a device's scans have; of a layout, the writers take those that they have.

    Args:
        profile: of the device.
        fields: layout or names that were asked for, None = the format's own choice.

    Raises:
        OptionError: an unknown field, none at all, or one that the device does not give.
    """
    if fields is None:
        return
    chosen = select_fields(fields if isinstance(fields, str) else list(fields))
    if isinstance(fields, str) and fields in LAYOUTS:
        return
    offered = offered_fields(profile)
    for entry in chosen:
        if entry.name not in offered:
            hint = nearest_hint(entry.name, offered)
            raise OptionError(f"{profile.name} gives no field {entry.name!r}{hint}; it gives: {', '.join(offered)}")


def image_field(fields: str | Sequence[str] | None) -> str:
    """The field that an image holds: "range" where it is named and "depth" is not, else "depth".

    Args:
        fields: layout or names that were asked for.
    """
    names = [fields] if isinstance(fields, str) else list(fields or ())
    return "range" if "range" in names and "depth" not in names else "depth"


def check_image(profile: DeviceProfile, field: str) -> None:
    """Accept a device whose scans can be written as images of a field.

    Args:
        profile: of the device.
        field: "depth" or "range".

    Raises:
        OptionError: no depth, or no rows and columns.
    """
    pattern = make_pattern(profile)
    if pattern.frame_shape(0) is None:
        raise OptionError(f"{profile.name} has no rows and columns, which an image (png) needs: choose pcd, ply or npz")
    if field == "depth" and not profile.range.planar:
        raise OptionError(
            f"{profile.name} has no depth for an image (png); fields=range (--fields range) writes its range"
        )
