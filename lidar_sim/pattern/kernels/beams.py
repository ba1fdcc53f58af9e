"""The arrays that every kernel of a pattern fills, one row per beam."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Beams(NamedTuple):
    """Arrays of N beams, in the order of the record Firings."""

    beam: npt.NDArray[np.int64]
    time_ns: npt.NDArray[np.int64]
    direction: npt.NDArray[np.float64]
    origin: npt.NDArray[np.float64]
    ring: npt.NDArray[np.uint16]
    column: npt.NDArray[np.int64]
    frame: npt.NDArray[np.int64]


def allocate(n: int) -> Beams:
    """Arrays for n beams; the origins are zero, everything else is to be written."""
    return Beams(
        beam=np.empty(n, np.int64),
        time_ns=np.empty(n, np.int64),
        direction=np.empty((n, 3)),
        origin=np.zeros((n, 3)),
        ring=np.empty(n, np.uint16),
        column=np.empty(n, np.int64),
        frame=np.empty(n, np.int64),
    )
