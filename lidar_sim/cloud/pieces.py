"""Batches of beams cut where frames end, joined again into whole frames."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lidar_sim.records import Firings, Hits, RayBatch, Returns

Record = TypeVar("Record", Firings, RayBatch, Hits, Returns)


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive beams of one frame, from where they left the device to what it reported."""

    firings: Firings
    """N beams."""
    rays: RayBatch
    """N rays, in the same order."""
    hits: Hits
    """N hits, in the same order."""
    returns: Returns
    """M returns; ``firing`` counts the rows of this piece."""

    def __len__(self) -> int:
        return len(self.firings)


def cut_at_frames(piece: Piece) -> Iterator[Piece]:
    """The parts of a batch that belong to one frame each, in order; views, not copies."""
    frame = piece.firings.frame
    if len(frame) == 0:
        return
    if frame[0] == frame[-1]:
        yield piece
        return
    bounds = [0, *(np.flatnonzero(np.diff(frame)) + 1).tolist(), len(frame)]
    for first, last in itertools.pairwise(bounds):
        yield _part(piece, first, last)


def join(pieces: Sequence[Piece]) -> Piece:
    """One piece of consecutive pieces."""
    if len(pieces) == 1:
        return pieces[0]
    offsets = np.cumsum([0, *(len(piece) for piece in pieces[:-1])])
    returns = [
        dataclasses.replace(piece.returns, firing=piece.returns.firing + offset)
        for piece, offset in zip(pieces, offsets, strict=True)
    ]
    return Piece(
        _joined([piece.firings for piece in pieces]),
        _joined([piece.rays for piece in pieces]),
        _joined([piece.hits for piece in pieces]),
        _joined(returns),
    )


def _part(piece: Piece, first: int, last: int) -> Piece:
    first_return, last_return = np.searchsorted(piece.returns.firing, [first, last])
    returns = _rows(piece.returns, slice(first_return, last_return))
    return Piece(
        _rows(piece.firings, slice(first, last)),
        _rows(piece.rays, slice(first, last)),
        _rows(piece.hits, slice(first, last)),
        dataclasses.replace(returns, firing=returns.firing - first),
    )


def _rows(record: Record, rows: slice) -> Record:
    return type(record)(*(getattr(record, entry.name)[rows] for entry in dataclasses.fields(record)))


def _joined(records: Sequence[Record]) -> Record:
    kind = type(records[0])
    return kind(
        *(np.concatenate([getattr(record, entry.name) for record in records]) for entry in dataclasses.fields(kind))
    )
