"""Descriptions of sensors that tell where a vehicle is and how it is turned."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import (
    Metres,
    MetresPerSecond,
    Number,
    Plain,
    Position,
    Radians,
    Seconds,
    Spec,
    Unit,
    Vector,
)
from seatrial.spec.sensors.base import SensorSpec

Deviation = Annotated[Metres, Field(ge=0, le=1e4)]
SpeedDeviation = Annotated[MetresPerSecond, Field(ge=0, le=100)]
AngleDeviation = Annotated[Radians, Field(ge=0, le=math.pi)]
CorrelationTime = Annotated[Seconds, Field(gt=0, le=1e6)]
Probability = Annotated[Plain, Field(ge=0, le=1)]
Tesla = Annotated[Number, Unit("T")]
Declination = Annotated[Radians, Field(ge=-math.pi, le=math.pi)]


class Gnss(SensorSpec):
    """A satellite receiver; `position` is the place of its antenna. It answers in local NED.

    Its error is white noise plus a slowly drifting part (first-order Gauss–Markov). What is left
    out is typical of the kind of fix; those numbers and their sources are in
    `seatrial.compile.sensors.position`. `nominal` and `full` are the same.
    """

    type: Literal["gnss"]
    """Selects this sort of sensor."""
    fix: Literal["autonomous", "differential", "rtk_float", "rtk_fixed"] = "autonomous"
    """Kind of fix that it reports while it has one, and that sets the errors left out."""
    noise: Deviation | None = None
    """White noise north and east, each."""
    vertical_noise: Deviation | None = None
    """White noise of the height."""
    drift: Deviation | None = None
    """Standard deviation of the correlated error north and east, each."""
    vertical_drift: Deviation | None = None
    """Standard deviation of the correlated error of the height."""
    drift_time: CorrelationTime | None = None
    """Correlation time of the error north and east."""
    vertical_drift_time: CorrelationTime | None = None
    """Correlation time of the error of the height."""
    velocity_noise: SpeedDeviation | None = None
    """White noise of the velocity north and east, each."""
    vertical_velocity_noise: SpeedDeviation | None = None
    """White noise of the velocity down."""
    margin: Annotated[Metres, Field(ge=-10, le=10)] = 0.0
    """The antenna is lost when it is less than this above the water, waves included."""
    reacquisition: Annotated[Seconds, Field(ge=0, le=3600)] = 1.0
    """From coming out of the water to the next fix, without interruption. One second is a hot
    start in the data sheet of the u-blox M8, as after a short dive; a cold start takes 26 s.
    Unchecked."""
    cold_start: bool = False
    """Whether the first fix, too, comes only after `reacquisition`."""


class Shadow(Spec):
    """A box of water from which an anchor is hidden, so that its signal comes by a detour."""

    anchor: Annotated[int, Field(ge=1)]
    """Number of the hidden anchor, counted from 1 as in `range_1`."""
    low: Position
    """Corner of the box with the smallest north, east and down."""
    high: Position
    """The opposite corner."""
    probability: Probability = 1.0
    """Share of the ranges from within the box that come by the detour."""
    detour: Annotated[Metres, Field(gt=0, le=1e4)] = 1.0
    """Mean of the exponentially distributed extra distance."""

    @model_validator(mode="after")
    def _corners_in_order(self) -> Self:
        if any(a >= b for a, b in zip(self.low, self.high, strict=True)):
            raise ValueError("`low` must be smaller than `high` in north, east and down")
        return self


class Uwb(SensorSpec):
    """An ultra-wideband tag that measures distances to anchors and solves for its place."""

    type: Literal["uwb"]
    """Selects this sort of sensor."""
    anchors: Annotated[tuple[Position, ...], Field(strict=False, min_length=3, max_length=64)]
    """Places of the anchors, local NED; above the water, so that down is negative."""
    noise: Deviation = 0.1
    """White noise of a range; 10 cm is what makers of DW1000 modules state; unchecked."""
    maximum_range: Annotated[Metres, Field(gt=0, le=1e5)] = 60.0
    """Beyond this an anchor is not heard; 60 m in the open in the data sheet of the DWM1001;
    unchecked."""
    outlier_probability: Probability = 0.0
    """Share of all ranges that come by a detour, not in line of sight. `full` only."""
    outlier_detour: Annotated[Metres, Field(gt=0, le=1e4)] = 1.0
    """Mean of the exponentially distributed extra distance of those; never negative."""
    shadows: Annotated[tuple[Shadow, ...], Field(strict=False)] = ()
    """Boxes from which an anchor is hidden. `full` only."""
    depth_change: Annotated[Metres, Field(gt=0, le=1e4)] = 0.5
    """How far the tag may have moved up or down since the last solution, one standard deviation.
    Anchors at one height tell little of the depth; this keeps the solution from running away."""
    margin: Annotated[Metres, Field(ge=-10, le=10)] = 0.0
    """The ranges are lost when the tag is less than this above the water, waves included."""


class Lbl(SensorSpec):
    """Long baseline: distances to transponders at known places, by the time that sound takes there
    and back, and the place that follows from them.

    A sample is taken when the vehicle asks and is there when the last answer has come back.
    `nominal` has noise and the limit of the range. `full` adds echoes by a detour, answers that
    fail, and a wrong sound speed. `ideal` knows its place and all distances. The defaults are
    assumptions of the class of a medium-frequency system (20 to 30 kHz).
    """

    type: Literal["lbl"]
    """Selects this sort of sensor."""
    transponders: Annotated[tuple[Position, ...], Field(strict=False, min_length=3, max_length=32)]
    """Places, local NED; under water, so that down is positive."""
    noise: Deviation = 0.15
    """White noise of a distance."""
    maximum_range: Annotated[Metres, Field(gt=0, le=2e4)] = 1500.0
    """Beyond this a transponder is not heard."""
    dropout: Probability = 0.02
    """Share of the answers that are not heard. `full` only."""
    outlier_probability: Probability = 0.02
    """Share of the distances that come by a detour, off the surface or the bottom. `full` only."""
    outlier_detour: Annotated[Metres, Field(gt=0, le=1e4)] = 5.0
    """Mean of the exponentially distributed extra distance of those; never negative."""
    sound_speed: Annotated[MetresPerSecond, Field(ge=1300, le=1700)] | None = None
    """Sound speed with which the device turns time into distance; the mean of the water on the way
    when left out. `full` only."""
    depth_change: Annotated[Metres, Field(gt=0, le=1e4)] = 0.5
    """How far the vehicle may have gone up or down since the last solution, one standard deviation.
    Transponders at one depth tell little of that of the vehicle."""


class Usbl(SensorSpec):
    """Ultra-short baseline: where a transponder is, by the time that sound takes there and back and
    the direction from which it comes back.

    The transponder is that of another vehicle of the run, or stands at a known place. A measurement
    has the distance, the bearing from the sensor's x axis towards its y axis, the elevation
    towards its z axis, and the place of the transponder as its answer tells it, which a vehicle
    on the surface knows by its own GNSS. On a vehicle that dives it can aid the navigation;
    on a ship it tells where her vehicles are.

    `nominal` has noise and the limit of the range. `full` adds echoes by the surface or the bottom,
    answers that fail, and a wrong sound speed. `ideal` knows everything. The defaults are
    assumptions of the class of a small system for vehicles (about 30 kHz).
    """

    type: Literal["usbl"]
    """Selects this sort of sensor."""
    target: str | None = None
    """Name of the vehicle that carries the transponder, at its origin."""
    transponder: Position | None = None
    """Or the place of a fixed one, local NED."""
    range_noise: Deviation = 0.1
    """White noise of the distance."""
    angle_noise: AngleDeviation = math.radians(1.0)
    """White noise of the direction, in each of two axes across it."""
    place_noise: Deviation = 1.0
    """White noise of the place of a `target` as it tells it, each axis; that of a fixed transponder
    is known."""
    maximum_range: Annotated[Metres, Field(gt=0, le=2e4)] = 1000.0
    """Beyond this nothing is heard."""
    dropout: Probability = 0.02
    """Share of the answers that are not heard. `full` only."""
    outlier_probability: Probability = 0.02
    """Share of the answers of which an echo is taken for the direct way. It comes from above or
    below, from the mirror image of the transponder at the surface, and by that longer way. `full`
    only."""
    sound_speed: Annotated[MetresPerSecond, Field(ge=1300, le=1700)] | None = None
    """Sound speed with which the device turns time into distance; the mean of the water on the way
    when left out. `full` only."""

    @model_validator(mode="after")
    def _one_transponder(self) -> Self:
        if (self.target is None) == (self.transponder is None):
            raise ValueError("give either `target`, a vehicle's name, or `transponder`, a place")
        return self


class Modem(SensorSpec):
    """An acoustic modem: who of the other modems of the run was heard, and where it says it is.

    Within a cycle of 1 / `rate` every vehicle with a modem sends one packet: those of a run take
    turns at equal intervals, in the order in which they are described, unless they name a `slot`.
    A sample has for each of them the numbers `identity` (from 1 on), `travel_time`, `snr` (dB),
    and the place that it told, `north`, `east` and `down`; zeros where nothing was received.
    Packets are lost in the noise, and where two are heard at once or the receiver itself is
    sending. All modems of a run must be described alike, but for their names, places and slots.

    `ideal` hears everything. `nominal` and `full` are the same. The defaults are assumptions of the
    class of a small modem of 25 kHz.
    """

    type: Literal["modem"]
    """Selects this sort of sensor."""
    frequency: Annotated[Number, Field(ge=1e3, le=5e5), Unit("Hz")] = 25e3
    """Of the carrier; sets how much the water absorbs."""
    bandwidth: Annotated[Number, Field(gt=0, le=1e5), Unit("Hz")] = 4e3
    """Of the receiver."""
    source_level: Annotated[Number, Field(ge=100, le=220), Unit("dB")] = 170.0
    """At 1 m, dB re 1 µPa."""
    noise_level: Annotated[Number, Field(ge=0, le=150), Unit("dB")] = 60.0
    """Spectrum level of the noise, dB re 1 µPa²/Hz; 30 in a calm sea to 80 near ships at 25 kHz."""
    bits: Annotated[int, Field(ge=8, le=100_000)] = 256
    """Of a packet."""
    bit_rate: Annotated[Number, Field(gt=0, le=1e6), Unit("1/s")] = 800.0
    """Bits per second."""
    slot: Annotated[Seconds, Field(ge=0)] | None = None
    """When in the cycle it sends; modems that name the same talk at once."""
    place_noise: Deviation = 1.0
    """White noise of the place that a vehicle tells of itself, each axis."""

    @model_validator(mode="after")
    def _within_the_cycle(self) -> Self:
        if self.bits / self.bit_rate > 1.0 / self.rate:
            raise ValueError(
                f"a packet of {self.bits} bits lasts {self.bits / self.bit_rate:.3g} s, longer "
                f"than a cycle of {1.0 / self.rate:.3g} s: lower `rate` or `bits`"
            )
        if self.slot is not None and self.slot >= 1.0 / self.rate:
            raise ValueError(
                f"`slot` of {self.slot:g} s lies beyond the cycle of {1.0 / self.rate:.3g} s"
            )
        return self


class Compass(SensorSpec):
    """A compass: the heading of its x axis, from 0 to 2π.

    True heading = magnetic heading + declination; magnetic heading = compass heading + deviation;
    east is positive in both. The defaults are those of the Honeywell HMR3300 data sheet as they are
    quoted; "unchecked" marks what could not be compared with the sheet.
    """

    type: Literal["compass"]
    """Selects this sort of sensor."""
    declination: Declination = 0.0
    """Of the magnetic field at the place, positive to the east."""
    corrected: bool = False
    """Whether the device adds the declination and so gives the true heading."""
    noise: AngleDeviation = math.radians(0.2)
    """White noise; the repeatability of 0.2°, unchecked."""
    deviation: Annotated[
        tuple[Number, Number, Number, Number, Number], Field(strict=False), Unit("rad")
    ] = (0.0, 0.0, 0.0, 0.0, 0.0)
    """Coefficients A, B, C, D, E of A + B sin ψ + C cos ψ + D sin 2ψ + E cos 2ψ with ψ the magnetic
    heading. `full` only."""
    residual: AngleDeviation = math.radians(1.0)
    """Standard deviation, at any heading, of the deviation that is left when the compass has been
    compensated: coefficients like those above, drawn for a unit and added to them; the accuracy of
    1°, unchecked. `full` only."""
    resolution: AngleDeviation = math.radians(0.1)
    """Smallest step, unchecked; 0 for none. `full` only."""


class Ahrs(SensorSpec):
    """An attitude and heading reference: orientation against NED, and angular rates.

    The attitude error is a small rotation about the world's axes whose parts drift slowly (first-
    order Gauss–Markov). The deviations are those of the Xsens MTi-30 data sheet as they are quoted;
    data sheets state no correlation times, so those are ours. "Unchecked" marks what could not be
    compared with the sheet.
    """

    type: Literal["ahrs"]
    """Selects this sort of sensor."""
    tilt_error: AngleDeviation = math.radians(0.5)
    """Standard deviation of the error about north and about east, each; unchecked."""
    tilt_time: CorrelationTime = 60.0
    """Correlation time of the tilt error; an assumption."""
    heading_error: AngleDeviation = math.radians(1.0)
    """Standard deviation of the error about down; unchecked."""
    heading_time: CorrelationTime = 300.0
    """Correlation time of the heading error; an assumption."""
    heading_bias: Annotated[Radians, Field(ge=-math.pi, le=math.pi)] = 0.0
    """Constant error about down. `full` only."""
    rate_noise: Annotated[Number, Field(ge=0, le=10), Unit("rad/s/√Hz")] = math.radians(0.03)
    """Noise density of the angular rates; unchecked."""


class Magnetometer(SensorSpec):
    """A three-axis magnetometer.

    It reads S B + h with B the field in its axes, S the soft and h the hard iron around it. The
    defaults are those of the magnetometer of the ADIS16448 (data sheet as it is quoted: ±1.9 gauss,
    142.9 µgauss per bit, 2.4 mgauss of noise; all three unchecked).
    """

    type: Literal["magnetometer"]
    """Selects this sort of sensor."""
    declination: Declination = 0.0
    """Of the field at the place, positive to the east."""
    inclination: Annotated[Radians, Field(ge=-math.pi / 2, le=math.pi / 2)] | None = None
    """Dip of the field below the horizon; when left out that of a dipole at the datum's latitude λ,
    tan I = 2 tan λ."""
    strength: Annotated[Tesla, Field(gt=0, le=1)] | None = None
    """Of the field; when left out that of a dipole, 30 µT √(1 + 3 sin² λ)."""
    noise: Annotated[Tesla, Field(ge=0, le=1)] = 2.4e-7
    """White noise of each axis."""
    hard_iron: Annotated[Vector, Unit("T")] = (0.0, 0.0, 0.0)
    """Field of permanent magnets that turn with the sensor, in its axes. `full` only."""
    soft_iron: Annotated[tuple[Vector, Vector, Vector], Field(strict=False), Unit("1")] = (
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 0.0, 1.0),
    )
    """Matrix, row by row, by which iron around the sensor bends the field. `full` only."""
    limit: Annotated[Tesla, Field(gt=0, le=10)] = 1.9e-4
    """Each axis saturates at this field. `full` only."""
    resolution: Annotated[Tesla, Field(ge=0, le=1)] = 1.429e-8
    """Smallest step; 0 for none. `full` only."""
