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

# Times within a frame are u32 ns in scans and files; a free-running frame is up to one sequence longer than nominal.
_LONGEST_FRAME_NS = 4_200_000_000

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
        pattern = PATTERNS[profile.pattern.kind](profile.pattern, seed)
    except ProfileError as error:
        raise ProfileError(f"{profile.name}: {error}") from None
    if pattern.frame_period_ns >= _LONGEST_FRAME_NS:
        raise ProfileError(
            f"{profile.name}: a frame lasts {pattern.frame_period_ns * 1e-9:g} s; "
            f"valid: below {_LONGEST_FRAME_NS * 1e-9:g} s"
        )
    return pattern
