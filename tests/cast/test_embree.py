"""Embree through open3d: its triangles against closed forms, its hits against mj_ray within what it states."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import EXACT_CASTERS, Scene, cast_rays, make_caster, tolerance_m
from lidar_sim.cast import embree as embree_module
from lidar_sim.cast.embree import SAGITTA_M, EmbreeCaster
from lidar_sim.cast.embree_triangles import INFINITE_M, geom_triangles
from lidar_sim.errors import LidarSimError, MissingExtraError
from lidar_sim.jit import get_num_threads

# Steeper than this the sagitta is seen at most five times as long (1 / sin 12 degrees), as tolerance_m states.
STEEP = 0.21
# On the smallest radius of these scenes, 0.03 m, a chord of that sagitta is turned by acos(1 - 1e-3 / 0.03).
NORMAL = 0.26
# Rays past a silhouette, which lies a sagitta further in; the scenes are full of small geoms.
OTHER_SURFACE = 0.02
ROUND = {
    "sphere": ("0.7", lambda s: 4 / 3 * np.pi * s[0] ** 3),
    "ellipsoid": ("0.2 0.5 0.9", lambda s: 4 / 3 * np.pi * s[0] * s[1] * s[2]),
    "cylinder": ("0.4 0.5", lambda s: np.pi * s[0] ** 2 * 2 * s[1]),
    "capsule": ("0.3 0.6", lambda s: np.pi * s[0] ** 2 * (2 * s[1] + 4 / 3 * s[0])),
    "box": ("0.3 0.5 0.2", lambda s: 8 * s[0] * s[1] * s[2]),
}


def loads_open3d() -> bool:
    get_num_threads()  # Numba's own TBB has to be found before open3d's
    try:
        import open3d  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


needs_open3d = pytest.mark.skipif(not loads_open3d(), reason="open3d comes with the extra 'open3d'")


def compiled(world: str, before: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{before}<worldbody>{world}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def edges_of(faces: np.ndarray) -> np.ndarray:
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])


def is_closed(corners: np.ndarray, faces: np.ndarray) -> bool:
    """Whether each edge is walked once in each direction, corners at one place being one."""
    _, number = np.unique(np.round(corners, 9), axis=0, return_inverse=True)
    edges = edges_of(number.ravel()[faces])
    there, back = np.sort(edges @ (len(corners), 1)), np.sort(edges @ (1, len(corners)))
    return len(np.unique(there)) == len(there) and bool((there == back).all())


def volume(corners: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (corners[faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("kind", ROUND)
@pytest.mark.parametrize("sagitta_m", [1e-2, 1e-3, 1e-4])
def test_solids_are_closed_outward_and_within_the_sagitta(kind, sagitta_m) -> None:
    size, closed_form = ROUND[kind]
    model, data = compiled(f'<geom type="{kind}" size="{size}"/>')
    corners, faces, error_m = geom_triangles(model, 0, sagitta_m)
    assert is_closed(corners, faces)
    true = closed_form(model.geom_size[0])
    area = np.linalg.norm(np.cross(*(corners[faces[:, k]] - corners[faces[:, 0]] for k in (1, 2))), axis=1).sum() / 2
    assert true - area * error_m * 1.1 <= volume(corners, faces) <= true * (1 + 1e-12)
    assert error_m <= sagitta_m
    # From each triangle's middle outwards, the true surface is that near and no nearer than it.
    a, b, c = (corners[faces[:, k]] for k in range(3))
    out = unit(np.cross(b - a, c - a))
    # A hair inside, since flat faces lie in the surface.
    middle = (a + b + c) / 3 - 1e-9 * out
    off = [
        mujoco.mj_ray(model, data, p, n, None, 1, -1, np.zeros(1, np.int32)) for p, n in zip(middle, out, strict=True)
    ]
    assert min(off) >= 0.0
    assert max(off) <= error_m + 2e-9


def test_a_finer_sagitta_takes_more_triangles_and_the_end_is_told() -> None:
    model, _ = compiled('<geom type="sphere" size="1"/><geom type="sphere" size="50000"/>')
    counts = [len(geom_triangles(model, 0, sagitta).faces) for sagitta in (1.0, 1e-2, 1e-3, 1e-4)]
    assert counts == sorted(set(counts))
    assert geom_triangles(model, 1, 1e-3).error_m > 1e-3


def test_a_height_field_stands_on_a_closed_rim() -> None:
    field = '<asset><hfield name="h" nrow="5" ncol="7" size="2 .7 .6 .1" elevation="{}"/></asset>'
    height = np.random.default_rng(3).random(35)
    model, _ = compiled('<geom type="hfield" hfield="h"/>', field.format(" ".join(f"{h:.4f}" for h in height)))
    corners, faces, error_m = geom_triangles(model, 0, 1e-3)
    assert error_m == 0.0
    box = faces[-12:]
    assert is_closed(corners, box)
    assert volume(corners, box) == pytest.approx(8 * 2 * 0.7 * 0.05)
    # Ground and walls: only the rim's foot, at z = 0, is open; the floor there has no volume.
    open_faces = faces[:-12]
    cells = model.hfield_data.reshape(5, 7) * 0.6
    below = (2 * cells[:-1, :-1] + cells[:-1, 1:] + cells[1:, :-1] + 2 * cells[1:, 1:]) / 6
    assert volume(corners, open_faces) == pytest.approx(below.sum() * (4 / 6) * (1.4 / 4))


@needs_open3d
def test_hits_agree_with_mj_ray_within_what_is_stated(
    model, exclude, oracle, random_data, rays, keyframe, batch
) -> None:
    data = random_data(model)
    names = {"none": (), "body": ("head",), "subtree": ("base", "head", "tip"), "other": ("other",)}
    excluded = names[exclude] if isinstance(exclude, str) else exclude
    caster = make_caster("embree", Scene(model, carrier_body=model.body("head").id, exclude=exclude))
    caster.pose(keyframe(data), keyframe(data))
    origin, direction = rays(data)
    found, expected = caster.cast(batch(origin, direction)), oracle(model, excluded).cast(data, origin, direction)
    same = (found.geom == expected.geom) & (found.flex == expected.flex)
    steep = same & np.isfinite(expected.distance) & (expected.cos_incidence > STEEP)
    off = np.abs(found.distance[steep] - expected.distance[steep])
    # From inside a narrow end, or where one geom lies in another, the same geom may be met elsewhere.
    wrong = ~same
    wrong[steep] |= off > tolerance_m("embree")
    assert wrong.mean() < OTHER_SURFACE
    assert steep.sum() > 50
    near = off <= tolerance_m("embree")
    turned = np.abs(found.normal[steep][near] - expected.normal[steep][near]).max(axis=1) > NORMAL
    assert turned.mean() < OTHER_SURFACE
    assert (np.isinf(found.distance) == (found.geom < 0) & (found.flex < 0)).all()
    np.testing.assert_array_equal(found.body, np.where(found.geom >= 0, model.geom_bodyid[found.geom], -1))
    assert not found.normal[np.isinf(found.distance)].any()


@needs_open3d
def test_planes_are_one_sided_and_end_far_away() -> None:
    scene = compiled(
        """<geom type="plane" size="0 0 1"/><geom type="plane" size="0 0 1" pos="0 0 -1" euler="180 0 0"/>
        <geom type="sphere" size=".5" pos="0 0 3"/>"""
    )
    origin = [[0, 0, -0.5], [0, 0, 1], [0.9 * INFINITE_M, 0, 1], [1.1 * INFINITE_M, 0, 1], [0, 0, -3]]
    direction = [[0, 0, 1], [0, 0, -1], [0, 0, -1], [0, 0, -1], [0, 0, 1]]
    hits = cast_rays(*scene, origin, direction, caster="embree")
    assert hits.geom.tolist() == [2, 0, 0, -1, 1]
    # f32 at the corners of a quad of 2 km.
    np.testing.assert_allclose(hits.distance, [3.0, 1.0, 1.0, np.inf, 2.0], atol=2e-3)
    np.testing.assert_allclose(hits.normal[1], [0, 0, 1], atol=1e-6)


@needs_open3d
def test_embree_builds_anew_only_for_what_moved(keyframe, batch) -> None:
    model, data = compiled('<body><freejoint/><geom type="box" size=".5 .5 .5"/></body>')
    caster = make_caster("embree", Scene(model))
    ray = batch(np.array([[0.0, 0, 5]]), np.array([[0.0, 0, -1]]))
    caster.pose(keyframe(data), keyframe(data))
    first = caster.embree
    caster.pose(keyframe(data), keyframe(data))
    assert caster.embree is first
    assert caster.cast(ray).distance[0] == pytest.approx(4.5)
    data.qpos[2] = 1.0
    mujoco.mj_kinematics(model, data)
    caster.pose(keyframe(data), keyframe(data))
    assert caster.cast(ray).distance[0] == pytest.approx(3.5)


@needs_open3d
@pytest.mark.parametrize("world", ["", '<geom size="1" rgba="0 0 0 0"/>', '<geom size="1" group="3"/>'])
def test_nothing_to_see_and_no_rays(world) -> None:
    scene = compiled(world)
    hits = cast_rays(*scene, np.zeros((5, 3)), np.ones((5, 3)), caster="embree", geomgroups=[0])
    assert np.isinf(hits.distance).all()
    assert len(cast_rays(*scene, np.zeros((0, 3)), np.zeros((0, 3)), caster="embree")) == 0


@needs_open3d
def test_a_caster_without_a_pose_and_rays_that_are_none(keyframe, batch) -> None:
    model, data = compiled('<geom size="1"/>')
    caster = make_caster("embree", Scene(model))
    with pytest.raises(LidarSimError, match="call pose"):
        caster.cast(batch(np.zeros((1, 3)), np.array([[1.0, 0, 0]])))
    caster.pose(keyframe(data), keyframe(data))
    with pytest.raises(LidarSimError, match="ray 0 "):
        caster.cast(batch(np.zeros((1, 3)), np.array([[2.0, 0, 0]])))


@needs_open3d
def test_a_smaller_sagitta_is_nearer_the_truth(keyframe, batch, rays, oracle) -> None:
    model, data = compiled('<geom size="1"/>')
    direction = unit(np.random.default_rng(0).normal(size=(2000, 3)))
    worst = []
    for sagitta_m in (1e-2, 1e-3, 1e-4):
        caster = EmbreeCaster(Scene(model), sagitta_m=sagitta_m)
        caster.pose(keyframe(data), keyframe(data))
        found = caster.cast(batch(3.0 * direction, -direction)).distance
        assert caster.error_m <= sagitta_m
        worst.append(np.abs(found - 2.0).max())
        assert 0.3 * sagitta_m < worst[-1] < 1.01 * sagitta_m + 1e-6


def test_without_open3d_all_else_goes_on(monkeypatch) -> None:
    scene = compiled('<geom size="1"/>')
    monkeypatch.setitem(sys.modules, "open3d", None)
    with pytest.raises(MissingExtraError, match=r"'embree' needs open3d.*pip install 'lidar-sim\[open3d\]'"):
        cast_rays(*scene, [3, 0, 0], [-1, 0, 0], caster="embree")
    assert cast_rays(*scene, [3, 0, 0], [-1, 0, 0], caster="brute").distance[0] == pytest.approx(2.0)


def test_an_open3d_that_cannot_be_loaded_says_what_it_lacks(monkeypatch, tmp_path) -> None:
    (tmp_path / "open3d.py").write_text("raise OSError('libGL.so.1: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "open3d", raising=False)
    with pytest.raises(LidarSimError, match=r"libGL\.so\.1.*libgl1"):
        embree_module._open3d()


def test_open3d_is_loaded_only_when_asked_for() -> None:
    code = "import sys, lidar_sim.cast; sys.exit('open3d' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_exact_casters_are_the_others() -> None:
    assert set(EXACT_CASTERS) >= {"brute", "multiray", "bvh"}
    assert "embree" not in EXACT_CASTERS
    assert tolerance_m("embree") == 5 * SAGITTA_M
