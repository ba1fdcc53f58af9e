"""Where everything lies in memory: table of a scene, geoms, nodes, leaves, and the scratch of a packet.

Kernels get addresses, not arrays. Offsets count elements of the type named beside them.
"""

from __future__ import annotations

import numpy as np

LANES = 32
"""Rays of a packet."""
ALL_LANES = (1 << LANES) - 1

# mjtGeom, part of MuJoCo's file format.
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)

# How the rays of a packet leave. One code for all three: a single ray is a packet whose lane 0 alone counts.
OWN_ORIGINS, ONE_ORIGIN, ONE_RAY = range(3)

# ---- table of a scene, i64
T_NODES = 0
"""Address of the nodes over the geoms."""
T_GEOMS = 1
"""Address of the geom records: bounded geoms in the order of the tree's leaves, then planes."""
T_BOUNDED = 2
"""Number of bounded geoms."""
T_PLANES = 3
"""Number of planes."""
T_GEOM_ID = 4
"""Address of the i32 geom ids, in the order of the records."""
T_SLOT = 5
"""Address of i32: geom id -> number of its record."""
T_MOTIONS = 6
"""Address of the motion records."""
T_BODY = 7
"""Address of i32: geom id -> body id."""
T_MOVING = 8
"""1 = some geoms move, 0 = all at rest."""
TABLE_SIZE = 9

# ---- geom record
GEOM_BYTES = 128
G_POSITION = 0
"""f64 x 3, m, world frame (at rest)."""
G_MATRIX = 3
"""f64 x 9, rotation to the world frame, row by row."""
G_SIZE = 12
"""f64 x 3, MuJoCo's sizes; for meshes and height fields three addresses instead:"""
G_NODES, G_LEAVES, G_FIELD = 12, 13, 14
"""i64: nodes, leaf blocks, height-field record."""
G_KIND = 30
"""i32, mjtGeom."""
G_MOTION = 31
"""i32, number of the motion record, -1 = at rest."""

# ---- motion record, f64: the geom turns about a pivot that moves along a straight line
MOTION_BYTES = 128
M_PIVOT = 0
"""x 3, m, world frame, at phase 0."""
M_SHIFT = 3
"""x 3, m, world frame, way of the pivot until phase 1."""
M_AXIS = 6
"""x 3, unit, geom's frame."""
M_HALF_ANGLE = 9
"""rad, half the angle turned until phase 1, at most pi / 2."""
M_LOCAL_PIVOT = 10
"""x 3, m, geom's frame."""

# ---- height-field record, f64
F_SIZE = 0
"""x 4, m: half length in x and y, height of elevation 1, depth of the base."""
F_STEP = 4
"""x 2, m: cell length in x and y."""
F_COUNT = 6
"""x 2: columns, rows."""
F_ELEVATION = 8
"""i64: address of the f32 elevations."""
FIELD_SIZE = 9

# ---- node of a tree, f32: boxes of 8 children, lower x8 y8 z8, upper x8 y8 z8; then i32 children
NODE_SIZE = 64
NODE_BYTES = 4 * NODE_SIZE
NODE_UPPER = 24
NODE_CHILD = 48
"""i32 x 8: >= 0 a node, else ~number of a leaf. An unused child has an empty box (+inf, -inf)."""

# ---- leaf of a mesh: 8 triangles, f32: corners a b c, each x8 y8 z8; then 8 i32 face ids
LEAF_TRIANGLES = 8
MESH_LEAF_SIZE = 80
MESH_LEAF_BYTES = 4 * MESH_LEAF_SIZE
MESH_LEAF_FACE = 72
# ---- leaf of a height field: 2 x 2 cells = 8 triangles, f32: 3 x 3 elevations, then i32 first row and column
HFIELD_LEAF_SIZE = 16
HFIELD_LEAF_BYTES = 4 * HFIELD_LEAF_SIZE
HFIELD_LEAF_ROW, HFIELD_LEAF_COLUMN = 9, 10

# ---- scratch of a packet, f64
DIRECTION = 0
"""x, y, z of all lanes, world frame."""
ORIGIN = DIRECTION + 3 * LANES
LOCAL_DIRECTION = ORIGIN + 3 * LANES
"""The same in the frame of the mesh or height field at hand."""
LOCAL_ORIGIN = LOCAL_DIRECTION + 3 * LANES
BEST = LOCAL_ORIGIN + 3 * LANES
"""m, nearest hit so far."""
PHASE = BEST + LANES
NORMAL = PHASE + LANES
"""x, y, z, world frame, written at the end."""
_END_F64 = NORMAL + 3 * LANES
# f32 and i32
WORLD_SLABS = 2 * _END_F64
"""1 / direction x, y, z, then way back to the packet's base point over direction x, y, z."""
LOCAL_SLABS = WORLD_SLABS + 6 * LANES
REACH = LOCAL_SLABS + 6 * LANES
"""BEST, rounded up."""
WORLD_SPAN = REACH + LANES
"""Bounds of the packet, see ``boxes``."""
SPAN_SIZE = 24
LOCAL_SPAN = WORLD_SPAN + SPAN_SIZE
NEAR = LOCAL_SPAN + SPAN_SIZE
"""Where the packet enters each of 8 children."""
GEOM = NEAR + 8
"""i32 geom hit by each lane, NO_GEOM = none."""
FACE = GEOM + LANES
"""i32: 8 * leaf + triangle, or SIDE_FACES + side of a height field's box."""
STACK_SIZE = 1536
STACK_CHILD = FACE + LANES
"""i32: element of a child's box in the nodes."""
STACK_NEAR = STACK_CHILD + STACK_SIZE
SCRATCH_BYTES = 4 * (STACK_NEAR + STACK_SIZE)

NO_GEOM = np.int32(2**31 - 1)
SIDE_FACES = -8
"""Faces below 0 are the sides of a height field's box: -x +x -y +y -z +z."""
FARTHEST_M = 1e38
"""No hit is farther; finite in f32, so that a box without a hit (+inf) is never within reach."""
DEEPEST = (STACK_SIZE - 16) // 7
"""Levels that the stack holds, both trees together: each leaves at most 7 children waiting."""
