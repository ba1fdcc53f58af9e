"""Device profiles: a YAML file, checked, as frozen values."""

from lidar_sim.profile.dump import dump_profile
from lidar_sim.profile.load import load_profile, shipped_profiles
from lidar_sim.profile.schema import DeviceProfile

__all__ = ["DeviceProfile", "dump_profile", "load_profile", "shipped_profiles"]
