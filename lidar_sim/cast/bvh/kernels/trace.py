"""A packet of rays through a scene: down the tree over the geoms, into each geom that is met, nearest boxes first.

Both levels walk their tree in the same way. Of each node the children that the packet as a whole may enter are put on
a stack, the nearest on top; a child taken from the stack is asked which rays enter it; an inner one is the next
node, a leaf is tested with those rays. The stack holds a child as the place of its box in the nodes.
"""

from __future__ import annotations

import numpy as np

from lidar_sim.cast.bvh.kernels.boxes import (
    children_entered,
    farthest_reach,
    lanes_entering,
    prepare_boxes,
    reaches_of,
)
from lidar_sim.cast.bvh.kernels.frames import local_directions, local_origins, motion_of, moving_rays
from lidar_sim.cast.bvh.kernels.hfield_sides import test_sides
from lidar_sim.cast.bvh.kernels.layout import (
    BEST,
    DIRECTION,
    G_FIELD,
    G_KIND,
    G_LEAVES,
    G_NODES,
    G_SIZE,
    GEOM,
    GEOM_BYTES,
    HFIELD,
    HFIELD_LEAF_BYTES,
    LANES,
    LOCAL_DIRECTION,
    LOCAL_ORIGIN,
    LOCAL_SLABS,
    LOCAL_SPAN,
    MESH,
    MESH_LEAF_BYTES,
    NEAR,
    NODE_BYTES,
    NODE_CHILD,
    NODE_SIZE,
    ONE_RAY,
    OWN_ORIGINS,
    REACH,
    STACK_CHILD,
    STACK_NEAR,
    T_BOUNDED,
    T_GEOM_ID,
    T_GEOMS,
    T_NODES,
    T_PLANES,
    WORLD_SLABS,
    WORLD_SPAN,
)
from lidar_sim.cast.bvh.kernels.shapes import hit_shape
from lidar_sim.cast.bvh.kernels.triangles import test_leaf
from lidar_sim.jit import inline_jit, strict_jit
from lidar_sim.simd import (
    bits,
    load8_f64,
    load8_i32,
    load_f32,
    load_f64,
    load_i32,
    load_i64,
    lowest_bit,
    mask8,
    prefetch,
    splat8,
    store,
    where,
)

_CACHE_LINE = 64


@inline_jit
def _ask_for(place):
    """Have a node or leaf brought from memory, 320 bytes at most."""
    prefetch(place)
    prefetch(place + _CACHE_LINE)
    prefetch(place + 2 * _CACHE_LINE)
    prefetch(place + 3 * _CACHE_LINE)
    prefetch(place + 4 * _CACHE_LINE)


@inline_jit
def _push(children, scratch, nodes, node, top, leaves, leaf_bytes):
    """Put children (bits) on the stack, farthest first, and ask for what they will need from memory."""
    bottom = top
    while children != 0:
        c = lowest_bit(children)
        children &= children - 1
        near = load_f32(scratch, NEAR + c)
        child = np.int64(load_i32(nodes, node + NODE_CHILD + c))
        _ask_for(leaves + ~child * leaf_bytes if child < 0 else nodes + child * NODE_BYTES)
        k = top
        while k > bottom and load_f32(scratch, STACK_NEAR + k - 1) < near:
            store(scratch, STACK_NEAR + k, load_f32(scratch, STACK_NEAR + k - 1))
            store(scratch, STACK_CHILD + k, load_i32(scratch, STACK_CHILD + k - 1))
            k -= 1
        store(scratch, STACK_NEAR + k, near)
        store(scratch, STACK_CHILD + k, np.int32(node + c))
        top += 1
    return top


@strict_jit
def _trace_triangles(kind, nodes, leaves, field, geom, lanes, scratch, bottom, mode):
    """Rays (bits), local in the scratch, against the tree of a mesh or height field; stack free from ``bottom``."""
    prepare_boxes(scratch, LOCAL_DIRECTION, LOCAL_SLABS, LOCAL_SPAN, mode)
    leaf_bytes = HFIELD_LEAF_BYTES if kind == HFIELD else MESH_LEAF_BYTES
    reach = farthest_reach(scratch)
    top, node = bottom, np.int64(0)
    while True:
        children = children_entered(nodes, node, scratch, LOCAL_SPAN, reach)
        top = _push(children, scratch, nodes, node, top, leaves, leaf_bytes)
        while True:
            if top == bottom:
                return
            top -= 1
            if load_f32(scratch, STACK_NEAR + top) > reach:
                continue
            box = np.int64(load_i32(scratch, STACK_CHILD + top))
            entering = lanes
            if mode != ONE_RAY:
                entering &= lanes_entering(nodes, box, scratch, LOCAL_SLABS, LOCAL_SPAN)
                if entering == 0:
                    continue
            child = np.int64(load_i32(nodes, box + NODE_CHILD))
            if child >= 0:
                node = child * NODE_SIZE
                break
            if test_leaf(kind, leaves, ~child, field, geom, entering, scratch, mode):
                reach = farthest_reach(scratch)


@inline_jit
def _keep_nearer(distance, group, geom, scratch, k):
    """Take over new distances of lanes k to k + 7; of equal ones the lowest geom wins, as in mj_ray."""
    best, owner = load8_f64(scratch, BEST + k), load8_i32(scratch, GEOM + k)
    better = mask8(group) & ((distance < best) | ((distance == best) & (owner > np.int32(geom))))
    if bits(better) != 0:
        best = where(better, distance, best)
        store(scratch, BEST + k, best)
        store(scratch, REACH + k, reaches_of(best))
        store(scratch, GEOM + k, where(better, splat8(np.int32(geom)), owner))


@strict_jit
def _test_shape(table, record, kind, geom, lanes, scratch, mode):
    """Rays (bits) against a primitive, eight at a time."""
    motion = motion_of(table, record)
    s0, s1, s2 = load_f64(record, G_SIZE), load_f64(record, G_SIZE + 1), load_f64(record, G_SIZE + 2)
    ox, oy, oz = local_origins(record, scratch, 0)
    for k in range(0, LANES, 8):
        group = (lanes >> k) & 255
        if group == 0:
            continue
        if motion != 0:
            ox, oy, oz, dx, dy, dz = moving_rays(record, motion, scratch, k)
        else:
            if mode == OWN_ORIGINS:
                ox, oy, oz = local_origins(record, scratch, k)
            dx, dy, dz = local_directions(record, scratch, k)
        _keep_nearer(hit_shape(kind, s0, s1, s2, ox, oy, oz, dx, dy, dz), group, geom, scratch, k)


@inline_jit
def _store3(scratch, at, x, y, z):
    store(scratch, at, x)
    store(scratch, at + LANES, y)
    store(scratch, at + 2 * LANES, z)


@strict_jit
def _test_triangles(table, record, kind, geom, lanes, scratch, top, mode):
    """Rays (bits) against a mesh or height field: all lanes made local, then its own tree."""
    motion = motion_of(table, record)
    ox, oy, oz = local_origins(record, scratch, 0)
    for k in range(0, 8 if mode == ONE_RAY else LANES, 8):
        if motion != 0:
            ox, oy, oz, dx, dy, dz = moving_rays(record, motion, scratch, k)
        else:
            if mode == OWN_ORIGINS:
                ox, oy, oz = local_origins(record, scratch, k)
            dx, dy, dz = local_directions(record, scratch, k)
        _store3(scratch, LOCAL_DIRECTION + k, dx, dy, dz)
        _store3(scratch, LOCAL_ORIGIN + k, ox, oy, oz)
    field = load_i64(record, G_FIELD)
    inner_mode = np.int64(OWN_ORIGINS) if motion != 0 and mode != ONE_RAY else mode
    nodes, leaves = load_i64(record, G_NODES), load_i64(record, G_LEAVES)
    _trace_triangles(kind, nodes, leaves, field, geom, lanes, scratch, top, inner_mode)
    if kind == HFIELD:
        test_sides(field, geom, lanes, scratch)


@inline_jit
def _test_geom(table, slot, lanes, scratch, top, mode):
    record = load_i64(table, T_GEOMS) + slot * GEOM_BYTES
    kind = np.int64(load_i32(record, G_KIND))
    geom = np.int64(load_i32(load_i64(table, T_GEOM_ID), slot))
    if kind in (MESH, HFIELD):
        _test_triangles(table, record, kind, geom, lanes, scratch, top, mode)
    else:
        _test_shape(table, record, kind, geom, lanes, scratch, mode)


@strict_jit
def trace_scene(table, lanes, scratch, mode):
    """Nearest hit of each ray of a packet, left in BEST, GEOM and FACE of the scratch.

    Args:
        table: address of the table of a scene.
        lanes: bits of the rays that count; the others hold valid rays too.
        scratch: address; DIRECTION, ORIGIN, PHASE, BEST, REACH, GEOM and FACE are filled in.
        mode: OWN_ORIGINS, ONE_ORIGIN or ONE_RAY.
    """
    bounded = load_i64(table, T_BOUNDED)
    for slot in range(bounded, bounded + load_i64(table, T_PLANES)):
        _test_geom(table, slot, lanes, scratch, np.int64(0), mode)
    if bounded == 0:
        return
    prepare_boxes(scratch, DIRECTION, WORLD_SLABS, WORLD_SPAN, mode)
    nodes, geoms = load_i64(table, T_NODES), load_i64(table, T_GEOMS)
    reach = farthest_reach(scratch)
    top, node = np.int64(0), np.int64(0)
    while True:
        children = children_entered(nodes, node, scratch, WORLD_SPAN, reach)
        top = _push(children, scratch, nodes, node, top, geoms, GEOM_BYTES)
        while True:
            if top == 0:
                return
            top -= 1
            if load_f32(scratch, STACK_NEAR + top) > reach:
                continue
            box = np.int64(load_i32(scratch, STACK_CHILD + top))
            entering = lanes
            if mode != ONE_RAY:
                entering &= lanes_entering(nodes, box, scratch, WORLD_SLABS, WORLD_SPAN)
                if entering == 0:
                    continue
            child = np.int64(load_i32(nodes, box + NODE_CHILD))
            if child >= 0:
                node = child * NODE_SIZE
                break
            _test_geom(table, ~child, entering, scratch, top, mode)
            reach = farthest_reach(scratch)
