"""What those who follow light are given, and what they return: a picture in parts."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from seatrial.render.traced.truth import Truth

Array = NDArray[np.float64]
Picture = NDArray[np.float32]


class Split(NamedTuple):
    """A picture in parts by what a path of light meets first, seen from the camera; (H, W, 3)."""

    surface: Picture
    """Light from surfaces."""
    direct: Picture
    """Light that the water scattered once."""
    indirect: Picture
    """Light that the water scattered, after further meetings."""
    clear: Picture
    """Share of the background that is seen."""


class Water(NamedTuple):
    """In which paths go; all zero in the air."""

    attenuation: Array
    """(3,) c, 1/m."""
    scattering: Array
    """(3,) b, 1/m."""
    mean_cosine: float


class Shapes(Protocol):
    """Everything that light may meet, as objects of Mitsuba's."""

    truth: Truth

    def __call__(self, black: bool = False, exterior: Any = None) -> list[Any]:
        """With their looks, or all black; in a medium, where it must be told."""
        ...


AIR = Water(np.zeros(3), np.zeros(3), 0.0)
