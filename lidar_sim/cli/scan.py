"""`lidar-sim scan`: one frame of a model at rest, as a file and as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lidar_sim.cli.arguments import (
    add_command,
    add_sensor_options,
    exclusion,
    mount_offset,
    name_list,
    pose,
    robot_pose,
)
from lidar_sim.errors import ExportError, OptionError, unknown_name

if TYPE_CHECKING:
    from lidar_sim.cli.arguments import Subparsers
    from lidar_sim.records import Scan

QUANTITIES = ("height", "distance")
FRAMES = ("sensor", "body", "world")
ENCODINGS = ("ascii", "binary", "binary_compressed")

EXAMPLES = (
    ("lidar-sim scan warehouse --robot quadruped --device vlp16 --mount lidar --out scan.pcd",
     "the bundled robot in the bundled warehouse"),
    ("lidar-sim scan room --robot quadruped --device d435i --mount depth_camera --picture room.png",
     "a depth camera, as a picture only"),
    ("lidar-sim scan terrain --device os1-64 --mount world --offset 0,0,6 --frame world --out hills.ply",
     "a sensor without a robot, six metres over the origin, points in the world frame"),
    ("lidar-sim scan room --robot quadruped --device avia --mount lidar --no-noise --exclude subtree --out a.npz",
     "the truth, through the robot's own legs, with every field"),
)  # fmt: skip


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the parser."""
    parser = add_command(subparsers, "scan", run, summary="take one frame of a model at rest", examples=EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="bundled name (warehouse, room, terrain, quadruped) or a path")
    parser.add_argument("--robot", help="bundled name or path of a robot to put into it")
    parser.add_argument("--robot-pose", type=pose, metavar="X,Y,Z[,R,P,Y]", help="where; m and degrees")
    parser.add_argument("--keyframe", help="of the model; default: 'home' where there is one")
    parser.add_argument("--device", required=True, help="name, alias or path of a profile")
    parser.add_argument("--mode", help="mode of the device")
    parser.add_argument("--mount", required=True, help="site, body or camera that carries it ('world' is a body too)")
    parser.add_argument(
        "--offset", type=pose, metavar="X,Y,Z[,R,P,Y]", help="of the sensor in its mount; m and degrees"
    )
    add_sensor_options(parser)
    parser.add_argument("--number", type=int, default=0, metavar="N", help="which frame since power-on (default 0)")
    out = parser.add_argument_group("output")
    out.add_argument(
        "--out", metavar="FILE", help=".pcd, .ply, .npz, or .png (16-bit depth; of a lidar with --fields range)"
    )
    out.add_argument("--fields", help="xyz, xyzi, device, full, or names with commas between")
    out.add_argument("--encoding", choices=ENCODINGS, help="of a .pcd (default: binary)")
    out.add_argument("--flat", action="store_true", help="a .pcd without the grid: no NaN rows, all returns")
    out.add_argument("--frame", choices=FRAMES, default="sensor", help="frame of the points (default: %(default)s)")
    out.add_argument("--picture", metavar="PNG", help="draw the cloud")
    out.add_argument("--color", help="height (default), distance or a field")
    out.add_argument("--view", choices=("perspective", "top"), default="perspective")


def run(args: argparse.Namespace) -> None:
    """Scan, write, draw, and say what was found."""
    _check_outputs(args)
    from lidar_sim.scenario.offers import check_image, image_field
    from lidar_sim.scenario.world import build_model, initial_data
    from lidar_sim.simulator import Lidar

    if args.number < 0:
        raise OptionError(f"--number counts from 0, found {args.number}")
    model = build_model(args.model, args.robot, pose=robot_pose(args.robot_pose))
    lidar = Lidar(
        model,
        args.device,
        mount=args.mount,
        offset=mount_offset(args.offset),
        mode=args.mode,
        exclude=exclusion(args.exclude),
        geomgroups=args.geomgroups,
        noise=args.noise,
        seed=args.seed,
        caster=args.caster,
        keep_misses=args.keep_misses,
        threads=args.threads,
    )
    if args.out and Path(args.out).suffix.lower() == ".png":
        check_image(lidar.profile, image_field(name_list(args.fields) if args.fields else None))
    scan = lidar.scan(initial_data(model, args.keyframe), args.number)
    if args.out:
        _write(scan, args)
    if args.picture:
        from lidar_sim.pictures.clouds import draw_scan

        draw_scan(scan, args.picture, color=args.color, view=args.view, title=lidar.profile.title)
    _say(scan, lidar, args)


def _check_outputs(args: argparse.Namespace) -> None:
    """Faults that need no simulation are told before it, and before the first of two files is written."""
    from lidar_sim.export import WRITERS
    from lidar_sim.export.whole import writable_path
    from lidar_sim.fields import FIELDS, select_fields

    for path in (args.out, args.picture):
        if path:
            writable_path(path)
    if args.out and Path(args.out).suffix.lower() not in WRITERS:
        raise ExportError(f"{args.out}: {unknown_name('file suffix', Path(args.out).suffix, WRITERS)}")
    if args.picture and Path(args.picture).suffix.lower() != ".png":
        raise ExportError(f"a picture is written as .png, found {args.picture!r}")
    if args.color and args.color not in (*QUANTITIES, *FIELDS):
        raise OptionError(unknown_name("quantity to colour by", args.color, [*QUANTITIES, *FIELDS]))
    if args.fields:
        select_fields(args.fields)
    if (args.fields or args.encoding) and not args.out:
        raise OptionError("--fields and --encoding need --out")
    if args.flat and Path(args.out or "").suffix.lower() != ".pcd":
        raise OptionError("--flat is of .pcd files: give --out NAME.pcd")
    if args.picture:
        from lidar_sim.pictures.canvas import new_figure

        new_figure((400, 400))  # tells a missing matplotlib now


def _write(scan: Scan, args: argparse.Namespace) -> None:
    from lidar_sim.cloud import to_frame
    from lidar_sim.export import write

    options: dict[str, Any] = {"encoding": args.encoding} if args.encoding else {}
    if args.flat:
        options["organized"] = False
    write(scan if args.frame == scan.frame else to_frame(scan, args.frame), args.out, fields=args.fields, **options)


def _say(scan: Scan, lidar: Any, args: argparse.Namespace) -> None:
    import numpy as np

    from lidar_sim.cli.terminal import NOTHING_MET, note

    distance = scan["range"][np.isfinite(scan["range"])]
    beams = lidar.pattern.frame_start(args.number + 1) - lidar.pattern.frame_start(args.number)
    reach = f", {distance.min():.2f} to {distance.max():.2f} m" if len(distance) else ""
    print(f"{scan.sensor}: {len(distance):,} points of {beams:,} beams{reach}")
    for path in (args.out, args.picture):
        if path:
            print(f"wrote {path}")
    if not len(distance):
        note(NOTHING_MET)
