"""Descriptions of sensors that draw with sound or radio waves."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import Metres, MetresPerSecond, Number, Radians, Seconds, Unit
from seatrial.spec.sensors.base import Hertz, SensorSpec
from seatrial.spec.sensors.ranging import Decibels, one_ping_at_a_time

Narrow = Annotated[Radians, Field(ge=0.0017, le=0.53)]
"""0.1 to 30 degrees."""
Wide = Annotated[Radians, Field(ge=0.017, le=1.4)]
"""1 to 80 degrees."""
Rays = Annotated[int, Field(ge=8, le=4096)]
Bins = Annotated[int, Field(ge=8, le=8192)]
Watts = Annotated[Number, Unit("W")]


class Sonar(SensorSpec):
    """What sonars that draw share."""

    frequency: Annotated[Hertz, Field(ge=10e3, le=3e6)]
    """Of the sound; sets how much the water absorbs."""
    pulse_length: Annotated[Seconds, Field(ge=1e-6, le=0.1)]
    """How long a ping lasts; half of it times the sound speed is the resolution in range. Of a
    coded pulse, the length after compression."""
    range: Annotated[Metres, Field(gt=0, le=10_000)]
    """Where the last bin ends."""
    minimum_range: Annotated[Metres, Field(ge=0)] = 0.2
    """Nearer than this nothing is heard."""
    source_level: Annotated[Decibels, Field(ge=100, le=260)]
    """On the axis at 1 m, dB re 1 µPa."""
    self_noise: Annotated[Decibels, Field(ge=-50, le=150)] = 30.0
    """The device's own noise and the vehicle's, as a spectrum level, dB re 1 µPa²/Hz; the noise of
    the water's heat comes on top. An assumption."""

    @model_validator(mode="after")
    def _a_ping_at_a_time(self) -> Self:
        one_ping_at_a_time(self.rate, self.range, self.minimum_range)
        return self


class ImagingSonar(Sonar):
    """An imaging (forward-looking) sonar: a picture of beams by range in every ping.

    It looks along the sensor's x axis; its beams are fanned out about the z axis, port first. A
    measurement has the number `sound_speed` (at the sonar, with which it counts range) and as its
    array the levels of all beams over range, dB re 1 µPa, without time-varied gain. `ideal` is the
    mean echo without speckle and noise; `nominal` and `full` are the same. The defaults are of the
    class of a compact sonar of 750 kHz.
    """

    type: Literal["imaging_sonar"]
    """Selects this sensor."""
    frequency: Annotated[Hertz, Field(ge=10e3, le=3e6)] = 750e3
    """Of the sound; sets how much the water absorbs."""
    pulse_length: Annotated[Seconds, Field(ge=1e-6, le=0.1)] = 5e-5
    """How long a ping lasts; half of it times the sound speed is the resolution in range. Of a
    coded pulse, the length after compression."""
    range: Annotated[Metres, Field(gt=0, le=10_000)] = 40.0
    """Where the last bin ends."""
    source_level: Annotated[Decibels, Field(ge=100, le=260)] = 205.0
    """On the axis at 1 m, dB re 1 µPa."""
    field_of_view: Annotated[Radians, Field(ge=0.01, le=3.0)] = math.radians(130.0)
    """From the first beam to the last."""
    beams: Annotated[int, Field(ge=2, le=2048)] = 512
    """Equally spaced."""
    beamwidth: Narrow = math.radians(1.0)
    """Of a beam across the fan, between its points of half power; two targets nearer than that
    merge. Each beam is formed of what all azimuths send, side lobes included."""
    vertical_beamwidth: Wide = math.radians(20.0)
    """Of the fan, between its points of half power, one way."""
    bins: Bins = 1000
    """Of equal length from the sonar to `range`."""
    rays: Rays = 256
    """Over elevation in each azimuth: they decide how sharp the edges of shadows are."""
    multipath: bool = False
    """Whether echoes that bounced once off the surface or the bottom are heard too."""


class MechanicalSonar(Sonar):
    """A mechanically scanning sonar: one narrow beam whose head turns by a step with every ping.

    The head turns about the sensor's z axis, from port to starboard; bearing 0 is along x. A
    measurement has the numbers `sound_speed` and `bearing` (of this ping), and as its array the
    levels over range, dB re 1 µPa, without time-varied gain. `ideal` is the mean echo without
    speckle and noise; `nominal` and `full` are the same. The defaults are of the class of a small
    scanning sonar of 700 kHz.
    """

    type: Literal["mechanical_sonar"]
    """Selects this sensor."""
    frequency: Annotated[Hertz, Field(ge=10e3, le=3e6)] = 700e3
    """Of the sound; sets how much the water absorbs."""
    pulse_length: Annotated[Seconds, Field(ge=1e-6, le=0.1)] = 1e-4
    """How long a ping lasts; half of it times the sound speed is the resolution in range. Of a
    coded pulse, the length after compression."""
    range: Annotated[Metres, Field(gt=0, le=10_000)] = 50.0
    """Where the last bin ends."""
    source_level: Annotated[Decibels, Field(ge=100, le=260)] = 205.0
    """On the axis at 1 m, dB re 1 µPa."""
    sector: Annotated[Radians, Field(gt=0, le=2 * math.pi)] = 2 * math.pi
    """Centred ahead; a full circle goes round and round, less turns back at its ends."""
    step: Annotated[Radians, Field(ge=0.001, le=1.6)] = math.radians(1.8)
    """Of the head, from ping to ping."""
    beamwidth: Narrow = math.radians(3.0)
    """Horizontal, between its points of half power, one way; it sends and hears with it."""
    vertical_beamwidth: Wide = math.radians(35.0)
    """Between its points of half power, one way."""
    bins: Bins = 500
    """Of equal length from the sonar to `range`."""
    rays: Rays = 160
    """Over elevation in each of some azimuths within the beam."""
    multipath: bool = False
    """Whether echoes that bounced once off the surface or the bottom are heard too."""

    @model_validator(mode="after")
    def _a_sector_of_steps(self) -> Self:
        if self.sector < self.step:
            raise ValueError(
                f"`step` of {self.step:g} rad is more than the `sector` of {self.sector:g} rad: "
                "widen the sector or shorten the step"
            )
        return self


class SideScan(Sonar):
    """A side-scan sonar: a line to port and a line to starboard in every ping.

    The sensor's x axis points along the track. A measurement has the number `sound_speed`, and as
    its array two rows, port and starboard, of levels over slant range, dB re 1 µPa, without
    time-varied gain. `ideal` is the mean echo without speckle and noise; `nominal` and `full` are
    the same. The defaults are of the class of an AUV's side-scan of 600 kHz.
    """

    type: Literal["side_scan"]
    """Selects this sensor."""
    frequency: Annotated[Hertz, Field(ge=10e3, le=3e6)] = 600e3
    """Of the sound; sets how much the water absorbs."""
    pulse_length: Annotated[Seconds, Field(ge=1e-6, le=0.1)] = 1e-4
    """How long a ping lasts; half of it times the sound speed is the resolution in range. Of a
    coded pulse, the length after compression."""
    range: Annotated[Metres, Field(gt=0, le=10_000)] = 60.0
    """Where the last bin ends: slant range on either side."""
    source_level: Annotated[Decibels, Field(ge=100, le=260)] = 215.0
    """On the axis at 1 m, dB re 1 µPa."""
    beamwidth: Narrow = math.radians(0.4)
    """Along the track, between its points of half power, one way."""
    vertical_beamwidth: Wide = math.radians(50.0)
    """Across the track, between its points of half power, one way."""
    depression: Annotated[Radians, Field(ge=0, le=1.5708)] = math.radians(35.0)
    """Of the axes of both fans below the horizontal."""
    bins: Bins = 1000
    """Of equal length on each side."""
    rays: Rays = 1024
    """Over the vertical fan of each side: they decide how sharp the edges of shadows are."""
    multipath: bool = False
    """Whether echoes that bounced once off the surface or the bottom are heard too."""


class Multibeam(Sonar):
    """A multibeam echo sounder: a swath of soundings across the track in every ping.

    It looks along the sensor's z axis, which is down when it is mounted level; beams are fanned out
    about x, port first. A measurement has the numbers `soundings`, how many there are, and
    `sound_speed` at the sensor, and as its array for every beam
    `x y z` in the sensor's axes, `intensity` (dB re 1 µPa), `range` (time there times the sound
    speed at the sonar) and `angle` (from z towards starboard); a beam without a sounding is NaN.

    Sound bends by the water's profile. `ideal` gives the places themselves, `nominal` adds noise
    and lost beams, `full` the one sound speed that the device assumes, where `sound_speed` is
    given. The defaults are of the class of a shallow-water sounder of 400 kHz.
    """

    type: Literal["multibeam"]
    """Selects this sensor."""
    frequency: Annotated[Hertz, Field(ge=10e3, le=3e6)] = 400e3
    """Of the sound; sets how much the water absorbs."""
    pulse_length: Annotated[Seconds, Field(ge=1e-6, le=0.1)] = 1e-4
    """How long a ping lasts; half of it times the sound speed is the resolution in range. Of a
    coded pulse, the length after compression."""
    range: Annotated[Metres, Field(gt=0, le=10_000)] = 70.0
    """Farther echoes are not waited for."""
    source_level: Annotated[Decibels, Field(ge=100, le=260)] = 215.0
    """On the axis at 1 m, dB re 1 µPa."""
    swath: Annotated[Radians, Field(ge=0.05, le=2.97)] = math.radians(130.0)
    """From the first beam to the last."""
    beams: Annotated[int, Field(ge=2, le=4096)] = 512
    """At equal angles."""
    beamwidth_along: Narrow = math.radians(1.0)
    """Along the track, between its points of half power."""
    beamwidth_across: Narrow = math.radians(0.5)
    """Across the track, of the beam straight down; towards the sides it grows."""
    range_noise: Annotated[Metres, Field(ge=0, le=100)] = 0.01
    """White noise of the range."""
    angle_noise: Annotated[Radians, Field(ge=0, le=0.2)] = math.radians(0.03)
    """White noise of the angle."""
    detection_over_noise: Annotated[Decibels, Field(ge=0, le=60)] = 10.0
    """How much an echo must stand out of the noise to give a sounding."""
    sound_speed: Annotated[MetresPerSecond, Field(ge=1300, le=1700)] | None = None
    """That the device takes for that of all the water, in `full`; none for one that knows the
    profile."""


class RadarImage(SensorSpec):
    """A marine radar's picture: echo power by azimuth and range, one revolution in every sample.

    `position` is the place of its antenna; azimuth 0 is along the sensor's x axis, the bow, and
    grows towards starboard. A measurement has the number `peak` (the strongest echo, dBm) and as
    its array the power of every azimuth over range, dBm, without time-varied gain. It sees what
    stands out of the water, the coast, and the waves themselves; what lies behind is in shadow. A
    sample is taken at the end of a revolution. `ideal` is the mean without noise and fluctuation,
    as of that instant; so is `nominal` with both. In `full` the antenna turns meanwhile: the vessel
    moves and heads on, and what she looks at moves too. The defaults are of the class of a small
    X-band radar.
    """

    type: Literal["radar_image"]
    """Selects this sensor."""
    rate: Annotated[Hertz, Field(gt=0, le=10)] = 0.4
    """Revolutions per second; 24 per minute are 0.4 Hz."""
    frequency: Annotated[Hertz, Field(ge=0.5e9, le=35e9)] = 9.4e9
    """Of the radio waves."""
    power: Annotated[Watts, Field(gt=0, le=1e6)] = 4000.0
    """Of a pulse, peak."""
    pulse_length: Annotated[Seconds, Field(ge=1e-9, le=1e-5)] = 8e-8
    """Half of it times the speed of light is the resolution in range."""
    beamwidth: Narrow = math.radians(1.8)
    """Horizontal, between its points of half power, one way."""
    vertical_beamwidth: Wide = math.radians(25.0)
    """Between its points of half power, one way."""
    noise_figure: Annotated[Decibels, Field(ge=0, le=30)] = 4.0
    """Of the receiver, over the noise of its warmth."""
    range: Annotated[Metres, Field(gt=0, le=50_000)] = 1500.0
    """Where the last bin ends."""
    minimum_range: Annotated[Metres, Field(ge=0)] = 15.0
    """Nearer than this nothing is seen."""
    azimuths: Annotated[int, Field(ge=16, le=4096)] = 720
    """In one revolution, equally spaced."""
    bins: Bins = 512
    """Of equal length from the antenna to `range`."""

    @model_validator(mode="after")
    def _something_to_see(self) -> Self:
        if self.minimum_range >= self.range:
            raise ValueError(
                f"`minimum_range` of {self.minimum_range:g} m must be below `range` of "
                f"{self.range:g} m"
            )
        return self
