"""From a YAML file to a checked ScenarioConfig."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from lidar_sim.errors import ProfileError, ScenarioError, nearest_hint
from lidar_sim.profile.faults import Lines, _below, describe
from lidar_sim.profile.load import _read
from lidar_sim.scenario.config import ScenarioConfig

_FILES = (".xml", ".mjcf", ".urdf", ".yaml", ".yml", ".npz", ".csv")


def load_scenario(path: str | Path) -> ScenarioConfig:
    """Scenario of a YAML file; the files that it names lie relative to it.

    Args:
        path: of the file.

    Raises:
        ScenarioError: no such file, not YAML, an unknown key, a wrong value; one line with file and line number.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise ScenarioError(f"no scenario at {file}")
    try:
        tree, lines = _read(file)
    except ProfileError as error:
        raise ScenarioError(str(error).replace("a device profile is", "a scenario is")) from None
    try:
        return ScenarioConfig.model_validate(_beside(tree, file.parent))
    except ValidationError as error:
        raise ScenarioError(_describe(file, error, lines)) from None


def _beside(tree: Any, folder: Path) -> Any:
    """The tree with every file that is named without a whole path put beside the scenario."""
    if isinstance(tree, dict):
        return {key: _beside(value, folder) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_beside(value, folder) for value in tree]
    if isinstance(tree, str) and tree.lower().endswith(_FILES):
        return str(folder / Path(tree).expanduser())
    return tree


def _describe(file: Path, error: ValidationError, lines: Lines) -> str:
    for fault in error.errors(include_url=False):
        if fault["type"] == "extra_forbidden":
            return _unknown_key(file, tuple(str(part) for part in fault["loc"]), lines)
    return describe(file, error, lines)


def _unknown_key(file: Path, location: tuple[str, ...], lines: Lines) -> str:
    place: tuple[str, ...] = ()
    for part in location:  # pydantic's location names the kind of motion too, which is no key of the file
        place = (*place, part) if (*place, part) in lines else place
    section: Any = ScenarioConfig
    for part in location[:-1]:
        section = _below(section, part)
    models = [kind for kind in (section, *get_args(section)) if hasattr(kind, "model_fields")]
    valid = list(models[0].model_fields)
    hint = nearest_hint(location[-1], valid)
    return f"{file}:{lines[place]}: {'.'.join(place)}: unknown key{hint}; valid: {', '.join(valid)}"
