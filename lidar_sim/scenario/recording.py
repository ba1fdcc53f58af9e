"""The folder of one recording: its manifest, and which frames in it are finished."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lidar_sim.cloud import to_frame
from lidar_sim.errors import ScenarioError
from lidar_sim.export import TumWriter, whole_file, write
from lidar_sim.export.tum import tum_line
from lidar_sim.records import F64, Scan
from lidar_sim.scenario.config import OutputConfig
from lidar_sim.scenario.offers import image_field
from lidar_sim.transforms import interpolate_poses

MANIFEST = "manifest.json"
_OUTCOME = ("status", "frames", "error")
_FRAME_FILE = re.compile(r"\d{6,}\.[a-z]+")
_PART_FILE = ".lidar_sim-*.part"
_SENSOR_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]*")
_IMAGES = ("png",)
_LONGEST_VALUE = 80


class FolderInUseError(ScenarioError):
    """The folder of a recording is not empty, and nobody said what to do with what is in it."""


class Recording:
    """Writes frames into a folder, one file per frame, sensor and format, and takes up where it was left.

    Layout: ``manifest.json``, ``poses_<sensor>.txt`` (TUM, one line per finished frame: the sensor in the world at
    the frame's stamp) and ``<sensor>/000000.pcd``, ``000001.pcd``, ... A frame's pose is written after its files:
    the lines of the pose file are the finished frames.

    Args:
        folder: made if it is not there.
        manifest: what the recording is made of; kept in ``manifest.json``.
        sensors: names of the sensors, as their files are named.
        outputs: formats and fields.
        overwrite: begin anew; what an earlier recording left in the folder is removed, and nothing else.
        resume: keep the finished frames of the same recording.

    Attributes:
        folder: the folder.
        finished: number of finished frames of each sensor.
        was_complete: True where there is nothing left to resume.
        written: number of frames of each sensor that this run wrote.
        points: number of points in them.

    Raises:
        FolderInUseError: the folder is not empty and neither ``overwrite`` nor ``resume`` is given.
        ScenarioError: what is to be resumed is not the same recording.
    """

    def __init__(
        self,
        folder: str | Path,
        manifest: Mapping[str, Any],
        sensors: Sequence[str],
        outputs: OutputConfig,
        *,
        overwrite: bool = False,
        resume: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self._manifest = json.loads(json.dumps(manifest))
        self._sensors = tuple(sensors)
        self._outputs = outputs
        self._prepare(overwrite, resume)
        self._kept = {sensor: self._kept_poses(sensor) for sensor in sensors}
        self.finished = {sensor: len(lines) for sensor, lines in self._kept.items()}
        self.written = dict.fromkeys(sensors, 0)
        self.points = dict.fromkeys(sensors, 0)
        self.was_complete = self._outcome() == {"status": "complete", "frames": self.finished}
        self._set_outcome("complete" if self.was_complete else "running")
        self._poses = {sensor: TumWriter(self._pose_file(sensor), append=True) for sensor in sensors}

    def take(self, sensor: str, scan: Scan) -> None:
        """Write one frame, unless it is there already.

        Raises:
            ScenarioError: a frame that is there already was taken at another pose: the motion is another one.
        """
        number = scan.frame_number
        if number < self.finished[sensor]:
            self._compare(sensor, scan)
            return
        for entry in self._outputs.formats:
            shown = scan if entry in _IMAGES else to_frame(scan, self._outputs.frame)
            write(shown, self.folder / sensor / f"{number:06d}.{entry}", **self._options(entry))
        self._poses[sensor].add(scan.stamp_ns, *_pose_at_stamp(scan))
        self.finished[sensor] = number + 1
        self.written[sensor] += 1
        self.points[sensor] += int(np.count_nonzero(np.isfinite(scan["x"])))

    @property
    def duration_s(self) -> float:
        """Simulation time of the whole recording."""
        return float(self._manifest["steps"] * self._manifest["timestep_s"])

    def resume_frame(self, sensor: str) -> int:
        """Where a sensor must go on: at its last finished frame, whose pose shows whether the motion is the same."""
        return max(self.finished[sensor] - 1, 0)

    def end(self, status: str, error: str | None = None) -> None:
        """Close the pose files and note in the manifest how the recording ended."""
        for poses in self._poses.values():
            poses.close()
        self._set_outcome(status, error)

    def _options(self, entry: str) -> dict[str, Any]:
        fields = self._outputs.fields
        if entry in _IMAGES:
            return {"fields": image_field(fields)}
        options: dict[str, Any] = {"fields": list(fields) if isinstance(fields, tuple) else fields}
        if entry == "pcd":
            options |= {"encoding": self._outputs.encoding}
            options |= {"organized": False} if self._outputs.flat else {}
        return options

    def _outcome(self) -> dict[str, Any]:
        found = _read_manifest(self.folder) or {}
        return {key: found[key] for key in _OUTCOME if key in found}

    def _set_outcome(self, status: str, error: str | None = None) -> None:
        outcome: dict[str, Any] = {"status": status, "frames": self.finished}
        outcome |= {"error": error} if error is not None else {}
        text = json.dumps({**outcome, **self._manifest}, indent=2, ensure_ascii=False) + "\n"
        with whole_file(self.folder / MANIFEST) as stream:
            stream.write(text.encode())

    def _prepare(self, overwrite: bool, resume: bool) -> None:
        """Make the folder ready, or refuse before anything in it is touched."""
        if overwrite and resume:
            raise ScenarioError("overwrite begins anew, resume goes on: give one of the two")
        if self.folder.exists() and not self.folder.is_dir():
            raise ScenarioError(f"{self.folder} is a file; a recording is a folder")
        if self.folder.is_dir() and any(self.folder.iterdir()):
            if resume:
                self._check_same()
            elif overwrite:
                self._clear()
            else:
                raise FolderInUseError(f"{self.folder} is not empty: overwrite it, or resume the recording in it")
        try:
            for sensor in self._sensors:
                (self.folder / sensor).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ScenarioError(f"{error.filename}: cannot be made: {error.strerror}") from None
        for part in self.folder.rglob(_PART_FILE):
            part.unlink()

    def _check_same(self) -> None:
        found = _read_manifest(self.folder)
        if found is None:
            raise ScenarioError(f"{self.folder} holds no recording to resume: there is no readable {MANIFEST} in it")
        same = {key: value for key, value in found.items() if key not in _OUTCOME}
        difference = _first_difference(same, self._manifest)
        if difference is not None:
            raise ScenarioError(f"{self.folder} holds another recording, which cannot be resumed: {difference}")

    def _clear(self) -> None:
        """Remove an earlier recording by its manifest; files of other origin stay."""
        for sensor in (_read_manifest(self.folder) or {}).get("frames", {}):
            if not _SENSOR_NAME.fullmatch(sensor):
                continue
            self._pose_file(sensor).unlink(missing_ok=True)
            for file in (self.folder / sensor).glob("*"):
                if _FRAME_FILE.fullmatch(file.name):
                    file.unlink()
        (self.folder / MANIFEST).unlink(missing_ok=True)

    def _pose_file(self, sensor: str) -> Path:
        return self.folder / f"poses_{sensor}.txt"

    def _kept_poses(self, sensor: str) -> list[bytes]:
        """Lines of the frames whose files are all there; the pose file is cut to them."""
        file = self._pose_file(sensor)
        content = file.read_bytes() if file.exists() else b""
        lines = [line for line in content.splitlines(keepends=True) if line.endswith(b"\n")]
        kept = [line for _, line in itertools.takewhile(lambda item: self._is_there(sensor, item[0]), enumerate(lines))]
        if b"".join(kept) != content:
            with whole_file(file) as stream:
                stream.write(b"".join(kept))
        return kept

    def _is_there(self, sensor: str, number: int) -> bool:
        return all((self.folder / sensor / f"{number:06d}.{entry}").exists() for entry in self._outputs.formats)

    def _compare(self, sensor: str, scan: Scan) -> None:
        if tum_line(scan.stamp_ns, *_pose_at_stamp(scan)) != self._kept[sensor][scan.frame_number]:
            raise ScenarioError(
                f"frame {scan.frame_number} of {sensor} was recorded at another pose than it has now: the motion is "
                f"not the same, so that the recording in {self.folder} cannot be resumed"
            )


def _pose_at_stamp(scan: Scan) -> tuple[F64, F64]:
    stamp_ns = np.array([scan.stamp_ns], np.int64)
    track = scan.track
    position, quaternion = interpolate_poses(track.time_ns, track.position, track.quaternion, stamp_ns)
    return position[0], quaternion[0]


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def _first_difference(found: Any, wanted: Any, at: str = "") -> str | None:
    """The first place where two manifests differ, with both values."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in [*wanted, *(key for key in found if key not in wanted)]:
            difference = _first_difference(found.get(key), wanted.get(key), f"{at}.{key}" if at else key)
            if difference is not None:
                return difference
        return None
    return None if found == wanted else f"{at} was {_shown(found)}, is {_shown(wanted)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
