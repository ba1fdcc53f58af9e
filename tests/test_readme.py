"""The README's Python examples are run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"<!-- executed by tests/test_readme.py -->\n```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_the_readme_has_examples() -> None:
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("example", EXAMPLES, ids=[str(i) for i in range(len(EXAMPLES))])
def test_an_example_runs_and_leaves_its_files(example: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for pattern in re.findall(r'write\([^"]*?f?"([^"]+)"', example):
        assert list(tmp_path.glob(re.sub(r"\{.*?\}", "*", pattern))), pattern
    if "print(" in example:
        assert run.stdout.strip()


def test_the_scenario_in_the_readme_is_one(tmp_path: Path) -> None:
    from lidar_sim.scenario import load_scenario

    (text,) = re.findall(r"```yaml\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "drive.yaml").write_text(text)
    config = load_scenario(tmp_path / "drive.yaml")
    assert [sensor.label for sensor in config.sensors] == ["vlp16", "mid360"]
