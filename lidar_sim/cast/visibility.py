"""Which geoms and flexes a ray may hit: alpha, groups, self-exclusion, static or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lidar_sim.errors import ModelError, OptionError, unknown_name
from lidar_sim.records import F64

if TYPE_CHECKING:
    import mujoco

Mask = npt.NDArray[np.bool_]

EXCLUDE_WORDS = ("none", "body", "subtree")
"""Words for ``exclude=`` that are not body names."""
GROUPS = 6
"""MuJoCo's number of geom groups (mjNGROUP)."""
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # Rec. ITU-R BT.709 weights of R, G, B


def excluded_bodies(model: mujoco.MjModel, carrier_body: int, exclude: str | Sequence[str]) -> Mask:
    """Bodies whose surfaces the sensor does not see.

    Args:
        model: the MuJoCo model.
        carrier_body: id of the body that carries the sensor.
        exclude: "none"; "body" = the carrier; "subtree" = every body of the kinematic tree the carrier
            belongs to (nothing in these two if it is the world); a body's name; or several names.

    Returns:
        (nbody,) True = excluded.

    Raises:
        ModelError: no such body.
    """
    if isinstance(exclude, str) and exclude in EXCLUDE_WORDS:
        if exclude == "none" or carrier_body == 0:
            return np.zeros(model.nbody, np.bool_)
        if exclude == "body":
            return np.asarray(np.arange(model.nbody) == carrier_body)
        return np.asarray(model.body_rootid == model.body_rootid[carrier_body])
    return _named_bodies(model, (exclude,) if isinstance(exclude, str) else exclude)


def _named_bodies(model: mujoco.MjModel, names: Sequence[str]) -> Mask:
    ids = {model.body(i).name: i for i in range(model.nbody) if model.body(i).name}
    excluded = np.zeros(model.nbody, np.bool_)
    for name in names:
        if name not in ids:
            words = " or ".join(repr(word) for word in EXCLUDE_WORDS)
            raise ModelError(f"{unknown_name('body in exclude', name, ids)} (or alone: {words})")
        excluded[ids[name]] = True
    return excluded


def visible_groups(geomgroups: Sequence[int] | None) -> Mask:
    """(6,) True = MuJoCo group that rays see; None = all.

    Raises:
        OptionError: not whole numbers from 0 to 5, or none at all.
    """
    if geomgroups is None:
        return np.ones(GROUPS, np.bool_)
    visible = np.zeros(GROUPS, np.bool_)
    numbers = geomgroups if isinstance(geomgroups, (Sequence, np.ndarray)) else ()
    if isinstance(geomgroups, str) or len(numbers) == 0:
        raise OptionError(f"geomgroups {geomgroups!r} is not a list of groups; valid: numbers 0 to {GROUPS - 1}")
    for number in geomgroups:
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number < GROUPS:
            raise OptionError(f"geomgroups holds {number!r}; valid: whole numbers 0 to {GROUPS - 1}")
        visible[number] = True
    return visible


def visible_geoms(model: mujoco.MjModel, excluded: Mask, groups: Mask, static: bool) -> Mask:
    """(ngeom,) True = rays can hit it: as mj_ray decides, less the excluded bodies.

    Args:
        model: the MuJoCo model.
        excluded: (nbody,) bodies that are not seen.
        groups: (6,) groups that are seen.
        static: whether geoms welded to the world are seen.
    """
    alpha = _effective_rgba(model, model.geom_rgba, model.geom_matid)[:, 3]
    group = np.clip(model.geom_group, 0, GROUPS - 1)
    welded = model.body_weldid[model.geom_bodyid] == 0
    return np.asarray((alpha != 0) & groups[group] & ~excluded[model.geom_bodyid] & (static | ~welded))


def visible_flexes(model: mujoco.MjModel, excluded: Mask, groups: Mask, static: bool) -> Mask:
    """(nflex,) True = rays can hit it: the rules for geoms, where "its body" is all bodies it hangs on."""
    visible = np.asarray(groups[np.clip(model.flex_group, 0, GROUPS - 1)])
    for f in range(model.nflex):
        bodies = _bodies_of_flex(model, f)
        if excluded[bodies].all() or (not static and (model.body_weldid[bodies] == 0).all()):
            visible[f] = False
        if (_effective_rgba(model, model.flex_rgba[f], _materials_of_flex(model, f))[:, 3] == 0).all():
            visible[f] = False
    return visible


def _materials_of_flex(model: mujoco.MjModel, flex: int) -> npt.NDArray[np.int32]:
    """One material, or since MuJoCo 4 one for each element."""
    if len(model.flex_matid) == model.nflex:
        return np.asarray(model.flex_matid[flex : flex + 1])
    first = model.flex_elemadr[flex]
    return np.asarray(model.flex_matid[first : first + model.flex_elemnum[flex]])


def _bodies_of_flex(model: mujoco.MjModel, flex: int) -> npt.NDArray[np.int32]:
    vert, node = model.flex_vertadr[flex], model.flex_nodeadr[flex]
    bodies = np.concatenate(
        [
            model.flex_vertbodyid[vert : vert + model.flex_vertnum[flex]],
            model.flex_nodebodyid[node : node + model.flex_nodenum[flex]],
        ]
    )
    return np.unique(bodies[bodies >= 0])


def reflectivity(model: mujoco.MjModel) -> F64:
    """(ngeom,) in 0..1: luminance (BT.709 weights) of the material's rgba, or of the geom's own without material.

    Textures, emission, specular and shininess are not looked at.
    """
    rgba = _effective_rgba(model, model.geom_rgba, model.geom_matid)
    return np.asarray(np.clip(rgba[:, :3] @ _LUMINANCE, 0.0, 1.0))


def _effective_rgba(model: mujoco.MjModel, own: npt.NDArray[np.float32], matid: npt.NDArray[np.int32]) -> F64:
    """(N, 4): a material's colour comes before an object's own, as in mj_ray."""
    rgba = np.array(np.broadcast_to(np.reshape(own, (-1, 4)), (len(matid), 4)), np.float64)
    has_material = matid >= 0
    rgba[has_material] = model.mat_rgba[matid[has_material]]
    return rgba
