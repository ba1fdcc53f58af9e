"""Every notebook runs from top to bottom, and defines nothing that belongs in the library."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
CELL_TIMEOUT_S = 300


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook_path(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_a_notebook_holds_no_library_code(notebook_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat comes with the extra 'dev'")
    for cell in nbformat.read(notebook_path, as_version=4).cells:
        if cell.cell_type == "code":
            assert "def " not in cell.source
            assert not cell.outputs, "notebooks are kept without outputs"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_notebook_runs_and_shows_pictures(notebook_path: Path, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient comes with the extra 'dev'")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(notebook_path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=CELL_TIMEOUT_S, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 1
