"""Description of a vehicle: what it weighs, how it floats, what the water does to it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.conventions import SEAWATER_DENSITY
from seatrial.spec.actuators import Actuator
from seatrial.spec.base import (
    CubicMetres,
    KgPerCubicMetre,
    Kilograms,
    Metres,
    MetresPerSecond,
    Newtons,
    Number,
    Plain,
    Position,
    Radians,
    Spec,
    SquareMetres,
    Unit,
    Vector,
)
from seatrial.spec.hull import Hull
from seatrial.spec.sensors import AnySensor


class Inertia(Spec):
    """Mass and how it is spread."""

    mass: Annotated[Kilograms, Field(gt=0)]
    """Dry mass with everything on board."""
    centre_of_gravity: Position = (0.0, 0.0, 0.0)
    """In the body frame."""
    gyration: Annotated[Vector, Unit("m")] | None = None
    """Radii of gyration in roll, pitch and yaw about the centre of gravity."""
    moments: Annotated[Vector, Unit("kg m^2")] | None = None
    """Ixx, Iyy, Izz about the centre of gravity."""
    products: Annotated[Vector, Unit("kg m^2")] = (0.0, 0.0, 0.0)
    """Ixy, Ixz, Iyz about the centre of gravity (integrals of x y dm and so on)."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.gyration is None) == (self.moments is None):
            raise ValueError("give either `gyration` (three radii, m) or `moments` (kg m²)")
        given = self.gyration or self.moments or ()
        if any(value <= 0 for value in given):
            raise ValueError(f"every moment of inertia must be positive, found {list(given)}")
        return self


class Block(Spec):
    """A wall-sided piece of the hull under the waterline."""

    shape: Literal["box", "ellipse"]
    """Shape of its waterplane."""
    length: Annotated[Metres, Field(gt=0)]
    """Along the body's x axis."""
    beam: Annotated[Metres, Field(gt=0)]
    """Along the body's y axis."""
    draught: Annotated[Metres, Field(gt=0)]
    """Depth of its flat bottom under the waterline at rest."""
    at: Annotated[tuple[Number, Number], Field(strict=False), Unit("m")] = (0.0, 0.0)
    """x and y of its centre in the body frame."""


class SurfaceBuoyancy(Spec):
    """A craft that floats on the surface, held up by its waterplane."""

    craft: Literal["surface"]
    """Selects this form."""
    blocks: Annotated[tuple[Block, ...], Field(strict=False, min_length=1, max_length=20)]
    """The underwater hull as wall-sided blocks; they give the wave forces, and the hydrostatic
    figures below where those are left out."""
    waterline: Metres = 0.0
    """z of the waterline at rest in the body frame; 0 puts the origin on the waterline."""
    draught: Annotated[Metres, Field(gt=0)] | None = None
    """Depth of the keel under the waterline at rest: what touches the bottom first, and what is
    left of `height` is freeboard. That of the deepest block when left out; a block that stands for
    a finer hull is less deep than the hull."""
    waterplane_area: Annotated[SquareMetres, Field(gt=0)] | None = None
    """From the blocks when left out."""
    centre_of_flotation: Metres | None = None
    """x of the centroid of the waterplane; from the blocks when left out."""
    transverse_metacentric_height: Metres | None = None
    """GM_T; from the blocks and the centre of gravity when left out."""
    longitudinal_metacentric_height: Metres | None = None
    """GM_L; likewise."""

    @property
    def keel_depth(self) -> float:
        """Draught of the craft, stated or that of its deepest block, m."""
        return self.draught or max(block.draught for block in self.blocks)

    @model_validator(mode="after")
    def _check(self) -> Self:
        deepest = max(block.draught for block in self.blocks)
        if self.draught is not None and self.draught < deepest:
            raise ValueError(
                f"`draught` ({self.draught:g} m) must not be less than that of the deepest block "
                f"({deepest:g} m): the blocks are inside the hull"
            )
        return self


class SubmergedBuoyancy(Spec):
    """A craft that lives under water."""

    craft: Literal["submerged"]
    """Selects this form."""
    volume: Annotated[CubicMetres, Field(gt=0)] | None = None
    """Displaced volume when fully under water."""
    force: Annotated[Newtons, Field(gt=0)] | None = None
    """Buoyancy in water of the reference density, an alternative to `volume`."""
    trim: Literal["neutral"] | None = None
    """An alternative to `volume` and `force`: `neutral` for a craft that is ballasted before every
    run until it weighs what it displaces in the scenario's water at the depth where it starts."""
    centre: Position = (0.0, 0.0, 0.0)
    """Centre of buoyancy in the body frame."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(given is not None for given in (self.volume, self.force, self.trim)) != 1:
            raise ValueError(
                "give either `volume` (m³), `force` (N in reference water) or `trim: neutral`"
            )
        return self


class Nondimensional(Spec):
    """Reference quantities of coefficients given in SNAME's prime system.

    Forces are divided by ½ρU²L², moments by ½ρU²L³, velocities by U, angular velocities by U/L,
    masses by ½ρL³. With a `draught` d one L of these areas and volumes is d, as in the MMG method:
    forces by ½ρU²Ld, moments by ½ρU²L²d, masses by ½ρL²d.
    """

    length: Annotated[Metres, Field(gt=0)]
    """Reference length L."""
    draught: Annotated[Metres, Field(gt=0)] | None = None
    """Reference draught d; the length when left out."""
    speed: Annotated[MetresPerSecond, Field(gt=0)] | Literal["instantaneous"]
    """Reference speed U: a number, or `instantaneous` for the speed through the water."""


class Spheroid(Spec):
    """A prolate spheroid whose added mass stands for the hull's (Lamb 1932; Imlay 1961)."""

    length: Annotated[Metres, Field(gt=0)]
    """Along the body's x axis."""
    diameter: Annotated[Metres, Field(gt=0)]
    """Across it."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.length < self.diameter:
            raise ValueError(
                f"`length` ({self.length:g} m) must not be less than `diameter` "
                f"({self.diameter:g} m): the spheroid is a prolate one"
            )
        return self


class CrossFlow(Spec):
    """Quadratic drag of a hull in cross flow, by strips (Faltinsen 1990; Fossen 2021, 6.5)."""

    length: Annotated[Metres, Field(gt=0)]
    """Length of the stripped part of the hull."""
    centre: Metres = 0.0
    """x of its middle in the body frame."""
    draught: Annotated[Metres, Field(gt=0)]
    """Depth of a section, seen by the flow from the side."""
    beam: Annotated[Metres, Field(gt=0)]
    """Breadth of a section, seen by the flow from below; also sets Hoerner's B/2T."""
    drag: Annotated[Plain, Field(gt=0, le=5)] | Literal["hoerner"] = "hoerner"
    """Two-dimensional drag coefficient, or Hoerner's curve over B/2T."""
    vertical_plane: bool = False
    """Whether heave and pitch are damped in the same way (a body of revolution)."""
    strips: Annotated[int, Field(ge=2, le=200)] = 20
    """Number of strips."""
    fitted: bool = False
    """Replace the strips by the fitted form Y_v|v|, Y_v|r|, Y_|v|r, Y_r|r| when compiling."""


class Hydrodynamics(Spec):
    """What the water does to the hull."""

    reference_density: Annotated[KgPerCubicMetre, Field(gt=0)] = SEAWATER_DENSITY
    """Density of the water to which the coefficients belong; forces scale with the local one."""
    coefficients: dict[str, Number] = {}
    """Coefficients by name, for example `X_u_au`, `Y_vd`, `N_ur`, `Y_v_v_delta`, `Y_0`."""
    nondimensional: Nondimensional | None = None
    """Present when the coefficients are in the prime system."""
    dimensional_coefficients: dict[str, Number] = {}
    """Coefficients in SI units beside those of the prime system, for example a damping that does
    not vanish when the vehicle stops, or an added mass in kilograms."""
    radiation_damping: dict[str, Number] = {}
    """Damping by the waves that the hull makes, in SI units, named like coefficients (`Z_w`) and
    added to them. A hull with `hydrodynamics: potential` solves for it and leaves these out; one
    with `surface` keeps them beside its forces."""
    about_speed: Annotated[MetresPerSecond, Field(ge=0)] = 0.0
    """Surge speed about which the coefficients are a perturbation: u stands for u − this. With an
    `instantaneous` reference speed the polynomial is used as it stands down to two thirds of this
    speed on a straight course, and continued below that down to rest and astern."""
    rigid_body_coriolis: bool = True
    """False when the coefficients already hold the rigid body's Coriolis terms."""
    added_mass_coriolis: bool = True
    """False when the coefficients already hold the added mass's Coriolis terms."""
    added_mass_spheroid: Spheroid | None = None
    """Adds the added mass of a spheroid about the origin, for a hull of which no acceleration
    coefficients are known."""
    crossflow: CrossFlow | None = None
    """Cross-flow drag by strips."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.dimensional_coefficients and self.nondimensional is None:
            raise ValueError(
                "`dimensional_coefficients` stand beside those of the prime system; without "
                "`nondimensional` all coefficients are dimensional: write them into `coefficients`"
            )
        return self


class WindLoads(Spec):
    """Wind on the part above the water (Fossen 2021, section 10.1, symmetric form)."""

    frontal_area: Annotated[SquareMetres, Field(gt=0)]
    """Projected area seen from ahead."""
    lateral_area: Annotated[SquareMetres, Field(gt=0)]
    """Projected area seen from abeam."""
    height: Annotated[Metres, Field(ge=0)] = 0.0
    """Height of the lateral area's centroid above the waterline."""
    surge: Annotated[Plain, Field(ge=0, le=2)] = 0.7
    """c_x: C_X = −c_x cos γ."""
    sway: Annotated[Plain, Field(ge=0, le=2)] = 0.8
    """c_y: C_Y = c_y sin γ."""
    yaw: Annotated[Plain, Field(ge=-1, le=1)] = 0.1
    """c_n: C_N = c_n sin 2γ."""


class Manoeuvring(Spec):
    """How orders from the bridge become commands, for the standard manoeuvres."""

    helm: dict[str, Number]
    """Command added per radian of helm to starboard, by channel. A channel with a unit in its
    name (`left_rpm`) is given in that unit."""
    ahead: dict[str, Number]
    """Commands at engine order 1 (service speed), by channel; order −1 is full astern."""


class Lamp(Spec):
    """A lamp with a round beam, by which the vehicle's own cameras see."""

    position: Position = (0.0, 0.0, 0.0)
    """Where it sits, in the body frame."""
    pitch: Radians = 0.0
    """Up from level, in the body frame."""
    yaw: Radians = 0.0
    """To starboard of ahead."""
    luminous_intensity: Annotated[Number, Field(gt=0, le=1e7), Unit("cd")] = 500.0
    """On its axis."""
    half_angle: Annotated[Radians, Field(gt=0, le=1.4)] = 0.6
    """From its axis to where half of that is left."""


class Vehicle(Spec):
    """A vehicle.

    >>> otter = st.load("otter", st.Vehicle)
    >>> heavy = otter.model_copy(update={"name": "heavy_otter"})
    >>> st.Scenario(vehicles=[{"vehicle": heavy}]).vehicles[0].name
    'heavy_otter'
    """

    kind: Literal["vehicle"] = "vehicle"
    """Says what this file describes."""
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
    """Short name: lower case, digits, underscore."""
    description: str = ""
    """One line for people."""
    source: str
    """Where the numbers come from."""
    length: Annotated[Metres, Field(gt=0)]
    """Overall length; manoeuvring indices are divided by it."""
    beam: Annotated[Metres, Field(gt=0)]
    """Overall breadth."""
    height: Annotated[Metres, Field(gt=0)]
    """Overall height of the hull."""
    stable: bool = True
    """Whether the craft is meant to right itself; a description that cannot is then refused."""
    inertia: Inertia
    """Mass properties."""
    buoyancy: Annotated[SurfaceBuoyancy | SubmergedBuoyancy, Field(discriminator="craft")]
    """How it is held up."""
    hydrodynamics: Hydrodynamics = Hydrodynamics()
    """Added mass, damping, lift."""
    hull: Hull | None = None
    """The hull as a closed surface, for forces on it and to draw it."""
    wind: WindLoads | None = None
    """Wind loads; none when left out."""
    actuators: Annotated[tuple[Actuator, ...], Field(strict=False, max_length=50)] = ()
    """Thrusters, fins and tanks, in the order of the command vector."""
    manoeuvring: Manoeuvring | None = None
    """Needed only for the standard manoeuvres."""
    sensors: Annotated[tuple[AnySensor, ...], Field(strict=False, max_length=50)] = ()
    """What it can measure; every sensor has its own rate, place and errors."""
    lights: Annotated[tuple[Lamp, ...], Field(strict=False, max_length=16)] = ()
    """Lamps that its cameras see by."""
