"""Descriptions of missions: a list of tasks, and how the vehicle is guided through them."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import (
    Metres,
    MetresPerSecond,
    Number,
    Plain,
    Radians,
    RadiansPerSecond,
    Seconds,
    Spec,
    Unit,
)

Waypoint = Annotated[tuple[Number, ...], Field(strict=False, min_length=2, max_length=3), Unit("m")]
"""North and east of the datum, and the depth where it matters."""
Place = Annotated[tuple[Number, Number], Field(strict=False), Unit("degree")]
"""Latitude and longitude."""
Corner = Annotated[tuple[Number, Number], Field(strict=False), Unit("m")]
Speed = Annotated[MetresPerSecond, Field(gt=0, le=50)]
Acceptance = Annotated[Metres, Field(gt=0, le=10_000)]


MOST_LINES = 1000
"""Of one survey."""


class Until(Spec):
    """A condition that ends a task's leg."""

    quantity: Literal["depth", "time", "speed", "heading", "pitch", "roll"]
    """Depth in m, time in s, speed over ground in m/s, angles in rad (heading from 0 to 2π); as
    the vehicle believes them."""
    above: Annotated[Number, Unit("SI")] | None = None
    """Holds while the quantity is greater."""
    below: Annotated[Number, Unit("SI")] | None = None
    """Holds while the quantity is less."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.above is None) == (self.below is None):
            raise ValueError("give either `above` or `below`")
        return self


class Task(Spec):
    """What every task shares."""

    speed: Speed | None = None
    """Over ground; the vehicle's easy speed when left out."""
    acceptance: Acceptance | None = None
    """Radius within which a waypoint counts as reached; one and a half vehicle lengths when left
    out."""
    timeout: Annotated[Seconds, Field(gt=0)] | None = None
    """After which a leg is given up and the next one begins; never when left out."""
    until: Until | None = None
    """A condition that ends each of its legs; the next one begins."""
    depth: Metres | None = None
    """Of the places that name none, 0 when left out; a task without a place stays then at the depth
    of the one before."""
    altitude: Annotated[Metres, Field(gt=0, le=1000)] | None = None
    """Over the bottom, to be kept in place of a depth, by the vehicle's DVL or altimeter; `depth`
    is then where it goes while it has not heard the bottom yet."""

    @model_validator(mode="after")
    def _a_depth_or_an_altitude(self) -> Self:
        if self.altitude is None:
            return self
        if isinstance(self, Surface | Dock):
            raise ValueError(f"`{self.do}` leads to a depth: leave out `altitude`")
        named = {"waypoints", "area", "centre", "position"} & set(type(self).model_fields)
        for key in sorted(named):
            given = getattr(self, key)
            points = given if given and isinstance(given[0], tuple) else (given or (),)
            if any(len(point) > 2 for point in points):
                raise ValueError(
                    f"`{key}` has a depth, and `altitude` says to follow the bottom: give one of "
                    "the two"
                )
        return self


class Goto(Task):
    """Follow the legs from waypoint to waypoint."""

    do: Literal["goto"]
    """Selects this task."""
    waypoints: Annotated[tuple[Waypoint, ...], Field(strict=False)] = ()
    """In metres from the datum."""
    places: Annotated[tuple[Place, ...], Field(strict=False)] = ()
    """Or in degrees of latitude and longitude."""
    smooth: Literal["circles", "hermite"] | None = None
    """Round the corners by circles, or go through all waypoints on one smooth curve; the way is
    then cut into short legs."""
    turning_radius: Annotated[Metres, Field(gt=0)] | None = None
    """Of the circles; three vehicle lengths when left out."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.waypoints) == bool(self.places):
            raise ValueError("give either `waypoints` (metres) or `places` (degrees)")
        for latitude, longitude in self.places:
            if abs(latitude) > 90.0 or abs(longitude) > 180.0:
                raise ValueError(
                    f"[{latitude:g}, {longitude:g}] is no place: `places` are latitude (−90 to 90) "
                    "and longitude (−180 to 180), in degrees"
                )
        return self


class Survey(Task):
    """Cover an area with parallel lines."""

    do: Literal["survey"]
    """Selects this task."""
    area: Annotated[tuple[Waypoint, ...], Field(strict=False, min_length=3)]
    """Corners of the area."""
    spacing: Annotated[Metres, Field(gt=0)]
    """Between lines."""
    heading: Radians = 0.0
    """Of the lines."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        across = (-math.sin(self.heading), math.cos(self.heading))
        sides = [corner[0] * across[0] + corner[1] * across[1] for corner in self.area]
        ahead = (math.cos(self.heading), math.sin(self.heading))
        along = [corner[0] * ahead[0] + corner[1] * ahead[1] for corner in self.area]
        least = 1e-6 * max(max(sides) - min(sides), max(along) - min(along))
        if min(max(sides) - min(sides), max(along) - min(along)) <= least:
            raise ValueError("the corners of the area lie on one line: there is nothing to cover")
        lines = (max(sides) - min(sides)) / self.spacing
        if lines > MOST_LINES:
            raise ValueError(
                f"the area takes {lines:.3g} lines, and {MOST_LINES} are the most: give more "
                "`spacing`, or survey it in parts"
            )
        return self


class ExpandingSquare(Task):
    """Search outwards from a point, in legs that grow."""

    do: Literal["expanding_square"]
    """Selects this task."""
    centre: Waypoint
    """Where it begins."""
    spacing: Annotated[Metres, Field(gt=0)]
    """Between parallel legs."""
    legs: Annotated[int, Field(ge=2, le=200)] = 8
    """How many."""
    heading: Radians = 0.0
    """Of the first leg."""


class Loiter(Task):
    """Go round a point."""

    do: Literal["loiter"]
    """Selects this task."""
    centre: Waypoint
    """Of the circle."""
    radius: Annotated[Metres, Field(gt=0)]
    """Of the circle."""
    turns: Annotated[Plain, Field(gt=0, le=1000)] = 1.0
    """How many times round."""
    clockwise: bool = True
    """Seen from above."""


class Follow(Task):
    """Follow a pipeline of the world from end to end, the nearer end first: as it is charted, or by
    a sonar that sees it.

    The sonar is an `obstacle_sonar` whose fan lies across the way and looks down, as with
    `roll_deg: 90, pitch_deg: -90`. Where it does not see the pipeline for some metres,
    the vehicle weaves about the last place where it knew it, or about the chart.
    """

    do: Literal["follow"]
    """Selects this task."""
    pipeline: str
    """Name of a body of the world that is a `pipe`."""
    offset: Metres = 0.0
    """Beside it, to starboard of the way it is followed."""
    by: str | None = None
    """Name of the sonar that it is followed by; by the chart when left out."""
    chart: Annotated[tuple[Waypoint, ...], Field(strict=False, min_length=2)] | None = None
    """Its corners as they are charted, where that is not where they are."""


class Hold(Task):
    """Stay at a place; a vehicle that cannot hold station comes back whenever it drifts off."""

    do: Literal["hold"]
    """Selects this task."""
    position: Waypoint | None = None
    """Where; at the end of the task before when left out."""
    heading: Radians | None = None
    """To be held, for vehicles that can; any when left out."""
    duration: Annotated[Seconds, Field(ge=0)] = 60.0
    """How long, counted from the first arrival within the acceptance."""


class Surface(Task):
    """Come up where the task before ended."""

    do: Literal["surface"]
    """Selects this task."""

    @model_validator(mode="after")
    def _to_the_surface(self) -> Self:
        if self.depth:
            raise ValueError("`surface` comes up to the surface: leave out `depth`")
        return self


class Dock(Task):
    """Line up at a distance, come in slowly, and stay."""

    do: Literal["dock"]
    """Selects this task."""
    position: Waypoint
    """Of the berth."""
    heading: Radians
    """In the berth."""
    approach: Annotated[Metres, Field(gt=0)] = 15.0
    """Length of the last straight leg."""
    final_speed: Speed | None = None
    """On that leg; 0.3 m/s when left out, or as slowly as fins hold the depth for sure."""
    duration: Annotated[Seconds, Field(ge=0)] = 20.0
    """How long to stay."""


class Velocity(Task):
    """Keep a velocity: surge, sway and yaw rate, as far as the vehicle can."""

    do: Literal["velocity"]
    """Selects this task."""
    surge: MetresPerSecond = 0.0
    """Ahead, over ground."""
    sway: MetresPerSecond = 0.0
    """To starboard."""
    yaw_rate: RadiansPerSecond = 0.0
    """Bow to starboard."""
    duration: Annotated[Seconds, Field(gt=0)]
    """How long."""


AnyTask = Annotated[
    Goto | Survey | ExpandingSquare | Loiter | Follow | Hold | Surface | Dock | Velocity,
    Field(discriminator="do"),
]


class Guidance(Spec):
    """How legs are followed."""

    law: Literal["line_of_sight", "integral", "adaptive", "pure_pursuit", "line_of_sight_3d"] = (
        "line_of_sight"
    )
    """Line of sight on the course made good, its forms that steer a heading and find the angle of
    crab by an integral or an estimate of it from the distance off the track, pure pursuit, or line
    of sight in three dimensions, which asks for a pitch instead of a depth."""
    lookahead: Annotated[Metres, Field(gt=0)] | None = None
    """Distance ahead on the leg that is aimed at; the least that does not weave, by the design of
    the autopilot, when left out."""
    handover: Literal["hard", "soft"] = "hard"
    """From one waypoint to the next: at the circle of acceptance, or gradually on the way, by
    aiming more and more at the next one."""
    deceleration: Annotated[Number, Field(gt=0, le=10), Unit("m/s^2")] = 0.05
    """With which the vehicle slows down before a station."""
    fence: (
        Annotated[tuple[Corner, ...], Field(strict=False, min_length=3, max_length=100)] | None
    ) = None
    """Corners of an area, north and east of the datum in m, that it must not leave. A start or
    waypoints outside are refused; the failsafe `fence` keeps it inside."""


class LoopGains(Spec):
    """Gains of your own for one loop, at every speed; what is left out stays as designed."""

    proportional: Annotated[Number, Field(ge=0), Unit("SI")] | None = None
    """Force (N) or moment (N m) per m/s or rad/s in the loops of a velocity, per m or rad in the
    others."""
    integral: Annotated[Number, Field(ge=0), Unit("SI")] | None = None
    """The same per s."""
    derivative: Annotated[Number, Field(ge=0), Unit("SI")] | None = None
    """The same times s; the loops of a velocity have none."""


Loop = Literal[
    "surge", "sway", "heave", "yaw_rate", "heading", "depth", "roll", "pitch",
    "station_surge", "station_sway",
]  # fmt: skip


class Control(Spec):
    """How the autopilot is designed from the vehicle's model."""

    law: Literal["loops", "lqr"] = "loops"
    """Loops one after the other, or a linear quadratic regulator that drives all degrees of freedom
    to the waypoint itself, for vehicles that can hover. Beside `guidance: {handover: soft}` that
    is how Zwilgmeyer's *Creating a Synthetic Underwater Dataset* (2021) flies its sequences."""
    heading: Literal["pid", "sliding"] = "pid"
    """A PID, or a sliding mode, which bears more with a model that is wrong."""
    wave_frequency: Annotated[RadiansPerSecond, Field(gt=0, le=20)] | None = None
    """At which waves are met; station keeping then leaves the motion of this frequency alone. That
    of the world's waves when left out, for craft on the surface that need it."""
    gains: dict[Loop, LoopGains] = {}
    """Gains of your own by loop; `seatrial tune` prints those that are designed, and whether yours
    are fit (`seatrial tune VEHICLE --gain heading=107,14.5,83`)."""
