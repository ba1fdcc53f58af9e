"""Kinds of arguments, and pieces of parsers, that several commands share."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lidar_sim.errors import nearest_hint

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


# The number of a value such as -0.1,0,0; no option of ours begins so.
_SIGNED_VALUE = re.compile(r"-\.?\d")


class CommandParser(argparse.ArgumentParser):
    """Takes values that begin with a minus sign; an unknown option is told with the usage of its own command."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse's own, but nothing is left over for the parser of all commands."""
        joined = join_signed_values(sys.argv[1:] if args is None else args)
        known, rest = super().parse_known_args(joined, namespace)
        if rest:
            options = [word.split("=")[0] for word in rest if word.startswith("--")]
            hint = nearest_hint(options[0], list(self._option_string_actions)) if options else ""
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return known, rest


def join_signed_values(args: Sequence[str]) -> list[str]:
    """``--option -1,0`` as ``--option=-1,0``, which argparse would take for two options otherwise."""
    joined: list[str] = []
    for word in args:
        before = joined[-1] if joined else ""
        if _SIGNED_VALUE.match(word) and re.fullmatch(r"--[^=]+", before) and "--" not in joined:
            joined[-1] = f"{before}={word}"
        else:
            joined.append(word)
    return joined


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps our line breaks; room for long option names."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, max_help_position=30, **options)


def add_command(
    subparsers: Subparsers,
    name: str,
    run: Callable[[argparse.Namespace], None],
    *,
    summary: str,
    examples: Sequence[tuple[str, str]],
    notes: str = "",
) -> argparse.ArgumentParser:
    """A parser of one command whose help ends with examples that can be run as they stand.

    Args:
        subparsers: where it is added.
        name: the command.
        run: what it does with the parsed arguments.
        summary: one line.
        examples: (command line, what it does) pairs.
        notes: further lines after the examples.
    """
    lines = "\n".join(f"  # {meaning}\n  {line}" for line, meaning in examples)
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"examples:\n{lines}" + (f"\n\n{notes}" if notes else ""),
        formatter_class=HelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_sensor_options(parser: argparse.ArgumentParser) -> None:
    """Options of every simulated sensor: noise, seed, caster, what it does not see."""
    options = parser.add_argument_group("sensor")
    options.add_argument("--no-noise", dest="noise", action="store_false", help="the truth exactly")
    options.add_argument("--seed", type=int, default=0, help="of all randomness (default: %(default)s)")
    options.add_argument("--caster", default="multiray", help="what casts the rays (default: %(default)s)")
    options.add_argument("--threads", type=positive_int, metavar="N", help="default: all cores")
    options.add_argument(
        "--exclude", default="body", metavar="WHAT", help="none, body (default), subtree, or names of bodies"
    )
    options.add_argument(
        "--geomgroups", type=group_list, metavar="0,1", help="geom groups that are seen (default: all)"
    )
    options.add_argument("--keep-misses", action="store_true", help="keep a NaN row for each beam without a return")


def exclusion(text: str) -> str | list[str]:
    """What ``Lidar(exclude=...)`` takes: a word, or a list of body names."""
    return name_list(text) if "," in text else text


def mount_offset(numbers: tuple[float, ...] | None) -> Any:
    """What ``Lidar(offset=...)`` takes, from x, y, z and perhaps roll, pitch, yaw in degrees."""
    return None if numbers is None else (numbers[:3], numbers[3:] or (0.0, 0.0, 0.0))


def robot_pose(numbers: tuple[float, ...] | None) -> list[float] | None:
    """What ``build_model(pose=...)`` takes: position m and quaternion w x y z."""
    if numbers is None:
        return None
    from lidar_sim.transforms import euler_to_quaternion

    return [*numbers[:3], *euler_to_quaternion(*(numbers[3:] or (0.0, 0.0, 0.0)))]


def of_device(kind: Callable[[str], Any]) -> Callable[[str], tuple[str | None, Any]]:
    """Reads ``NAME=VALUE`` as (name, value), and ``VALUE`` alone as (None, value).

    Args:
        kind: reads the value.
    """

    def read(text: str) -> tuple[str | None, Any]:
        name, equals, value = text.rpartition("=")
        if equals and not name:
            raise argparse.ArgumentTypeError(f"expected NAME=VALUE or VALUE, found {text!r}")
        return name or None, kind(value)

    return read


def group_list(text: str) -> list[int]:
    """Comma-separated geom groups, 0 to 5."""
    groups = name_list(text)
    if not all(group in set("012345") for group in groups):
        raise argparse.ArgumentTypeError(f"expected geom groups 0 to 5 with commas between, found {text!r}")
    return [int(group) for group in groups]


def name_list(text: str) -> list[str]:
    """Comma-separated names, in order, none empty or twice."""
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) != len(names):
        raise argparse.ArgumentTypeError(f"expected names with commas between, each once, found {text!r}")
    return names


def positive_int(text: str) -> int:
    """A whole number from 1."""
    if not text.strip().isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, found {text!r}")
    return int(text)


def positive_float(text: str) -> float:
    """A finite number above 0."""
    value = _number(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {text!r}")
    return value


def positive_ints(text: str) -> list[int]:
    """Comma-separated whole numbers from 1."""
    return [positive_int(part) for part in name_list(text)]


def waypoint_list(text: str) -> list[tuple[float, ...]]:
    """Points "x,y x,y ..." in metres, two or more."""
    points = [_numbers(point, 2, '"x,y x,y ..."') for point in text.split()]
    if len(points) < 2:
        raise argparse.ArgumentTypeError(f'expected two points or more, "x,y x,y", found {text!r}')
    return points


def triple(text: str) -> tuple[float, ...]:
    """Three numbers with commas between."""
    return _numbers(text, 3, "three numbers a,b,c")


def pose(text: str) -> tuple[float, ...]:
    """An offset "x,y,z" (m) or "x,y,z,roll,pitch,yaw" (m, degrees)."""
    count = 6 if text.count(",") > 2 else 3
    return _numbers(text, count, "x,y,z or x,y,z,roll,pitch,yaw")


def _numbers(text: str, count: int, form: str) -> tuple[float, ...]:
    parts = text.split(",")
    if len(parts) != count:
        raise argparse.ArgumentTypeError(f"expected {form}, found {text!r}")
    return tuple(_number(part) for part in parts)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, found {text!r}") from None
