"""Description of what stands, lies, floats and passes in a world."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.conventions import MaterialName
from seatrial.spec.base import Metres, Number, Plain, Position, Radians, Spec, Unit
from seatrial.spec.obstacles import Outline, Point, Positive, Waypoint, check_convex

Size = Annotated[
    tuple[
        Annotated[Number, Field(gt=0)],
        Annotated[Number, Field(gt=0)],
        Annotated[Number, Field(gt=0)],
    ],
    Field(strict=False),
    Unit("m"),
]
"""Length, width and height."""
Where = Annotated[tuple[Number, ...], Field(strict=False, min_length=2, max_length=3), Unit("m")]
Line = Annotated[tuple[Point, ...], Field(strict=False, min_length=2, max_length=200), Unit("m")]
Share = Annotated[Plain, Field(ge=0, le=1)]
Way = Annotated[tuple[Position, ...], Field(strict=False, min_length=2, max_length=200)]


class Box(Spec):
    """A box."""

    size: Size
    """Length, width and height."""


class Cylinder(Spec):
    """An upright cylinder."""

    radius: Positive
    """Of its section."""
    height: Positive
    """From top to bottom."""


class Ball(Spec):
    """A sphere."""

    radius: Positive
    """From its middle."""


class MeshFile(Spec):
    """A surface from a file."""

    file: str
    """STL, OBJ, PLY or GLB, from where this file lies; axes forward, starboard, down."""
    scale: Annotated[Plain, Field(gt=0)] = 1.0
    """Metres per unit of the file."""


class Pipe(Spec):
    """A pipe along straight stretches."""

    waypoints: Way
    """Corners of its middle line, NED from `position`; with `on_bottom` the third number counts
    from where the pipe would lie on the bottom there, so that −0.5 holds it half a metre above."""
    diameter: Positive
    """Outside."""
    supports: Positive | None = None
    """Distance between blocks that carry it, down to the bottom; none when left out."""
    flanges: Positive | None = None
    """Distance between flanges; none when left out."""
    bolts: Annotated[int, Field(ge=0, le=32)] = 0
    """Around each flange."""
    bend: Positive | None = None
    """Radius of its middle line where it turns; a ball joins the stretches when left out."""


class Buoy(Spec):
    """A buoy: an upright cylinder; `position` is its waterline, with two fifths of it in the
    air."""

    diameter: Positive
    """Of the buoy."""
    height: Positive
    """From top to bottom."""


class Pier(Spec):
    """A deck on piles; `position` is the middle of the deck's top, `heading` along it."""

    length: Positive
    """Of the deck."""
    width: Positive
    """Of the deck."""
    thickness: Positive = 0.5
    """Of the deck."""
    piles: Annotated[int, Field(ge=0, le=200)] = 8
    """How many, in two rows."""
    pile_diameter: Positive = 0.4
    """Of each; they reach down to the bottom, or 10 m where there is none."""


class Wall(Spec):
    """An upright wall; `position` is where its points count from, at its middle height."""

    points: Line
    """North and east from `position` of its ends and corners, in order."""
    height: Positive
    """From top to bottom."""
    thickness: Positive = 0.2
    """Across it."""


class Mine(Spec):
    """A sphere on a tether; `position` is where the tether is fastened."""

    diameter: Positive
    """Of the sphere."""
    tether: Positive
    """Length, straight up."""


class Rock(Spec):
    """A lumpy rock whose shape is drawn from the seed; `position` is its middle."""

    size: Positive
    """Mean diameter."""


class Wreck(Spec):
    """A part of a wreck, of rusty steel; how it is bent and where it broke is drawn from the seed.
    `position` is the middle of its underside, `heading` where its forward end points."""

    part: Literal["plate", "ribs", "bow", "mast"]
    """A sheet of the shell, a keel with frames, the shell of the bow, or a mast with a yard."""
    size: Size
    """Length, width and height; of a mast its thickness, the yard's length and its height."""
    tilt: Annotated[Radians, Field(ge=-3.1416, le=3.1416)] = 0.0
    """How far it leans back from upright."""


class Board(Spec):
    """A board with a pattern that programs of vision find; `position` is its middle, and it faces
    `heading`. It is as large as its cells make it, with a white margin."""

    cell: Positive
    """Side of a square of a checker, or of a bit of a marker; the black frame around the bits is
    one wide, so that a marker is six of them."""
    checker: Annotated[
        tuple[Annotated[int, Field(ge=2, le=100)], Annotated[int, Field(ge=2, le=100)]] | None,
        Field(strict=False),
    ] = None
    """Columns and rows of squares."""
    markers: Annotated[
        tuple[Annotated[int, Field(ge=1, le=50)], Annotated[int, Field(ge=1, le=50)]] | None,
        Field(strict=False),
    ] = None
    """Columns and rows of markers of 4 x 4 bits."""
    cells: Annotated[
        tuple[Annotated[str, Field(pattern="^[01]+$", max_length=400)], ...],
        Field(strict=False, max_length=400),
    ] = ()
    """Any pattern: rows of 0 (black) and 1 (white), with its margin."""
    first_marker: Annotated[int, Field(ge=0, le=49)] = 0
    """Number of the first marker in the dictionary; the others follow it."""
    tilt: Annotated[Radians, Field(ge=-1.5708, le=1.5708)] = 0.0
    """How far its face leans back from upright: a quarter turn looks straight up."""
    thickness: Positive = 0.02
    """Of the board."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in ("checker", "markers", "cells") if getattr(self, name)]
        if len(given) != 1:
            raise ValueError(f"give one of `checker`, `markers` and `cells`, found {given}")
        if len({len(row) for row in self.cells}) > 1:
            raise ValueError("rows of `cells` must be of the same length")
        if self.markers and self.first_marker + self.markers[0] * self.markers[1] > 50:
            raise ValueError(
                f"{self.markers[0]} x {self.markers[1]} markers from number {self.first_marker} "
                "on go beyond the 50 of the dictionary: use fewer, or a lower `first_marker`"
            )
        return self


class Afloat(Spec):
    """Rides the waves as a body much smaller than them does, and stays upright."""

    mooring: Annotated[Metres, Field(gt=0, le=1000)]
    """Radius of the circle around `position` that the mooring leaves it."""


class Fender(Spec):
    """Softens contact with the body."""

    stiffness: Annotated[Number, Field(gt=0), Unit("N/m")]
    """Force per depth of the dent."""
    damping: Annotated[Number, Field(ge=0), Unit("N s/m")] = 0.0
    """Force per speed of the dent."""


class Scatter(Spec):
    """Puts many of a body at random places, drawn from the seed."""

    count: Annotated[int, Field(ge=1, le=2000)]
    """How many."""
    area: Outline
    """Corners of a convex area, north and east, in which they lie."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_convex(self.area, "area")
        return self


SHAPES = (
    "box",
    "cylinder",
    "sphere",
    "mesh",
    "pipe",
    "buoy",
    "pier",
    "wall",
    "mine",
    "rock",
    "board",
    "wreck",
)
SINGLE = ("box", "cylinder", "sphere", "mesh", "buoy", "rock", "board")
"""Shapes that are one solid, which may move."""


class WorldBody(Spec):
    """Something in the world: one shape, where it is, what it is made of and how it moves."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^/]+$")]
    """Of its own."""
    box: Box | None = None
    """A box about its middle."""
    cylinder: Cylinder | None = None
    """An upright cylinder about its middle."""
    sphere: Ball | None = None
    """A sphere about its middle."""
    mesh: MeshFile | None = None
    """A surface from a file about its origin."""
    pipe: Pipe | None = None
    """A pipe."""
    buoy: Buoy | None = None
    """A buoy at its waterline."""
    pier: Pier | None = None
    """A deck on piles."""
    wall: Wall | None = None
    """A wall along a line."""
    mine: Mine | None = None
    """A moored mine."""
    rock: Rock | None = None
    """A lumpy rock."""
    board: Board | None = None
    """A board with a pattern for vision."""
    wreck: Wreck | None = None
    """A part of a wreck."""
    position: Where = (0.0, 0.0, 0.0)
    """North, east and down; two numbers where the depth is that of the water's surface, or where
    `on_bottom` says it."""
    on_bottom: bool = False
    """Whether it stands on the bottom under its place: its lowest point, for a rock its lower
    third, touches it."""
    heading: Radians = 0.0
    """Clockwise from north."""
    material: MaterialName | None = None
    """When left out what such things are usually made of."""
    colour: Annotated[tuple[Share, Share, Share] | None, Field(strict=False)] = None
    """Shares of red, green and blue light that it scatters, linear; those of its material when left
    out."""
    kind: str = ""
    """Class for datasets; the name of its shape when left out."""
    path: Annotated[tuple[Waypoint, ...], Field(strict=False, max_length=50)] = ()
    """Where it is at certain times, from `position` at the start: straight and at a constant speed
    in between, and on as before after the last one."""
    afloat: Afloat | None = None
    """Rides the waves."""
    fender: Fender | None = None
    """Softens contact with it; hard when left out."""
    scatter: Scatter | None = None
    """Many of it at random places and headings, in place of its own north, east and heading."""

    @property
    def shape(self) -> str:
        """Which of the shapes it has."""
        return next(name for name in SHAPES if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in SHAPES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"give one shape ({', '.join(f'`{s}`' for s in SHAPES)}), found {given or 'none'}"
            )
        moving = [name for name in ("path", "afloat") if getattr(self, name)]
        if moving and self.shape not in SINGLE:
            raise ValueError(
                f"a `{self.shape}` has several parts and stands still: leave out `{moving[0]}`"
            )
        if self.on_bottom and self.shape in ("buoy", "pier"):
            raise ValueError(
                f"a `{self.shape}` reaches up to the water's surface: leave out `on_bottom`"
            )
        if len(moving) + self.on_bottom > 1:
            ways = [*moving, *(["on_bottom"] if self.on_bottom else [])]
            raise ValueError(f"give one of `path`, `afloat` and `on_bottom`, found {ways}")
        if self.path and self.scatter:
            raise ValueError("a `path` leads through one place: leave out `scatter`")
        if self.on_bottom and len(self.position) == 3 and self.position[2] != 0.0:
            raise ValueError(
                f"`on_bottom` says how deep it is, and so does `position` ({self.position[2]:g} m "
                "down): give two numbers, north and east"
            )
        times = [w.time for w in self.path]
        if times != sorted(set(times)):
            raise ValueError(f"times of `path` must increase, found {times}")
        return self
