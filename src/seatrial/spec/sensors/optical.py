"""Descriptions of sensors that send light."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import Metres, Plain, Radians, Spec
from seatrial.spec.sensors.base import SensorSpec

Share = Annotated[Plain, Field(ge=0, le=1)]

MOST_POINTS = 1_000_000
"""Of one sweep."""


class LidarModel(Spec):
    """A make of LiDAR: where its beams point, how far they reach, and how good they are.

    A sweep is a number of columns, one after the other from `first_azimuth` to `last_azimuth`, and
    each column has all beams, from `lowest` to `highest` in equal steps. Azimuths count clockwise
    from the sensor's x axis seen from above, elevations up from its xy plane.
    """

    kind: Literal["lidar"] = "lidar"
    """Says that this file describes a make of LiDAR."""
    name: Annotated[str, Field(min_length=1, max_length=80)]
    """Short name."""
    description: str = ""
    """One or two sentences for people."""
    source: str = ""
    """Where the numbers come from."""
    beams: Annotated[int, Field(ge=1, le=256)] = 1
    """In a column; 1 for a scanner of one plane."""
    lowest: Annotated[Radians, Field(ge=-1.58, le=1.58)] = 0.0
    """Elevation of the lowest beam."""
    highest: Annotated[Radians, Field(ge=-1.58, le=1.58)] = 0.0
    """Elevation of the highest beam."""
    columns: Annotated[int, Field(ge=1, le=100_000)]
    """In a sweep."""
    first_azimuth: Annotated[Radians, Field(ge=-math.pi, le=math.pi)] = -math.pi
    """Where a sweep begins."""
    last_azimuth: Annotated[Radians, Field(ge=-math.pi, le=math.pi)] = math.pi
    """Where it ends: the last column of a sector, or where the full circle is closed."""
    minimum_range: Annotated[Metres, Field(ge=0, le=100)] = 0.1
    """Nearer returns are not told."""
    range: Annotated[Metres, Field(gt=0, le=5000)]
    """Farther returns are not told."""
    reference_range: Annotated[Metres, Field(gt=0, le=5000)]
    """How far a surface of `reference_reflectance` square to the beam is seen in clear air."""
    reference_reflectance: Annotated[Plain, Field(gt=0, le=1)] = 0.1
    """Of that surface."""
    noise: Annotated[Metres, Field(ge=0, le=10)] = 0.02
    """Standard deviation of a range."""
    resolution: Annotated[Metres, Field(ge=0, le=1)] = 0.0
    """Step of the ranges, in `full`; 0 for none."""
    divergence: Annotated[Radians, Field(ge=0, le=0.1)] = 0.003
    """Full angle of a beam, between the points of 1/e² of its intensity; in `full`."""
    intensity_noise: Share = 0.05
    """Standard deviation of an intensity, over itself."""
    dropout: Share = 0.001
    """Share of returns that are lost for no reason."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.highest < self.lowest:
            raise ValueError(
                f"`highest` of {self.highest:g} rad must not be below `lowest` of "
                f"{self.lowest:g} rad"
            )
        if (self.beams == 1) != (self.highest == self.lowest):
            raise ValueError(
                f"{self.beams} beams lie between `lowest` {self.lowest:g} and `highest` "
                f"{self.highest:g} rad: one beam has both alike, several have not"
            )
        if self.first_azimuth == self.last_azimuth:
            raise ValueError("`first_azimuth` and `last_azimuth` must differ")
        if self.minimum_range >= self.range:
            raise ValueError(
                f"`minimum_range` of {self.minimum_range:g} m must be below `range` of "
                f"{self.range:g} m"
            )
        if self.beams * self.columns > MOST_POINTS:
            raise ValueError(
                f"a sweep of {self.beams} beams and {self.columns} columns has "
                f"{self.beams * self.columns:,} points, more than {MOST_POINTS:,}"
            )
        return self


class Lidar(SensorSpec):
    """A LiDAR in the air: ranges and intensities of what its beams meet.

    Its array is a cloud of points with the fields `x`, `y`, `z` (sensor's axes, m), `intensity`,
    `ring` (number of the beam, from the lowest) and `time` (from the sample, at which the sweep
    ends, s; not above 0); a beam that met nothing is NaN. With one beam the array is a scan: a row
    of ranges, infinite where it met nothing, and a row of intensities. Its numbers are `nearest`
    (m; `range` where nothing was met) and `returns` (share of the beams that met something).

    An intensity is the share of light that a surface square to the beam would scatter back:
    reflectance times the cosine of the incidence, less what fog and rain took.

    `ideal` tells the exact range of everything within `range`, all at one instant; the sea returns
    nothing. `nominal` adds noise, dropouts, faint surfaces that are lost, fog and rain (the world's
    `weather`) with false returns from drops, and glints of the waves. `full` adds the motion of the
    vehicle during the sweep, the divergence of the beams and the resolution. Nothing is seen
    through the surface of the water, and from below it nothing at all.
    """

    type: Literal["lidar"]
    """Selects this sensor."""
    model: LidarModel
    """Name of a make in the library (`vlp16`, `os1_64`, `tim571`), a file, or its numbers in
    place."""
