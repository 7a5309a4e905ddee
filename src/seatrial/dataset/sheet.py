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
from seatrial.render.masks import coloured

if TYPE_CHECKING:
    from PIL import Image

Picture = NDArray[np.uint8]

ACROSS = 4
"""Pictures in a row."""
WIDE = 320
"""Columns of each."""
QUALITY = 82
ENDINGS = (".jpg", ".jpeg", ".png")


def contact_sheet(folder: Path, out: Path, frame: int = 0) -> Path:
    """Write a sheet of a dataset, or of the datasets in a folder."""
    if out.suffix.lower() not in ENDINGS:
        raise DatasetError(
            f"{out}: is no name of a picture\n  expected: one that ends in .jpg or .png"
        )
    inside = [] if (folder / MANIFEST).is_file() else sorted(folder.glob(f"*/{MANIFEST}"))
    across = ACROSS
    if inside:
        rows = [_row(read_dataset(path.parent), frame) for path in inside]
        across = min(len(row) for row in rows)
        pictures = [picture for row in rows for picture in row[:across]]
    else:
        pictures = _passes(read_dataset(folder), frame)
    with complaints(out):
        _joined(pictures, across).save(out, quality=QUALITY)
    return out


def _row(data: Dataset, first: int) -> "list[tuple[str, Image.Image]]":
    """Pictures of a set that follow each other, the last one with its boxes."""
    camera = data.cameras[0]
    _check(data, camera, first)
    name = data.folder.name
    last = min(first + ACROSS, camera.frames) - 1
    found = [
        (f"{name}, picture {i}", _image(read_png(data.picture(camera, "A", i))))
        for i in range(first, last + 1)
    ]
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
        return coloured(found)
    if found.ndim == 2:
        return np.repeat(found[..., None], 3, axis=2).astype(np.uint8)
    return found.astype(np.uint8)


def _image(picture: Picture) -> "Image.Image":
    from PIL import Image

    height = round(WIDE * picture.shape[0] / picture.shape[1])
    return Image.fromarray(picture).resize((WIDE, height), Image.Resampling.BILINEAR)


def _joined(pictures: "list[tuple[str, Image.Image]]", across: int) -> "Image.Image":
    from PIL import Image, ImageDraw

    words, gap = 16, 4
    high = pictures[0][1].height + words
    rows = -(-len(pictures) // across)
    sheet = Image.new("RGB", (across * (WIDE + gap) - gap, rows * high), "white")
    pen = ImageDraw.Draw(sheet)
    for i, (text, picture) in enumerate(pictures):
        left, top = (i % across) * (WIDE + gap), (i // across) * high
        pen.text((left + 2, top + 2), text, fill=(40, 50, 60))
        sheet.paste(picture, (left, top + words))
    return sheet
