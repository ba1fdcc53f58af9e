"""Rays of one batch and where their results go, as kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Rays(NamedTuple):
    """Rays of one batch and where their results go."""

    origin: Any
    """(N, 3) f64 m."""
    direction: Any
    """(N, 3) f64 unit."""
    distance: Any
    """(N,) f64 m, out."""
    geom: Any
    """(N,) i32, out."""
    flex: Any
    """(N,) i32, out."""
    normal: Any
    """(N, 3) f64, out."""
    cos_incidence: Any
    """(N,) f64, out."""
