"""One run from a description: scene, robot, sensors, motion, recording."""

from lidar_sim.scenario.config import OutputConfig, ScenarioConfig
from lidar_sim.scenario.controller import ControllerDrive
from lidar_sim.scenario.drive import Sway, WaypointDrive
from lidar_sim.scenario.load import effective_beside, load_scenario, save_scenario
from lidar_sim.scenario.motion import Motion, Rest
from lidar_sim.scenario.record import Progress, record, run_scenario
from lidar_sim.scenario.recording import FolderInUseError, Recording
from lidar_sim.scenario.replay import QposReplay
from lidar_sim.scenario.world import build_model, bundled_models, find_model, initial_data

__all__ = [
    "ControllerDrive",
    "FolderInUseError",
    "Motion",
    "OutputConfig",
    "Progress",
    "QposReplay",
    "Recording",
    "Rest",
    "ScenarioConfig",
    "Sway",
    "WaypointDrive",
    "build_model",
    "bundled_models",
    "effective_beside",
    "find_model",
    "initial_data",
    "load_scenario",
    "record",
    "run_scenario",
    "save_scenario",
]
