"""From a YAML file, or a short name, to a checked DeviceProfile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from lidar_sim.bundled import bundled_folder
from lidar_sim.errors import ProfileError, nearest_hint, unknown_name
from lidar_sim.profile.document import Lines, read_document
from lidar_sim.profile.faults import describe
from lidar_sim.profile.schema import DeviceProfile, Mode

_MODE_SECTIONS = tuple(Mode.model_fields)
_RPM_MODE = re.compile(r"(\d+(?:\.\d+)?) ?rpm")
_SUFFIXES = (".yaml", ".yml")
_ALIASES = re.compile(r"^aliases:.*?(?=^[^\s#\-\]]|\Z)", re.MULTILINE | re.DOTALL)


def shipped_profiles() -> dict[str, Path]:
    """Name -> file of every device that comes with lidar_sim, sorted by name."""
    return {path.stem: path for path in sorted(bundled_folder("device_profiles").glob("*.yaml"))}


def load_profile(device: str | Path, mode: str | None = None) -> DeviceProfile:
    """Profile of a shipped device by name or alias, or of a user's own YAML file.

    Args:
        device: "velodyne_vlp16", "vlp16" (case, "-" and "_" do not matter), or a path that ends in .yaml or .yml.
        mode: one of the profile's modes, or "<n>rpm" for a free-running scanner; None = its default.

    Returns:
        The profile with the mode worked in; ``default_mode`` names the mode in force.

    Raises:
        ProfileError: no such device, file, key, value or mode; one line with file and line number. Every mode of
            the profile is checked, not only the one asked for.
    """
    path = _find(device)
    tree, lines = read_document(path, "a device profile")
    profile = _validate(path, tree, lines)
    by_mode = {name: _in_mode(path, profile, tree, lines, name) for name in profile.modes}
    name = mode if mode is not None else profile.default_mode
    if name is None:
        return profile
    return by_mode[name] if name in by_mode else _at_own_rpm(path, profile, tree, lines, name)


def _find(device: str | Path) -> Path:
    text = str(device)
    if isinstance(device, Path) or text.lower().endswith(_SUFFIXES) or "/" in text or "\\" in text:
        return _own_file(text)
    shipped = shipped_profiles()
    wanted = _plain(text)
    names = {_plain(name): path for name, path in shipped.items()}
    if wanted in names:
        return names[wanted]
    aliases = {alias: path for path in shipped.values() for alias in _aliases(path)}
    by_alias = {_plain(alias): path for alias, path in aliases.items()}
    if wanted in by_alias:
        return by_alias[wanted]
    hint = nearest_hint(text, [*shipped, *aliases])
    raise ProfileError(f"unknown device {text!r}{hint}; valid: {', '.join(shipped)}, or a path to a .yaml file")


def _own_file(text: str) -> Path:
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:
        raise ProfileError(f"{text}: {error}") from None
    if path.is_dir():
        raise ProfileError(f"{path} is a folder; a device profile is a file that ends in .yaml or .yml")
    if not path.is_file():
        beside = [other.name for other in path.parent.glob("*") if other.suffix.lower() in _SUFFIXES]
        raise ProfileError(f"no device profile at {path}{nearest_hint(path.name, sorted(beside))}")
    if path.suffix.lower() not in _SUFFIXES:
        raise ProfileError(f"{path} does not end in .yaml or .yml, as a device profile does")
    return path


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def _aliases(path: Path) -> list[str]:
    """Aliases by a look at that key's own lines: finding a name must not parse every profile whole."""
    try:
        match = _ALIASES.search(path.read_text(encoding="utf-8"))
        given = yaml.safe_load(match.group())["aliases"] if match else None
    except (yaml.YAMLError, UnicodeDecodeError):
        return []  # said in full when that file itself is loaded
    return [str(alias) for alias in given] if isinstance(given, list) else []


def _validate(path: Path, tree: dict[str, Any], lines: Lines, mode: str | None = None) -> DeviceProfile:
    try:
        return DeviceProfile.model_validate(tree)
    except ValidationError as error:
        raise ProfileError(describe(path, error, lines, mode=mode)) from None


def _in_mode(path: Path, profile: DeviceProfile, tree: dict[str, Any], lines: Lines, mode: str) -> DeviceProfile:
    """The profile with the sections of one of its modes laid over its own."""
    changes = {section: getattr(profile.modes[mode], section) for section in _MODE_SECTIONS}
    merged = {section: {**tree[section], **values} for section, values in changes.items() if values}
    return _validate(path, {**tree, **merged, "default_mode": mode}, lines, mode)


def _at_own_rpm(path: Path, profile: DeviceProfile, tree: dict[str, Any], lines: Lines, mode: str) -> DeviceProfile:
    """The profile with a speed of the caller's own, which becomes one of its modes."""
    match = _RPM_MODE.fullmatch(mode)
    if profile.pattern.kind != "spinning_free" or match is None:
        own = ["<n>rpm"] if profile.pattern.kind == "spinning_free" else []
        raise ProfileError(unknown_name(f"mode of {profile.name}", mode, [*profile.modes, *own]))
    least, most = profile.pattern.rpm_min, profile.pattern.rpm_max
    rpm = float(match.group(1))
    if not least <= rpm <= most:
        raise ProfileError(f"mode {mode!r} of {profile.name}: rpm {rpm:g} is outside {least:g} to {most:g}")
    modes = {**tree.get("modes", {}), mode: {"pattern": {"rpm": rpm}}}
    with_it = {**tree, "modes": modes, "default_mode": mode}
    return _in_mode(path, _validate(path, with_it, lines), with_it, lines, mode)
