"""Compiled kernels of the casters: numbers in, numbers out."""
