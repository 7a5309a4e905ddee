"""Descriptions of cameras: of light, of depth and of heat."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.conventions import RendererName
from seatrial.spec.base import Metres, Number, Plain, Radians, Seconds, Spec, Unit
from seatrial.spec.sensors.base import SensorSpec

Coefficient = Annotated[Plain, Field(ge=-10, le=10)]
Share = Annotated[Plain, Field(ge=0, le=1)]

MOST_PIXELS = 16_000_000
"""Of one picture."""


class Imager(SensorSpec):
    """What cameras of all kinds share: a picture and its lens.

    A camera looks along the sensor's x axis, with the columns of the picture towards y and its rows
    towards z.

    Lens distortion is Brown's, as in OpenCV's and ROS's `plumb_bob`: with x and y over the depth,
    r² = x² + y²,

        x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) + 2 p1 x y + p2 (r² + 2 x²)
        y' = y (1 + k1 r² + k2 r⁴ + k3 r⁶) + p1 (r² + 2 y²) + 2 p2 x y
    """

    width: Annotated[int, Field(ge=1, le=8192)] = 640
    """Columns of the picture."""
    height: Annotated[int, Field(ge=1, le=8192)] = 480
    """Rows of the picture."""
    field_of_view: Annotated[Radians, Field(gt=0, le=3.0)] = 1.2
    """Horizontally, of the picture without distortion."""
    k1: Coefficient = 0.0
    """First coefficient of radial distortion."""
    k2: Coefficient = 0.0
    """Second coefficient of radial distortion."""
    k3: Coefficient = 0.0
    """Third coefficient of radial distortion."""
    p1: Coefficient = 0.0
    """First coefficient of tangential distortion."""
    p2: Coefficient = 0.0
    """Second coefficient of tangential distortion."""

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if self.width * self.height > MOST_PIXELS:
            raise ValueError(
                f"a picture of {self.width} x {self.height} has more than {MOST_PIXELS:,} pixels"
            )
        return self


class Camera(Imager):
    """A camera for visible light, above or below the water.

    Its array is a picture of 8-bit sRGB, or what `shows` names in its place: `depth` (m along the
    axis, infinite for nothing; the surface of the water counts), `normals` (NED, of what is seen),
    `instance` (0 nothing, 1 the water's surface, 2 the bottom, 3 and on the bodies in the order of
    the scene, vehicles first) or `category` (the class of the same; names in the sensor's fields).
    Its numbers are `exposure` (s), `gain` and `brightness` (mean of the picture, from 0 to 1).

    `ideal` draws what light does and nothing else. `nominal` adds the lens's vignetting and the
    noise of the chip. `full` adds the motion during the exposure, and a rolling shutter where there
    is one.
    """

    type: Literal["camera"]
    """Selects this sensor."""
    renderer: RendererName = "rays"
    """Who draws: `rays`, which need nothing more and give the same bytes everywhere, or `shaders`,
    on a GPU or on Mesa in software (`pip install 'seatrial[shaders]'`), faster and with small
    differences."""
    shows: Literal["colour", "depth", "normals", "instance", "category"] = "colour"
    """What the picture tells of every pixel."""
    auto_exposure: bool = True
    """Whether every picture is exposed so that its mean is `brightness`; otherwise `exposure_time`
    and `gain` are used as they are."""
    exposure_time: Annotated[Seconds, Field(gt=0, le=10)] = 0.01
    """For which the shutter is open; with `auto_exposure` the longest."""
    gain: Annotated[Plain, Field(ge=1, le=1000)] = 16.0
    """By which the chip amplifies; with `auto_exposure` the greatest."""
    f_number: Annotated[Plain, Field(ge=0.7, le=64)] = 2.8
    """Focal length over the diameter of the aperture."""
    focal_length: Annotated[Metres, Field(gt=0, le=10)] | None = None
    """Of the lens."""
    pixel_size: Annotated[Metres, Field(gt=0, le=0.001)] | None = None
    """Side of a pixel; with `focal_length` it says the `field_of_view`."""
    focus: Annotated[Metres, Field(gt=0, le=1e6)] | None = None
    """Distance at which path-traced pictures are sharp, with a lens of `focal_length` and
    `f_number`; everything is sharp when left out."""
    brightness: Annotated[Plain, Field(gt=0, lt=1)] = 0.18
    """Mean of the linear picture that `auto_exposure` aims at, its brightest tenth cut off, which
    is left to burn out."""
    full_well: Annotated[Number, Field(ge=100, le=1e6), Unit("1")] = 10_000.0
    """Electrons of a pixel that is white at a gain of 1: their number has Poisson's noise."""
    read_noise: Annotated[Number, Field(ge=0, le=1000), Unit("1")] = 3.0
    """Standard deviation of the electrons that reading adds."""
    noise_scale: Annotated[Plain, Field(gt=0, le=10)] | None = None
    """k of a noise that multiplies each pixel by clamp(k (1 + N(0, 1)), `noise_low`, `noise_high`);
    none when left out."""
    noise_low: Annotated[Plain, Field(gt=0, le=10)] = 0.9
    """Least factor of that noise."""
    noise_high: Annotated[Plain, Field(gt=0, le=10)] = 1.1
    """Greatest factor of that noise."""
    vignetting: Annotated[Plain, Field(ge=0, le=4)] = 0.5
    """v of cos(angle from the axis)^(4 v): 1 for a plain lens, 0 for none."""
    shutter: Literal["global", "rolling"] = "global"
    """Whether all rows are exposed at once, or one after the other from the top."""
    line_time: Annotated[Seconds, Field(ge=0, le=0.01)] = 2e-5
    """From row to row of a rolling shutter."""
    baseline: Annotated[Metres, Field(ge=0, le=100)] = 0.0
    """Of the right camera of a stereo pair: how far it stands to the right of the left one, for its
    projection matrix."""
    compression: Literal["none", "jpeg", "png"] = "none"
    """How the picture is sent and recorded; `jpeg` loses a little of it."""
    quality: Annotated[int, Field(ge=1, le=100)] = 90
    """Of `jpeg`."""

    @model_validator(mode="after")
    def _check_camera(self) -> Self:
        if self.focal_length is None:
            for name in ("pixel_size", "focus"):
                if getattr(self, name) is not None:
                    raise ValueError(f"`{name}` needs the `focal_length` of the lens")
        elif self.pixel_size is not None:
            wide = 2.0 * math.atan(0.5 * self.width * self.pixel_size / self.focal_length)
            if "field_of_view" not in self.model_fields_set:
                object.__setattr__(self, "field_of_view", wide)
            elif abs(wide - self.field_of_view) > 1e-6:
                raise ValueError(
                    f"`focal_length` and `pixel_size` make a `field_of_view` of {wide:.6g} rad, "
                    f"found {self.field_of_view:.6g}: leave one of them out"
                )
        if self.noise_low > self.noise_high:
            raise ValueError(
                f"`noise_low` of {self.noise_low:g} must not be above `noise_high` of "
                f"{self.noise_high:g}"
            )
        if self.compression == "jpeg" and self.shows != "colour":
            raise ValueError(f"`jpeg` would spoil {self.shows}: use `png` or no compression")
        if self.compression == "png" and self.shows in ("depth", "normals"):
            raise ValueError(f"`png` cannot hold {self.shows} in single precision: leave it out")
        if self.shutter == "rolling" and self.line_time * self.height * self.rate > 1.0:
            raise ValueError(
                f"{self.height} rows of {self.line_time:g} s take longer than the "
                f"{1.0 / self.rate:g} s from picture to picture: shorten `line_time`"
            )
        if self.exposure_time * self.rate > 1.0:
            raise ValueError(
                f"an exposure of {self.exposure_time:g} s is longer than the {1.0 / self.rate:g} s "
                "from picture to picture"
            )
        return self


class PathTracing(Spec):
    """How datasets are drawn by paths of light (`seatrial dataset --renderer traced`)."""

    samples: Annotated[int, Field(ge=1, le=100_000)] = 64
    """Paths per pixel."""
    bounces: Annotated[int, Field(ge=1, le=1000)] = 16
    """How often light on its way may meet water or a surface."""
    diffuse_bounces: Annotated[int, Field(ge=0, le=1000)] | None = None
    """How often it may go on from a dull surface; as often as `bounces` when left out. This and
    the two below need a GPU or LLVM 19."""
    glossy_bounces: Annotated[int, Field(ge=0, le=1000)] | None = None
    """How often it may go on from one that shines."""
    volume_bounces: Annotated[int, Field(ge=0, le=1000)] | None = None
    """How often water may scatter it."""
    denoise: Literal["none", "box", "oidn"] = "oidn"
    """What takes the noise out: nothing, a mean over 3 x 3 pixels, or Open Image Denoise."""
    spectral: bool = False
    """Whether water takes light at four wavelengths of each colour, or at one."""


class DepthCamera(Imager):
    """A camera that gives the depth of every pixel, along its axis.

    Its array is an image of depths, m: infinite where there is nothing within `range`, −infinite
    where something is nearer than `minimum_range`. Its number is `nearest` (m; `range` where there
    is nothing). The surface of the water ends the view, from above and from below.

    Noise multiplies each depth by w = clamp(k (1 + N(0, 1)), low, high), in `nominal` and `full`.
    """

    type: Literal["depth_camera"]
    """Selects this sensor."""
    minimum_range: Annotated[Metres, Field(ge=0, le=100)] = 0.2
    """Least depth that is told."""
    range: Annotated[Metres, Field(gt=0, le=5000)] = 30.0
    """Greatest depth that is told."""
    noise_scale: Annotated[Plain, Field(gt=0, le=10)] = 1.0
    """k of the noise."""
    noise_low: Annotated[Plain, Field(gt=0, le=10)] = 0.99
    """Least factor of the noise."""
    noise_high: Annotated[Plain, Field(gt=0, le=10)] = 1.01
    """Greatest factor of the noise."""

    @model_validator(mode="after")
    def _check_ranges(self) -> Self:
        if self.minimum_range >= self.range:
            raise ValueError(
                f"`minimum_range` of {self.minimum_range:g} m must be below `range` of "
                f"{self.range:g} m"
            )
        if self.noise_low > self.noise_high:
            raise ValueError(
                f"`noise_low` of {self.noise_low:g} must not be above `noise_high` of "
                f"{self.noise_high:g}"
            )
        return self


class ThermalCamera(Imager):
    """A camera for heat, between 8 and 14 µm.

    Its array is a picture of temperatures that a black body of the same radiance would have, in
    hundredths of a kelvin. Its numbers are `lowest` and `highest` of them, K. What is seen is what
    surfaces emit, and what of the sky they reflect; surfaces are as warm as the air or, under
    water, as the water, and warmer in the sun. Water is opaque to it.

    `nominal` and `full` add noise.
    """

    type: Literal["thermal_camera"]
    """Selects this sensor."""
    noise: Annotated[Number, Field(ge=0, le=10), Unit("K")] = 0.05
    """Standard deviation of a pixel (NETD), K."""
