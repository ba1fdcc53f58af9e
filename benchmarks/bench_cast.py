"""Casting beside plain mj_multiRay on named rigs; `--save` a run, `--compare` it with an earlier one."""

from __future__ import annotations

import argparse
from pathlib import Path

from lidar_sim import jit
from lidar_sim.bench.casting import measure_casting
from lidar_sim.bench.report import BenchReport, compare, machine_facts, read_report
from lidar_sim.bench.rig import make_rig
from lidar_sim.cast import CASTERS
from lidar_sim.cli.bench import print_changes, print_report

RIGS = {
    "room": ("room", "quadruped"),
    "warehouse": ("warehouse", "quadruped"),
    "terrain": ("terrain", "quadruped"),
}
DEVICES = ("vlp16", "os1-64", "avia", "d435i")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rig", choices=sorted(RIGS), default="room")
    parser.add_argument("--robot", help="another robot in that scene: a path")
    parser.add_argument("--devices", nargs="+", default=DEVICES)
    parser.add_argument("--casters", nargs="+", default=list(CASTERS), choices=sorted(CASTERS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--save", type=Path, metavar="JSON")
    parser.add_argument("--compare", type=Path, metavar="JSON", help="an earlier run")
    args = parser.parse_args()
    scene, robot = RIGS[args.rig]
    rig = make_rig(scene, args.robot or robot)
    report = BenchReport(machine_facts(), rig.name, int(rig.model.ngeom), rig.triangles)
    threads = sorted({1, jit.get_num_threads()})
    for device in args.devices:
        report.casting.extend(measure_casting(rig, device, args.casters, threads, rounds=args.rounds, cold=report.cold))
    print_report(report)
    if args.save:
        report.write(args.save)
    if args.compare:
        print_changes(compare(read_report(args.compare), report))


if __name__ == "__main__":
    main()
