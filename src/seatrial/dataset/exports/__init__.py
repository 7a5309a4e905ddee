"""Datasets as other people's programs expect them, a file per layout."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from seatrial.dataset.files import complaints, verify
from seatrial.dataset.sequence import Dataset, read_dataset
from seatrial.errors import DatasetError

LAYOUTS = ("euroc", "kitti", "tum", "coco", "yolo")
TRAJECTORIES = ("euroc", "kitti", "tum")
"""Those that tell where every picture was taken."""


def export(folder: Path, layout: str, out: Path) -> int:
    """Write a finished dataset, whose files are as they were written, in another layout; returns
    the number of its pictures."""
    if layout not in LAYOUTS:
        raise DatasetError(f"--to {layout}: unknown layout\n  expected: {', '.join(LAYOUTS)}")
    data = read_dataset(folder)
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise DatasetError(
            f"{out}: is not empty\n"
            "  expected: a folder of its own\n"
            "  to mend:  choose another one with --out"
        )
    if layout in TRAJECTORIES and not _follow_each_other(data):
        raise DatasetError(
            f"{folder}: its pictures are of places apart, and {layout} tells of a trajectory\n"
            "  expected: a sequence\n"
            "  to mend:  export to coco or yolo"
        )
    verify(folder)
    write: Callable[..., int] = import_module(f"{__name__}.{layout}").write
    with complaints(out):
        return write(data, out)


def _follow_each_other(data: Dataset) -> bool:
    """Whether it is known where the pictures were taken, one after the other."""
    return all((data.folder / c.folder / "ground_truth.csv").is_file() for c in data.cameras)
