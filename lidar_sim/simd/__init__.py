"""SIMD for kernels: a vector type for Numba, its operators, and loads and stores by address.

``Vec(dtype, n)`` is an LLVM vector of n lanes. It exists inside nopython code only; there is no Python
fallback. Everything is plain LLVM IR, which LLVM turns into AVX-512, AVX2, SSE or NEON as the machine has it.

=====================  ==================================================================================
``load8_f64(p, i)``    lanes from memory: element i onwards of an array at address p (also f32, i32; 16, 1)
``store(p, i, v)``     lanes, or one number of exactly that type, to memory
``splat8(x)``          the same number in every lane
``+ - * / < <= ...``   lane by lane; a plain number on either side is splatted
``& | ^ << >>``        of masks and of integer vectors
``where(m, x, y)``     lane by lane: x where the mask is set, else y
``fma(x, y, z)``       x * y + z, rounded once where the machine can do that fast, else twice
``bits(m)``            mask to integer, lane 0 lowest; ``mask8(b)`` is the way back
``lowest, highest``    smallest and largest of the lanes, as a number
=====================  ==================================================================================

In kernels compiled with ``strict_jit``, operators carry no fast-math flags: LLVM may neither fuse nor reorder them,
so that the same formula gives the same bits wherever it is inlined and however many lanes it has. ``fma`` is asked
for by name. (``jit`` puts the flags of the house on them as on all arithmetic.)

Addresses are int64 (``address(array)``): passing one instead of an array (7 machine words) between small kernels
doubled the speed of the ray caster. Nothing is checked: the caller keeps arrays alive and indices inside.

Numba's side of this is its extension API (https://numba.readthedocs.io/en/stable/extending/low-level.html),
LLVM's the language reference (https://llvm.org/docs/LangRef.html#vector-type).
"""

from __future__ import annotations

from lidar_sim.simd.lanes import (
    Vec,
    absolute,
    bits,
    constant_f64,
    count_bits,
    fma,
    highest,
    lowest,
    lowest_bit,
    mask8,
    maximum,
    minimum,
    shuffle,
    splat1,
    splat8,
    splat16,
    square_root,
    to_f32,
    to_f64,
    where,
)
from lidar_sim.simd.memory import (
    address,
    gather8_f64,
    load8_f32,
    load8_f64,
    load8_i32,
    load16_f32,
    load16_f64,
    load16_i32,
    load_f32,
    load_f64,
    load_i32,
    load_i64,
    prefetch,
    stack_memory,
    store,
)

__all__ = [
    "Vec",
    "absolute",
    "address",
    "bits",
    "constant_f64",
    "count_bits",
    "fma",
    "gather8_f64",
    "highest",
    "load8_f32",
    "load8_f64",
    "load8_i32",
    "load16_f32",
    "load16_f64",
    "load16_i32",
    "load_f32",
    "load_f64",
    "load_i32",
    "load_i64",
    "lowest",
    "lowest_bit",
    "mask8",
    "maximum",
    "minimum",
    "prefetch",
    "shuffle",
    "splat1",
    "splat8",
    "splat16",
    "square_root",
    "stack_memory",
    "store",
    "to_f32",
    "to_f64",
    "where",
]
