"""Description of a hull: its shape, and which forces are computed on it."""

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
    Spec,
    Unit,
)

Length = Annotated[Metres, Field(gt=0, le=1000)]
Pair = Annotated[
    tuple[Annotated[Number, Field(ge=0)], Annotated[Number, Field(ge=0)]],
    Field(strict=False),
    Unit("1"),
]


class BargeForm(Spec):
    """A box."""

    length: Length
    """Along the body's x axis."""
    beam: Length
    """Across it."""
    draught: Length
    """From the waterline down to the bottom."""
    freeboard: Length
    """From the waterline up to the deck."""


class WigleyForm(Spec):
    """A hull of parabolas, y = B/2 (1 − |2x/L|^p)(1 − (z/T)^q); upright above the water."""

    length: Length
    """On the waterline."""
    beam: Length
    """On the waterline."""
    draught: Length
    """From the waterline down to the keel."""
    freeboard: Length
    """From the waterline up to the deck."""
    waterline_power: Annotated[Plain, Field(ge=1, le=20)] = 2.0
    """p: the waterplane coefficient is p/(p + 1)."""
    section_power: Annotated[Plain, Field(ge=0.5, le=20)] = 2.0
    """q: the block coefficient is that times q/(q + 1)."""


class VHullForm(Spec):
    """A planing boat with one deadrise, a hard chine and a transom."""

    length: Length
    """Overall."""
    beam: Length
    """Between the chines."""
    draught: Length
    """From the waterline down to the keel."""
    freeboard: Length
    """From the waterline up to the deck."""
    deadrise: Annotated[Radians, Field(ge=0, le=1.2)] = math.radians(18.0)
    """Of the bottom against the level."""


class TorpedoForm(Spec):
    """A body of revolution with Myring's nose and tail."""

    length: Length
    """Overall."""
    diameter: Length
    """Of its parallel middle."""
    nose: Length
    """Length of the nose."""
    tail: Length
    """Length of the tail."""
    nose_power: Annotated[Plain, Field(ge=1, le=5)] = 2.0
    """n of Myring's nose; 2 is an ellipsoid."""
    tail_angle: Annotated[Radians, Field(ge=0, le=1.2)] = math.radians(25.0)
    """Half of the angle at the tip of the tail."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.nose + self.tail > self.length:
            raise ValueError(
                f"`nose` and `tail` ({self.nose:g} + {self.tail:g} m) must not be longer together "
                f"than `length` ({self.length:g} m)"
            )
        return self


class SphereForm(Spec):
    """A sphere."""

    radius: Length
    """From its middle."""


class SurfaceDrag(Spec):
    """What moving water does to each wet triangle (Kerner 2015; ITTC 1957; von Karman 1929)."""

    form_factor: Annotated[Plain, Field(ge=0, le=3)] = 0.1
    """k: friction is (1 + k) times that of a flat plate."""
    pressure: Pair = (0.0, 1.0)
    """Coefficients of v_ref v and of v² on triangles that push the water, times ½ρ and the cosine
    between the flow and their normal."""
    suction: Pair = (0.0, 0.5)
    """The same on triangles that leave it behind."""
    reference_speed: Annotated[MetresPerSecond, Field(gt=0)] = 1.0
    """v_ref."""
    slamming: Annotated[Plain, Field(ge=0, le=10)] = 1.0
    """Water that an entering triangle takes along, as a share of π/8 of the vehicle's beam."""


SHAPES = ("file", "barge", "wigley", "v_hull", "torpedo", "sphere")


class Hull(Spec):
    """A vehicle's hull as a closed surface, and the forces that are computed on it."""

    file: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """STL, OBJ or PLY from where this description lies, in metres and the body's axes (forward,
    starboard, down), as `seatrial hull` writes it."""
    barge: BargeForm | None = None
    """A box, its middle on the waterline at the origin."""
    wigley: WigleyForm | None = None
    """A displacement hull, amidships on the waterline at the origin."""
    v_hull: VHullForm | None = None
    """A planing boat, amidships on the waterline at the origin."""
    torpedo: TorpedoForm | None = None
    """A body of revolution about its middle."""
    sphere: SphereForm | None = None
    """A sphere about its middle."""
    separation: Length | None = None
    """Distance between the centre planes of two such hulls side by side: a catamaran."""
    position: Position = (0.0, 0.0, 0.0)
    """Of the hull's origin in the body frame. A floating hull is then raised or lowered until it
    displaces what the vehicle weighs at its waterline."""
    panel: Length | None = None
    """Longest edge of its panels; a twenty-fifth of its length when left out."""
    hydrostatics: Literal["linear", "mesh", "voxel"] = "linear"
    """What holds the craft up: the stiffness of its waterplane, the pressure on the wet triangles,
    or cubes inside the hull."""
    hydrodynamics: Literal["coefficients", "surface", "potential"] = "coefficients"
    """What moving water does: the coefficients, friction and pressure on each wet triangle in
    place of their damping, or waves and radiation by a boundary-element solution beside it."""
    results: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """What WAMIT (its `.1`, beside the `.3`, ULEN 1) or Nemoh (its folder of results) computed, in
    place of a solution of our own for `potential`; from where this description lies."""
    voxel: Length | None = None
    """Edge of the cubes; when left out a twentieth of the hull's length, or a quarter of its height
    if that is less."""
    surface: SurfaceDrag = SurfaceDrag()
    """Numbers of `hydrodynamics: surface`."""

    @property
    def shape(self) -> str:
        """Which of the shapes it has."""
        return next(name for name in SHAPES if getattr(self, name) is not None)

    @property
    def has_forces(self) -> bool:
        """Whether forces are computed on it, beyond stiffness and coefficients."""
        return self.hydrostatics != "linear" or self.hydrodynamics != "coefficients"

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in SHAPES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"give one shape ({', '.join(f'`{s}`' for s in SHAPES)}), found {given or 'none'}"
            )
        if self.results is not None and (
            self.hydrodynamics != "potential" or self.hydrostatics != "linear"
        ):
            raise ValueError(
                "`results` hold the whole wave load: they go with `hydrodynamics: potential` and "
                "`hydrostatics: linear`"
            )
        return self
