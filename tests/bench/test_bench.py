"""The benchmark's own honesty: same rays for all, the plain call really plain, no report at zero hits."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from lidar_sim.bench import pipeline
from lidar_sim.bench import report as report_module
from lidar_sim.bench.casting import CastSpeed, frame_rays, measure_casting
from lidar_sim.bench.pipeline import measure_pipeline, room_shares
from lidar_sim.bench.plain import MjRay, PlainMultiRay, wrong_ratio
from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.bench.report import BenchReport, compare, read_report, run_bench
from lidar_sim.bench.rig import make_rig
from lidar_sim.cast import EXACT_CASTERS, Scene, make_caster
from lidar_sim.errors import ExportError, ModelError, OptionError

# A mesh of 12 triangles, a height field of 2 x 3 cells, and primitives, which have none.
SOLIDS = """<mujoco><asset>
  <mesh name="cube" vertex="0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1"/>
  <hfield name="hills" nrow="3" ncol="4" size="2 2 0.5 0.1" elevation="0 1 0 0 1 0 0 1 0 0 0 1"/></asset>
  <worldbody><geom type="mesh" mesh="cube"/><geom type="hfield" hfield="hills"/><geom size="1"/>
  <body name="lidar" pos="0 0 3"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
TRIANGLES = 12 + 2 * 2 * 3
EMPTY = '<mujoco><worldbody/><option gravity="0 0 0"/></mujoco>'
BLIND = """<mujoco><worldbody><body name="base"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
  <site name="lidar"/></body></worldbody></mujoco>"""
# Visual-only geoms beside a collision geom, as on nearly every robot: plain mj_multiRay loses what reaches outside.
LOSSY = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body name="arm" pos="2 0 1"><freejoint/><geom size="0.1"/>
  <geom type="box" size="0.4 1.5 0.4" contype="0" conaffinity="0" mass="0"/></body>
  <body name="base" pos="0 0 1"><freejoint/><geom size="0.1"/><site name="lidar" pos="0 0 0.2"/></body>
  </worldbody></mujoco>"""


@pytest.fixture
def written(tmp_path):
    def write(name: str, xml: str) -> str:
        path = tmp_path / f"{name}.xml"
        path.write_text(xml)
        return str(path)

    return write


@pytest.fixture(scope="module")
def rig():
    return make_rig("room", "quadruped")


def test_triangles_are_those_of_meshes_and_height_fields(written):
    assert make_rig(written("solids", SOLIDS), None).triangles == TRIANGLES


def test_a_robot_without_a_mount_carries_the_sensor_above_its_body(written):
    robot = SOLIDS.replace('name="lidar"', 'name="trunk"').replace('geom size="0.1"', 'geom type="box" size="1 1 0.25"')
    made = make_rig(written("robot", robot), None)
    assert made.mount == "body:trunk"
    assert made.offset == pytest.approx((0.0, 0.0, 0.25 + 0.1), abs=1e-9)  # the box's top and the clearance


def test_a_scene_without_anything_to_sit_on_is_refused(written):
    with pytest.raises(ModelError, match="name a site, body or camera"):
        make_rig(written("empty", EMPTY), None)


def test_plain_gives_the_distances_of_mj_ray_in_the_order_of_the_rays(rig):
    rays, keyframe, body = frame_rays(rig, "vlp16")
    every = slice(0, len(rays), 97)
    few = replace(
        rays,
        **{name: getattr(rays, name)[every].copy() for name in ("origin", "direction", "time_ns", "phase")},
    )
    plain = PlainMultiRay(rig.model, keyframe, few, body)
    assert plain.calls == len(np.unique(few.origin, axis=0))
    assert wrong_ratio(plain.cast(), MjRay(rig.model, keyframe, body).cast(few)) == 0.0


def test_rays_are_the_devices_frame_from_the_mount(rig):
    rays, _, body = frame_rays(rig, "os1-64")
    assert len(rays) == 64 * 1024
    assert np.allclose(np.linalg.norm(rays.direction, axis=1), 1.0)
    site = mujoco.mj_name2id(rig.model, mujoco.mjtObj.mjOBJ_SITE, "lidar")
    assert body == rig.model.site_bodyid[site]
    assert np.abs(rays.origin - rig.data.site_xpos[site]).max() < 0.05  # beams leave within the device's housing


def test_wrong_rays_are_counted_where_plain_loses_visual_geoms(written):
    made = make_rig(written("lossy", LOSSY), None)
    rays, keyframe, body = frame_rays(made, "vlp16")
    some = slice(0, len(rays), 29)
    rays = replace(
        rays, **{name: getattr(rays, name)[some].copy() for name in ("origin", "direction", "time_ns", "phase")}
    )
    true_m = MjRay(made.model, keyframe, body).cast(rays)
    plain_wrong = wrong_ratio(PlainMultiRay(made.model, keyframe, rays, body).cast(), true_m)
    assert plain_wrong > 0.01
    caster = make_caster("multiray", Scene(made.model, carrier_body=body))
    caster.pose(keyframe, keyframe)
    assert wrong_ratio(caster.cast(rays).distance, true_m) == 0.0


def test_a_miss_and_a_hit_are_never_the_same():
    inf = np.inf
    assert wrong_ratio(np.array([inf, inf, 1.0, 1.0]), np.array([inf, 1.0, inf, 1.0 + 1e-9])) == 0.5
    assert wrong_ratio(np.array([1.0]), np.array([1.1])) == 1.0


def test_each_caster_and_number_of_threads_has_a_row(rig):
    cold = []
    rows = measure_casting(rig, "avia", EXACT_CASTERS, [1, 2], rounds=2, cold=cold)
    found = [(row.caster, row.threads) for row in rows]
    expected = [(name, n) for name in EXACT_CASTERS for n in (1, 2)]
    assert found == [("mj_multiRay", 1), *expected]
    assert [(row.caster, row.threads) for row in cold] == expected
    for row in rows:
        assert row.frame_rays == 24_000
        assert 0.9 < row.hit_ratio <= 1.0
        assert row.wrong_ratio == 0.0 or row.caster == "mj_multiRay"
        assert row.mbeams_per_s == pytest.approx(row.frame_rays / row.median_ms * 1e-3)
        assert row.p95_ms >= row.median_ms > 0.0
    assert rows[0].ratio_to_plain == 1.0


def test_casting_refuses_at_zero_hits(written):
    made = make_rig(written("empty", EMPTY), written("blind", BLIND))
    with pytest.raises(NoHitsError, match=r"none of the 28,944 rays of velodyne_vlp16 hit anything in blind in empty"):
        measure_casting(made, "vlp16", ["multiray"], [1], rounds=1, cold=[])
    with pytest.raises(NoHitsError, match="gave no point"):
        measure_pipeline(made, "vlp16", "multiray", 1, step_ms=10.0, simulated_s=0.1)


def test_the_pipeline_counts_what_it_simulated(rig):
    speed = measure_pipeline(rig, "vlp16", "multiray", 1, step_ms=10.0, simulated_s=0.3)
    assert speed.simulated_s == pytest.approx(0.3)
    assert speed.scans in {2, 3}
    assert speed.real_time_factor == pytest.approx(speed.simulated_s / speed.lidar_s)
    assert set(speed.shares) == {*pipeline.ROOMS, "rest"}
    assert sum(speed.shares.values()) == pytest.approx(1.0, abs=0.02)  # the profiler's own rounding
    assert speed.shares["cast"] > 0.2


def test_time_goes_to_the_room_that_spent_it(monkeypatch):
    """A stand-in package: the cloud room sleeps twice as long as the measure room that calls it."""
    files = {"measure": "def work(cloud):\n    sleep(0.02)\n    cloud()", "cloud": "def work():\n    sleep(0.04)"}
    made = {}
    for room, source in files.items():
        names = {"sleep": time.sleep}
        exec(compile(source, f"{pipeline._PACKAGE}/{room}/toy.py", "exec"), names)
        made[room] = names["work"]
    shares = room_shares(lambda: made["measure"](made["cloud"]))
    assert shares["cloud"] == pytest.approx(2 / 3, abs=0.1)
    assert shares["measure"] == pytest.approx(1 / 3, abs=0.1)
    assert shares["cast"] == 0.0


def test_a_report_comes_back_as_it_was_written(rig, tmp_path):
    told = []
    report = run_bench(
        rig, ["vlp16"], ["multiray"], [1], rounds=1, step_ms=10.0, progress=lambda *step: told.append(step)
    )
    assert told == [
        (0, 2, "casting vlp16"),
        (1, 2, "pipeline vlp16, multiray"),
        (2, 2, "done"),
    ]
    report.write(tmp_path / "a.json")
    assert read_report(tmp_path / "a.json") == report
    assert json.loads((tmp_path / "a.json").read_text())["geoms"] == rig.model.ngeom
    assert report.casting[1].device == report.pipeline[0].device == "velodyne_vlp16"


def test_a_caster_that_cannot_keep_up_is_spared_the_pipeline(rig, monkeypatch):
    monkeypatch.setattr(report_module, "SLOWEST", 0.0)
    report = run_bench(rig, ["vlp16"], ["multiray"], [1], rounds=1, step_ms=10.0)
    assert len(report.casting) == 2
    assert report.pipeline == []


ROW = CastSpeed("d", "multiray", 1, 10, 10, 1, 1.0, 0.0, 2.0, 3.0, 5.0, 0.5)


def test_comparing_gives_the_ratio_of_each_figure():
    before = BenchReport({}, "rig", 1, 0, casting=[ROW])
    after = BenchReport({}, "rig", 1, 0, casting=[replace(ROW, mbeams_per_s=10.0)])
    changes = {change.figure: change.ratio for change in compare(before, after)}
    assert changes == {"ratio to plain": 1.0, "Mbeams/s": 2.0}
    assert compare(before, BenchReport({}, "rig", 1, 0)) == []
    with pytest.raises(OptionError, match="different rigs"):
        compare(before, replace(after, rig="other"))


def test_what_is_no_report_is_refused(tmp_path):
    for text in ("", "[]", '{"format": "other"}'):
        path = tmp_path / "a.json"
        path.write_text(text)
        with pytest.raises(ExportError, match="bench report"):
            read_report(path)
    with pytest.raises(ExportError, match="cannot be read"):
        read_report(tmp_path / "missing.json")


def test_an_unknown_caster_lists_the_known_ones(rig):
    with pytest.raises(OptionError, match=r"unknown caster 'multray' \(did you mean 'multiray'\?\)"):
        run_bench(rig, ["vlp16"], ["multray"], [1], rounds=1, step_ms=10.0)
