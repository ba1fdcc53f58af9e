"""Why a benchmark may refuse to report; apart, so that naming it costs no heavy import."""

from __future__ import annotations

from lidar_sim.errors import LidarSimError


class NoHitsError(LidarSimError):
    """Not one ray hit anything: the speed would be that of looking at nothing."""
