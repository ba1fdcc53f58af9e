"""Numba kernels of the patterns: exact fixed-point time, and one file per family of patterns."""
