"""Visible flexes of a scene, as kernels take them."""

from __future__ import annotations

import numpy as np

from lidar_sim.cast.kernels.flex import Flexes
from lidar_sim.cast.scene import Scene


def flexes_of(scene: Scene) -> Flexes:
    """Flexes that rays can hit; their vertices are 0 until a pose replaces them."""
    model = scene.model
    return Flexes(
        ids=np.flatnonzero(scene.flex_visible).astype(np.int32),
        dim=model.flex_dim,
        radius=model.flex_radius,
        vert_first=model.flex_vertadr,
        edge=model.flex_edge.reshape(-1, 2),
        edge_first=model.flex_edgeadr,
        edge_count=model.flex_edgenum,
        elem=model.flex_elem,
        elem_first=model.flex_elemadr,
        elem_data_first=model.flex_elemdataadr,
        elem_count=model.flex_elemnum,
        elem_layer=model.flex_elemlayer,
        vert=np.zeros((model.nflexvert, 3)),
    )
