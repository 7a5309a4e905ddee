"""Datasets as other people's programs expect them, a file per layout."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from seatrial.dataset.files import verify
from seatrial.dataset.sequence import read_dataset
from seatrial.errors import DatasetError

LAYOUTS = ("euroc", "kitti", "tum", "coco", "yolo")


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
    verify(folder)
    write: Callable[..., int] = import_module(f"{__name__}.{layout}").write
    return write(data, out)
