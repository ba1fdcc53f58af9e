from __future__ import annotations

import json
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lidar_sim.errors import LidarSimError, ScenarioError
from lidar_sim.export import read_npz, read_pcd
from lidar_sim.scenario.config import OutputConfig, ScenarioConfig
from lidar_sim.scenario.drive import Sway, WaypointDrive
from lidar_sim.scenario.load import load_scenario
from lidar_sim.scenario.motion import Rest
from lidar_sim.scenario.record import record, run_scenario
from lidar_sim.scenario.stage import set_stage
from lidar_sim.scenario.world import build_model, initial_data
from lidar_sim.simulator import Lidar

SCENARIO = {
    "scene": "room",
    "robot": "quadruped",
    "timestep_s": 0.01,
    "duration_s": 0.3,
    "seed": 3,
    "sensors": [
        {"device": "ust10lx", "mount": "lidar", "exclude": "subtree", "name": "top"},
        {"device": "utm30lx", "mount": "base", "offset": {"position_m": [0.3, 0, 0]}},
    ],
    "motion": {
        "kind": "waypoints",
        "waypoints_m": [[0, 0], [1, 0], [1, 1]],
        "speed_m_s": 1.0,
        "sway": {"roll_deg": 2.0, "heave_m": 0.01},
        "trot": {},
    },
    "outputs": {"formats": ["pcd", "npz"], "fields": "full"},
}
# UST-10LX and UTM-30LX turn 40 times a second; the last of 12 turns ends with the recording, or just after it.
FRAMES_AT_LEAST = 11
# Text keeps every bit; the pose at a stamp is interpolated between poses 10 ms apart on a path that is straight here.
POSE_TOLERANCE_M = 1e-9
KILLED_AT = 5


def _config(**changes):
    return ScenarioConfig.model_validate({**SCENARIO, **changes})


def _contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The recording made in one go."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_scenario(_config(), folder)
    return folder


def test_the_files_are_one_per_frame_sensor_and_format(whole):
    frames = _manifest(whole)["frames"]
    assert set(frames) == {"top", "utm30lx"}
    expected = {"manifest.json", "scenario.yaml", "poses_top.txt", "poses_utm30lx.txt"}
    for sensor, count in frames.items():
        assert count >= FRAMES_AT_LEAST
        expected |= {f"{sensor}/{k:06d}.{suffix}" for k in range(count) for suffix in ("pcd", "npz")}
    assert set(_contents(whole)) == expected


def test_frames_are_those_of_the_plain_loop(whole):
    """Oracle: the user's own loop over the same stage."""
    stage = set_stage(_config())
    data = initial_data(stage.model)
    scans = []
    for step in range(31):
        stage.motion.advance(stage.model, data, step * 0.01)
        scans += stage.sensors[0].step(data)
    assert len(scans) == _manifest(whole)["frames"]["top"]
    for number, scan in enumerate(scans):
        recorded = read_npz(whole / "top" / f"{number:06d}.npz")
        assert (recorded.stamp_ns, recorded.frame_number) == (scan.stamp_ns, number)
        np.testing.assert_array_equal(recorded.points, scan.points)
        assert read_pcd(whole / "top" / f"{number:06d}.pcd").about["stamp_ns"] == scan.stamp_ns


@pytest.mark.parametrize("sensor", ["top", "utm30lx"])
def test_poses_are_the_sensors_true_poses_at_the_stamps(whole, sensor):
    model = build_model("room", "quadruped")
    drive = WaypointDrive(
        model, SCENARIO["motion"]["waypoints_m"], speed_m_s=1.0, sway=Sway(0.0, 0.0, 0.0), trot_stride_m=0.4
    )
    lines = (whole / f"poses_{sensor}.txt").read_text().splitlines()
    assert len(lines) == _manifest(whole)["frames"][sensor]
    forward = {"top": -0.005, "utm30lx": 0.3}[sensor]
    for number, line in enumerate(lines):
        stamp, *numbers = line.split()
        recorded = read_npz(whole / sensor / f"{number:06d}.npz")
        assert int(stamp.replace(".", "")) == recorded.stamp_ns
        x_m = drive.pose(recorded.stamp_ns * 1e-9)[0][0] + forward
        assert float(numbers[0]) == pytest.approx(x_m, abs=POSE_TOLERANCE_M)
        assert np.linalg.norm(np.array(numbers[3:], float)) == pytest.approx(1.0, abs=1e-12)


def test_the_manifest_holds_what_is_needed_to_make_it_again(whole):
    manifest = _manifest(whole)
    assert manifest["status"] == "complete"
    assert ScenarioConfig.model_validate(manifest["scenario"]) == _config()
    assert {"lidar_sim", "mujoco", "numba", "numpy", "python"} == set(manifest["versions"])
    assert manifest["sensors"]["top"]["seed"] == 3
    assert manifest["sensors"]["top"]["profile"]["name"] == "hokuyo_ust10lx"
    assert len(manifest["model_sha256"]) == 64


def test_a_second_run_is_equal_byte_for_byte_with_any_number_of_threads(whole, tmp_path):
    run_scenario(_config(), tmp_path / "again", threads=1)
    assert _contents(tmp_path / "again") == _contents(whole)


KILLER = """
import json, os, signal, sys
from pathlib import Path

moment, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

from lidar_sim.export.tum import TumWriter
from lidar_sim.scenario.config import ScenarioConfig
from lidar_sim.scenario.record import run_scenario

renames, lines = [], []
rename, add = Path.replace, TumWriter.add

def counted_rename(self, target):
    if str(target).endswith(".npz"):
        renames.append(target)
        if moment == "file under way" and len(renames) == count:
            kill()
    return rename(self, target)

def counted_add(self, *pose):
    lines.append(pose)
    if moment == "file without pose" and len(lines) == count:
        kill()
    add(self, *pose)
    if moment == "frame finished" and len(lines) == count:
        kill()
    if moment == "pose cut short" and len(lines) == count:
        os.truncate(self._path, os.path.getsize(self._path) - 7)
        kill()

Path.replace, TumWriter.add = counted_rename, counted_add
run_scenario(ScenarioConfig.model_validate(json.loads(sys.stdin.read())), folder)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.parametrize("moment", ["file under way", "file without pose", "frame finished", "pose cut short"])
def test_a_killed_recording_is_readable_and_resumes_to_the_same_bytes(moment, whole, tmp_path):
    folder = tmp_path / "run"
    killed = subprocess.run(
        [sys.executable, "-c", KILLER, moment, str(KILLED_AT), str(folder)],
        input=json.dumps(SCENARIO),
        text=True,
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert _manifest(folder)["status"] == "running"
    left = {name: content for name, content in _contents(folder).items() if name.endswith((".pcd", ".npz"))}
    assert KILLED_AT <= len(left) < len(_contents(whole))
    for name, content in left.items():
        read_npz(folder / name) if name.endswith(".npz") else read_pcd(folder / name)
        assert content == (whole / name).read_bytes()
    with pytest.raises(ScenarioError, match="is not empty"):
        run_scenario(_config(), folder)
    run_scenario(_config(), folder, resume=True)
    assert _contents(folder) == _contents(whole)


def test_resuming_keeps_finished_frames_untouched(whole, tmp_path):
    """Finished files keep their very inode and time; only the missing ones are written."""
    folder = tmp_path / "run"

    def stop(progress):
        if progress.time_s > 0.15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scenario(_config(), folder, progress=stop)
    assert _manifest(folder)["status"] == "interrupted"
    before = {p: p.stat() for p in folder.rglob("*.pcd")}
    assert 0 < len(before) < FRAMES_AT_LEAST * 2
    run_scenario(_config(), folder, resume=True)
    assert all((p.stat().st_ino, p.stat().st_mtime_ns) == (s.st_ino, s.st_mtime_ns) for p, s in before.items())
    assert _contents(folder) == _contents(whole)


def test_a_missing_frame_is_made_again(whole, tmp_path):
    folder = tmp_path / "run"
    run_scenario(_config(), folder)
    (folder / "top" / "000004.npz").unlink()
    run_scenario(_config(), folder, resume=True)
    assert _contents(folder) == _contents(whole)


def test_resuming_a_complete_recording_or_an_empty_folder(whole, tmp_path):
    called = []
    assert run_scenario(_config(), whole, resume=True, progress=called.append).was_complete
    assert not called
    (tmp_path / "empty").mkdir()
    run_scenario(_config(), tmp_path / "empty", resume=True)
    assert _contents(tmp_path / "empty") == _contents(whole)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"seed": 4}, r"another recording, which cannot be resumed: sensors\.top\.seed was 3, is 4"),
        ({"duration_s": 0.4}, r"steps was 30, is 40"),
        ({"outputs": {}}, r'outputs\.formats was \["pcd", "npz"\], is \["pcd"\]'),
        ({"scene": "warehouse", "motion": {**SCENARIO["motion"], "body": "base"}}, r"model_sha256 was "),
    ],
)
def test_another_recording_is_not_resumed(changes, expected, whole):
    before = _contents(whole)
    with pytest.raises(ScenarioError, match=expected):
        run_scenario(_config(**changes), whole, resume=True)
    assert _contents(whole) == before


def test_a_motion_that_is_not_repeated_is_found_out(tmp_path):
    model = build_model("room", "quadruped", timestep_s=0.01)

    def lidar():
        return Lidar(model, "ust10lx", mount="lidar", name="top")

    def drive(speed_m_s):
        return WaypointDrive(model, [[0, 0], [1, 0]], speed_m_s=speed_m_s)

    def stop(progress):
        if progress.time_s > 0.15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(model, drive(1.0), [lidar()], tmp_path / "run", duration_s=0.3, progress=stop)
    with pytest.raises(ScenarioError, match="frame 5 of top was recorded at another pose than it has now"):
        record(model, drive(1.1), [lidar()], tmp_path / "run", duration_s=0.3, resume=True)


def test_overwriting_removes_the_old_recording_and_nothing_else(tmp_path):
    folder = tmp_path / "run"
    run_scenario(_config(), folder)
    (folder / "notes.txt").write_text("mine")
    (folder / "top" / "picture.png").write_text("mine too")
    run_scenario(_config(duration_s=0.1, outputs={}), folder, overwrite=True)
    kept = {"notes.txt", "top/picture.png"}
    run_scenario(_config(duration_s=0.1, outputs={}), tmp_path / "fresh")
    assert {name: c for name, c in _contents(folder).items() if name not in kept} == _contents(tmp_path / "fresh")
    assert kept <= set(_contents(folder))


def test_a_failure_is_noted_where_it_happened(tmp_path):
    model = build_model("room", "quadruped", timestep_s=0.01)

    class Stumble(Rest):
        def advance(self, model, data, time_s):
            if time_s > 0.1:
                raise ScenarioError("stumbled")
            super().advance(model, data, time_s)

    with pytest.raises(ScenarioError, match="stumbled"):
        record(model, Stumble(), [Lidar(model, "ust10lx", mount="lidar", name="top")], tmp_path / "run", duration_s=1)
    manifest = _manifest(tmp_path / "run")
    assert (manifest["status"], manifest["error"]) == ("failed", "ScenarioError: stumbled")
    assert manifest["frames"]["top"] == len((tmp_path / "run" / "poses_top.txt").read_text().splitlines()) > 0


def test_the_scenario_is_there_before_the_first_step(tmp_path):
    class StopError(Exception):
        pass

    def stop(recording):
        assert load_scenario(recording.folder / "scenario.yaml") == _config()
        raise StopError

    with pytest.raises(StopError):
        run_scenario(_config(), tmp_path / "run", started=stop)
    with pytest.raises(ScenarioError, match="is not empty"):
        run_scenario(_config(seed=9), tmp_path / "run")
    assert load_scenario(tmp_path / "run" / "scenario.yaml") == _config()


def test_progress_counts_frames_and_points(tmp_path):
    seen = []
    recording = run_scenario(_config(), tmp_path / "run", progress=seen.append)
    assert len(seen) == 31
    assert [p.time_s for p in seen] == pytest.approx(np.arange(31) * 0.01)
    assert seen[-1].frames == sum(recording.finished.values())
    points = sum(len(read_pcd(p)) for p in (tmp_path / "run" / "top").glob("*.pcd"))
    assert seen[-1].points >= np.count_nonzero(points) > 0
    assert all(a.frames <= b.frames for a, b in pairwise(seen))


@pytest.mark.parametrize("frame", ["body", "world"])
def test_points_can_be_written_in_another_frame(frame, tmp_path):
    run_scenario(_config(duration_s=0.06, outputs={"formats": ["npz"], "frame": frame}), tmp_path / "run")
    assert read_npz(tmp_path / "run" / "top" / "000000.npz").frame == frame


def test_names_of_sensors_become_names_of_files(tmp_path):
    model = build_model("room", "quadruped", timestep_s=0.01)
    lidar = Lidar(model, "ust10lx", mount="site:lidar")
    record(model, Rest(), [lidar], tmp_path / "run", duration_s=0.06)
    assert (tmp_path / "run" / "hokuyo_ust10lx@site_lidar" / "000000.pcd").exists()


def _file(tmp):
    (tmp / "file").write_text("x")
    return tmp / "file"


def _foreign(tmp):
    (tmp / "foreign").mkdir()
    (tmp / "foreign" / "thesis.tex").write_text("x")
    return tmp / "foreign"


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda tmp: run_scenario(_config(), _file(tmp)), "is a file; a recording is a folder"),
        (lambda tmp: run_scenario(_config(), _file(tmp) / "below"), "cannot be made: Not a directory"),
        (lambda tmp: run_scenario(_config(), _foreign(tmp)), "is not empty: overwrite it, or resume"),
        (lambda tmp: run_scenario(_config(), _foreign(tmp), resume=True), "holds no recording to resume"),
        (lambda tmp: run_scenario(_config(), tmp / "x", resume=True, overwrite=True), "give one of the two"),
        (lambda tmp: run_scenario(_config(sensors=[{"device": "vlp17", "mount": "lidar"}]), tmp / "x"), "vlp16"),
        (lambda tmp: run_scenario(_config(sensors=[{"device": "vlp16", "mount": "ladir"}]), tmp / "x"), "lidar"),
        (lambda tmp: record(build_model("room"), Rest(), [], tmp / "x", duration_s=1), "no sensor to record"),
        (lambda tmp: record(build_model("room"), Rest(), [], tmp / "x"), "duration of more than 0 s, found None"),
    ],
)
def test_bad_recordings_are_refused_and_leave_nothing(run, expected, tmp_path):
    with pytest.raises(LidarSimError, match=expected):
        run(tmp_path)
    assert not list(tmp_path.rglob("manifest.json"))
    assert not (tmp_path / "x").exists()


def test_two_sensors_of_one_name_are_refused(tmp_path):
    model = build_model("room", "quadruped")
    lidars = [Lidar(model, "ust10lx", mount="lidar", name="a") for _ in range(2)]
    with pytest.raises(ScenarioError, match="two sensors are named 'a'"):
        record(model, Rest(), lidars, tmp_path / "x", duration_s=1.0, outputs=OutputConfig())
    assert not Path(tmp_path / "x").exists()
