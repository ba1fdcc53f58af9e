"""A process that was forked after its parent used threads still casts, on its one thread."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import multiprocessing, sys
import mujoco, numpy as np
from lidar_sim import cast_rays

model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom type="sphere" size="2"/></worldbody></mujoco>')
directions = np.random.default_rng(0).normal(size=(200_000, 3))

def total(_):
    return float(cast_rays(model, mujoco.MjData(model), [0.0, 0.0, 0.0], directions, caster=sys.argv[1]).distance.sum())

expected = total(0)
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.map_async(total, [0]).get(timeout=500) == [expected]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("caster", ["multiray", "bvh"])
def test_a_forked_worker_casts_what_its_parent_does(caster: str) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, caster], capture_output=True, text=True, timeout=900, check=False
    )
    assert run.returncode == 0, run.stderr
