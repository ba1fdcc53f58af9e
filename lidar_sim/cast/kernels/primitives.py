"""One ray against one geom of each primitive type, in the geom's own frame.

Every ``ray_<type>`` takes (size, o, d): MuJoCo's three sizes of that type in m, the ray's origin in m and its
unit direction, both in the geom's frame; and gives (distance in m, normal x, y, z), the distance +inf on a
miss. As with mj_ray the surface is the nearest one not behind the origin, so from inside it is where the ray
leaves, and normals point outwards.

MuJoCo's sizes: https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-geom-size. The intersections are
those of a line with a quadric or a slab: C. Ericson, "Real-Time Collision Detection" (2005), sections 5.3.2-5.3.7.
"""

from __future__ import annotations

import math

from lidar_sim.jit import inline_jit, jit

MISS = (math.inf, 0.0, 0.0, 0.0)
# mjMINVAL: below it MuJoCo takes a number for zero.
TINY = 1e-15


@inline_jit
def dot(a, b):
    """Scalar product of two triples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline_jit
def along(o, d, t):
    """Point of the ray at distance t."""
    return o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]


@inline_jit
def roots(a, b, c):
    """Both solutions, smaller first, of a t^2 + 2 b t + c = 0; +inf where there are none."""
    det = b * b - a * c
    if det < TINY or a <= 0.0:
        return math.inf, math.inf
    root = math.sqrt(det)
    return (-b - root) / a, (-b + root) / a


@inline_jit
def _not_behind(near, far):
    """The nearer of two distances that is not negative, else +inf."""
    if near >= 0.0:
        return near
    return far if far >= 0.0 else math.inf


@jit
def ray_plane(size, o, d):
    """Plane z = 0 seen from above only; half lengths size[0], size[1], where 0 = without end."""
    if d[2] > -TINY:
        return MISS
    t = -o[2] / d[2]
    x, y, _ = along(o, d, t)
    if t < 0.0 or (size[0] > 0.0 and abs(x) > size[0]) or (size[1] > 0.0 and abs(y) > size[1]):
        return MISS
    return t, 0.0, 0.0, 1.0


@jit
def ray_sphere(size, o, d):
    """Sphere of radius size[0]."""
    near, far = roots(dot(d, d), dot(o, d), dot(o, o) - size[0] * size[0])
    t = _not_behind(near, far)
    if t == math.inf:
        return MISS
    x, y, z = along(o, d, t)
    return t, x / size[0], y / size[0], z / size[0]


@jit
def ray_ellipsoid(size, o, d):
    """Ellipsoid of half axes size: a unit sphere once space is scaled by them."""
    a = (d[0] / size[0], d[1] / size[1], d[2] / size[2])
    b = (o[0] / size[0], o[1] / size[1], o[2] / size[2])
    near, far = roots(dot(a, a), dot(a, b), dot(b, b) - 1.0)
    t = _not_behind(near, far)
    if t == math.inf:
        return MISS
    x, y, z = along(o, d, t)
    nx, ny, nz = x / size[0] ** 2, y / size[1] ** 2, z / size[2] ** 2
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return t, nx / length, ny / length, nz / length


@jit
def ray_capsule(size, o, d):
    """Capsule of radius size[0] around the z axis from -size[1] to size[1]."""
    radius, half = size[0], size[1]
    best = math.inf
    axis_z = 0.0
    for t in roots(d[0] * d[0] + d[1] * d[1], o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - radius * radius):
        z = o[2] + t * d[2]
        if 0.0 <= t < best and abs(z) <= half:
            best, axis_z = t, z
    for end in (half, -half):
        p = (o[0], o[1], o[2] - end)
        for t in roots(dot(d, d), dot(p, d), dot(p, p) - radius * radius):
            beyond = p[2] + t * d[2]
            if 0.0 <= t < best and beyond * end >= 0.0:
                best, axis_z = t, end
    if best == math.inf:
        return MISS
    x, y, z = along(o, d, best)
    return best, x / radius, y / radius, (z - axis_z) / radius


@jit
def ray_cylinder(size, o, d):
    """Cylinder of radius size[0] around the z axis from -size[1] to size[1], closed by discs."""
    radius, half = size[0], size[1]
    best, nx, ny, nz = MISS
    for t in roots(d[0] * d[0] + d[1] * d[1], o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - radius * radius):
        x, y, z = along(o, d, t)
        if 0.0 <= t < best and abs(z) <= half:
            best, nx, ny, nz = t, x / radius, y / radius, 0.0
    if abs(d[2]) > TINY:
        for end in (-1.0, 1.0):
            t = (end * half - o[2]) / d[2]
            x, y, _ = along(o, d, t)
            if 0.0 <= t < best and x * x + y * y <= radius * radius:
                best, nx, ny, nz = t, 0.0, 0.0, end
    return best, nx, ny, nz


@jit
def ray_box(size, o, d):
    """Box of half lengths size: where the ray is between the planes of all three pairs."""
    near, far = -math.inf, math.inf
    near_axis, far_axis = 0, 0
    for axis in range(3):
        if abs(d[axis]) <= TINY:
            if abs(o[axis]) > size[axis]:
                return MISS
            continue
        one = (-size[axis] - o[axis]) / d[axis]
        two = (size[axis] - o[axis]) / d[axis]
        if min(one, two) > near:
            near, near_axis = min(one, two), axis
        if max(one, two) < far:
            far, far_axis = max(one, two), axis
    if near > far or far < 0.0:
        return MISS
    t, axis = (near, near_axis) if near >= 0.0 else (far, far_axis)
    side = math.copysign(1.0, o[axis] + t * d[axis])
    return t, side * (axis == 0), side * (axis == 1), side * (axis == 2)
