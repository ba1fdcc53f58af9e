"""The table of casters."""

from __future__ import annotations

from lidar_sim.cast.brute import Brute
from lidar_sim.cast.bvh import BvhCaster
from lidar_sim.cast.caster import Caster
from lidar_sim.cast.multiray import MultiRay
from lidar_sim.cast.scene import Scene
from lidar_sim.errors import OptionError, unknown_name

CASTERS: dict[str, type[Caster]] = {
    Brute.name: Brute,
    MultiRay.name: MultiRay,
    BvhCaster.name: BvhCaster,
}
"""Name -> caster; all give the same hits, at different speed."""


def make_caster(name: str, scene: Scene, threads: int | None = None) -> Caster:
    """Caster by name.

    Args:
        name: a key of ``CASTERS``.
        scene: what rays can hit.
        threads: None = all that Numba has.

    Raises:
        OptionError: no such caster, or invalid ``threads``.
    """
    if name not in CASTERS:
        raise OptionError(unknown_name("caster", name, CASTERS))
    return CASTERS[name](scene, threads=threads)
