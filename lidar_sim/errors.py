"""Errors of lidar_sim: each message names what was found and lists what is valid."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class LidarSimError(Exception):
    """Root of every error that lidar_sim raises on purpose; its text is one line."""


class ProfileError(LidarSimError):
    """A device profile that cannot be found, read or accepted."""


class ModelError(LidarSimError):
    """A MuJoCo model that lacks what was asked of it (mount, body, geom group)."""


class OptionError(LidarSimError):
    """An option whose value is not among the valid ones."""


class TimeError(LidarSimError):
    """Simulation time that stood against the order of calls."""


class ExportError(LidarSimError):
    """A file that cannot be written or read as asked; nothing half-written is left behind."""


class ScenarioError(LidarSimError):
    """A scenario or motion that cannot be run as described."""


class MissingExtraError(LidarSimError):
    """An optional library that is not installed; the message names the extra."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed: pip install 'lidar-sim[{extra}]'")


def unknown_name(what: str, name: object, valid: Iterable[str]) -> str:
    """One line that says which name was not found, the nearest valid one, and all valid ones.

    Args:
        what: kind of thing that was named, e.g. "caster".
        name: the name as given.
        valid: the names that exist.
    """
    names = sorted(valid)
    listed = ", ".join(names) if names else "none"
    return f"unknown {what} {name!r}{nearest_hint(str(name), names)}; valid: {listed}"


def nearest_hint(name: str, valid: Sequence[str]) -> str:
    """`` (did you mean 'x'?)`` for the nearest valid name, or an empty text when none is near."""
    by_lower = {candidate.lower(): candidate for candidate in valid}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
