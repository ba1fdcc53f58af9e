"""What the kernels do not know, SDF geoms and flexes, asked of MuJoCo itself."""

from __future__ import annotations

import mujoco
import numpy as np

from lidar_sim.cast.multiray import MultiRay
from lidar_sim.cast.scene import Scene
from lidar_sim.records import Hits, Keyframe, RayBatch


class Foreign:
    """SDF geoms and flexes of a scene.

    Args:
        caster: of a scene that holds nothing else.
    """

    def __init__(self, caster: MultiRay) -> None:
        self._caster = caster

    @classmethod
    def of(cls, scene: Scene, threads: int | None) -> Foreign | None:
        """Of a scene; None if it shows no such thing."""
        is_sdf = scene.model.geom_type == mujoco.mjtGeom.mjGEOM_SDF
        if not (scene.geom_visible & is_sdf).any() and not scene.flex_visible.any():
            return None
        part = scene.only(is_sdf)
        part.flex_visible = scene.flex_visible
        return cls(MultiRay(part, threads=threads))

    def pose(self, before: Keyframe, after: Keyframe) -> None:
        """Let everything stand as at ``after``."""
        self._caster.pose(before, after)

    def nearer(self, known: Hits, rays: RayBatch) -> Hits:
        """Row by row the nearer hit; at equal distance a geom before a flex, the lower geom before the higher."""
        other = self._caster.cast(rays)
        is_lower = (other.geom >= 0) & (other.geom < known.geom)
        wins = (other.distance < known.distance) | ((other.distance == known.distance) & is_lower)
        return Hits(
            distance=np.where(wins, other.distance, known.distance),
            geom=np.where(wins, other.geom, known.geom),
            body=np.where(wins, other.body, known.body),
            flex=np.where(wins, other.flex, known.flex),
            normal=np.where(wins[:, None], other.normal, known.normal),
            cos_incidence=np.where(wins, other.cos_incidence, known.cos_incidence),
        )
