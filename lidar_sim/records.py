"""What is handed from room to room: one frozen record per arrow of the pipeline, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import mujoco

Array = npt.NDArray[Any]
F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
U16 = npt.NDArray[np.uint16]
U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Firings:
    """Where and when beams fire, in the sensor frame (x forward, y left, z up); pattern -> schedule."""

    index: I64
    """(N,) number of the beam since power-on; consecutive, never repeated."""
    time_ns: I64
    """(N,) ns since power-on, computed from the index, never accumulated; non-decreasing."""
    direction: F64
    """(N, 3) unit vectors."""
    origin: F64
    """(N, 3) m, where the beam leaves the device."""
    ring: U16
    """(N,) row, 0 = lowest elevation (for images: 0 = top row)."""
    column: I64
    """(N,) column within the frame."""
    frame: I64
    """(N,) number of the frame since power-on."""

    def __len__(self) -> int:
        return len(self.index)


@dataclass(frozen=True, slots=True)
class Keyframe:
    """Where everything stood at one instant; schedule -> cast."""

    time_ns: int
    """ns of simulation time, ``data.time`` of the capture."""
    position: F64
    """(3,) m, sensor origin in the world frame."""
    quaternion: F64
    """(4,) w x y z, rotation of T_world_sensor."""
    world: mujoco.MjData
    """Private MjData with the kinematics of this instant; to be read only."""
    capture: int = 0
    """Number of the capture: keyframes with the same one show the same world. 0 = not numbered."""


@dataclass(frozen=True, slots=True)
class PoseTrack:
    """Poses over time; linear in position and slerp in rotation between samples, held at both ends."""

    time_ns: I64
    """(K,) ns, strictly increasing, K >= 1."""
    position: F64
    """(K, 3) m, in the world frame."""
    quaternion: F64
    """(K, 4) w x y z."""


@dataclass(frozen=True, slots=True)
class RayBatch:
    """Beams posed in the world frame; schedule -> cast."""

    origin: F64
    """(N, 3) m."""
    direction: F64
    """(N, 3) unit vectors."""
    time_ns: I64
    """(N,) ns of simulation time."""
    phase: F64
    """(N,) in [0, 1], between the keyframes before (0) and after (1)."""

    def __len__(self) -> int:
        return len(self.time_ns)


@dataclass(frozen=True, slots=True)
class Hits:
    """What the rays hit: the truth; cast -> measure."""

    distance: F64
    """(N,) m along the unit direction, +inf = nothing."""
    geom: I32
    """(N,) geom id, -1 = none (a miss, or a flex)."""
    body: I32
    """(N,) body id of that geom, -1 = none."""
    flex: I32
    """(N,) flex id, -1 = none."""
    normal: F64
    """(N, 3) unit surface normal in the world frame, 0 on a miss; of a geom as mj_ray gives it (it faces away where
    the ray comes from inside or from behind), of a flex always facing the sensor."""
    cos_incidence: F64
    """(N,) |cos| of the angle between ray and normal, 0 on a miss."""
    velocity: F64 = None  # type: ignore[assignment]
    """(N, 3) m/s in the world frame, of the point of the surface that was hit; 0 at rest and on a miss.
    Left out = 0."""
    radial_velocity: F64 = None  # type: ignore[assignment]
    """(N,) m/s, ``velocity`` less that of the beam's origin, along the beam (positive = receding), as Doppler lidars
    report it; 0 at rest and on a miss. Left out = 0."""
    face: I32 = None  # type: ignore[assignment]
    """(N,) triangle of the geom's mesh, counted from the mesh's first: ``mesh_face[mesh_faceadr[mesh] + face]``;
    -1 = no mesh, or a caster that does not tell (``cast.gives_faces``). Left out = -1."""
    barycentric: F64 = None  # type: ignore[assignment]
    """(N, 2) shares of the face's second and third corner in the point that was hit; the first has the rest to 1.
    0 without a face. Left out = 0."""

    def __post_init__(self) -> None:
        if self.velocity is None:
            object.__setattr__(self, "velocity", np.zeros((len(self.distance), 3)))
        if self.radial_velocity is None:
            object.__setattr__(self, "radial_velocity", np.zeros(len(self.distance)))
        if self.face is None:
            object.__setattr__(self, "face", np.full(len(self.distance), -1, np.int32))
        if self.barycentric is None:
            object.__setattr__(self, "barycentric", np.zeros((len(self.distance), 2)))

    def __len__(self) -> int:
        return len(self.distance)


@dataclass(frozen=True, slots=True)
class Returns:
    """What the device reports, one row per return (M of them, ordered by firing row); measure -> cloud."""

    firing: I64
    """(M,) row of the firing in the batch that this return answers."""
    valid: npt.NDArray[np.bool_]
    """(M,) False where the device reports nothing (miss, gate, drop-out); one such row per silent firing."""
    range_m: F64
    """(M,) reported range, NaN where not valid."""
    direction: F64
    """(M, 3) unit, sensor frame: the direction the device believes it measured."""
    distance_m: F64
    """(M,) reported distance along ``direction`` from the beam's origin, NaN where not valid."""
    reflectivity: F32
    """(M,) 0..255, the device's calibrated byte: 0-100 = diffuse per cent."""
    signal: F32
    """(M,) received signal, arbitrary units, 1 = a white wall at 1 m met squarely."""
    return_number: U8
    """(M,) 1 = first reported return of its firing."""
    flags: U8
    """(M,) 0 now; bits are named where a stage sets them."""

    def __len__(self) -> int:
        return len(self.firing)


@dataclass(frozen=True, slots=True, repr=False)
class Scan:
    """One finished frame; cloud -> user, export. ``fields.py`` names and documents the fields."""

    device: str
    """Name of the device profile."""
    sensor: str
    """Name of the mounted sensor."""
    frame_number: int
    """Frames since power-on."""
    stamp_ns: int
    """Simulation time of the frame's first firing."""
    frame: str
    """Frame of x y z: "sensor" (each point at its own firing time), "body" or "world"."""
    fields: Mapping[str, Array]
    """Name -> (N,) array; x y z in m; one row per valid return (all rows, NaN where silent, if misses are kept)."""
    shape: tuple[int, int] | None
    """(rows, columns) of the device's grid in this frame, None where it has none."""
    track: PoseTrack
    """T_world_sensor over the frame."""
    T_body_sensor: F64
    """(7,) mount: position m, quaternion w x y z, of the sensor in the body that carries it."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """Seed, mode, versions: what is needed to make this scan again."""

    def __len__(self) -> int:
        return len(self.fields["x"])

    def __repr__(self) -> str:
        grid = f", grid {self.shape[0]} x {self.shape[1]}" if self.shape is not None else ""
        return (
            f"<Scan {self.frame_number} of {self.sensor}: {len(self)} points at {self.stamp_ns} ns, "
            f"{self.frame} frame{grid}; fields {', '.join(self.fields)}>"
        )

    def __getitem__(self, name: str) -> Array:
        try:
            return self.fields[name]
        except KeyError:
            raise KeyError(f"no field {name!r}; this scan has: {', '.join(self.fields)}") from None

    @property
    def points(self) -> F64:
        """(N, 3) f64 m, in the frame named by ``frame``."""
        return np.stack([self.fields[axis] for axis in "xyz"], axis=1)

    @property
    def t_ns(self) -> I64:
        """(N,) i64 ns, simulation time at which each point's beam was fired."""
        return self.stamp_ns + self.fields["t"].astype(np.int64)

    def organized(self, name: str | None = None) -> Array:
        """The H x W view: (H, W) of one field, or (H, W, 3) of the points without a name.

        Row 0 is the top (highest elevation). Cells without a return hold NaN in float fields, 0 in
        unsigned and -1 in signed ones; ``row``, ``column`` and ``ring`` are right in every cell (``ring`` where
        its row has any return). Where a firing gave several returns, the first is shown. With
        ``keep_misses`` every cell is right.

        Raises:
            ValueError: this scan has no rows and columns.
        """
        if self.shape is None:
            raise ValueError(f"this scan of {self.sensor} has no rows and columns; use the flat fields")
        if name is None:
            return np.stack([self.organized(axis) for axis in "xyz"], axis=-1)
        values = self[name]
        grid = np.full(self.shape, _empty_value(values.dtype), values.dtype)
        first = self.fields["return_number"] <= 1
        row, column = self.fields["row"][first], self.fields["column"][first]
        if name in _KNOWN_BY_CELL:
            return self._known_by_cell(name, grid, row, values[first])
        grid[row, column] = values[first]
        return grid

    def _known_by_cell(self, name: str, grid: Array, row: Array, values: Array) -> Array:
        """Row, column or ring of every cell, return or not."""
        along_row, along_column = np.indices(self.shape or (0, 0))
        if name == "ring":
            ring_of_row = np.zeros(len(grid), grid.dtype)
            ring_of_row[row] = values
            grid[:] = ring_of_row[:, None]
        else:
            grid[:] = along_row if name == "row" else along_column
        return grid


_KNOWN_BY_CELL = ("row", "column", "ring")


def _empty_value(dtype: np.dtype[Any]) -> float | int:
    if np.issubdtype(dtype, np.floating):
        return float("nan")
    return 0 if np.issubdtype(dtype, np.unsignedinteger) else -1
