"""`lidar-sim bench`: beams per second on a robot model, beside plain mj_multiRay, and the real-time factor."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lidar_sim.cli.arguments import add_command, name_list, positive_float, positive_int, positive_ints
from lidar_sim.errors import OptionError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lidar_sim.bench.report import BenchReport, Change
    from lidar_sim.cli.arguments import Subparsers

DEVICES = "vlp16,os1-64,avia,d435i"

EXAMPLES = (
    ("lidar-sim bench", "the bundled quadruped in the bundled room, four devices, every caster"),
    ("lidar-sim bench --scene warehouse --devices vlp16 --threads 1 --json vlp16.json", "one device, kept as JSON"),
    (f"lidar-sim bench --robot quadruped --devices {DEVICES} --casters all", "any other MJCF does for --robot"),
)
NOTES = """how it measures:
  Each round runs plain mj_multiRay (MuJoCo's Python binding, one call for each origin) and then every caster on
  the same rays; the ratio is the median of the ratios of each round, so that a busy machine meets both. Wrong are
  the rays of a sample that meet another surface than mj_ray's. The first cast of a caster is shown apart (cold
  start). A caster too slow for a whole frame gets every n-th ray. The pipeline is stepped beside the physics; its
  real-time factor is simulated time over the time of Lidar.step. Without one hit there is no report: exit code 3."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the parser."""
    parser = add_command(
        subparsers, "bench", run, summary="measure beams per second on a robot model", examples=EXAMPLES, notes=NOTES
    )
    parser.add_argument("--scene", default="room", help="bundled name or path (default: %(default)s)")
    parser.add_argument("--robot", default="quadruped", help="bundled name or path; 'none' = the scene alone")
    parser.add_argument("--mount", help="site, body or camera; default: 'lidar', or above the robot's first body")
    parser.add_argument(
        "--devices", type=name_list, default=name_list(DEVICES), metavar="A,B", help=f"default {DEVICES}"
    )
    parser.add_argument(
        "--casters",
        type=name_list,
        default=["all"],
        metavar="A,B",
        help="names (embree with the extra open3d), or all (default): those that agree with mj_ray exactly",
    )
    parser.add_argument("--threads", type=positive_ints, metavar="N,M", help="default: 1 and all cores")
    parser.add_argument("--rounds", type=positive_int, default=15, help="default: %(default)s")
    parser.add_argument("--step-ms", type=positive_float, default=2.0, metavar="MS",
                        help="simulated time between two steps of the pipeline (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write all figures there too")
    parser.add_argument("--compare", metavar="FILE", help="show the figures beside those of an earlier --json")


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from lidar_sim import jit
    from lidar_sim.bench.report import compare, read_report, run_bench
    from lidar_sim.bench.rig import make_rig
    from lidar_sim.cast import EXACT_CASTERS
    from lidar_sim.cli.progress import step_bar

    if args.casters != ["all"] and "all" in args.casters:
        raise OptionError("--casters is either all or a list of names")
    casters = list(EXACT_CASTERS) if args.casters == ["all"] else args.casters
    earlier = read_report(args.compare) if args.compare else None
    robot = None if args.robot == "none" else args.robot
    rig = make_rig(args.scene, robot, mount=args.mount)
    with step_bar("measuring") as show:
        report = run_bench(
            rig,
            args.devices,
            casters,
            args.threads or sorted({1, jit.get_num_threads()}),
            rounds=args.rounds,
            step_ms=args.step_ms,
            progress=show,
        )
    if args.json:
        report.write(args.json)
    print_report(report)
    if earlier is not None:
        print_changes(compare(earlier, report))


def print_report(report: BenchReport) -> None:
    """The tables of one report on stdout."""
    from lidar_sim.cli.terminal import stdout_console

    console = stdout_console()
    console.print(f"{report.rig}: {report.geoms} geoms, {report.triangles:,} triangles", style="bold")
    console.print("  ".join(f"{name} {value}" for name, value in report.machine.items()), style="dim")
    if report.casting:
        console.print(_casting_table(report))
        console.print(_cold_table(report))
    if any(row.rays < row.frame_rays for row in report.casting):
        console.print("* too slow for all rays of a frame: every n-th was cast, times are scaled to the frame\n")
    if report.pipeline:
        console.print(_pipeline_table(report))


def _casting_table(report: BenchReport) -> RenderableType:
    from lidar_sim.cli.terminal import plain_table

    numbers = ("threads", "rays", "hits %", "wrong %", "median ms", "p95 ms", "Mbeams/s", "x plain")
    table = plain_table("\ncasting one frame at rest, warm", "device", "caster", *numbers, right=numbers)
    device = ""
    for row in report.casting:
        if device and row.device != device:
            table.add_section()
        table.add_row(
            row.device if row.device != device else "",
            row.caster if row.caster != "mj_multiRay" else f"plain mj_multiRay ({row.origins} calls)",
            str(row.threads),
            f"{row.rays:,}" + ("*" if row.rays < row.frame_rays else ""),
            f"{100 * row.hit_ratio:.2f}",
            f"{100 * row.wrong_ratio:.2f}",
            f"{row.median_ms:.2f}",
            f"{row.p95_ms:.2f}",
            f"{row.mbeams_per_s:.3g}",
            f"{row.ratio_to_plain:.2f}",
        )
        device = row.device
    return table


def _cold_table(report: BenchReport) -> RenderableType:
    from lidar_sim.cli.terminal import plain_table

    numbers = ("threads", "first cast s")
    table = plain_table("cold start: model copy, kernels, first cast", "caster", *numbers, "kernels", right=numbers)
    for row in report.cold:
        how = "compiled" if row.compiled else "from the cache"
        table.add_row(row.caster, str(row.threads), f"{row.cold_s:.2f}", how)
    return table


def _pipeline_table(report: BenchReport) -> RenderableType:
    from lidar_sim.cli.terminal import plain_table

    numbers = ("threads", "step ms", "simulated s", "frames", "points", "lidar s", "physics s", "x real time")
    table = plain_table(
        "whole pipeline; share of each room in lidar s",
        *("device", "caster", *numbers, "shares"),
        right=numbers,
    )
    for row in report.pipeline:
        shares = "  ".join(f"{room} {100 * share:.0f}%" for room, share in row.shares.items() if share >= 0.02)
        table.add_row(
            row.device,
            row.caster,
            str(row.threads),
            f"{row.step_ms:g}",
            f"{row.simulated_s:.2f}",
            str(row.scans),
            f"{row.points:,}",
            f"{row.lidar_s:.2f}",
            f"{row.physics_s:.2f}",
            f"{row.real_time_factor:.2f}",
            shares,
        )
    return table


def print_changes(changes: Sequence[Change]) -> None:
    """A later report beside an earlier one, on stdout."""
    from lidar_sim.cli.terminal import plain_table, stdout_console

    numbers = ("before", "after", "after / before")
    table = plain_table("\nbeside the earlier run", "what", "figure", *numbers, right=numbers)
    for change in changes:
        table.add_row(change.what, change.figure, f"{change.before:.3g}", f"{change.after:.3g}", f"{change.ratio:.2f}")
    stdout_console().print(table)
