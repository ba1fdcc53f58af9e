"""Where and when the beams of a device fire, in the sensor frame: one class per kind of pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lidar_sim.errors import ProfileError
from lidar_sim.pattern.pattern import Pattern
from lidar_sim.pattern.raster import Raster
from lidar_sim.pattern.rosette import Rosette, RosetteMirror
from lidar_sim.pattern.spinning_free import FreeSpinning
from lidar_sim.pattern.spinning_locked import LockedSpinning
from lidar_sim.profile.schema import DeviceProfile

__all__ = ["PATTERNS", "Pattern", "make_pattern"]

PATTERNS: dict[str, Callable[[Any, int], Pattern]] = {
    "spinning_free": FreeSpinning,
    "spinning_locked": LockedSpinning,
    "rosette": Rosette,
    "rosette_mirror": RosetteMirror,
    "raster": Raster,
}
"""Kind of pattern in a profile -> what builds it from that section and a seed."""


def make_pattern(profile: DeviceProfile, seed: int = 0) -> Pattern:
    """Pattern of a device.

    Args:
        profile: the device.
        seed: seed of what is random from power-on to power-on (start phases and speed errors of rotors).

    Raises:
        ProfileError: the profile describes a device that cannot work.
    """
    try:
        return PATTERNS[profile.pattern.kind](profile.pattern, seed)
    except ProfileError as error:
        raise ProfileError(f"{profile.name}: {error}") from None
