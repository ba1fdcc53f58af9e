"""Fixtures shared by all rooms' tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first example of a test may compile a kernel.
settings.register_profile("lidar_sim", deadline=None)
settings.load_profile("lidar_sim")

_PLACES = (
    os.environ.get("LIDAR_SIM_ROBOTS", ""),
    str(Path(__file__).resolve().parents[2] / "shared" / "robots"),
)


def _go2() -> Path | None:
    for place in _PLACES:
        path = Path(place) / "unitree_go2" / "go2.xml"
        if place and path.is_file():
            return path
    return None


@pytest.fixture(scope="session")
def go2_path() -> Path:
    """MJCF of a real robot, the Unitree Go2; must be present in CI."""
    path = _go2()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("the Unitree Go2 must be present in CI: set LIDAR_SIM_ROBOTS to the folder of unitree_go2/")
        pytest.skip("no Unitree Go2: set LIDAR_SIM_ROBOTS to the folder that holds unitree_go2/go2.xml")
    return path
