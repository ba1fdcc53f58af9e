"""From a YAML file to a checked ScenarioConfig, and back."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from lidar_sim.errors import ProfileError, ScenarioError
from lidar_sim.export import whole_file
from lidar_sim.profile.document import read_document
from lidar_sim.profile.faults import describe
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
        tree, lines = read_document(file, "a scenario")
    except ProfileError as error:
        raise ScenarioError(str(error)) from None
    try:
        return ScenarioConfig.model_validate(_beside(tree, file.parent))
    except ValidationError as error:
        raise ScenarioError(describe(file, error, lines, root=ScenarioConfig)) from None


def save_scenario(config: ScenarioConfig, path: str | Path) -> None:
    """Write a scenario, defaults and all; a file that says the same already is left as it is.

    Args:
        config: any scenario.
        path: of the file; the files that the scenario names are named relative to its folder.

    Raises:
        ExportError: the file cannot be written.
    """
    file = Path(path)
    with contextlib.suppress(ScenarioError):
        if effective_beside(load_scenario(file), file.parent) == effective_beside(config, file.parent):
            return
    tree = _without_none(effective_beside(config, file.parent))
    head = "# Run it again: lidar-sim record scenario.yaml --out FOLDER\n"
    with whole_file(file) as stream:
        stream.write((head + yaml.safe_dump(tree, sort_keys=False)).encode())


def effective_beside(config: ScenarioConfig, folder: str | Path) -> dict[str, Any]:
    """All values, with every file named relative to a folder: the same from wherever the run was started."""
    tree: dict[str, Any] = _renamed(config.effective(), Path(folder))
    return tree


def _renamed(tree: Any, folder: Path) -> Any:
    if isinstance(tree, dict):
        return {key: _renamed(value, folder) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_renamed(value, folder) for value in tree]
    if isinstance(tree, str) and tree.lower().endswith(_FILES):
        with contextlib.suppress(ValueError):  # another drive
            return Path(os.path.relpath(Path(tree).expanduser(), folder)).as_posix()
    return tree


def _without_none(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _without_none(value) for key, value in tree.items() if value is not None}
    return [_without_none(value) for value in tree] if isinstance(tree, list) else tree


def _beside(tree: Any, folder: Path) -> Any:
    """The tree with every file that is named without a whole path put beside the scenario."""
    if isinstance(tree, dict):
        return {key: _beside(value, folder) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_beside(value, folder) for value in tree]
    if isinstance(tree, str) and tree.lower().endswith(_FILES):
        return os.path.normpath(folder / Path(tree).expanduser())
    return tree
