"""Patterns of every kind for the tests: awkward ones made here, and every shipped device in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from lidar_sim.pattern import PATTERNS, Pattern, make_pattern
from lidar_sim.profile import load_profile, schema, shipped_profiles

_FREE = {"kind": "spinning_free", "source": "test", "rpm_min": 1, "rpm_max": 10000}
_LOCKED = {"kind": "spinning_locked", "source": "test"}
_WEDGES = [
    {"rpm": 7893, "phase_deg": 180, "tilt_deg": 18, "refractive_index": 1.8144, "tilted_face_first": True},
    {"rpm": -2448, "phase_deg": 0, "tilt_deg": 18, "refractive_index": 1.8144, "tilted_face_first": False},
]
_ROSETTE = {"kind": "rosette", "source": "test", "laser_offset_deg": [1.0, 0.0, -1.0], "wedges": _WEDGES}

SPECS: dict[str, dict[str, Any]] = {
    "free odd rpm": {**_FREE, "elevation_deg": [5, -5, 0], "fire_time_ns": [3, 1000, 1000], "cycle_ns": 7777}
    | {"rpm": 450.5, "clockwise": False, "azimuth_offset_deg": [1, -2, 3], "start_azimuth_deg": 33.3},
    "free two a turn": {**_FREE, "elevation_deg": [0], "cycle_ns": 50_000_001, "rpm": 600, "clockwise": True},
    "locked": {**_LOCKED, "elevation_deg": [10, 0, 0, -10], "columns_per_turn": 1024, "rate_hz": 10}
    | {"clockwise": True, "azimuth_offset_deg": [4.2, 1.4, -1.4, -4.2], "beam_origin_radius_mm": 15.8},
    "locked odd rate, fire times": {**_LOCKED, "elevation_deg": [1, 2], "columns_per_turn": 997, "rate_hz": 16.7}
    | {"clockwise": False, "fire_time_ns": [5, 60_000], "vertical_offset_mm": [1, 2], "start_azimuth_deg": -45},
    "locked window": {**_LOCKED, "elevation_deg": [0], "columns_per_turn": 1440, "rate_hz": 40, "clockwise": False}
    | {"first_column": 180, "columns": 1081, "start_azimuth_deg": -180},
    "rosette odd rates": {**_ROSETTE, "point_rate_hz": 123456.7, "frame_rate_hz": 9.99, "sample_offset": 0.25},
    "rosette by seed": {**_ROSETTE, "point_rate_hz": 240000, "frame_rate_hz": 10}
    | {"random_phase": True, "speed_error_ppm": 200},
    "raster": {"kind": "raster", "source": "test", "width_px": 37, "height_px": 11, "fx_px": 30, "fy_px": 31}
    | {"cx_px": 18.2, "cy_px": 5.5, "rate_hz": 29.97},
}

_SHIPPED = [(name, mode) for name in shipped_profiles() for mode in (load_profile(name).modes or [None])]

BuildPattern = Callable[..., Any]


def build(spec: dict[str, Any], seed: int = 0, **changes: Any) -> Pattern:
    checked = TypeAdapter(schema.Pattern).validate_python({**spec, **changes})
    return PATTERNS[checked.kind](checked, seed)


@pytest.fixture(scope="session")
def build_pattern() -> BuildPattern:
    """Builds a pattern from the pattern section of a profile, given as a dict."""
    return build


@pytest.fixture(
    scope="session", params=[*SPECS, *_SHIPPED], ids=lambda p: p if isinstance(p, str) else "/".join(filter(None, p))
)
def make_any(request: pytest.FixtureRequest) -> Callable[[int], Pattern]:
    """Seed -> pattern, for every kind in awkward settings and every shipped device in every mode."""
    param = request.param
    if isinstance(param, str):
        return lambda seed=0: build(SPECS[param], seed)
    return lambda seed=0: make_pattern(load_profile(*param), seed)


@pytest.fixture(scope="session")
def pattern(make_any: Callable[[int], Pattern]) -> Pattern:
    """One pattern after the other."""
    return make_any(0)
