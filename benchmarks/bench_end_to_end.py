"""The whole pipeline against real time on named rigs, at 2 and 10 ms steps; `--save` a run, `--compare` it."""

from __future__ import annotations

import argparse
from pathlib import Path

from lidar_sim import jit
from lidar_sim.bench.pipeline import measure_pipeline
from lidar_sim.bench.report import BenchReport, compare, machine_facts, read_report
from lidar_sim.bench.rig import make_rig
from lidar_sim.cli.bench import print_changes, print_report

SCENES = ("room", "warehouse", "terrain")
DEVICES = ("vlp16", "os1-64", "avia", "d435i")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", choices=SCENES, default="room")
    parser.add_argument("--robot", default="quadruped", help="bundled name or path")
    parser.add_argument("--devices", nargs="+", default=DEVICES)
    parser.add_argument("--caster", default="multiray")
    parser.add_argument("--steps-ms", type=float, nargs="+", default=[2.0, 10.0])
    parser.add_argument("--save", type=Path, metavar="JSON")
    parser.add_argument("--compare", type=Path, metavar="JSON", help="an earlier run")
    args = parser.parse_args()
    rig = make_rig(args.scene, args.robot)
    report = BenchReport(machine_facts(), rig.name, int(rig.model.ngeom), rig.triangles)
    for device in args.devices:
        for step_ms in args.steps_ms:
            speed = measure_pipeline(rig, device, args.caster, jit.get_num_threads(), step_ms=step_ms)
            report.pipeline.append(speed)
    print_report(report)
    if args.save:
        report.write(args.save)
    if args.compare:
        print_changes(compare(read_report(args.compare), report))


if __name__ == "__main__":
    main()
