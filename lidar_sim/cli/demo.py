"""`lidar-sim demo`: the bundled quadruped walks through the bundled warehouse with four devices."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from lidar_sim.cli.arguments import add_command, positive_float, positive_int
from lidar_sim.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    import mujoco

    from lidar_sim.cli.arguments import Subparsers
    from lidar_sim.profile import DeviceProfile
    from lidar_sim.records import Scan
    from lidar_sim.simulator import Lidar

EXAMPLES = (
    ("lidar-sim demo", "a second of walking; clouds and pictures in ./demo_out"),
    ("lidar-sim demo --out long_walk --seconds 4", "a longer walk"),
    ("lidar-sim demo --overwrite --no-pictures", "clouds only, in place of those of an earlier demo"),
)
SENSORS = (
    {"device": "vlp16", "mount": "lidar"},
    {"device": "os1-64", "mount": "lidar"},
    {"device": "avia", "mount": "lidar"},
    # The small image: thirty frames a second of the large one would fill the disk with the same view.
    {"device": "d435i", "mount": "depth_camera", "mode": "424x240"},
)
_SPEED_M_S = 1.2
_START_M = (-5.0, 0.3)
# A frame is finished with the beam after it.
_LAST_BEAM_S = 0.01
_MAP_SENSOR = "os1-64"
NEXT = """What next:
  lidar-sim devices                    other devices; `devices vlp16` shows where each value is from
  lidar-sim record {out}/scenario.yaml --out again
                                       the same walk; change the file for another
  lidar-sim scan room --robot quadruped --device mid360 --mount lidar --picture room.png
                                       one frame at rest
  lidar-sim bench                      beams per second on this machine"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the parser."""
    parser = add_command(
        subparsers, "demo", run, summary="walk a robot through a warehouse with four devices", examples=EXAMPLES
    )
    parser.add_argument("--out", default="demo_out", metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--seconds", type=positive_float, default=1.0, help="simulated time (default: %(default)s)")
    parser.add_argument("--overwrite", action="store_true", help="begin anew in a folder that is not empty")
    parser.add_argument("--no-pictures", dest="pictures", action="store_false", help="clouds only")
    parser.add_argument("--threads", type=positive_int, metavar="N", help="default: all cores")


def run(args: argparse.Namespace) -> None:
    """Record, draw, and print what was found."""
    if args.pictures:
        _check_that_pictures_can_be_drawn()
    from lidar_sim.cli.progress import recording_bar
    from lidar_sim.cli.record import beams_per_s, hints, scenario_of
    from lidar_sim.cli.terminal import note
    from lidar_sim.scenario import FolderInUseError, effective_beside, record, save_scenario
    from lidar_sim.scenario.stage import set_stage

    start, out = perf_counter(), Path(args.out)
    config = scenario_of(scenario_tree(args.seconds))
    stage = set_stage(config, threads=args.threads)
    sensors = [Remembering(sensor) for sensor in stage.sensors]
    try:
        with recording_bar(beams_per_s(config)) as progress:
            recording = record(
                stage.model,
                stage.motion,
                sensors,
                out,
                duration_s=stage.duration_s,
                outputs=config.outputs,
                about={"scenario": effective_beside(config, out), **stage.about},
                overwrite=args.overwrite,
                progress=progress,
                started=lambda begun: save_scenario(config, begun.folder / "scenario.yaml"),
            )
    except FolderInUseError:
        raise OptionError(f"{out} is not empty: --overwrite begins anew, --out names another folder") from None
    if args.pictures:
        _draw(sensors, out)
    _print_summary(sensors, out, perf_counter() - start, pictures=args.pictures)
    for text in hints(recording, config):
        note(text)


def scenario_tree(seconds: float) -> dict[str, Any]:
    """The demo as a scenario file would have it."""
    x, y = _START_M
    length_m = max(_SPEED_M_S * seconds, 1.0)
    return {
        "scene": "warehouse",
        "robot": "quadruped",
        "timestep_s": 0.005,
        "duration_s": seconds + _LAST_BEAM_S,
        "sensors": [dict(sensor) for sensor in SENSORS],
        "motion": {
            "kind": "waypoints",
            "waypoints_m": [(x, y), (x + length_m / 2, y), (x + length_m, y - length_m / 8)],
            "speed_m_s": _SPEED_M_S,
            "sway": {"roll_deg": 2.0, "pitch_deg": 1.0, "heave_m": 0.01},
            "trot": {},
        },
        "outputs": {"fields": ["x", "y", "z", "intensity", "ring", "t"]},
    }


class Remembering:
    """A sensor that keeps its last scan, and all of them where they are to become a map."""

    def __init__(self, lidar: Lidar) -> None:
        self._lidar = lidar
        self.name: str = lidar.name
        self.seed: int = lidar.seed
        self.profile: DeviceProfile = lidar.profile
        self.scans: list[Scan] = []
        self.frames = 0
        self.points = 0

    def start(self, data: mujoco.MjData, *, frame: int = 0) -> None:
        """As the sensor's own."""
        self._lidar.start(data, frame=frame)

    def step(self, data: mujoco.MjData) -> list[Scan]:
        """As the sensor's own."""
        scans = self._lidar.step(data)
        self.frames += len(scans)
        self.points += sum(len(scan) for scan in scans)
        kept = self.scans if self.name == _MAP_SENSOR else []
        self.scans = [*kept, *scans] if scans else self.scans
        return scans


def _check_that_pictures_can_be_drawn() -> None:
    """Tell a missing extra before the walk, not after it."""
    from lidar_sim.pictures.canvas import new_figure

    try:
        new_figure((400, 400))
    except MissingExtraError as error:
        raise OptionError(f"{error}; or leave the pictures out: lidar-sim demo --no-pictures") from None


def _draw(sensors: list[Remembering], out: Path) -> None:
    from lidar_sim.cli.terminal import stderr_console
    from lidar_sim.pictures.clouds import draw_map, draw_scan

    with stderr_console().status("drawing") as status:
        for sensor in sensors:
            if sensor.scans:
                status.update(f"drawing {sensor.name}")
                draw_scan(sensor.scans[-1], out / f"{sensor.name}.png", title=sensor.profile.title)
            if sensor.name == _MAP_SENSOR and sensor.scans:
                status.update("drawing the map")
                draw_map(sensor.scans, out / "map.png", title=f"Map of the walk: every scan of {sensor.profile.title}")


def _print_summary(sensors: list[Remembering], out: Path, wall_s: float, *, pictures: bool) -> None:
    from lidar_sim.cli.terminal import plain_table, stdout_console

    numbers = ("frames", "points", "points a frame")
    table = plain_table(f"in {out}, made in {wall_s:.0f} s", "device", *numbers, "clouds", "picture", right=numbers)
    for sensor in sensors:
        table.add_row(
            sensor.profile.title,
            str(sensor.frames),
            f"{sensor.points:,}",
            f"{sensor.points / max(sensor.frames, 1):,.0f}",
            f"{sensor.name}/*.pcd",
            f"{sensor.name}.png" if pictures and sensor.scans else "",
        )
    console = stdout_console()
    console.print(table)
    map_note = f", map.png (all scans of {_MAP_SENSOR})" if pictures else ""
    console.print(f"Beside them: poses_*.txt (TUM), manifest.json, scenario.yaml{map_note}.\n")
    console.print(NEXT.format(out=out))
