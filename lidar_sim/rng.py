"""Counter-based random numbers: a function of (seed, sensor, firing index, stream), nothing else.

Philox-4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC'11);
the tests hold its published known answers. There is no state: threads, order and batch size cannot matter.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from lidar_sim.jit import inline_jit

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
# 2^-32 steps, offset by half a step: never 0 and never 1, so that log() is finite.
_UNIT = 1.0 / 4294967296.0


@inline_jit
def philox(c0, c1, c2, c3, k0, k1):  # type: ignore[no-untyped-def]
    """Four 32-bit words (in uint64) from a 128-bit counter and a 64-bit key, all given as uint64 < 2^32."""
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ k0, p1 & _LOW, (p0 >> _32) ^ c3 ^ k1, p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@inline_jit
def draw(key, index, stream):  # type: ignore[no-untyped-def]
    """Four uniforms in (0, 1) for one firing and stream.

    Args:
        key: uint64 from ``make_key``.
        index: int64 firing index.
        stream: int, one number per use (range noise, drop-out, ...), so that uses never share numbers.
    """
    i = np.uint64(index)
    k = np.uint64(key)
    a, b, c, d = philox(i & _LOW, i >> _32, np.uint64(stream), np.uint64(0), k & _LOW, k >> _32)
    return (
        (np.float64(a) + 0.5) * _UNIT,
        (np.float64(b) + 0.5) * _UNIT,
        (np.float64(c) + 0.5) * _UNIT,
        (np.float64(d) + 0.5) * _UNIT,
    )


@inline_jit
def draw_normal(key, index, stream):  # type: ignore[no-untyped-def]
    """Four independent standard normals for one firing and stream (Box and Muller 1958)."""
    a, b, c, d = draw(key, index, stream)
    r = math.sqrt(-2.0 * math.log(a))
    s = math.sqrt(-2.0 * math.log(c))
    return (
        r * math.cos(2.0 * math.pi * b),
        r * math.sin(2.0 * math.pi * b),
        s * math.cos(2.0 * math.pi * d),
        s * math.sin(2.0 * math.pi * d),
    )


def make_key(seed: int, sensor: str) -> int:
    """64-bit key of one sensor under one seed; equal names and seeds give equal noise.

    Args:
        seed: any integer.
        sensor: name of the mounted sensor.
    """
    digest = hashlib.blake2b(f"{seed}/{sensor}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
