"""The face of a mesh and the place on it: corners and shares give back the point that was hit."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.cast import Scene, cast_rays, gives_faces, make_caster

# Vertices are f32, poses and distances f64 of a few metres.
PLACE_M = 1e-12
# Next to an edge the two faces and the sign of a share are a matter of rounding.
EDGE = 1e-9


@pytest.mark.parametrize("model", ["mesh", "sdf_octree", "crowd", "flex_2d"], indirect=True)
def test_corners_and_shares_give_the_point_back(caster_name, model, random_data, rays, keyframe, batch) -> None:
    data = random_data(model)
    caster = make_caster(caster_name, Scene(model, exclude="none"))
    caster.pose(keyframe(data), keyframe(data))
    origin, direction = rays(data)
    hits = caster.cast(batch(origin, direction))
    on_mesh = (hits.geom >= 0) & (model.geom_type[hits.geom] == mujoco.mjtGeom.mjGEOM_MESH)
    if not gives_faces(caster_name):
        on_mesh[:] = False
    np.testing.assert_array_equal(hits.face >= 0, on_mesh)
    np.testing.assert_array_equal(hits.barycentric[~on_mesh], 0.0)
    for i in np.flatnonzero(on_mesh):
        geom, mesh = hits.geom[i], model.geom_dataid[hits.geom[i]]
        assert hits.face[i] < model.mesh_facenum[mesh]
        corner = model.mesh_face[model.mesh_faceadr[mesh] + hits.face[i]] + model.mesh_vertadr[mesh]
        u, v = hits.barycentric[i]
        assert min(u, v, 1 - u - v) > -EDGE
        turned = data.geom_xmat[geom].reshape(3, 3)
        corners = model.mesh_vert[corner].astype(np.float64) @ turned.T + data.geom_xpos[geom]
        point = origin[i] + hits.distance[i] * direction[i]
        np.testing.assert_allclose(np.array([1 - u - v, u, v]) @ corners, point, rtol=0, atol=PLACE_M)
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        np.testing.assert_allclose(hits.normal[i], normal / np.linalg.norm(normal), rtol=0, atol=1e-9)


def test_each_corner_has_its_own_share() -> None:
    """A mesh of one known face: along the edges, the third share is nought."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><asset><mesh name="t" inertia="shell"
        vertex="0 0 0 2 0 0 0 4 0 0 0 1" face="0 1 2 0 1 3"/></asset>
        <worldbody><geom type="mesh" mesh="t" pos="0 0 5"/></worldbody></mujoco>""")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    corner = data.geom_xpos[0] + model.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T
    wanted = np.array([[0.2, 0.3, 0.5], [0.7, 0.1, 0.2], [0.1, 0.8, 0.1]])
    first = model.mesh_face[0]
    above = wanted @ corner[first]
    normal = np.cross(corner[first[1]] - corner[first[0]], corner[first[2]] - corner[first[0]])
    normal /= np.linalg.norm(normal)
    hits = cast_rays(model, data, above - 3 * normal, np.tile(normal, (3, 1)), caster="brute")
    np.testing.assert_array_equal(hits.face, 0)
    np.testing.assert_allclose(hits.barycentric, wanted[:, 1:], rtol=0, atol=PLACE_M)


def test_who_tells_faces() -> None:
    assert gives_faces("brute")
    assert not gives_faces("multiray")
