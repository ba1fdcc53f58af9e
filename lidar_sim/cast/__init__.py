"""What rays hit: scene, casters, and rays in bulk without a sensor."""

from __future__ import annotations

from lidar_sim.cast.brute import Brute
from lidar_sim.cast.bulk import cast_rays
from lidar_sim.cast.caster import Caster
from lidar_sim.cast.motion import Motion
from lidar_sim.cast.multiray import MultiRay
from lidar_sim.cast.scene import Scene
from lidar_sim.cast.table import CASTERS, EXACT_CASTERS, gives_faces, make_caster, tolerance_m
from lidar_sim.cast.view import View, Views

__all__ = [
    "CASTERS",
    "EXACT_CASTERS",
    "Brute",
    "Caster",
    "Motion",
    "MultiRay",
    "Scene",
    "View",
    "Views",
    "cast_rays",
    "gives_faces",
    "make_caster",
    "tolerance_m",
]
