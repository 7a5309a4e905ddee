"""COCO's layout (Lin and others 2014): pictures, and one JSON file of boxes and masks.

Masks are run lengths, column by column, as COCO counts them.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.pictures.objects import Thing, classes, things
from seatrial.dataset.sequence import Dataset


def write(data: Dataset, out: Path) -> int:
    """All cameras; returns the number of pictures."""
    (out / "images").mkdir(parents=True)
    (out / "annotations").mkdir()
    known = classes(data)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for camera in data.cameras:
        for frame in range(camera.frames):
            picture = data.picture(camera, "A", frame)
            shutil.copyfile(picture, out / "images" / picture.name)
            number = len(images) + 1
            images.append(
                {
                    "id": number,
                    "file_name": picture.name,
                    "width": camera.width,
                    "height": camera.height,
                }
            )
            for thing in things(data, camera, frame):
                annotations.append(_annotation(len(annotations) + 1, number, thing, known))
    document = {
        "info": {
            "description": f"seatrial, {data.manifest['scenario']}, seed {data.manifest['seed']}",
            "version": data.manifest["seatrial"],
        },
        "licenses": [],
        "images": images,
        "annotations": annotations,
        "categories": [
            {"id": i + 1, "name": name, "supercategory": "thing"} for i, name in enumerate(known)
        ],
    }
    (out / "annotations" / "instances.json").write_text(json.dumps(document), encoding="utf-8")
    return len(images)


def _annotation(number: int, image: int, thing: Thing, known: list[str]) -> dict[str, Any]:
    left, top, right, bottom = thing.box
    return {
        "id": number,
        "image_id": image,
        "category_id": known.index(thing.kind) + 1,
        "bbox": [left, top, right - left, bottom - top],
        "area": int(thing.mask.sum()),
        "iscrowd": 0,
        "segmentation": {"size": list(thing.mask.shape), "counts": run_lengths(thing.mask)},
    }


def run_lengths(mask: NDArray[np.bool_]) -> list[int]:
    """Of absent and present pixels in turn, down the columns, beginning with absent ones."""
    flat = mask.ravel(order="F")
    edges = np.flatnonzero(flat != np.concatenate([[False], flat[:-1]]))
    return [int(n) for n in np.diff(np.concatenate([[0], edges, [flat.size]]))]
