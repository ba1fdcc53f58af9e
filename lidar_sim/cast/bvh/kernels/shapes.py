"""Eight rays against one geom of a primitive type, in the geom's own frame.

Every ``_hit_<type>`` takes (s0, s1, s2, ox, oy, oz, dx, dy, dz): MuJoCo's three sizes in m as numbers, origins in m and
unit directions as lanes; and gives distances in m, +inf where missed. ``hit_shape`` is the table from type to
function. ``shape_normal`` gives outward normals at points on a surface in the same way.

The surface is the nearest one not behind the origin: from inside, where the ray leaves. Accept rules are those of
mj_ray. The intersections are those of a line with a slab or a quadric: C. Ericson, "Real-Time Collision Detection"
(2005), sections 5.3.2-5.3.7.
"""

from __future__ import annotations

import numpy as np

from lidar_sim.cast.bvh.kernels.layout import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from lidar_sim.jit import inline_jit, strict_jit
from lidar_sim.simd import absolute, fma, maximum, minimum, splat8, square_root, where

_MISS = np.inf
# mjMINVAL: below it MuJoCo takes a number for zero.
_TINY = 1e-15


@inline_jit
def dot(ax, ay, az, bx, by, bz):
    """Scalar product, lane by lane; numbers may stand for lanes on one side."""
    return fma(ax, bx, fma(ay, by, az * bz))


@inline_jit
def _roots(a, b, c):
    """Both solutions, smaller first, of a t^2 + 2 b t + c = 0; -1 where there are none."""
    det = fma(b, b, -(a * c))
    real = (det >= _TINY) & (a > 0.0)
    root = square_root(maximum(det, 0.0))
    over = splat8(1.0) / a
    return where(real, (-b - root) * over, -1.0), where(real, (root - b) * over, -1.0)


@inline_jit
def _not_behind(near, far):
    """The nearer of two distances that is not negative, else +inf."""
    return where(near >= 0.0, near, where(far >= 0.0, far, _MISS))


@inline_jit
def _nearer(best, t, accepted):
    return where(accepted & (t >= 0.0) & (t < best), t, best)


@inline_jit
def _hit_plane(s0, s1, s2, ox, oy, oz, dx, dy, dz):
    """Plane z = 0 from above; half lengths s0, s1, where 0 = without end."""
    t = -oz / dz
    hit = (dz <= -_TINY) & (t >= 0.0)
    if s0 > 0.0:
        hit = hit & (absolute(fma(t, dx, ox)) <= s0)
    if s1 > 0.0:
        hit = hit & (absolute(fma(t, dy, oy)) <= s1)
    return where(hit, t, _MISS)


@inline_jit
def _hit_sphere(s0, s1, s2, ox, oy, oz, dx, dy, dz):
    """Sphere of radius s0."""
    c = dot(ox, oy, oz, ox, oy, oz) - s0 * s0
    near, far = _roots(dot(dx, dy, dz, dx, dy, dz), dot(ox, oy, oz, dx, dy, dz), c)
    return _not_behind(near, far)


@inline_jit
def _hit_ellipsoid(s0, s1, s2, ox, oy, oz, dx, dy, dz):
    """Ellipsoid of half axes s0, s1, s2: a unit sphere once space is scaled by them."""
    i0, i1, i2 = 1.0 / s0, 1.0 / s1, 1.0 / s2
    return _hit_sphere(1.0, s1, s2, ox * i0, oy * i1, oz * i2, dx * i0, dy * i1, dz * i2)


@inline_jit
def _tube_roots(s0, ox, oy, dx, dy):
    """Where rays pass the endless tube of radius s0 around z."""
    c = fma(ox, ox, oy * oy) - s0 * s0
    return _roots(fma(dx, dx, dy * dy), fma(ox, dx, oy * dy), c)


@inline_jit
def _hit_capsule(s0, s1, s2, ox, oy, oz, dx, dy, dz):
    """Capsule of radius s0 around z from -s1 to s1."""
    best = splat8(_MISS)
    near, far = _tube_roots(s0, ox, oy, dx, dy)
    best = _nearer(best, near, absolute(fma(near, dz, oz)) <= s1)
    best = _nearer(best, far, absolute(fma(far, dz, oz)) <= s1)
    a, b, c = dot(dx, dy, dz, dx, dy, dz), fma(ox, dx, oy * dy), fma(ox, ox, oy * oy) - s0 * s0
    for end in (s1, -s1):
        z = oz - end
        near, far = _roots(a, fma(z, dz, b), fma(z, z, c))
        best = _nearer(best, near, fma(near, dz, z) * end >= 0.0)
        best = _nearer(best, far, fma(far, dz, z) * end >= 0.0)
    return best


@inline_jit
def _hit_cylinder(s0, s1, s2, ox, oy, oz, dx, dy, dz):
    """Cylinder of radius s0 around z from -s1 to s1, closed by discs."""
    best = splat8(_MISS)
    near, far = _tube_roots(s0, ox, oy, dx, dy)
    best = _nearer(best, near, absolute(fma(near, dz, oz)) <= s1)
    best = _nearer(best, far, absolute(fma(far, dz, oz)) <= s1)
    over = splat8(1.0) / dz
    slanted = absolute(dz) > _TINY
    for end in (s1, -s1):
        t = (end - oz) * over
        x, y = fma(t, dx, ox), fma(t, dy, oy)
        best = _nearer(best, t, slanted & (fma(x, x, y * y) <= s0 * s0))
    return best


@inline_jit
def _slab(size, o, d):
    """Where rays enter and leave the space between -size and size on one axis."""
    over = splat8(1.0) / d
    one, two = (-size - o) * over, (size - o) * over
    return minimum(one, two), maximum(one, two)


@inline_jit
def _hit_box(s0, s1, s2, ox, oy, oz, dx, dy, dz):
    """Box of half lengths s0, s1, s2: where the ray is between the sides of all three pairs."""
    near, far = _slab(s0, ox, dx)
    near_y, far_y = _slab(s1, oy, dy)
    near_z, far_z = _slab(s2, oz, dz)
    near = maximum(maximum(near, near_y), near_z)
    far = minimum(minimum(far, far_y), far_z)
    return where(near <= far, _not_behind(near, far), _MISS)


@strict_jit
def hit_shape(kind, s0, s1, s2, ox, oy, oz, dx, dy, dz):
    """The table from geom type to function."""
    if kind == BOX:
        return _hit_box(s0, s1, s2, ox, oy, oz, dx, dy, dz)
    if kind == PLANE:
        return _hit_plane(s0, s1, s2, ox, oy, oz, dx, dy, dz)
    if kind == SPHERE:
        return _hit_sphere(s0, s1, s2, ox, oy, oz, dx, dy, dz)
    if kind == CAPSULE:
        return _hit_capsule(s0, s1, s2, ox, oy, oz, dx, dy, dz)
    if kind == CYLINDER:
        return _hit_cylinder(s0, s1, s2, ox, oy, oz, dx, dy, dz)
    if kind == ELLIPSOID:
        return _hit_ellipsoid(s0, s1, s2, ox, oy, oz, dx, dy, dz)
    return splat8(_MISS)


@inline_jit
def _normal_ellipsoid(s0, s1, s2, x, y, z):
    """Gradient of x^2 / s0^2 + y^2 / s1^2 + z^2 / s2^2."""
    nx, ny, nz = x * (1.0 / (s0 * s0)), y * (1.0 / (s1 * s1)), z * (1.0 / (s2 * s2))
    over = splat8(1.0) / square_root(dot(nx, ny, nz, nx, ny, nz))
    return nx * over, ny * over, nz * over


@inline_jit
def _normal_capsule(s0, s1, s2, x, y, z):
    """Away from the nearest point of the axis."""
    on_axis = maximum(minimum(z, s1), -s1)
    over = 1.0 / s0
    return x * over, y * over, (z - on_axis) * over


@inline_jit
def _sign(x):
    return where(x < 0.0, splat8(-1.0), splat8(1.0))


@inline_jit
def _normal_cylinder(s0, s1, s2, x, y, z):
    """Of the disc or the tube, whichever the point is nearer to."""
    zero = splat8(0.0)
    disc = absolute(absolute(z) - s1) < absolute(square_root(fma(x, x, y * y)) - s0)
    over = 1.0 / s0
    return where(disc, zero, x * over), where(disc, zero, y * over), where(disc, _sign(z), zero)


@inline_jit
def _normal_box(s0, s1, s2, x, y, z):
    """Of the side that the point is nearest to."""
    zero = splat8(0.0)
    off_x, off_y, off_z = absolute(absolute(x) - s0), absolute(absolute(y) - s1), absolute(absolute(z) - s2)
    is_x = (off_x <= off_y) & (off_x <= off_z)
    is_y = off_y <= off_z
    on_y = where(is_y, _sign(y), zero)
    on_z = where(is_y, zero, _sign(z))
    return where(is_x, _sign(x), zero), where(is_x, zero, on_y), where(is_x, zero, on_z)


@strict_jit
def shape_normal(kind, s0, s1, s2, x, y, z):
    """Outward unit normals at points on the surface of a primitive."""
    zero = splat8(0.0)
    if kind == BOX:
        return _normal_box(s0, s1, s2, x, y, z)
    if kind == PLANE:
        return zero, zero, splat8(1.0)
    if kind == SPHERE:
        over = 1.0 / s0
        return x * over, y * over, z * over
    if kind == CAPSULE:
        return _normal_capsule(s0, s1, s2, x, y, z)
    if kind == CYLINDER:
        return _normal_cylinder(s0, s1, s2, x, y, z)
    return _normal_ellipsoid(s0, s1, s2, x, y, z)
