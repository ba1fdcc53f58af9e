"""Numba kernels of the cloud: points written to their columns, voxels hashed."""
