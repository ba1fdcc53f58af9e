"""Pictures of clouds: right size, not blank, driven by the data, whole or not at all."""

from __future__ import annotations

import builtins
from dataclasses import replace

import numpy as np
import pytest

from lidar_sim.errors import ExportError, MissingExtraError, OptionError
from lidar_sim.pictures import canvas
from lidar_sim.pictures.clouds import _without_farthest, draw_map, draw_scan
from lidar_sim.pictures.coloring import color_by, paint, robust_limits
from lidar_sim.pictures.markers import Ground, draw_ground_rings, draw_sensor, ground_below
from lidar_sim.pictures.seen import destaggered
from lidar_sim.pictures.splat import View, fit
from lidar_sim.records import PoseTrack, Scan

IMAGE = pytest.importorskip("matplotlib.image", reason="matplotlib comes with the extra 'plot'")
SIZE_PX = (640, 400)
HALF_SIZE_M = np.array([10.0, 6.0, 2.5])
EYE_M = np.array([0.0, 0.0, -1.5])


def spinning_directions(rows: int, columns: int, stagger_columns: int = 0) -> np.ndarray:
    """(rows * columns, 3) unit vectors, top row first; odd rows look ``stagger_columns`` columns ahead."""
    elevation = np.radians(np.linspace(20.0, -20.0, rows))[:, None]
    offset = stagger_columns * (np.arange(rows) % 2)[:, None]
    azimuth = -2 * np.pi * (np.arange(columns)[None] + offset) / columns
    flat = np.cos(elevation)
    return np.stack(
        [flat * np.cos(azimuth), flat * np.sin(azimuth), np.broadcast_to(np.sin(elevation), azimuth.shape)], -1
    ).reshape(-1, 3)


def box_scan(directions: np.ndarray, shape: tuple[int, int] | None, *, device: str = "toy", number: int = 0) -> Scan:
    """World-frame scan of the room's inside, seen from ``EYE_M`` in the middle of it."""
    towards = directions + 1e-12
    far = np.maximum((HALF_SIZE_M - EYE_M) / towards, (-HALF_SIZE_M - EYE_M) / towards)
    axis, distance = far.argmin(axis=1), far.min(axis=1)
    n = len(directions)
    normal = np.zeros((n, 3))
    normal[np.arange(n), axis] = -np.sign(towards[np.arange(n), axis])
    points = EYE_M + distance[:, None] * directions
    columns = shape[1] if shape else n
    fields = {
        **dict(zip("xyz", points.T, strict=True)),
        "range": distance,
        "intensity": np.full(n, 50.0, np.float32),
        "row": (np.arange(n) // columns).astype(np.uint16),
        "column": (np.arange(n) % columns).astype(np.uint32),
        "t": np.arange(n, dtype=np.uint32),
        "return_number": np.ones(n, np.uint8),
        **{f"normal_{name}": normal[:, k].astype(np.float32) for k, name in enumerate("xyz")},
    }
    track = PoseTrack(np.array([0], np.int64), EYE_M[None].copy(), np.array([[1.0, 0.0, 0.0, 0.0]]))
    return Scan(device, "toy@site", number, number * 100_000_000, "world", fields, shape, track, np.zeros(7))


def camera_directions(rows: int, columns: int) -> np.ndarray:
    v, u = np.mgrid[:rows, :columns]
    towards = np.stack([np.full(u.shape, columns / 2), columns / 2 - u - 0.5, rows / 2 - v - 0.5], -1).reshape(-1, 3)
    return towards / np.linalg.norm(towards, axis=1, keepdims=True)


SCANS = {
    "organised": box_scan(spinning_directions(16, 360), (16, 360)),
    "image": box_scan(camera_directions(48, 64), (48, 64)),
    "rosette": box_scan(camera_directions(60, 60)[::3], None),
    "one row": box_scan(spinning_directions(1, 500), (1, 500)),
}


def read(path) -> np.ndarray:
    return IMAGE.imread(path)[..., :3]


@pytest.mark.parametrize("kind", SCANS)
@pytest.mark.parametrize("view", ["perspective", "top"])
def test_a_picture_has_its_size_and_shows_something(kind, view, tmp_path):
    path = draw_scan(SCANS[kind], tmp_path / "a.png", view=view, size_px=SIZE_PX)
    image = read(path)
    assert image.shape == (SIZE_PX[1], SIZE_PX[0], 3)
    bright = (image.max(axis=2) - image.min(axis=2) > 0.3).mean()  # coloured, unlike background and text
    assert bright > 0.002


def test_the_picture_follows_the_data(tmp_path):
    scan = SCANS["organised"]
    moved = replace(scan, fields={**scan.fields, "x": scan["x"] * 0.5})
    one, again, other = (
        read(draw_scan(each, tmp_path / f"{k}.png", size_px=SIZE_PX)) for k, each in enumerate([scan, scan, moved])
    )
    assert np.array_equal(one, again)
    assert (one != other).any(axis=2).mean() > 0.01


def test_the_colour_follows_the_quantity(tmp_path):
    pictures = [
        read(draw_scan(SCANS["organised"], tmp_path / f"{color}.png", color=color, size_px=SIZE_PX))
        for color in ("height", "distance", "t")
    ]
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[1], pictures[2])


def drawn_figure(monkeypatch, draw, *args, **options):
    """The figure that would have been saved."""
    kept = []
    monkeypatch.setattr(canvas, "save", lambda figure, path: kept.append(figure))
    draw(*args, "unused.png", **options)
    return kept[0]


def test_directions_of_a_wide_view_fill_a_strip_below_the_cloud(monkeypatch):
    scan = box_scan(spinning_directions(16, 360), None)
    figure = drawn_figure(monkeypatch, draw_scan, scan)
    main, side = figure.axes[:2]
    side.apply_aspect()
    assert side.get_position().y1 < main.get_position().y0
    assert side.get_position().width > 0.7
    assert side.get_aspect() == 1.0
    assert sorted(side.get_xlim()) == pytest.approx([-180, 180], abs=15)
    assert side.get_ylim() == pytest.approx([-20, 20], abs=2)
    assert {45.0, 90.0, 135.0} <= set(side.get_xticks())


@pytest.mark.parametrize("kind", ["organised", "image", "rosette"])
def test_near_and_far_have_a_scale_in_metres(kind, monkeypatch):
    figure = drawn_figure(monkeypatch, draw_scan, SCANS[kind], color="distance")
    labels = {axes.get_xlabel() + axes.get_ylabel(): axes for axes in figure.axes}
    one, other = labels["distance from the sensor m"], labels["range m"]
    ends = [sorted(axes.get_xlim() if axes.get_xlabel() else axes.get_ylim()) for axes in (one, other)]
    assert ends[0] == pytest.approx(ends[1], rel=0.02)
    assert one.get_yscale() == "log"


def test_every_ring_in_the_picture_has_its_label_in_a_dark_box():
    view = fit(View(np.zeros(3), 0.0, 90.0, parallel=True), SCANS["organised"].points, 1.6)
    axes = canvas.new_figure(SIZE_PX).add_axes((0, 0, 1, 1))
    points = SCANS["organised"].points
    ground = ground_below(points, EYE_M)
    draw_ground_rings(axes, view, EYE_M, ground, 1.6, points)
    assert [text.get_text() for text in axes.texts] == [f"{ground.step_m * (k + 1):g} m" for k in range(ground.rings)]
    for text in axes.texts:
        assert text.get_bbox_patch().get_facecolor()[3] > 0.5
        assert np.abs(text.get_position()).max() < 1.6


def test_a_label_keeps_off_the_points():
    view = View(np.zeros(3), 0.0, 90.0, distance_m=10.0, parallel=True)
    axes = canvas.new_figure(SIZE_PX).add_axes((0, 0, 1, 1))
    turn = np.linspace(0.0, np.pi, 400)  # every ring's left half
    points = np.concatenate([r * np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1) for r in (1.0, 2.0)])
    ground = ground_below(points, np.zeros(3))
    draw_ground_rings(axes, view, np.zeros(3), ground, 1.6, points)
    screen, _ = view.project(points)
    assert ground.step_m == 0.5
    for text in axes.texts:
        assert np.linalg.norm(screen - text.get_position(), axis=1).min() > 0.04


def test_a_map_holds_all_points_but_the_farthest():
    rng = np.random.default_rng(1)
    near, far = rng.normal(0.0, 1.0, (9000, 3)), rng.uniform(-30.0, 30.0, (1000, 3))
    kept = _without_farthest(np.concatenate([near, far]), np.zeros(3), 0.5)
    assert len(kept) == 9950
    view = fit(View(np.zeros(3), 0.0, 90.0, parallel=True), kept, 1.6, outliers_percent=0.0)
    screen, _ = view.project(kept)
    assert np.abs(screen / [1.6, 1.0]).max() < 1.0


def test_equal_ratios_are_equal_steps_of_a_logarithmic_scale():
    values = np.geomspace(0.5, 50.0, 201)
    coloring = paint(values, "turbo_r", "", logarithmic=True)
    even = paint(np.linspace(0.0, 1.0, 201), "turbo_r", "")
    assert np.abs(coloring.rgb - even.rgb).max() < 0.03  # a step of the palette
    assert coloring.limits == pytest.approx((0.5, 50.0), rel=0.05)
    assert np.isfinite(paint(np.array([np.nan, 0.0, 1.0]), "turbo_r", "", logarithmic=True).rgb).all()


def test_the_sensor_has_an_arrow_forward_and_a_line_to_the_ground():
    axes = canvas.new_figure(SIZE_PX).add_axes((0, 0, 1, 1))
    view = View(np.zeros(3), 90.0, 30.0, distance_m=20.0)
    draw_sensor(axes, view, np.array([[0.0, 0.0, 1.0]]), np.array([0.0, 1.0, 0.0]), Ground(0.0, 1.0, 5))
    arrow = axes.texts[0]
    assert arrow.xy[1] > arrow.xyann[1], "away from the beholder is up"
    down = next(line for line in axes.lines if line.get_linestyle() == ":")
    assert down.get_xydata() == pytest.approx(view.project(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))[0])


def test_an_empty_scan_is_a_picture_too(tmp_path):
    empty = box_scan(np.empty((0, 3)), None)
    assert read(draw_scan(empty, tmp_path / "a.png", size_px=SIZE_PX)).shape == (SIZE_PX[1], SIZE_PX[0], 3)


def test_silent_beams_are_left_out(tmp_path):
    scan = SCANS["organised"]
    silent = np.arange(len(scan)) % 2 == 0
    with_silent = {name: np.where(silent, np.nan, scan[name]) for name in ("x", "y", "z", "range")}
    path = draw_scan(replace(scan, fields={**scan.fields, **with_silent}), tmp_path / "a.png", size_px=SIZE_PX)
    assert read(path).any()


def test_a_map_shows_the_way_of_the_sensor(tmp_path):
    scans = []
    for number in range(5):
        scan = box_scan(spinning_directions(8, 180), (8, 180), number=number)
        shift = np.array([number - 2.0, 0.0, 0.0])
        track = replace(scan.track, position=scan.track.position + shift)
        scans.append(replace(scan, track=track))
    image = read(draw_map(scans, tmp_path / "map.png", size_px=SIZE_PX))
    white = (image.min(axis=2) > 0.85)[80:]
    rows = np.flatnonzero(white.sum(axis=1) > 20)
    assert len(rows), "a straight way along x is a level white line"
    with pytest.raises(OptionError, match="at least one scan"):
        draw_map([], tmp_path / "none.png")


def test_surfaces_turned_away_are_left_out_of_a_closed_room(tmp_path):
    from lidar_sim.pictures.clouds import _facing, _view

    scan = SCANS["organised"]
    rows = np.ones(len(scan), bool)
    facing = _facing(scan, scan.points, _view("top", np.array([1.0, 0.0, 0.0])), rows)
    ceiling, floor = scan["normal_z"] < 0, scan["normal_z"] > 0
    assert ceiling.any()
    assert floor.any()
    assert not facing[ceiling].any()
    assert facing[floor].all()


@pytest.mark.parametrize("stagger", [3, 17])
def test_destaggering_puts_the_rows_of_a_staggered_device_over_one_another(stagger):
    scan = box_scan(spinning_directions(8, 360, stagger), (8, 360))
    straight = box_scan(spinning_directions(8, 360), (8, 360))
    scan, straight = (replace(each, frame="sensor", fields=_around_eye(each)) for each in (scan, straight))
    image, expected = destaggered(scan.organized("range"), scan), straight.organized("range")
    best = min(np.abs(np.roll(image, shift, axis=1) - expected).max() for shift in range(360))
    assert best < 1e-9  # the same rays, computed twice
    assert np.abs(scan.organized("range") - expected).max() > 0.1


def _around_eye(scan):
    return {**scan.fields, **{name: scan[name] - EYE_M[k] for k, name in enumerate("xyz")}}


def test_robust_limits_pass_over_outliers_and_never_meet():
    values = np.concatenate([np.linspace(0.0, 1.0, 1000), [1e6, np.inf, np.nan]])
    low, high = robust_limits(values)
    assert 0.0 <= low < 0.05
    assert 0.95 < high < 1.05
    assert robust_limits(np.full(5, 3.0)) == (2.5, 3.5)
    assert robust_limits(np.array([np.nan])) == (0.0, 1.0)


def test_equal_values_have_equal_colours_and_different_ones_do_not():
    rgb = paint(np.array([0.0, 0.5, 0.5, 1.0]), "turbo", "").rgb
    assert np.array_equal(rgb[1], rgb[2])
    assert len(np.unique(rgb, axis=0)) == 3


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"view": "side"}, OptionError, "unknown view 'side'; valid: perspective, top"),
        ({"color": "heigth"}, OptionError, "did you mean 'height'"),
        ({"size_px": (10, 10)}, OptionError, "200 to 20000 pixels"),
        ({"path": "a.jpg"}, ExportError, "written as .png"),
        ({"path": "nowhere/a.png"}, ExportError, "no folder"),
    ],
)
def test_wrong_input_leaves_nothing(options, error, said, tmp_path):
    options = {"size_px": SIZE_PX, **options}
    path = tmp_path / options.pop("path", "a.png")
    with pytest.raises(error, match=said):
        draw_scan(SCANS["rosette"], path, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_matplotlib_names_the_extra(monkeypatch, tmp_path):
    real_import = builtins.__import__

    def without_matplotlib(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(MissingExtraError, match=r"lidar-sim\[plot\]"):
        canvas.new_figure(SIZE_PX)


def test_an_unknown_quantity_lists_those_of_the_scan():
    scan = SCANS["rosette"]
    with pytest.raises(OptionError, match=r"valid: .*intensity"):
        color_by("colour", scan, scan.points, EYE_M)
