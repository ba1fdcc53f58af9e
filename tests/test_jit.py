"""Where compiled kernels are kept: a folder that only an edit of a module's own sources changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lidar_sim import jit

PACKAGE = Path(jit.__file__).parent
CALLEE = "lidar_sim.rng"
CALLER = "lidar_sim.measure.kernels"
STRANGER = "lidar_sim.cast.bvh.kernels.build"


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A function that edits a module in a copy of the package and gives the digest of another before and after."""
    shutil.copytree(PACKAGE, tmp_path / "lidar_sim", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path / "lidar_sim")

    def digest(module: str) -> str:
        jit._imported.cache_clear()
        jit.sources_digest.cache_clear()
        return jit.sources_digest(module)

    def edit(module: str, of: str) -> tuple[str, str]:
        before = digest(of)
        source = jit._source(module)
        source.write_text(source.read_text(encoding="utf-8") + "\n# an edit\n", encoding="utf-8")
        return before, digest(of)

    yield edit
    jit._imported.cache_clear()
    jit.sources_digest.cache_clear()


@pytest.mark.parametrize("module", [CALLER, CALLEE, "lidar_sim.jit"])
def test_an_edit_of_what_a_module_calls_moves_its_kernels(edited, module):
    before, after = edited(module, of=CALLER)
    assert before != after


@pytest.mark.parametrize("module", [STRANGER, "lidar_sim.simulator"])
def test_an_edit_elsewhere_leaves_them_where_they_are(edited, module):
    before, after = edited(module, of=CALLER)
    assert before == after


@pytest.mark.parametrize("module", [CALLEE, STRANGER, "lidar_sim.simd.lanes"])
@pytest.mark.parametrize("outside", ["__main__", "tests.of_kernels"])
def test_kernels_written_outside_the_package_depend_on_all_of_it(edited, module, outside):
    before, after = edited(module, of=outside)
    assert before != after


def test_a_callee_of_a_callee_counts(edited):
    before, after = edited("lidar_sim.simd.lanes", of="lidar_sim.cast.bvh.kernels.packets")
    assert before != after


@pytest.fixture
def folder():
    jit.cache_folder.cache_clear()
    yield jit.cache_folder.__wrapped__
    jit.cache_folder.cache_clear()


def test_a_tilde_is_the_home(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("LIDAR_SIM_CACHE_DIR", "~/kept")
    assert folder() == tmp_path / "kept" / "kernels"


def test_where_the_home_cannot_be_written_the_same_folder_is_found_again(folder, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("LIDAR_SIM_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    assert folder() == folder() == jit.temporary_cache_folder()


@pytest.mark.skipif(not hasattr(jit.os, "getuid"), reason="folders have no owner here")
def test_a_folder_that_others_may_write_is_not_trusted(folder, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("LIDAR_SIM_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    shared = jit.temporary_cache_folder()
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(jit.tempfile, "mkdtemp", lambda prefix: str(tmp_path / "own"))
    assert folder() == tmp_path / "own"
