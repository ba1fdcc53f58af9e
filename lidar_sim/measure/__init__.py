"""What the device reports of what its beams hit: range limits, noise, quantisation, reflectivity."""

from lidar_sim.measure.measurement import Measurement

__all__ = ["Measurement"]
