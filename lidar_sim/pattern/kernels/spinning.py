"""Kernels of spinning scanners: one rotor angle per sequence or column, each laser turned by it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lidar_sim.jit import inline_jit, jit
from lidar_sim.pattern.kernels.beams import Beams
from lidar_sim.pattern.kernels.fixed_point import FixedRate, multiply, to_unit


class Lasers(NamedTuple):
    """What is fixed to the rotor, one row per laser in firing order.

    The rotor frame is that of the start of a sequence; a laser that fires later in the sequence is entered
    at the angle the rotor has reached by then.
    """

    direction: npt.NDArray[np.float64]
    origin: npt.NDArray[np.float64]
    fire_time_ns: npt.NDArray[np.int64]
    ring: npt.NDArray[np.uint16]


@inline_jit
def rotor_cosine_sine(turns):
    """Cosine and sine of an angle in turns, reduced to half a turn while that is still exact."""
    angle = 2.0 * math.pi * (turns - math.floor(turns + 0.5))
    return math.cos(angle), math.sin(angle)


@inline_jit
def fire_lasers(first, last, base, time_ns, c, s, column, frame, lasers, out):
    """Write those lasers of one sequence whose beams lie in [first, last).

    ``base`` is the beam number of the sequence's first laser, ``c`` and ``s`` the rotor's cosine and sine.
    """
    direction, origin = lasers.direction, lasers.origin
    for laser in range(max(first - base, 0), min(last - base, len(direction))):
        row = base + laser - first
        out.beam[row] = base + laser
        out.time_ns[row] = time_ns + lasers.fire_time_ns[laser]
        out.direction[row, 0] = c * direction[laser, 0] - s * direction[laser, 1]
        out.direction[row, 1] = s * direction[laser, 0] + c * direction[laser, 1]
        out.direction[row, 2] = direction[laser, 2]
        out.origin[row, 0] = c * origin[laser, 0] - s * origin[laser, 1]
        out.origin[row, 1] = s * origin[laser, 0] + c * origin[laser, 1]
        out.origin[row, 2] = origin[laser, 2]
        out.ring[row] = lasers.ring[laser]
        out.column[row] = column
        out.frame[row] = frame


@jit
def fire_free(
    first: int,
    last: int,
    lasers: Lasers,
    cycle_ns: int,
    turns_per_sequence: FixedRate,
    start_turns: float,
    sense: float,
    frame_sequence: int,
    out: Beams,
) -> None:
    """Beams [first, last) of a free-running scanner.

    Args:
        first: int64 first beam.
        last: int64 beam after the last.
        lasers: Lasers of L rows.
        cycle_ns: int64 ns from sequence to sequence.
        turns_per_sequence: FixedRate.
        start_turns: rotor angle at power-on, turns from x towards y.
        sense: +1.0 counter-clockwise, -1.0 clockwise.
        frame_sequence: int64 first sequence of the revolution in which ``first`` lies.
        out: Beams of last - first rows.
    """
    rows = len(lasers.ring)
    frame_now, _ = multiply(first // rows, turns_per_sequence)
    for sequence in range(first // rows, (last + rows - 1) // rows):
        frame, fraction = multiply(sequence, turns_per_sequence)
        if frame != frame_now:
            frame_now, frame_sequence = frame, sequence
        c, s = rotor_cosine_sine(start_turns + sense * to_unit(fraction))
        column = sequence - frame_sequence
        fire_lasers(first, last, sequence * rows, sequence * cycle_ns, c, s, column, frame, lasers, out)


@jit
def fire_locked(
    first: int,
    last: int,
    lasers: Lasers,
    columns_per_turn: int,
    first_column: int,
    columns: int,
    ns_per_column: FixedRate,
    start_turns: float,
    sense: float,
    out: Beams,
) -> None:
    """Beams [first, last) of a scanner whose encoder triggers the columns.

    Args:
        first: int64 first beam.
        last: int64 beam after the last.
        lasers: Lasers of L rows.
        columns_per_turn: int64 encoder columns of a turn.
        first_column: int64 first one that fires.
        columns: int64 number of those that fire.
        ns_per_column: FixedRate.
        start_turns: rotor angle at encoder column 0, turns from x towards y.
        sense: +1.0 counter-clockwise, -1.0 clockwise.
        out: Beams of last - first rows.
    """
    rows = len(lasers.ring)
    for fired in range(first // rows, (last + rows - 1) // rows):
        frame = fired // columns
        column = fired - frame * columns
        encoder = first_column + column
        time_ns, _ = multiply(frame * columns_per_turn + encoder, ns_per_column)
        c, s = rotor_cosine_sine(start_turns + sense * (encoder / columns_per_turn))
        fire_lasers(first, last, fired * rows, time_ns, c, s, column, frame, lasers, out)
