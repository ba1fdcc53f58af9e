"""`lidar-sim devices`: which devices there are, one of them whole, a picture of where it looks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lidar_sim.cli.arguments import add_command
from lidar_sim.errors import OptionError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from lidar_sim.cli.arguments import Subparsers
    from lidar_sim.profile import DeviceProfile

CATEGORIES = {"lidar": "3D lidars", "depth_camera": "Depth cameras", "scanner_2d": "2D scanners"}

EXAMPLES = (
    ("lidar-sim devices", "every device that comes with lidar_sim"),
    ("lidar-sim devices vlp16", "one of them whole: each value with its source, the modes"),
    ("lidar-sim devices vlp16 --mode 1200rpm --plot vlp16.png", "where its beams go in one frame, coloured by time"),
    ("lidar-sim devices vlp16 --yaml > mine.yaml", "start a profile of your own; --device mine.yaml then uses it"),
)


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the parser."""
    parser = add_command(
        subparsers, "devices", run, summary="list the devices, or show one with the source of every value",
        examples=EXAMPLES,
    )  # fmt: skip
    parser.add_argument("device", nargs="?", help="name, alias or path of a profile; without it all are listed")
    parser.add_argument("--mode", help="one of the device's modes, or <n>rpm; default: the profile's own")
    text = parser.add_mutually_exclusive_group()
    text.add_argument("--json", action="store_true", help="print the profile, or all profiles, as JSON")
    text.add_argument("--yaml", action="store_true", help="print it as YAML, named my_NAME: a profile to start from")
    parser.add_argument("--plot", metavar="PNG", help="draw one frame's directions in azimuth and elevation")


def run(args: argparse.Namespace) -> None:
    """Print the table of all devices, or everything about one."""
    if args.device is None:
        given = next((name for name in ("mode", "plot", "yaml") if getattr(args, name)), None)
        if given:
            raise OptionError(f"--{given} needs one device: lidar-sim devices NAME")
        _print_all(as_json=args.json)
        return
    from lidar_sim.profile import load_profile

    profile = load_profile(args.device, args.mode)
    if args.plot:
        _plot(profile, args.plot)
    if args.json:
        _print_json(_as_tree(profile, args.mode))
    elif args.yaml:
        print(start_profile(profile, args.mode), end="")
    else:
        _print_one(profile)


def _print_all(*, as_json: bool) -> None:
    from lidar_sim.profile import load_profile, shipped_profiles

    profiles = [load_profile(name) for name in shipped_profiles()]
    if as_json:
        _print_json([_as_tree(profile) for profile in profiles])
        return
    from lidar_sim.cli.terminal import stdout_console

    console = stdout_console()
    for category, title in CATEGORIES.items():
        chosen = [profile for profile in profiles if profile.category == category]
        if chosen:
            console.print(_device_table(title, chosen))
    console.print(
        "Sources: how many values were read in the vendor's own text (P), quoted by others (S), computed (C), "
        "or are not verified (U).\n`lidar-sim devices NAME` shows each value with its source.",
        style="dim",
    )


def _device_table(title: str, profiles: Sequence[DeviceProfile]) -> RenderableType:
    from lidar_sim.cli import device_facts as facts
    from lidar_sim.cli.terminal import plain_table

    numbers = ("rows", "points/s", "view h x v deg", "range m", "rate Hz")
    table = plain_table(title, "name", "aliases", *numbers, "returns", "sources", right=numbers)
    for profile in profiles:
        counts = facts.source_counts(profile)
        table.add_row(
            profile.name,
            ", ".join(profile.aliases),
            str(facts.rows(profile) or "-"),
            f"{profile.nominal.points_per_s:,.0f}",
            facts.field_of_view(profile),
            facts.ranges(profile),
            f"{facts.frame_rate_hz(profile):g}",
            ", ".join(profile.nominal.return_modes),
            " ".join(f"{counts[status]}{status[0].upper()}" for status in facts.STATUSES if counts[status]),
        )
    return table


def _print_one(profile: DeviceProfile) -> None:
    from rich.text import Text

    from lidar_sim.cli.terminal import stdout_console

    console = stdout_console()
    console.print(Text(f"{profile.title}  ({profile.name}: {', '.join(profile.aliases) or 'no aliases'})", "bold"))
    console.print(Text(f"{profile.vendor}, {CATEGORIES[profile.category][:-1].lower()}, file {_file(profile)}", "dim"))
    if profile.notes:
        console.print(Text(profile.notes.strip()))
    console.print(_value_table(profile))
    if profile.modes:
        console.print(_mode_table(profile))


def _value_table(profile: DeviceProfile) -> RenderableType:
    from rich.text import Text

    from lidar_sim.cli import device_facts as facts
    from lidar_sim.cli.terminal import plain_table

    table = plain_table("", "", "value", "status", "source")
    for section in facts.SECTIONS:
        rows = facts.values(profile, section)
        if rows:
            kind = f" ({profile.pattern.kind})" if section == "pattern" else ""
            table.add_row(Text(section + kind, "bold"))
        for row in rows:
            style = {"default": "dim", "unverified": "yellow"}.get(row.status, "")
            table.add_row(Text(f"  {row.name}"), Text(row.text), Text(row.status), Text(row.source), style=style)
        table.add_section()
    return table


def _mode_table(profile: DeviceProfile) -> RenderableType:
    from rich.text import Text

    from lidar_sim.cli.terminal import plain_table

    table = plain_table("\nmodes", "mode", "changes", "")
    for name, mode in profile.modes.items():
        sections = mode.model_dump(exclude_unset=True)
        changes = [f"{section}.{key} = {value}" for section, keys in sections.items() for key, value in keys.items()]
        table.add_row(name, Text(", ".join(changes)), "in use" if name == profile.default_mode else "")
    if profile.pattern.kind == "spinning_free":
        limits = f"{profile.pattern.rpm_min:g} to {profile.pattern.rpm_max:g}"
        table.add_row("<n>rpm", f"any speed from {limits} rpm; now {profile.pattern.rpm:g}", "")
    return table


def _file(profile: DeviceProfile) -> Path | str:
    from lidar_sim.profile import shipped_profiles

    return shipped_profiles().get(profile.name, "of your own")


def _as_tree(profile: DeviceProfile, mode: str | None = None) -> dict[str, Any]:
    """The profile as its file would give it: JSON is YAML, so it can be saved and loaded again."""
    tree = profile.model_dump(mode="json", exclude_unset=True)
    if mode is not None and mode not in profile.modes:
        # The file's default mode would set an own <n>rpm back when it is loaded.
        for key in ("default_mode", "modes"):
            tree.pop(key, None)
    return tree


def start_profile(profile: DeviceProfile, mode: str | None = None) -> str:
    """YAML of a profile to change: named my_NAME and without aliases, so that it stands beside the shipped one.

    Args:
        profile: in its mode.
        mode: as it was asked for, None = the default.
    """
    from lidar_sim.profile import DeviceProfile, dump_profile

    tree = _as_tree(profile, mode)
    tree.pop("aliases", None)
    own = DeviceProfile.model_validate({**tree, "name": f"my_{profile.name}"})
    return f"# A start from {profile.name}: change it, and give the file's path as the device.\n{dump_profile(own)}"


def _print_json(tree: Any) -> None:
    import json

    print(json.dumps(tree, indent=2, ensure_ascii=False))


def _plot(profile: DeviceProfile, path: str) -> None:
    from lidar_sim.pattern import make_pattern
    from lidar_sim.pictures.patterns import draw_pattern

    draw_pattern(profile, make_pattern(profile), path)
    print(f"wrote {path}", file=sys.stderr)
