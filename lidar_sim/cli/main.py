"""The door of the command line: the parser, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NoReturn

from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.cli import bench, demo, devices, doctor, record, scan, warmup
from lidar_sim.cli.arguments import CommandParser, HelpFormatter
from lidar_sim.errors import LidarSimError

COMMANDS = (devices, scan, record, bench, demo, warmup, doctor)
# They cast rays, and say so when they have to compile first.
_CASTING = {"scan", "record", "bench", "demo"}

EXIT_OK, EXIT_INPUT, EXIT_USAGE, EXIT_NO_HITS, EXIT_INTERRUPTED = 0, 1, 2, 3, 130
EXIT_CODES = {
    EXIT_OK: "done",
    EXIT_INPUT: "something in the input is wrong: one line on stderr says what, and what is valid",
    EXIT_USAGE: "the command line itself is wrong",
    EXIT_NO_HITS: "bench refused to report: no ray hit anything",
    EXIT_INTERRUPTED: "interrupted (Ctrl-C)",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments after the program's name; None = those of the process.

    Returns:
        One of ``EXIT_CODES``.
    """
    args = build_parser().parse_args(argv)
    try:
        with _notice_of_compiling(args.command):
            args.run(args)
        sys.stdout.flush()
    except LidarSimError as error:
        return _fail(str(error), EXIT_NO_HITS if isinstance(error, NoHitsError) else EXIT_INPUT)
    except BrokenPipeError:
        _close_stdout_quietly()
    except OSError as error:
        return _fail(_describe(error), EXIT_INPUT)
    except KeyboardInterrupt:
        return _fail("interrupted", EXIT_INTERRUPTED)
    return EXIT_OK


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; cheap, since each command imports what it needs when it runs."""
    parser = argparse.ArgumentParser(
        prog="lidar-sim",
        description="LiDAR and ray-casting simulator on MuJoCo: every beam fired at its own time.",
        epilog=_epilog(),
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, parser_class=CommandParser
    )
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def _notice_of_compiling(command: str) -> AbstractContextManager[None]:
    if command not in _CASTING:
        return nullcontext()
    from lidar_sim.cli.compiling import notice_of_compiling

    return notice_of_compiling()


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"lidar-sim {version('lidar-sim')}")
        parser.exit()


def _epilog() -> str:
    codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())
    return (
        "examples:\n"
        "  lidar-sim devices                    # which devices there are\n"
        "  lidar-sim demo                       # a robot drives through a warehouse with four of them\n"
        "  lidar-sim scan warehouse --robot quadruped --device vlp16 --mount lidar --out scan.pcd\n"
        f"\nexit codes:\n{codes}\n"
        "\n`lidar-sim COMMAND --help` has more examples."
    )


def _fail(message: str, code: int) -> int:
    print(f"lidar-sim: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _describe(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)


def _close_stdout_quietly() -> None:
    """The reader (``| head``) has gone: give Python's last flush somewhere to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
