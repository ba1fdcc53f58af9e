"""Every way to get a profile wrong: one line that names file and line, what was found, what is valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from lidar_sim.errors import ProfileError
from lidar_sim.profile import load_profile

from .own import OWN

HERE = "  # here"
PATTERN_KEYS = (
    "source, elevation_deg, azimuth_offset_deg, vertical_offset_mm, fire_time_ns, clockwise, start_azimuth_deg, "
    "kind, cycle_ns, rpm, rpm_min, rpm_max"
)

# (text of OWN, what stands there instead, message after "file:line: "); the line is the one of "# here" after the
# change.
FAULTS = {
    "misspelt key": ("  rpm: 600\n", f"  rmp: 600{HERE}\n",
        f"pattern.rmp: unknown key (did you mean 'rpm'?); valid: {PATTERN_KEYS} (and 1 more)"),
    "misspelt section": ("noise:\n", f"noice:{HERE}\n",
        "noice: unknown key (did you mean 'noise'?); valid: name, title, vendor, category, aliases, notes, sources, "
        "pattern, range, noise, beam, nominal, default_mode, modes (and 1 more)"),
    "key of another pattern": ("  rpm: 600\n", f"  rpm: 600\n  columns_per_turn: 1024{HERE}\n",
        f"pattern.columns_per_turn: unknown key; valid: {PATTERN_KEYS}"),
    "misspelt key of a source": ('  guess: {title: "guessed"', f'  guess: {{titel: "guessed"{HERE}\n   ',
        "sources.guess.titel: unknown key (did you mean 'title'?); valid: title, status (and 1 more)"),
    "misspelt key of an optional section": ("noise:\n", f"beam:\n  divergence: 0.1{HERE}\nnoise:\n",
        "beam.divergence: unknown key (did you mean 'divergence_vertical_deg'?); valid: source, "
        "divergence_horizontal_deg, divergence_vertical_deg, wavelength_nm (and 3 more)"),
    "unknown kind": ("  kind: spinning_free\n", f"  kind: spining_free{HERE}\n",
        "pattern.kind: unknown value 'spining_free' (did you mean 'spinning_free'?); valid: spinning_free, "
        "spinning_locked, rosette, rosette_mirror, raster"),
    "no kind": ("pattern:\n  kind: spinning_free\n", f"pattern:{HERE}\n", "pattern.kind: this key is missing"),
    "missing key": ("range:\n  min_m: 0.5\n", f"range:{HERE}\n", "range.min_m: this key is missing"),
    "missing keys": ("range:\n  min_m: 0.5\n  max_m: 30\n", f"range:{HERE}\n", "range: missing keys: max_m, min_m"),
    "missing top key": ("name: own_scanner\ntitle: Own scanner\n", f"name: own_scanner{HERE}\n",
        "title: this key is missing"),
    "unknown status": ('status: unverified}', f'status: unverifed}}{HERE}',
        "sources.guess.status: unknown value 'unverifed' (did you mean 'unverified'?); valid: primary, secondary, "
        "computed, unverified"),
    "unknown category": ("category: lidar\n", f"category: ladar{HERE}\n",
        "category: unknown value 'ladar' (did you mean 'lidar'?); valid: lidar, depth_camera, scanner_2d"),
    "unknown return mode": ("[single]", f"[single, duel]{HERE}",
        "nominal.return_modes.1: unknown value 'duel' (did you mean 'dual'?); valid: single, strongest, last, dual, "
        "triple"),
    "text for a number": ("max_m: 30\n", f"max_m: far{HERE}\n",
        "range.max_m: must be a valid number, unable to parse string as a number, found 'far'"),
    "unit in the value": ("max_m: 30\n", f"max_m: 30 m{HERE}\n",
        "range.max_m: must be a valid number, unable to parse string as a number, found '30 m'"),
    "nothing for a number": ("max_m: 30\n", f"max_m:{HERE}\n", "range.max_m: must be a valid number, found nothing"),
    "yes for a number": ("max_m: 30\n", f"max_m: yes{HERE}\n",
        "range.max_m: a truth value does not belong here, found true"),
    "list for a number": ("max_m: 30\n", f"max_m: [30]{HERE}\n",
        "range.max_m: must be a valid number, found a list of 1"),
    "infinity": ("max_m: 30\n", f"max_m: .inf{HERE}\n", "range.max_m: must be a finite number, found inf"),
    "not a number": ("max_m: 30\n", f"max_m: .nan{HERE}\n", "range.max_m: must be a finite number, found nan"),
    "negative": ("range_std_m: 0.01\n", f"range_std_m: -0.01{HERE}\n",
        "noise.range_std_m: must be greater than or equal to 0, found -0.01"),
    "zero cycle": ("cycle_ns: 3000\n", f"cycle_ns: 0{HERE}\n", "pattern.cycle_ns: must be greater than 0, found 0"),
    "broken integer": ("cycle_ns: 3000\n", f"cycle_ns: 3000.5{HERE}\n",
        "pattern.cycle_ns: must be a valid integer, got a number with a fractional part, found 3000.5"),
    "elevation beyond the pole": ("[-1, 0, 1]", f"[-1, 0, 91]{HERE}",
        "pattern.elevation_deg.2: must be less than or equal to 90, found 91"),
    "no laser": ("[-1, 0, 1]", f"[]{HERE}", "pattern.elevation_deg: must not be empty"),
    "number for a list": ("[-1, 0, 1]", f"1{HERE}", "pattern.elevation_deg: must be a list, found 1"),
    "neither true nor false": ("clockwise: true", f"clockwise: left{HERE}",
        "pattern.clockwise: must be a valid boolean, unable to interpret input, found 'left'"),
    "number for a section": ("noise:\n  range_std_m: 0.01\n  source: bench\n", f"noise: 0.01{HERE}\n",
        "noise: must be a mapping of keys, found 0.01"),
    "list for a section": ("noise:\n  range_std_m: 0.01\n  source: bench\n", f"noise: [0.01]{HERE}\n",
        "noise: must be a mapping of keys, found a list of 1"),
    "capitals in the name": ("name: own_scanner\n", f"name: OwnScanner{HERE}\n",
        "name: must match pattern '^[a-z0-9_]+$', found 'OwnScanner'"),
    "number for an alias": ("[own]", f"[own, 5]{HERE}", "aliases.1: must be a valid string, found 5"),
    "lists of two lengths": ("[0, 1000, 2000]", f"[0, 1000]{HERE}",
        "pattern.fire_time_ns: has 2 entries, elevation_deg has 3"),
    "not in firing order": ("[0, 1000, 2000]", f"[0, 2000, 1000]{HERE}",
        "pattern.fire_time_ns: must not decrease: list the lasers in firing order"),
    "cycle too short": ("cycle_ns: 3000\n", f"cycle_ns: 2000{HERE}\n",
        "pattern.cycle_ns: must be longer than the last laser's fire_time_ns 2000, found 2000"),
    "speed beyond the limits": ("  rpm: 600\n", f"  rpm: 6000{HERE}\n",
        "pattern.rpm: must lie between rpm_min 300 and rpm_max 1200, found 6000"),
    "ranges upside down": ("min_m: 0.5\n", f"min_m: 30{HERE}\n", "range.min_m: must be less than max_m 30, found 30"),
    "source that is not there": ("rpm: guess}", f"rpm: gues}}{HERE}",
        "pattern.source: 'gues' is not in sources (did you mean 'guess'?); valid: bench, guess"),
    "source of no key": ("rpm: guess}", f"rpn: guess}}{HERE}",
        "pattern.source.rpn: no key of this section (did you mean 'rpm'?); valid: elevation_deg, azimuth_offset_deg, "
        "vertical_offset_mm, fire_time_ns, clockwise, start_azimuth_deg, cycle_ns, rpm, rpm_min, rpm_max, rest"),
    "value without a source": ("{rest: bench, rpm: guess}", f"{{rpm: guess}}{HERE}",
        "pattern.source: no source for: clockwise, cycle_ns, elevation_deg, fire_time_ns, rpm_max, rpm_min "
        "(name them, or add 'rest')"),
    "no sources": ('sources:\n  bench: {title: "measured on the bench", status: primary}\n'
                   '  guess: {title: "guessed", status: unverified}\n', f"sources: {{}}{HERE}\n",
        "sources: must not be empty"),
    "unknown default mode": ("default_mode: slow\n", f"default_mode: slwo{HERE}\n",
        "default_mode: must be one of modes, found 'slwo' (did you mean 'slow'?); valid: slow, fast"),
    "misspelt key in a mode": ("fast: {pattern: {rpm: 1200}}", f"fast: {{pattern: {{rmp: 1200}}}}{HERE}",
        f"modes.fast.pattern.rmp: unknown key (did you mean 'rpm'?); valid: {PATTERN_KEYS}"),
    "misspelt section in a mode": ("fast: {pattern: {rpm: 1200}}", f"fast: {{patern: {{rpm: 1200}}}}{HERE}",
        "modes.fast.patern: unknown key (did you mean 'pattern'?); valid: pattern, range, noise, nominal"),
    "bad value in a mode nobody asked for": ("fast: {pattern: {rpm: 1200}}", f"fast: {{pattern: {{rpm: 1201}}}}{HERE}",
        "modes.fast.pattern.rpm: must lie between rpm_min 300 and rpm_max 1200, found 1201"),
    "number for a mode": ("fast: {pattern: {rpm: 1200}}", f"fast: 1200{HERE}",
        "modes.fast: must be a mapping of keys, found 1200"),
    "number for the name of a mode": ("fast: {pattern: {rpm: 1200}}", f"1200: {{pattern: {{rpm: 1200}}}}{HERE}",
        "modes.1200: must be a valid string, found 1200"),
    "key given twice": ("  max_m: 30\n", f"  max_m: 30\n  max_m: 31{HERE}\n",
        "not valid YAML: key 'max_m' is given twice"),
    "an object of Python": ("max_m: 30\n", f"max_m: !!python/name:os.system{HERE}\n", "not valid YAML: could not "
        "determine a constructor for the tag 'tag:yaml.org,2002:python/name:os.system'"),
    "an anchor in itself": ('  guess: {title: "guessed", status: unverified}\n', f"  guess: &a [*a]{HERE}\n",
        "not valid YAML: an anchor contains itself"),
}  # fmt: skip


def refusal(path: Path) -> str:
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_line(fault: str, tmp_path: Path) -> None:
    before, after, message = FAULTS[fault]
    assert OWN.count(before) == 1
    text = OWN.replace(before, after)
    line = text[: text.index(HERE)].count("\n") + 1
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    assert refusal(path) == f"{path}:{line}: {message}"


def test_the_tests_own_profile_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    assert load_profile(path).default_mode == "slow"


def test_modes_without_a_default_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN.replace("default_mode: slow\n", ""), encoding="utf-8")
    assert refusal(path) == f"{path}:1: default_mode: must be one of modes, missing; valid: slow, fast"


def test_a_mode_that_breaks_a_key_it_does_not_set_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    text = OWN.replace("{pattern: {rpm: 1200}}", "{pattern: {fire_time_ns: [0, 1, 3000]}}")
    path.write_text(text, encoding="utf-8")
    assert refusal(path) == (
        f"{path}:13: pattern.cycle_ns (in mode fast): must be longer than the last laser's fire_time_ns 3000, "
        "found 3000"
    )


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", 1, "a device profile is a mapping of keys, found an empty file"),
        (b"# nothing but a remark\n", 1, "a device profile is a mapping of keys, found an empty file"),
        (b"- a\n- b\n", 1, "a device profile is a mapping of keys, found a list"),
        (b"42\n", 1, "a device profile is a mapping of keys, found 42"),
        (b"name: x\n\x89PNG\r\n\x1a\n", 2, "not a text file (byte 8 is not UTF-8)"),
        (b"name: x\ntitle: y\x00z\n", 2, "not valid YAML: control characters are not allowed"),
        (b"name: x\ntitle: [a, b\n", 3, "not valid YAML: "),
        (b"name: x\n\tvendor: y\n", 2, "not valid YAML: "),
        (b"name: x\n---\nname: y\n", 2, "not valid YAML: "),
        (b"? [a]\n: b\n", 1, "not valid YAML: found unhashable key"),
        (b"5: x\n", 1, "5: a key must be text (put it in quotes) (and 9 more)"),
    ],
    ids=[
        "empty",
        "remark",
        "list",
        "number",
        "picture",
        "nul",
        "unclosed",
        "tab",
        "two",
        "list as key",
        "number as key",
    ],
)
def test_what_is_no_profile_at_all_is_refused(content: bytes, line: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    assert refusal(path).startswith(f"{path}:{line}: {message}")


def test_a_file_that_may_not_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")

    def forbidden(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", forbidden)
    assert refusal(path) == f"{path}: cannot be read: Permission denied"


def test_a_very_long_value_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN.replace("max_m: 30\n", f"max_m: {'x' * 5000}\n"), encoding="utf-8")
    assert len(refusal(path).removeprefix(str(path))) < 200
