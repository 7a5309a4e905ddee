"""Descriptions of sensors that tell who else is about."""

import math
from typing import Annotated, Literal

from pydantic import Field

from seatrial.spec.base import Metres, MetresPerSecond, Plain, Radians
from seatrial.spec.sensors.base import Hertz, SensorSpec

Room = Annotated[int, Field(ge=1, le=64)]
Deviation = Annotated[Metres, Field(ge=0, le=1e4)]
SpeedDeviation = Annotated[MetresPerSecond, Field(ge=0, le=100)]
AngleDeviation = Annotated[Radians, Field(ge=0, le=math.pi)]
Range = Annotated[Metres, Field(gt=0, le=1e6)]
Margin = Annotated[Metres, Field(ge=-10, le=10)]


class Ais(SensorSpec):
    """An AIS receiver; `position` is the place of its antenna.

    Every vehicle and every moving obstacle of the run sends reports, unless it is under water. A
    measurement holds the nearest `contacts`: identity (0 for none), north, east, course, speed,
    heading, length and beam, rounded as in ITU-R M.1371-5. `nominal` and `full` are the same.
    """

    type: Literal["ais"]
    """Selects this sort of sensor."""
    rate: Annotated[Hertz, Field(gt=0, le=10_000)] = 0.5
    """Reports per second: every 2 s is class A at speed, 1/30 Hz is class B."""
    contacts: Room = 8
    """Room for so many in a measurement."""
    reach: Range = 37_000.0
    """Radio range; 20 nautical miles is usual between ships."""
    position_noise: Deviation = 2.1
    """Of the others' own receivers, north and east, each: what a GNSS receiver without corrections
    has."""
    course_noise: AngleDeviation = math.radians(2.0)
    """Of the course that they report."""
    speed_noise: SpeedDeviation = 0.05
    """Of the speed that they report."""
    heading_noise: AngleDeviation = math.radians(1.0)
    """Of the heading that they report."""
    loss: Annotated[Plain, Field(ge=0, lt=1)] = 0.1
    """Probability that a report is lost in the air."""
    margin: Margin = 0.0
    """Nothing is heard while the antenna is less than this above the water, waves included."""


class Radar(SensorSpec):
    """A radar with automatic plotting; `position` is the place of its antenna, `yaw` turns its bow.

    A measurement holds the nearest `contacts`: identity (0 for none), range, bearing from the
    radar's x axis, course, speed and length. The plotter tells contacts apart without error.
    `nominal` and `full` are the same.
    """

    type: Literal["radar"]
    """Selects this sort of sensor."""
    rate: Annotated[Hertz, Field(gt=0, le=10_000)] = 0.5
    """Sweeps per second; 24 revolutions per minute are 0.4 Hz."""
    contacts: Room = 8
    """Room for so many in a measurement."""
    reach: Range = 5_000.0
    """Range scale."""
    least_range: Annotated[Metres, Field(ge=0, le=1e4)] = 10.0
    """Echoes from nearer than this are lost."""
    blind: Annotated[Radians, Field(ge=0, le=2 * math.pi)] = 0.0
    """Width of the sector astern in which a mast or funnel hides everything."""
    range_noise: Deviation = 3.0
    """White noise of the range."""
    bearing_noise: AngleDeviation = math.radians(0.5)
    """White noise of the bearing."""
    course_noise: AngleDeviation = math.radians(3.0)
    """Of the plotted course."""
    speed_noise: SpeedDeviation = 0.2
    """Of the plotted speed."""
    length_noise: Deviation = 1.0
    """Of the plotted length."""
    half_range: Range = 3_000.0
    """At which a vessel of `half_length` is seen in half of the sweeps; one of half this length at
    0.7 of the range. `reach` does not change that."""
    half_length: Annotated[Metres, Field(gt=0, le=1e3)] = 5.0
    """See `half_range`."""
    margin: Margin = 0.0
    """Nothing is seen while the antenna is less than this above the water, waves included."""
