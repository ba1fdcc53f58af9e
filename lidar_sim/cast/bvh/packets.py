"""Which rays go together: an order in which 32 neighbours make a narrow packet."""

from __future__ import annotations

from lidar_sim.cast.bvh.kernels.order import order_by_direction
from lidar_sim.records import F64, I32


class PacketOrder:
    """Orders of batches."""

    def of(self, origin: F64, direction: F64) -> tuple[I32, bool]:
        """Rows of the rays, packet by packet, and whether packets pay at all."""
        return order_by_direction(direction), True
