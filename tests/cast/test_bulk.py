"""Rays without a sensor: right at any moment, and one line of text for every mistake."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import cast_rays
from lidar_sim.errors import LidarSimError, ModelError, OptionError

XML = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
<body name="ball" pos="2 0 1"><freejoint/><geom type="sphere" size=".5" rgba="1 0 0 1" group="2"/></body>
</worldbody></mujoco>"""
# One rounding in each of a few operations on numbers near 1.
ROUNDING = 1e-12


@pytest.fixture
def scene() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(XML)
    return model, mujoco.MjData(model)


def test_distances_are_metres_whatever_the_length(caster_name, scene) -> None:
    hits = cast_rays(
        *scene, [0, 0, 1], [[1, 0, 0], [1e-3, 0, 0], [500, 0, 0], [0, 0, -2], [0, 0, 1]], caster=caster_name
    )
    np.testing.assert_allclose(hits.distance, [1.5, 1.5, 1.5, 1.0, np.inf], rtol=0, atol=ROUNDING)
    np.testing.assert_array_equal(hits.geom, [1, 1, 1, 0, -1])
    np.testing.assert_array_equal(hits.body, [1, 1, 1, 0, -1])
    np.testing.assert_array_equal(hits.normal[-1], 0)
    np.testing.assert_allclose(hits.cos_incidence, [1, 1, 1, 1, 0], rtol=0, atol=ROUNDING)


def test_right_before_any_kinematics_and_data_is_not_written(caster_name, scene) -> None:
    model, data = scene
    data.qpos[0] = 4.0
    before = [np.array(getattr(data, name)) for name in ("qpos", "geom_xpos", "xpos")]
    hits = cast_rays(model, data, [[0, 0, 1]], [[1, 0, 0]], caster=caster_name)
    assert hits.distance[0] == pytest.approx(3.5, abs=ROUNDING)
    for name, value in zip(("qpos", "geom_xpos", "xpos"), before, strict=True):
        np.testing.assert_array_equal(getattr(data, name), value)


def test_exclusion_groups_and_static(caster_name, scene) -> None:
    ray = ([[0, 0, 1]], [[1, 0, -0.2]])
    first = lambda **options: int(cast_rays(*scene, *ray, caster=caster_name, **options).geom[0])  # noqa: E731
    assert first() == 1
    assert first(exclude_bodies=["ball"]) == 0
    assert first(exclude_bodies="ball") == 0
    assert first(geomgroups=[0]) == 0
    assert first(geomgroups=[2]) == 1
    assert first(static=False) == 1
    assert first(static=False, exclude_bodies=["ball"]) == -1


def test_no_rays_and_no_geoms(caster_name, scene) -> None:
    assert len(cast_rays(*scene, np.zeros((0, 3)), np.zeros((0, 3)), caster=caster_name)) == 0
    empty = mujoco.MjModel.from_xml_string("<mujoco/>")
    hits = cast_rays(empty, mujoco.MjData(empty), np.zeros((9, 3)), np.ones((9, 3)), caster=caster_name)
    assert np.isposinf(hits.distance).all()
    assert (hits.geom == -1).all()


@pytest.mark.parametrize(
    ("origins", "directions", "text"),
    [
        ([[0, 0]], [[1, 0, 0]], "origins have shape (1, 2)"),
        ([[0, 0, 0]], [[1, 0]], "directions have shape (1, 2)"),
        (np.zeros((2, 2, 3)), np.ones((2, 3)), "origins have shape (2, 2, 3)"),
        (np.zeros((2, 3)), np.ones((3, 3)), "2 origins for 3 directions"),
        ([[0, 0, np.nan]], [[1, 0, 0]], "origins[0]"),
        ([[0, 0, 0]] * 2, [[1, 0, 0], [np.inf, 0, 0]], "directions[1]"),
        ([[0, 0, 0]] * 2, [[1, 0, 0], [0, 0, 0]], "direction 1 has length 0"),
        ("here", [[1, 0, 0]], "origins are not numbers"),
    ],
)
def test_bad_rays_are_one_line(scene, origins, directions, text) -> None:
    with pytest.raises(OptionError) as caught:
        cast_rays(*scene, origins, directions)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"caster": "multray"}, OptionError, "did you mean 'multiray'"),
        ({"geomgroups": [6]}, OptionError, "whole numbers 0 to 5"),
        ({"geomgroups": []}, OptionError, "numbers 0 to 5"),
        ({"geomgroups": [True]}, OptionError, "True"),
        ({"geomgroups": 3}, OptionError, "numbers 0 to 5"),
        ({"exclude_bodies": ["bal"]}, ModelError, "did you mean 'ball'"),
        ({"threads": 0}, OptionError, "threads is 0"),
        ({"threads": 1.5}, OptionError, "threads is 1.5"),
    ],
)
def test_bad_options_are_one_line(scene, options, error, text) -> None:
    with pytest.raises(error) as caught:
        cast_rays(*scene, [[0, 0, 1]], [[1, 0, 0]], **options)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_error_is_ours(scene) -> None:
    assert issubclass(OptionError, LidarSimError)
    assert issubclass(ModelError, LidarSimError)


def test_data_of_another_model(scene) -> None:
    other = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(ModelError, match="another model"):
        cast_rays(scene[0], mujoco.MjData(other), [[0, 0, 1]], [[1, 0, 0]])
