"""The table of casters."""

from __future__ import annotations

from lidar_sim.cast.brute import Brute
from lidar_sim.cast.bvh import BvhCaster
from lidar_sim.cast.caster import Caster
from lidar_sim.cast.embree import EmbreeCaster
from lidar_sim.cast.multiray import MultiRay
from lidar_sim.cast.scene import Scene
from lidar_sim.errors import OptionError, unknown_name

CASTERS: dict[str, type[Caster]] = {
    Brute.name: Brute,
    MultiRay.name: MultiRay,
    BvhCaster.name: BvhCaster,
    EmbreeCaster.name: EmbreeCaster,
}
"""Name -> caster; ``EXACT_CASTERS`` give the same hits, at different speed."""

EXACT_M = 1e-9
"""How well a caster agrees with mj_ray that has no ``tolerance_m`` of its own, m."""


def tolerance_m(name: str) -> float:
    """How well distances of a caster agree with mj_ray's, m, away from edges."""
    return float(getattr(CASTERS[name], "tolerance_m", EXACT_M))


def gives_faces(name: str) -> bool:
    """Whether a caster tells the faces of meshes (``Hits.face``): its ``gives_faces``, False where it has none."""
    return bool(getattr(CASTERS[name], "gives_faces", False))


EXACT_CASTERS = tuple(name for name in CASTERS if tolerance_m(name) == EXACT_M)
"""Names of the casters that agree with mj_ray but for rounding; they need no extra."""


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
