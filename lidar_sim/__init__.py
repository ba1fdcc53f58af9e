"""LiDAR and ray-casting simulator on MuJoCo: every beam fired at its own time.

The rooms, in the order the data goes:

    profile    a device's YAML file, checked              -> DeviceProfile
    pattern    where and when its beams fire              -> Firings   (sensor frame)
    schedule   which of them are due, posed               -> RayBatch  (world frame)
    cast       what they hit                              -> Hits      (truth)
    measure    what the device reports                    -> Returns
    cloud      put together, frames, deskew, maps         -> Scan
    export     written: PCD, PLY, NPZ, TUM

``records`` holds what is handed on, ``simulator`` hands it on. Above them: ``scenario`` (a run as YAML, motion,
recording), ``pictures``, ``bench`` and ``cli``. Public names are loaded when they are first used, so that
``import lidar_sim`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lidar_sim.cast import cast_rays
    from lidar_sim.cloud import VoxelMap, accumulate, deskew, to_frame
    from lidar_sim.errors import LidarSimError
    from lidar_sim.export import write
    from lidar_sim.profile import DeviceProfile, load_profile, shipped_profiles
    from lidar_sim.records import Hits, PoseTrack, Scan
    from lidar_sim.simulator import DepthCamera, Lidar, Rig

try:
    __version__ = version("lidar-sim")
except PackageNotFoundError:  # a bare source tree on the path
    __version__ = "0+unknown"

_ROOM_OF = {
    "DepthCamera": "simulator",
    "DeviceProfile": "profile",
    "Hits": "records",
    "Lidar": "simulator",
    "LidarSimError": "errors",
    "PoseTrack": "records",
    "Rig": "simulator",
    "Scan": "records",
    "VoxelMap": "cloud",
    "accumulate": "cloud",
    "cast_rays": "cast",
    "deskew": "cloud",
    "load_profile": "profile",
    "shipped_profiles": "profile",
    "to_frame": "cloud",
    "write": "export",
}

__all__ = [
    "DepthCamera",
    "DeviceProfile",
    "Hits",
    "Lidar",
    "LidarSimError",
    "PoseTrack",
    "Rig",
    "Scan",
    "VoxelMap",
    "__version__",
    "accumulate",
    "cast_rays",
    "deskew",
    "load_profile",
    "shipped_profiles",
    "to_frame",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'lidar_sim' has no attribute {name!r}")
    return getattr(import_module(f"lidar_sim.{_ROOM_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
