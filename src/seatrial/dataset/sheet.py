"""Contact sheets: the passes of one frame, or pictures of several sets above each other."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.files import complaints
from seatrial.dataset.names import IMAGE_TYPES
from seatrial.dataset.pictures.objects import things
from seatrial.dataset.pictures.pixels import read_depth, read_png
from seatrial.dataset.sequence import MANIFEST, Camera, Dataset, read_dataset
from seatrial.errors import DatasetError

if TYPE_CHECKING:
    from PIL import Image

Picture = NDArray[np.uint8]

ACROSS = 4
"""Pictures in a row."""
WIDE = 320
"""Columns of each."""
QUALITY = 82
_GOLDEN = 0.61803
"""Turn of the colour wheel from one instance to the next."""


def contact_sheet(folder: Path, out: Path, frame: int = 0) -> Path:
    """Write a sheet of a dataset, or of the datasets in a folder."""
    inside = [] if (folder / MANIFEST).is_file() else sorted(folder.glob(f"*/{MANIFEST}"))
    if inside:
        rows = [_row(read_dataset(path.parent), frame) for path in inside]
        pictures = [picture for row in rows for picture in row]
    else:
        pictures = _passes(read_dataset(folder), frame)
    with complaints(out):
        _joined(pictures).save(out, quality=QUALITY)
    return out


def _row(data: Dataset, first: int) -> "list[tuple[str, Image.Image]]":
    """Pictures of a set that follow each other, the last one with its boxes."""
    camera = data.cameras[0]
    _check(data, camera, first + ACROSS - 1)
    name = data.folder.name
    found = [
        (f"{name}, picture {i}", _image(read_png(data.picture(camera, "A", i))))
        for i in range(first, first + ACROSS)
    ]
    last = first + ACROSS - 1
    from PIL import ImageDraw

    pen = ImageDraw.Draw(found[-1][1])
    scale = WIDE / camera.width
    for thing in things(data, camera, last):
        pen.rectangle([scale * v for v in thing.box], outline=(255, 240, 0))
    return found


def _passes(data: Dataset, frame: int) -> "list[tuple[str, Image.Image]]":
    camera = data.cameras[0]
    _check(data, camera, frame)
    found = []
    for letter, endings in data.manifest["passes"].items():
        if "png" in endings:
            shown = _shown(data, camera, letter, frame)
            found.append((f"{letter}  {IMAGE_TYPES[letter]}", _image(shown)))
    return found


def _check(data: Dataset, camera: Camera, frame: int) -> None:
    if frame >= camera.frames:
        raise DatasetError(
            f"{data.folder}: has no frame {frame}\n"
            f"  expected: at most {camera.frames - 1}\n"
            "  to mend:  choose a lower --frame"
        )


def _shown(data: Dataset, camera: Camera, letter: str, frame: int) -> Picture:
    """A pass as eyes can take it in."""
    path = data.picture(camera, letter, frame)
    if letter == "D":
        depth = read_depth(path, data.manifest["depth_range"])
        near = np.isfinite(depth)
        far = np.quantile(depth[near], 0.95) if near.any() else 1.0
        share = np.where(near, 1.0 - 0.92 * np.clip(np.where(near, depth, 0.0) / far, 0, 1), 0.0)
        return np.repeat(np.rint(255.0 * share)[..., None], 3, axis=2).astype(np.uint8)
    found = read_png(path)
    if letter in "IJ":
        return _coloured(found)
    if found.ndim == 2:
        return np.repeat(found[..., None], 3, axis=2).astype(np.uint8)
    return found.astype(np.uint8)


def _coloured(numbers: NDArray[np.integer]) -> Picture:
    """Neighbouring numbers in colours far apart; nothing is black."""
    turn = 2.0 * np.pi * _GOLDEN * numbers[..., None] + np.array([0.0, 2.1, 4.2])
    colour = 255.0 * (0.55 + 0.45 * np.cos(turn))
    return np.where(numbers[..., None] > 0, colour, 0.0).astype(np.uint8)


def _image(picture: Picture) -> "Image.Image":
    from PIL import Image

    height = round(WIDE * picture.shape[0] / picture.shape[1])
    return Image.fromarray(picture).resize((WIDE, height), Image.Resampling.BILINEAR)


def _joined(pictures: "list[tuple[str, Image.Image]]") -> "Image.Image":
    from PIL import Image, ImageDraw

    words, gap = 16, 4
    high = pictures[0][1].height + words
    rows = -(-len(pictures) // ACROSS)
    sheet = Image.new("RGB", (ACROSS * (WIDE + gap) - gap, rows * high), "white")
    pen = ImageDraw.Draw(sheet)
    for i, (text, picture) in enumerate(pictures):
        left, top = (i % ACROSS) * (WIDE + gap), (i // ACROSS) * high
        pen.text((left + 2, top + 2), text, fill=(40, 50, 60))
        sheet.paste(picture, (left, top + words))
    return sheet
