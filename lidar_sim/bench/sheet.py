"""All figures of one run of races: as Markdown, as JSON, beside those of an earlier run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lidar_sim.bench.contest import SUBJECT, Standing
from lidar_sim.bench.upkeep import Upkeep
from lidar_sim.errors import ExportError
from lidar_sim.export import whole_file

_FORMAT = "lidar_sim races 1"
# Between these two arenas growth is told.
_FEW, _MANY = "room100", "room10000"


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one run found.

    Attributes:
        machine: versions, processor, load.
        notes: what a reader must know.
        standings: one row for each arena, pattern, contestant, number of threads and processor compiled for.
        upkeep: figures that are no race of casters.
    """

    machine: dict[str, str]
    notes: list[str] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)
    upkeep: list[Upkeep] = field(default_factory=list)

    def write(self, path: str | Path) -> None:
        """Write as JSON; the file appears whole or not at all.

        Raises:
            ExportError: it cannot be written.
        """
        with whole_file(path) as stream:
            stream.write((json.dumps({"format": _FORMAT, **asdict(self)}, indent=2) + "\n").encode())


def read_sheet(path: str | Path) -> Sheet:
    """A sheet that was written before.

    Raises:
        ExportError: no such file, or no sheet of this version.
    """
    try:
        tree = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: cannot be read as a sheet of races: {error}") from None
    if not isinstance(tree, dict) or tree.pop("format", None) != _FORMAT:
        raise ExportError(f"{path}: not a sheet of format {_FORMAT!r}")
    standings = [Standing(**row) for row in tree.pop("standings")]
    return Sheet(standings=standings, upkeep=[Upkeep(**row) for row in tree.pop("upkeep")], **tree)


def growth(standings: Sequence[Standing]) -> Upkeep | None:
    """Time per ray of bvh in the room of 10,000 obstacles over that of 100, one thread; None if not both were run."""
    own = {
        row.arena: row
        for row in standings
        if (row.contestant, row.threads, row.beams, row.cpu) == (SUBJECT, 1, "os1", "host")
    }
    if not {_FEW, _MANY} <= own.keys():
        return None
    ratio = own[_MANY].ms / own[_FEW].ms
    return Upkeep(f"time per ray, {own[_MANY].geoms:,} / {own[_FEW].geoms} geoms", own[_MANY].geoms, ratio, ratio, "x")


def markdown(sheet: Sheet, earlier: Sheet | None = None) -> str:
    """Tables of a sheet, with the figures of an earlier one beside its own."""
    lines = ["  ".join(f"{name} {value}" for name, value in sheet.machine.items()), *sheet.notes, ""]
    if sheet.standings:
        lines += [*_standings(sheet.standings, earlier), ""]
    if sheet.upkeep:
        lines += [*_upkeep(sheet.upkeep, earlier), ""]
    return "\n".join(lines)


def _standings(rows: Sequence[Standing], earlier: Sheet | None) -> list[str]:
    head = ["arena", "geoms", "triangles", "rays", "hits", "threads", "caster", "ms", "Mray/s", "bvh faster", "wrong"]
    before = {_key(row): row.ratio for row in earlier.standings} if earlier else None
    body = []
    for row in rows:
        cells = [
            row.arena,
            f"{row.geoms:,}",
            f"{row.triangles:,}",
            f"{row.rays:,} {row.beams}",
            f"{100 * row.hit_ratio:.1f} %",
            f"{row.threads}" + (f", {row.cpu}" if row.cpu != "host" else ""),
            row.contestant + ("*" if row.cast < row.rays else ""),
            f"{row.ms:.4g}",
            f"{row.mrays_per_s:.3g}",
            "" if row.contestant == SUBJECT else f"{row.ratio:.2f} x",
            f"{row.wrong} of {row.sampled:,}",
        ]
        body.append(cells + ([_before(before.get(_key(row)))] if before is not None else []))
    return _table(head + (["bvh faster, before"] if before is not None else []), body)


def _upkeep(rows: Sequence[Upkeep], earlier: Sheet | None) -> list[str]:
    before = {(row.what, row.geoms): row.value for row in earlier.upkeep} if earlier else None
    body = []
    for row in rows:
        cells = [row.what, f"{row.geoms:,}", f"{row.value:.3g} {row.unit}", f"{row.worst:.3g} {row.unit}"]
        body.append(cells + ([_before(before.get((row.what, row.geoms)))] if before is not None else []))
    return _table(["what", "geoms", "median", "worst"] + (["before"] if before is not None else []), body)


def _key(row: Standing) -> tuple[str, str, str, int, str]:
    return row.arena, row.beams, row.contestant, row.threads, row.cpu


def _before(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in [head, *body]) for k in range(len(head))]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [head, *body]
    ]
    return [lines[0], rule, *lines[1:]]
