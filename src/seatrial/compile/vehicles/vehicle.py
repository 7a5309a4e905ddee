"""A vehicle description and a sea to a Model, or a clear refusal."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.channels import Channel, resolve_channels
from seatrial.compile.surroundings.contact import build_contact
from seatrial.compile.vehicles.actuators import (
    channels_of,
    compile_actuators,
    expand,
    symbols_of,
)
from seatrial.compile.vehicles.coefficients import (
    Polynomial,
    compile_coefficients,
    low_speed_pull,
    reads_as_velocities,
    without_damping,
    without_radiation,
)
from seatrial.compile.vehicles.hull import compile_excitation, compile_restoring
from seatrial.core import rigid_body
from seatrial.core.forces.coefficients import Coefficients
from seatrial.core.forces.crossflow import (
    CrossFlow,
    fitted_coefficients,
    hoerner,
    strip_positions,
)
from seatrial.core.forces.memory import MemoryForce
from seatrial.core.forces.wave_excitation import WaveExcitation
from seatrial.core.forces.wind import WindLoads
from seatrial.core.types import Model
from seatrial.hull.froude_krylov import MeanDrift
from seatrial.hull.potential.solution import Solution
from seatrial.ocean import Ocean
from seatrial.ocean.waves import Waves
from seatrial.pytree import constant
from seatrial.spec import actuators as actuator_spec
from seatrial.spec import vehicle as spec

Array = NDArray[np.float64]
DType = np.dtype[Any]


@dataclass(frozen=True)
class CompiledVehicle:
    """A Model and what is needed to talk to it."""

    model: Model
    channels: tuple[Channel, ...]
    actuator_states: int


def compile_vehicle(
    vehicle: spec.Vehicle,
    ocean: Ocean,
    dtype: DType,
    integrator: str = "rk4",
    excitation: WaveExcitation | None = None,
    in_traffic: bool = False,
    drifting: bool = True,
) -> CompiledVehicle:
    """Build the Model; call inside `jax.enable_x64(True)`.

    `excitation` takes the place of integrating the waves over the hull (stage one). The hull can be
    touched where the ocean has a bottom or solids, or other vehicles are `in_traffic`. A model that
    is not `drifting` lacks the mean loads of second order that its hull's far field knows.
    """
    actuators = expand(vehicle.actuators)
    channels = channels_of(actuators)
    _check_names(vehicle, channels)
    symbols = symbols_of(actuators, channels)
    crossflow, fitted = _crossflow(vehicle, dtype)
    polynomial = compile_coefficients(vehicle.hydrodynamics, fitted, symbols)
    _check_fins(vehicle, actuators, symbols, polynomial)
    hydrodynamics = "coefficients" if vehicle.hull is None else vehicle.hull.hydrodynamics
    if hydrodynamics == "surface":
        crossflow, polynomial = None, without_damping(polynomial)
    elif hydrodynamics == "potential":
        polynomial = without_radiation(polynomial)
    rigid = _rigid_body(vehicle)
    solved = hull = None
    added = polynomial.added_mass
    memory: tuple[MemoryForce, ...] = ()
    if vehicle.hull is not None and vehicle.hull.has_forces:
        # Most have none, and meshes and panels are much to import.
        from seatrial.compile.vehicles.hull_forces import compile_hull, radiation, solve_hull
        from seatrial.hull.potential.memory import recall_memory

        deep = None if ocean.waves is None or ocean.waves.depth is None else ocean.waves.depth
        solved = solve_hull(vehicle, None if deep is None else float(deep))
        hull = compile_hull(vehicle, ocean.waves, dtype)
        if solved is not None:
            remembered = recall_memory(solved)
            memory, added = (radiation(remembered, dtype),), remembered.infinite
    _check_mass_matrix(vehicle, rigid, added)
    restoring = compile_restoring(vehicle, dtype)
    if excitation is None:
        loads = mean = None
        if solved is not None:
            loads = solved.loads
            mean = _drift(vehicle, solved, ocean) if drifting else None
        excitation = compile_excitation(vehicle, restoring, ocean.waves, dtype, loads, mean)
    runtime, states = compile_actuators(actuators, channels, 0.5 * vehicle.height, dtype)
    model = Model(
        inertia=rigid_body.build(
            rigid,
            added,
            vehicle.inertia.mass,
            dtype,
            rigid_coriolis=vehicle.hydrodynamics.rigid_body_coriolis,
            added_coriolis=vehicle.hydrodynamics.added_mass_coriolis and bool(np.any(added)),
        ),
        restoring=restoring,
        actuators=runtime,
        reference_density=constant(vehicle.hydrodynamics.reference_density, dtype),
        coefficients=_polynomial(vehicle, polynomial, dtype),
        crossflow=crossflow,
        wind=_wind(vehicle, dtype) if ocean.wind is not None else None,
        excitation=excitation,
        hull=hull,
        memory_forces=memory,
        contact=build_contact(vehicle, rigid, dtype)
        if ocean.seabed is not None or ocean.solids is not None or in_traffic
        else None,
        integrator=integrator,
        channels=len(channels),
    )
    return CompiledVehicle(model, tuple(channels), states)


def _drift(vehicle: spec.Vehicle, solved: Solution, ocean: Ocean) -> MeanDrift | None:
    from seatrial.compile.vehicles.drift import drift_of

    def alone(waves: Waves) -> Model:
        sea = Ocean(water=ocean.water, waves=waves)
        return compile_vehicle(vehicle, sea, np.dtype(np.float64), drifting=False).model

    return drift_of(solved, ocean, alone, vehicle.name)


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
    _check_symbols(vehicle, names)
    if vehicle.manoeuvring is not None:
        for table in ("helm", "ahead"):
            resolve_channels(
                vehicle.manoeuvring, (table,), getattr(vehicle.manoeuvring, table), channels
            )


def _check_symbols(vehicle: spec.Vehicle, channels: list[str]) -> None:
    """Refuse names by which one coefficient could mean two things."""
    owners: dict[str, str] = {}
    for i, actuator in enumerate(vehicle.actuators):
        for key in ("name", "symbol"):
            word = getattr(actuator, key, None)
            # the fins of a set are called after it and after their places
            if word is None or isinstance(actuator, actuator_spec.FinSet):
                continue
            if reads_as_velocities(word):
                raise vehicle.error(
                    ("actuators", i, key),
                    f"an actuator called `{word}` would take over the coefficients of the "
                    f"velocities, such as `X_{word}`",
                    value=word,
                    expected="a name that cannot be read as velocities: u v w p q r, `a` before "
                    "one for its absolute value, `d` behind one for an added mass",
                    mend=f"rename it, for example `{actuator.kind}_{word}`",
                )
            owner = owners.setdefault(word, actuator.name)
            if owner != actuator.name or (key == "symbol" and word != owner and word in channels):
                raise vehicle.error(
                    ("actuators", i, key),
                    f"`{word}` names two actuators in the coefficients",
                    value=word,
                    expected="symbols and names that belong to one actuator each",
                    mend="give each its own, such as `delta_port` and `delta_starboard`",
                )


def _check_fins(
    vehicle: spec.Vehicle,
    actuators: list[actuator_spec.Thruster | actuator_spec.Fin | actuator_spec.Ballast],
    symbols: dict[str, int],
    polynomial: Polynomial,
) -> None:
    used = {a for term in polynomial.terms for a in term.actuators}
    for i, fin in enumerate(actuators):
        if not isinstance(fin, actuator_spec.Fin) or fin.lift or fin.table or fin.race:
            continue
        if symbols.get(fin.name) not in used:
            symbol = fin.symbol or fin.name
            raise vehicle.error(
                ("actuators", i),
                f"the fin `{fin.name}` would have no effect",
                expected="`lift`, `table`, `race`, or a coefficient that names it",
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
    prime = vehicle.hydrodynamics.nondimensional
    pull = low_speed_pull(polynomial, vehicle.hydrodynamics.about_speed)
    return Coefficients(
        values=constant(polynomial.values, dtype),
        about_speed=constant(vehicle.hydrodynamics.about_speed, dtype),
        pull=None if pull is None else constant(pull, dtype),
        length=constant(vehicle.length if prime is None else prime.length, dtype),
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
            x=constant(x, dtype),
            sway=constant(unit * flow.draught, dtype),
            heave=constant(unit * flow.beam, dtype) if flow.vertical_plane else None,
        ),
        {},
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
        surge=constant(loads.surge * loads.frontal_area, dtype),
        sway=constant(loads.sway * loads.lateral_area, dtype),
        yaw=constant(loads.yaw * loads.lateral_area * vehicle.length, dtype),
        lever=constant(loads.height - waterline, dtype),
        sheltered=not surface,
    )
