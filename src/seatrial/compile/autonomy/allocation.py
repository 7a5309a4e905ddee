"""What allocation must know of a vehicle, taken from its Model: columns, limits, thrust curves."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.vehicles.actuators import expand
from seatrial.compile.vehicles.vehicle import CompiledVehicle
from seatrial.core import step
from seatrial.core.actuators import Actuator
from seatrial.core.actuators.ballast import Ballast
from seatrial.core.actuators.drive import Drive
from seatrial.core.actuators.fin import FIXED, Fin, Surface
from seatrial.core.actuators.thruster import OpenWater, ThrustCurve, Thruster
from seatrial.core.environment import surroundings
from seatrial.core.forces.memory import memory_at_rest
from seatrial.core.forces.restoring import SurfaceRestoring
from seatrial.core.types import Model, State
from seatrial.gnc.allocation import sectors
from seatrial.gnc.allocation.authority import groups_of, independent, strength
from seatrial.gnc.allocation.curves import Curve, OpenWaterThrust, PolynomialThrust, thrusts
from seatrial.gnc.allocation.effectors import Azimuths, Effectors
from seatrial.ocean import Ocean, Water
from seatrial.programs import call
from seatrial.pytree import constant
from seatrial.spec import actuators as actuator_spec
from seatrial.spec.vehicle import Vehicle

Array = NDArray[np.float64]
DType = np.dtype[Any]

TABLE = 65
"""Points of the table by which a thrust polynomial is inverted."""

MOST_VARIANTS = 128
"""Combinations of convex pieces of azimuth sectors; all of them are tried at every instant."""


_thrusts = jax.jit(thrusts)


@dataclasses.dataclass(frozen=True)
class _Member:
    """An effector while it is put together."""

    name: str
    index: int
    """Among the descriptions of the vehicle's actuators, fin sets written out."""
    described: actuator_spec.Thruster | actuator_spec.Fin | actuator_spec.Ballast
    actuator: Actuator

    @property
    def turning(self) -> Thruster | None:
        """The azimuth thruster that this is."""
        if isinstance(self.actuator, Thruster) and self.actuator.azimuth is not None:
            return self.actuator
        return None


def build_effectors(vehicle: CompiledVehicle, spec: Vehicle, dtype: DType) -> Effectors:
    """Effectors of a vehicle in water of its reference density.

    Call inside `jax.enable_x64(True)`. Of the degrees of freedom those are allocated that the
    vehicle can control independently.
    """
    members = _members(vehicle.model, spec)
    water = float(vehicle.model.reference_density)
    curves = _curves(members, water, dtype)
    turning = [i for i, m in enumerate(members) if m.turning]
    low, high = (
        np.array([[float(getattr(_drive(m), side))] for m in members]) for side in ("low", "high")
    )
    ahead, astern = _columns(vehicle, members, turning, curves, low, high, water)
    fin = np.array([[isinstance(m.actuator, Fin)] for m in members])
    draft = Effectors(
        columns=constant(ahead, dtype),
        astern=constant(astern, dtype),
        inflow=constant(_inflow(members, turning), dtype),
        low=constant(low, dtype),
        high=constant(high, dtype),
        rate=_optional([_drive(m).rate_limit for m in members], math.inf, dtype),
        dead_band=_optional([_drive(m).dead_band for m in members], 0.0, dtype),
        fin=constant(fin),
        curves=curves,
        azimuths=_azimuths(spec, members, turning, dtype),
        names=tuple(m.name for m in members),
        channels=tuple(m.actuator.channel for m in members),
        groups=(),
    )
    largest = strength(draft, reference_speed(vehicle))
    chosen = independent(largest, spec.length)
    return dataclasses.replace(draft, groups=groups_of(largest, chosen, len(members), turning))


def _members(model: Model, spec: Vehicle) -> list[_Member]:
    """Actuators that are allocated: what takes orders, tanks only where nothing else does."""
    described = expand(spec.actuators)
    found = [
        _Member(d.name, i, d, a)
        for i, (d, a) in enumerate(zip(described, model.actuators, strict=True))
        if a.channel != FIXED
    ]
    swift = [m for m in found if not isinstance(m.actuator, Ballast)]
    if not found:
        raise spec.error(
            ("actuators",),
            "the vehicle has no actuators to allocate to",
            expected="a thruster, a fin or a tank",
            mend="add one, or run it without control",
        )
    for m in swift:
        if m.turning and abs(float(m.turning.direction[2])) > 1e-9:
            raise spec.error(
                ("actuators", m.index, "direction"),
                f"the azimuth thruster `{m.name}` pushes out of the plane in which it turns",
                expected="a direction without a vertical part",
                mend="set its third number to 0, or remove `azimuth`",
            )
    return swift or found


def _drive(member: _Member) -> Drive:
    return member.actuator.drive


def _optional(values: Sequence[jax.Array | None], absent: float, dtype: DType) -> jax.Array | None:
    if all(v is None for v in values):
        return None
    return constant([[absent if v is None else float(v)] for v in values], dtype)


def _curves(members: list[_Member], density: float, dtype: DType) -> tuple[Curve, ...]:
    """Thrust curves, those of one sort together; what is ordered by its effort has none."""
    polynomial: list[tuple[int, ThrustCurve, Drive]] = []
    open_water: list[tuple[int, OpenWater]] = []
    for i, member in enumerate(members):
        if isinstance(member.actuator, Thruster):
            propulsor = member.actuator.propulsor
            if isinstance(propulsor, ThrustCurve):
                polynomial.append((i, propulsor, member.actuator.drive))
            elif isinstance(propulsor, OpenWater):
                open_water.append((i, propulsor))
    curves: list[Curve] = []
    if polynomial:
        curves.append(_polynomial(polynomial, dtype))
    if open_water:
        curves.append(_open_water(open_water, density, dtype))
    return tuple(curves)


def _polynomial(thrusters: list[tuple[int, ThrustCurve, Drive]], dtype: DType) -> PolynomialThrust:
    degree = max(len(c) for _, curve, _ in thrusters for c in (curve.ahead, curve.astern))
    coefficients = np.zeros((2, len(thrusters), degree))
    speeds = np.zeros((2, len(thrusters), TABLE))
    roots = np.zeros_like(speeds)
    for i, (_, curve, drive) in enumerate(thrusters):
        for side, (given, limit) in enumerate(
            ((curve.ahead, float(drive.high)), (curve.astern, -float(drive.low)))
        ):
            c = np.asarray(given, float)
            coefficients[side, i, : len(c)] = c
            speeds[side, i] = np.linspace(0.0, max(limit, 0.0), TABLE)
            thrust = np.polynomial.polynomial.polyval(speeds[side, i], c)
            roots[side, i] = np.sqrt(np.maximum.accumulate(np.maximum(thrust, 0.0)))
    return PolynomialThrust(
        coefficients=constant(coefficients[..., None], dtype),
        speeds=constant(speeds[..., None], dtype),
        roots=constant(roots[..., None], dtype),
        rows=tuple(i for i, _, _ in thrusters),
    )


def _open_water(
    thrusters: list[tuple[int, OpenWater]], density: float, dtype: DType
) -> OpenWaterThrust:
    pieces = [_pieces(curve) for _, curve in thrusters]
    most = max(p.shape[1] for p in pieces)
    # Pieces that are missing begin and end at infinity: no advance number is in them.
    table = np.stack(
        [
            np.pad(p, ((0, 0), (0, most - p.shape[1])), constant_values=((0, 0), (0, np.inf)))
            for p in pieces
        ],
        axis=1,
    )
    table[:2][np.isinf(table[:2])] = 0.0

    def column(values: list[jax.Array]) -> jax.Array:
        return constant([[float(v)] for v in values], dtype)

    curves = [curve for _, curve in thrusters]
    return OpenWaterThrust(
        scale=column([density * c.deduction_factor * c.diameter**4 for c in curves]),
        advance=column([c.wake_factor / c.diameter for c in curves]),
        astern=column([c.astern_factor * c.kt.at_zero for c in curves]),
        intercept=constant(table[0][..., None], dtype),
        slope=constant(table[1][..., None], dtype),
        first=constant(table[2][..., None], dtype),
        last=constant(table[3][..., None], dtype),
        rows=tuple(i for i, _ in thrusters),
    )


def _pieces(curve: OpenWater) -> Array:
    """Straight pieces of K_T as rows of intercepts, slopes, first and last J."""
    values = np.asarray(curve.kt.values, float)
    if curve.kt.advance is None:
        return np.array([[values[0]], [values[1]], [-np.inf], [np.inf]])
    j = np.asarray(curve.kt.advance, float)
    slope = np.concatenate([[0.0], np.diff(values) / np.diff(j), [0.0]])
    at = np.concatenate([[j[0]], j[:-1], [j[-1]]])
    value = np.concatenate([[values[0]], values[:-1], [values[-1]]])
    first, last = np.concatenate([[-np.inf], j]), np.concatenate([j, [np.inf]])
    return np.stack([value - slope * at, slope, first, last])


def reference_speed(vehicle: CompiledVehicle) -> float:
    """Speed for which fins are linearised, m/s: that of the coefficients, or 1."""
    if vehicle.model.coefficients is None:
        return 1.0
    return float(vehicle.model.coefficients.about_speed) or 1.0


def _columns(
    vehicle: CompiledVehicle,
    members: list[_Member],
    turning: list[int],
    curves: tuple[Curve, ...],
    low: Array,
    high: Array,
    density: float,
) -> tuple[Array, Array]:
    """Wrench per unit of effort (6, E), with the water from ahead and from astern.

    Both come from the Model itself: thrusters and tanks by their largest effort at rest, fins by
    the derivative of the whole wrench with respect to their angle, over the speed squared.
    """
    count, width = len(members), len(members) + len(turning)
    orders = np.where(high >= -low, high, low)
    efforts = np.asarray(call(_thrusts, curves, orders, np.zeros_like(orders)))[:, 0]
    speed = reference_speed(vehicle)
    # Columns: each effort by itself at rest, nothing at all, and the angles of fins at speed.
    states = np.zeros((vehicle.actuator_states, 3 * width + 1))
    shifts = np.zeros_like(states)
    speeds = np.repeat([0.0, speed, -speed], [width + 1, width, width])
    for column, i in enumerate([*range(count), *turning]):
        actuator, thruster = members[i].actuator, members[i].turning
        states[actuator.channel, column] = orders[i, 0]
        if column >= count and thruster is not None:
            states[thruster.azimuth_channel, column] = 0.5 * math.pi
        shifts[actuator.channel, [width + 1 + column, 2 * width + 1 + column]] = 1.0
    model = dataclasses.replace(vehicle.model, impairment=None)
    loads, slopes = (
        np.asarray(a)
        for a in call(_wrenches, model, states, shifts, speeds, np.asarray(density, float))
    )
    ahead = (loads[:, :width] - loads[:, width : width + 1]) / [*efforts, *efforts[turning]]
    astern = ahead.copy()
    for i, member in enumerate(members):
        if isinstance(member.actuator, Fin):
            ahead[:, i] = slopes[:, width + 1 + i] / speed**2
            astern[:, i] = slopes[:, 2 * width + 1 + i] / speed**2
    return ahead, astern


@jax.jit
def _wrenches(
    model: Model, states: jax.Array, shifts: jax.Array, speed: jax.Array, density: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Wrenches on the vehicle, level in still water, and their slopes in the direction of shifts.

    Every column is a case of its own: actuator states (S, M), surge speeds (M,).
    """
    surface = isinstance(model.restoring, SurfaceRestoring)
    shape = speed.shape
    position = jnp.zeros((3, *shape)).at[2].set(0.0 if surface else 1000.0)
    attitude = jnp.zeros((4, *shape)).at[0].set(1.0)
    velocity = jnp.zeros((6, *shape)).at[0].set(speed)
    ocean = Ocean(water=Water(density, density, density, density))
    t = jnp.zeros(())
    memory = memory_at_rest(model.memory_forces, velocity)

    def total(actuators: jax.Array) -> jax.Array:
        state = State(position, attitude, velocity, actuators, memory)
        load = step.wrench(model, ocean, state, surroundings(model, ocean, state, t), t)
        return jnp.stack([jnp.broadcast_to(part, shape) for part in load])

    loads, slopes = jax.jvp(total, (states,), (shifts,))
    return loads, slopes


def _inflow(members: list[_Member], turning: list[int]) -> Array:
    """Rows that turn (v, ω) into the speed of the water along each effector: d · (v + ω × r)."""
    places: list[tuple[Array, Array]] = []
    for member in members:
        actuator = member.actuator
        place, along = np.zeros(3), np.array([1.0, 0.0, 0.0])
        if isinstance(actuator, Thruster):
            place, along = np.asarray(actuator.position), np.asarray(actuator.direction)
        elif isinstance(actuator, Fin) and isinstance(actuator.surface, Surface):
            place, along = np.asarray(actuator.surface.position), np.asarray(actuator.surface.chord)
        places.append((place, along))
    for place, (x, y, _) in [places[i] for i in turning]:
        places.append((place, np.array([-y, x, 0.0])))
    return np.array([np.concatenate([along, np.cross(place, along)]) for place, along in places])


def _azimuths(
    spec: Vehicle, members: list[_Member], turning: list[int], dtype: DType
) -> Azimuths | None:
    thrusters = [t for t in (members[i].turning for i in turning) if t is not None]
    drives = [t.azimuth for t in thrusters if t.azimuth is not None]
    if not drives:
        return None
    zones = [_forbidden(spec, members[i]) for i in turning]
    limits = [float(d.high) for d in drives]
    covers = [
        sectors.pieces(limit, zone, reversible=float(t.drive.low) < 0)
        for t, limit, zone in zip(thrusters, limits, zones, strict=True)
    ]
    if math.prod(map(len, covers)) > MOST_VARIANTS:
        raise spec.error(
            ("actuators",),
            "the azimuth thrusters have too many separate sectors together",
            value=math.prod(map(len, covers)),
            expected=f"at most {MOST_VARIANTS} combinations of convex pieces",
            mend="join forbidden zones or give fewer of them",
        )
    normals, reach, sides = sectors.variants(covers)
    allowed = sectors.stacked(
        [sectors.allowed_angles(x, zone) for x, zone in zip(limits, zones, strict=True)]
    )
    rates = [math.inf if d.rate_limit is None else float(d.rate_limit) for d in drives]
    return Azimuths(
        limit=constant([[x] for x in limits], dtype),
        rate=constant([[x] for x in rates], dtype),
        allowed=constant(allowed, dtype),
        normals=constant(normals, dtype),
        reach=constant(reach, dtype),
        side=constant(sides),
        effectors=tuple(turning),
        channels=tuple(t.azimuth_channel for t in thrusters),
    )


def _forbidden(spec: Vehicle, member: _Member) -> tuple[tuple[float, float], ...]:
    """Zones of angles in which an azimuth thruster must not push, rad."""
    described = member.described
    if not isinstance(described, actuator_spec.Thruster) or described.azimuth is None:
        return ()
    zones = described.azimuth.forbidden
    if not sectors.allowed_angles(described.azimuth.angle_limit, zones):
        raise spec.error(
            ("actuators", member.index, "azimuth", "forbidden"),
            f"the forbidden zones of `{member.name}` leave it no angle to push at",
            value=[list(z) for z in zones],
            expected="zones that leave some angle within its limit",
            mend="make them narrower, or remove `azimuth`",
        )
    return zones
