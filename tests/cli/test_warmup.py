"""`lidar-sim warmup`, and the one line that says why a first run takes so long."""

from __future__ import annotations

import numba
import pytest

from lidar_sim import jit
from lidar_sim.cli import compiling
from lidar_sim.cli import main as door

SCAN = ["scan", "room", "--device", "vlp16", "--mount", "world"]


def compile_something(_args=None) -> None:
    numba.njit(lambda x: x + 1)(1)
    numba.njit(lambda x: x + 2)(1)


def test_after_a_warmup_there_is_nothing_to_compile(capsys) -> None:
    warmup = ["warmup", "--devices", "vlp16"]
    assert door.main(warmup) == door.EXIT_OK
    capsys.readouterr()
    compiled = []
    with jit.told_of_compiling(lambda: compiled.append(1)):
        assert door.main(warmup) == door.EXIT_OK
    out = capsys.readouterr().out
    assert out.startswith("all kernels were there")
    assert str(jit.cache_folder()) in out
    assert not compiled


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--devices", "vlp17"], "unknown device 'vlp17'"), (["--caster", "bvx"], "unknown caster 'bvx'")],
)
def test_wrong_input_is_told_before_anything_is_compiled(options, said, capsys) -> None:
    compiled = []
    with jit.told_of_compiling(lambda: compiled.append(1)):
        assert door.main(["warmup", *options]) == door.EXIT_INPUT
    out, err = capsys.readouterr()
    assert (out, compiled) == ("", [])
    assert said in err


def test_an_empty_cache_is_told_once(monkeypatch, capsys) -> None:
    monkeypatch.setattr(compiling, "kernels_in_cache", lambda: 0)
    monkeypatch.setattr(door.scan, "run", compile_something)
    assert door.main(SCAN) == door.EXIT_OK
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "compiling kernels" in err
    assert "lidar-sim warmup" in err


def test_a_few_kernels_more_are_not_worth_a_word(monkeypatch, capsys) -> None:
    monkeypatch.setattr(compiling, "kernels_in_cache", lambda: 3)
    monkeypatch.setattr(door.scan, "run", compile_something)
    assert door.main(SCAN) == door.EXIT_OK
    assert capsys.readouterr() == ("", "")


def test_nothing_is_said_outside_of_the_commands_that_cast(monkeypatch, capsys) -> None:
    monkeypatch.setattr(compiling, "kernels_in_cache", lambda: 0)
    monkeypatch.setattr(door.doctor, "run", compile_something)
    assert door.main(["doctor"]) == door.EXIT_OK
    compile_something()
    assert capsys.readouterr() == ("", "")
    with compiling.notice_of_compiling():
        pass
    compile_something()
    assert capsys.readouterr() == ("", "")


def test_an_error_before_any_kernel_is_still_one_line(monkeypatch, capsys) -> None:
    monkeypatch.setattr(compiling, "kernels_in_cache", lambda: 0)
    assert door.main(["scan", "rom", "--device", "vlp16", "--mount", "world"]) == door.EXIT_INPUT
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("lidar-sim: error: ")
