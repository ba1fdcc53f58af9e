from __future__ import annotations

import mujoco
import numpy as np
import pytest

from lidar_sim.errors import ScenarioError
from lidar_sim.scenario.replay import QposReplay
from lidar_sim.scenario.world import build_model, initial_data

ROUNDING = 1e-12


@pytest.fixture(scope="module")
def model():
    return build_model("room", "quadruped")


@pytest.fixture
def log(model):
    """A hundred samples at uneven times, starting late, turning every way."""
    random = np.random.default_rng(7)
    time_s = 5.0 + np.cumsum(random.uniform(0.005, 0.05, 100))
    qpos = random.normal(size=(100, model.nq))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    return time_s, qpos


def _written(path, time_s, qpos, title):
    if path.suffix == ".npz":
        np.savez(path, time_s=time_s, qpos=qpos)
    else:
        lines = [",".join(repr(float(v)) for v in (t, *q)) for t, q in zip(time_s, qpos, strict=True)]
        path.write_text("\n".join(([title] if title else []) + lines) + "\n")
    return path


@pytest.mark.parametrize(("name", "title"), [("log.npz", ""), ("log.csv", ""), ("titled.csv", "time_s,x,y,z")])
def test_a_log_comes_back_exactly_at_its_times(model, log, tmp_path, name, title):
    time_s, qpos = log
    replay = QposReplay(model, _written(tmp_path / name, time_s, qpos, title))
    data = initial_data(model)
    for t, q in zip(time_s, qpos, strict=True):
        replay.advance(model, data, t - time_s[0])
        np.testing.assert_array_equal(data.qpos, q)
        assert data.time == t - time_s[0]
    assert replay.duration_s == time_s[-1] - time_s[0]


def test_between_samples_rotation_takes_the_shortest_arc_at_even_speed(model):
    """A turn of 90 degrees about z, given with the quaternion's other sign: a third of the time, 30 degrees."""
    qpos = np.tile(initial_data(model).qpos, (2, 1))
    qpos[1, :3] += [3.0, -6.0, 0.9]
    qpos[1, 3:7] = -np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    qpos[1, 8] += 0.6
    replay, data = QposReplay(model, (np.array([0.0, 3.0]), qpos)), initial_data(model)
    replay.advance(model, data, 1.0)
    np.testing.assert_allclose(data.qpos[:3] - qpos[0, :3], [1.0, -2.0, 0.3], atol=ROUNDING)
    np.testing.assert_allclose(data.qpos[3:7], [np.cos(np.pi / 12), 0.0, 0.0, np.sin(np.pi / 12)], atol=ROUNDING)
    assert data.qpos[8] - qpos[0, 8] == pytest.approx(0.2, abs=ROUNDING)


def test_quaternions_stay_of_unit_length_and_meet_the_next_sample(model, log):
    time_s, qpos = log
    replay, data = QposReplay(model, log), initial_data(model)
    for k in range(99):
        for phase in (0.25, 0.5, 1.0 - 1e-12):
            replay.advance(model, data, time_s[k] + phase * (time_s[k + 1] - time_s[k]) - time_s[0])
            assert np.linalg.norm(data.qpos[3:7]) == pytest.approx(1.0, abs=ROUNDING)
        assert abs(data.qpos[3:7] @ qpos[k + 1, 3:7]) == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(data.qpos[7:], qpos[k + 1, 7:], atol=1e-9)


def test_the_ends_are_held(model, log):
    replay, data = QposReplay(model, log), initial_data(model)
    for time_s, k in ((-1.0, 0), (1e9, -1)):
        replay.advance(model, data, time_s)
        np.testing.assert_array_equal(data.qpos, log[1][k])


def _spoiled(log, row, column, value):
    qpos = log[1].copy()
    qpos[row, column] = value
    return log[0], qpos


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda log: (log[0], log[1][:, :-1]), r"qpos has 18 columns, the model has nq = 19"),
        (lambda log: (log[0][:-1], log[1]), r"time_s \(N,\) and qpos \(N, nq\)"),
        (lambda log: (log[0][:0], log[1][:0]), r"time_s \(N,\)"),
        (lambda log: (log[0][::-1], log[1]), r"time must increase; sample 1 "),
        (lambda log: (np.zeros(100), log[1]), r"time must increase; sample 1 is at 0.0 s after 0.0 s"),
        (lambda log: _spoiled(log, 12, 9, np.nan), r"sample 12 holds a number that is not finite"),
        (lambda log: _spoiled(log, 3, 4, 2.0), r"sample 3: columns 3 to 6 of qpos are the quaternion of joint 'base'"),
    ],
)
def test_bad_logs_are_refused(model, log, spoil, expected):
    with pytest.raises(ScenarioError, match=expected):
        QposReplay(model, spoil(log))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("log.csv", "0,1,2\n1,2\n", r"log\.csv:2: found 2 columns, 3 in the first row"),
        ("log.csv", "time,a\n0,x\n", r"log\.csv:2: column 2 is no number: 'x'"),
        ("log.csv", "", r"time_s \(N,\)"),
        ("log.txt", "", r"log\.txt: a log is a \.npz or a \.csv file"),
        ("log.npz", "PK no zip", r"log\.npz: not a log of numbers"),
        ("log.npz", None, r"log\.npz: cannot be read: No such file"),
    ],
)
def test_bad_files_are_refused(model, tmp_path, name, content, expected):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ScenarioError, match=expected) as caught:
        QposReplay(model, tmp_path / name)
    assert "\n" not in str(caught.value)


def test_an_npz_without_the_arrays_names_them(model, tmp_path):
    np.savez(tmp_path / "log.npz", t=np.zeros(3))
    with pytest.raises(ScenarioError, match="a log has time_s and qpos"):
        QposReplay(model, tmp_path / "log.npz")


def test_ball_joints_are_checked_too():
    ball = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='b' type='ball'/><geom size='1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(ScenarioError, match="columns 0 to 3 of qpos are the quaternion of joint 'b'"):
        QposReplay(ball, (np.zeros(1), np.ones((1, 4))))
