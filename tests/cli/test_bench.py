"""`lidar-sim bench`: its tables, its JSON, its refusal."""

from __future__ import annotations

import pytest

from lidar_sim.bench.report import read_report
from lidar_sim.cli.main import EXIT_INPUT, EXIT_NO_HITS, EXIT_OK, main

FAST = ["bench", "--devices", "vlp16", "--casters", "multiray", "--threads", "1", "--rounds", "1", "--step-ms", "10"]
SKY = """<mujoco><worldbody><body name="base"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
  <site name="lidar"/></body></worldbody></mujoco>"""


def test_the_table_and_the_json_say_the_same(tmp_path, capsys):
    path = tmp_path / "bench.json"
    assert main([*FAST, "--json", str(path)]) == EXIT_OK
    shown, report = capsys.readouterr().out, read_report(path)
    assert f"{report.geoms} geoms" in shown
    for row in report.casting:
        assert f"{row.median_ms:.2f}" in shown
        assert f"{row.ratio_to_plain:.2f}" in shown
    assert f"{report.pipeline[0].real_time_factor:.2f}" in shown
    assert main([*FAST, "--compare", str(path)]) == EXIT_OK
    assert "beside the earlier run" in capsys.readouterr().out


def test_it_refuses_at_zero_hits(tmp_path, capsys):
    """A robot looking at an empty sky."""
    (tmp_path / "sky.xml").write_text("<mujoco><worldbody/></mujoco>")
    (tmp_path / "robot.xml").write_text(SKY)
    report = tmp_path / "bench.json"
    where = ["--scene", str(tmp_path / "sky.xml"), "--robot", str(tmp_path / "robot.xml")]
    assert main([*FAST, *where, "--json", str(report)]) == EXIT_NO_HITS
    out, err = capsys.readouterr()
    assert out == ""
    assert "lidar-sim: error: none of the 28,944 rays" in err
    assert not report.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--casters", "bvx"], "unknown caster 'bvx'"),
        (["--casters", "all,multiray"], "either all or a list"),
        (["--devices", "vlp17"], "unknown device 'vlp17'"),
        (["--scene", "rom"], "did you mean 'room'"),
        (["--mount", "lidr"], "did you mean 'lidar'"),
        (["--compare", "missing.json"], "cannot be read as a bench report"),
    ],
)
def test_wrong_input_is_one_line(options, said, capsys):
    assert main([*FAST, *options]) == EXIT_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
