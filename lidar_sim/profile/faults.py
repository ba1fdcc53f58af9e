"""A failed check of a device profile in one line: file, line, place, what is wrong, what was found, what is valid."""

from __future__ import annotations

import re
from inspect import isclass
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lidar_sim.errors import nearest_hint
from lidar_sim.profile.document import Lines
from lidar_sim.profile.schema import FAULT, DeviceProfile

_MISSING = {"missing", "union_tag_not_found"}
_NO_MAPPING = {"model_type", "model_attributes_type", "dict_type"}
_LONGEST_VALUE = 60


def describe(
    path: Path,
    error: ValidationError,
    lines: Lines,
    *,
    root: type[BaseModel] = DeviceProfile,
    mode: str | None = None,
) -> str:
    """The gravest fault of a document, as one line.

    Args:
        path: the file that was checked.
        error: what pydantic found.
        lines: line numbers of the file.
        root: the model that the whole document was checked against.
        mode: the mode that was merged in before the check; what it brought in is placed where the file has it.
    """
    faults = sorted(error.errors(include_url=False), key=_gravity)
    together = _missing_together(faults)
    place = _place_in_file(faults[0], lines, mode)
    place = place[:-1] if len(together) > 1 else place
    line = next((lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in lines), 1)
    where = ".".join(place) or ("" if len(together) > 1 else "the whole")
    if mode is not None and place[:1] != ("modes",):
        where += f" (in mode {mode})"
    others = len(faults) - max(len(together), 1)
    more = f" (and {others} more)" if others else ""
    reason = f"missing keys: {', '.join(sorted(together))}" if len(together) > 1 else _reason(faults[0], root)
    return f"{path}:{line}: {where}{': ' if where else ''}{reason}{more}"


def _missing_together(faults: list[ErrorDetails]) -> list[str]:
    """All keys that are missing in one section, if the gravest fault is that one of them is missing."""
    if faults[0]["type"] != "missing":
        return []
    section = faults[0]["loc"][:-1]
    return [str(fault["loc"][-1]) for fault in faults if fault["type"] == "missing" and fault["loc"][:-1] == section]


def _gravity(fault: ErrorDetails) -> int:
    """Unknown keys first: a misspelt key makes the right one missing too."""
    if fault["type"] == "extra_forbidden":
        return 0
    return 2 if fault["type"] in _MISSING else 1


def _place_in_file(fault: ErrorDetails, lines: Lines, mode: str | None) -> tuple[str, ...]:
    """Pydantic's location without the union tags and type names, which stand nowhere in the file."""
    parts = [str(part) for part in fault["loc"]]
    if fault["type"] == FAULT:
        parts += [part for part in str(fault["ctx"]["at"]).split(".") if part]
    elif fault["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        parts += ["kind"]
    may_be_absent = fault["type"] in _MISSING or fault["type"] == FAULT
    place: tuple[str, ...] = ()
    for i, part in enumerate(parts):
        here = (*place, part)
        if here in lines or ("modes", mode, *here) in lines or (may_be_absent and i == len(parts) - 1):
            place = here
    in_mode = ("modes", mode or "", *place)
    return in_mode if len(place) > 1 and in_mode[:4] in lines else place


def _reason(fault: ErrorDetails, root: type[BaseModel]) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == FAULT:
        return str(context["reason"])
    if kind == "extra_forbidden":
        valid = _valid_keys(root, fault["loc"][:-1])
        return f"unknown key{nearest_hint(str(fault['loc'][-1]), valid)}; valid: {', '.join(valid)}"
    if kind in _MISSING:
        return "this key is missing"
    if kind == "union_tag_invalid":
        return _not_among(context["tag"], _quoted(context["expected_tags"]))
    if kind == "literal_error":
        return _not_among(fault["input"], _quoted(context["expected"]))
    if kind == "invalid_key":
        return "a key must be text (put it in quotes)"
    found = _shown(fault["input"])
    if kind in _NO_MAPPING:
        return f"must be a mapping of keys, found {found}"
    if kind == "tuple_type":
        return f"must be a list, found {found}"
    if kind == "too_short":
        return "must not be empty"
    return f"{re.sub(r'^(Input|String) should', 'must', fault['msg'])}, found {found}"


def _not_among(found: Any, valid: list[str]) -> str:
    return f"unknown value {_shown(found)}{nearest_hint(str(found), valid)}; valid: {', '.join(valid)}"


def _quoted(text: str) -> list[str]:
    """The names in pydantic's enumeration ``'a', 'b' or 'c'``."""
    return re.findall(r"'([^']*)'", text)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _valid_keys(root: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Keys of the model that stands at a location of the document."""
    kind: Any = root
    for part in location:
        kind = _below(kind, part)
    models = _models(kind)
    return list(models[0].model_fields) if models else []


def _below(kind: Any, part: int | str) -> Any:
    """Type that stands one step below a type, by the part of pydantic's location that leads there."""
    if isclass(kind) and issubclass(kind, BaseModel):
        return kind.model_fields[str(part)].annotation
    arguments = get_args(kind)
    if get_origin(kind) is dict:
        return arguments[1]
    if get_origin(kind) is tuple:
        return arguments[0]
    models = _models(kind)
    tagged = [model for model in models if _tag(model) == part]
    return tagged[0] if tagged else _below(models[0], part)


def _models(kind: Any) -> list[type[BaseModel]]:
    """The models that a type may be: itself, or those in its union."""
    return [model for model in (kind, *get_args(kind)) if isclass(model) and issubclass(model, BaseModel)]


def _tag(model: type[BaseModel]) -> str | None:
    kind = model.model_fields.get("kind")
    return get_args(kind.annotation)[0] if kind is not None else None
