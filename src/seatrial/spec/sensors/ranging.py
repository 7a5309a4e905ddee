"""Descriptions of sensors that send sound and listen."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import Metres, MetresPerSecond, Number, Plain, Radians, Seconds, Unit
from seatrial.spec.sensors.base import Hertz, SensorSpec

Decibels = Annotated[Number, Unit("dB")]

SLOWEST_SOUND = 1400.0
"""In natural waters, m/s; a ping must be over before the next."""


class EchoSounder(SensorSpec):
    """A single-beam echo sounder: the range of the bottom, and the level of the echo over range.

    The beam is that of a circular piston along the sensor's z axis, which looks down when the
    sensor is mounted level. A measurement has the numbers `range` (along the beam, as the device
    finds it in its own echogram) and `excess` (of the echo over the noise, dB), and as its array
    the levels of all bins in dB re 1 µPa, without time-varied gain. It is invalid where the device
    is out of the water or finds no bottom within its range.

    `nominal` has speckle, noise and detection. `full` adds the assumed sound speed, saturation and
    resolution. `ideal` gives the mean echo without noise, and the true range along the axis at any
    distance. The bottom's material is the world's `seabed.type`. The defaults are of the class of
    a small survey sounder of 200 kHz.
    """

    type: Literal["echo_sounder"]
    """Selects this sensor."""
    frequency: Annotated[Hertz, Field(ge=10e3, le=1e6)] = 200e3
    """Of the sound; sets how much the water absorbs."""
    beamwidth: Annotated[Radians, Field(ge=0.0349, le=1.05)] = 0.12217304763960307
    """Between the points of half power, one way; 2 to 60 degrees."""
    pulse_length: Annotated[Seconds, Field(ge=1e-6, le=0.1)] = 1e-4
    """How long a ping lasts; its bandwidth is taken as the inverse."""
    range: Annotated[Metres, Field(gt=0, le=10_000)] = 100.0
    """Where the last bin ends, as the device counts range."""
    bins: Annotated[int, Field(ge=8, le=16_384)] = 512
    """Bins of equal length from the transducer to `range`."""
    minimum_range: Annotated[Metres, Field(ge=0)] = 0.5
    """Nearer than this the device does not look for the bottom."""
    source_level: Annotated[Decibels, Field(ge=100, le=260)] = 210.0
    """On the axis at 1 m, dB re 1 µPa."""
    self_noise: Annotated[Decibels, Field(ge=-50, le=150)] = 40.0
    """The device's own noise and the vehicle's, as a spectrum level at the transducer, dB re
    1 µPa²/Hz; the noise of the water's heat comes on top. An assumption."""
    volume_scattering: Annotated[Decibels, Field(ge=-150, le=-20)] = -75.0
    """Scattering strength of a cubic metre of water at this frequency, dB re 1/m; −90 in clear to
    −60 in very turbid or lively water."""
    sound_speed: Annotated[MetresPerSecond, Field(ge=1300, le=1700)] | None = 1500.0
    """Sound speed with which the device turns time into range, in `full`; none for a device that
    knows the mean of the water below it."""
    saturation: Annotated[Decibels, Field(ge=50, le=260)] = 190.0
    """Level at which the receiver saturates, dB re 1 µPa; an assumption."""
    resolution: Annotated[Decibels, Field(ge=0, le=20)] = 0.1
    """Step of the recorded levels; an assumption."""
    detection_over_noise: Annotated[Decibels, Field(ge=0, le=60)] = 12.0
    """How much the bottom must stand out of the noise to be found."""
    detection_strength: Annotated[Decibels, Field(ge=-120, le=20)] = -50.0
    """Least strength of an echo that is taken for the bottom, as volume scattering, dB re 1/m."""

    @model_validator(mode="after")
    def _a_ping_at_a_time(self) -> Self:
        one_ping_at_a_time(self.rate, self.range, self.minimum_range)
        return self


class Altimeter(SensorSpec):
    """An altimeter: the range of the bottom in one narrow beam of sound.

    The beam is along the sensor's z axis, which looks down when the sensor is mounted level. The
    range is that of the nearest part of the bottom within the beam that is heard, so it is no
    longer than along the axis over a slope. An echo that is too weak gives nothing: beyond the
    range, and on slopes that throw the sound away, the more so the smoother the bottom
    (`seabed.type`).

    `nominal` has noise and range limits. `full` adds echoes that vary from ping to ping, the
    assumed sound speed and resolution. `ideal` gives the range along the axis, at any distance.
    The defaults are of the class of the Tritech PA500 (500 kHz, 6°, 0.1 to 50 m, 1 mm as they are
    quoted); a Blue Robotics Ping2 is about `frequency_kHz: 115`, `beamwidth_deg: 25`,
    `minimum_range: 0.3`, `range: 100`. None of them could be compared with its data sheet.
    """

    type: Literal["altimeter"]
    """Selects this sensor."""
    frequency: Annotated[Hertz, Field(ge=10e3, le=5e6)] = 500e3
    """Of the sound; sets how much the water absorbs."""
    beamwidth: Annotated[Radians, Field(gt=0.001, le=1.05)] = 0.10471975511965978
    """Between the points of half power, one way."""
    range: Annotated[Metres, Field(gt=0, le=10_000)] = 50.0
    """Longest range; there, over a level bottom, half of the pings are heard."""
    minimum_range: Annotated[Metres, Field(ge=0)] = 0.1
    """Shortest range."""
    noise: Annotated[Metres, Field(ge=0)] = 0.01
    """Standard deviation of a range; an assumption."""
    resolution: Annotated[Metres, Field(ge=0)] = 0.001
    """Smallest step of the output."""
    sound_speed: Annotated[MetresPerSecond, Field(ge=1300, le=1700)] | None = 1500.0
    """Sound speed with which the device turns time into range, in `full`; none for a device that
    knows that of the water."""

    @model_validator(mode="after")
    def _a_ping_at_a_time(self) -> Self:
        one_ping_at_a_time(self.rate, self.range, self.minimum_range)
        return self


class ObstacleSonar(SensorSpec):
    """A forward-looking profile: the range of the bottom and of obstacles along a fan of beams.

    The beams lie in the sensor's x-z plane, which is upright when the sensor is mounted level, from
    half of the `sector` above its x axis to half below; `roll_deg: 90` makes it a horizontal fan. A
    measurement has the range of every beam, `range_1` being the highest, 0 where nothing is met.
    Where a task keeps an `altitude`, the vehicle begins to climb early for what an upright fan
    sees; with `avoidance` it goes round what any fan sees at its own depth.

    `nominal` has noise and range limits. `full` adds lost beams. `ideal` gives the true ranges. The
    defaults are assumptions of the class of a small sonar for obstacle avoidance.
    """

    type: Literal["obstacle_sonar"]
    """Selects this sensor."""
    beams: Annotated[int, Field(ge=2, le=128)] = 24
    """How many."""
    sector: Annotated[Radians, Field(gt=0.01, le=3.1)] = 1.0471975511965976
    """Between the first and the last beam."""
    range: Annotated[Metres, Field(gt=0, le=1000)] = 40.0
    """Longest range."""
    minimum_range: Annotated[Metres, Field(ge=0)] = 0.5
    """Shortest range."""
    noise: Annotated[Metres, Field(ge=0)] = 0.1
    """Standard deviation of a range."""
    dropout: Annotated[Plain, Field(ge=0, lt=1)] = 0.02
    """Probability that a beam gives nothing in a sample. `full` only."""

    @model_validator(mode="after")
    def _a_ping_at_a_time(self) -> Self:
        one_ping_at_a_time(self.rate, self.range, self.minimum_range)
        return self


def one_ping_at_a_time(rate: float, range: float, minimum_range: float) -> None:
    """Refuse a device that would ping before the echo of its last ping is there."""
    if minimum_range >= range:
        raise ValueError(
            f"`minimum_range` of {minimum_range:g} m must be below `range` of {range:g} m"
        )
    fastest = SLOWEST_SOUND / (2.0 * range)
    if rate > fastest:
        raise ValueError(
            f"sound needs {1.0 / fastest:.3g} s to {range:g} m and back, so `rate` can be "
            f"{fastest:.3g} Hz at most, found {rate:g}: lower the rate or shorten `range`"
        )
