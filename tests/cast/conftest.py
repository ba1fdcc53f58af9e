"""Scenes that cover everything a ray can hit, and mj_ray itself as the oracle."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import EXACT_CASTERS
from lidar_sim.records import Hits, Keyframe, RayBatch

_RNG = np.random.default_rng(20)


def _numbers(values) -> str:
    return " ".join(f"{value:.4f}" for value in np.ravel(values))


def _rotated(kind: str, size: str, count: int = 6) -> str:
    """Geoms of one type all around, turned at random."""
    return "".join(
        f'<geom type="{kind}" size="{size}" pos="{_numbers(_RNG.uniform(-2, 2, 3))}" '
        f'euler="{_numbers(_RNG.uniform(-180, 180, 3))}"/>'
        for _ in range(count)
    )


def _hfield(name: str, rows: int, columns: int, size: str) -> str:
    return (
        f'<hfield name="{name}" nrow="{rows}" ncol="{columns}" size="{size}" '
        f'elevation="{_numbers(_RNG.random(rows * columns))}"/>'
    )


_SDF_PLUGIN = """<extension><plugin plugin="mujoco.sdf.torus"><instance name="torus">
  <config key="radius1" value="0.35"/><config key="radius2" value="0.15"/></instance></plugin></extension>"""

# A carrier ("head") in the middle of a tree, a sibling tree, and geoms on each.
_ROBOT = """
<body name="base" pos="0.3 0.2 0.4"><freejoint/>
  <geom type="box" size=".2 .15 .1"/>
  <body name="head" pos="0 0 .2"><joint axis="0 0 1"/>
    <geom type="sphere" size=".08"/>
    <geom type="capsule" size=".03 .2" pos=".2 0 0" euler="0 90 0" contype="0" conaffinity="0"/>
    <body name="tip" pos="0 0 .15"><joint axis="1 0 0"/><geom type="cylinder" size=".05 .05"/></body>
  </body>
</body>
<body name="other" pos="-.6 .4 .3"><freejoint/><geom type="ellipsoid" size=".1 .2 .15"/></body>
"""

# name -> (what goes before the world, the world)
_PARTS: dict[str, tuple[str, str]] = {
    "plane": (
        "",
        """<geom type="plane" size="0 0 1"/>
        <geom type="plane" size="1 .5 1" pos="0 0 1.5" euler="170 20 0"/>
        <geom type="plane" size="1 0 1" pos="-2 0 0" euler="0 80 10"/>""",
    ),
    "sphere": ("", _rotated("sphere", ".4") + '<geom type="sphere" size="4"/>'),
    "capsule": ("", _rotated("capsule", ".2 .7")),
    "ellipsoid": ("", _rotated("ellipsoid", ".2 .5 .9")),
    "cylinder": ("", _rotated("cylinder", ".4 .5") + _rotated("cylinder", ".5 .05")),
    "box": ("", _rotated("box", ".3 .5 .2") + '<geom type="box" size="5 4 3"/>'),
    "mesh": (
        f"""<asset>
        <mesh name="tetra" vertex="0 0 0  .8 0 0  0 .9 0  0 0 1" face="0 2 1  0 1 3  0 3 2  1 2 3"/>
        <mesh name="stone" vertex="{_numbers(_RNG.normal(scale=0.4, size=(60, 3)))}" scale="1 1.5 .7"/>
        <mesh name="sheet" inertia="shell" vertex="-1 -1 0  1 -1 0  1 1 .3  -1 1 0  0 0 .6"
              face="0 1 4  1 2 4  2 3 4  3 0 4"/></asset>""",
        """<geom type="mesh" mesh="tetra" pos="1 0 0" euler="10 20 30"/>
        <geom type="mesh" mesh="stone" pos="-1 -1 .5" euler="40 50 60"/>
        <geom type="mesh" mesh="stone" pos="1 1 1"/><geom type="mesh" mesh="sheet" pos="0 0 -.5"/>""",
    ),
    "hfield_square": (
        f"<asset>{_hfield('ground', 9, 9, '2 2 .5 .2')}</asset>",
        '<geom type="hfield" hfield="ground" pos="0 0 -.2"/>',
    ),
    "hfield_oblong_tilted": (
        f"<asset>{_hfield('long', 6, 13, '2 .7 .6 .1')}{_hfield('wide', 11, 4, '.8 1.5 .4 .3')}</asset>",
        """<geom type="hfield" hfield="long" pos=".5 .5 -.2" euler="15 -20 40"/>
        <geom type="hfield" hfield="wide" pos="-1 -1 1" euler="190 10 0"/>""",
    ),
    "groups_and_alpha": (
        """<asset><material name="clear" rgba="1 1 1 0"/><material name="solid" rgba=".2 .4 .6 1"/></asset>""",
        "".join(
            f'<geom type="sphere" size=".5" group="{group}" pos="{_numbers(_RNG.uniform(-2, 2, 3))}"/>'
            for group in (0, 1, 2, 3, 4, 5)
        )
        + """<geom type="box" size=".4 .4 .4" pos="1.5 0 0" rgba="1 0 0 0"/>
        <geom type="box" size=".4 .4 .4" pos="0 1.5 0" rgba="1 0 0 .01"/>
        <geom type="box" size=".4 .4 .4" pos="-1.5 0 0" material="clear" rgba="1 1 1 1"/>
        <geom type="box" size=".4 .4 .4" pos="0 -1.5 0" material="solid" rgba="1 1 1 0"/>""",
    ),
    "static_and_mocap": (
        "",
        """<geom type="box" size=".3 .3 .3" pos="1.2 0 0"/>
        <body name="post" pos="0 1.2 0"><geom type="cylinder" size=".2 .5"/></body>
        <body name="hand" mocap="true" pos="-1.2 0 0"><geom type="sphere" size=".3"/>
          <body name="finger" pos="0 0 .5"><geom type="capsule" size=".1 .2"/></body></body>""",
    ),
    "rotated_inertial_frames": (
        "",
        "".join(
            f"""<body pos="{_numbers(_RNG.uniform(-1.5, 1.5, 3))}" euler="{_numbers(_RNG.uniform(-180, 180, 3))}">
            <freejoint/><inertial mass="1" diaginertia="1 1 1" pos="{_numbers(_RNG.uniform(-1, 1, 3))}"
            euler="{_numbers(_RNG.uniform(-180, 180, 3))}"/>
            <geom type="box" size=".1 .3 .5" pos="{_numbers(_RNG.uniform(-1, 1, 3))}"/>
            <geom type="sphere" size=".1" pos="{_numbers(_RNG.uniform(-1, 1, 3))}"/></body>"""
            for _ in range(5)
        ),
    ),
    "visual_only": (
        "",
        """<geom type="plane" size="0 0 1" pos="0 0 -1" contype="0" conaffinity="0"/>
        <geom type="box" size=".2 2 2" pos="3 0 0" contype="0" conaffinity="0"/>
        <geom type="sphere" size=".2" pos="-1 0 0"/>
        <body pos="0 -1 0"><freejoint/><geom type="sphere" size=".05"/>
          <geom type="box" size=".6 .05 .6" contype="0" conaffinity="0" mass="0"/></body>
        <body name="ghost" pos="0 1.5 0"><geom type="cylinder" size=".5 .1" contype="0" conaffinity="0"/></body>""",
    ),
    "sdf_octree": (
        '<asset><mesh name="block" vertex="0 0 0 .8 0 0 .8 .9 0 0 .9 0 0 0 1 .8 0 1 .8 .9 1 0 .9 1"/></asset>',
        '<geom type="sdf" mesh="block" pos="1 0 0" euler="20 30 40"/>' + _rotated("box", ".2 .2 .2", 3),
    ),
    "sdf_plugin": (
        _SDF_PLUGIN + '<asset><mesh name="torus"><plugin instance="torus"/></mesh></asset>',
        """<body pos="1 0 0" euler="20 30 40"><freejoint/>
        <geom type="sdf" mesh="torus"><plugin instance="torus"/></geom>
        </body>"""
        + _rotated("sphere", ".2", 3),
    ),
    **{
        f"flex_{dim}d": (
            "",
            f"""<body name="stuff" pos=".8 .2 .3" euler="10 20 30">
            <flexcomp name="soft" type="grid" count="{count}" spacing=".3 .25 .2" dim="{dim}" radius=".03" mass="1">
            <edge equality="true"/></flexcomp></body><geom type="sphere" size=".3" pos="1 .5 .3"/>""",
        )
        for dim, count in ((1, "5 1 1"), (2, "4 5 1"), (3, "3 4 4"))
    },
    "crowd": ("", "".join(_rotated(k, s, 8) for k, s in (("box", ".1 .2 .3"), ("capsule", ".1 .2"), ("sphere", ".2")))),
}

SCENES = {
    name: f"<mujoco>{before}<worldbody>{world}{_ROBOT}</worldbody></mujoco>" for name, (before, world) in _PARTS.items()
}
EXCLUDES = {"none": "none", "body": "body", "subtree": "subtree", "one": "other", "several": ("base", "tip")}


@pytest.fixture(params=sorted(EXACT_CASTERS))
def caster_name(request) -> str:
    return request.param


@pytest.fixture(params=list(SCENES))
def model(request) -> mujoco.MjModel:
    if request.param == "sdf_plugin":
        _load_sdf_plugins()
    return mujoco.MjModel.from_xml_string(SCENES[request.param])


@pytest.fixture(scope="session")
def scene_texts() -> dict[str, str]:
    return SCENES


@pytest.fixture(params=list(EXCLUDES))
def exclude(request) -> str | tuple[str, ...]:
    return EXCLUDES[request.param]


def _load_sdf_plugins() -> None:
    found = list((Path(mujoco.__file__).parent / "plugin").glob("*sdf_plugin*"))
    if not found:
        pytest.skip("this MuJoCo wheel holds no SDF plugins")
    mujoco.mj_loadPluginLibrary(str(found[0]))


class Oracle:
    """mj_ray and mj_rayFlex asked ray by ray from Python; what is excluded is made transparent."""

    def __init__(self, model: mujoco.MjModel, exclude=(), groups=None, static: bool = True) -> None:
        self.model = model.__copy__()
        excluded = {model.body(name).id for name in exclude}
        for g in np.flatnonzero(np.isin(model.geom_bodyid, list(excluded))):
            self.model.geom_matid[g] = -1
            self.model.geom_rgba[g, 3] = 0.0
        self.groups = None if groups is None else np.isin(np.arange(6), groups).astype(np.uint8)
        self.static = static

    def ray(self, data, origin, direction) -> tuple[float, int, int, np.ndarray]:
        """Distance (+inf = none), geom, flex, normal."""
        geom, normal = np.zeros(1, np.int32), np.zeros(3)
        distance = mujoco.mj_ray(self.model, data, origin, direction, self.groups, self.static, -1, geom, normal)
        best = (distance if distance >= 0 else np.inf, int(geom[0]), -1, normal.copy())
        for f in range(self.model.nflex):
            thread = self.model.flex_dim[f] == 1
            vertex = np.zeros(1, np.int32)
            distance = mujoco.mj_rayFlex(
                self.model, data, 0, 0, thread, not thread, 0, f, origin, direction, vertex, normal
            )
            if 0 <= distance < best[0]:
                best = (distance, -1, f, -np.sign(normal @ direction) * normal)
        return best

    def cast(self, data, origin, direction) -> Hits:
        rows = [self.ray(data, o, d) for o, d in zip(origin, direction, strict=True)]
        distance, geom, flex, normal = (np.array(column) for column in zip(*rows, strict=True))
        body = np.array([self.model.geom_bodyid[g] if g >= 0 else -1 for g in geom])
        return Hits(distance, geom, body, flex, normal, np.abs((normal * direction).sum(1)))


@pytest.fixture(scope="session")
def oracle():
    return Oracle


@pytest.fixture(scope="session")
def names_excluded():
    """Names of the bodies that a kind of exclusion means for a sensor on the head of the scenes' robot."""
    return {"none": (), "body": ("head",), "subtree": ("base", "head", "tip"), "other": ("other",)}


@pytest.fixture(scope="session")
def random_data():
    """Data of a model in a random pose (mocap bodies too), kinematics done."""

    def make(model: mujoco.MjModel, seed: int = 0) -> mujoco.MjData:
        rng = np.random.default_rng(seed)
        data = mujoco.MjData(model)
        data.qpos += rng.normal(scale=0.1, size=model.nq)
        data.mocap_pos += rng.normal(scale=0.1, size=data.mocap_pos.shape)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_forward(model, data)
        return data

    return make


@pytest.fixture(scope="session")
def keyframe():
    def make(data: mujoco.MjData) -> Keyframe:
        return Keyframe(round(data.time * 1e9), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), data)

    return make


@pytest.fixture(scope="session")
def batch():
    def make(origin, direction) -> RayBatch:
        n = len(direction)
        return RayBatch(
            np.ascontiguousarray(origin), np.ascontiguousarray(direction), np.zeros(n, np.int64), np.zeros(n)
        )

    return make


@pytest.fixture(scope="session")
def rays():
    """Rays of three habits: own origins, one origin, sixteen interleaved; many aimed at geoms, some from inside."""

    def make(data: mujoco.MjData, count: int = 600, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        third = count // 3
        places = data.geom_xpos if len(data.geom_xpos) else np.zeros((1, 3))
        inside = places[rng.integers(len(places), size=third)] + rng.normal(scale=0.03, size=(third, 3))
        around = rng.uniform(-2.5, 2.5, (third, 3))
        origin = np.concatenate(
            [
                np.where(rng.random((third, 1)) < 0.3, inside, around),
                np.repeat(rng.uniform(-2, 2, (1, 3)), third, axis=0),
                rng.uniform(-2, 2, (16, 3))[np.arange(count - 2 * third) % 16],
            ]
        )
        aims = np.concatenate([places, data.flexvert_xpos.reshape(-1, 3)])
        aim = aims[rng.integers(len(aims), size=count)] + rng.normal(scale=0.2, size=(count, 3)) - origin
        direction = np.where(rng.random((count, 1)) < 0.7, aim, rng.normal(size=(count, 3)))
        return origin, direction / np.linalg.norm(direction, axis=1, keepdims=True)

    return make
