"""One ray against a triangle, and against a mesh of them in its own frame."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lidar_sim.cast.kernels.primitives import MISS, TINY, dot
from lidar_sim.jit import inline_jit, jit


class Meshes(NamedTuple):
    """Triangles of all meshes of a model, as in mjModel."""

    vert: Any
    """(V, 3) f32 m."""
    face: Any
    """(F, 3) i32 vertices, counted from the mesh's first."""
    vert_first: Any
    """(M,) i32."""
    face_first: Any
    """(M,) i32."""
    face_count: Any
    """(M,) i32."""


@inline_jit
def cross(a, b):
    """Vector product of two triples."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline_jit
def minus(a, b):
    """Difference of two triples."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline_jit
def row(array, i):
    """Row of an (N, 3) array as a triple of f64."""
    return np.float64(array[i, 0]), np.float64(array[i, 1]), np.float64(array[i, 2])


@jit
def ray_triangle(a, b, c, o, d):
    """Triangle seen from both sides; the normal is that of a, b, c counter-clockwise.

    Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection" (1997).
    """
    ab, ac, ao = minus(b, a), minus(c, a), minus(o, a)
    n = cross(ab, ac)
    det = -dot(d, n)
    if abs(det) < TINY:
        return MISS
    q = cross(ao, d)
    u, v = dot(ac, q) / det, -dot(ab, q) / det
    if u < 0.0 or v < 0.0 or u + v > 1.0:
        return MISS
    length = math.sqrt(dot(n, n))
    return dot(ao, n) / det, n[0] / length, n[1] / length, n[2] / length


@inline_jit
def barycentric(a, b, c, p):
    """Shares of the corners b and c in a point p of the triangle a b c; that of a is what is left to 1."""
    n = cross(minus(b, a), minus(c, a))
    square = dot(n, n)
    return dot(cross(minus(p, a), minus(c, a)), n) / square, dot(cross(minus(b, a), minus(p, a)), n) / square


@inline_jit
def corners(meshes, mesh, face):
    """Corners a, b, c of one face of a mesh, in its frame."""
    vert, face = meshes.vert_first[mesh], meshes.face_first[mesh] + face
    return (
        row(meshes.vert, vert + meshes.face[face, 0]),
        row(meshes.vert, vert + meshes.face[face, 1]),
        row(meshes.vert, vert + meshes.face[face, 2]),
    )


@jit
def ray_mesh(meshes, mesh, o, d):
    """Mesh number ``mesh``: the hit of its nearest triangle, and the number of that face in the mesh, -1 = none."""
    best, best_face = MISS, -1
    for face in range(meshes.face_count[mesh]):
        a, b, c = corners(meshes, mesh, face)
        hit = ray_triangle(a, b, c, o, d)
        if 0.0 <= hit[0] < best[0]:
            best, best_face = hit, face
    return best, best_face
