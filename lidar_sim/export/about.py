"""What a file says in its comment about the scan in it."""

from __future__ import annotations

import json
from typing import Any

from lidar_sim.records import Scan

_MARK = "lidar_sim "


def comment(scan: Scan) -> str:
    """One line of ASCII: device, sensor, frame number, stamp and frame of the scan, as JSON after a mark."""
    about = {
        "device": scan.device,
        "sensor": scan.sensor,
        "frame_number": int(scan.frame_number),
        "stamp_ns": int(scan.stamp_ns),
        "frame": scan.frame,
    }
    return _MARK + json.dumps(about)


def parse_comment(text: str) -> dict[str, Any]:
    """Inverse of ``comment``; empty for comments that are not ours."""
    if not text.startswith(_MARK):
        return {}
    try:
        about = json.loads(text[len(_MARK) :])
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}
