"""Pictures of every shipped device's directions."""

from __future__ import annotations

import numpy as np
import pytest

from lidar_sim.pattern import make_pattern
from lidar_sim.pictures.patterns import draw_pattern
from lidar_sim.profile import load_profile, shipped_profiles

IMAGE = pytest.importorskip("matplotlib.image", reason="matplotlib comes with the extra 'plot'")
SIZE_PX = (500, 300)


@pytest.mark.parametrize("name", sorted(shipped_profiles()))
def test_every_device_can_be_drawn(name, tmp_path):
    profile = load_profile(name)
    path = draw_pattern(profile, make_pattern(profile), tmp_path / "a.png", size_px=SIZE_PX)
    image = IMAGE.imread(path)[..., :3]
    assert image.shape == (SIZE_PX[1], SIZE_PX[0], 3)
    assert ((image.max(axis=2) - image.min(axis=2)) > 0.3).mean() > 0.001


def test_a_non_repeating_pattern_looks_different_in_the_next_frame(tmp_path):
    profile = load_profile("avia")
    pattern = make_pattern(profile)
    pictures = [
        IMAGE.imread(draw_pattern(profile, pattern, tmp_path / f"{n}.png", frame=n, size_px=SIZE_PX)) for n in (0, 1)
    ]
    assert not np.array_equal(*pictures)
