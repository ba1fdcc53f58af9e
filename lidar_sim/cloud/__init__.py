"""Scans put together from the beams of a frame, carried between frames, gathered into maps."""

from lidar_sim.cloud.assemble import Assembler
from lidar_sim.cloud.motion import FRAMES, deskew, to_frame
from lidar_sim.cloud.voxel import VoxelMap, accumulate

__all__ = ["FRAMES", "Assembler", "VoxelMap", "accumulate", "deskew", "to_frame"]
