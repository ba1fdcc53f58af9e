"""The house rules that a tool can check: sizes, names, docstrings, public names."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import lidar_sim

PACKAGE = Path(lidar_sim.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 400
FORBIDDEN_NAMES = ("util", "helper", "common", "misc", "manager")


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_has_one_purpose_and_fits_the_eye(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring
    assert len(docstring.split("\n")[0]) > 20, "the first line says what the file is for"
    assert not any(word in path.stem for word in FORBIDDEN_NAMES)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_name_in_all_resolves(path: Path) -> None:
    dotted = ".".join(("lidar_sim", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    if dotted.endswith("__main__"):
        pytest.skip("running it is its only use")
    module = importlib.import_module(dotted)
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name) is not None


def test_the_lazy_map_and_all_agree() -> None:
    assert set(lidar_sim.__all__) == {*lidar_sim._ROOM_OF, "__version__"}


def test_numba_is_imported_at_one_door_only() -> None:
    """The vocabulary of vectors beside it speaks to Numba's compiler too."""
    importers = {name_of(path) for path in SOURCES if "numba" in imported_roots(path)}
    assert {name for name in importers if not name.startswith("simd/")} == {"jit.py"}


def imported_roots(path: Path) -> set[str]:
    roots: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            roots.add(node.module.split(".")[0])
    return roots
