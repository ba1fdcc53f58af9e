"""One ray against a flex, in the world frame."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from lidar_sim.cast.kernels.primitives import MISS, dot, ray_capsule
from lidar_sim.cast.kernels.triangles import cross, minus, ray_triangle, row
from lidar_sim.jit import jit

# Faces of a tetrahedron; that of a triangle comes first.
_CORNERS = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))


class Flexes(NamedTuple):
    """Visible flexes, as in mjModel, and where their vertices are."""

    ids: Any
    """(F,) i32 the visible ones; the arrays below hold all."""
    dim: Any
    radius: Any
    vert_first: Any
    edge: Any
    edge_first: Any
    edge_count: Any
    elem: Any
    elem_first: Any
    elem_data_first: Any
    elem_count: Any
    elem_layer: Any
    vert: Any
    """(V, 3) f64 m, world frame."""


@jit
def ray_flex(flexes, flex, o, d):
    """Flex number ``flex`` in the world frame: edges with their radius if 1D, else outer faces without it.

    Returns:
        The hit (distance and normal), and the three vertices of the face, counted from the flex's first; of an edge
        two, and -1.
    """
    if flexes.dim[flex] == 1:
        return _ray_edges(flexes, flex, o, d)
    return _ray_faces(flexes, flex, o, d)


@jit
def _ray_edges(flexes, flex, o, d):
    best, corners = MISS, (-1, -1, -1)
    first_vert, first_edge = flexes.vert_first[flex], flexes.edge_first[flex]
    for e in range(first_edge, first_edge + flexes.edge_count[flex]):
        i, j = flexes.edge[e, 0], flexes.edge[e, 1]
        a, b = row(flexes.vert, first_vert + i), row(flexes.vert, first_vert + j)
        hit = _ray_segment(a, b, flexes.radius[flex], o, d)
        if hit[0] < best[0]:
            best, corners = hit, (i, j, -1)
    return best, corners


@jit
def _ray_segment(a, b, radius, o, d):
    """Capsule of a radius around the segment from a to b."""
    ab = minus(b, a)
    length = math.sqrt(dot(ab, ab))
    z = (ab[0] / length, ab[1] / length, ab[2] / length)
    side = (0.0, 1.0, 0.0) if abs(z[0]) > 0.5 else (1.0, 0.0, 0.0)
    x = cross(side, z)
    norm = math.sqrt(dot(x, x))
    x = (x[0] / norm, x[1] / norm, x[2] / norm)
    y = cross(z, x)
    p = (o[0] - 0.5 * (a[0] + b[0]), o[1] - 0.5 * (a[1] + b[1]), o[2] - 0.5 * (a[2] + b[2]))
    t, nx, ny, nz = ray_capsule(
        (radius, 0.5 * length, 0.0), (dot(x, p), dot(y, p), dot(z, p)), (dot(x, d), dot(y, d), dot(z, d))
    )
    return (
        t,
        nx * x[0] + ny * y[0] + nz * z[0],
        nx * x[1] + ny * y[1] + nz * z[1],
        nx * x[2] + ny * y[2] + nz * z[2],
    )


@jit
def _ray_faces(flexes, flex, o, d):
    best, corners = MISS, (-1, -1, -1)
    dim, first_vert = flexes.dim[flex], flexes.vert_first[flex]
    for e in range(flexes.elem_count[flex]):
        if dim == 3 and flexes.elem_layer[flexes.elem_first[flex] + e] != 0:
            continue
        at = flexes.elem_data_first[flex] + e * (dim + 1)
        for face in range(1 if dim == 2 else 4):
            p, q, r = _CORNERS[face]
            i, j, k = flexes.elem[at + p], flexes.elem[at + q], flexes.elem[at + r]
            a, b = row(flexes.vert, first_vert + i), row(flexes.vert, first_vert + j)
            hit = ray_triangle(a, b, row(flexes.vert, first_vert + k), o, d)
            if 0.0 <= hit[0] < best[0]:
                best, corners = hit, (i, j, k)
    return best, corners
