"""One builder of trees over boxes, for triangles and for geoms: a binary tree, then 8 children to a node.

The binary tree is split by the surface area heuristic over 16 bins on each axis (I. Wald, "On fast Construction of
SAH-based Bounding Volume Hierarchies", 2007). Nodes of 8 children come from it by opening the largest inner child
until there are 8 (I. Wald, C. Benthin, S. Boulos, "Getting Rid of Packets", 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_sim.cast.bvh.kernels.layout import NODE_CHILD, NODE_SIZE, NODE_UPPER
from lidar_sim.jit import inline_jit, jit

_BINS = 16
_INF = np.float32(np.inf)
# Below this depth nodes are split in the middle, which ends after log2(n) more levels, whatever the boxes.
_DEEPEST_SAH = 60
_STACK = 256


@inline_jit
def _half_area(box):
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return x * y + y * z + z * x


@inline_jit
def _clear(box):
    for k in range(3):
        box[k], box[3 + k] = _INF, -_INF


@inline_jit
def _extend(box, other):
    for k in range(3):
        box[k] = min(box[k], other[k])
        box[3 + k] = max(box[3 + k], other[3 + k])


@jit
def _bounds(boxes, centres, first, last, box, centre_box):
    """Boxes around the boxes and around the centres of a range."""
    _clear(box)
    _clear(centre_box)
    for i in range(first, last):
        for k in range(3):
            box[k] = min(box[k], boxes[i, k])
            box[3 + k] = max(box[3 + k], boxes[i, 3 + k])
            centre_box[k] = min(centre_box[k], centres[i, k])
            centre_box[3 + k] = max(centre_box[3 + k], centres[i, k])


@inline_jit
def _bin_of(centre, start, scale):
    # NaN and overflow become bin 0 or the last, never a place outside.
    return min(max(int((centre - start) * scale), 0), _BINS - 1)


@jit
def _best_of_axis(boxes, centres, first, last, axis, start, scale, bin_box, bin_count, right_cost):
    """Cheapest split on one axis: its cost and the last bin on its left."""
    for b in range(_BINS):
        bin_count[b] = 0
        _clear(bin_box[b])
    for i in range(first, last):
        b = _bin_of(centres[i, axis], start, scale)
        bin_count[b] += 1
        for k in range(3):
            bin_box[b, k] = min(bin_box[b, k], boxes[i, k])
            bin_box[b, 3 + k] = max(bin_box[b, 3 + k], boxes[i, 3 + k])
    grown, count = bin_box[_BINS], 0
    _clear(grown)
    for b in range(_BINS - 1, 0, -1):
        count += bin_count[b]
        _extend(grown, bin_box[b])
        right_cost[b] = _half_area(grown) * np.float32(count) if count > 0 else np.float32(0)
    _clear(grown)
    best, best_bin, count = _INF, -1, 0
    for b in range(_BINS - 1):
        count += bin_count[b]
        _extend(grown, bin_box[b])
        if 0 < count < last - first:
            cost = _half_area(grown) * np.float32(count) + right_cost[b + 1]
            if cost < best:
                best, best_bin = cost, b
    return best, best_bin


@inline_jit
def _swap(boxes, centres, order, i, j):
    order[i], order[j] = order[j], order[i]
    for k in range(6):
        boxes[i, k], boxes[j, k] = boxes[j, k], boxes[i, k]
    for k in range(3):
        centres[i, k], centres[j, k] = centres[j, k], centres[i, k]


@jit
def _split(boxes, centres, order, first, last, centre_box, bin_box, bin_count, right_cost):
    """Divide a range in place; the start of its second part."""
    best, best_axis, best_bin = _INF, -1, -1
    for axis in range(3):
        extent = centre_box[3 + axis] - centre_box[axis]
        if extent > 0:
            scale = np.float32(_BINS) / extent
            start = centre_box[axis]
            cost, b = _best_of_axis(boxes, centres, first, last, axis, start, scale, bin_box, bin_count, right_cost)
            if b >= 0 and cost < best:
                best, best_axis, best_bin = cost, axis, b
    middle = (first + last) // 2
    if best_axis < 0:
        return middle
    start = centre_box[best_axis]
    scale = np.float32(_BINS) / (centre_box[3 + best_axis] - start)
    i, j = first, last - 1
    while i <= j:
        if _bin_of(centres[i, best_axis], start, scale) <= best_bin:
            i += 1
        else:
            _swap(boxes, centres, order, i, j)
            j -= 1
    return i if first < i < last else middle


@jit
def _build_binary(boxes, leaf_size):
    """Binary tree: box, left child (right = left + 1) or first place, and count (0 = inner) of each node; order."""
    n = len(boxes)
    boxes = boxes.copy()
    centres = np.empty((n, 3), np.float32)
    for i in range(n):
        for k in range(3):
            centres[i, k] = np.float32(0.5) * (boxes[i, k] + boxes[i, 3 + k])
    order = np.arange(n).astype(np.int32)
    node_box = np.empty((2 * n, 6), np.float32)
    left, size = np.empty(2 * n, np.int32), np.zeros(2 * n, np.int32)
    bin_box, bin_count = np.empty((_BINS + 1, 6), np.float32), np.empty(_BINS, np.int64)
    right_cost, centre_box = np.empty(_BINS, np.float32), np.empty(6, np.float32)
    todo = np.empty((_STACK, 4), np.int64)
    todo[0] = 0
    todo[0, 2] = n
    top, nodes = 1, 1
    while top > 0:
        top -= 1
        node, first, last, depth = todo[top, 0], todo[top, 1], todo[top, 2], todo[top, 3]
        _bounds(boxes, centres, first, last, node_box[node], centre_box)
        if last - first <= leaf_size:
            left[node], size[node] = first, last - first
            continue
        middle = (first + last) // 2
        if depth < _DEEPEST_SAH and last - first > 2:
            middle = _split(boxes, centres, order, first, last, centre_box, bin_box, bin_count, right_cost)
        left[node] = nodes
        for child in range(2):
            todo[top, 0] = nodes + child
            todo[top, 1] = first if child == 0 else middle
            todo[top, 2] = middle if child == 0 else last
            todo[top, 3] = depth + 1
            top += 1
        nodes += 2
    return node_box[:nodes], left[:nodes], size[:nodes], order


@jit
def _open(node, node_box, left, size, children):
    """Up to 8 descendants of a binary node that together hold all it holds; their number."""
    children[0] = node
    if size[node] > 0:
        return 1
    children[0], children[1] = left[node], left[node] + 1
    count = 2
    while count < 8:
        largest, which = np.float32(-1), -1
        for i in range(count):
            if size[children[i]] == 0:
                area = _half_area(node_box[children[i]])
                if area > largest or which < 0:
                    largest, which = area, i
        if which < 0:
            break
        opened = children[which]
        children[which], children[count] = left[opened], left[opened] + 1
        count += 1
    return count


@inline_jit
def _write_child(nodes, children_of, node, c, box, child):
    for k in range(3):
        nodes[node, 8 * k + c] = box[k]
        nodes[node, NODE_UPPER + 8 * k + c] = box[3 + k]
    children_of[node, NODE_CHILD + c] = child


@jit
def build_tree(boxes, leaf_size) -> Any:
    """Tree over boxes.

    Args:
        boxes: (N, 6) f32, lower then upper corners; N >= 1.
        leaf_size: most boxes in a leaf.

    Returns:
        nodes (M, NODE_SIZE) f32 (see ``layout``); order (N,) i32 of the boxes; leaf_first (L + 1,) i32, where leaf l
        holds order[leaf_first[l]:leaf_first[l + 1]]; parent (M,) i32, 8 * node + child, -1 for the root; depth, in
        levels.
    """
    node_box, left, size, order = _build_binary(boxes, leaf_size)
    inner = 0
    for k in range(len(size)):
        inner += size[k] == 0
    nodes = np.zeros((max(inner, 1), NODE_SIZE), np.float32)
    children_of = nodes.view(np.int32)
    parent, level = np.full(len(nodes), -1, np.int32), np.ones(len(nodes), np.int64)
    leaf_of, leaf_first = _number_leaves(left, size, len(order))
    binary, children = np.zeros(len(nodes) + 1, np.int32), np.empty(8, np.int32)
    empty = np.empty(6, np.float32)
    _clear(empty)
    node, count = 0, 1
    while node < count:
        opened = _open(binary[node], node_box, left, size, children)
        for c in range(8):
            if c >= opened:
                _write_child(nodes, children_of, node, c, empty, 0)
                continue
            child = children[c]
            if size[child] > 0:
                _write_child(nodes, children_of, node, c, node_box[child], ~leaf_of[left[child]])
            else:
                _write_child(nodes, children_of, node, c, node_box[child], count)
                binary[count], parent[count], level[count] = child, 8 * node + c, level[node] + 1
                count += 1
        node += 1
    return nodes[:count].copy(), order, leaf_first, parent[:count].copy(), level[:count].max()


@jit
def _number_leaves(left, size, n):
    """Leaf number by first place, and the first places in order (with n at the end)."""
    starts = np.zeros(n + 1, np.int32)
    for k in range(len(size)):
        if size[k] > 0:
            starts[left[k]] = 1
    leaf_first = np.empty(starts.sum() + 1, np.int32)
    leaf = 0
    for place in range(n):
        if starts[place]:
            leaf_first[leaf] = place
            leaf += 1
        starts[place] = leaf - 1
    leaf_first[leaf] = n
    return starts, leaf_first


@jit
def refit_tree(nodes, parent, boxes) -> Any:
    """Take new boxes of the leaves (one box each) up to the root; the summed half areas of all children."""
    children_of = nodes.view(np.int32)
    total = 0.0
    box, child_box = np.empty(6, np.float32), np.empty(6, np.float32)
    for node in range(len(nodes) - 1, -1, -1):
        _clear(box)
        for c in range(8):
            child = children_of[node, NODE_CHILD + c]
            for k in range(3):
                if child < 0:
                    nodes[node, 8 * k + c] = boxes[~child, k]
                    nodes[node, NODE_UPPER + 8 * k + c] = boxes[~child, 3 + k]
                child_box[k], child_box[3 + k] = nodes[node, 8 * k + c], nodes[node, NODE_UPPER + 8 * k + c]
            if child_box[0] <= child_box[3]:
                _extend(box, child_box)
                total += np.float64(_half_area(child_box))
        if parent[node] >= 0:
            above, c = parent[node] // 8, parent[node] % 8
            for k in range(3):
                nodes[above, 8 * k + c], nodes[above, NODE_UPPER + 8 * k + c] = box[k], box[3 + k]
    return total
