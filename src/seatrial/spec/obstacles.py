"""Description of what is in the way: other vessels, and shapes that nobody may enter."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from seatrial.spec.base import (
    Metres,
    MetresPerSecond,
    Number,
    Radians,
    RadiansPerSecond,
    Seconds,
    Spec,
    Unit,
)

Point = Annotated[tuple[Number, Number], Field(strict=False)]
Place = Annotated[Point, Unit("m")]
"""North and east."""
Outline = Annotated[tuple[Point, ...], Field(strict=False, min_length=3, max_length=50), Unit("m")]
Positive = Annotated[Metres, Field(gt=0)]
Margin = Annotated[Metres, Field(ge=0)]


class Waypoint(Spec):
    """Where a vessel or a body is at a certain time."""

    time: Annotated[Seconds, Field(gt=0)]
    """Since the start of the run."""
    position: Place
    """North and east."""


class Vessel(Spec):
    """Another vessel: she keeps her course and speed, or a timetable, and gives way to nobody."""

    position: Place
    """Where she is at the start of the run, north and east."""
    course: Radians = 0.0
    """Over ground, clockwise from north."""
    speed: Annotated[MetresPerSecond, Field(ge=0, le=50)] = 0.0
    """Over ground."""
    waypoints: Annotated[tuple[Waypoint, ...], Field(strict=False, max_length=50)] = ()
    """Where she is at certain times, in place of course and speed: straight and at a constant speed
    in between, and on as before after the last one."""
    length: Positive
    """Of the hull."""
    beam: Positive
    """Of the hull."""
    safety_radius: Positive | None = None
    """Distance from her middle within which nobody is to come; when left out √(length² + beam²),
    twice the circle around the hull."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        moves = {"course", "speed"} & self.model_fields_set
        if self.waypoints and moves:
            raise ValueError("give either `course` and `speed`, or `waypoints`, not both")
        times = [w.time for w in self.waypoints]
        if times != sorted(set(times)):
            raise ValueError(f"times of `waypoints` must increase, found {times}")
        return self


class Circle(Spec):
    """A round shape: a rock, a wind turbine."""

    centre: Place
    """North and east."""
    radius: Positive
    """Of the shape."""
    margin: Margin = 2.0
    """Wanted between the shape and a vehicle's safety circle."""


class Polygon(Spec):
    """A convex shape: a quay, a pontoon, a piece of a coast."""

    corners: Outline
    """North and east of each, in order, either way round."""
    margin: Margin = 2.0
    """Wanted between the shape and a vehicle's safety circle."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_convex(self.corners, "corners")
        return self


class Obstacle(Spec):
    """One of these."""

    vessel: Vessel | None = None
    """Another vessel."""
    circle: Circle | None = None
    """A round shape."""
    polygon: Polygon | None = None
    """A convex shape."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [n for n in ("vessel", "circle", "polygon") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError(
                f"give one of `vessel`, `circle` and `polygon`, found {given or 'none'}"
            )
        return self


class Avoidance(Spec):
    """How a vehicle keeps clear of vessels and shapes: velocity obstacles and COLREGs 13 to 17.

    With an `ais` or `radar` among its sensors it keeps clear of the vessels that these tell of:
    other vehicles of the run, and the scenario's. Without, it knows where the scenario's are.

    With an `obstacle_sonar`, `lidar` or `radar_image` it also goes round what these see, which no
    chart knows: of their echoes at its own height the nearest in every 5° of bearing, as points
    that stand still.
    """

    clearance: Positive | None = None
    """Wanted between safety circles of vessels; five lengths of the vehicle when left out."""
    safety_radius: Positive | None = None
    """Of the vehicle's own circle; √(length² + beam²) when left out."""
    horizon: Annotated[Seconds, Field(gt=0, le=3600)] = 60.0
    """How far ahead a close approach to a vessel makes a risk of collision."""
    shape_horizon: Annotated[Seconds, Field(gt=0, le=3600)] = 30.0
    """How far ahead running into a shape matters."""
    reaction: Annotated[Seconds, Field(ge=0, le=3600)] = 20.0
    """A vessel that should stand on acts when one that does not give way is as near as the
    clearance and the way she comes closer in this time (rule 17)."""
    lag: Annotated[Seconds, Field(ge=0, le=600)] | None = None
    """Between a decision and its first effect; that of the designed heading loop when left out."""
    turn_rate: Annotated[RadiansPerSecond, Field(gt=0, le=10)] | None = None
    """At which the vehicle changes its course; that of the designed heading loop when left out."""
    timeout: Annotated[Seconds, Field(gt=0, le=3600)] | None = None
    """After which a vessel that its AIS receiver or radar no longer tells of is forgotten; when
    left out five reports, at least 10 s."""
    margin: Positive = 1.0
    """Wanted between what a ranging sensor sees and the vehicle's safety circle."""
    memory: Annotated[Seconds, Field(gt=0, le=3600)] = 20.0
    """For how long an echo of a ranging sensor is believed."""
    period: Annotated[Seconds, Field(gt=0, le=60)] = 1.0
    """Between decisions."""


def check_convex(corners: tuple[Point, ...], name: str) -> None:
    """Refuse corners that are none of a convex polygon."""
    turns = _turns(corners)
    if not (all(t > 0.0 for t in turns) or all(t < 0.0 for t in turns)):
        raise ValueError(
            f"`{name}` must be the corners of a convex polygon, in order and none on the line of "
            "its neighbours; make a hollow shape of several convex ones"
        )
    if abs(_winding(corners)) != 1:
        raise ValueError(f"the outline of `{name}` crosses itself")


def _turns(corners: tuple[Point, ...]) -> list[float]:
    """Cross product of the edges before and after each corner."""
    count = len(corners)
    turns = []
    for i in range(count):
        (a, b), (c, d), (e, f) = corners[i - 1], corners[i], corners[(i + 1) % count]
        turns.append((c - a) * (f - d) - (d - b) * (e - c))
    return turns


def _winding(corners: tuple[Point, ...]) -> int:
    """How often the outline goes around: a star turns one way at each corner, but twice."""
    flips = 0
    steps = [corners[i][0] - corners[i - 1][0] for i in range(len(corners))]
    signs = [s > 0.0 for s in steps if s != 0.0]
    for before, after in zip(signs, [*signs[1:], signs[0]], strict=True):
        flips += before != after
    return flips // 2
