"""Writes models/warehouse.xml: run it from the checkout, then look at the difference in git.

The loads are too irregular to be kept by hand; what MuJoCo loads is the written MJCF alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mjcf_text import geom, indent

_SEED = 20240501

_BAY_M, _BAYS, _DEPTH_M = 2.7, 5, 1.1
_LEVELS_M = (0.12, 1.75, 3.30)
_RACK_Y_M = (-7.6, -3.4, -2.2, 3.0, 4.2)
_RACK_X0_M = -12.5


def _rack(name, y, random):
    """One rack along x: uprights, beams, and on most places a pallet with a load of its own size and colour."""
    length = _BAY_M * _BAYS
    lines = [f'<body name="{name}" pos="{_RACK_X0_M:g} {y:g} 0">']
    for bay in range(_BAYS + 1):
        for side in (-1, 1):
            at = (bay * _BAY_M, side * _DEPTH_M / 2, 2.25)
            lines.append("  " + geom("box", (0.05, 0.04, 2.25), at, "warehouse_rack_post"))
    for level in _LEVELS_M[1:]:
        for side in (-1, 1):
            at = (length / 2, side * _DEPTH_M / 2, level - 0.06)
            lines.append("  " + geom("box", (length / 2, 0.025, 0.06), at, "warehouse_rack_beam"))
    for level in _LEVELS_M:
        for place in range(2 * _BAYS):
            lines += ["  " + line for line in _load(place, level, random)]
    return [*lines, "</body>"]


def _load(place, level, random):
    if random.random() < 0.22:
        return []
    x = (place // 2) * _BAY_M + (0.72 if place % 2 == 0 else 1.98)
    lines = [geom("box", (0.58, 0.48, 0.06), (x, 0, level + 0.06), "warehouse_pallet")]
    half = 0.30 + 0.35 * random.random()
    top = level + 0.12
    kind = random.random()
    turn = f"{random.normal(0, 2):.1f}"
    if kind < 0.15:
        for dx in (-0.28, 0.28):
            lines.append(
                geom(
                    "cylinder",
                    (0.27, 0.43),
                    (x + dx, 0.02, top + 0.43),
                    random.choice(["warehouse_drum_blue", "warehouse_drum_red"]),
                )
            )
        return lines
    if kind < 0.25:
        lines.append(geom("ellipsoid", (0.55, 0.46, 0.35), (x, 0, top + 0.33), "warehouse_sack"))
        return lines
    material = str(
        random.choice(
            [
                "warehouse_carton",
                "warehouse_carton_light",
                "warehouse_carton_dark",
                "warehouse_crate_blue",
                "warehouse_wrap",
            ]
        )
    )
    size = (0.46 + 0.10 * random.random(), 0.38 + 0.08 * random.random(), half)
    return [*lines, geom("box", size, (x, 0, top + half), material, euler=f"0 0 {turn}")]


def _pillars():
    return [
        geom("box", (0.2, 0.2, 3.5), (x, y, 3.5), "warehouse_concrete", name=f"pillar_{i}_{j}")
        for i, x in enumerate((-14.0, -4.75, 4.5, 13.5))
        for j, y in enumerate((-9.3, 0.2, 9.3))
        if (i, j) not in {(1, 1), (2, 1)}
    ]


def _conveyor(random):
    lines = ['<body name="conveyor" pos="7.5 7.2 0">']
    lines.append("  " + geom("box", (4.5, 0.03, 0.08), (0, 0.45, 0.75), "warehouse_machine"))
    lines.append("  " + geom("box", (4.5, 0.03, 0.08), (0, -0.45, 0.75), "warehouse_machine"))
    for i in range(30):
        lines.append(
            "  " + geom("cylinder", (0.045, 0.42), (-4.35 + 0.3 * i, 0, 0.75), "warehouse_steel", euler="90 0 0")
        )
    for x in (-4.2, -1.4, 1.4, 4.2):
        for y in (-0.45, 0.45):
            lines.append("  " + geom("box", (0.04, 0.04, 0.35), (x, y, 0.35), "warehouse_machine"))
    for x in (-3.4, -1.2, 0.6, 2.9):
        s = 0.15 + 0.12 * random.random(3)
        at = (x, 0.05 * random.normal(), 0.80 + s[2])
        lines.append("  " + geom("box", s, at, "warehouse_carton", euler=f"0 0 {random.normal(0, 12):.1f}"))
    return [*lines, "</body>"]


def warehouse():
    random = np.random.default_rng(_SEED)
    racks = [line for i, y in enumerate(_RACK_Y_M) for line in _rack(f"rack_{i}", y, random)]
    return _WAREHOUSE.format(racks=indent(racks), pillars=indent(_pillars()), conveyor=indent(_conveyor(random)))


_WAREHOUSE = """\
<!-- A warehouse of 30 x 20 x 7 m: racks with loads, pillars, a conveyor, a forklift, a cart that can be moved.
     Origin on the floor in the middle of the main aisle, which runs along x; z up.
     Written by tests/models/generate_warehouse.py; change it there. -->
<mujoco model="warehouse">
  <compiler angle="degree" autolimits="true"/>
  <statistic center="0 0 1.5" extent="20"/>

  <visual>
    <headlight ambient="0.35 0.35 0.35" diffuse="0.35 0.35 0.35" specular="0.1 0.1 0.1"/>
    <map znear="0.002" zfar="10"/>
    <global offwidth="1280" offheight="960"/>
  </visual>

  <asset>
    <texture name="warehouse_sky" type="skybox" builtin="flat" rgb1="0.6 0.65 0.7" width="8" height="48"/>
    <texture name="warehouse_slabs" type="2d" builtin="checker" rgb1="0.52 0.53 0.53" rgb2="0.50 0.51 0.51"
      mark="edge" markrgb="0.42 0.42 0.42" width="128" height="128"/>
    <material name="warehouse_slabs" texture="warehouse_slabs" texrepeat="8 6" reflectance="0.08"/>
    <material name="warehouse_wall" rgba="0.78 0.80 0.82 1"/>
    <material name="warehouse_gate" rgba="0.35 0.45 0.55 1"/>
    <material name="warehouse_concrete" rgba="0.62 0.61 0.58 1"/>
    <material name="warehouse_rack_post" rgba="0.10 0.25 0.55 1"/>
    <material name="warehouse_rack_beam" rgba="0.92 0.42 0.08 1"/>
    <material name="warehouse_pallet" rgba="0.66 0.50 0.32 1"/>
    <material name="warehouse_carton" rgba="0.74 0.57 0.38 1"/>
    <material name="warehouse_carton_light" rgba="0.84 0.72 0.54 1"/>
    <material name="warehouse_carton_dark" rgba="0.56 0.41 0.27 1"/>
    <material name="warehouse_crate_blue" rgba="0.18 0.38 0.62 1"/>
    <material name="warehouse_wrap" rgba="0.88 0.90 0.92 1" specular="0.8"/>
    <material name="warehouse_sack" rgba="0.80 0.76 0.66 1"/>
    <material name="warehouse_drum_blue" rgba="0.12 0.30 0.68 1" specular="0.6"/>
    <material name="warehouse_drum_red" rgba="0.70 0.16 0.12 1" specular="0.6"/>
    <material name="warehouse_machine" rgba="0.28 0.42 0.34 1"/>
    <material name="warehouse_steel" rgba="0.66 0.68 0.70 1" specular="0.9"/>
    <material name="warehouse_forklift" rgba="0.96 0.74 0.08 1" specular="0.5"/>
    <material name="warehouse_black" rgba="0.07 0.07 0.08 1"/>
    <material name="warehouse_paint" rgba="0.95 0.83 0.15 1"/>
    <material name="warehouse_vest" rgba="0.98 0.55 0.05 1"/>
    <material name="warehouse_skin" rgba="0.80 0.60 0.48 1"/>
    <material name="warehouse_trousers" rgba="0.16 0.20 0.34 1"/>
  </asset>

  <worldbody>
    <light pos="-8 0 6.8" dir="0 0 -1" diffuse="0.35 0.35 0.35"/>
    <light pos="8 0 6.8" dir="0 0 -1" diffuse="0.35 0.35 0.35" castshadow="false"/>
    <camera name="overview" pos="14 -9 6.5" xyaxes="0.55 0.835 0 -0.33 0.22 0.918"/>

    <geom name="floor" type="plane" size="15.2 10.2 0.1" material="warehouse_slabs"/>
    <geom name="wall_west" type="box" size="0.1 10 3.5" pos="-15.1 0 3.5" material="warehouse_wall"/>
    <geom name="wall_east_left" type="box" size="0.1 4 3.5" pos="15.1 6 3.5" material="warehouse_wall"/>
    <geom name="wall_east_right" type="box" size="0.1 4 3.5" pos="15.1 -6 3.5" material="warehouse_wall"/>
    <geom name="wall_east_lintel" type="box" size="0.1 2 1.5" pos="15.1 0 5.5" material="warehouse_wall"/>
    <geom name="gate" type="box" size="0.03 2 0.5" pos="15.1 0 3.5" material="warehouse_gate"/>
    <geom name="wall_south" type="box" size="15.2 0.1 3.5" pos="0 -10.1 3.5" material="warehouse_wall"/>
    <geom name="wall_north" type="box" size="15.2 0.1 3.5" pos="0 10.1 3.5" material="warehouse_wall"/>
    <geom name="stripe_left" type="box" size="13 0.05 0.002" pos="0 1.6 0.002" material="warehouse_paint"/>
    <geom name="stripe_right" type="box" size="13 0.05 0.002" pos="0 -1.2 0.002" material="warehouse_paint"/>
    <frame pos="-12 0 6.6">
      <replicate count="7" offset="4 0 0" sep="_">
        <geom name="girder" type="box" size="0.08 10 0.18" material="warehouse_steel"/>
      </replicate>
    </frame>

{pillars}

{racks}

{conveyor}

    <body name="forklift" pos="6.2 -4.6 0" euler="0 0 150">
      <geom type="box" size="0.75 0.52 0.30" pos="-0.10 0 0.52" material="warehouse_forklift"/>
      <geom type="ellipsoid" size="0.45 0.50 0.36" pos="-0.72 0 0.72" material="warehouse_forklift"/>
      <geom type="box" size="0.22 0.28 0.06" pos="-0.25 0 0.88" material="warehouse_black"/>
      <geom type="box" size="0.05 0.28 0.30" pos="-0.48 0 1.20" euler="0 -8 0" material="warehouse_black"/>
      <geom type="cylinder" size="0.30 0.10" pos="0.42 0.50 0.30" euler="90 0 0" material="warehouse_black"/>
      <geom type="cylinder" size="0.30 0.10" pos="0.42 -0.50 0.30" euler="90 0 0" material="warehouse_black"/>
      <geom type="cylinder" size="0.24 0.09" pos="-0.70 0.46 0.24" euler="90 0 0" material="warehouse_black"/>
      <geom type="cylinder" size="0.24 0.09" pos="-0.70 -0.46 0.24" euler="90 0 0" material="warehouse_black"/>
      <geom type="capsule" size="0.03" fromto="0.35 0.45 0.80 0.15 0.42 2.05" material="warehouse_black"/>
      <geom type="capsule" size="0.03" fromto="0.35 -0.45 0.80 0.15 -0.42 2.05" material="warehouse_black"/>
      <geom type="capsule" size="0.03" fromto="-0.80 0.42 0.95 -0.65 0.40 2.05" material="warehouse_black"/>
      <geom type="capsule" size="0.03" fromto="-0.80 -0.42 0.95 -0.65 -0.40 2.05" material="warehouse_black"/>
      <geom type="box" size="0.45 0.46 0.025" pos="-0.25 0 2.08" material="warehouse_forklift"/>
      <geom type="box" size="0.05 0.05 1.10" pos="0.78 0.28 1.15" material="warehouse_steel"/>
      <geom type="box" size="0.05 0.05 1.10" pos="0.78 -0.28 1.15" material="warehouse_steel"/>
      <geom type="box" size="0.03 0.40 0.20" pos="0.86 0 0.40" material="warehouse_black"/>
      <geom type="box" size="0.55 0.06 0.02" pos="1.43 0.25 0.22" material="warehouse_steel"/>
      <geom type="box" size="0.55 0.06 0.02" pos="1.43 -0.25 0.22" material="warehouse_steel"/>
      <geom type="box" size="0.50 0.48 0.06" pos="1.45 0 0.30" material="warehouse_pallet"/>
      <geom type="box" size="0.45 0.42 0.45" pos="1.45 0 0.81" material="warehouse_carton"/>
    </body>

    <body name="worker" pos="3.6 0.9 0" euler="0 0 -120">
      <geom type="capsule" size="0.075" fromto="0.05 0.10 0.08 0 0.10 0.85" material="warehouse_trousers"/>
      <geom type="capsule" size="0.075" fromto="-0.05 -0.10 0.08 0 -0.10 0.85" material="warehouse_trousers"/>
      <geom type="ellipsoid" size="0.14 0.21 0.34" pos="0 0 1.18" material="warehouse_vest"/>
      <geom type="capsule" size="0.045" fromto="0.02 0.25 1.40 0.22 0.24 1.05" material="warehouse_vest"/>
      <geom type="capsule" size="0.045" fromto="0.02 -0.25 1.40 0.05 -0.30 0.95" material="warehouse_vest"/>
      <geom type="sphere" size="0.11" pos="0.01 0 1.63" material="warehouse_skin"/>
      <geom type="ellipsoid" size="0.13 0.12 0.08" pos="0.01 0 1.71" material="warehouse_paint"/>
    </body>

    <frame pos="9.2 -7.8 0">
      <replicate count="3" offset="1.1 0 0" sep="_">
        <geom name="empty_pallets" type="box" size="0.48 0.58 0.40" pos="0 0 0.40" material="warehouse_pallet"/>
      </replicate>
    </frame>
    <frame pos="12.6 -3.0 0">
      <replicate count="4" offset="0 -0.62 0" sep="_">
        <geom name="drum" type="cylinder" size="0.29 0.44" pos="0 0 0.44" material="warehouse_drum_blue"/>
      </replicate>
    </frame>
    <frame pos="11.9 -3.3 0">
      <replicate count="3" offset="0 -0.62 0" sep="_">
        <geom name="red_drum" type="cylinder" size="0.29 0.44" pos="0 0 0.44" material="warehouse_drum_red"/>
      </replicate>
    </frame>

    <body name="cart" mocap="true" pos="8.5 2.2 0">
      <geom type="box" size="0.55 0.38 0.11" pos="0 0 0.20" material="warehouse_crate_blue"/>
      <geom type="cylinder" size="0.09 0.03" pos="0.38 0.36 0.09" euler="90 0 0" material="warehouse_black"/>
      <geom type="cylinder" size="0.09 0.03" pos="0.38 -0.36 0.09" euler="90 0 0" material="warehouse_black"/>
      <geom type="cylinder" size="0.09 0.03" pos="-0.38 0.36 0.09" euler="90 0 0" material="warehouse_black"/>
      <geom type="cylinder" size="0.09 0.03" pos="-0.38 -0.36 0.09" euler="90 0 0" material="warehouse_black"/>
      <geom type="box" size="0.40 0.30 0.25" pos="0 0 0.56" material="warehouse_carton_light"/>
      <geom type="sphere" size="0.05" pos="0.50 0 0.36" material="warehouse_vest"/>
    </body>
  </worldbody>
</mujoco>
"""


def main():
    (Path(__file__).resolve().parents[2] / "models" / "warehouse.xml").write_text(warehouse(), encoding="utf-8")


if __name__ == "__main__":
    main()
