"""Which devices give images, and of what: told before a run, not at its first frame."""

from __future__ import annotations

from collections.abc import Sequence

from lidar_sim.errors import OptionError
from lidar_sim.pattern import make_pattern
from lidar_sim.profile import DeviceProfile


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
