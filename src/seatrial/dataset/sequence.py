"""A dataset in its folder, read back: what it holds, and where."""

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seatrial.dataset.files import SUMS
from seatrial.dataset.flight import Motion, Mounting
from seatrial.dataset.names import IMAGE_TYPES, Picture, camera_folder
from seatrial.dataset.tables import read_motion
from seatrial.errors import DatasetError

MANIFEST = "manifest.json"
FORMAT = "seatrial dataset 1"

SEQUENCE = re.compile(r"[0-9A-Za-z]{2}")
CAMERA = re.compile(r"[A-Z][0-9A-Za-z]")
ENDING = re.compile(r"[a-z0-9]+")
SENSOR_FOLDER = re.compile(r"veh[0-9A-Za-z]/[a-z_]+[0-9A-Za-z]")


@dataclass(frozen=True)
class Camera:
    """A camera of a dataset."""

    folder: str
    name: str
    """In the scenario."""
    vehicle: int
    camera: str
    """Type and number, as in `M0`."""
    rate: float
    frames: int
    width: int
    height: int
    intrinsics: tuple[float, float, float, float]
    """Focal lengths and principal point, fx fy cx cy, px; the middle of the first pixel is 0."""
    distortion: tuple[float, float, float, float, float]
    """Brown's, in OpenCV's order: k1 k2 p1 p2 k3."""
    mounting: Mounting

    @classmethod
    def of(cls, data: dict[str, Any]) -> "Camera":
        """From the manifest."""
        mounting = Mounting(*(tuple(part) for part in data["mounting"]))
        return cls(
            **data
            | {
                "mounting": mounting,
                "intrinsics": tuple(data["intrinsics"]),
                "distortion": tuple(data["distortion"]),
            }
        )


@dataclass(frozen=True)
class DatasetSensor:
    """Another sensor of a dataset."""

    folder: str
    name: str
    vehicle: int
    kind: str
    rate: float
    mounting: Mounting
    noise: dict[str, float]

    @classmethod
    def of(cls, data: dict[str, Any]) -> "DatasetSensor":
        """From the manifest."""
        return cls(**data | {"mounting": Mounting(*(tuple(part) for part in data["mounting"]))})


@dataclass(frozen=True)
class Dataset:
    """A dataset that is finished."""

    folder: Path
    manifest: dict[str, Any]

    @cached_property
    def cameras(self) -> list[Camera]:
        """Of all vehicles."""
        return [Camera.of(data) for data in self.manifest["cameras"]]

    @cached_property
    def sensors(self) -> list[DatasetSensor]:
        """Of all vehicles."""
        return [DatasetSensor.of(data) for data in self.manifest["sensors"]]

    def picture(self, camera: Camera, letter: str, frame: int, ending: str = "png") -> Path:
        """Where a picture is."""
        sequence = self.manifest["sequence"]
        return (
            self.folder
            / Picture(sequence, camera.vehicle, camera.camera, letter, frame, ending).path
        )

    def motion(self, folder: str) -> Motion:
        """True motion of the vehicle at the samples of a camera or another sensor."""
        return read_motion(self.folder / folder / "ground_truth.csv")


def read_dataset(folder: Path) -> Dataset:
    """A dataset that is finished, or a refusal."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise DatasetError(
            f"{folder}: has no {MANIFEST}\n"
            "  expected: the folder of a dataset\n"
            "  to mend:  make one with `seatrial dataset SCENARIO --out DIR`"
        )
    if not (folder / SUMS).is_file():
        raise DatasetError(
            f"{folder}: is not finished\n"
            "  expected: a dataset of which all frames are there\n"
            "  to mend:  say the command again that began it: it goes on where it stopped"
        )
    return Dataset(folder, manifest)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What a folder says that it holds; None where it says nothing."""
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(
            f"{path}: cannot be read ({error})\n  expected: what `seatrial dataset` wrote there"
        ) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DatasetError(
            f"{path}: is not of a dataset that this version reads\n"
            f"  expected: `format: {FORMAT}`\n"
            "  to mend:  choose another folder"
        )
    try:
        _check(found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"{path}: tells of a dataset that cannot be ({type(error).__name__}: {error})\n"
            "  expected: what `seatrial dataset` wrote there\n"
            "  to mend:  remove the folder, or choose another one"
        ) from None
    return found


def _check(manifest: dict[str, Any]) -> None:
    """Refuse what no dataset says of itself: readers rely on it, and folders must be its own."""
    for name in ("vehicles", "classes"):
        _need(all(isinstance(word, str) for word in manifest[name]), name)
    low, high = manifest["depth_range"]
    _need(0.0 <= low < high < math.inf, "depth_range")
    _need(SEQUENCE.fullmatch(manifest["sequence"]) is not None, "sequence")
    for letter, endings in manifest["passes"].items():
        _need(letter in IMAGE_TYPES and all(ENDING.fullmatch(e) for e in endings), "passes")
    for camera in map(Camera.of, manifest["cameras"]):
        _need(CAMERA.fullmatch(camera.camera) is not None, "camera")
        _need(camera.folder == camera_folder(camera.vehicle, camera.camera), "folder")
        sizes = camera.vehicle, camera.frames, camera.width - 1, camera.height - 1
        _need(all(isinstance(n, int) and n >= 0 for n in sizes), "size of a camera")
        numbers = (*camera.intrinsics, *camera.distortion, camera.rate)
        _need(len(numbers) == 10 and math.isfinite(sum(numbers)), "lens of a camera")
        _check_mounting(camera.mounting)
    for sensor in map(DatasetSensor.of, manifest["sensors"]):
        _need(SENSOR_FOLDER.fullmatch(sensor.folder) is not None, "folder")
        _need(math.isfinite(sensor.rate), "rate of a sensor")
        _check_mounting(sensor.mounting)


def _check_mounting(mounting: Mounting) -> None:
    place, turned = mounting
    _need(len(place) == 3 and len(turned) == 4, "mounting")
    _need(math.isfinite(sum(place) + sum(turned)), "mounting")


def _need(true: bool, name: str) -> None:
    if not true:
        raise ValueError(f"`{name}`")
