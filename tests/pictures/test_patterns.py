"""Pictures of every shipped device's directions."""

from __future__ import annotations

import numpy as np
import pytest

from lidar_sim.pattern import make_pattern
from lidar_sim.pictures import canvas
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


def test_there_is_a_scale_of_time_only_where_time_passes(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(canvas, "color_bar", lambda *_, **options: drawn.append(options["limits"]))
    for name in ("d435i", "utm30lx", "vlp16"):
        draw_pattern(load_profile(name), make_pattern(load_profile(name)), tmp_path / f"{name}.png", size_px=SIZE_PX)
    assert len(drawn) == 2
    assert all(low == 0.0 and high > 1.0 for low, high in drawn)


@pytest.mark.parametrize(("name", "kind"), [("utm30lx", "polar"), ("vlp16", "rectilinear"), ("d435i", "rectilinear")])
def test_a_scanner_of_one_row_is_drawn_as_a_turn(name, kind, monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(canvas, "save", lambda figure, path: figures.append(figure))
    draw_pattern(load_profile(name), make_pattern(load_profile(name)), tmp_path / "a.png", size_px=SIZE_PX)
    assert figures[0].axes[0].name == kind


def test_an_image_is_drawn_by_its_edges_and_lines_within(monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(canvas, "save", lambda figure, path: figures.append(figure))
    profile = load_profile("d435i")
    pattern = make_pattern(profile)
    draw_pattern(profile, pattern, tmp_path / "a.png", size_px=SIZE_PX)
    axes = figures[0].axes[0]
    x, y, z = pattern.firings(pattern.frame_start(0), pattern.frame_start(1)).direction.T
    drawn = np.concatenate([line.get_xydata() for line in axes.lines])
    for angles, column in ((np.arctan2(y, x), 0), (np.arcsin(z), 1)):
        assert np.degrees([angles.min(), angles.max()]) == pytest.approx(
            [drawn[:, column].min(), drawn[:, column].max()], abs=0.1
        )


def test_a_non_repeating_pattern_looks_different_in_the_next_frame(tmp_path):
    profile = load_profile("avia")
    pattern = make_pattern(profile)
    pictures = [
        IMAGE.imread(draw_pattern(profile, pattern, tmp_path / f"{n}.png", frame=n, size_px=SIZE_PX)) for n in (0, 1)
    ]
    assert not np.array_equal(*pictures)
