"""The compiled pieces against closed forms and against plain NumPy."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lidar_sim.cast.kernels import primitives
from lidar_sim.cast.kernels.grouping import group_by_origin, order_by_group
from lidar_sim.cast.kernels.triangles import ray_triangle
from lidar_sim.cast.multiray import _pieces

# A few roundings of numbers near 1.
ROUNDING = 1e-12

FAR, NEAR = 10.0, 0.0
# (function, size, origin, direction, distance, normal): from outside, from inside, past it
CLOSED_FORMS = [
    ("ray_plane", (0, 0, 1), (0, 0, 2), (0, 0.6, -0.8), 2.5, (0, 0, 1)),
    ("ray_plane", (0, 0, 1), (0, 0, -2), (0, 0, 1), math.inf, (0, 0, 0)),
    ("ray_plane", (0, 0, 1), (0, 0, -2), (0, 0, -1), math.inf, (0, 0, 0)),
    ("ray_plane", (1, 0, 1), (2, 0, 1), (0, 0, -1), math.inf, (0, 0, 0)),
    ("ray_plane", (1, 0, 1), (0, 50, 1), (0, 0, -1), 1.0, (0, 0, 1)),
    ("ray_sphere", (2, 0, 0), (5, 0, 0), (-1, 0, 0), 3.0, (1, 0, 0)),
    ("ray_sphere", (2, 0, 0), (0, 0, 0), (0, 1, 0), 2.0, (0, 1, 0)),
    ("ray_sphere", (2, 0, 0), (5, 0, 0), (1, 0, 0), math.inf, (0, 0, 0)),
    ("ray_ellipsoid", (1, 2, 3), (0, 5, 0), (0, -1, 0), 3.0, (0, 1, 0)),
    ("ray_ellipsoid", (1, 2, 3), (0, 0, 0), (0, 0, 1), 3.0, (0, 0, 1)),
    ("ray_capsule", (0.5, 1, 0), (0, 0, 4), (0, 0, -1), 2.5, (0, 0, 1)),
    ("ray_capsule", (0.5, 1, 0), (3, 0, 0.9), (-1, 0, 0), 2.5, (1, 0, 0)),
    ("ray_capsule", (0.5, 1, 0), (0, 0, 0), (0, 0, -1), 1.5, (0, 0, -1)),
    ("ray_capsule", (0.5, 1, 0), (0.4, 0, 4), (0, 0, -1), 4 - 1.3, (0.8, 0, 0.6)),
    ("ray_cylinder", (0.5, 1, 0), (0.4, 0, 4), (0, 0, -1), 3.0, (0, 0, 1)),
    ("ray_cylinder", (0.5, 1, 0), (0, 3, 0.9), (0, -1, 0), 2.5, (0, 1, 0)),
    ("ray_cylinder", (0.5, 1, 0), (0, 0, 0), (0, 0, -1), 1.0, (0, 0, -1)),
    ("ray_cylinder", (0.5, 1, 0), (0.6, 0, 4), (0, 0, -1), math.inf, (0, 0, 0)),
    ("ray_box", (1, 2, 3), (0, 0, 5), (0, 0, -1), 2.0, (0, 0, 1)),
    ("ray_box", (1, 2, 3), (0.5, 0, 0), (-1, 0, 0), 1.5, (-1, 0, 0)),
    ("ray_box", (1, 2, 3), (1.5, 0, 5), (0, 0, -1), math.inf, (0, 0, 0)),
    ("ray_box", (1, 2, 3), (0, 0, 5), (0, 0, 1), math.inf, (0, 0, 0)),
]


@pytest.mark.parametrize(("name", "size", "o", "d", "distance", "normal"), CLOSED_FORMS)
def test_primitives_in_closed_form(name, size, o, d, distance, normal) -> None:
    as_floats = [tuple(float(x) for x in v) for v in (size, o, d)]
    t, *n = getattr(primitives, name)(*as_floats)
    assert t == pytest.approx(distance, abs=ROUNDING)
    np.testing.assert_allclose(n, normal, rtol=0, atol=ROUNDING)


corner = st.tuples(*[st.floats(-2, 2)] * 3)


@given(corner, corner, corner, st.floats(0.01, 0.98), st.floats(0.01, 0.98), corner)
@settings(max_examples=200, deadline=None)
def test_a_triangle_is_hit_where_the_ray_was_aimed(a, b, c, u, v, o) -> None:
    a, b, c, o = (np.array(p) for p in (a, b, c, o))
    v *= 0.99 - u  # inside, off the edges
    target = a + u * (b - a) + v * (c - a)
    length = np.linalg.norm(target - o)
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross)
    if area < 1e-2 or length < 1e-2 or abs(cross @ (target - o)) < 1e-2 * area * length:
        return  # no triangle, no ray, or one along the triangle's plane: nothing is defined to compare
    d = (target - o) / length
    t, *normal = ray_triangle(*(tuple(p.tolist()) for p in (a, b, c, o, d)))
    assert t == pytest.approx(length, abs=1e-10)
    np.testing.assert_allclose(normal, cross / area, atol=1e-10)
    behind = ray_triangle(*(tuple(p.tolist()) for p in (a, b, c, o, -d)))
    assert not behind[0] >= 0.0 or behind[0] == math.inf


@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, 1e-300, 2.5])] * 3), max_size=60), st.integers(0, 70))
@settings(max_examples=200, deadline=None)
def test_groups_are_those_of_equal_bits(origins, most) -> None:
    origin = np.array(origins, np.float64).reshape(-1, 3)
    keys = [row.tobytes() for row in origin]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    number = {key: n for n, key in enumerate(sorted(first, key=first.__getitem__))}
    group, size = group_by_origin(origin, most)
    if len(number) > most:
        assert len(size) == 0
        return
    np.testing.assert_array_equal(group, [number[key] for key in keys])
    np.testing.assert_array_equal(size, np.bincount(group, minlength=len(number))[: len(size)])
    order, moved = order_by_group(group, size)
    np.testing.assert_array_equal(order, np.argsort(group, kind="stable"))
    assert moved == (order != np.arange(len(order))).any()


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=20), st.integers(1, 8))
def test_pieces_cover_every_row_once_and_never_two_groups(sizes, threads) -> None:
    start, stop = _pieces(np.array(sizes, np.int64), threads)
    assert start[0] == 0
    assert stop[-1] == sum(sizes)
    np.testing.assert_array_equal(start[1:], stop[:-1])
    assert (stop > start).all()
    assert set(np.cumsum(sizes)) <= set(stop.tolist())


def test_type_numbers_are_those_of_mujoco() -> None:
    from lidar_sim.cast.kernels import brute_rays

    for name in ("PLANE", "HFIELD", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH"):
        assert getattr(brute_rays, name) == int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
