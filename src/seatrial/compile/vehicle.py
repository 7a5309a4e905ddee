"""A vehicle description and a sea to a Model, or a clear refusal."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.actuators import (
    Channel,
    channels_of,
    compile_actuators,
    expand,
    symbols_of,
)
from seatrial.compile.coefficients import Polynomial, compile_coefficients
from seatrial.conventions import GRAVITY
from seatrial.core import rigid_body
from seatrial.core.forces.coefficients import Coefficients
from seatrial.core.forces.crossflow import (
    CrossFlow,
    fitted_coefficients,
    hoerner,
    strip_positions,
)
from seatrial.core.forces.grounding import Grounding
from seatrial.core.forces.restoring import SubmergedRestoring, SurfaceRestoring
from seatrial.core.forces.wave_excitation import Contribution, WaveExcitation
from seatrial.core.forces.wind import WindLoads
from seatrial.core.types import Model
from seatrial.errors import Path, Problem, SpecError
from seatrial.hull import froude_krylov
from seatrial.hull.blocks import Block, hydrostatics
from seatrial.ocean import Ocean
from seatrial.ocean.waves import Waves
from seatrial.spec import actuators as actuator_spec
from seatrial.spec import vehicle as spec
from seatrial.spec.base import Spec

Array = NDArray[np.float64]
DType = np.dtype[Any]

SLICES = 5
"""Slices along an underwater hull that leave the water one by one."""
CONTACT_PERIOD = 0.5
"""Natural period of the contact with the bottom, s."""


@dataclass(frozen=True)
class CompiledVehicle:
    """A Model and what is needed to talk to it."""

    model: Model
    channels: tuple[Channel, ...]
    actuator_states: int


@dataclass(frozen=True)
class _Hull:
    """Figures that several parts of the Model need."""

    rigid: Array
    added: Array
    volume: float
    restoring: SurfaceRestoring | SubmergedRestoring
    below_origin: float
    """Distance from the origin to the keel, m."""


def compile_vehicle(
    vehicle: spec.Vehicle,
    ocean: Ocean,
    dtype: DType,
    integrator: str = "rk4",
    excitation: WaveExcitation | None = None,
) -> CompiledVehicle:
    """Build the Model; call inside `jax.enable_x64(True)`.

    `excitation` takes the place of integrating the waves over the hull (stage one).
    """
    actuators = expand(vehicle.actuators)
    channels = channels_of(actuators)
    _check_names(vehicle, channels)
    symbols = symbols_of(actuators, channels)
    crossflow, fitted = _crossflow(vehicle, dtype)
    polynomial = compile_coefficients(vehicle.hydrodynamics, fitted, symbols)
    _check_fins(vehicle, actuators, symbols, polynomial)
    rigid = _rigid_body(vehicle)
    _check_mass_matrix(vehicle, rigid, polynomial.added_mass)
    restoring = _restoring(vehicle, dtype)
    hull = _Hull(
        rigid,
        polynomial.added_mass,
        float(restoring.volume),
        restoring,
        _below_origin(vehicle),
    )
    runtime, states = compile_actuators(actuators, channels, 0.5 * vehicle.height, dtype)
    model = Model(
        inertia=rigid_body.build(
            rigid,
            polynomial.added_mass,
            vehicle.inertia.mass,
            dtype,
            rigid_coriolis=vehicle.hydrodynamics.rigid_body_coriolis,
            added_coriolis=vehicle.hydrodynamics.added_mass_coriolis
            and bool(np.any(polynomial.added_mass)),
        ),
        restoring=restoring,
        actuators=runtime,
        reference_density=jnp.asarray(vehicle.hydrodynamics.reference_density, dtype),
        coefficients=_polynomial(vehicle, polynomial, dtype),
        crossflow=crossflow,
        wind=_wind(vehicle, dtype) if ocean.wind is not None else None,
        excitation=excitation or _excitation(vehicle, hull, ocean.waves, dtype),
        grounding=_grounding(hull, dtype) if ocean.seabed is not None else None,
        integrator=integrator,
        channels=len(channels),
    )
    return CompiledVehicle(model, tuple(channels), states)


def _check_names(vehicle: spec.Vehicle, channels: list[Channel]) -> None:
    names = [c.name for c in channels]
    for name in names:
        if names.count(name) > 1:
            raise vehicle.error(
                ("actuators",),
                f"two command channels are called `{name}`",
                expected="every actuator with a name of its own",
                mend="rename one of them",
            )
    if vehicle.manoeuvring is not None:
        for table in ("helm", "ahead"):
            resolve_channels(
                vehicle.manoeuvring, (table,), getattr(vehicle.manoeuvring, table), channels
            )


def resolve_channels(
    owner: Spec | None, path: Path, table: Mapping[str, float], channels: list[Channel]
) -> list[float]:
    """Values in SI by channel, zero where a channel is not named; `owner` places the error."""
    values = [0.0] * len(channels)
    for key, value in table.items():
        for i, channel in enumerate(channels):
            factor = channel.split(key)
            if factor is not None:
                values[i] = value * factor
                break
        else:
            known = [k for c in channels for k in c.keys]
            close = difflib.get_close_matches(key, known, n=1)
            listed = ", ".join(f"{c.name} ({c.unit})" for c in channels) or "none"
            problem = (owner.problem if owner is not None else Problem)(
                path=(*path, key),
                message=f"there is no command channel `{key}`",
                value=value,
                expected=f"a channel of this vehicle: {listed}",
                mend=f"did you mean `{close[0]}`?" if close else "rename it or remove it",
            )
            raise SpecError(problem)
    return values


def _check_fins(
    vehicle: spec.Vehicle,
    actuators: list[actuator_spec.Thruster | actuator_spec.Fin | actuator_spec.Ballast],
    symbols: dict[str, int],
    polynomial: Polynomial,
) -> None:
    used = {a for term in polynomial.terms for a in term.actuators}
    for i, fin in enumerate(actuators):
        if not isinstance(fin, actuator_spec.Fin) or fin.lift or fin.table:
            continue
        if symbols.get(fin.name) not in used:
            symbol = fin.symbol or fin.name
            raise vehicle.error(
                ("actuators", i),
                f"the fin `{fin.name}` would have no effect",
                expected="`lift`, `table`, or a coefficient that names it",
                mend=f"add for example `Y_u_u_{symbol}` to hydrodynamics.coefficients",
            )


def _rigid_body(vehicle: spec.Vehicle) -> Array:
    inertia = vehicle.inertia
    if inertia.moments is not None:
        moments = np.array(inertia.moments)
    else:
        moments = inertia.mass * np.array(inertia.gyration) ** 2
    xy, xz, yz = inertia.products
    tensor = np.diag(moments) - np.array([[0, xy, xz], [xy, 0, yz], [xz, yz, 0.0]])
    a, b, c = np.sort(np.linalg.eigvalsh(tensor))
    if a <= 0 or c > (a + b) * (1 + 1e-9):
        raise vehicle.error(
            ("inertia",),
            "no body has these moments of inertia",
            value=[round(float(v), 6) for v in (a, b, c)],
            expected="positive principal moments, none larger than the sum of the other two",
            mend="check the radii of gyration or moments; they are about the centre of gravity",
        )
    return rigid_body.rigid_body_matrix(inertia.mass, np.array(inertia.centre_of_gravity), tensor)


def _check_mass_matrix(vehicle: spec.Vehicle, rigid: Array, added: Array) -> None:
    total = rigid + added
    lowest = float(np.linalg.eigvalsh(0.5 * (total + total.T)).min())
    if lowest <= 0:
        raise vehicle.error(
            ("hydrodynamics", "coefficients"),
            "the mass matrix M_RB + M_A is not positive definite",
            value=f"smallest eigenvalue {lowest:.3g}",
            expected="positive: pushing the vehicle must accelerate it the same way",
            mend="check the signs of the acceleration terms: X_ud, Y_vd, … are negative numbers",
        )


def _polynomial(vehicle: spec.Vehicle, polynomial: Polynomial, dtype: DType) -> Coefficients | None:
    if not polynomial.terms:
        return None
    return Coefficients(
        values=jnp.asarray(polynomial.values, dtype),
        about_speed=jnp.asarray(vehicle.hydrodynamics.about_speed, dtype),
        terms=polynomial.terms,
    )


def _crossflow(vehicle: spec.Vehicle, dtype: DType) -> tuple[CrossFlow | None, dict[str, float]]:
    flow = vehicle.hydrodynamics.crossflow
    if flow is None:
        return None, {}
    drag = hoerner(flow.beam, flow.draught) if flow.drag == "hoerner" else float(flow.drag)
    x = strip_positions(flow.length, flow.centre, flow.strips)
    unit = 0.5 * vehicle.hydrodynamics.reference_density * drag * flow.length / flow.strips
    if flow.fitted:
        extra = fitted_coefficients(x, unit * flow.draught)
        if flow.vertical_plane:
            # The vertical plane is the horizontal one turned: (v, r, N) -> (w, −q, −M).
            vertical = fitted_coefficients(x, unit * flow.beam)
            turned = {"v_av": "w_aw", "av_r": "aw_q", "v_ar": "w_aq", "r_ar": "q_aq"}
            for old, new in turned.items():
                odd = -1.0 if old in ("av_r", "r_ar") else 1.0
                extra[f"Z_{new}"] = odd * vertical[f"Y_{old}"]
                extra[f"M_{new}"] = -odd * vertical[f"N_{old}"]
        return None, extra
    return (
        CrossFlow(
            x=jnp.asarray(x, dtype),
            sway=jnp.asarray(unit * flow.draught, dtype),
            heave=jnp.asarray(unit * flow.beam, dtype) if flow.vertical_plane else None,
        ),
        {},
    )


def _blocks(buoyancy: spec.SurfaceBuoyancy) -> tuple[Block, ...]:
    return tuple(
        Block(b.shape == "ellipse", b.length, b.beam, b.draught, *b.at) for b in buoyancy.blocks
    )


def _restoring(vehicle: spec.Vehicle, dtype: DType) -> SurfaceRestoring | SubmergedRestoring:
    if isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        return _surface_restoring(vehicle, vehicle.buoyancy, dtype)
    return _submerged_restoring(vehicle, vehicle.buoyancy, dtype)


def _surface_restoring(
    vehicle: spec.Vehicle, buoyancy: spec.SurfaceBuoyancy, dtype: DType
) -> SurfaceRestoring:
    blocks = hydrostatics(_blocks(buoyancy))
    volume = vehicle.inertia.mass / vehicle.hydrodynamics.reference_density
    if not 0.5 < blocks.volume / volume < 2.5:
        raise vehicle.error(
            ("buoyancy", "blocks"),
            "the blocks do not displace what the vehicle weighs",
            value=f"{blocks.volume:.4g} m³ of blocks, {volume:.4g} m³ of water weigh as much",
            expected="blocks that displace between half and two and a half times the weight",
            mend="check mass, length, beam and draught",
        )
    gravity_depth = vehicle.inertia.centre_of_gravity[2] - buoyancy.waterline
    heights = []
    for name, given, radius in (
        ("transverse", buoyancy.transverse_metacentric_height, blocks.transverse_radius),
        ("longitudinal", buoyancy.longitudinal_metacentric_height, blocks.longitudinal_radius),
    ):
        # GM = KB + BM − KG, with depths below the waterline: BM − z_B + z_G
        height = given if given is not None else radius - blocks.buoyancy_depth + gravity_depth
        if vehicle.stable and height <= 0:
            key = f"{name}_metacentric_height"
            raise vehicle.error(
                ("buoyancy", key) if given is not None else ("inertia", "centre_of_gravity"),
                f"the centre of gravity lies above the {name} metacentre: the craft would capsize",
                value=f"GM = {height:.3g} m",
                expected="a positive metacentric height for a craft that is `stable: true`",
                mend="lower the centre of gravity (z is down), widen the hull, "
                "or say `stable: false`",
            )
        heights.append(height)
    draught = max(b.draught for b in buoyancy.blocks)
    if draught >= vehicle.height:
        raise vehicle.error(
            ("height",),
            "the hull is no higher than it is deep in the water: its deck would be awash",
            value=vehicle.height,
            expected=f"more than the draught of {draught:g} m",
            mend="`height` is measured from the keel to the deck",
        )
    flotation = (
        blocks.flotation if buoyancy.centre_of_flotation is None else buoyancy.centre_of_flotation
    )
    return SurfaceRestoring(
        mass=jnp.asarray(vehicle.inertia.mass, dtype),
        volume=jnp.asarray(volume, dtype),
        waterplane_area=jnp.asarray(buoyancy.waterplane_area or blocks.area, dtype),
        flotation=jnp.asarray([flotation, 0.0, buoyancy.waterline], dtype),
        freeboard=jnp.asarray(vehicle.height - draught, dtype),
        gm_transverse=jnp.asarray(heights[0], dtype),
        gm_longitudinal=jnp.asarray(heights[1], dtype),
    )


def _submerged_restoring(
    vehicle: spec.Vehicle, buoyancy: spec.SubmergedBuoyancy, dtype: DType
) -> SubmergedRestoring:
    density = vehicle.hydrodynamics.reference_density
    volume = buoyancy.volume
    if volume is None:
        assert buoyancy.force is not None  # the description holds one of the two
        volume = buoyancy.force / (density * GRAVITY)
    centre = vehicle.inertia.centre_of_gravity
    if vehicle.stable and centre[2] <= buoyancy.centre[2]:
        raise vehicle.error(
            ("inertia", "centre_of_gravity"),
            "the centre of gravity is not below the centre of buoyancy: the craft would roll over",
            value=f"z_G = {centre[2]} m, z_B = {buoyancy.centre[2]} m",
            expected="z_G greater than z_B (z is down) for a craft that is `stable: true`",
            mend="lower the centre of gravity, or say `stable: false`",
        )
    stations = vehicle.length * ((np.arange(SLICES) + 0.5) / SLICES - 0.5)
    return SubmergedRestoring(
        mass=jnp.asarray(vehicle.inertia.mass, dtype),
        volume=jnp.asarray(volume, dtype),
        gravity_centre=jnp.asarray(centre, dtype),
        buoyancy_centre=jnp.asarray(buoyancy.centre, dtype),
        stations=jnp.asarray(stations, dtype),
        height=jnp.asarray(vehicle.height, dtype),
    )


def _below_origin(vehicle: spec.Vehicle) -> float:
    if isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        return vehicle.buoyancy.waterline + max(b.draught for b in vehicle.buoyancy.blocks)
    return vehicle.buoyancy.centre[2] + 0.5 * vehicle.height


def _grounding(hull: _Hull, dtype: DType) -> Grounding:
    mass = float((hull.rigid + hull.added)[2, 2])
    omega = 2.0 * math.pi / CONTACT_PERIOD
    return Grounding(
        extent=jnp.asarray(hull.below_origin, dtype),
        stiffness=jnp.asarray(mass * omega**2, dtype),
        damping=jnp.asarray(1.4 * mass * omega, dtype),
    )


def _wind(vehicle: spec.Vehicle, dtype: DType) -> WindLoads | None:
    if vehicle.wind is None:
        return None
    loads = vehicle.wind
    surface = isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy)
    waterline = (
        vehicle.buoyancy.waterline if isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy) else 0.0
    )
    return WindLoads(
        surge=jnp.asarray(loads.surge * loads.frontal_area, dtype),
        sway=jnp.asarray(loads.sway * loads.lateral_area, dtype),
        yaw=jnp.asarray(loads.yaw * loads.lateral_area * vehicle.length, dtype),
        lever=jnp.asarray(loads.height - waterline, dtype),
        sheltered=not surface,
    )


def _excitation(
    vehicle: spec.Vehicle, hull: _Hull, waves: Waves | None, dtype: DType
) -> WaveExcitation | None:
    if waves is None or not isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        return None
    blocks = _blocks(vehicle.buoyancy)
    sea = froude_krylov.Sea(
        amplitude=np.asarray(waves.amplitude, np.float64),
        omega=np.asarray(waves.omega, np.float64),
        wavenumber=np.asarray(waves.wavenumber, np.float64),
        direction=np.asarray(waves.direction, np.float64),
        depth=None if waves.depth is None else float(waves.depth),
    )
    restoring = hull.restoring
    assert isinstance(restoring, SurfaceRestoring)
    # GM = BM − z_B + z_G: the metacentric radius that belongs to the height in force
    centre_x, _, centre_z = vehicle.inertia.centre_of_gravity
    below = hydrostatics(blocks).buoyancy_depth - (centre_z - vehicle.buoyancy.waterline)
    in_waves = froude_krylov.HullInWaves(
        blocks=blocks,
        waterline=vehicle.buoyancy.waterline,
        waterplane_area=float(restoring.waterplane_area),
        flotation=float(restoring.flotation[0]),
        volume=hull.volume,
        buoyancy=centre_x,
        transverse_radius=float(restoring.gm_transverse) + below,
        longitudinal_radius=float(restoring.gm_longitudinal) + below,
        added_mass=hull.added,
        density=vehicle.hydrodynamics.reference_density,
    )
    matrix, contributions = froude_krylov.heading_harmonics(in_waves, sea)
    return WaveExcitation(
        cosine=jnp.asarray(matrix[:, : len(sea.omega)], dtype),
        sine=jnp.asarray(matrix[:, len(sea.omega) :], dtype),
        north=jnp.asarray(sea.wavenumber * np.cos(sea.direction), dtype),
        east=jnp.asarray(sea.wavenumber * np.sin(sea.direction), dtype),
        contributions=tuple(Contribution(*c) for c in contributions),
    )
