"""Rigid motion by its axioms, against matrices, and against closed forms of a turning pose."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lidar_sim.transforms import (
    compose,
    euler_to_quaternion,
    interpolate_poses,
    invert,
    matrix_to_quaternion,
    quaternion_conjugate,
    quaternion_multiply,
    quaternion_to_matrix,
    rotate,
    rotate_vectors,
    slerp,
)

# A handful of roundings of numbers near 1 (positions: near 100).
ROUNDING = 1e-14
POSITION_ROUNDING = 1e-12
# A rotation's error of ROUNDING after the sine of a half turn's ill-conditioned inverse.
SLERP = 1e-12

COMPONENT = st.floats(-1.0, 1.0, allow_subnormal=False)
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@st.composite
def quaternions(draw) -> np.ndarray:
    q = np.array([draw(COMPONENT) for _ in range(4)])
    length = np.linalg.norm(q)
    assume(length > 0.1)
    return q / length


def vectors(size: float = 10.0):
    return st.tuples(*[st.floats(-size, size)] * 3).map(np.array)


def turn_about(axis: np.ndarray, angle_rad: float) -> np.ndarray:
    return np.concatenate([[math.cos(angle_rad / 2)], math.sin(angle_rad / 2) * axis])


def same_rotation(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return bool(min(np.abs(a - b).max(), np.abs(a + b).max()) <= tolerance)


@given(quaternions(), vectors())
def test_three_ways_to_turn_a_vector_agree(q, v) -> None:
    by_matrix = quaternion_to_matrix(q) @ v
    np.testing.assert_allclose(rotate(*q, *v), by_matrix, atol=10 * ROUNDING)
    np.testing.assert_allclose(rotate_vectors(q, v), by_matrix, atol=10 * ROUNDING)


@given(quaternions())
def test_a_rotation_matrix_is_orthogonal_and_proper(q) -> None:
    matrix = quaternion_to_matrix(q)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=ROUNDING)
    assert np.linalg.det(matrix) == pytest.approx(1.0, abs=ROUNDING)


@given(quaternions())
def test_matrix_and_quaternion_are_inverse(q) -> None:
    back = matrix_to_quaternion(quaternion_to_matrix(q))
    assert back[0] >= 0.0
    assert same_rotation(back, q, ROUNDING)


@given(quaternions(), quaternions(), vectors())
def test_the_product_turns_by_the_right_factor_first(a, b, v) -> None:
    np.testing.assert_allclose(
        rotate_vectors(quaternion_multiply(a, b), v), rotate_vectors(a, rotate_vectors(b, v)), atol=10 * ROUNDING
    )


@given(quaternions())
def test_the_conjugate_is_the_inverse(q) -> None:
    np.testing.assert_allclose(quaternion_multiply(q, quaternion_conjugate(q)), IDENTITY, atol=ROUNDING)


@given(vectors(), quaternions(), vectors(), quaternions(), vectors(), quaternions())
def test_composition_is_associative(pa, qa, pb, qb, pc, qc) -> None:
    left = compose(*compose(pa, qa, pb, qb), pc, qc)
    right = compose(pa, qa, *compose(pb, qb, pc, qc))
    np.testing.assert_allclose(left[0], right[0], atol=POSITION_ROUNDING)
    np.testing.assert_allclose(left[1], right[1], atol=ROUNDING)


@given(vectors(), quaternions())
def test_a_pose_and_its_inverse_cancel_on_both_sides(p, q) -> None:
    for pair in ((*invert(p, q), p, q), (p, q, *invert(p, q))):
        position, quaternion = compose(*pair)
        np.testing.assert_allclose(position, 0.0, atol=POSITION_ROUNDING)
        np.testing.assert_allclose(quaternion, IDENTITY, atol=ROUNDING)


def test_poses_compose_in_batches() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    position, quaternion = compose(p[0], q[0], p[1], q[1])
    for i in range(5):
        one = compose(p[0, i], q[0, i], p[1, i], q[1, i])
        np.testing.assert_allclose(position[i], one[0], atol=ROUNDING)
        np.testing.assert_allclose(quaternion[i], one[1], atol=ROUNDING)
    broadcast = compose(p[0, 0], q[0, 0], p[1], q[1])
    np.testing.assert_allclose(broadcast[0][3], compose(p[0, 0], q[0, 0], p[1, 3], q[1, 3])[0], atol=ROUNDING)


@given(*[st.floats(-180.0, 180.0)] * 3)
def test_euler_angles_are_roll_then_pitch_then_yaw_about_fixed_axes(roll_deg, pitch_deg, yaw_deg) -> None:
    x, y, z = np.eye(3)
    product = IDENTITY
    for axis, angle_deg in ((x, roll_deg), (y, pitch_deg), (z, yaw_deg)):
        product = quaternion_multiply(turn_about(axis, math.radians(angle_deg)), product)
    np.testing.assert_allclose(euler_to_quaternion(roll_deg, pitch_deg, yaw_deg), product, atol=ROUNDING)


def test_positive_angles_turn_as_rep_103_says() -> None:
    x, y, z = np.eye(3)
    np.testing.assert_allclose(rotate_vectors(euler_to_quaternion(0, 0, 90), x), y, atol=ROUNDING)
    np.testing.assert_allclose(rotate_vectors(euler_to_quaternion(0, 90, 0), x), -z, atol=ROUNDING)
    np.testing.assert_allclose(rotate_vectors(euler_to_quaternion(90, 0, 0), y), z, atol=ROUNDING)


@given(quaternions(), quaternions())
def test_slerp_meets_its_ends(a, b) -> None:
    assume(abs(a @ b) > 1e-6)  # at a half turn the shorter arc is not defined
    assert same_rotation(np.array(slerp(*a, *b, 0.0)), a, SLERP)
    assert same_rotation(np.array(slerp(*a, *b, 1.0)), b, SLERP)


@given(quaternions(), vectors(1.0), st.floats(0.0, 3.1), st.floats(0.0, 1.0), st.sampled_from([1.0, -1.0]))
def test_slerp_turns_at_a_constant_rate_on_the_shorter_arc(a, axis, angle_rad, phase, sign) -> None:
    assume(np.linalg.norm(axis) > 0.1)
    axis = axis / np.linalg.norm(axis)
    b = sign * quaternion_multiply(turn_about(axis, angle_rad), a)
    expected = quaternion_multiply(turn_about(axis, phase * angle_rad), a)
    assert same_rotation(np.array(slerp(*a, *b, phase)), expected, SLERP)


@pytest.mark.parametrize("angle_rad", [1e-12, 1e-10, 0.99e-9, 1.01e-9, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 3.0])
def test_slerp_keeps_its_digits_at_every_size_of_turn(angle_rad) -> None:
    b = turn_about(np.array([0.0, 0.0, 1.0]), angle_rad)
    w, _, _, z = slerp(*IDENTITY, *b, 0.25)
    # Half a rounding of the chord, 1e-16, is what the turn itself is known to.
    assert 2.0 * math.atan2(z, w) == pytest.approx(0.25 * angle_rad, rel=1e-12, abs=1e-16)


@given(quaternions(), st.floats(0.0, 1.0), st.sampled_from([1.0, -1.0]))
def test_slerp_at_rest_is_exact(q, phase, sign) -> None:
    assert slerp(*q, *(sign * q), phase) == tuple(q)


def a_track() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    time_ns = np.cumsum(rng.integers(1, 10_000_000, 8))
    quaternion = rng.normal(size=(8, 4))
    return time_ns, rng.normal(size=(8, 3)), quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)


def test_a_track_passes_through_its_samples_and_is_held_at_both_ends() -> None:
    time_ns, position, quaternion = a_track()
    asked = np.concatenate([[time_ns[0] - 5, -(10**15)], time_ns, [time_ns[-1] + 1, 10**18]])
    p, q = interpolate_poses(time_ns, position, quaternion, asked)
    rows = [0, 0, *range(8), 7, 7]
    np.testing.assert_array_equal(p, position[rows])
    np.testing.assert_allclose(q, quaternion[rows], atol=ROUNDING)


def test_a_track_is_linear_and_slerped_between_its_samples() -> None:
    time_ns, position, quaternion = a_track()
    middle_ns = (time_ns[:-1] + time_ns[1:]) // 2
    phase = ((middle_ns - time_ns[:-1]) / np.diff(time_ns))[:, None]
    p, q = interpolate_poses(time_ns, position, quaternion, middle_ns)
    np.testing.assert_allclose(p, (1 - phase) * position[:-1] + phase * position[1:], atol=ROUNDING)
    for i in range(7):
        np.testing.assert_allclose(q[i], slerp(*quaternion[i], *quaternion[i + 1], phase[i, 0]), atol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=ROUNDING)


def test_a_track_of_one_sample_is_a_constant() -> None:
    p, q = interpolate_poses(np.array([5]), np.array([[1.0, 2.0, 3.0]]), IDENTITY[None], np.array([0, 5, 9]))
    np.testing.assert_array_equal(p, [[1.0, 2.0, 3.0]] * 3)
    np.testing.assert_array_equal(q, [IDENTITY] * 3)
