"""The fast caster: bounding volume hierarchies, packets of rays, geoms in motion."""

from __future__ import annotations

from lidar_sim.cast.bvh.caster import BvhCaster

__all__ = ["BvhCaster"]
