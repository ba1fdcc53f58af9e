"""The profile in force as YAML text, as a manifest keeps it."""

from __future__ import annotations

import yaml

from lidar_sim.profile.schema import DeviceProfile

_LINE_WIDTH = 120


def dump_profile(profile: DeviceProfile) -> str:
    """YAML of a profile with its mode worked in; ``load_profile`` of that text in a file gives an equal profile.

    Values that the profile left at the schema's defaults are left out, as they were.
    """
    tree = profile.model_dump(mode="json", exclude_unset=True)
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=_LINE_WIDTH, default_flow_style=None)
