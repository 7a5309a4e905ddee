"""The two detection sets on the disk: pictures with masks and boxes, as COCO and YOLO too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seatrial.dataset.detection.craft import CLASSES
from seatrial.dataset.detection.scenes import SETS, scene
from seatrial.dataset.flight import Mounting
from seatrial.dataset.making import Making, Settings, check_counts, manifest_of
from seatrial.dataset.names import camera_folder
from seatrial.dataset.pictures.boxes import instances
from seatrial.dataset.pictures.drawing import Drawn, Frame, files_of
from seatrial.dataset.sequence import Camera, Dataset, read_dataset
from seatrial.render.live.draw import draw
from seatrial.render.picture import Lens

LETTERS = "AIL"
FIELD_OF_VIEW = 1.2
"""rad."""
_LEVEL = Mounting((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Sketcher:
    """Draws pictures of a set by their numbers."""

    seed: int
    name: str
    lens: Lens

    def __call__(self) -> Callable[[Frame], tuple[Frame, list[Drawn]]]:
        """The function that draws."""
        return self.draw

    def draw(self, frame: Frame) -> tuple[Frame, list[Drawn]]:
        """One picture."""
        stage, shot = scene(self.seed, self.name, frame.number, self.lens)
        passes = draw(stage, shot, ("colour", "instance"))
        return frame, files_of(passes, LETTERS, shot, instances(stage.rays.bodies))


def make_detection_sets(
    out: str | Path,
    images: int,
    seed: int = 0,
    width: int = 640,
    height: int = 480,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
    sets: Sequence[str] = tuple(SETS),
) -> list[Dataset]:
    """The sets, each in a folder of its own; what is there already is kept."""
    check_counts(images=images, width=width, height=height, workers=workers)
    focal = 0.5 * width / np.tan(0.5 * FIELD_OF_VIEW)
    lens = Lens(width, height, float(focal))
    found = []
    for k, name in enumerate(sets):
        folder = Path(out) / name
        camera = Camera(
            folder=camera_folder(0, "M0"),
            name="camera",
            vehicle=0,
            camera="M0",
            rate=0.0,
            frames=images,
            width=width,
            height=height,
            intrinsics=(lens.focal_length,) * 2 + (0.5 * (width - 1), 0.5 * (height - 1)),
            distortion=(0.0,) * 5,
            mounting=_LEVEL,
        )
        described = {"scenario": f"detection, {name}", "seed": seed, "vehicles": ["camera"]}
        settings = Settings(f"d{list(SETS).index(name)}", "live", LETTERS)
        making = Making(folder, manifest_of(described, settings, [camera], CLASSES))
        try:
            if making.manifest is None:
                making.begin([])
            frames = making.missing([Frame(0, i) for i in range(images)])
            share = None if progress is None else (lambda s, k=k: progress((k + s) / len(sets)))
            making.draw(Sketcher(seed, name, lens), frames, workers, share)
            making.finish()
        finally:
            making.close()
        found.append(read_dataset(folder))
    return found
