"""The door of the command line: speed of help, exit codes, one line for an error, examples that run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from lidar_sim.bench.refusal import NoHitsError
from lidar_sim.cli import main as door
from lidar_sim.cli.arguments import join_signed_values
from lidar_sim.errors import LidarSimError

# Each costs more than the whole of --help may.
HEAVY = ("numba", "mujoco", "pydantic", "rich", "numpy", "yaml", "matplotlib")
COMMAND_NAMES = [command.__name__.rsplit(".", 1)[-1] for command in door.COMMANDS]


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lidar_sim.cli.main", *argv], check=False, capture_output=True, text=True
    )


def modules_after(*argv: str) -> set[str]:
    """Names of the modules that one command of a fresh process loads."""
    code = (
        "import sys, contextlib, io\n"
        "from lidar_sim.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        f"    main({list(argv)!r})\n"
        "print(*sys.modules)"
    )
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("argv", [["--help"], *([name, "--help"] for name in COMMAND_NAMES), ["--version"]])
def test_help_loads_nothing_heavy(argv):
    assert modules_after(*argv).isdisjoint(HEAVY)


@pytest.mark.parametrize("argv", [["devices"], ["devices", "vlp16"], ["devices", "--json"], ["devices", "nothing"]])
def test_devices_loads_neither_numba_nor_mujoco(argv):
    loaded = modules_after(*argv)
    assert "pydantic" in loaded  # it did run
    assert loaded.isdisjoint({"numba", "mujoco", "matplotlib"})


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (["--offset", "-0.1,0,0.1"], ["--offset=-0.1,0,0.1"]),
        (["--offset", "-.1,0,0"], ["--offset=-.1,0,0"]),
        (["--waypoints", "-1,0 2,0", "--closed"], ["--waypoints=-1,0 2,0", "--closed"]),
        (["--offset=1,0,0", "-1"], ["--offset=1,0,0", "-1"]),
        (["--trot", "--sway", "2,1,0"], ["--trot", "--sway", "2,1,0"]),
        (["--", "--x", "-1"], ["--", "--x", "-1"]),
        (["-1", "-2"], ["-1", "-2"]),
    ],
)
def test_a_value_may_begin_with_a_minus_sign(given, taken):
    assert join_signed_values(given) == taken
    assert join_signed_values(taken) == taken


def test_values_with_a_minus_sign_reach_the_commands():
    parse = door.build_parser().parse_args
    scan = parse(["scan", "room", "--device", "a", "--mount", "m", "--offset", "-0.1,0,0.1", "--robot-pose", "-1,0,0"])
    assert (scan.offset, scan.robot_pose) == ((-0.1, 0.0, 0.1), (-1.0, 0.0, 0.0))
    drive = parse(["record", "--out", "x", "--sway", "-2,1,0", "--waypoints", "-1,0 2,0", "--offset", "-1,-2,-3"])
    assert (drive.sway, drive.waypoints) == ((-2.0, 1.0, 0.0), [(-1.0, 0.0), (2.0, 0.0)])
    assert drive.offset == [(None, (-1.0, -2.0, -3.0))]


def test_an_unknown_option_shows_the_usage_of_its_command(capsys):
    with pytest.raises(SystemExit) as ended:
        door.main(["record", "--ofset", "-1,0,0", "--out", "x"])
    assert ended.value.code == door.EXIT_USAGE
    err = capsys.readouterr().err
    assert "usage: lidar-sim record " in err
    assert "--ofset=-1,0,0 (did you mean '--offset'?)" in err


def test_help_of_scan_names_every_format(capsys):
    from lidar_sim.export import WRITERS

    for command in ("scan", "record"):
        with pytest.raises(SystemExit):
            door.main([command, "--help"])
        shown = capsys.readouterr().out
        assert all(suffix[1:] in shown for suffix in WRITERS)


def test_help_lists_every_command_and_every_exit_code():
    shown = run("--help")
    assert shown.returncode == door.EXIT_OK
    for name in COMMAND_NAMES:
        assert re.search(rf"^    {name}\b", shown.stdout, re.MULTILINE)
    for code, meaning in door.EXIT_CODES.items():
        assert re.search(rf"^  {code} +{re.escape(meaning)}", shown.stdout, re.MULTILINE)


@pytest.mark.parametrize("argv", [[], ["devise"], ["devices", "--nonsense"], ["devices", "a", "b"]])
def test_a_wrong_command_line_is_a_usage_error(argv):
    failed = run(*argv)
    assert failed.returncode == door.EXIT_USAGE
    assert "usage: lidar-sim" in failed.stderr
    assert failed.stdout == ""


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (LidarSimError("a\n  b"), door.EXIT_INPUT, "lidar-sim: error: a b\n"),
        (NoHitsError("nothing"), door.EXIT_NO_HITS, "lidar-sim: error: nothing\n"),
        (PermissionError(13, "Permission denied", "/x"), door.EXIT_INPUT, "lidar-sim: error: /x: Permission denied\n"),
        (KeyboardInterrupt(), door.EXIT_INTERRUPTED, "lidar-sim: error: interrupted\n"),
    ],
)
def test_an_error_becomes_one_line_and_its_code(error, code, line, monkeypatch, capsys):
    monkeypatch.setattr(door.doctor, "run", lambda _args: (_ for _ in ()).throw(error))
    assert door.main(["doctor"]) == code
    assert capsys.readouterr() == ("", line)


def test_a_fault_of_our_own_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(door.doctor, "run", lambda _args: {}["bug"])
    with pytest.raises(KeyError):
        door.main(["doctor"])


def test_a_reader_that_leaves_early_is_no_error():
    command = (
        f"{shlex.quote(sys.executable)} -m lidar_sim.cli.main devices --json | head -c 10; echo ${{PIPESTATUS[0]}}"
    )
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ended.stdout.split()[-1] == str(door.EXIT_OK)
    assert ended.stderr == ""


def examples() -> list[tuple[str, ...]]:
    """Every command line that stands in the epilog of a help text."""
    parser = door.build_parser()
    commands = next(action for action in parser._actions if action.dest == "command").choices
    texts = [parser.epilog, *(sub.epilog for sub in commands.values())]
    lines = [line.split("#")[0] for text in texts for line in text.splitlines() if line.startswith("  lidar-sim ")]
    return [tuple(shlex.split(line.split(">")[0])[1:]) for line in lines]


@pytest.mark.parametrize("argv", examples(), ids=" ".join)
def test_every_example_of_the_help_is_a_valid_command_line(argv):
    args = door.build_parser().parse_args(argv)
    assert callable(args.run)


@pytest.mark.parametrize("name", COMMAND_NAMES)
def test_every_command_has_examples(name):
    assert any(argv[0] == name for argv in examples())


def test_doctor_never_fails_for_want_of_an_extra(monkeypatch, capsys):
    from lidar_sim.cli import doctor

    found = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: None if "open3d" in name or name == "matplotlib" else found(name)
    )
    assert door.main(["doctor"]) == door.EXIT_OK
    shown = capsys.readouterr().out
    assert "pip install 'lidar-sim[plot]'" in shown
    assert "pip install 'lidar-sim[open3d]'" in shown


def test_doctor_warns_of_what_makes_it_slow(monkeypatch, capsys):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere")
    assert door.main(["doctor", "--json"]) == door.EXIT_OK
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().out
