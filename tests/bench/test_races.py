"""The races of casters: same rays for all, honest clocks, the true hits, no report at zero hits."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from lidar_sim.bench import arenas, contest, upkeep
from lidar_sim.bench.arenas import Arena, hills, robot_path, room, rough_room
from lidar_sim.bench.beams import BEAMS, batch, every, spinning
from lidar_sim.bench.contest import Standing, keyframe_of, visible_scene
from lidar_sim.bench.race import race
from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.bench.sheet import Sheet, growth, markdown, read_sheet
from lidar_sim.bench.upkeep import Upkeep
from lidar_sim.cast import make_caster
from lidar_sim.errors import ExportError

SIZES = {"os1": 65_536, "vlp16": 28_800, "avia": 24_000, "random": 65_536}
# Few rays, so that a race takes a moment.
FAN = spinning(90, np.linspace(-20.0, 20.0, 16))


@pytest.fixture(scope="module", autouse=True)
def bundled_robot():
    """The same robot with and without the Go2 on the machine."""
    before = arenas.robot_path
    path = arenas.bundled_folder("models") / "quadruped.xml"
    arenas.robot_path = lambda: (path, "the bundled quadruped")
    yield
    arenas.robot_path = before


@pytest.fixture(scope="module")
def small_room() -> Arena:
    return room("room5", 5)


@pytest.fixture(scope="module")
def standings(small_room) -> list[Standing]:
    return contest.contest(small_room, "fan", FAN, threads=1, rounds=2, against=("mj_multiRay", "mj_rayHfield"))


def test_the_go2_is_found_by_its_folder_or_replaced_with_a_note(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LIDAR_SIM_ROBOTS", str(tmp_path))
    (tmp_path / "unitree_go2").mkdir()
    (tmp_path / "unitree_go2" / "go2.xml").write_text("<mujoco/>")
    assert robot_path() == (tmp_path / "unitree_go2" / "go2.xml", "")
    monkeypatch.delenv("LIDAR_SIM_ROBOTS")
    monkeypatch.setattr(arenas, "__file__", str(tmp_path / "a" / "b" / "c" / "arenas.py"))
    path, note = robot_path()
    assert path.name == "quadruped.xml"
    assert "LIDAR_SIM_ROBOTS" in note


def test_rooms_hold_their_obstacles_at_rest_or_moving() -> None:
    bare, full, moving = room("a", 0), room("b", 25), room("c", 25, moving=True)
    assert full.geoms - bare.geoms == moving.geoms - bare.geoms == 25
    assert full.model.nmocap == 0
    assert moving.model.nmocap == 25
    np.testing.assert_allclose(np.sort(full.data.geom_xpos, 0), np.sort(moving.data.geom_xpos, 0), atol=1e-12)
    near = np.hypot(*full.data.geom_xpos[full.model.geom_bodyid == 0][5:, :2].T)
    assert near.min() >= 1.5  # nothing stands where the robot is


def test_the_rough_room_has_about_as_many_triangles_and_is_closed_below_the_walls() -> None:
    arena = rough_room("m", 20_000)
    assert arena.triangles == pytest.approx(20_000, rel=0.05)
    level = spinning(200, np.linspace(-30.0, 0.0, 10))
    true_m = contest._true_distance(arena, level)
    assert np.isfinite(true_m).all()
    assert true_m.max() < 1.5 * 12 * np.sqrt(2)


def test_the_hills_are_seen_from_0_9_metres() -> None:
    arena = hills("h", 33)
    assert arena.triangles == 2 * 32 * 32
    down = contest._true_distance(arena, np.array([[0.0, 0.0, -1.0]]))
    assert down[0] == pytest.approx(0.9, abs=0.05)  # not just over the middle


@pytest.mark.parametrize("name", sorted(BEAMS))
def test_beams_are_unit_vectors_and_as_many_as_stated(name) -> None:
    direction = BEAMS[name]()
    assert direction.shape == (SIZES[name], 3)
    np.testing.assert_allclose(np.linalg.norm(direction, axis=1), 1.0, atol=1e-14)
    assert direction.flags.c_contiguous


def test_a_part_of_the_beams_meets_every_laser() -> None:
    direction = spinning(1024, np.linspace(-22.5, 22.5, 64))
    for wanted in (100, 1000, 5000):
        part = every(direction, wanted)
        assert 0.8 * wanted < len(part) < 1.7 * wanted
        assert len(np.unique(np.round(part[:, 2], 9))) == 64
    assert len(every(direction, 10**6)) == len(direction)


def test_each_round_runs_all_and_the_shortest_repeat_counts() -> None:
    calls = []
    naps = iter([0.0] * 2 + [0.03, 0.001, 0.03] * 3)

    def nap() -> None:
        calls.append("nap")
        time.sleep(next(naps))

    times = race({"nap": nap, "none": lambda: calls.append("none")}, rounds=3, threads=2)
    assert calls == ["nap", "none"] * 2 + (["nap"] * 3 + ["none"] * 3) * 3
    assert (times["nap"] >= 0.001).all()
    assert (times["nap"] < 0.03).all()


def test_one_thread_is_timed_by_its_own_work_and_the_cores_are_given_back() -> None:
    """Sleep costs no CPU time."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    times = race({"sleep": lambda: time.sleep(0.02)}, rounds=1, threads=1, repeats=1)
    assert times["sleep"][0] < 0.01
    if allowed is not None:
        assert os.sched_getaffinity(0) == allowed


def test_standings_are_of_the_same_rays_and_true(small_room, standings) -> None:
    assert [row.contestant for row in standings] == ["bvh", "mj_multiRay"]  # no height field here
    true_m = contest._true_distance(small_room, FAN)
    for row in standings:
        assert row.rays == row.cast == len(FAN)
        assert row.hit_ratio == pytest.approx(np.isfinite(true_m).mean())
        assert row.mrays_per_s == pytest.approx(row.rays / row.ms * 1e-3)
        assert row.sampled == len(FAN)
    assert standings[0].ratio == 1.0
    assert standings[0].wrong == 0


def test_wrong_rays_are_counted(small_room, monkeypatch) -> None:
    """An oracle that has moved away by 1 cm: then all hits are wrong, and no miss is."""
    true_distance = contest._true_distance
    monkeypatch.setattr(contest, "_true_distance", lambda arena, rays: true_distance(arena, rays) + 0.01)
    row = contest.contest(small_room, "fan", FAN, threads=1, rounds=1, against=())[0]
    assert row.wrong == round(row.hit_ratio * len(FAN))


def test_the_slow_get_fewer_rays_and_their_times_are_scaled(small_room, monkeypatch) -> None:
    monkeypatch.setattr(contest, "_LONGEST_RUN_S", 1e-9)
    rows = contest.contest(small_room, "fan", FAN, threads=1, rounds=2, against=("mj_multiRay",))
    assert all(row.cast < row.rays for row in rows)
    assert rows[1].ms == pytest.approx(rows[1].rays / rows[1].mrays_per_s * 1e-3)


def test_a_height_field_is_raced_against_mujocos_own() -> None:
    rows = contest.contest(hills("h", 33), "fan", FAN, threads=1, rounds=1, against=tuple(contest.CONTESTANTS)[2:])
    assert [row.contestant for row in rows] == ["bvh", "mj_rayHfield"]
    assert [row.wrong for row in rows] == [0, 0]


def test_embree_is_given_the_same_rays(small_room) -> None:
    pytest.importorskip("open3d", reason="open3d comes with the extra 'open3d'", exc_type=ImportError)
    rows = contest.contest(small_room, "fan", FAN, threads=1, rounds=1, against=("embree",))
    assert rows[1].cast == len(FAN)
    assert rows[1].wrong < 0.01 * len(FAN)  # silhouettes
    assert rows[1].triangles > rows[0].triangles  # solids are triangles too


def test_no_hits_no_report(small_room) -> None:
    up = np.repeat([[0.0, 0.0, 1.0]], 50, axis=0)
    with pytest.raises(NoHitsError, match=r"none of the 50 rays of up hit anything in room5"):
        contest.contest(small_room, "up", up, threads=1, rounds=1, against=())
    away = replace(small_room, origin=np.array([0.0, 0.0, -50.0]))
    with pytest.raises(NoHitsError):
        upkeep.measure_firings(away, 1)


def test_the_drift_is_even_and_moves_everything() -> None:
    arena = room("moving", 6, moving=True)
    frames = upkeep._drift(arena, 3)
    assert [frame.time_ns for frame in frames] == [0, 2_000_000, 4_000_000]
    first, second, third = (frame.world.mocap_pos for frame in frames)
    np.testing.assert_allclose(third - second, second - first, atol=1e-12)
    moved = np.abs(frames[1].world.geom_xpos - frames[0].world.geom_xpos).max(axis=1) > 0
    still = arena.model.body_weldid[arena.model.geom_bodyid] == 0
    still &= arena.model.body_mocapid[arena.model.body_rootid[arena.model.geom_bodyid]] < 0
    assert (moved == ~still).all()


def test_upkeep_is_measured(small_room) -> None:
    rows = upkeep.measure_refresh(5)
    assert [row.geoms for row in rows] == [small_room.geoms] * 2
    rows += [
        upkeep.measure_motion(5, 1),
        upkeep.measure_scaling(small_room, FAN, 1),
        upkeep.measure_firings(small_room, 1),
    ]
    for row in rows:
        assert 0.0 < row.value <= row.worst


def test_small_calls_hit_what_one_large_call_hits(small_room) -> None:
    from lidar_sim.bench.kernels import cast_firings

    caster = make_caster("bvh", visible_scene(small_room), 1)
    caster.pose(keyframe_of(small_room.data), keyframe_of(small_room.data))
    rays = batch(small_room.origin, FAN)
    table, order, hits, packed = upkeep._kernel_arguments(caster, batch(small_room.origin, FAN[:16]))
    found = cast_firings(table, order, rays.origin, rays.direction, rays.phase, hits, packed, 16)
    expected = caster.cast(rays)
    assert found == np.isfinite(expected.distance).sum()
    np.testing.assert_array_equal(hits[0], expected.distance[-16:])
    assert vars(upkeep.caster_module)["cast_serial"] is upkeep.cast_serial


def test_a_sheet_comes_back_and_tells_the_figures_before(standings, tmp_path) -> None:
    sheet = Sheet({"date": "today"}, ["a note"], standings, [Upkeep("pose", 5, 1.5, 2.0, "ms")])
    sheet.write(tmp_path / "a.json")
    assert read_sheet(tmp_path / "a.json") == sheet
    text = markdown(sheet)
    assert "a note" in text
    assert f"{standings[1].ratio:.2f} x" in text
    assert "| pose | 5     | 1.5 ms | 2 ms  |" in text
    later = replace(sheet, upkeep=[Upkeep("pose", 5, 0.5, 0.7, "ms"), Upkeep("other", 5, 1.0, 1.0, "x")])
    beside = markdown(later, sheet).splitlines()
    assert next(line for line in beside if line.startswith("| pose")).split("|")[-2].strip() == "1.5"
    assert next(line for line in beside if line.startswith("| other")).split("|")[-2].strip() == ""
    for text in ("", "[]", '{"format": "other"}'):
        (tmp_path / "b.json").write_text(text)
        with pytest.raises(ExportError, match="sheet"):
            read_sheet(tmp_path / "b.json")


def test_growth_is_time_per_ray(standings) -> None:
    few = replace(standings[0], arena="room100", beams="os1", geoms=161, ms=2.0)
    many = replace(few, arena="room10000", geoms=10_061, ms=7.0)
    other = replace(many, cpu="haswell", ms=70.0)
    assert growth([few, many, other, *standings]).value == 3.5
    assert growth([few]) is None


def test_mujoco_is_asked_with_hidden_groups(small_room) -> None:
    assert small_room.geomgroup.tolist() == [1, 1, 1, 0, 1, 1]
    hidden = small_room.model.geom_group == 3
    assert hidden.any()
    assert not visible_scene(small_room).geom_visible[hidden].any()
    assert mujoco.mjNGROUP == 6
