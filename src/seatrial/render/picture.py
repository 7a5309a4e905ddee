"""What a picture is asked for, and what comes back: the contract of everything that draws.

Who draws is given a `Stage` (everything that can be seen, and the light) and a `Shot` (a camera at
an instant), and returns passes by name: arrays of the picture's rows and columns.

    colour     (H, W, 3) float32, linear radiance; 1 is a white surface square to the sun above
               the air (`render.sky`)
    depth      (H, W) float32, along the camera's axis to what the ray meets first, m; the surface
               of the water counts; infinite where there is nothing
    normals    (H, W, 3) float32, of what is met, unit, NED, towards the camera; 0 for nothing
    instance   (H, W) uint16: 0 nothing, 1 the surface of the water, 2 the bottom, 3 + i body i
    category   (H, W) uint8: place in `categories(stage.rays)`
    albedo     (H, W, 3) float32, colour of what is met without light and water; 0 for the surface
               of the water, and for nothing

A camera looks along its x axis, with the columns of the picture towards y and its rows towards z,
as every sensor's axes are.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.lens import Distortion, pixel_rays
from seatrial.render.sky import Sky
from seatrial.render.water import Medium

Array = NDArray[np.float64]
Passes = dict[str, NDArray[Any]]

STRAIGHT = Distortion()
NOTHING, SURFACE, BOTTOM, FIRST_BODY = 0, 1, 2, 3
"""Numbers of instances; those of bodies count on from the last."""


REACH = 20_000.0
"""How far a camera sees, m."""
LETTERS = {
    "A": "colour",
    "B": "uniform",
    "C": "normals",
    "D": "depth",
    "E": "shadow",
    "F": "direct",
    "G": "indirect",
    "H": "albedo",
    "I": "instance",
    "J": "category",
    "K": "flow",
}
"""Passes by their letters: A to G are those of Zwilgmeyer (2021, table 4.5)."""


class Aperture(NamedTuple):
    """Opening of a lens."""

    radius: float = 0.0
    """m; 0 of a pinhole, by which everything is sharp."""
    focus: float = 1.0
    """Distance along the axis at which things are sharp, m."""


def aperture(focal_length: float, f_number: float, focus: float) -> Aperture:
    """Of a lens of a focal length in m; that of Zwilgmeyer (2021) has 3.4 mm and 1.7."""
    return Aperture(0.5 * focal_length / f_number, focus)


PINHOLE = Aperture()


@dataclass(frozen=True)
class Lens:
    """Size of the picture, and where its pixels look."""

    width: int
    height: int
    focal_length: float
    """Pixels."""
    distortion: Distortion = STRAIGHT
    aperture: Aperture = PINHOLE
    """Only path-traced pictures show it."""

    @cached_property
    def rays(self) -> Array:
        """(H W, 3) unit vectors through the middles of the pixels, row by row, camera's axes."""
        found = pixel_rays(self.width, self.height, self.focal_length, self.distortion)
        if found is None:
            raise ValueError("this distortion folds the picture over within its frame")
        return found

    @cached_property
    def columns(self) -> NDArray[np.float32]:
        """(3, H W) the same, component by component, in single precision."""
        return np.ascontiguousarray(self.rays.T, np.float32)

    def pixel_steps(self, x: Array, y: Array) -> tuple[Array, Array]:
        """(2, P) how directions (1, x, y) change from a pixel to the next, right and down."""
        aside, below = self.distortion.steps(x, y)
        return aside / self.focal_length, below / self.focal_length


class Motion(NamedTuple):
    """How a camera moves while its rows are taken."""

    velocity: Array
    """(3,) NED, m/s."""
    turn: Array
    """(3,) about its own axes, rad/s."""
    late: Array
    """(H,) when each row is taken, from the shot's time on, s."""


class Light(NamedTuple):
    """A lamp with a round beam.

    Its intensity at the angle θ from the axis is I₀ cos^n θ' with n such that half of it is left at
    the edge of the beam; nothing shines backwards.
    """

    position: Array
    """(3,) NED, m."""
    direction: Array
    """(3,) unit, NED."""
    intensity: float
    """On the axis, cd."""
    half_angle: float
    """From the axis to where half of it is left, rad."""
    colour: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Shares of red, green and blue."""

    @property
    def exponent(self) -> float:
        """n."""
        return float(np.log(0.5) / np.log(max(np.cos(min(self.half_angle, 1.4)), 1e-3)))


@dataclass(frozen=True)
class Stage:
    """Everything that can be seen, and the light on it."""

    rays: RayScene
    ocean: Ocean
    sky: Sky
    water: Medium


@dataclass(frozen=True)
class Shot:
    """A camera at an instant."""

    position: Array
    """(3,) NED, m."""
    attitude: Array
    """(4,) quaternion, scalar first, camera's axes to the world's."""
    time: float
    """Since the start, s."""
    lens: Lens
    lights: tuple[Light, ...] = ()
    others: Array | None = None
    """(V, 7) place and quaternion of every vehicle among the bodies, in their order; NaN for one
    that is not to be seen, and None for none."""
    motion: Motion | None = None
    """None where all rows are taken at once."""
    exposure: float = 0.01
    """How long the shutter is open, s."""


def categories(rays: RayScene) -> tuple[str, ...]:
    """Names of the classes: nothing, water, bottom, then kinds of bodies in order of appearance."""
    kinds = dict.fromkeys(kind_of(body.shape, body.kind) for body in rays.bodies)
    return ("nothing", "water", "bottom", *kinds)


def category_of_instance(rays: RayScene) -> NDArray[np.uint8]:
    """(FIRST_BODY + bodies,) class of every instance."""
    names = categories(rays)
    bodies = [names.index(kind_of(body.shape, body.kind)) for body in rays.bodies]
    return np.array([NOTHING, SURFACE, BOTTOM, *bodies], np.uint8)


def kind_of(shape: str, kind: str) -> str:
    """Class of a body: vehicles are vehicles, whatever they are called."""
    return shape if shape in ("vehicle", "vessel") else kind or shape


def srgb(colour: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Linear shares as 8-bit sRGB (IEC 61966-2-1)."""
    c = np.clip(colour, 0.0, 1.0)
    curved = np.where(c <= 0.0031308, 12.92 * c, 1.055 * np.power(c, 1.0 / 2.4) - 0.055)
    return np.asarray(np.rint(255.0 * curved), np.uint8)
