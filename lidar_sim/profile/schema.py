"""What a device profile holds: every value with its unit in the key, every section with its sources."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from lidar_sim.errors import nearest_hint

Ratio = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
NonNegative = Annotated[float, Field(ge=0.0)]
PositiveInt = Annotated[int, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
ElevationDeg = Annotated[float, Field(ge=-90.0, le=90.0)]
AzimuthDeg = Annotated[float, Field(ge=-360.0, le=360.0)]


FAULT = "fault"
"""Type of the errors that the checks below raise; their context names the faulty key."""


def fault(at: str, reason: str) -> PydanticCustomError:
    """An error that belongs to one key below the model that is being checked, given as "key" or "key.key"."""
    return PydanticCustomError(FAULT, "{reason}", {"reason": reason, "at": at})


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False)

    @model_validator(mode="before")
    @classmethod
    def _truth_is_no_number(cls, data: Any) -> Any:
        """Pydantic reads ``true`` as 1.0; in a YAML file it is a slip (``yes``, ``on``)."""
        for key, value in data.items() if isinstance(data, dict) else ():
            field = cls.model_fields.get(str(key))
            if isinstance(value, bool) and field is not None and field.annotation is not bool:
                raise fault(str(key), f"a truth value does not belong here, found {str(value).lower()}")
        return data


class Source(_Frozen):
    """Where a value comes from, and how far it can be trusted."""

    title: str
    status: Literal["primary", "secondary", "computed", "unverified"]
    """primary = read in the vendor's own text or code; secondary = quoted by others; computed = fitted or
    derived; unverified = from memory or assumed."""


class _Sourced(_Frozen):
    """A section that says where its values come from."""

    source: str | dict[str, str]
    """One key of ``sources`` for the whole section, or field -> key; ``rest`` covers the fields not named."""

    @model_validator(mode="after")
    def _every_value_has_a_source(self) -> _Sourced:
        if isinstance(self.source, dict):
            given = self.model_fields_set - {"source", "kind"}
            unknown = set(self.source) - set(type(self).model_fields) - {"rest"}
            if unknown:
                key = min(unknown)
                valid = [*(name for name in type(self).model_fields if name not in {"source", "kind"}), "rest"]
                raise fault(
                    f"source.{key}", f"no key of this section{nearest_hint(key, valid)}; valid: {', '.join(valid)}"
                )
            missing = given - set(self.source)
            if missing and "rest" not in self.source:
                raise fault("source", f"no source for: {', '.join(sorted(missing))} (name them, or add 'rest')")
        return self

    def source_keys(self) -> set[str]:
        """Keys of ``sources`` that this section refers to."""
        return {self.source} if isinstance(self.source, str) else set(self.source.values())


class _Lasers(_Sourced):
    """A stack of lasers turning about the vertical axis; lists run in firing order, one entry per laser."""

    elevation_deg: tuple[ElevationDeg, ...] = Field(min_length=1)
    azimuth_offset_deg: tuple[AzimuthDeg, ...] | None = None
    """Added to the rotor's azimuth, positive counter-clockwise seen from above; None = 0 for all."""
    vertical_offset_mm: tuple[float, ...] | None = None
    """Height of each beam's origin above the optical centre; None = 0 for all."""
    fire_time_ns: tuple[NonNegativeInt, ...] | None = None
    """Time of each laser within one sequence or column, non-decreasing; None = 0 for all."""
    clockwise: bool
    """Sense of rotation seen from above."""
    start_azimuth_deg: AzimuthDeg = 0.0
    """Azimuth (REP-103: from x towards y) of the rotor at power-on."""

    @model_validator(mode="after")
    def _lists_match(self) -> _Lasers:
        rows = len(self.elevation_deg)
        for name in ("azimuth_offset_deg", "vertical_offset_mm", "fire_time_ns"):
            values = getattr(self, name)
            if values is not None and len(values) != rows:
                raise fault(name, f"has {len(values)} entries, elevation_deg has {rows}")
        times = self.fire_time_ns
        if times is not None and any(b < a for a, b in pairwise(times)):
            raise fault("fire_time_ns", "must not decrease: list the lasers in firing order")
        return self


class SpinningFree(_Lasers):
    """A motor that runs freely while the lasers keep their own clock (Velodyne, Hesai XT, RoboSense)."""

    kind: Literal["spinning_free"]
    cycle_ns: PositiveInt
    """Time from one firing sequence to the next."""
    rpm: Positive
    rpm_min: Positive
    rpm_max: Positive

    @model_validator(mode="after")
    def _rpm_in_limits(self) -> SpinningFree:
        if not self.rpm_min <= self.rpm <= self.rpm_max:
            raise fault(
                "rpm", f"must lie between rpm_min {self.rpm_min:g} and rpm_max {self.rpm_max:g}, found {self.rpm:g}"
            )
        if self.fire_time_ns is not None and self.fire_time_ns[-1] >= self.cycle_ns:
            last = self.fire_time_ns[-1]
            raise fault("cycle_ns", f"must be longer than the last laser's fire_time_ns {last}, found {self.cycle_ns}")
        return self


class SpinningLocked(_Lasers):
    """An encoder that triggers the columns at fixed angles (Ouster, 2D scanners)."""

    kind: Literal["spinning_locked"]
    columns_per_turn: PositiveInt
    """Encoder columns in a full turn, fired or not."""
    first_column: NonNegativeInt = 0
    """First column that fires, counted from start_azimuth_deg in the sense of rotation."""
    columns: PositiveInt | None = None
    """Number of columns that fire; None = all."""
    rate_hz: Positive
    """Turns, and so frames, per second."""
    beam_origin_radius_mm: NonNegative = 0.0
    """Distance of the beams' origin from the axis, along the rotor's azimuth (Ouster's
    lidar_origin_to_beam_origin_mm)."""

    @model_validator(mode="after")
    def _window_in_turn(self) -> SpinningLocked:
        fired = self.columns_per_turn if self.columns is None else self.columns
        if self.first_column + fired > self.columns_per_turn:
            raise fault(
                "columns_per_turn" if self.columns is None else "columns",
                f"first_column {self.first_column} + columns {fired} exceeds columns_per_turn {self.columns_per_turn}",
            )
        return self


class Wedge(_Frozen):
    """A rotating glass wedge: one flat face (normal +x), one tilted by ``tilt_deg``."""

    rpm: float
    phase_deg: float
    tilt_deg: float
    refractive_index: Annotated[float, Field(gt=1.0, lt=4.0)]
    tilted_face_first: bool


class _NonRepeating(_Sourced):
    """A pattern that does not repeat from frame to frame (Livox)."""

    point_rate_hz: Positive
    """Beams per second, evenly spaced, laser after laser."""
    frame_rate_hz: Positive
    """Frames per second: how many beams are gathered into one scan."""
    laser_offset_deg: tuple[float, ...] = Field(min_length=1)
    """Angle of each laser from the optical axis."""
    sample_offset: float = 0.0
    """i0 in t = (i + i0) / firing rate: where the vendor's table starts on the rotor's clock."""
    random_phase: bool = False
    """Real units start at arbitrary rotor phases: draw them from the seed."""
    speed_error_ppm: NonNegative = 0.0
    """Standard deviation of each rotor's relative speed error, drawn from the seed."""


class Rosette(_NonRepeating):
    """Beams through rotating wedges along the x axis, with exact refraction."""

    kind: Literal["rosette"]
    wedges: tuple[Wedge, ...] = Field(min_length=1)


class RosetteMirror(_NonRepeating):
    """Livox Mid-360: a speed-modulated wedge, then a prism with a mirror face, about the z axis."""

    kind: Literal["rosette_mirror"]
    laser_fan_azimuth_deg: AzimuthDeg
    prism_rpm: float
    prism_phase_deg: float
    prism_refractive_index: Annotated[float, Field(gt=1.0, lt=4.0)]
    mirror_normal_deg: float
    exit_normal_deg: float
    wedge_tilt_deg: float
    wedge_refractive_index: Annotated[float, Field(gt=1.0, lt=4.0)]
    wedge_relative_rpm: float
    """Speed of the wedge relative to the prism."""
    wedge_relative_phase_deg: float
    wedge_modulation_rad: float
    """Amplitude of the wedge's angle modulation, at twice its relative turning rate."""


class Raster(_Sourced):
    """A pinhole camera: all pixels at one time; x forward is the optical axis."""

    kind: Literal["raster"]
    width_px: PositiveInt
    height_px: PositiveInt
    fx_px: Positive
    fy_px: Positive
    cx_px: float
    """Principal point: pixel (u, v) looks through ((u - cx) / fx, (v - cy) / fy)."""
    cy_px: float
    rate_hz: Positive
    baseline_mm: Positive | None = None


Pattern = Annotated[SpinningFree | SpinningLocked | Rosette | RosetteMirror | Raster, Field(discriminator="kind")]


class RangeSpec(_Sourced):
    """Limits and unit of the reported range."""

    min_m: NonNegative
    max_m: Positive
    resolution_m: NonNegative
    """Unit in which the device reports; 0 = no quantisation."""
    offset_m: NonNegative = 0.0
    """Added to the distance from the beam's origin (Ouster counts from the axis)."""
    planar: bool = False
    """True: the device measures depth along its optical axis, not along the ray."""

    @model_validator(mode="after")
    def _ordered(self) -> RangeSpec:
        if self.min_m >= self.max_m:
            raise fault("min_m", f"must be less than max_m {self.max_m:g}, found {self.min_m:g}")
        return self


class NoiseSpec(_Sourced):
    """First-version error model: Gaussian range and angle, constant bias, random drop-out."""

    range_std_m: NonNegative
    range_bias_m: float = 0.0
    angle_std_deg: NonNegative = 0.0
    dropout_ratio: Ratio = 0.0


class BeamSpec(_Sourced):
    """Shape of one beam (full width at half maximum)."""

    divergence_horizontal_deg: NonNegative
    divergence_vertical_deg: NonNegative
    wavelength_nm: Positive | None = None


class Nominal(_Sourced):
    """What the data sheet promises; shown in tables and held against the pattern by the tests."""

    points_per_s: Positive
    horizontal_fov_deg: Positive
    vertical_fov_deg: NonNegative
    rows: PositiveInt | None = None
    """Laser rows; None for patterns without rows."""
    return_modes: tuple[Literal["single", "strongest", "last", "dual", "triple"], ...]


class Mode(_Frozen):
    """Named overrides of sections, e.g. another resolution; merged before the check."""

    pattern: dict[str, Any] = Field(default_factory=dict)
    range: dict[str, Any] = Field(default_factory=dict)
    noise: dict[str, Any] = Field(default_factory=dict)
    nominal: dict[str, Any] = Field(default_factory=dict)


class DeviceProfile(_Frozen):
    """One device."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    title: str
    vendor: str
    category: Literal["lidar", "depth_camera", "scanner_2d"]
    aliases: tuple[str, ...] = ()
    notes: str = ""
    sources: dict[str, Source] = Field(min_length=1)
    pattern: Pattern
    range: RangeSpec
    noise: NoiseSpec
    beam: BeamSpec | None = None
    nominal: Nominal
    default_mode: str | None = None
    modes: dict[str, Mode] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _sources_exist(self) -> DeviceProfile:
        valid = sorted(self.sources)
        for section in ("pattern", "range", "noise", "beam", "nominal"):
            spec = getattr(self, section)
            missing = (spec.source_keys() if spec is not None else set()) - set(self.sources)
            if missing:
                key = min(missing)
                hint = nearest_hint(key, valid)
                raise fault(f"{section}.source", f"{key!r} is not in sources{hint}; valid: {', '.join(valid)}")
        return self

    @model_validator(mode="after")
    def _default_mode_exists(self) -> DeviceProfile:
        if self.modes and self.default_mode not in self.modes:
            found = "missing" if self.default_mode is None else f"found {self.default_mode!r}"
            hint = nearest_hint(str(self.default_mode), list(self.modes))
            raise fault("default_mode", f"must be one of modes, {found}{hint}; valid: {', '.join(self.modes)}")
        return self
