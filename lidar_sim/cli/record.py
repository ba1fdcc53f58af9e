"""`lidar-sim record`: a drive, one file a frame, poses and a manifest; from a scenario file or from options."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lidar_sim.cli.arguments import add_command, name_list, pose, positive_float, positive_int, triple, waypoint_list
from lidar_sim.errors import OptionError, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    *("devices", "mount", "exclude", "caster", "no_noise"),
    *("waypoints", "replay", "controller", "closed", "body", "height", "sway", "follow_ground", "trot"),
    *("formats", "fields", "encoding", "frame"),
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
    group.add_argument("--formats", type=name_list, metavar="A,B", help="pcd (default), ply, npz, png")
    group.add_argument("--fields", help="xyz, xyzi, device, full, or names with commas between")
    group.add_argument("--encoding", choices=("ascii", "binary", "binary_compressed"), help="of PCDs; default binary")
    group.add_argument("--frame", choices=("sensor", "body", "world"), help="of the points; default sensor")


def run(args: argparse.Namespace) -> None:
    """Record and say what is there."""
    config = _scenario(args)
    from lidar_sim.cli.progress import recording_bar
    from lidar_sim.scenario import run_scenario

    with recording_bar(beams_per_s(config)) as progress:
        recording = run_scenario(
            config,
            args.out,
            overwrite=args.overwrite,
            resume=args.resume,
            threads=args.threads,
            progress=progress,
        )
    keep_scenario(config, Path(args.out))
    _say(recording)


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
        "sensors": [_sensor(device, args) for device in args.devices],
        "motion": _motion(args),
        "outputs": _given(formats=args.formats, fields=_fields(args), encoding=args.encoding, frame=args.frame),
    }
    return _given(**tree)


def _sensor(device: str, args: argparse.Namespace) -> dict[str, Any]:
    name, _, own_mount = device.partition("@")
    mount = own_mount or args.mount
    if not mount:
        raise OptionError(f"{device} has no mount: write {device}@NAME, or give --mount")
    exclude = name_list(args.exclude) if args.exclude and "," in args.exclude else args.exclude
    return _given(device=name, mount=mount, exclude=exclude, noise=False if args.no_noise else None)


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


def keep_scenario(config: ScenarioConfig, folder: Path) -> None:
    """Leave the scenario, defaults and all, beside its recording, ready to be run again."""
    import yaml

    from lidar_sim.export import whole_file

    tree = config.model_dump(mode="json", exclude_none=True)
    head = "# Run it again: lidar-sim record scenario.yaml --out FOLDER\n"
    with whole_file(folder / "scenario.yaml") as stream:
        stream.write((head + yaml.safe_dump(tree, sort_keys=False)).encode())


def _say(recording: Recording) -> None:
    for sensor, frames in recording.finished.items():
        print(f"{sensor}: {frames} frames in {recording.folder / sensor}, poses_{sensor}.txt")
    print(f"manifest.json and scenario.yaml in {recording.folder}")
