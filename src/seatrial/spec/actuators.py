"""Descriptions of thrusters, control surfaces, fin sets and ballast."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import (
    Direction,
    Metres,
    Newtons,
    Number,
    Plain,
    Position,
    Radians,
    RadiansPerSecond,
    RevPerSecond,
    Seconds,
    Spec,
    SquareMetres,
    Unit,
)

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
"""A name that can be part of a topic and of a coefficient: lower case, digits, underscore."""

Row = Annotated[tuple[Number, ...], Field(strict=False)]
Zone = Annotated[tuple[Number, Number], Field(strict=False)]
Polynomial = Annotated[tuple[Number, ...], Field(strict=False, min_length=1, max_length=6)]


def _increasing(values: tuple[float, ...], what: str) -> None:
    if any(b <= a for a, b in pairwise(values)):
        raise ValueError(f"{what} must increase from row to row, found {list(values)}")


class ShaftSpeedThrust(Spec):
    """Thrust as a polynomial of the shaft speed, T = c0 + c1 n + c2 n² + …, n in rev/s."""

    model: Literal["polynomial"]
    """Selects this model."""
    ahead: Polynomial
    """Coefficients c0, c1, … for n ≥ 0; T in N."""
    astern: Polynomial | None = None
    """Coefficients for n < 0 as a polynomial of |n|, giving the astern thrust as a positive
    number; the mirror image of `ahead` when left out."""
    torque_per_thrust: Annotated[Number, Unit("m")] = 0.0
    """Shaft torque over thrust, m; sets the roll moment on the hull when `rotation` is given."""
    speed_limits: Annotated[tuple[Number, Number], Field(strict=False), Unit("rev/s")]
    """Lowest and highest shaft speed."""
    speed_rate_limit: Annotated[Number, Field(gt=0), Unit("(rev/s)/s")] | None = None
    """Largest change of shaft speed per second; none when left out."""
    dead_band: Annotated[RevPerSecond, Field(ge=0)] = 0.0
    """Shaft speeds commanded below this are taken as zero."""


class Characteristic(Spec):
    """An open-water coefficient over the advance number J, as a line or as a table."""

    line: Annotated[tuple[Number, Number], Field(strict=False)] | None = None
    """Value at J = 0 and slope per unit of J."""
    table: Annotated[tuple[Row, ...], Field(strict=False, min_length=2)] | None = None
    """Rows of [J, value], J increasing; held constant beyond both ends."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.line is None) == (self.table is None):
            raise ValueError(
                "give either `line: [value at J=0, slope]` or `table: [[J, value], …]`"
            )
        if self.table is not None:
            if any(len(row) != 2 for row in self.table):
                raise ValueError("every row of `table` must be [J, value]")
            _increasing(tuple(row[0] for row in self.table), "J")
        return self


class DriftWake(Spec):
    """Change of the wake at the propeller as the ship drifts and turns (MMG standard method).

    (1 − w) = (1 − `wake`) (1 + (1 − exp(−C1 |β_P|)) (C2 − 1)), β_P = β − x_P r/U.
    """

    rate: Annotated[Plain, Field(gt=0)]
    """C1 per radian."""
    starboard: Annotated[Plain, Field(gt=0, le=5)]
    """C2 in a turn to starboard, β_P > 0."""
    port: Annotated[Plain, Field(gt=0, le=5)]
    """C2 in a turn to port."""


class OpenWaterThrust(Spec):
    """Propeller by its open-water diagram: T = ρ D⁴ K_T(J) |n| n, Q = ρ D⁵ K_Q(J) |n| n."""

    model: Literal["open_water"]
    """Selects this model."""
    diameter: Annotated[Metres, Field(gt=0)]
    """Propeller diameter D."""
    kt: Characteristic
    """Thrust coefficient K_T over J."""
    kq: Characteristic | None = None
    """Torque coefficient K_Q over J; no torque on the hull when left out."""
    wake: Annotated[Plain, Field(ge=-0.5, lt=1)] = 0.0
    """Wake fraction w: the propeller advances at (1 − w) u."""
    drift_wake: DriftWake | None = None
    """How the wake changes in a turn; constant when left out."""
    thrust_deduction: Annotated[Plain, Field(ge=-0.5, lt=1)] = 0.0
    """Thrust deduction t: the hull feels (1 − t) T."""
    astern_factor: Annotated[Plain, Field(ge=0, le=1.5)] = 1.0
    """Thrust astern over thrust ahead at bollard; astern, K_T(0) holds whatever J is."""
    torque_factor: Annotated[Plain, Field(ge=0, le=1)] = 1.0
    """Share of the propeller torque that reaches the hull (the rest is cancelled by stators)."""
    speed_limits: Annotated[tuple[Number, Number], Field(strict=False), Unit("rev/s")]
    """Lowest and highest shaft speed."""
    speed_rate_limit: Annotated[Number, Field(gt=0), Unit("(rev/s)/s")] | None = None
    """Largest change of shaft speed per second; none when left out."""
    dead_band: Annotated[RevPerSecond, Field(ge=0)] = 0.0
    """Shaft speeds commanded below this are taken as zero."""


class DirectThrust(Spec):
    """A thruster that is commanded in newtons."""

    model: Literal["direct"]
    """Selects this model."""
    thrust_limits: Annotated[tuple[Number, Number], Field(strict=False), Unit("N")]
    """Lowest (astern, negative) and highest thrust."""
    thrust_rate_limit: Annotated[Number, Field(gt=0), Unit("N/s")] | None = None
    """Largest change of thrust per second; none when left out."""
    torque_per_thrust: Annotated[Number, Unit("m")] = 0.0
    """Torque on the hull over thrust, m, when `rotation` is given."""
    dead_band: Annotated[Newtons, Field(ge=0)] = 0.0
    """Thrusts commanded below this are taken as zero."""


class Azimuth(Spec):
    """A thruster that turns about the body's z axis; its angle is a second command channel."""

    angle_limit: Annotated[Radians, Field(gt=0)] = 3.141592653589793
    """Largest angle to either side, positive to starboard."""
    rate_limit: Annotated[RadiansPerSecond, Field(gt=0)] | None = None
    """Largest turning rate; none when left out."""
    time_constant: Annotated[Seconds, Field(ge=0)] = 0.0
    """First-order lag of the angle."""
    forbidden: Annotated[tuple[Zone, ...], Field(strict=False, max_length=8), Unit("rad")] = ()
    """Zones of angles, [from, to], in which the autopilot lets the thruster turn but not push: its
    wash would meet another one, or a sensor. A zone across 180° is written [170°, 190°]."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for low, high in self.forbidden:
            if not low < high:
                raise ValueError(
                    f"a zone of `forbidden` must be [from, to] with from < to, found [{low}, "
                    f"{high}]; write a zone across 180° as [170°, 190°]"
                )
        return self


class Thruster(Spec):
    """A propeller, a pod or a jet."""

    kind: Literal["thruster"]
    """Selects this sort of actuator."""
    name: Name
    """Name of the command channel."""
    position: Position = (0.0, 0.0, 0.0)
    """Where the thrust acts, in the body frame."""
    direction: Direction = (1.0, 0.0, 0.0)
    """Direction of positive thrust on the vehicle, body frame; need not be of unit length."""
    azimuth: Azimuth | None = None
    """Present for a thruster that turns; its channel is called `NAME_angle`."""
    thrust: Annotated[
        ShaftSpeedThrust | OpenWaterThrust | DirectThrust, Field(discriminator="model")
    ]
    """How a command becomes thrust."""
    time_constant: Annotated[Seconds, Field(ge=0)] = 0.0
    """First-order lag of the shaft speed (or of the thrust, when commanded in newtons)."""
    rotation: Literal["none", "right", "left"] = "none"
    """Handedness of the propeller seen from astern; the hull feels the opposite torque."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not any(self.direction):
            raise ValueError("`direction` must not be zero; give the direction of positive thrust")
        low, high = (
            self.thrust.thrust_limits
            if isinstance(self.thrust, DirectThrust)
            else self.thrust.speed_limits
        )
        if low > 0 or high < low or high == low:
            raise ValueError(
                f"limits must be [lowest ≤ 0, highest > lowest], found [{low}, {high}]"
            )
        return self


class LiftCurve(Spec):
    """Lift and drag of a low-aspect-ratio fin from its shape, with stall."""

    area: Annotated[SquareMetres, Field(gt=0)]
    """Planform area."""
    aspect_ratio: Annotated[Plain, Field(gt=0)]
    """Effective aspect ratio; twice the geometric one for a fin on a hull that acts as a mirror."""
    zero_lift_drag: Annotated[Plain, Field(ge=0)] = 0.01
    """Drag coefficient at zero lift."""
    efficiency: Annotated[Plain, Field(gt=0, le=1)] = 0.9
    """Oswald efficiency e of the induced drag C_L² / (π e A)."""
    stall: Annotated[Radians, Field(gt=0, lt=1.6)] = 0.4
    """Angle of attack at which the flow separates."""
    lift_slope: Annotated[Plain, Field(gt=0)] | None = None
    """dC_L/dα per radian; from the aspect ratio when left out."""


class LiftTable(Spec):
    """Lift and drag of a section from a table."""

    area: Annotated[SquareMetres, Field(gt=0)]
    """Planform area."""
    rows: Annotated[tuple[Row, ...], Field(strict=False, min_length=2)]
    """Rows of [angle of attack in degrees, C_L, C_D], angles increasing. A table that starts at
    zero is mirrored for negative angles; beyond both ends the plate's C_L = sin 2α, C_D = 2 sin² α
    is used."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(len(row) != 3 for row in self.rows):
            raise ValueError("every row must be [angle in degrees, C_L, C_D]")
        _increasing(tuple(row[0] for row in self.rows), "the angle of attack")
        return self


class RaceRudder(Spec):
    """A rudder in the race of a propeller, by the MMG standard method (Yasukawa and Yoshimura
    2015): normal force F_N = ½ρ A f_α U_R² sin α_R, and what it adds to the hull's own forces."""

    propeller: Name
    """Name of the thruster ahead of it, of the model `open_water`."""
    area: Annotated[SquareMetres, Field(gt=0)]
    """Area A of the part that moves."""
    height: Annotated[Metres, Field(gt=0)]
    """Span H; the race meets D/H of it."""
    lift_slope: Annotated[Plain, Field(gt=0)]
    """f_α per radian; Fujii's 6.13 Λ/(Λ + 2.25) where it was not measured."""
    wake_ratio: Annotated[Plain, Field(gt=0, le=3)]
    """ε: (1 − w) at the rudder over that at the propeller."""
    acceleration: Annotated[Plain, Field(ge=0, le=2)]
    """κ: share of the propeller's acceleration of the water that reaches the rudder."""
    resistance_deduction: Annotated[Plain, Field(ge=0, lt=1)]
    """t_R: share of the rudder's resistance that the ship does not feel."""
    hull_force: Annotated[Plain, Field(ge=0, le=2)]
    """a_H: force that steering induces on the hull over that on the rudder."""
    hull_force_at: Metres
    """x_H: where that force acts, x in the body frame."""
    straightening_starboard: Annotated[Plain, Field(ge=0, le=2)]
    """γ_R in a turn to starboard: share of the cross flow that the hull and the race leave."""
    straightening_port: Annotated[Plain, Field(ge=0, le=2)]
    """γ_R in a turn to port."""
    turning_lever: Metres
    """ℓ_R: x by which the yaw rate counts in that cross flow; about twice the rudder's own."""


class FinDrive(Spec):
    """What moves a fin: limits, lag and imperfections of its servo."""

    angle_limit: Annotated[Radians, Field(ge=0, le=1.58)]
    """Largest deflection to either side; 0 for a fixed fin, which has no command channel."""
    rate_limit: Annotated[RadiansPerSecond, Field(gt=0)] | None = None
    """Largest throw rate; none when left out."""
    time_constant: Annotated[Seconds, Field(ge=0)] = 0.0
    """First-order lag of the servo."""
    backlash: Annotated[Radians, Field(ge=0)] = 0.0
    """Total play between servo and fin."""
    angle_error: Radians = 0.0
    """Constant difference between the fin and its servo (a misaligned horn)."""


class Fin(FinDrive):
    """A control surface or a fixed fin."""

    kind: Literal["fin"]
    """Selects this sort of actuator."""
    name: Name
    """Name of the command channel."""
    symbol: Name | None = None
    """Name of its angle in the coefficients, for example `delta`; the fin's name when left out."""
    position: Position = (0.0, 0.0, 0.0)
    """Where the fin's force acts, in the body frame."""
    axis: Direction = (0.0, 0.0, 1.0)
    """Hinge axis in the body frame, along the span; a positive angle is right-handed about it."""
    lift: LiftCurve | None = None
    """Force from the fin's shape."""
    table: LiftTable | None = None
    """Force from a table of its section."""
    race: RaceRudder | None = None
    """A rudder in the race of a propeller. With none of the three, the fin acts through the
    coefficients."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(given is not None for given in (self.lift, self.table, self.race)) > 1:
            raise ValueError("give one of `lift`, `table` and `race`, not several")
        x, y, z = self.axis
        if self.race is not None and (x != 0 or y != 0 or z <= 0):
            raise ValueError(
                f"`axis` of a rudder in a race must be [0, 0, 1], found [{x}, {y}, {z}]"
            )
        if y == 0 and z == 0:
            raise ValueError(f"`axis` must not point along the flow, found [{x}, {y}, {z}]")
        return self


class FinSet(FinDrive):
    """A tail of equal fins around the body's x axis, each with its own command channel.

    The channels are called after where the fin sits: `NAME_top`, `NAME_starboard`,
    `NAME_bottom` and `NAME_port` for `plus`; `NAME_upper_starboard`, … for `x`; `NAME_top`,
    `NAME_lower_starboard` and `NAME_lower_port` for `three`. A positive angle is right-handed
    about the outward span.
    """

    kind: Literal["fin_set"]
    """Selects this sort of actuator."""
    name: Name
    """First part of the name of every channel."""
    arrangement: Literal["plus", "x", "three"]
    """Where the fins sit, seen from astern."""
    position: Position
    """Centre of the set on the body's axis."""
    radius: Annotated[Metres, Field(ge=0)]
    """Distance from the axis to where each fin's force acts."""
    lift: LiftCurve | None = None
    """Force of one fin from its shape."""
    table: LiftTable | None = None
    """Force of one fin from a table."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.lift is None) == (self.table is None):
            raise ValueError("give either `lift` or `table` for the fins of a set")
        return self


class Ballast(Spec):
    """A tank that takes in and expels water; its weight acts, its inertia is neglected."""

    kind: Literal["ballast"]
    """Selects this sort of actuator."""
    name: Name
    """Name of the command channel."""
    position: Position
    """Centre of the tank, in the body frame."""
    mass_limits: Annotated[tuple[Number, Number], Field(strict=False), Unit("kg")]
    """Least and most ballast relative to neutral trim; negative when water can be expelled."""
    mass_rate_limit: Annotated[Number, Field(gt=0), Unit("kg/s")]
    """Pump rate."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        low, high = self.mass_limits
        if low > 0 or high <= low:
            raise ValueError(f"`mass_limits` must be [lowest ≤ 0, highest], found [{low}, {high}]")
        return self


Actuator = Annotated[Thruster | Fin | FinSet | Ballast, Field(discriminator="kind")]
