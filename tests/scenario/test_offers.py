"""What a device gives is known before the run, and is what its scans have."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from lidar_sim import Lidar, load_profile, shipped_profiles
from lidar_sim.errors import OptionError
from lidar_sim.scenario import OutputConfig, Rest, record
from lidar_sim.scenario.offers import check_fields, offered_fields

BALL = '<mujoco><worldbody><geom type="sphere" size="2"/><site name="lidar"/></worldbody></mujoco>'


@pytest.mark.parametrize("device", shipped_profiles())
def test_the_fields_foretold_are_those_of_a_scan(device: str) -> None:
    model = mujoco.MjModel.from_xml_string(BALL)
    scan = Lidar(model, device, mount="lidar").scan(mujoco.MjData(model))
    assert set(offered_fields(load_profile(device))) == set(scan.fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("nope", "unknown field 'nope'"),
        (["x", "depth"], "velodyne_vlp16 gives no field 'depth'"),
        ([], "no field is named"),
    ],
)
def test_wrong_fields_are_refused_before_anything_is_written(
    fields: str | list[str], message: str, tmp_path: Path
) -> None:
    model = mujoco.MjModel.from_xml_string(BALL)
    outputs = OutputConfig(fields=fields if isinstance(fields, str) else tuple(fields))
    lidar = Lidar(model, "vlp16", mount="lidar")
    with pytest.raises(OptionError, match=message):
        record(model, Rest(), [lidar], tmp_path / "run", duration_s=0.2, outputs=outputs)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("fields", [None, "full", "xyzi", "x,y,z,ring", ("x", "t")])
def test_fields_that_a_device_gives_are_accepted(fields: str | tuple[str, ...] | None) -> None:
    check_fields(load_profile("avia"), fields)
