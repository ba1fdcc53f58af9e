"""Beams from the sensor frame to the world, each at its own time between two poses."""

from __future__ import annotations

from lidar_sim.jit import jit
from lidar_sim.transforms import rotate, slerp


@jit
def pose_firings(  # type: ignore[no-untyped-def]
    time_ns, origin, direction, start_ns, span_ns, held_phase, p0, q0, p1, q1, world_origin, world_direction, phase
):
    """Pose N beams between pose 0 at ``start_ns`` and pose 1 ``span_ns`` later.

    A span of 0 holds pose 0, and every phase is ``held_phase``; otherwise ``held_phase`` must be 0.
    Beams of equal time follow each other (a camera's pixels, a column): their pose is worked out once.
    Position linear, rotation on the shorter arc.
    """
    last_ns = start_ns
    f = held_phase
    x, y, z = p0[0], p0[1], p0[2]
    qw, qx, qy, qz = q0[0], q0[1], q0[2], q0[3]
    for i in range(len(time_ns)):
        if time_ns[i] != last_ns and span_ns > 0:
            last_ns = time_ns[i]
            f = (last_ns - start_ns) / span_ns
            x = p0[0] + f * (p1[0] - p0[0])
            y = p0[1] + f * (p1[1] - p0[1])
            z = p0[2] + f * (p1[2] - p0[2])
            qw, qx, qy, qz = slerp(q0[0], q0[1], q0[2], q0[3], q1[0], q1[1], q1[2], q1[3], f)
        phase[i] = f
        ox, oy, oz = rotate(qw, qx, qy, qz, origin[i, 0], origin[i, 1], origin[i, 2])
        world_origin[i, 0] = x + ox
        world_origin[i, 1] = y + oy
        world_origin[i, 2] = z + oz
        dx, dy, dz = rotate(qw, qx, qy, qz, direction[i, 0], direction[i, 1], direction[i, 2])
        world_direction[i, 0] = dx
        world_direction[i, 1] = dy
        world_direction[i, 2] = dz
