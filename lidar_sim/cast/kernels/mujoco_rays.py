"""MuJoCo's ray functions, called by C address for many rays."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lidar_sim.jit import get_thread_id, inline_jit, jit, parallel_jit, prange, types

_P = types.intp
_BYTE = types.uint8
_INT = types.int32
_NUM = types.float64

# MuJoCo names its arguments so; kept here, beside the signatures, to be compared with the installed library.
SIGNATURES = {
    "mj_ray": (
        _NUM(_P, _P, _P, _P, _P, _BYTE, _INT, _P, _P),
        ("m", "d", "pnt", "vec", "geomgroup", "flg_static", "bodyexclude", "geomid", "normal"),
    ),
    "mj_multiRay": (
        types.void(_P, _P, _P, _P, _P, _BYTE, _INT, _P, _P, _P, _INT, _NUM),
        (
            *("m", "d", "pnt", "vec", "geomgroup", "flg_static", "bodyexclude"),
            *("geomid", "dist", "normal", "nray", "cutoff"),
        ),
    ),
    "mj_rayFlex": (
        _NUM(_P, _P, _INT, _BYTE, _BYTE, _BYTE, _BYTE, _INT, _P, _P, _P, _P),
        (
            *("m", "d", "flex_layer", "flg_vert", "flg_edge", "flg_face", "flg_skin"),
            *("flexid", "pnt", "vec", "vertid", "normal"),
        ),
    ),
}

# Geoms whose bounding sphere lies beyond the cutoff are left out: nothing is that far away.
_NO_CUTOFF = 1e300
_NO_BODY = -1
_F64_BYTES = 8
_I32_BYTES = 4
_VEC_BYTES = 24


class Calls(NamedTuple):
    """MuJoCo as a kernel sees it: functions by address and the model they work on."""

    ray: Any
    multi_ray: Any
    flex_ray: Any
    model: int
    """Address of the mjModel."""
    geomgroup: int
    """Address of six bytes: which geom groups are visible."""
    static: int
    """1 = static geoms are visible."""


@inline_jit
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def _cast_geoms(calls, data, rays, start, stop, shared_from):
    """MuJoCo's own distances (-1 = none) of the rays [start, stop)."""
    group, static, none = np.intp(calls.geomgroup), np.uint8(calls.static), np.int32(_NO_BODY)
    origin, direction = rays.origin.ctypes.data, rays.direction.ctypes.data
    distance, geom, normal = rays.distance.ctypes.data, rays.geom.ctypes.data, rays.normal.ctypes.data
    if stop - start >= shared_from:
        calls.multi_ray(
            np.intp(calls.model),
            np.intp(data),
            np.intp(origin + _VEC_BYTES * start),
            np.intp(direction + _VEC_BYTES * start),
            group,
            static,
            none,
            np.intp(geom + _I32_BYTES * start),
            np.intp(distance + _F64_BYTES * start),
            np.intp(normal + _VEC_BYTES * start),
            np.int32(stop - start),
            _NO_CUTOFF,
        )
        return
    for i in range(start, stop):
        rays.distance[i] = calls.ray(
            np.intp(calls.model),
            np.intp(data),
            np.intp(origin + _VEC_BYTES * i),
            np.intp(direction + _VEC_BYTES * i),
            group,
            static,
            none,
            np.intp(geom + _I32_BYTES * i),
            np.intp(normal + _VEC_BYTES * i),
        )


@jit
def _cast_flexes(calls, data, rays, start, stop, flexes, scratch):
    """Let flexes (id, edges seen, faces seen) that are nearer than the geoms win; normals face the sensor."""
    off = np.uint8(0)
    for i in range(start, stop):
        rays.flex[i] = -1
    for f in range(len(flexes)):
        for i in range(start, stop):
            distance = calls.flex_ray(
                np.intp(calls.model),
                np.intp(data),
                np.int32(0),
                off,
                np.uint8(flexes[f, 1]),
                np.uint8(flexes[f, 2]),
                off,
                np.int32(flexes[f, 0]),
                np.intp(rays.origin.ctypes.data + _VEC_BYTES * i),
                np.intp(rays.direction.ctypes.data + _VEC_BYTES * i),
                np.intp(0),
                np.intp(scratch.ctypes.data),
            )
            if distance >= 0.0 and (rays.distance[i] < 0.0 or distance < rays.distance[i]):
                rays.distance[i] = distance
                rays.geom[i] = -1
                rays.flex[i] = flexes[f, 0]
                towards = -_dot(scratch, rays.direction[i])
                for axis in range(3):
                    rays.normal[i, axis] = math.copysign(1.0, towards) * scratch[axis]


@jit
def _finish(rays, start, stop):
    """Turn MuJoCo's -1 into +inf and add the incidence."""
    for i in range(start, stop):
        if rays.distance[i] < 0.0:
            rays.distance[i] = np.inf
            rays.geom[i] = -1
            for axis in range(3):
                rays.normal[i, axis] = 0.0
        rays.cos_incidence[i] = abs(_dot(rays.normal[i], rays.direction[i]))


@jit
def cast_piece(calls, data, rays, start, stop, shared_from, flexes, scratch):
    """Rays [start, stop) against geoms, then flexes."""
    _cast_geoms(calls, data, rays, start, stop, shared_from)
    _cast_flexes(calls, data, rays, start, stop, flexes, scratch)
    _finish(rays, start, stop)


@jit
def cast_pieces_alone(calls, data, rays, start, stop, shared_from, flexes, scratch) -> Any:
    """``cast_pieces`` on the calling thread only; for small batches, and safe to call from many threads."""
    for k in range(len(start)):
        cast_piece(calls, data[0], rays, start[k], stop[k], shared_from, flexes, scratch[0])


@parallel_jit
def cast_pieces(calls, data, rays, start, stop, shared_from, flexes, scratch) -> Any:
    """All pieces, shared out among the threads, each of which has its own mjData.

    Args:
        calls: ``Calls``.
        data: (T,) intp addresses of one mjData a thread.
        rays: ``batch.Rays``.
        start: (K,) i64 first row of each piece.
        stop: (K,) i64 end of each piece.
        shared_from: pieces of at least so many rays, which must have one origin, go through mj_multiRay.
        flexes: (F, 3) i32 flex id, edges visible, faces visible.
        scratch: (T, 3) f64, one row a thread.
    """
    for k in prange(len(start)):
        thread = get_thread_id()
        cast_piece(calls, data[thread], rays, start[k], stop[k], shared_from, flexes, scratch[thread])
