"""One frame of a camera: from where it is taken to the bytes of its files.

Who draws is a `Draughtsman`: given a scene and a shot it returns passes by name, as
`render.picture` has them. What is drawn and how a pass becomes files is said here once, for every
draughtsman.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.flight import NANOSECONDS, Motion, Mounting, rotate
from seatrial.dataset.pictures.boxes import Instances, boxes, instances
from seatrial.dataset.pictures.pixels import coded_depth, coded_normals, exr, png
from seatrial.render.picture import LETTERS, Lens, Light, Passes, Shot, Stage, srgb

Array = NDArray[np.float64]

DEPTH_RANGE = (0.0, 65.535)
"""Of depths in 16 bits, m: a millimetre to the step (eq. 4.1 of the thesis)."""
BRIGHTNESS = 0.3
"""Mean of a picture that auto-exposure aims at, linear: at 0.18, that of a grey card, the clear sky
that fills half a picture of the sea looks like dusk."""

FILES: dict[str, tuple[str, ...]] = {
    "A": ("png", "exr"),
    "B": ("png",),
    "C": ("png",),
    "D": ("png", "exr"),
    "E": ("png",),
    "F": ("png", "exr"),
    "G": ("png", "exr"),
    "H": ("png",),
    "I": ("png",),
    "J": ("png",),
    "K": ("exr",),
    "L": ("json",),
}
"""Endings of the files of every pass, by letter."""


@dataclass(frozen=True)
class Frame:
    """One frame of a camera, which is a piece of work."""

    camera: int
    """Among those of the dataset."""
    number: int


@dataclass(frozen=True)
class Take(Frame):
    """A frame, and from where it is taken."""

    shot: Shot
    following: Shot
    """The next one, to which optical flow leads."""


Draughtsman = Callable[[Take], Passes]
"""Draws a frame of the stage that it was made for."""


@dataclass(frozen=True)
class Viewpoint:
    """A camera on its vehicle."""

    mounting: Mounting
    lens: Lens
    lamps: tuple[Light, ...]
    """Of the vehicle, in its own axes."""
    exposure: float = 0.01
    """How long the shutter is open, s."""

    def shot(self, motion: Motion, others: Array | None) -> Shot:
        """At one instant."""
        place = motion.of(self.mounting)
        turn = motion.attitude[0]
        lights = tuple(
            lamp._replace(
                position=motion.position[0] + rotate(turn, np.asarray(lamp.position)),
                direction=rotate(turn, np.asarray(lamp.direction)),
            )
            for lamp in self.lamps
        )
        return Shot(
            place.position[0],
            place.attitude[0],
            float(motion.stamp[0]) / NANOSECONDS,
            self.lens,
            lights,
            others,
            exposure=self.exposure,
        )


class Drawn(NamedTuple):
    """Files of a frame: letter, ending, bytes."""

    letter: str
    ending: str
    data: bytes


def files_of(passes: Passes, letters: str, shot: Shot, known: Instances) -> list[Drawn]:
    """What goes to the disk of what was drawn."""
    files = {}
    exposed = exposure(passes["colour"])
    for letter in letters:
        if letter == "L":
            numbers = known.number[passes["instance"]]
            files["L", "json"] = boxes(known, numbers, shot)
            continue
        array = passes[LETTERS[letter]]
        for ending in FILES[letter]:
            files[letter, ending] = _encoded(letter, ending, array, exposed, known)
    return [Drawn(letter, ending, data) for (letter, ending), data in files.items()]


def exposure(colour: NDArray[np.floating[Any]]) -> float:
    """Factor that brings the mean of a picture to `BRIGHTNESS`, as far as the brightest hundredth
    is not driven beyond white by more than double."""
    light = colour.mean(axis=-1)
    mean, bright = float(light.mean()), float(np.quantile(light, 0.99))
    return min(BRIGHTNESS / max(mean, 1e-9), 2.0 / max(bright, 1e-9))


def _encoded(
    letter: str, ending: str, array: NDArray[Any], exposed: float, known: Instances
) -> bytes:
    if ending == "exr":
        if letter == "D":
            return exr({"Z": array}, half=False)
        if letter == "K":
            return exr({"X": array[..., 0], "Y": array[..., 1]}, half=False)
        return exr({name: array[..., i] for i, name in enumerate("RGB")}, half=True)
    if letter in "AFG":
        return png(srgb(exposed * array))
    if letter in "BH":
        return png(srgb(array))
    if letter == "C":
        return png(coded_normals(array))
    if letter == "D":
        return png(coded_depth(array, DEPTH_RANGE))
    if letter == "E":
        return png(np.rint(255.0 * np.clip(array, 0.0, 1.0)).astype(np.uint8))
    if letter == "I":
        return png(known.number[array])
    return png(array.astype(np.uint8))


@dataclass(frozen=True)
class Painter:
    """Draws frames of one scene; goes over to a worker and is set up there."""

    stage: Stage
    letters: str
    make: Callable[[Stage], Draughtsman]

    def __call__(self) -> Callable[[Take], tuple[Frame, list[Drawn]]]:
        """The function that draws."""
        draw = self.make(self.stage)
        known = instances(self.stage.rays.bodies)
        return lambda take: (take, files_of(draw(take), self.letters, take.shot, known))
