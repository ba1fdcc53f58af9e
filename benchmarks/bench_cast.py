"""The bvh caster beside Embree and MuJoCo's own calls, side by side in one run: the tables of this folder's README."""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from lidar_sim.bench.arenas import ARENAS, Arena
from lidar_sim.bench.beams import BEAMS
from lidar_sim.bench.contest import CONTESTANTS, SUBJECT, contest
from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.bench.report import machine_facts
from lidar_sim.bench.sheet import Sheet, growth, markdown, read_sheet
from lidar_sim.bench.upkeep import measure_firings, measure_motion, measure_refresh, measure_scaling
from lidar_sim.errors import LidarSimError, MissingExtraError

# Other patterns than OS1's are raced where a scene of each kind is.
OTHER_BEAMS_IN = ("room10", "room1000", "mesh97k")
QUICK_ARENAS = ("room10", "room100", "mesh97k")
# What a processor without AVX-512, and any x86-64 at all, would run.
CPUS = ("haswell", "x86-64")
CPU_ARENAS = ("room10", "room1000", "mesh97k")


def main() -> int:
    args = parse()
    sheet = Sheet({"date": f"{datetime.date.today()}", **machine_facts(), "load": load()})
    try:
        earlier = read_sheet(args.compare) if args.compare else None
        race_all(sheet, args)
        if args.upkeep:
            keep_up(sheet, args)
        for cpu in args.cpus:
            sheet.standings.extend(compiled_for(cpu, args))
    except NoHitsError as error:
        print(f"bench_cast: {error}", file=sys.stderr)
        return 3
    except LidarSimError as error:
        print(f"bench_cast: {error}", file=sys.stderr)
        return 1
    sheet.machine["load"] += f" to {load()}"
    print(markdown(sheet, earlier))
    if args.save:
        sheet.write(args.save)
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK_ARENAS)}, OS1 rays, 3 rounds")
    parser.add_argument("--arenas", nargs="+", choices=sorted(ARENAS))
    parser.add_argument("--beams", nargs="+", choices=sorted(BEAMS))
    parser.add_argument("--against", nargs="*", choices=sorted(set(CONTESTANTS) - {SUBJECT}))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], metavar="N")
    parser.add_argument("--rounds", type=int, help="default 9, with --quick 3")
    parser.add_argument("--no-upkeep", dest="upkeep", action="store_false", help="the races only")
    parser.add_argument("--cpus", nargs="*", default=[], metavar="NAME", help=f"also compiled for, e.g. {CPUS}")
    parser.add_argument("--save", type=Path, metavar="JSON")
    parser.add_argument("--compare", type=Path, metavar="JSON", help="an earlier run")
    args = parser.parse_args()
    args.rounds = args.rounds or (3 if args.quick else 9)
    args.arenas = args.arenas or (QUICK_ARENAS if args.quick else tuple(ARENAS))
    args.against = tuple(CONTESTANTS) if args.against is None else tuple(args.against)
    return args


def race_all(sheet: Sheet, args: argparse.Namespace) -> None:
    """Each arena, its patterns, each number of threads; without open3d the race goes on without Embree."""
    against = tuple(name for name in args.against if name != SUBJECT)
    for name in args.arenas:
        say(f"making {name}")
        arena = ARENAS[name](name)
        add_note(sheet, arena.note)
        for beams in args.beams or beams_for(name, args.quick):
            for threads in args.threads:
                say(f"{name}, {beams}, {threads} threads")
                options = {"threads": threads, "rounds": args.rounds}
                try:
                    rows = contest(arena, beams, BEAMS[beams](), against=against, **options)
                except MissingExtraError as error:
                    add_note(sheet, str(error))
                    against = tuple(name for name in against if name != "embree")
                    rows = contest(arena, beams, BEAMS[beams](), against=against, **options)
                sheet.standings.extend(rows)
        if args.upkeep:
            look_after(sheet, arena, args)


def beams_for(arena: str, quick: bool) -> tuple[str, ...]:
    return tuple(BEAMS) if arena in OTHER_BEAMS_IN and not quick else ("os1",)


def look_after(sheet: Sheet, arena: Arena, args: argparse.Namespace) -> None:
    """What is measured in an arena that stands already."""
    if len(args.threads) > 1:
        say(f"{arena.name}, thread scaling")
        sheet.upkeep.append(measure_scaling(arena, BEAMS["os1"](), args.rounds))
    if arena.name in {"room10", "room1000"}:
        say(f"{arena.name}, small calls")
        sheet.upkeep.append(measure_firings(arena, args.rounds))


def keep_up(sheet: Sheet, args: argparse.Namespace) -> None:
    """What needs rooms in which everything moves."""
    for obstacles in (10,) if args.quick else (10, 1000, 10000):
        say(f"refresh, {obstacles} obstacles")
        sheet.upkeep.extend(measure_refresh(obstacles))
    for obstacles in (10,) if args.quick else (10, 1000):
        say(f"motion, {obstacles} obstacles")
        sheet.upkeep.append(measure_motion(obstacles, args.rounds))
    grown = growth(sheet.standings)
    if grown is not None:
        sheet.upkeep.append(grown)


def compiled_for(cpu: str, args: argparse.Namespace) -> list:
    """Standings of a process whose kernels are compiled for another processor, in a cache of their own."""
    say(f"compiled for {cpu}")
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "sheet.json"
        # Without features of its own, Numba would add all that this processor has.
        own = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": "", "LIDAR_SIM_CACHE_DIR": folder}
        arenas = [name for name in args.arenas if name in CPU_ARENAS]
        options = ["--arenas", *arenas, "--beams", "os1", "--against", "embree", "--threads", "1", "--no-upkeep"]
        command = [sys.executable, __file__, *options, "--rounds", str(args.rounds), "--save", str(saved)]
        done = subprocess.run(command, env={**os.environ, **own}, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise LidarSimError(f"the run compiled for {cpu} ended with {done.returncode}")
        return [replace(row, cpu=cpu) for row in read_sheet(saved).standings]


def add_note(sheet: Sheet, note: str) -> None:
    if note and note not in sheet.notes:
        sheet.notes.append(note)


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def say(text: str) -> None:
    print(f"bench_cast: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
