"""Which rays go together: an order in which 32 neighbours make a narrow packet."""

from __future__ import annotations

from lidar_sim.cast.bvh.kernels.order import order_by_direction, packet_spread
from lidar_sim.records import F64, I32

# Sorting fewer rays costs less than asking whether an order still serves.
_WORTH_KEEPING = 2048
_MOST_KEPT = 8
_SAMPLES = 64
# An order serves as long as packets are at most so much wider than when it was made.
_WIDER = 1.25
# Packets whose directions differ more than this (summed over x, y, z) find less in common than they cost.
_WIDEST = 2.0


class PacketOrder:
    """Orders of batches; what is found for one batch serves the next of the same length and shape.

    A spinning lidar fires the same fan again and again: sorted once, its order holds whichever way it turns.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[I32, float]] = {}

    def of(self, origin: F64, direction: F64) -> tuple[I32, bool]:
        """Rows of the rays, packet by packet, and whether packets pay at all.

        Args:
            origin: (N, 3) m.
            direction: (N, 3) unit; N >= 1.
        """
        count = len(direction)
        if count in self._kept:
            order, spread = self._kept[count]
            if packet_spread(direction, order, _SAMPLES) <= _WIDER * spread:
                return order, spread < _WIDEST
        order = order_by_direction(direction)
        spread = float(packet_spread(direction, order, _SAMPLES))
        if count >= _WORTH_KEEPING:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[count] = (order, spread)
        return order, spread < _WIDEST
