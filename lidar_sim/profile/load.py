"""From a YAML file, or a short name, to a checked DeviceProfile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from lidar_sim.bundled import bundled_folder
from lidar_sim.errors import ProfileError, nearest_hint, unknown_name
from lidar_sim.profile import schema
from lidar_sim.profile.schema import DeviceProfile

_MODE_SECTIONS = ("pattern", "range", "noise", "nominal")
_RPM_MODE = re.compile(r"(\d+(?:\.\d+)?) ?rpm")


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe loader that refuses a key given twice instead of keeping the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)  # type: ignore[no-untyped-call]
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def shipped_profiles() -> dict[str, Path]:
    """Name -> file of every device that comes with lidar_sim, sorted by name."""
    return {path.stem: path for path in sorted(bundled_folder("device_profiles").glob("*.yaml"))}


def load_profile(device: str | Path, mode: str | None = None) -> DeviceProfile:
    """Profile of a shipped device by name or alias, or of a user's own YAML file.

    Args:
        device: "velodyne_vlp16", "vlp16", or a path that ends in .yaml or .yml.
        mode: one of the profile's modes, or "<n>rpm" for a free-running scanner; None = its default.

    Raises:
        ProfileError: no such device, file, key, value or mode; one line with file and line number.
    """
    path = _find(device)
    tree, lines = _read(path)
    profile = _validate(path, tree, lines)
    return _with_mode(path, profile, tree, lines, mode)


def _find(device: str | Path) -> Path:
    text = str(device)
    if text.endswith((".yaml", ".yml")):
        path = Path(text).expanduser()
        if not path.is_file():
            raise ProfileError(f"no device profile at {path}")
        return path
    shipped = shipped_profiles()
    key = _plain(text)
    names = {_plain(name): path for name, path in shipped.items()}
    if key in names:
        return names[key]
    by_alias = {_plain(alias): shipped[name] for name in shipped for alias in _aliases(shipped[name])}
    if key in by_alias:
        return by_alias[key]
    valid = [*shipped, *(alias for name in shipped for alias in _aliases(shipped[name]))]
    raise ProfileError(unknown_name("device", text, valid) + ", or a path to a .yaml file")


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def _aliases(path: Path) -> list[str]:
    """Aliases by a look at the file's text: listing names must not parse every profile."""
    match = re.search(r"^aliases:\s*\[(.*?)\]", path.read_text(), re.MULTILINE | re.DOTALL)
    return [alias.strip(" '\"\n") for alias in match.group(1).split(",")] if match else []


def _read(path: Path) -> tuple[dict[str, Any], dict[tuple[str, ...], int]]:
    """Parsed tree, and the line number of every key and list entry."""
    try:
        text = path.read_text()
        tree = yaml.load(text, _UniqueKeyLoader)  # noqa: S506  (a SafeLoader)
        lines = _line_numbers(yaml.compose(text, yaml.SafeLoader), ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        raise ProfileError(f"{path}{where}: not valid YAML: {getattr(error, 'problem', error)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: cannot be read: {error}") from None
    if not isinstance(tree, dict):
        raise ProfileError(f"{path}:1: a device profile is a mapping of keys, found {type(tree).__name__}")
    return tree, lines


def _line_numbers(node: yaml.Node | None, at: tuple[str, ...]) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*at, str(key.value))
            lines[here] = key.start_mark.line + 1
            lines.update(_line_numbers(value, here))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            here = (*at, str(i))
            lines[here] = value.start_mark.line + 1
            lines.update(_line_numbers(value, here))
    return lines


def _validate(path: Path, tree: dict[str, Any], lines: dict[tuple[str, ...], int]) -> DeviceProfile:
    try:
        return DeviceProfile.model_validate(tree)
    except ValidationError as error:
        raise ProfileError(_describe(path, error, lines)) from None


def _describe(path: Path, error: ValidationError, lines: dict[tuple[str, ...], int]) -> str:
    """The first fault as one line: file:line: where: what was found, what is allowed."""
    faults = error.errors(include_url=False)
    fault = faults[0]
    where = _yaml_path(fault["loc"], lines)
    line = next((lines[where[:n]] for n in range(len(where), 0, -1) if where[:n] in lines), 1)
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{path}:{line}: {'.'.join(where) or 'profile'}: {_reason(fault)}{more}"


def _yaml_path(location: tuple[int | str, ...], lines: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """Pydantic's location without the union tags that stand nowhere in the file."""
    where: tuple[str, ...] = ()
    parts = [str(part) for part in location]
    for i, part in enumerate(parts):
        if (*where, part) in lines or i == len(parts) - 1:
            where = (*where, part)
    return where


def _reason(fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        valid = _valid_keys(fault["loc"])
        return f"unknown key{nearest_hint(str(fault['loc'][-1]), valid)}; valid: {', '.join(valid)}"
    if fault["type"] == "missing":
        return "this key is missing"
    found = "" if isinstance(fault["input"], dict | list) else f", found {fault['input']!r}"
    return str(fault["msg"]).removeprefix("Value error, ") + found


def _valid_keys(location: tuple[int | str, ...]) -> list[str]:
    """Keys of the model that stands at a location's parent."""
    kinds: dict[str, type[BaseModel]] = {
        "spinning_free": schema.SpinningFree,
        "spinning_locked": schema.SpinningLocked,
        "rosette": schema.Rosette,
        "rosette_mirror": schema.RosetteMirror,
        "raster": schema.Raster,
        "range": schema.RangeSpec,
        "noise": schema.NoiseSpec,
        "beam": schema.BeamSpec,
        "nominal": schema.Nominal,
        "wedges": schema.Wedge,
        "sources": schema.Source,
        "modes": schema.Mode,
    }
    model: type[BaseModel] = next(
        (kinds[str(part)] for part in reversed(location[:-1]) if str(part) in kinds), DeviceProfile
    )
    return list(model.model_fields)


def _with_mode(
    path: Path,
    profile: DeviceProfile,
    tree: dict[str, Any],
    lines: dict[tuple[str, ...], int],
    mode: str | None,
) -> DeviceProfile:
    name = mode if mode is not None else profile.default_mode
    if name is None:
        return profile
    if name in profile.modes:
        overrides = {key: getattr(profile.modes[name], key) for key in _MODE_SECTIONS}
    elif profile.pattern.kind == "spinning_free" and (match := _RPM_MODE.fullmatch(name)):
        overrides = {"pattern": {"rpm": float(match.group(1))}}
    else:
        valid = [*profile.modes, *(["<n>rpm"] if profile.pattern.kind == "spinning_free" else [])]
        raise ProfileError(unknown_name(f"mode of {profile.name}", name, valid))
    merged = {**tree, "default_mode": name if profile.modes and name in profile.modes else profile.default_mode}
    for section, values in overrides.items():
        merged[section] = {**tree[section], **values}
    at_mode: dict[tuple[str, ...], int] = {
        (section, key): lines[("modes", name, section, key)]
        for section, values in overrides.items()
        for key in values
        if ("modes", name, section, key) in lines
    }
    return _validate(path, merged, {**lines, **at_mode})
