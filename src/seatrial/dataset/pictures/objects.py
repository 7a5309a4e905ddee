"""What is to be seen in a picture: instances with their classes, boxes and masks."""

import json
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.pictures.pixels import read_png
from seatrial.dataset.sequence import Camera, Dataset
from seatrial.errors import DatasetError


class Thing(NamedTuple):
    """An instance as far as it is seen."""

    number: int
    """In the pictures of instances."""
    name: str
    kind: str
    """Its class."""
    box: tuple[int, int, int, int]
    """Left, top, right and bottom, px; the last two are the first beyond it."""
    mask: NDArray[np.bool_]
    """(H, W)."""


def classes(data: Dataset) -> list[str]:
    """Names of the classes, in order."""
    if not {"I", "L"} <= data.manifest["passes"].keys():
        raise DatasetError(
            f"{data.folder}: has no masks of instances\n"
            "  expected: the passes I and L\n"
            "  to mend:  make a dataset with them, or export to euroc, kitti or tum"
        )
    return list(data.manifest["classes"])


def things(data: Dataset, camera: Camera, frame: int) -> list[Thing]:
    """What a picture shows."""
    mask = read_png(data.picture(camera, "I", frame))
    boxes = json.loads(data.picture(camera, "L", frame, "json").read_text(encoding="utf-8"))
    return [
        Thing(b["instance"], b["name"], b["class"], tuple(b["box"]), mask == b["instance"])
        for b in boxes
    ]


def box_around(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """The least box that holds a mask: left, top, right and bottom."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
