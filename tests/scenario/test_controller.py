from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.errors import ScenarioError
from lidar_sim.scenario.controller import ControllerDrive, load_controller
from lidar_sim.scenario.world import build_model, initial_data

WALK = """
import numpy as np

not_callable = 3

def wave(model, data):
    data.ctrl[:] = np.array([0.0, 0.9, -1.8] * 4) + 0.1 * np.sin(9.0 * data.time + np.arange(12))

def fail(model, data):
    if data.time > 0.01:
        raise ValueError("no legs\\nleft")

def explode(model, data):
    data.qvel[:] = 1e12
"""


@pytest.fixture
def in_folder_of_controllers(tmp_path, monkeypatch, request):
    """A module of a name of its own per test: modules stay imported."""
    name = f"walk_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(WALK)
    monkeypatch.chdir(tmp_path)
    return name


@pytest.fixture(scope="module")
def model():
    return build_model("room", "quadruped")


def test_it_is_the_plain_loop_to_the_last_bit(model, in_folder_of_controllers):
    name = f"{in_folder_of_controllers}:wave"
    wave = load_controller(name)
    data, plain = initial_data(model), initial_data(model)
    drive = ControllerDrive(name)
    for time_s in (0.0, 0.002, 0.01, 0.5):
        drive.advance(model, data, time_s)
    for _ in range(250):
        wave(model, plain)
        mujoco.mj_step(model, plain)
    for field in ("time", "qpos", "qvel", "ctrl", "qacc"):
        np.testing.assert_array_equal(getattr(data, field), getattr(plain, field), err_msg=field)


def test_a_function_is_as_good_as_its_name(model):
    calls = []
    drive = ControllerDrive(lambda model, data: calls.append(data.time))
    data = initial_data(model)
    drive.advance(model, data, 0.006)
    np.testing.assert_allclose(calls, [0.0, 0.002, 0.004])
    drive.advance(model, data, 0.006)
    assert len(calls) == 3


@pytest.mark.parametrize("time_s", [0.0031, -0.002])
def test_times_off_the_step_are_refused(model, time_s):
    with pytest.raises(ScenarioError, match=r"not a whole number of timesteps \(0.002 s\) after 0.000000 s"):
        ControllerDrive(lambda model, data: None).advance(model, initial_data(model), time_s)


def test_faults_in_the_controller_say_when(model, in_folder_of_controllers):
    with pytest.raises(ScenarioError, match=r"fail failed at 0\.012000 s: ValueError: no legs left$"):
        ControllerDrive(f"{in_folder_of_controllers}:fail").advance(model, initial_data(model), 1.0)


def test_a_simulation_that_diverges_is_not_recorded_on(model, in_folder_of_controllers):
    with pytest.raises(ScenarioError, match=r"became unstable at 0\.000000 s"):
        ControllerDrive(f"{in_folder_of_controllers}:explode").advance(model, initial_data(model), 1.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("walk", "named module:function, found 'walk'"),
        (":wave", "named module:function"),
        ("no_such_module_here:f", "'no_such_module_here' cannot be imported"),
        ("{module}:wav", r"unknown function of .* 'wav' \(did you mean 'wave'\?\); valid: explode, fail, wave"),
        ("{module}:not_callable", "valid: explode, fail, wave"),
    ],
)
def test_bad_names_are_refused(name, expected, in_folder_of_controllers):
    with pytest.raises(ScenarioError, match=expected):
        ControllerDrive(name.format(module=in_folder_of_controllers))


def test_a_module_that_fails_is_named(tmp_path, monkeypatch):
    (tmp_path / "broken_walk.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match="'broken_walk' failed: ZeroDivisionError"):
        load_controller("broken_walk:f")
