"""Writes models/terrain.xml: run it from the checkout, then look at the difference in git.

Everything stands on the hills, whose samples are in the file too; what MuJoCo loads is the written MJCF alone.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
from mjcf_text import capsule, geom, indent, numbers

_SEED = 20240501

_COLUMNS, _ROWS = 151, 101
_HALF_X_M, _HALF_Y_M = 30.0, 20.0
_BASE_M = 1.0
_STEPS = 9999


def _height_m(x, y):
    """Rolling hills from a few waves, a mound and a hollow; level and 0 at the origin."""
    waves = (
        1.10 * np.sin(0.16 * x + 0.4) * np.cos(0.19 * y - 0.3)
        + 0.55 * np.sin(0.31 * x - 0.22 * y + 1.3)
        + 0.22 * np.sin(0.67 * x + 0.53 * y) * np.sin(0.49 * y - 0.8)
        + 0.06 * np.sin(1.9 * x + 0.7) * np.sin(2.1 * y + 0.2)
    )
    mound = 3.2 * np.exp(-((x - 16.0) ** 2 + (y - 9.0) ** 2) / 45.0)
    hollow = -1.2 * np.exp(-((x + 14.0) ** 2 + (y + 9.0) ** 2) / 40.0)
    level = 1.0 - np.exp(-(x**2 + y**2) / 30.0)
    return level * (waves + mound + hollow)


class Ground:
    """The sampled height field; rows from +y to -y, as MJCF's elevation wants them, columns along +x."""

    def __init__(self):
        x = np.linspace(-_HALF_X_M, _HALF_X_M, _COLUMNS)
        y = np.linspace(_HALF_Y_M, -_HALF_Y_M, _ROWS)
        height = _height_m(x[None, :], y[:, None])
        self.low_m, self.span_m = float(height.min()), float(np.ptp(height))
        self.steps = np.rint((height - self.low_m) / self.span_m * _STEPS).astype(int)

    def at(self, x, y):
        return float(_height_m(np.float64(x), np.float64(y)))


def _tree(i, x, y, ground, random):
    z, tall = ground.at(x, y), random.uniform(2.2, 4.5)
    radius = tall * random.uniform(0.035, 0.05)
    crown = tall * random.uniform(0.30, 0.42)
    lean = random.normal(0, 0.06, 2) * tall
    green = str(random.choice(["terrain_leaf_dark", "terrain_leaf", "terrain_leaf_light"]))
    top = (lean[0], lean[1], tall)
    lines = [
        f'<body name="tree_{i}" pos="{numbers((x, y, z))}">',
        "  " + capsule(radius, (0, 0, -0.3), top, "terrain_bark"),
    ]
    lines.append("  " + geom("ellipsoid", (crown, crown * 0.95, crown * 1.1), (*lean, tall * 0.98), green))
    for angle in np.add((0.5, 2.6, 4.7), random.normal(0, 0.3, 3)):
        at = (lean[0] + 0.7 * crown * math.cos(angle), lean[1] + 0.7 * crown * math.sin(angle), tall * 0.80)
        lines.append("  " + geom("ellipsoid", (crown * 0.7, crown * 0.6, crown * 0.55), at, green))
        lines.append("  " + capsule(radius * 0.45, (lean[0] * 0.5, lean[1] * 0.5, tall * 0.5), at, "terrain_bark"))
    return [*lines, "</body>"]


def _fir(i, x, y, ground, random):
    z, tall = ground.at(x, y), random.uniform(3.0, 5.5)
    lines = [
        f'<body name="fir_{i}" pos="{numbers((x, y, z))}">',
        "  " + capsule(0.09, (0, 0, -0.3), (0, 0, tall * 0.8), "terrain_bark"),
    ]
    for share, wide in ((0.35, 0.30), (0.58, 0.23), (0.80, 0.15)):
        size = (tall * wide, tall * wide, tall * 0.20)
        lines.append("  " + geom("ellipsoid", size, (0, 0, tall * share), "terrain_needle"))
    return [*lines, "</body>"]


def _rock(x, y, ground, random):
    size = random.uniform(0.15, 0.7) * random.uniform(0.7, 1.2, 3) * (1, 1, 0.7)
    turn = " ".join(f"{a:.0f}" for a in random.uniform(-25, 25, 2)) + f" {random.uniform(0, 360):.0f}"
    at = (x, y, ground.at(x, y) + 0.25 * size[2])
    kind = "ellipsoid" if random.random() < 0.7 else "box"
    return geom(
        kind, size, at, str(random.choice(["terrain_rock", "terrain_rock_dark", "terrain_rock_moss"])), euler=turn
    )


def _fence(points, ground):
    """Posts every 2 m with two rails between neighbours, following the ground."""
    posts = []
    for (ax, ay), (bx, by) in pairwise(points):
        count = max(1, round(math.hypot(bx - ax, by - ay) / 2.0))
        posts += [(ax + (bx - ax) * k / count, ay + (by - ay) * k / count) for k in range(count)]
    posts.append(points[-1])
    feet = [(x, y, ground.at(x, y)) for x, y in posts]
    lines = [geom("cylinder", (0.06, 0.75), (x, y, z + 0.45), "terrain_wood") for x, y, z in feet]
    for a, b in pairwise(feet):
        for rise in (0.55, 1.0):
            lines.append(capsule(0.035, (a[0], a[1], a[2] + rise), (b[0], b[1], b[2] + rise), "terrain_wood"))
    return lines


def _places(count, random, taken, apart_m):
    """Spots away from the clearing at the origin and from one another."""
    found = []
    while len(found) < count:
        x, y = random.uniform(-28, 28), random.uniform(-18.5, 18.5)
        clear = math.hypot(x, y) > 5.0 and abs(y - 2.0 * math.sin(0.2 * x)) > 2.2
        if clear and all(math.hypot(x - u, y - v) > apart_m for u, v in taken + found):
            found.append((x, y))
    return found


def terrain():
    random, ground = np.random.default_rng(_SEED), Ground()
    trees = _places(26, random, [], 2.8)
    firs = _places(16, random, trees, 2.2)
    rocks = _places(45, random, trees + firs, 0.9)
    things = [line for i, (x, y) in enumerate(trees) for line in _tree(i, x, y, ground, random)]
    things += [line for i, (x, y) in enumerate(firs) for line in _fir(i, x, y, ground, random)]
    things += [_rock(x, y, ground, random) for x, y in rocks]
    things += _fence([(-24.0, 16.0), (-8.0, 15.0), (6.0, 17.0)], ground)
    things += _fence([(10.0, -12.0), (24.0, -13.0), (26.0, -4.0)], ground)
    hut_z = ground.at(-6.5, -6.5)
    elevation = "\n".join("      " + " ".join(str(v) for v in row) for row in ground.steps)
    return _TERRAIN.format(
        columns=_COLUMNS,
        rows=_ROWS,
        size=f"{_HALF_X_M:g} {_HALF_Y_M:g} {ground.span_m:.4f} {_BASE_M:g}",
        low=f"{ground.low_m:.4f}",
        elevation=elevation,
        things=indent(things),
        hut=f"-6.5 -6.5 {hut_z:.3f}",
    )


_TERRAIN = """\
<!-- Hills of 60 x 40 m on a height field, with trees, rocks, fences and a hut. A clearing at the origin, where the
     ground is level at z = 0; a way free of trees along y = 2 sin(0.2 x).
     Written by tests/models/generate_terrain.py; change it there. -->
<mujoco model="terrain">
  <compiler angle="degree" autolimits="true"/>
  <statistic center="0 0 1" extent="35"/>

  <visual>
    <headlight ambient="0.3 0.3 0.3" diffuse="0.3 0.3 0.3" specular="0 0 0"/>
    <map znear="0.002" zfar="10"/>
    <global offwidth="1280" offheight="960"/>
  </visual>

  <asset>
    <texture name="terrain_sky" type="skybox" builtin="gradient" rgb1="0.80 0.88 0.97" rgb2="0.30 0.50 0.78"
      width="64" height="384"/>
    <texture name="terrain_grass" type="2d" builtin="flat" rgb1="0.36 0.50 0.22" rgb2="0.30 0.42 0.18"
      mark="random" markrgb="0.44 0.55 0.26" random="0.25" width="256" height="256"/>
    <material name="terrain_grass" texture="terrain_grass" texrepeat="30 20"/>
    <material name="terrain_bark" rgba="0.36 0.26 0.18 1"/>
    <material name="terrain_leaf" rgba="0.24 0.46 0.16 1"/>
    <material name="terrain_leaf_dark" rgba="0.16 0.36 0.14 1"/>
    <material name="terrain_leaf_light" rgba="0.42 0.55 0.18 1"/>
    <material name="terrain_needle" rgba="0.10 0.28 0.18 1"/>
    <material name="terrain_rock" rgba="0.55 0.54 0.52 1"/>
    <material name="terrain_rock_dark" rgba="0.40 0.40 0.41 1"/>
    <material name="terrain_rock_moss" rgba="0.44 0.48 0.36 1"/>
    <material name="terrain_wood" rgba="0.58 0.46 0.32 1"/>
    <material name="terrain_plank" rgba="0.50 0.32 0.20 1"/>
    <material name="terrain_roof" rgba="0.60 0.22 0.16 1"/>
    <hfield name="terrain_hills" nrow="{rows}" ncol="{columns}" size="{size}" elevation="
{elevation}"/>
  </asset>

  <worldbody>
    <light directional="true" pos="0 0 30" dir="-0.5 0.3 -0.8" diffuse="0.7 0.68 0.6" castshadow="false"/>
    <camera name="overview" pos="-20 -19 13" xyaxes="0.7 -0.71 0 0.33 0.325 0.886"/>

    <geom name="ground" type="hfield" hfield="terrain_hills" pos="0 0 {low}" material="terrain_grass"/>

{things}

    <body name="hut" pos="{hut}" euler="0 0 35">
      <geom type="box" size="1.5 1.1 1.3" pos="0 0 0.9" material="terrain_plank"/>
      <geom type="box" size="1.7 0.85 0.04" pos="0 0.62 2.55" euler="-30 0 0" material="terrain_roof"/>
      <geom type="box" size="1.7 0.85 0.04" pos="0 -0.62 2.55" euler="30 0 0" material="terrain_roof"/>
      <geom type="box" size="0.02 0.40 0.85" pos="1.51 0 0.45" material="terrain_bark"/>
      <geom type="cylinder" size="0.14 0.5" pos="-0.9 0.5 3.0" material="terrain_rock_dark"/>
    </body>
  </worldbody>
</mujoco>
"""


def main():
    (Path(__file__).resolve().parents[2] / "models" / "terrain.xml").write_text(terrain(), encoding="utf-8")


if __name__ == "__main__":
    main()
