"""`lidar-sim record`: a drive, one file a frame, poses and a manifest; from a scenario file or from options."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lidar_sim.cli.arguments import (
    add_command,
    name_list,
    of_device,
    pose,
    positive_float,
    positive_int,
    triple,
    waypoint_list,
)
from lidar_sim.errors import OptionError, ScenarioError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lidar_sim.cli.arguments import Subparsers
    from lidar_sim.profile import DeviceProfile
    from lidar_sim.scenario import Recording, ScenarioConfig

EXAMPLES = (
    (
        "lidar-sim record --scene warehouse --robot quadruped --devices vlp16,d435i@depth_camera --mount lidar "
        '--waypoints "-4,0 0,0 2,0.6" --speed 1 --sway 2,1,0.01 --trot --out run1',
        "walk along waypoints, with two devices",
    ),
    ("lidar-sim record run1/scenario.yaml --out run2", "the same again, from the file that every run leaves"),
    ("lidar-sim record run1/scenario.yaml --out run1 --resume", "go on where a run was interrupted"),
    (
        "lidar-sim record --scene room --robot quadruped --devices vlp16@lidar,vlp16@base "
        "--offset vlp16@base=-0.1,0,0.3 --duration 1 --out two",
        "two equal devices, one of them off its mount",
    ),
    (
        "lidar-sim record --scene room --robot quadruped --devices avia --mount lidar --duration 1 --out still",
        "stand still for a second",
    ),
    (
        "lidar-sim record --scene room --robot quadruped --devices vlp16 --mount lidar --replay log.csv --out replayed",
        "replay a log of joint positions: columns time_s, qpos_0, qpos_1, ... (or an .npz)",
    ),
    (
        "lidar-sim record --scene room --robot quadruped --devices vlp16 --mount lidar --controller my_robot:control "
        "--duration 5 --out physics",
        "physics under your own function control(model, data)",
    ),
)
# Options that describe a run, and have no place beside a scenario file.
_OF_A_RUN = (
    *("scene", "robot", "robot_pose", "mocap", "keyframe", "timestep", "duration", "seed"),
    *("devices", "mount", "offset", "mode", "exclude", "caster", "no_noise"),
    *("waypoints", "replay", "controller", "closed", "body", "height", "sway", "follow_ground", "trot"),
    *("formats", "fields", "encoding", "flat", "frame"),
)


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the parser."""
    parser = add_command(
        subparsers, "record", run, summary="record a drive: clouds, poses, manifest", examples=EXAMPLES
    )
    parser.add_argument("scenario", nargs="?", metavar="SCENARIO.yaml", help="a scenario file; without it: the options")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="made if it is not there")
    parser.add_argument("--overwrite", action="store_true", help="begin anew in a folder that is not empty")
    parser.add_argument("--resume", action="store_true", help="go on with the same recording where it ended")
    parser.add_argument("--threads", type=positive_int, metavar="N", help="default: all cores; changes no result")
    _add_world_options(parser.add_argument_group("world"))
    _add_sensor_options(parser.add_argument_group("sensors"))
    _add_motion_options(parser.add_argument_group("motion (none of the three: stand still)"))
    _add_output_options(parser.add_argument_group("output"))


def _add_world_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--scene", help="bundled name or path")
    group.add_argument("--robot", help="bundled name or path")
    group.add_argument("--robot-pose", type=pose, metavar="X,Y,Z[,R,P,Y]", help="m and degrees")
    group.add_argument("--mocap", action="store_true", help="hang the robot on a mocap body: no physics for it")
    group.add_argument("--keyframe", help="state at the start; default: 'home' where there is one")
    group.add_argument("--timestep", type=positive_float, metavar="S", help="between two poses; default: the model's")
    group.add_argument("--duration", type=positive_float, metavar="S", help="default: as long as the motion lasts")
    group.add_argument("--seed", type=int, help="of all randomness; default 0")


def _add_sensor_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--devices", type=name_list, metavar="A,B@MOUNT", help="each with a mount of its own, or --mount"
    )
    group.add_argument("--mount", help="site, body or camera of the devices that name none")
    group.add_argument(
        "--offset",
        type=of_device(pose),
        action="append",
        metavar="[NAME=]X,Y,Z[,R,P,Y]",
        help="in the mount, m and degrees; of every device, or of the one named; may be repeated",
    )
    group.add_argument(
        "--mode", type=of_device(str), action="append", metavar="[NAME=]MODE", help="of every device, or of one"
    )
    group.add_argument("--exclude", metavar="WHAT", help="none, body (default), subtree, or names of bodies")
    group.add_argument("--caster", help="what casts the rays; default multiray")
    group.add_argument("--no-noise", action="store_true", help="the truth exactly")


def _add_motion_options(group: argparse._ArgumentGroup) -> None:
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument("--waypoints", type=waypoint_list, metavar='"X,Y X,Y"', help="drive along a smooth path, m")
    kinds.add_argument("--replay", metavar="LOG", help=".csv or .npz of joint positions over time")
    kinds.add_argument("--controller", metavar="MODULE:FUNCTION", help="physics under your own function")
    group.add_argument("--speed", type=positive_float, default=1.0, metavar="M_S", help="along waypoints (default 1)")
    group.add_argument("--corner", type=positive_float, default=1.0, metavar="M", help="reach of a turn (default 1)")
    group.add_argument("--closed", action="store_true", help="from the last waypoint back to the first, for ever")
    group.add_argument("--body", help="which body drives; default: the only free or mocap body")
    group.add_argument("--height", type=float, metavar="M", help="of the body; default: as at the start")
    group.add_argument("--sway", type=triple, metavar="ROLL,PITCH,HEAVE", help="rocking of the body: deg, deg, m")
    group.add_argument("--sway-hz", type=positive_float, default=1.5, metavar="HZ", help="default 1.5")
    group.add_argument("--follow-ground", action="store_true", help="height and tilt follow planes and height fields")
    group.add_argument("--trot", action="store_true", help="move the legs of a quadruped")


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--formats",
        type=name_list,
        metavar="A,B",
        help="pcd (default), ply, npz, png (depth; of a lidar with --fields range)",
    )
    group.add_argument("--fields", help="xyz, xyzi, device, full, or names with commas between")
    group.add_argument("--encoding", choices=("ascii", "binary", "binary_compressed"), help="of PCDs; default binary")
    group.add_argument("--flat", action="store_true", help="PCDs without the grid: no NaN rows, all returns")
    group.add_argument("--frame", choices=("sensor", "body", "world"), help="of the points; default sensor")


def run(args: argparse.Namespace) -> None:
    """Record and say what is there."""
    config = _scenario(args)
    from lidar_sim.cli.progress import recording_bar
    from lidar_sim.cli.terminal import note
    from lidar_sim.scenario import FolderInUseError, run_scenario

    begun: list[Recording] = []
    try:
        with recording_bar(beams_per_s(config)) as progress:
            recording = run_scenario(
                config,
                args.out,
                overwrite=args.overwrite,
                resume=args.resume,
                threads=args.threads,
                progress=progress,
                started=begun.append,
                remark=note,
            )
    except FolderInUseError:
        raise OptionError(
            f"{args.out} is not empty: --resume goes on with the recording in it, --overwrite begins anew"
        ) from None
    except BaseException:
        if begun:
            print(f"lidar-sim: go on with: {resume_command(args.out)}", file=sys.stderr)
        raise
    _say(recording)
    for text in hints(recording, config):
        note(text)


def resume_command(folder: str | Path) -> str:
    """The command line that goes on with a recording that was broken off."""
    return shlex.join(["lidar-sim", "record", str(Path(folder) / "scenario.yaml"), "--out", str(folder), "--resume"])


def hints(recording: Recording, config: ScenarioConfig) -> Iterator[str]:
    """Why a sensor has no frames, or its frames no points."""
    from lidar_sim.cli.terminal import NOTHING_MET
    from lidar_sim.pattern import make_pattern
    from lidar_sim.profile import load_profile

    for sensor, (name, frames) in zip(config.sensors, recording.finished.items(), strict=True):
        if not frames:
            period_s = make_pattern(load_profile(sensor.device, sensor.mode)).frame_period_ns * 1e-9
            yield (
                f"no frame was completed in {recording.duration_s:g} s: a frame of {name} takes {period_s:.3g} s, "
                "and is complete with the beam after it"
            )
        elif recording.written[name] and not recording.points[name]:
            yield f"{name}: {NOTHING_MET}"


def _scenario(args: argparse.Namespace) -> ScenarioConfig:
    if args.scenario is None:
        return scenario_of(tree_of(args))
    given = [name for name in _OF_A_RUN if getattr(args, name)]
    if given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise OptionError(f"{names} cannot stand beside a scenario file: change {args.scenario} instead")
    from lidar_sim.scenario import load_scenario

    return load_scenario(args.scenario)


def tree_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options as a scenario file would have them.

    Raises:
        OptionError: no scene, no device, or a device without a mount.
    """
    if not args.scene or not args.devices:
        raise OptionError("record needs a scenario file, or --scene and --devices")
    tree: dict[str, Any] = {
        "scene": args.scene,
        "robot": args.robot,
        "robot_pose": _pose(args.robot_pose),
        "mocap": args.mocap,
        "keyframe": args.keyframe,
        "timestep_s": args.timestep,
        "duration_s": args.duration,
        "seed": args.seed,
        "caster": args.caster,
        "sensors": _sensors(args),
        "motion": _motion(args),
        "outputs": _given(
            formats=args.formats, fields=_fields(args), encoding=args.encoding, frame=args.frame, flat=args.flat or None
        ),
    }
    return _given(**tree)


def _sensors(args: argparse.Namespace) -> list[dict[str, Any]]:
    placed = [_placed(device, args.mount) for device in args.devices]
    names = [_name(device, mount, [device for device, _ in placed]) for device, mount in placed]
    exclude = name_list(args.exclude) if args.exclude and "," in args.exclude else args.exclude
    offsets = _values("--offset", args.offset or (), placed, names)
    modes = _values("--mode", args.mode or (), placed, names)
    return [
        _given(
            device=device,
            mount=mount,
            name=name if name != Path(device).stem else None,
            offset=_pose(offset),
            mode=mode,
            exclude=exclude,
            noise=False if args.no_noise else None,
        )
        for (device, mount), name, offset, mode in zip(placed, names, offsets, modes, strict=True)
    ]


def _placed(text: str, mount: str | None) -> tuple[str, str]:
    """Device and mount of ``device@mount``, or of a device alone."""
    device, _, own_mount = text.partition("@")
    if not (own_mount or mount):
        raise OptionError(f"{text} has no mount: write {text}@NAME, or give --mount")
    return device, own_mount or str(mount)


def _name(device: str, mount: str, devices: list[str]) -> str:
    """The device's own name, with its mount where there are several of one kind."""
    name = Path(device).stem
    several = [Path(other).stem for other in devices].count(name) > 1
    return re.sub(r"[^A-Za-z0-9_.@+-]", "_", f"{name}@{mount}") if several else name


def _values(
    option: str, given: Sequence[tuple[str | None, Any]], placed: Sequence[tuple[str, str]], names: Sequence[str]
) -> list[Any]:
    """What an option gives each sensor: the value under its name, under its device's, or for all; else None."""
    values = dict(given)
    for name in values:
        if name is not None and name not in names and name not in [device for device, _ in placed]:
            raise OptionError(unknown_name(f"device of {option}", name, names))
    return [
        next((values[key] for key in (name, device, None) if key in values), None)
        for name, (device, _) in zip(names, placed, strict=True)
    ]


def _motion(args: argparse.Namespace) -> dict[str, Any]:
    if args.replay:
        return {"kind": "replay", "log": args.replay}
    if args.controller:
        return {"kind": "controller", "function": args.controller}
    if not args.waypoints:
        return {"kind": "rest"}
    roll_deg, pitch_deg, heave_m = args.sway or (0.0, 0.0, 0.0)
    return _given(
        kind="waypoints",
        waypoints_m=args.waypoints,
        speed_m_s=args.speed,
        corner_m=args.corner,
        closed=args.closed,
        body=args.body,
        height_m=args.height,
        sway={"roll_deg": roll_deg, "pitch_deg": pitch_deg, "heave_m": heave_m, "frequency_hz": args.sway_hz},
        follow_ground=args.follow_ground,
        trot={} if args.trot else None,
    )


def _fields(args: argparse.Namespace) -> str | list[str] | None:
    return name_list(args.fields) if args.fields and "," in args.fields else args.fields


def _pose(numbers: tuple[float, ...] | None) -> dict[str, Any] | None:
    return None if numbers is None else {"position_m": numbers[:3], "rpy_deg": numbers[3:] or (0.0, 0.0, 0.0)}


def _given(**values: Any) -> dict[str, Any]:
    """Without what was not given, so that the scenario's own defaults stand."""
    return {name: value for name, value in values.items() if value is not None}


def scenario_of(tree: dict[str, Any]) -> ScenarioConfig:
    """A scenario of its tree.

    Raises:
        ScenarioError: it cannot be accepted; one line names the place.
    """
    from pydantic import ValidationError

    from lidar_sim.scenario import ScenarioConfig

    try:
        return ScenarioConfig.model_validate(tree)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(
            str(part) for part in (*fault["loc"], *str(fault.get("ctx", {}).get("at", "")).split(".")) if part
        )
        raise ScenarioError(f"{where}: {fault['msg']}") from None


def beams_per_s(config: ScenarioConfig) -> float:
    """Beams that all sensors of a scenario fire in a second of simulated time."""
    from lidar_sim.profile import load_profile

    return sum(_beams_per_s([load_profile(sensor.device, sensor.mode) for sensor in config.sensors]))


def _beams_per_s(profiles: list[DeviceProfile]) -> Iterable[int]:
    from lidar_sim.pattern import make_pattern

    return (make_pattern(profile).index_at(1_000_000_000) for profile in profiles)


def _say(recording: Recording) -> None:
    for sensor, frames in recording.finished.items():
        print(f"{sensor}: {frames} frames in {recording.folder / sensor}, poses_{sensor}.txt")
    print(f"manifest.json and scenario.yaml in {recording.folder}")
