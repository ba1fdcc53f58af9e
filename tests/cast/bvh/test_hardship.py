"""Scenes that break casters: nothing, everything in one place, needles, dust, planets, and rays through every seam."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Scene, make_caster
from lidar_sim.cast.bvh import BvhCaster, packing
from lidar_sim.errors import LidarSimError
from lidar_sim.records import RayBatch

# mj_ray and we round differently: relative to the distance, and to the size of what is hit.
RELATIVE = 1e-12


def mesh_model(vertices, faces, *, name="m", geoms=None) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    mesh = spec.add_mesh()
    mesh.name, mesh.inertia = name, mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    mesh.uservert, mesh.userface = np.ravel(vertices).astype(np.float32), np.ravel(faces).astype(np.int32)
    geom = spec.worldbody.add_geom()
    geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, name
    return spec.compile()


def posed(model, keyframe, name="bvh", **options):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    caster = make_caster(name, Scene(model, exclude="none"), **options)
    caster.pose(keyframe(data), keyframe(data))
    return caster


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def sphere_mesh(rings=24, sectors=37) -> tuple[np.ndarray, np.ndarray]:
    """A closed sphere of radius 1, with poles."""
    t, p = np.meshgrid(np.linspace(0, np.pi, rings + 1)[1:-1], np.arange(sectors) * 2 * np.pi / sectors, indexing="ij")
    ring = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], -1).reshape(-1, 3)
    vertices = np.concatenate([ring, [[0, 0, 1], [0, 0, -1]]])
    faces = []
    for k in range(sectors):
        j = (k + 1) % sectors
        for r in range(rings - 2):
            a, b, c, d = r * sectors + k, r * sectors + j, (r + 1) * sectors + j, (r + 1) * sectors + k
            faces += [[a, d, c], [a, c, b]]
        low = (rings - 2) * sectors
        faces += [[len(ring), k, j], [len(ring) + 1, low + j, low + k]]
    return vertices, np.array(faces)


@pytest.mark.parametrize("place", ["inside", "outside", "far"])
def test_no_ray_slips_through_a_seam(place, keyframe, batch) -> None:
    """Aimed exactly at every corner and at points of every edge of a closed mesh, from inside and outside."""
    model = mesh_model(*sphere_mesh())
    vertices = np.array(model.mesh_vert, np.float64)
    a, b, c = (vertices[model.mesh_face[:, k]] for k in range(3))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    share = np.random.default_rng(1).random((3, len(a), 1))
    seams = [vertices, 0.5 * (a + b), *(p + s * (q - p) for s, p, q in zip(share, (a, b, c), (b, c, a), strict=True))]
    aims = np.concatenate(seams) @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    start = {"inside": [0.1, -0.2, 0.05], "outside": [2.0, 1.0, -1.5], "far": [300.0, -500.0, 200.0]}[place]
    origin = np.tile(data.geom_xpos[0] + start, (len(aims), 1))
    if place != "inside":  # the far side's seams lie behind: any hit will do, but there must be one in front of it
        aims = aims[np.linalg.norm(aims - data.geom_xpos[0], axis=1) > 0]
        inwards = 1 - 1e-6
        aims = data.geom_xpos[0] + (aims - data.geom_xpos[0]) * inwards
    hits = posed(model, keyframe).cast(batch(origin, unit(aims - origin)))
    assert (hits.geom == 0).all()


def test_hits_on_edges_lie_on_the_surface(keyframe, batch) -> None:
    model = mesh_model(*sphere_mesh())
    rng = np.random.default_rng(2)
    direction = unit(rng.normal(size=(20000, 3)))
    hits = posed(model, keyframe).cast(batch(np.zeros((20000, 3)), direction))
    assert np.isfinite(hits.distance).all()
    assert hits.distance.min() > 0.98
    assert hits.distance.max() < 1.0 + 1e-6


@pytest.mark.parametrize("caster", ["bvh"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e5])
@pytest.mark.parametrize("kind", ["box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh"])
def test_any_scale(caster, kind, scale, keyframe, batch) -> None:
    """Dust and planets: the hits of mj_ray, in metres and relative to the scene's size."""
    rng = np.random.default_rng(3)
    if kind == "mesh":
        vertices, faces = sphere_mesh(8, 9)
        model = mesh_model(vertices * scale, faces)
    else:
        spec = mujoco.MjSpec()
        for _ in range(12):
            geom = spec.worldbody.add_geom()
            geom.type = getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}")
            geom.size, geom.pos = rng.uniform(0.1, 0.5, 3) * scale, rng.uniform(-1, 1, 3) * scale
            geom.quat = rng.normal(size=4)
        model = spec.compile()
    origin = rng.uniform(-3, 3, (500, 3)) * scale
    direction = unit(rng.uniform(-1, 1, (500, 3)) * scale - origin)
    found = posed(model, keyframe, caster).cast(batch(origin, direction))
    expected = posed(model, keyframe, "multiray").cast(batch(origin, direction))
    same = found.geom == expected.geom
    assert (~same).sum() <= 2, "a ray on an edge may differ"
    assert np.isfinite(found.distance).mean() > 0.2
    hit = same & np.isfinite(found.distance)
    # A sphere's distance loses digits at its rim, in both.
    error = np.abs(found.distance[hit] - expected.distance[hit]) / scale
    assert np.quantile(error, 0.99) < RELATIVE
    assert error.max() < 1e-7


def test_nothing_and_one_thing(keyframe, batch) -> None:
    empty = posed(mujoco.MjModel.from_xml_string("<mujoco/>"), keyframe)
    rays = batch(np.zeros((70, 3)), unit(np.random.default_rng(4).normal(size=(70, 3))))
    hits = empty.cast(rays)
    assert np.isinf(hits.distance).all()
    assert (hits.geom == -1).all()
    assert (hits.normal == 0).all()
    assert len(empty.cast(batch(np.zeros((0, 3)), np.zeros((0, 3))))) == 0
    one = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size="2"/></worldbody></mujoco>')
    np.testing.assert_allclose(posed(one, keyframe).cast(rays).distance, 2.0, rtol=0, atol=1e-14)


def test_thousands_of_geoms_in_one_place(keyframe, batch) -> None:
    """Boxes that no plane can part: the lowest geom wins everywhere, as in mj_ray."""
    spec = mujoco.MjSpec()
    for _ in range(3000):
        geom = spec.worldbody.add_geom()
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [1, 1, 1]
    caster = posed(spec.compile(), keyframe)
    rng = np.random.default_rng(5)
    direction = unit(rng.normal(size=(200, 3)))
    hits = caster.cast(batch(-4 * direction, direction))
    assert (hits.geom == 0).all()


def test_coincident_meshes_give_the_lowest_geom_whichever_comes_first(keyframe, batch) -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><asset><mesh name="m" vertex="-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1"/></asset>
        <worldbody><geom type="mesh" mesh="m"/><geom type="mesh" mesh="m"/><geom type="mesh" mesh="m"/></worldbody>
        </mujoco>"""
    )
    direction = unit(np.random.default_rng(6).normal(size=(500, 3)))
    for origin in (np.zeros((500, 3)), -3 * direction):
        assert (posed(spec.compile(), keyframe).cast(batch(origin, direction)).geom == 0).all()


def test_needles_and_points_among_triangles(keyframe, batch) -> None:
    rng = np.random.default_rng(7)
    vertices, faces = sphere_mesh(10, 12)
    spoiled = np.concatenate([faces, faces[:40, [0, 0, 1]], faces[:40, [1, 1, 1]]])
    direction = unit(rng.normal(size=(3000, 3)))
    rays = batch(np.zeros((3000, 3)), direction)
    clean = posed(mesh_model(vertices, faces), keyframe).cast(rays)
    dirty = posed(mesh_model(vertices, spoiled), keyframe).cast(rays)
    np.testing.assert_allclose(dirty.distance, clean.distance, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["box", "mesh", "plane"])
def test_an_origin_on_the_surface(kind, keyframe, batch) -> None:
    """At distance 0, inwards and outwards, as in mj_ray."""
    geom = {
        "box": '<geom type="box" size="1 1 1"/>',
        "mesh": '<geom type="mesh" mesh="m"/>',
        "plane": '<geom type="plane" size="0 0 1" pos="0 0 1"/>',
    }[kind]
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="m" vertex="-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1"/></asset>
        <worldbody>{geom}</worldbody></mujoco>"""
    )
    direction = unit(np.array([[0.1, 0.2, -1], [0.1, 0.2, 1], [0.3, -0.1, -0.5]]))
    rays = batch(np.tile([0.25, 0.125, 1.0], (3, 1)), direction)
    found, expected = posed(model, keyframe).cast(rays), posed(model, keyframe, "multiray").cast(rays)
    np.testing.assert_allclose(found.distance, expected.distance, rtol=0, atol=1e-15)


def test_rays_along_axes_and_in_planes(keyframe, batch) -> None:
    """Components that are exactly 0, of either sign, alone and in packets."""
    geoms = '<geom type="box" size="1 1 1" pos="4 0 0"/><geom size="1" pos="0 0 -4"/>'
    xml = f"<mujoco><worldbody>{geoms}</worldbody></mujoco>"
    caster = posed(mujoco.MjModel.from_xml_string(xml), keyframe)
    for copies in (1, 40):
        direction = np.tile([[1.0, 0.0, 0.0], [1.0, -0.0, -0.0], [0.0, 0.0, -1.0], [-0.0, 1.0, 0.0]], (copies, 1))
        hits = caster.cast(batch(np.zeros_like(direction), direction))
        np.testing.assert_array_equal(hits.distance, np.tile([3.0, 3.0, 3.0, np.inf], copies))


def test_a_pose_that_is_not_finite_hides_that_geom_only(keyframe, batch) -> None:
    xml = """<mujoco><worldbody><body><freejoint/><geom size=".5"/></body><geom type="box" size="1 1 1" pos="4 0 0"/>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    data.geom_xpos[1] = np.nan
    caster = BvhCaster(Scene(model, exclude="none"))
    caster.pose(keyframe(data), keyframe(data))
    hits = caster.cast(batch(np.zeros((3, 3)), np.tile([1.0, 0, 0], (3, 1))))
    np.testing.assert_array_equal(hits.distance, 3.0)


def test_trees_too_deep_are_refused_in_one_line(monkeypatch, keyframe) -> None:
    monkeypatch.setattr(packing, "DEEPEST", 1)
    model = mesh_model(*sphere_mesh())
    with pytest.raises(LidarSimError, match=r"have \d+ levels; the caster's stack holds 1$"):
        posed(model, keyframe)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rays_that_are_not_finite_are_refused(bad, keyframe) -> None:
    caster = posed(mujoco.MjModel.from_xml_string("<mujoco/>"), keyframe)
    origin, direction = np.zeros((40, 3)), np.tile([1.0, 0, 0], (40, 1))
    origin[33, 1] = bad
    with pytest.raises(LidarSimError, match="ray 33 "):
        caster.cast(RayBatch(origin, direction, np.zeros(40, np.int64), np.zeros(40)))
