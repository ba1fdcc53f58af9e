"""What every caster offers."""

from __future__ import annotations

from typing import ClassVar, Protocol

from lidar_sim.cast.scene import Scene
from lidar_sim.records import Hits, Keyframe, RayBatch


class Caster(Protocol):
    """Finds what rays hit; one row of the table ``CASTERS``."""

    name: ClassVar[str]
    moving_geoms: ClassVar[bool]
    """True if geoms are moved to each ray's own phase; False if they stand as at the keyframe ``after``."""
    per_ray_origin: ClassVar[bool]
    """True if each ray may have its own origin at no loss of exactness."""

    def __init__(self, scene: Scene, *, threads: int | None = None) -> None:
        """Make ready for a scene; ``threads`` None = all that Numba has."""

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Put geoms and flexes where they stand between two keyframes (may be the same one)."""

    def cast(self, rays: RayBatch) -> Hits:
        """Nearest surface along each ray."""
