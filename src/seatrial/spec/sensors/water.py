"""Descriptions of the sensors that feel the water and the air."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.conventions import SEAWATER_DENSITY
from seatrial.spec.base import (
    KgPerCubicMetre,
    Metres,
    MetresPerSecond,
    Number,
    Plain,
    Radians,
    Seconds,
    Unit,
)
from seatrial.spec.sensors.base import SensorSpec

Pascals = Annotated[Number, Unit("Pa")]
Celsius = Annotated[Number, Unit("°C")]
SiemensPerMetre = Annotated[Number, Unit("S/m")]


class Pressure(SensorSpec):
    """A pressure sensor that also gives the depth.

    `full` adds offset, drift, resolution and range to the noise of `nominal`. The defaults are the
    TE Connectivity MS5837-30BA of the Blue Robotics Bar30; "unchecked" marks those that could not
    be compared with its data sheet. Under water the sensor feels the column
    of the density profile and the waves above it, in the air the atmosphere of 101 325 Pa.
    `ideal` gives the depth below the mean level whatever the waves and the density do.
    """

    type: Literal["pressure"]
    """Selects this sensor."""
    density: Annotated[KgPerCubicMetre, Field(gt=0)] = SEAWATER_DENSITY
    """Density with which the device turns pressure into depth, (p − 101 325 Pa) / (ρ g)."""
    noise: Annotated[Pascals, Field(ge=0)] = 20.0
    """Standard deviation of a sample; the RMS resolution of 0.2 mbar at oversampling 8192."""
    offset: Annotated[Pascals, Field(ge=0)] = 2500.0
    """Standard deviation of the zero offset that a unit keeps; the ±50 mbar of the data sheet taken
    as two of them; unchecked."""
    zeroed: bool = True
    """Whether the device was zeroed in the air before the run, which takes the offset away."""
    drift: Annotated[Pascals, Field(ge=0)] = 100.0
    """Standard deviation of a slowly wandering offset (first-order Gauss–Markov); an assumption,
    1 mbar."""
    drift_time: Annotated[Seconds, Field(gt=0)] = 1800.0
    """Correlation time of the drift."""
    resolution: Annotated[Pascals, Field(ge=0)] = 10.0
    """Smallest step of the output, 0.1 mbar."""
    range: Annotated[Pascals, Field(gt=0)] = 3.0e6
    """Largest absolute pressure, 30 bar; the output stops there."""


class Dvl(SensorSpec):
    """A Doppler velocity log of four beams, and its altitude over the bottom.

    The beams point to azimuths of 45°, 135°, 225° and 315° in the sensor's axes, inclined from its
    z axis, which looks down when the sensor is mounted level. Three good beams give bottom lock;
    with fewer the device follows a layer of water instead. Altitude is the mean of the vertical
    parts of the good beams, with the tilt taken as known. Over a map each beam has its own length
    and meets the bottom at its own angle: one that looks over a drop, or grazes a slope near the
    end of its reach, is lost.

    `nominal` has noise and range limits. `full` adds the errors of scale, bias and mounting, a
    wrong sound speed and lost beams. `ideal` gives the velocity over ground, the altitude and every
    range that meets the bottom, at any distance; where there is no seabed altitude and ranges are 0
    and the lock is 1. The defaults are of the class of the Nortek DVL1000, whose data sheet was not
    at hand: "unchecked" marks figures that are quoted as they circulate.
    """

    type: Literal["dvl"]
    """Selects this sensor."""
    beam_angle: Annotated[Radians, Field(gt=0.05, lt=1.2)] = 0.4363323129985824
    """Between each beam and the sensor's z axis; 25° in the DVL1000 (unchecked), 30° or 22.5° in
    others."""
    frequency: Annotated[Number, Field(ge=10e3, le=5e6), Unit("Hz")] = 1.0e6
    """Of the sound; sets how much the water absorbs; unchecked."""
    maximum_altitude: Annotated[Metres, Field(gt=0, le=2000)] = 75.0
    """Largest altitude with bottom lock of a level device in the reference water; unchecked."""
    minimum_altitude: Annotated[Metres, Field(ge=0)] = 0.2
    """Smallest altitude with bottom lock of a level device; unchecked."""
    reference_temperature: Annotated[Celsius, Field(ge=-2.5, le=45)] = 10.0
    """Temperature of the water in which `maximum_altitude` holds; an assumption, the data sheet is
    silent."""
    reference_salinity: Annotated[Plain, Field(ge=0, le=42)] = 35.0
    """Practical salinity of that water."""
    noise: Annotated[MetresPerSecond, Field(ge=0)] = 0.004
    """Standard deviation of a beam's velocity over the bottom; unchecked."""
    range_noise: Annotated[Plain, Field(ge=0, lt=0.5)] = 0.003
    """Standard deviation of a beam's length, as a share of it; an assumption."""
    water_layer: Annotated[Metres, Field(gt=0)] | None = 5.0
    """Distance along the z axis of the layer that water lock follows; none for a device without
    water lock. There is no lock on a layer beyond 80 % of the way to the bottom."""
    water_noise: Annotated[MetresPerSecond, Field(ge=0)] = 0.02
    """Standard deviation of a beam's velocity through the water; an assumption."""
    scale: Annotated[Plain, Field(ge=0, lt=0.5)] = 0.001
    """Standard deviation of the scale error that a unit keeps; the long-term accuracy of 0.1 %,
    unchecked."""
    bias: Annotated[MetresPerSecond, Field(ge=0, le=1)] = 0.001
    """Standard deviation of the velocity that a unit adds along each axis; the ±0.1 cm/s of the
    long-term accuracy, unchecked."""
    misalignment: Annotated[Radians, Field(ge=0, le=0.3)] = 0.004363323129985824
    """Standard deviation of each of the three small angles between the device and the place that
    its mounting states; 0.25° is an assumption for a mounting that was calibrated on a run."""
    sound_speed: Annotated[MetresPerSecond, Field(ge=1300, le=1700)] | None = None
    """Sound speed that the device assumes, m/s; velocities and ranges are too large by its ratio
    to the true one. Left out, the device knows the true one at its place."""
    dropout: Annotated[Plain, Field(ge=0, lt=1)] = 0.01
    """Probability that a beam gives nothing in a sample; an assumption."""

    @model_validator(mode="after")
    def _altitudes_in_order(self) -> Self:
        if self.minimum_altitude >= self.maximum_altitude:
            raise ValueError(
                f"`minimum_altitude` of {self.minimum_altitude:g} m must be below "
                f"`maximum_altitude` of {self.maximum_altitude:g} m"
            )
        return self


class SpeedLog(SensorSpec):
    """A log of the velocity through the water, along the sensor's x and y axes.

    Silent out of the water. `full` adds scale error and resolution to the noise of `nominal`. The
    defaults are of the class of a two-axis electromagnetic log such as the Airmar DX900+; none of
    them could be compared with its data sheet.
    """

    type: Literal["speed_log"]
    """Selects this sensor."""
    noise: Annotated[MetresPerSecond, Field(ge=0)] = 0.03
    """Standard deviation of a sample of each axis; an assumption."""
    scale: Annotated[Plain, Field(ge=0, lt=0.5)] = 0.01
    """Standard deviation of the scale error that a unit keeps, both axes alike; an assumption."""
    resolution: Annotated[MetresPerSecond, Field(ge=0)] = 0.005
    """Smallest step of the output, 0.01 kn; unchecked."""


class Ctd(SensorSpec):
    """Conductivity, temperature and pressure, and the salinity and sound speed made of them.

    Silent out of the water. `nominal` has noise; `full` adds the lag of the thermometer, which
    gives the salinity its spikes in a thermocline, and resolution. The defaults are the Sea-Bird
    SBE 49; the data sheet states no noise, so it is taken as the resolution. The sheet itself was
    not at hand: "unchecked" marks figures that are quoted as they circulate.
    """

    type: Literal["ctd"]
    """Selects this sensor."""
    conductivity_noise: Annotated[SiemensPerMetre, Field(ge=0)] = 5e-5
    """Standard deviation of a sample."""
    conductivity_resolution: Annotated[SiemensPerMetre, Field(ge=0)] = 5e-5
    """Smallest step of the output; unchecked."""
    temperature_noise: Annotated[Celsius, Field(ge=0)] = 1e-4
    """Standard deviation of a sample."""
    temperature_resolution: Annotated[Celsius, Field(ge=0)] = 1e-4
    """Smallest step of the output; unchecked."""
    temperature_lag: Annotated[Seconds, Field(ge=0, le=600)] = 0.0625
    """Time constant of the thermometer; the advance that the SBE 49 corrects for by default
    (its manual, `TAdvance`)."""
    pressure_noise: Annotated[Pascals, Field(ge=0)] = 70.0
    """Standard deviation of a sample; 0.002 % of 350 m, the resolution of that range;
    unchecked."""
    pressure_resolution: Annotated[Pascals, Field(ge=0)] = 70.0
    """Smallest step of the output."""


class Anemometer(SensorSpec):
    """Apparent wind in the sensor's x–y plane: speed, and the angle that it comes from.

    Silent under water. `nominal` has noise; `full` adds scale error, resolution, range and the
    starting speed. The defaults are the Gill WindSonic, an ultrasonic instrument, as its manual
    has them (1405-PS-0019, issue 28).
    """

    type: Literal["anemometer"]
    """Selects this sensor."""
    speed_noise: Annotated[MetresPerSecond, Field(ge=0)] = 0.05
    """Standard deviation of a sample of the speed; an assumption."""
    angle_noise: Annotated[Radians, Field(ge=0)] = 0.017453292519943295
    """Standard deviation of a sample of the angle; ±2° taken as two standard deviations."""
    scale: Annotated[Plain, Field(ge=0, lt=0.5)] = 0.01
    """Standard deviation of the scale error of the speed that a unit keeps; ±2 % taken as two."""
    speed_resolution: Annotated[MetresPerSecond, Field(ge=0)] = 0.01
    """Smallest step of the speed."""
    angle_resolution: Annotated[Radians, Field(ge=0)] = 0.017453292519943295
    """Smallest step of the angle, 1°."""
    starting_speed: Annotated[MetresPerSecond, Field(ge=0)] = 0.05
    """Below it the speed reads 0 and the angle keeps its last value: the lowest speed for a
    direction of an ultrasonic instrument, the friction of cups and vane (about 0.5 m/s)."""
    range: Annotated[MetresPerSecond, Field(gt=0)] = 60.0
    """Largest speed; the output stops there."""
