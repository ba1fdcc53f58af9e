"""From a YAML file to a checked ScenarioConfig."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lidar_sim.errors import ProfileError, ScenarioError
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


def _beside(tree: Any, folder: Path) -> Any:
    """The tree with every file that is named without a whole path put beside the scenario."""
    if isinstance(tree, dict):
        return {key: _beside(value, folder) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_beside(value, folder) for value in tree]
    if isinstance(tree, str) and tree.lower().endswith(_FILES):
        return str(folder / Path(tree).expanduser())
    return tree
