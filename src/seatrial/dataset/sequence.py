"""A dataset in its folder, read back: what it holds, and where."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seatrial.dataset.files import SUMS
from seatrial.dataset.flight import Motion, Mounting
from seatrial.dataset.names import Picture
from seatrial.dataset.tables import read_motion
from seatrial.errors import DatasetError

MANIFEST = "manifest.json"
FORMAT = "seatrial dataset 1"


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
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{path}: cannot be read ({error})\n  expected: what `seatrial dataset` wrote there"
        ) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DatasetError(
            f"{path}: is not of a dataset that this version reads\n"
            f"  expected: `format: {FORMAT}`\n"
            "  to mend:  choose another folder"
        )
    return found
