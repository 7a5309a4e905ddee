"""The layout of YOLO: a text file of boxes beside every picture, all in shares of its size."""

import shutil
from pathlib import Path

from seatrial.dataset.pictures.objects import classes, things
from seatrial.dataset.sequence import Dataset


def write(data: Dataset, out: Path) -> int:
    """All cameras; returns the number of pictures."""
    for part in ("images", "labels"):
        (out / part).mkdir(parents=True)
    known, count = classes(data), 0
    for camera in data.cameras:
        for frame in range(camera.frames):
            picture = data.picture(camera, "A", frame)
            shutil.copyfile(picture, out / "images" / picture.name)
            rows = []
            for thing in things(data, camera, frame):
                left, top, right, bottom = thing.box
                middle = 0.5 * (left + right) / camera.width, 0.5 * (top + bottom) / camera.height
                size = (right - left) / camera.width, (bottom - top) / camera.height
                numbers = " ".join(f"{v:.6f}" for v in (*middle, *size))
                rows.append(f"{known.index(thing.kind)} {numbers}\n")
            (out / "labels" / f"{picture.stem}.txt").write_text("".join(rows), encoding="utf-8")
            count += 1
    names = "".join(f"  {i}: {name}\n" for i, name in enumerate(known))
    # Without `path`, readers look beside this file; with `path: .` where they were started.
    text = f"train: images\nval: images\nnames:\n{names}"
    (out / "data.yaml").write_text(text, encoding="utf-8")
    return count
