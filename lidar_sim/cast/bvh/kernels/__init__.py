"""Compiled kernels of the BVH caster: addresses and numbers in, numbers out."""
