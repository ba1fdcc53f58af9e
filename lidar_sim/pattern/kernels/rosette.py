"""Kernels of rotating glass: exact vector refraction through wedges, and through a prism with a mirror face.

Snell's law in vector form: for a unit direction d, a unit normal n with d.n > 0 and eta = n_before / n_after,
d' = eta d + (sqrt(1 - eta^2 (1 - (d.n)^2)) - eta d.n) n  (Glassner, An Introduction to Ray Tracing, 1989, ch. 2).
Total reflection gives NaN.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lidar_sim.jit import inline_jit, jit
from lidar_sim.pattern.kernels.beams import Beams
from lidar_sim.pattern.kernels.fixed_point import FixedRate, multiply, to_unit, wrapped_sum

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U16 = npt.NDArray[np.uint16]


class Rotors(NamedTuple):
    """Speeds and starting angles, one row per rotor; angles modulo one turn."""

    high: npt.NDArray[np.uint64]
    """Turns per ns modulo 1, upper word of the 128-bit fraction."""
    low: npt.NDArray[np.uint64]
    """Its lower word."""
    phase: npt.NDArray[np.uint64]
    """Turns at sensor time 0, in units of 2^-64."""


class Wedges(NamedTuple):
    """One row per wedge, in the order in which the light meets them."""

    cos_tilt: npt.NDArray[np.float64]
    sin_tilt: npt.NDArray[np.float64]
    refractive_index: npt.NDArray[np.float64]
    tilted_face_first: npt.NDArray[np.bool_]


class MirrorHead(NamedTuple):
    """Wedge and prism of the Mid-360."""

    wedge_cos_tilt: float
    wedge_sin_tilt: float
    wedge_refractive_index: float
    wedge_relative_phase_rad: float
    wedge_modulation_rad: float
    prism_refractive_index: float
    mirror_cos: float
    mirror_sin: float
    exit_cos: float
    exit_sin: float


@inline_jit
def refract(dx, dy, dz, nx, ny, nz, eta):
    """Unit direction after a surface with unit normal n along the light's way."""
    cosine = dx * nx + dy * ny + dz * nz
    squared = 1.0 - eta * eta * (1.0 - cosine * cosine)
    along = (math.sqrt(squared) if squared >= 0.0 else math.nan) - eta * cosine
    return eta * dx + along * nx, eta * dy + along * ny, eta * dz + along * nz


@inline_jit
def rotor_angle(time_ns, rotors, i):
    """Angle of rotor i in rad, in [0, 2 pi]."""
    _, fraction = multiply(time_ns, FixedRate(np.int64(0), rotors.high[i], rotors.low[i]))
    turned, _ = wrapped_sum(fraction, rotors.phase[i])
    return 2.0 * math.pi * to_unit(turned)


@jit
def fire_evenly(
    first: int,
    last: int,
    lasers: int,
    ns_per_beam: FixedRate,
    frames_per_beam: FixedRate,
    frame_first: int,
    out: Beams,
) -> None:
    """Times and numbers of beams [first, last) that are spaced evenly, laser after laser.

    Args:
        first: int64 first beam.
        last: int64 beam after the last.
        lasers: int64 number of lasers.
        ns_per_beam: FixedRate.
        frames_per_beam: FixedRate.
        frame_first: int64 first beam of the frame in which ``first`` lies.
        out: Beams of last - first rows; its directions stay unwritten.
    """
    frame_now, _ = multiply(first, frames_per_beam)
    for beam in range(first, last):
        row = beam - first
        frame, _ = multiply(beam, frames_per_beam)
        if frame != frame_now:
            frame_now, frame_first = frame, beam
        out.beam[row] = beam
        out.time_ns[row], _ = multiply(beam, ns_per_beam)
        out.ring[row] = beam % lasers
        out.column[row] = (beam - frame_first) // lasers
        out.frame[row] = frame


@jit
def wedge_directions(
    time_ns: I64, laser: U16, laser_direction: F64, rotors: Rotors, wedges: Wedges, direction: F64
) -> None:
    """Directions behind wedges that turn about the x axis.

    Args:
        time_ns: (N,) int64 ns since power-on.
        laser: (N,) number of the laser.
        laser_direction: (L, 3) unit, before the wedges.
        rotors: Rotors, one per wedge; angle from y towards z.
        wedges: Wedges.
        direction: (N, 3) written.
    """
    for row in range(len(time_ns)):
        k = laser[row]
        dx, dy, dz = laser_direction[k, 0], laser_direction[k, 1], laser_direction[k, 2]
        for i in range(len(wedges.cos_tilt)):
            angle = rotor_angle(time_ns[row], rotors, i)
            n = wedges.refractive_index[i]
            nx = wedges.cos_tilt[i]
            ny = wedges.sin_tilt[i] * math.cos(angle)
            nz = wedges.sin_tilt[i] * math.sin(angle)
            if wedges.tilted_face_first[i]:
                dx, dy, dz = refract(dx, dy, dz, nx, ny, nz, 1.0 / n)
                dx, dy, dz = refract(dx, dy, dz, 1.0, 0.0, 0.0, n)
            else:
                dx, dy, dz = refract(dx, dy, dz, 1.0, 0.0, 0.0, 1.0 / n)
                dx, dy, dz = refract(dx, dy, dz, nx, ny, nz, n)
        direction[row, 0], direction[row, 1], direction[row, 2] = dx, dy, dz


@jit
def mirror_directions(
    time_ns: I64, laser: U16, laser_direction: F64, rotors: Rotors, head: MirrorHead, direction: F64
) -> None:
    """Directions behind a speed-modulated wedge and a prism with a mirror face, both turning about the z axis.

    Args:
        time_ns: (N,) int64 ns since power-on.
        laser: (N,) number of the laser.
        laser_direction: (L, 3) unit, before the wedge.
        rotors: Rotors: the prism, and the wedge's clock relative to it (without its modulation).
        head: MirrorHead.
        direction: (N, 3) written.
    """
    for row in range(len(time_ns)):
        k = laser[row]
        dx, dy, dz = laser_direction[k, 0], laser_direction[k, 1], laser_direction[k, 2]
        prism = rotor_angle(time_ns[row], rotors, 0)
        relative = rotor_angle(time_ns[row], rotors, 1)
        modulation = head.wedge_modulation_rad * math.sin(2.0 * relative)
        wedge = prism + relative + head.wedge_relative_phase_rad + modulation
        dx, dy, dz = refract(dx, dy, dz, 0.0, 0.0, 1.0, 1.0 / head.wedge_refractive_index)
        nx, ny = head.wedge_sin_tilt * math.cos(wedge), head.wedge_sin_tilt * math.sin(wedge)
        dx, dy, dz = refract(dx, dy, dz, nx, ny, head.wedge_cos_tilt, head.wedge_refractive_index)
        dx, dy, dz = refract(dx, dy, dz, 0.0, 0.0, 1.0, 1.0 / head.prism_refractive_index)
        c, s = math.cos(prism), math.sin(prism)
        mx, my, mz = head.mirror_sin * c, head.mirror_sin * s, head.mirror_cos
        twice = 2.0 * (dx * mx + dy * my + dz * mz)
        dx, dy, dz = dx - twice * mx, dy - twice * my, dz - twice * mz
        nx, ny, nz = head.exit_sin * c, head.exit_sin * s, head.exit_cos
        if dx * nx + dy * ny + dz * nz < 0.0:
            nx, ny, nz = -nx, -ny, -nz
        dx, dy, dz = refract(dx, dy, dz, nx, ny, nz, head.prism_refractive_index)
        direction[row, 0], direction[row, 1], direction[row, 2] = dx, dy, dz
