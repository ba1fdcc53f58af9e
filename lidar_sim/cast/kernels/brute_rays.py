"""Every ray against every visible geom, one after another: slow, plain, the reference."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from lidar_sim.cast.kernels.flex import ray_flex
from lidar_sim.cast.kernels.hfield import ray_hfield
from lidar_sim.cast.kernels.primitives import (
    MISS,
    dot,
    ray_box,
    ray_capsule,
    ray_cylinder,
    ray_ellipsoid,
    ray_plane,
    ray_sphere,
)
from lidar_sim.cast.kernels.triangles import barycentric, corners, ray_mesh
from lidar_sim.jit import inline_jit, jit, parallel_jit, prange

# mjtGeom, part of MuJoCo's file format.
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)


class Geoms(NamedTuple):
    """Visible geoms and where they stand; the arrays after ``ids`` hold all geoms."""

    ids: Any
    """(G,) i32, ascending."""
    type: Any
    """(ngeom,) i32 mjtGeom."""
    size: Any
    """(ngeom, 3) f64 m."""
    data: Any
    """(ngeom,) i32 number of the mesh or height field."""
    reach: Any
    """(ngeom,) f64 m, radius around ``pos`` that holds the geom; +inf for planes."""
    pos: Any
    """(ngeom, 3) f64 m, world frame."""
    mat: Any
    """(ngeom, 9) f64, rotation to the world frame, row by row."""


class Faces(NamedTuple):
    """Which faces of meshes were hit, and where."""

    face: Any
    """(N,) i32 number of the face in its mesh, -1 = no mesh; out."""
    barycentric: Any
    """(N, 2) f64 shares of its second and third corner; out."""


@inline_jit
def _to_local(mat, v):
    return (
        mat[0] * v[0] + mat[3] * v[1] + mat[6] * v[2],
        mat[1] * v[0] + mat[4] * v[1] + mat[7] * v[2],
        mat[2] * v[0] + mat[5] * v[1] + mat[8] * v[2],
    )


@inline_jit
def _to_world(mat, v):
    return (
        mat[0] * v[0] + mat[1] * v[1] + mat[2] * v[2],
        mat[3] * v[0] + mat[4] * v[1] + mat[5] * v[2],
        mat[6] * v[0] + mat[7] * v[1] + mat[8] * v[2],
    )


@inline_jit
def _may_reach(o, d, reach):
    """Whether the ray passes the sphere of radius ``reach`` around the frame's origin."""
    ahead = max(-dot(o, d), 0.0)
    p = (o[0] + ahead * d[0], o[1] + ahead * d[1], o[2] + ahead * d[2])
    return dot(p, p) <= reach * reach


@jit
def _ray_geom(geoms, g, meshes, fields, o, d):
    """One geom, in its own frame, and the face of a mesh: the table from type to function."""
    kind, size = geoms.type[g], geoms.size[g]
    if kind == PLANE:
        return ray_plane(size, o, d), -1
    if kind == SPHERE:
        return ray_sphere(size, o, d), -1
    if kind == CAPSULE:
        return ray_capsule(size, o, d), -1
    if kind == ELLIPSOID:
        return ray_ellipsoid(size, o, d), -1
    if kind == CYLINDER:
        return ray_cylinder(size, o, d), -1
    if kind == BOX:
        return ray_box(size, o, d), -1
    if kind == MESH:
        return ray_mesh(meshes, geoms.data[g], o, d)
    if kind == HFIELD:
        return ray_hfield(fields, geoms.data[g], o, d), -1
    return MISS, -1


@jit
def _ray_scene(geoms, meshes, fields, flexes, o, d):
    """Nearest surface along one ray of the world: distance, geom, flex, face, normal (a flex's faces the sensor)."""
    best, best_geom, best_flex, best_face = math.inf, -1, -1, -1
    normal = (0.0, 0.0, 0.0)
    for g in geoms.ids:
        pos, mat = geoms.pos[g], geoms.mat[g]
        local_o = _to_local(mat, (o[0] - pos[0], o[1] - pos[1], o[2] - pos[2]))
        local_d = _to_local(mat, d)
        if not _may_reach(local_o, local_d, geoms.reach[g]):
            continue
        (t, nx, ny, nz), face = _ray_geom(geoms, g, meshes, fields, local_o, local_d)
        if t < best:
            best, best_geom, best_face = t, g, face
            normal = _to_world(mat, (nx, ny, nz))
    for f in flexes.ids:
        (t, nx, ny, nz), _ = ray_flex(flexes, f, o, d)
        if t < best:
            best, best_geom, best_flex, best_face = t, -1, f, -1
            sign = math.copysign(1.0, -dot((nx, ny, nz), d))
            normal = (sign * nx, sign * ny, sign * nz)
    return best, best_geom, best_flex, best_face, normal


@jit
def _place_on_face(geoms, meshes, geom, face, p):
    """Barycentric coordinates of a point of the world on a face of a mesh."""
    pos, mesh = geoms.pos[geom], geoms.data[geom]
    a, b, c = corners(meshes, mesh, face)
    return barycentric(a, b, c, _to_local(geoms.mat[geom], (p[0] - pos[0], p[1] - pos[1], p[2] - pos[2])))


@jit
def _cast_ray(geoms, meshes, fields, flexes, rays, faces, i):
    o = (rays.origin[i, 0], rays.origin[i, 1], rays.origin[i, 2])
    d = (rays.direction[i, 0], rays.direction[i, 1], rays.direction[i, 2])
    distance, geom, flex, face, normal = _ray_scene(geoms, meshes, fields, flexes, o, d)
    rays.distance[i] = distance
    rays.geom[i] = geom
    rays.flex[i] = flex
    for axis in range(3):
        rays.normal[i, axis] = normal[axis]
    rays.cos_incidence[i] = abs(dot(normal, d))
    faces.face[i] = face
    u, v = 0.0, 0.0
    if face >= 0:
        p = (o[0] + distance * d[0], o[1] + distance * d[1], o[2] + distance * d[2])
        u, v = _place_on_face(geoms, meshes, geom, face, p)
    faces.barycentric[i, 0], faces.barycentric[i, 1] = u, v


@parallel_jit
def cast_brute(geoms, meshes, fields, flexes, rays, faces) -> Any:
    """Nearest surface of each ray.

    Args:
        geoms: ``Geoms``.
        meshes: ``triangles.Meshes``.
        fields: ``hfield.HeightFields``.
        flexes: ``flex.Flexes``.
        rays: ``batch.Rays``; its results are written.
        faces: ``Faces``; written.
    """
    for i in prange(len(rays.origin)):
        _cast_ray(geoms, meshes, fields, flexes, rays, faces, i)
