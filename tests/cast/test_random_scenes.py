"""Random scenes: casters against mj_ray where nobody chose the numbers."""

from __future__ import annotations

import mujoco
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lidar_sim.cast import EXACT_CASTERS, cast_rays

KINDS = ("box", "sphere", "capsule", "ellipsoid", "cylinder", "mesh", "hfield", "plane")
RAYS = 150
# DESIGN promise 5.
DISTANCE_M = 1e-9
NORMAL = 1e-8


def random_scene(rng: np.random.Generator, bodies: int) -> str:
    def three(low: float, high: float) -> str:
        return " ".join(f"{value:.4f}" for value in rng.uniform(low, high, 3))

    def geom(kinds: tuple[str, ...]) -> str:
        kind = rng.choice(kinds)
        shape = {"mesh": 'mesh="m"', "hfield": 'hfield="h"'}.get(kind) or f'size="{three(0.03, 0.8)}"'
        ghost = 'contype="0" conaffinity="0"' if rng.random() < 0.4 else ""
        alpha = f'rgba="1 1 1 {rng.choice([0, 0.5, 1], p=[0.1, 0.3, 0.6])}"'
        return f'<geom type="{kind}" {shape} pos="{three(-2, 2)}" euler="{three(-180, 180)}" {ghost} {alpha}/>'

    def body() -> str:
        inertial = f'<inertial mass="1" diaginertia="1 1 1" pos="{three(-1, 1)}" euler="{three(-180, 180)}"/>'
        geoms = "".join(geom(KINDS[:6]) for _ in range(rng.integers(1, 4)))
        return f'<body pos="{three(-2, 2)}" euler="{three(-180, 180)}"><freejoint/>{inertial}{geoms}</body>'

    heights = " ".join(f"{value:.3f}" for value in rng.random(24))
    vertices = " ".join(f"{value:.3f}" for value in rng.normal(scale=0.5, size=36))
    mesh = f'<mesh name="m" vertex="{vertices}"/>'
    hfield = f'<hfield name="h" nrow="4" ncol="6" size="1 .8 .4 .1" elevation="{heights}"/>'
    world = [geom(KINDS) for _ in range(rng.integers(0, 5))] + [body() for _ in range(bodies)]
    return f"<mujoco><asset>{mesh}{hfield}</asset><worldbody>{''.join(world)}</worldbody></mujoco>"


@given(seed=st.integers(0, 2**32 - 1), bodies=st.integers(0, 6), shared=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_caster_sees_what_mj_ray_sees(seed: int, bodies: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    model = mujoco.MjModel.from_xml_string(random_scene(rng, bodies))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    direction = rng.normal(size=(RAYS, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)  # again, as cast_rays will: a fixed point
    origin = np.repeat(rng.uniform(-3, 3, (1, 3)), RAYS, 0) if shared else rng.uniform(-3, 3, (RAYS, 3))
    geom, normal = np.zeros((RAYS, 1), np.int32), np.zeros((RAYS, 3))
    distance = np.array(
        [mujoco.mj_ray(model, data, origin[i], direction[i], None, 1, -1, geom[i], normal[i]) for i in range(RAYS)]
    )
    for name in EXACT_CASTERS:
        hits = cast_rays(model, data, origin, direction, caster=name)
        np.testing.assert_array_equal(hits.geom, geom[:, 0], err_msg=name)
        np.testing.assert_allclose(hits.distance, np.where(distance < 0, np.inf, distance), rtol=0, atol=DISTANCE_M)
        np.testing.assert_allclose(hits.normal, normal, rtol=0, atol=NORMAL)
