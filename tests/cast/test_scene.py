"""The private model, what is visible, and what stands in the way of a cast."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import CASTERS, EXACT_CASTERS, Scene, make_caster
from lidar_sim.cast.mujoco_c import check_arguments, library_path
from lidar_sim.cast.visibility import excluded_bodies
from lidar_sim.errors import LidarSimError, ModelError, OptionError

XML = """<mujoco><asset><material name="blue" rgba="0 0 1 1"/></asset><worldbody>
<geom type="plane" size="0 0 1" rgba="1 1 1 1"/>
<body name="base" pos="0 0 1"><freejoint/><geom size=".1" rgba="1 0 0 1"/>
  <body name="neck"><geom size=".1" rgba="0 1 0 1"/>
    <body name="body"><geom size=".1" material="blue"/></body></body></body>
<body name="table" pos="3 0 1"><geom type="box" size=".1 .1 .1" rgba="0 0 0 1"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(XML)


@pytest.mark.parametrize(
    ("carrier", "exclude", "expected"),
    [
        ("neck", "none", []),
        ("neck", "body", ["neck"]),
        ("neck", "subtree", ["base", "neck", "body"]),
        ("base", "subtree", ["base", "neck", "body"]),
        ("world", "body", []),
        ("world", "subtree", []),
        ("table", "subtree", ["table"]),
        ("neck", "table", ["table"]),
        ("neck", ["table", "base"], ["table", "base"]),
        ("neck", ("body",), ["body"]),  # in a list, the reserved words are names
        ("neck", ["world"], ["world"]),
        ("neck", [], []),
    ],
)
def test_excluded_bodies(model, carrier, exclude, expected) -> None:
    mask = excluded_bodies(model, model.body(carrier).id, exclude)
    assert {model.body(i).name for i in np.flatnonzero(mask)} == set(expected)


def test_an_unknown_body_is_named_with_the_nearest_and_all(model) -> None:
    with pytest.raises(ModelError) as caught:
        Scene(model, exclude="nack")
    text = str(caught.value)
    assert "did you mean 'neck'" in text
    assert "base, body, neck, table, world" in text
    assert "'subtree'" in text
    assert "\n" not in text


@pytest.mark.parametrize("carrier", [-1, 5, 99])
def test_a_carrier_that_is_no_body(model, carrier) -> None:
    with pytest.raises(ModelError, match="valid: 0 to 4"):
        Scene(model, carrier_body=carrier)


def test_reflectivity_is_the_luminance_of_the_visible_colour(model) -> None:
    np.testing.assert_allclose(Scene(model).geom_reflectivity, [1.0, 0.2126, 0.7152, 0.0722, 0.0], atol=1e-7)


def test_the_callers_model_is_not_touched(model, keyframe, batch) -> None:
    names = ("geom_group", "body_bvhadr", "bvh_aabb", "geom_rgba", "geom_aabb")
    before = {name: np.array(getattr(model, name)) for name in names}
    model.vis.global_.bvactive = 1
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for name in EXACT_CASTERS:
        caster = make_caster(name, Scene(model, carrier_body=1, exclude="subtree", geomgroups=[0]))
        caster.pose(keyframe(data), keyframe(data))
        caster.cast(batch(np.zeros((20, 3)), np.tile([1.0, 0, 0], (20, 1))))
    for name in names:
        np.testing.assert_array_equal(getattr(model, name), before[name])
    assert model.vis.global_.bvactive == 1


def test_a_caster_without_a_pose_says_so(caster_name, model, batch) -> None:
    with pytest.raises(LidarSimError, match="call pose"):
        make_caster(caster_name, Scene(model)).cast(batch(np.zeros((1, 3)), np.array([[1.0, 0, 0]])))


@pytest.mark.parametrize(
    ("origin", "direction"),
    [
        ((0, 0, 0), (0, 0, 0)),
        ((0, 0, 0), (1.001, 0, 0)),
        ((0, 0, 0), (np.nan, 0, 0)),
        ((np.inf, 0, 0), (1, 0, 0)),
        ((np.inf, -np.inf, 0), (1, 0, 0)),
    ],
)
def test_rays_that_cannot_be_followed(caster_name, model, keyframe, batch, origin, direction) -> None:
    caster = make_caster(caster_name, Scene(model))
    data = mujoco.MjData(model)
    caster.pose(keyframe(data), keyframe(data))
    beams = batch(np.array([(0.0, 0, 0), origin]), np.array([(1.0, 0, 0), direction], float))
    with pytest.raises(LidarSimError, match="ray 1 "):
        caster.cast(beams)


def test_the_table_and_its_names(model) -> None:
    assert all(CASTERS[name].name == name for name in CASTERS)
    with pytest.raises(OptionError, match=r"did you mean 'brute'.*valid: brute"):
        make_caster("brut", Scene(model))


def test_another_mujoco_is_refused() -> None:
    old = {"mj_ray": SimpleNamespace(parameters=[SimpleNamespace(name=name) for name in ("m", "d", "pnt")])}
    with pytest.raises(LidarSimError, match=r"has mj_ray\(m, d, pnt\).*mujoco>=3.5"):
        check_arguments("mj_ray", ("m", "d", "pnt", "normal"), old)
    with pytest.raises(LidarSimError, match="has no mj_rayFlex"):
        check_arguments("mj_rayFlex", ("m",), old)
    check_arguments("mj_ray", ("m", "d", "pnt"), old)


def test_the_library_is_found() -> None:
    assert library_path().is_file()
