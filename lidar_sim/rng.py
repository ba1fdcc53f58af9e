"""Counter-based random numbers: a function of (seed, sensor, firing index, stream), nothing else.

Philox-4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC'11);
the tests hold its published known answers. There is no state: threads, order and batch size cannot matter.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from lidar_sim.jit import inline_jit, jit

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
# 2^-32 steps, offset by half a step: never 0 and never 1, so that log() is finite.
_UNIT = 1.0 / 4294967296.0
# Where the two formulas for normals meet, in probability on both sides of 1/2.
_CENTRAL = 0.425


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
def _central_normal(q):  # type: ignore[no-untyped-def]
    """Normal of probability 1/2 + q, |q| <= 0.425."""
    r = 0.180625 - q * q
    above = 2.5090809287301226727e3 * r + 3.3430575583588128105e4
    above = (above * r + 6.7265770927008700853e4) * r + 4.5921953931549871457e4
    above = (above * r + 1.3731693765509461125e4) * r + 1.9715909503065514427e3
    above = (above * r + 1.3314166789178437745e2) * r + 3.3871328727963666080e0
    below = 5.2264952788528545610e3 * r + 2.8729085735721942674e4
    below = (below * r + 3.9307895800092710610e4) * r + 2.1213794301586595867e4
    below = (below * r + 5.3941960214247511077e3) * r + 6.8718700749205790830e2
    below = (below * r + 4.2313330701600911252e1) * r + 1.0
    return q * above / below


@inline_jit
def _outer_normal(q):  # type: ignore[no-untyped-def]
    """Normal of probability 1/2 + q, |q| > 0.425."""
    r = math.sqrt(-math.log(0.5 - abs(q))) - 1.6
    above = 7.74545014278341407640e-4 * r + 2.27238449892691845833e-2
    above = (above * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258e0
    above = (above * r + 3.64784832476320460504e0) * r + 5.76949722146069140550e0
    above = (above * r + 4.63033784615654529590e0) * r + 1.42343711074968357734e0
    below = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
    below = (below * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1
    below = (below * r + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0
    below = (below * r + 2.05319162663775882187e0) * r + 1.0
    return math.copysign(above / below, q)


@inline_jit
def normal_of(uniform):  # type: ignore[no-untyped-def]
    """Standard normal number of which ``uniform`` is the cumulative probability; relative error 1e-15.

    One uniform makes one normal, most of them without a logarithm. PPND16 of M. Wichura, Algorithm AS 241 (Applied
    Statistics 37, 1988), without its outermost branch, which the uniforms of ``draw`` (2^-33 and more) never reach.
    """
    q = uniform - 0.5
    return _central_normal(q) if abs(q) <= _CENTRAL else _outer_normal(q)


@inline_jit
def draw_normal(key, index, stream):  # type: ignore[no-untyped-def]
    """Four independent standard normals for one firing and stream."""
    a, b, c, d = draw(key, index, stream)
    return normal_of(a), normal_of(b), normal_of(c), normal_of(d)


@jit
def draw_many(key, index, stream) -> Any:  # type: ignore[no-untyped-def]
    """``draw`` for many firings (N,): (4, N) uniforms. The loop is simple enough for vector instructions."""
    uniform = np.empty((4, len(index)))
    for i in range(len(index)):
        a, b, c, d = draw(key, index[i], stream)
        uniform[0, i], uniform[1, i], uniform[2, i], uniform[3, i] = a, b, c, d
    return uniform


@jit
def normals_of(uniform) -> Any:  # type: ignore[no-untyped-def]
    """``normal_of`` for many (N,): the rule for all, in vector instructions, then the exceptions."""
    normal = np.empty(len(uniform))
    for i in range(len(uniform)):
        normal[i] = _central_normal(uniform[i] - 0.5)
    for i in range(len(uniform)):
        if abs(uniform[i] - 0.5) > _CENTRAL:
            normal[i] = _outer_normal(uniform[i] - 0.5)
    return normal


def make_key(seed: int, sensor: str) -> int:
    """64-bit key of one sensor under one seed; equal names and seeds give equal noise.

    Args:
        seed: any integer.
        sensor: name of the mounted sensor.
    """
    digest = hashlib.blake2b(f"{seed}/{sensor}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
