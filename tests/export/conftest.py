"""Synthetic scans, as the cloud room hands them over."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lidar_sim.fields import FIELDS
from lidar_sim.records import PoseTrack, Scan
from lidar_sim.transforms import euler_to_quaternion

ROWS, COLUMNS = 6, 40


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Compressed PCD needs an extra: without it its cases are skipped, wherever they stand."""
    if importlib.util.find_spec("lzf") is not None:
        return
    skip = pytest.mark.skip(reason="python-neo-lzf comes with the extra 'pcd'")
    for item in items:
        if "binary_compressed" in repr(getattr(getattr(item, "callspec", None), "params", "")):
            item.add_marker(skip)


def make_scan(
    *, frame: str = "sensor", grid: bool = True, planar: bool = False, misses: bool = False, points: int | None = None,
    dual: bool = False, seed: int = 0,
) -> Scan:  # fmt: skip
    """A scan with gaps, full of awkward numbers: every bit of a float counts, integers reach their ends."""
    rng = np.random.default_rng(seed)
    cells = np.arange(ROWS * COLUMNS)
    silent = rng.random(len(cells)) < 0.2
    kept = cells if misses else cells[~silent]
    kept = np.repeat(kept, 2) if dual else kept
    kept = kept if points is None else kept[:points]
    n = len(kept)
    fields: dict[str, Any] = {}
    for name, entry in FIELDS.items():
        dtype = np.dtype(entry.dtype)
        if dtype.kind == "f":
            fields[name] = (rng.normal(size=n) * 10.0 ** rng.integers(-3, 3, n)).astype(dtype)
        else:
            low, high = np.iinfo(dtype).min, min(np.iinfo(dtype).max, 2**53)
            fields[name] = rng.integers(max(low, -(2**53)), high, n, dtype=dtype, endpoint=True)
    fields["row"], fields["column"] = (kept // COLUMNS).astype("u2"), (kept % COLUMNS).astype("u4")
    fields["return_number"] = (1 + np.arange(n) % 2 if dual else np.ones(n)).astype("u1")
    fields["depth"] = np.abs(fields["depth"])
    fields["range"] = np.abs(fields["range"])
    if misses:
        for name in ("x", "y", "z", "range", "depth", "intensity", "signal", "true_distance"):
            fields[name][silent[kept]] = np.nan
    for name, wanted in {"depth": planar, "row": grid}.items():
        if not wanted:
            del fields[name]
    return Scan(
        device="test_device",
        sensor="front: ünïcode\nand a line",
        frame_number=7,
        stamp_ns=1_234_567_890_123_456_789,
        frame=frame,
        fields=fields,
        shape=(ROWS, COLUMNS) if grid else None,
        track=PoseTrack(
            time_ns=1_234_567_890_000_000_000 + np.array([0, 200_000_000]),
            position=np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 1e-7]]),
            quaternion=np.array([euler_to_quaternion(0, 0, 10), euler_to_quaternion(0, 0, 30)]),
        ),
        T_body_sensor=np.array([0.1, 0.2, 0.3, *euler_to_quaternion(1, 2, 3)]),
        info={"seed": 3, "mode": None, "versions": {"numpy": np.__version__}, "noise": [1.5, 2]},
    )


@pytest.fixture(name="make_scan", scope="session")
def _make_scan() -> Callable[..., Scan]:
    return make_scan
