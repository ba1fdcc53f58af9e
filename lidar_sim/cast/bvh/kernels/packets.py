"""Rays into packets, packets through the scene, hits back to where the rays stood."""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_sim.cast.bvh.kernels.boxes import reach_of
from lidar_sim.cast.bvh.kernels.frames import local_rays, world_normals
from lidar_sim.cast.bvh.kernels.layout import (
    ALL_LANES,
    BEST,
    DIRECTION,
    FACE,
    FARTHEST_M,
    G_FIELD,
    G_KIND,
    G_LEAVES,
    G_SIZE,
    GEOM,
    GEOM_BYTES,
    HFIELD,
    LANES,
    MESH,
    NO_GEOM,
    NORMAL,
    ONE_ORIGIN,
    ONE_RAY,
    ORIGIN,
    OWN_ORIGINS,
    PHASE,
    REACH,
    SCRATCH_BYTES,
    SIDE_FACES,
    T_BODY,
    T_GEOMS,
    T_MOVING,
    T_SLOT,
)
from lidar_sim.cast.bvh.kernels.shapes import dot, shape_normal
from lidar_sim.cast.bvh.kernels.trace import trace_scene
from lidar_sim.cast.bvh.kernels.triangles import face_normal
from lidar_sim.jit import inline_jit, parallel_jit, prange, strict_jit
from lidar_sim.simd import (
    absolute,
    address,
    bits,
    fma,
    gather8_f64,
    load8_f64,
    load8_i32,
    load_f64,
    load_i32,
    load_i64,
    lowest_bit,
    mask8,
    prefetch,
    splat8,
    square_root,
    stack_memory,
    store,
    where,
)

_scratch_memory = stack_memory(SCRATCH_BYTES)

# Table of a batch, i64: addresses of its arrays.
_ORDER, _ORIGIN, _DIRECTION, _PHASE, _DISTANCE, _GEOM, _BODY, _NORMAL, _COSINE = range(9)
_batch_memory = stack_memory(8 * 9)


@inline_jit
def _gather3(scratch, at, vectors, rows):
    """Rows of an (N, 3) array into the scratch; gives bits of lanes that equal the first one."""
    same = np.int64(255)
    for axis in range(3):
        values = gather8_f64(vectors, rows * np.int32(3) + np.int32(axis))
        store(scratch, at + axis * LANES, values)
        same &= bits(values == load_f64(scratch, at - at % LANES + axis * LANES))
    return same


@inline_jit
def _start(scratch, lanes):
    """No hit yet; rays that do not count reach nowhere."""
    reach = reach_of(FARTHEST_M)
    for k in range(0, LANES, 8):
        store(scratch, BEST + k, splat8(FARTHEST_M))
        store(scratch, REACH + k, where(mask8(lanes >> k), splat8(reach), np.float32(0)))
        store(scratch, GEOM + k, splat8(NO_GEOM))
        store(scratch, FACE + k, splat8(NO_GEOM))


@strict_jit
def _load_packet(batch, first, scratch, moving):
    """Fill the lanes with the rays at ``first`` onwards in the order; whether they share their origin."""
    order = load_i64(batch, _ORDER)
    same = np.int64(255)
    for k in range(0, LANES, 8):
        rows = load8_i32(order, first + k)
        same &= _gather3(scratch, ORIGIN + k, load_i64(batch, _ORIGIN), rows)
        _gather3(scratch, DIRECTION + k, load_i64(batch, _DIRECTION), rows)
        if moving:
            store(scratch, PHASE + k, gather8_f64(load_i64(batch, _PHASE), rows))
    return np.int64(ONE_ORIGIN) if same == 255 else np.int64(OWN_ORIGINS)


@inline_jit
def _ask_for_rows(batch, first):
    """Have the places of this packet's hits brought near while it is traced."""
    order = load_i64(batch, _ORDER)
    for lane in range(LANES):
        row = np.int64(load_i32(order, first + lane))
        prefetch(load_i64(batch, _NORMAL) + 24 * row)
        prefetch(load_i64(batch, _DISTANCE) + 8 * row)
        prefetch(load_i64(batch, _COSINE) + 8 * row)
        if lane % 4 == 0:
            prefetch(load_i64(batch, _GEOM) + 4 * row)
            prefetch(load_i64(batch, _BODY) + 4 * row)


@strict_jit
def _load_ray(batch, row, scratch):
    """Fill lane 0."""
    for axis in range(3):
        store(scratch, ORIGIN + axis * LANES, load_f64(load_i64(batch, _ORIGIN), 3 * row + axis))
        store(scratch, DIRECTION + axis * LANES, load_f64(load_i64(batch, _DIRECTION), 3 * row + axis))
    store(scratch, PHASE, load_f64(load_i64(batch, _PHASE), row))


@inline_jit
def _lanes_of(geom, lanes, scratch):
    """Lanes (bits) that hit this geom."""
    found = np.int64(0)
    for k in range(0, LANES, 8):
        found |= bits(load8_i32(scratch, GEOM + k) == np.int32(geom)) << k
    return found & lanes


@inline_jit
def _side_normal(face):
    """Outward normal of a side of a height field's box."""
    side = face - SIDE_FACES
    sign = 1.0 if side % 2 else -1.0
    axis = side // 2
    return sign * (axis == 0), sign * (axis == 1), sign * (axis == 2)


@inline_jit
def _gather_face_normals(record, kind, lanes, scratch):
    """Normals of the faces hit on a mesh or height field, in its frame and of any length, into NORMAL."""
    leaves, field = load_i64(record, G_LEAVES), load_i64(record, G_FIELD)
    while lanes != 0:
        lane = lowest_bit(lanes)
        lanes &= lanes - 1
        face = np.int64(load_i32(scratch, FACE + lane))
        if face < 0:
            x, y, z = _side_normal(face)
        else:
            x, y, z = face_normal(kind, leaves, face, field)
        store(scratch, NORMAL + lane, x)
        store(scratch, NORMAL + LANES + lane, y)
        store(scratch, NORMAL + 2 * LANES + lane, z)


@inline_jit
def _normals_from_faces(scratch, k):
    """Those of lanes k to k + 7, of length 1."""
    x, y = load8_f64(scratch, NORMAL + k), load8_f64(scratch, NORMAL + LANES + k)
    z = load8_f64(scratch, NORMAL + 2 * LANES + k)
    over = splat8(1.0) / square_root(dot(x, y, z, x, y, z))
    return x * over, y * over, z * over


@inline_jit
def _shape_normals(table, record, kind, scratch, k):
    """Normals where lanes k to k + 7 hit a primitive, in its frame."""
    ox, oy, oz, dx, dy, dz = local_rays(table, record, scratch, k)
    t = load8_f64(scratch, BEST + k)
    s0, s1, s2 = load_f64(record, G_SIZE), load_f64(record, G_SIZE + 1), load_f64(record, G_SIZE + 2)
    return shape_normal(kind, s0, s1, s2, fma(t, dx, ox), fma(t, dy, oy), fma(t, dz, oz))


@inline_jit
def _blend(scratch, at, mask, values):
    store(scratch, at, where(mask, values, load8_f64(scratch, at)))


@strict_jit
def _geom_normals(table, geom, lanes, scratch):
    """World normals of the lanes (bits) that hit one geom, into NORMAL."""
    record = load_i64(table, T_GEOMS) + np.int64(load_i32(load_i64(table, T_SLOT), geom)) * GEOM_BYTES
    kind = np.int64(load_i32(record, G_KIND))
    has_faces = kind in (MESH, HFIELD)
    if has_faces:
        _gather_face_normals(record, kind, lanes, scratch)
    for k in range(0, LANES, 8):
        group = (lanes >> k) & 255
        if group == 0:
            continue
        if has_faces:
            x, y, z = _normals_from_faces(scratch, k)
        else:
            x, y, z = _shape_normals(table, record, kind, scratch, k)
        x, y, z = world_normals(table, record, scratch, k, x, y, z)
        mask = mask8(group)
        _blend(scratch, NORMAL + k, mask, x)
        _blend(scratch, NORMAL + LANES + k, mask, y)
        _blend(scratch, NORMAL + 2 * LANES + k, mask, z)


@strict_jit
def _find_normals(table, lanes, scratch):
    """World normals of all lanes (bits), geom by geom; 0 where nothing was hit. Cosines go to PHASE, now free."""
    hit = lanes & ~_lanes_of(NO_GEOM, lanes, scratch)
    for k in range(0, 3 * LANES, 8):
        store(scratch, NORMAL + k, splat8(0.0))
    while hit != 0:
        geom = np.int64(load_i32(scratch, GEOM + lowest_bit(hit)))
        lanes_of_geom = _lanes_of(geom, hit, scratch)
        _geom_normals(table, geom, lanes_of_geom, scratch)
        hit &= ~lanes_of_geom
    for k in range(0, LANES, 8):
        nx, ny = load8_f64(scratch, NORMAL + k), load8_f64(scratch, NORMAL + LANES + k)
        nz, dx = load8_f64(scratch, NORMAL + 2 * LANES + k), load8_f64(scratch, DIRECTION + k)
        dy, dz = load8_f64(scratch, DIRECTION + LANES + k), load8_f64(scratch, DIRECTION + 2 * LANES + k)
        store(scratch, PHASE + k, absolute(dot(nx, ny, nz, dx, dy, dz)))


@inline_jit
def _store_hit(table, batch, row, lane, scratch):
    geom = load_i32(scratch, GEOM + lane)
    hit = geom != NO_GEOM
    store(load_i64(batch, _DISTANCE), row, load_f64(scratch, BEST + lane) if hit else np.inf)
    store(load_i64(batch, _GEOM), row, geom if hit else np.int32(-1))
    store(load_i64(batch, _BODY), row, load_i32(load_i64(table, T_BODY), np.int64(geom)) if hit else np.int32(-1))
    for axis in range(3):
        store(load_i64(batch, _NORMAL), 3 * row + axis, load_f64(scratch, NORMAL + axis * LANES + lane))
    store(load_i64(batch, _COSINE), row, load_f64(scratch, PHASE + lane))


@strict_jit
def _cast_packets(table, batch, count, first, last):
    """Packets [first, last) of 32 rays each; the order holds rows for whole packets, whatever the count."""
    scratch = _scratch_memory()
    order, moving = load_i64(batch, _ORDER), load_i64(table, T_MOVING) != 0
    for packet in range(first, last):
        at = packet * LANES
        inside = min(count - at, LANES)
        lanes = np.int64(ALL_LANES) >> (LANES - inside)
        mode = _load_packet(batch, at, scratch, moving)
        _start(scratch, lanes)
        _ask_for_rows(batch, at)
        trace_scene(table, lanes, scratch, mode)
        _find_normals(table, lanes, scratch)
        for lane in range(inside):
            _store_hit(table, batch, np.int64(load_i32(order, at + lane)), lane, scratch)


@strict_jit
def _cast_alone(table, batch, first, last):
    """Rays [first, last), one by one."""
    scratch = _scratch_memory()
    for row in range(first, last):
        _load_ray(batch, row, scratch)
        _start(scratch, np.int64(1))
        trace_scene(table, np.int64(1), scratch, np.int64(ONE_RAY))
        _find_normals(table, np.int64(1), scratch)
        _store_hit(table, batch, row, 0, scratch)


@inline_jit
def _cast_part(table, batch, count, packed, part, parts):
    work = (count + LANES - 1) // LANES if packed else count
    first, last = part * work // parts, (part + 1) * work // parts
    if packed:
        _cast_packets(table, batch, count, first, last)
    else:
        _cast_alone(table, batch, first, last)


@inline_jit
def _write_batch(batch, order, rays, hits):
    store(batch, _ORDER, address(order))
    store(batch, _ORIGIN, address(rays[0]))
    store(batch, _DIRECTION, address(rays[1]))
    store(batch, _PHASE, address(rays[2]))
    store(batch, _DISTANCE, address(hits[0]))
    store(batch, _GEOM, address(hits[1]))
    store(batch, _BODY, address(hits[2]))
    store(batch, _NORMAL, address(hits[3]))
    store(batch, _COSINE, address(hits[4]))


@strict_jit
def cast_serial(scene, order, rays, hits, packed) -> Any:
    """Nearest surface of each ray, on the calling thread.

    Args:
        scene: (TABLE_SIZE,) i64, table of the scene.
        order: (P,) i32 rows of the rays, packet by packet, the last one filled up with any valid rows.
        rays: origin (N, 3) f64 m, direction (N, 3) f64 unit, phase (N,) f64; contiguous.
        hits: distance (N,) f64, geom, body (N,) i32, normal (N, 3) f64, cos_incidence (N,) f64; written.
        packed: False = rays one by one, for rays that have nothing in common.
    """
    # Not an array: Numba would free it after its last mention, while only its address is in use.
    batch = _batch_memory()
    _write_batch(batch, order, rays, hits)
    _cast_part(address(scene), batch, len(rays[0]), packed, np.int64(0), np.int64(1))


@parallel_jit
def cast_parallel(scene, order, rays, hits, packed, parts) -> Any:
    """``cast_serial`` in so many parts, shared out among the threads."""
    batch = _batch_memory()
    _write_batch(batch, order, rays, hits)
    table, count = address(scene), len(rays[0])
    for part in prange(parts):
        _cast_part(table, batch, count, packed, np.int64(part), parts)
