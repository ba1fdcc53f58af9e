"""Which beams are due in an interval of simulation time, posed in the world at their own instants."""

from lidar_sim.schedule.clock import Clock, simulation_ns
from lidar_sim.schedule.mounts import Mount, Offset, parse_offset, resolve_mount
from lidar_sim.schedule.poses import Kinematics, PoseSource, Snapshot
from lidar_sim.schedule.scheduler import MOTIONS, Scheduler

__all__ = [
    "MOTIONS",
    "Clock",
    "Kinematics",
    "Mount",
    "Offset",
    "PoseSource",
    "Scheduler",
    "Snapshot",
    "parse_offset",
    "resolve_mount",
    "simulation_ns",
]
