"""`lidar-sim warmup`: compiles the kernels of scans and recordings, so that later runs start at once."""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

from lidar_sim.cli.arguments import add_command, name_list

if TYPE_CHECKING:
    from lidar_sim.cli.arguments import Subparsers

DEVICES = "vlp16,os1-64,avia,d435i"
# Long enough for pieces of frames at each step, and for whole frames of fast devices.
_STEPS = 60

EXAMPLES = (
    ("lidar-sim warmup", "everything that the usual devices need, with the default caster"),
    ("lidar-sim warmup --devices vlp16 --caster brute", "one device, another caster"),
)
NOTES = """the cache:
  Kernels lie in folders named after a hash of their sources, in the user's cache folder, or in LIDAR_SIM_CACHE_DIR
  (`lidar-sim doctor` shows where). A later run with other options may still compile a kernel or two. An image of a
  container that has run this command starts without compiling, on the same kind of processor."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the parser."""
    parser = add_command(
        subparsers, "warmup", run, summary="compile all kernels beforehand", examples=EXAMPLES, notes=NOTES
    )
    parser.add_argument(
        "--devices", type=name_list, default=name_list(DEVICES), metavar="A,B", help=f"default {DEVICES}"
    )
    parser.add_argument("--caster", help="what casts the rays (default: that of Lidar)")


def run(args: argparse.Namespace) -> None:
    """Scan and step each device once in the bundled room."""
    from lidar_sim import jit
    from lidar_sim.cli.progress import step_bar

    start, kernels = perf_counter(), 0
    # All of them at once, so that a device or caster that is none is told before minutes of compiling.
    sensors = [_mounted(device, args.caster) for device in args.devices]
    with step_bar("compiling") as show:

        def tell() -> None:
            nonlocal kernels
            kernels += 1
            show(done, len(sensors), f"{lidar.profile.name}, kernel {kernels}")

        for done, (lidar, model, data) in enumerate(sensors):
            show(done, len(sensors), lidar.profile.name)
            with jit.told_of_compiling(tell):
                _exercise(lidar, model, data)
        show(len(sensors), len(sensors), "")
    what = f"compiled {kernels} kernels" if kernels else "all kernels were there"
    print(f"{what}, {perf_counter() - start:.1f} s; cache: {jit.cache_folder()}")


def _mounted(device: str, caster: str | None) -> tuple[Any, Any, Any]:
    from lidar_sim.scenario.world import build_model, initial_data
    from lidar_sim.simulator import Lidar

    model = build_model("room", "quadruped")
    chosen: dict[str, Any] = {"caster": caster} if caster is not None else {}
    return Lidar(model, device, mount="lidar", **chosen), model, initial_data(model)


def _exercise(lidar: Any, model: Any, data: Any) -> None:
    """A frame at rest, the same in the world frame, and a drive of a few steps."""
    import mujoco

    from lidar_sim.cloud import to_frame

    to_frame(lidar.scan(data), "world")
    for _ in range(_STEPS):
        mujoco.mj_step(model, data)
        lidar.step(data)
