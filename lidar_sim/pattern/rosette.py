"""Non-repeating patterns (Livox): evenly spaced beams through rotating glass, with exact refraction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lidar_sim.errors import ProfileError
from lidar_sim.pattern.kernels.beams import allocate
from lidar_sim.pattern.kernels.rosette import (
    MirrorHead,
    Rotors,
    Wedges,
    fire_evenly,
    mirror_directions,
    wedge_directions,
)
from lidar_sim.pattern.pattern import checked_beams, checked_frame
from lidar_sim.pattern.rates import (
    LAST_NS,
    NS_PER_MINUTE,
    NS_PER_S,
    ceil_product,
    fixed_rate,
    fixed_turns,
    floor_product,
    rational,
)
from lidar_sim.profile import schema
from lidar_sim.records import F64, I64, U16, Firings
from lidar_sim.rng import draw, draw_normal, make_key

_PHASE_STREAM = 1
_SPEED_STREAM = 2
# Not a divisor of any rotor's turn: the probes fall on all combinations of angles within a minute.
_PROBES = 4096
_PROBE_STEP_NS = 14_142_137


class NonRepeating:
    """Beam i fires at floor(i / point rate) ns by laser i mod L, at the rotors' angles of its own time.

    Frames are cut by number: frame f starts at beam ceil(f * point rate / frame rate). There are no rows: the ring
    is the laser's number ("line"), the column counts rounds of all lasers within the frame.

    Args:
        spec: the pattern of a profile.
        rotors: (rpm, phase in deg) of each rotor, as the profile states them.
        seed: seed of the start phases and speed errors, where the profile asks for them.

    Raises:
        ProfileError: the light is totally reflected inside the glass.
    """

    ring_to_row: U16 | None = None

    def __init__(
        self, spec: schema.Rosette | schema.RosetteMirror, rotors: Sequence[tuple[float, float]], seed: int
    ) -> None:
        point_rate_hz = rational(spec.point_rate_hz)
        self.rows = len(spec.laser_offset_deg)
        self._ns_per_beam = NS_PER_S / point_rate_hz
        self._frames_per_beam = rational(spec.frame_rate_hz) / point_rate_hz
        self.frame_period_ns = NS_PER_S / spec.frame_rate_hz
        self._kernel_ns_per_beam = fixed_rate(self._ns_per_beam)
        self._kernel_frames_per_beam = fixed_rate(self._frames_per_beam)
        lead_ns = rational(spec.sample_offset) * self.rows * self._ns_per_beam
        self._rotors = _start_rotors(spec, rotors, lead_ns, seed)
        self._end = self.index_at(LAST_NS)
        self._refuse_total_reflection()

    def index_at(self, time_ns: int) -> int:
        """First beam whose time is >= ``time_ns``."""
        return ceil_product(max(int(time_ns), 0), 1 / self._ns_per_beam)

    def frame_start(self, frame: int) -> int:
        """First beam of frame ``frame``."""
        return ceil_product(checked_frame(frame), 1 / self._frames_per_beam)

    def frame_shape(self, frame: int) -> None:
        """None: there are no rows and columns."""
        checked_frame(frame)

    def firings(self, first: int, last: int) -> Firings:
        """Beams [first, last)."""
        first, last = checked_beams(first, last, self._end)
        beams = allocate(last - first)
        fire_evenly(
            first,
            last,
            self.rows,
            self._kernel_ns_per_beam,
            self._kernel_frames_per_beam,
            self.frame_start(floor_product(first, self._frames_per_beam)),
            beams,
        )
        self._write_directions(beams.time_ns, beams.ring, beams.direction)
        return Firings(*beams)

    def directions_at(self, time_ns: I64, laser: U16) -> F64:
        """(N, 3) unit directions of given lasers at given times, whether or not they fire then.

        Args:
            time_ns: (N,) ns since power-on, >= 0.
            laser: (N,) number of the laser.
        """
        direction = np.empty((len(time_ns), 3))
        self._write_directions(time_ns, laser, direction)
        return direction

    def _write_directions(self, time_ns: I64, laser: U16, direction: F64) -> None:
        raise NotImplementedError

    def _refuse_total_reflection(self) -> None:
        probe = np.arange(_PROBES)
        directions = self.directions_at(probe * _PROBE_STEP_NS, (probe % self.rows).astype(np.uint16))
        if np.isnan(directions).any():
            raise ProfileError("the light is totally reflected inside the glass: lower a tilt or a refractive index")


class Rosette(NonRepeating):
    """Lasers in a vertical fan through wedges that turn about the x axis.

    Model and parameters after Livox's own simulation tables (Livox-SDK/livox_laser_simulation), which it
    reproduces to their last digit; rotors and wedges as in Brazeal et al., Sensors 2021, 21(14), 4722.

    Args:
        spec: the pattern of a profile.
        seed: seed of the start phases and speed errors, where the profile asks for them.
    """

    def __init__(self, spec: schema.Rosette, seed: int = 0) -> None:
        offset = np.radians(spec.laser_offset_deg)
        self._laser_direction = np.stack([np.cos(offset), np.zeros_like(offset), np.sin(offset)], axis=1)
        tilt = np.radians([wedge.tilt_deg for wedge in spec.wedges])
        self._wedges = Wedges(
            cos_tilt=np.cos(tilt),
            sin_tilt=np.sin(tilt),
            refractive_index=np.array([wedge.refractive_index for wedge in spec.wedges]),
            tilted_face_first=np.array([wedge.tilted_face_first for wedge in spec.wedges]),
        )
        super().__init__(spec, [(wedge.rpm, wedge.phase_deg) for wedge in spec.wedges], seed)

    def _write_directions(self, time_ns: I64, laser: U16, direction: F64) -> None:
        wedge_directions(time_ns, laser, self._laser_direction, self._rotors, self._wedges, direction)


class RosetteMirror(NonRepeating):
    """Livox Mid-360: a speed-modulated wedge, then a prism with a mirror face, both about the z axis.

    The wedge's clock runs relative to the prism; its modulation hangs on that clock, so that a drawn start phase
    moves both together.

    Args:
        spec: the pattern of a profile.
        seed: seed of the start phases and speed errors, where the profile asks for them.
    """

    def __init__(self, spec: schema.RosetteMirror, seed: int = 0) -> None:
        offset, fan = np.radians(spec.laser_offset_deg), math.radians(spec.laser_fan_azimuth_deg)
        self._laser_direction = np.stack(
            [np.sin(offset) * math.cos(fan), np.sin(offset) * math.sin(fan), np.cos(offset)], axis=1
        )
        tilt, mirror, leave = (
            math.radians(angle) for angle in (spec.wedge_tilt_deg, spec.mirror_normal_deg, spec.exit_normal_deg)
        )
        self._head = MirrorHead(
            wedge_cos_tilt=math.cos(tilt),
            wedge_sin_tilt=math.sin(tilt),
            wedge_refractive_index=spec.wedge_refractive_index,
            wedge_relative_phase_rad=math.radians(spec.wedge_relative_phase_deg),
            wedge_modulation_rad=spec.wedge_modulation_rad,
            prism_refractive_index=spec.prism_refractive_index,
            mirror_cos=math.cos(mirror),
            mirror_sin=math.sin(mirror),
            exit_cos=math.cos(leave),
            exit_sin=math.sin(leave),
        )
        super().__init__(spec, [(spec.prism_rpm, spec.prism_phase_deg), (spec.wedge_relative_rpm, 0.0)], seed)

    def _write_directions(self, time_ns: I64, laser: U16, direction: F64) -> None:
        mirror_directions(time_ns, laser, self._laser_direction, self._rotors, self._head, direction)


def _start_rotors(
    spec: schema.Rosette | schema.RosetteMirror,
    rotors: Sequence[tuple[float, float]],
    lead_ns: Fraction,
    seed: int,
) -> Rotors:
    """Rotors at power-on; ``lead_ns`` is how far their clock stands ahead of the sensor's."""
    key = np.uint64(make_key(seed, "rosette"))
    rates, phases = [], []
    for i, (rpm, phase_deg) in enumerate(rotors):
        rate = rational(rpm) / NS_PER_MINUTE
        phase = rational(phase_deg) / 360
        if spec.speed_error_ppm > 0.0:
            rate *= 1 + Fraction(spec.speed_error_ppm * 1e-6 * draw_normal(key, i, _SPEED_STREAM)[0])  # type: ignore[no-untyped-call]
        if spec.random_phase:
            phase += Fraction(draw(key, i, _PHASE_STREAM)[0])  # type: ignore[no-untyped-call]
        rates.append(fixed_rate(rate % 1))
        phases.append(fixed_turns(phase + lead_ns * rate))
    return Rotors(
        high=np.array([rate.high for rate in rates]),
        low=np.array([rate.low for rate in rates]),
        phase=np.array(phases),
    )
