"""`lidar-sim doctor`: versions, extras, threads, cache and machine on one page."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lidar_sim.cli.arguments import add_command

if TYPE_CHECKING:
    from lidar_sim.cli.arguments import Subparsers

REQUIRED = ("numpy", "mujoco", "numba", "llvmlite", "pydantic", "PyYAML", "rich")
EXTRAS = {"plot": ("matplotlib",), "pcd": ("python-neo-lzf",), "open3d": ("open3d", "open3d-cpu")}

EXAMPLES = (
    ("lidar-sim doctor", "what to look at first when something is slow or missing"),
    ("lidar-sim doctor --json", "the same for a bug report"),
)


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the parser."""
    parser = add_command(
        subparsers, "doctor", run, summary="show versions, extras, threads, cache and warnings", examples=EXAMPLES
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """Print the page; never fails because something optional is missing."""
    sections = {
        "versions": _versions(),
        "extras": _extras(),
        "machine": _machine(),
        "threads and cache": _threads_and_cache(),
        "bundled": _bundled(),
    }
    warnings = list(_warnings(sections))
    if args.json:
        import json

        print(json.dumps({**sections, "warnings": warnings}, indent=2))
        return
    _print(sections, warnings)


def _print(sections: dict[str, dict[str, str]], warnings: list[str]) -> None:
    from rich.text import Text

    from lidar_sim.cli.terminal import plain_table, stdout_console

    console = stdout_console()
    for title, entries in sections.items():
        table = plain_table(title, "", "")
        table.show_header = False
        for name, value in entries.items():
            table.add_row(name, Text(value))
        console.print(table)
    for warning in warnings:
        console.print(Text(f"warning: {warning}", "yellow"))
    if not warnings:
        console.print("All well.")


def _versions() -> dict[str, str]:
    import platform

    names = ("lidar-sim", *REQUIRED)
    return {"python": platform.python_version(), **{name: _version(name) or "missing" for name in names}}


def _version(distribution: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _extras() -> dict[str, str]:
    found = {extra: [(name, _version(name)) for name in names] for extra, names in EXTRAS.items()}
    return {
        extra: next((f"{name} {version}" for name, version in versions if version), _how_to_install(extra))
        for extra, versions in found.items()
    }


def _how_to_install(extra: str) -> str:
    return f"not installed: pip install 'lidar-sim[{extra}]'"


def _machine() -> dict[str, str]:
    import platform

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "system": platform.platform(),
        "processor": _processor() or platform.machine(),
        "cores": f"{usable} usable of {os.cpu_count()}",
    }


def _processor() -> str:
    """Its name where the system tells it (Linux); empty elsewhere."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        return ""


def _threads_and_cache() -> dict[str, str]:
    try:
        from lidar_sim import jit
    except Exception as error:  # the page must come out even where Numba is broken
        return {"numba": f"cannot be imported: {error}"}
    folder = jit.cache_folder()
    files = [path for path in folder.rglob("*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    compiled = sum(path.suffix == ".nbi" for path in files)
    return {
        "numba threads": str(jit.get_num_threads()),
        "cache folder": str(folder),
        "cached kernels": f"{compiled} ({megabytes:.1f} MB)" if compiled else "none yet: the first scan will compile",
    }


def _bundled() -> dict[str, str]:
    from lidar_sim.bundled import bundled_folder

    found = {}
    for name, pattern in (("device_profiles", "*.yaml"), ("models", "*.xml")):
        try:
            found[name] = str(len(list(bundled_folder(name).glob(pattern))))
        except FileNotFoundError as error:
            found[name] = str(error)
    return found


def _warnings(sections: dict[str, dict[str, str]]) -> Iterator[str]:
    missing = [name for name, version in sections["versions"].items() if version == "missing"]
    if missing:
        yield f"{', '.join(missing)} should be installed but is not"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        yield "NUMBA_DISABLE_JIT is set: every kernel runs as plain Python, hundreds of times slower"
    if "NUMBA_CACHE_DIR" in os.environ:
        yield "NUMBA_CACHE_DIR is set: Numba may bring back old machine code after an edit of lidar_sim"
    cache = sections["threads and cache"]
    if cache.get("cache folder", "").startswith(_temporary_folder()) and "LIDAR_SIM_CACHE_DIR" not in os.environ:
        yield "the cache folder is temporary, kernels will be compiled again; set LIDAR_SIM_CACHE_DIR"
    if "numba" in cache:
        yield "Numba cannot be imported, so nothing can be simulated"
    if any(not value.isdigit() or value == "0" for value in sections["bundled"].values()):
        yield "bundled files are missing: install lidar-sim again"


def _temporary_folder() -> str:
    from lidar_sim import jit

    return str(jit.temporary_cache_folder())
