"""A model that changes under a caster: after each kind of change the hits are those of a caster made anew."""

from __future__ import annotations

from dataclasses import fields

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Scene, make_caster
from lidar_sim.records import Hits, Keyframe, RayBatch
from lidar_sim.schedule import PoseSource

XML = """<mujoco><asset><material name="solid" rgba=".2 .4 .6 1"/><material name="spare" rgba="1 0 0 0"/>
<mesh name="stone" vertex="-.4 -.4 -.4 .4 -.4 -.4 0 .5 -.4 0 0 .5"/>
<mesh name="long" vertex="-.1 -.1 -1 .1 -.1 -1 0 .1 -1 0 0 1.5"/>
<hfield name="ground" nrow="5" ncol="7" size="3 2 .5 .2"
  elevation="0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0"/></asset>
<worldbody>
<geom name="ground" type="hfield" hfield="ground" pos="0 0 -1"/>
<body name="base" pos="0 0 .2"><freejoint/><geom name="trunk" type="box" size=".1 .1 .1"/></body>
<body name="ball" pos="2 0 .5"><freejoint/><geom name="ball" type="sphere" size=".4" group="1"/>
  <geom name="halo" type="ellipsoid" size=".5 .2 .3" pos="0 .6 0" material="solid" contype="0" conaffinity="0"/></body>
<body name="stone" pos="0 2 .5"><freejoint/><geom name="stone" type="mesh" mesh="stone"/></body>
<body name="post" pos="-2 0 .5"><geom name="post" type="capsule" size=".2 .4" group="2"/>
  <geom name="drum" type="cylinder" size=".2 .4" pos="0 -.8 0" group="3"/></body>
<body name="soft" pos="0 -2 .5"><flexcomp name="soft" type="grid" count="4 4 1" spacing=".3 .3 .3" dim="2" radius=".03"
  mass="1"><edge equality="true"/></flexcomp></body>
</worldbody></mujoco>"""


def swap_mesh(model) -> None:
    model.geom("stone").dataid[0] = model.mesh("long").id


def turn_geom(model) -> None:
    model.geom("halo").sameframe[0] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE  # else MuJoCo does not look at its frame
    model.geom("halo").quat[:] = (0.6, 0.8, 0, 0)


def scale_mesh(model, factor: float) -> None:
    first, count = model.mesh("stone").vertadr[0], model.mesh("stone").vertnum[0]
    model.mesh_vert[first : first + count] *= factor


def set_(name: str, array: str, value):
    def change(model) -> None:
        getattr(model, array)[model.geom(name).id] = value

    return change


def everywhere(array: str, value):
    def change(model) -> None:
        getattr(model, array)[...] = value

    return change


# What a scene notices at the next pose.
NOTICED = {
    "a geom leaves the groups that are seen": set_("post", "geom_group", 5),
    "a geom joins them": set_("drum", "geom_group", 1),
    "alpha 0": set_("ball", "geom_rgba", (1, 1, 1, 0)),
    "another material, transparent": set_("halo", "geom_matid", 1),
    "a material becomes transparent": everywhere("mat_rgba", (1, 1, 1, 0)),
    "a ball grows": set_("ball", "geom_size", (0.9, 0, 0)),
    "a ball shrinks": set_("ball", "geom_size", (0.1, 0, 0)),
    "a visual ellipsoid grows": set_("halo", "geom_size", (0.6, 0.7, 1.2)),
    "a capsule grows": set_("post", "geom_size", (0.5, 0.9, 0)),
    "a geom moves in its body": set_("halo", "geom_pos", (0.5, -1.5, 0.3)),
    "a geom turns in its body": turn_geom,
    "a body of the world moves": lambda model: model.body("post").pos.__setitem__(0, -1.2),
    "another mesh": swap_mesh,
    "another size of a height field": everywhere("hfield_size", (2.5, 2.5, 1.4, 0.1)),
    "a flex leaves": everywhere("flex_group", 4),
    "a flex becomes transparent": everywhere("flex_rgba", 0),
}
# What takes a call of refresh.
REFRESHED = {
    "a mesh is scaled up": lambda model: scale_mesh(model, 2.5),
    "a mesh is scaled down": lambda model: scale_mesh(model, 0.3),
    "another ground": lambda model: model.hfield_data.__imul__(-0.7).__iadd__(0.9),
    "everything at once": lambda model: [
        change(model) for change in (*NOTICED.values(), REFRESHED["a mesh is scaled up"])
    ],
}
GROUPS = [0, 1, 2]


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(XML)


def scene_of(model: mujoco.MjModel) -> Scene:
    return Scene(model, carrier_body=model.body("base").id, exclude="subtree", geomgroups=GROUPS)


def capture(model: mujoco.MjModel) -> Keyframe:
    return PoseSource(model, "base").capture(mujoco.MjData(model))


def beams() -> RayBatch:
    rng = np.random.default_rng(4)
    aims = np.array(
        [[2, 0, 0.5], [2, 0.6, 0.5], [0, 2, 0.5], [-2, 0, 0.5], [-2, -0.8, 0.5], [0, -2, 0.5], [1, 1, -0.9]]
    )
    direction = aims[rng.integers(len(aims), size=900)] + 0.4 * rng.normal(size=(900, 3)) - [0, 0, 0.2]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return RayBatch(np.tile([0.0, 0.0, 0.2], (900, 1)), direction, np.zeros(900, np.int64), np.zeros(900))


def cast(caster, model: mujoco.MjModel) -> Hits:
    keyframe = capture(model)
    caster.pose(keyframe, keyframe)
    return caster.cast(beams())


def copied(hits: Hits) -> dict[str, np.ndarray]:
    return {field.name: getattr(hits, field.name).copy() for field in fields(Hits)}


def check(caster, caster_name: str, model: mujoco.MjModel) -> None:
    found = copied(cast(caster, model))
    fresh = copied(cast(make_caster(caster_name, scene_of(model)), model))
    for name, values in fresh.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("what", NOTICED)
def test_what_is_noticed(caster_name, model, what) -> None:
    caster = make_caster(caster_name, scene_of(model))
    before = copied(cast(caster, model))
    NOTICED[what](model)
    check(caster, caster_name, model)
    after = copied(cast(caster, model))
    assert not np.array_equal(before["distance"], after["distance"]), "the change changes nothing: this tests nothing"


@pytest.mark.parametrize("what", REFRESHED)
def test_what_takes_a_refresh(caster_name, model, what) -> None:
    scene = scene_of(model)
    caster = make_caster(caster_name, scene)
    before = copied(cast(caster, model))
    REFRESHED[what](model)
    scene.refresh()
    check(caster, caster_name, model)
    assert not np.array_equal(before["distance"], copied(cast(caster, model))["distance"])


@pytest.mark.parametrize("what", [*NOTICED, *REFRESHED])
def test_a_changed_model_is_the_same_to_all_casters(caster_name, model, what) -> None:
    """Bounds of the old shapes, which MuJoCo's own calls still go by, would lose hits."""
    {**NOTICED, **REFRESHED}[what](model)
    found = cast(make_caster(caster_name, scene_of(model)), model)
    truth = cast(make_caster("brute", scene_of(model)), model)
    np.testing.assert_allclose(found.distance, truth.distance, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.geom, truth.geom)


def test_a_change_is_noticed_once_and_the_way_back_too(caster_name, model) -> None:
    scene = scene_of(model)
    caster = make_caster(caster_name, scene)
    before = copied(cast(caster, model))
    assert scene.version == 0
    model.geom("ball").rgba[3] = 0.0
    assert (cast(caster, model).geom != model.geom("ball").id).all()
    cast(caster, model)
    assert scene.version == 1
    model.geom("ball").rgba[3] = 1.0
    for name, values in copied(cast(caster, model)).items():
        np.testing.assert_array_equal(values, before[name])


def test_a_change_after_a_refresh_keeps_what_was_refreshed(caster_name, model) -> None:
    scene = scene_of(model)
    caster = make_caster(caster_name, scene)
    scale_mesh(model, 2.5)
    scene.refresh()
    cast(caster, model)
    model.geom("ball").size[0] = 0.3
    found, truth = cast(caster, model), cast(make_caster("brute", scene_of(model)), model)
    np.testing.assert_allclose(found.distance, truth.distance, rtol=0, atol=1e-9)
    check(caster, caster_name, model)


def test_who_is_excluded_stays_excluded(caster_name, model) -> None:
    caster = make_caster(caster_name, scene_of(model))
    model.geom("trunk").size[:] = 0.15
    assert (cast(caster, model).geom != model.geom("trunk").id).all()


def test_reflectivity_follows_the_colour(model, keyframe) -> None:
    scene = scene_of(model)
    model.geom("ball").rgba[:3] = 0.25
    key = keyframe(mujoco.MjData(model))
    scene.pose(key, key)
    assert scene.geom_reflectivity[model.geom("ball").id] == 0.25


def test_bounds_of_a_model_as_compiled_stay(scene_texts) -> None:
    for name, xml in scene_texts.items():
        if name == "sdf_plugin":
            continue
        model = mujoco.MjModel.from_xml_string(xml)
        copy = Scene(model).model
        np.testing.assert_array_equal(copy.geom_rbound, model.geom_rbound, err_msg=name)
        np.testing.assert_array_equal(copy.geom_aabb, model.geom_aabb, err_msg=name)
        np.testing.assert_array_equal(copy.geom_size, model.geom_size, err_msg=name)
