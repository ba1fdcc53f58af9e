"""Trees over the triangles of meshes and height fields, built once and shared by all geoms that show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lidar_sim.cast.bvh.kernels.build import build_tree
from lidar_sim.cast.bvh.kernels.layout import (
    FIELD_SIZE,
    HFIELD_LEAF_COLUMN,
    HFIELD_LEAF_ROW,
    HFIELD_LEAF_SIZE,
    LEAF_TRIANGLES,
    MESH_LEAF_FACE,
    MESH_LEAF_SIZE,
)
from lidar_sim.records import F32, F64, I32, Array

# Boxes are widened by so much of the largest coordinate, four units in the last place of f32: a ray exactly in
# the plane of a box's side must not fall between two boxes.
_PAD = 2.0**-22
_CACHE_LINE = 64


def aligned(values: Array) -> Array:
    """Contiguous copy that starts at a cache line."""
    raw = np.empty(values.nbytes + _CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    copy = raw[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


@dataclass(frozen=True)
class Surface:
    """Triangles in a tree, ready for kernels.

    Attributes:
        nodes: (M, 64) f32, see ``kernels.layout``.
        leaves: (L, ...) f32 blocks of 8 triangles.
        field: height-field record, empty for meshes.
        elevation: (rows, columns) f32 of a height field, empty for meshes.
        depth: levels of the tree.
        box: (6,) f64 m, centre and half lengths of all that can be hit.
    """

    nodes: F32
    leaves: F32
    field: F64
    elevation: F32
    depth: int
    box: F64


def mesh_surface(corners: F32) -> Surface:
    """Tree over triangles.

    Args:
        corners: (T, 3, 3) f32 m, corners a, b, c of each triangle; T >= 1.
    """
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    nodes, order, leaf_first, _, depth = build_tree(_padded(lower, upper), LEAF_TRIANGLES)
    leaf, place, face = _places(order, leaf_first)
    leaves = np.zeros((len(leaf_first) - 1, MESH_LEAF_SIZE), np.float32)
    for k in range(9):
        leaves[leaf, 8 * k + place] = corners.reshape(-1, 9)[face, k]
    leaves.view(np.int32)[:, MESH_LEAF_FACE:] = -1
    leaves.view(np.int32)[leaf, MESH_LEAF_FACE + place] = face
    return Surface(
        nodes=aligned(nodes),
        leaves=aligned(leaves),
        field=np.zeros(0),
        elevation=np.zeros((0, 0), np.float32),
        depth=int(depth),
        box=_centre_and_half(lower.min(axis=0), upper.max(axis=0)),
    )


def hfield_surface(elevation: F32, size: F64) -> Surface:
    """Tree over the ground of a height field, 2 x 2 cells in a leaf.

    Args:
        elevation: (rows, columns) f32 in 0..1, rows along y, columns along x.
        size: (4,) m: half length in x, in y, height of elevation 1, depth of the base.
    """
    rows, columns = elevation.shape
    step = 2.0 * size[:2] / (columns - 1, rows - 1)
    row, column = (k.ravel() for k in np.mgrid[0 : rows - 1 : 2, 0 : columns - 1 : 2])
    # Points beyond the rim are NaN: triangles there are never hit.
    framed = np.full((rows + 1, columns + 1), np.nan, np.float32)
    framed[:rows, :columns] = elevation
    points = np.stack([framed[row + i, column + j] for i in range(3) for j in range(3)], axis=1)
    start = np.stack([column, row], axis=1) * step - size[:2]
    end = np.minimum(start + 2.0 * step, size[:2] * (1.0 + _PAD))
    lower = np.column_stack([start, np.nanmin(points, axis=1) * size[2]])
    upper = np.column_stack([end, np.nanmax(points, axis=1) * size[2]])
    nodes, order, _, _, depth = build_tree(_padded(lower, upper), 1)
    leaves = np.zeros((len(order), HFIELD_LEAF_SIZE), np.float32)
    leaves[:, :9] = points[order]
    leaves.view(np.int32)[:, HFIELD_LEAF_ROW] = row[order]
    leaves.view(np.int32)[:, HFIELD_LEAF_COLUMN] = column[order]
    heights = aligned(np.asarray(elevation, np.float32))
    field = np.zeros(FIELD_SIZE)
    field[:8] = (*size, *step, columns, rows)
    field.view(np.int64)[8] = heights.ctypes.data
    top = max(float(elevation.max()), 0.0) * size[2]
    return Surface(
        nodes=aligned(nodes),
        leaves=aligned(leaves),
        field=field,
        elevation=heights,
        depth=int(depth),
        box=_centre_and_half(np.array([-size[0], -size[1], -size[3]]), np.array([size[0], size[1], top])),
    )


def _padded(lower: Array, upper: Array) -> F32:
    """(N, 6) f32 boxes, widened outwards."""
    largest = max(float(np.abs(lower).max()), float(np.abs(upper).max()))
    boxes = np.column_stack([lower, upper]).astype(np.float64)
    boxes[:, :3] -= largest * _PAD
    boxes[:, 3:] += largest * _PAD
    return boxes.astype(np.float32)


def _places(order: I32, leaf_first: I32) -> tuple[Array, Array, Array]:
    """Leaf, place in the leaf, and face, of each triangle; faces ascending in each leaf."""
    leaf = np.repeat(np.arange(len(leaf_first) - 1), np.diff(leaf_first))
    face = order[np.lexsort((order, leaf))]
    return leaf, np.arange(len(order)) - leaf_first[leaf], face


def _centre_and_half(lower: Array, upper: Array) -> F64:
    lower, upper = lower.astype(np.float64), upper.astype(np.float64)
    return np.concatenate([0.5 * (lower + upper), 0.5 * (upper - lower)])
