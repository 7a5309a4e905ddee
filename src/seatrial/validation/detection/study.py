"""Confusion matrices of one detector on the two detection sets, as figure 32 of a thesis has them.

The thesis (*Digital Twin Platform for Unmanned Surface Vehicles*, 2024, section 5.3.1) took a
network trained on photographs of buoys and found it worse in fog and waves on most figures. Here a
small one is trained on the spot on pictures of the clear set alone, and tested on pictures of both
sets that it has not seen: the same things at the same places, only the weather differs.
"""

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.detection.craft import CLASSES
from seatrial.dataset.detection.making import make_detection_sets
from seatrial.dataset.pictures.objects import things
from seatrial.dataset.pictures.pixels import read_png
from seatrial.dataset.sequence import Dataset
from seatrial.validation.claims import Claim
from seatrial.validation.detection.detector import Box, confusion, detect, train
from seatrial.validation.detection.figures import draw_confusion
from seatrial.validation.findings import Findings, Table, Watch

SIZE = (320, 240)
"""Columns and rows of the pictures."""
SEEDS = {"train": 1, "test": 2}
LEAST_OVERLAP, LEAST_SCORE = 0.45, 0.25
"""As YOLO's confusion matrices have them."""
SMALLEST = 12
"""Pixels that a thing must show to be counted."""


class Sizes(NamedTuple):
    """How much is drawn and learnt."""

    train: int
    test: int
    steps: int


FULL = Sizes(train=240, test=80, steps=800)
SAMPLE = Sizes(train=24, test=8, steps=60)


def detection(out: Path, sample: bool, watch: Watch) -> Findings:
    """Train on clear pictures; test on clear and on foggy ones."""
    sizes = SAMPLE if sample else FULL
    workers = 1 if sample else os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as scratch:
        # Fog of the training pictures is not used: drawing it costs time, and nothing else.
        (training,) = make_detection_sets(
            Path(scratch) / "train", sizes.train, SEEDS["train"], *SIZE, workers, sets=("clear",)
        )
        watch.line(f"{sizes.train} pictures drawn to train on")
        tests = make_detection_sets(
            Path(scratch) / "test", sizes.test, SEEDS["test"], *SIZE, workers
        )
        watch.line(f"{2 * sizes.test} pictures drawn to test on")
        pictures, boxes = load(training)
        layers = train(pictures, boxes, len(CLASSES), sizes.steps, progress=watch.share)
        counts = {}
        for data in tests:
            seen, true = load(data)
            found = detect(layers, seen, LEAST_SCORE)
            counts[data.folder.name] = confusion(found, true, len(CLASSES), LEAST_OVERLAP)
    draw_confusion(counts, CLASSES, out / "detection.png")
    return _findings(counts, sizes)


def load(data: Dataset) -> tuple[NDArray[np.uint8], list[list[Box]]]:
    """Pictures (N, H, W, 3) of a set, and the boxes in them."""
    camera = data.cameras[0]
    pictures, boxes = [], []
    for frame in range(camera.frames):
        pictures.append(read_png(data.picture(camera, "A", frame)))
        boxes.append(
            [
                Box(CLASSES.index(thing.kind), *(float(v) for v in thing.box))
                for thing in things(data, camera, frame)
                if thing.mask.sum() >= SMALLEST
            ]
        )
    return np.stack(pictures), boxes


def recall(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """(classes,) share of the things of each class that were found as such."""
    there = counts[:, :-1].sum(axis=0)
    return np.asarray(np.diag(counts)[:-1] / np.maximum(there, 1))


def precision(counts: NDArray[np.int64]) -> float:
    """Share of what was predicted that was there, and of that class."""
    return float(np.diag(counts)[:-1].sum() / max(counts[:-1].sum(), 1))


def _overall(counts: NDArray[np.int64]) -> float:
    return float(np.diag(counts)[:-1].sum() / max(counts[:, :-1].sum(), 1))


def _findings(counts: dict[str, NDArray[np.int64]], sizes: Sizes) -> Findings:
    clear, foggy = counts["clear"], counts["foggy"]
    rows = [
        [
            name,
            *(str(int(c[:, k].sum())) for c in counts.values()),
            *(f"{100 * recall(c)[k]:.0f} %" for c in counts.values()),
        ]
        for k, name in enumerate(CLASSES)
    ]
    rows.append(
        [
            "all",
            *(str(int(c[:, :-1].sum())) for c in counts.values()),
            *(f"{100 * _overall(c):.0f} %" for c in counts.values()),
        ]
    )
    tables = [
        Table(
            "Found as what they are",
            ["class", "clear: there", "foggy: there", "clear", "foggy"],
            rows,
        ),
        Table(
            "Predictions that are right",
            ["", *counts],
            [["precision", *(f"{100 * precision(c):.0f} %" for c in counts.values())]],
        ),
    ]
    worse = int(np.sum(recall(foggy) < recall(clear)))
    claims = [
        Claim(
            "the detector finds most things on a clear and still day",
            _overall(clear) > 0.5,
            f"{100 * _overall(clear):.0f} % of {int(clear[:, :-1].sum())}",
        ),
        Claim(
            "in fog and waves it finds fewer of most classes",
            worse > len(CLASSES) / 2 and _overall(foggy) < _overall(clear),
            f"{worse} of {len(CLASSES)} classes; {100 * _overall(foggy):.0f} % of all, against "
            f"{100 * _overall(clear):.0f} %",
        ),
    ]
    numbers = {
        "classes": list(CLASSES),
        "pictures": sizes._asdict(),
        "confusion": {name: c.tolist() for name, c in counts.items()},
    }
    return Findings(numbers, tables, claims)
