"""Numbers of a vehicle that hardly fit each other: a millimetre among metres, a sign that was
forgotten, a coefficient under the name that another notation gives it."""

import math
from collections.abc import Iterator

from seatrial.compile.vehicles.actuators import channels_of, expand, symbols_of
from seatrial.compile.vehicles.coefficients import FORCES, VELOCITIES, readings
from seatrial.compile.vehicles.limits import STREAMLINED, largest_thrust
from seatrial.conventions import GRAVITY
from seatrial.errors import Path, Problem
from seatrial.spec.actuators import (
    Actuator,
    DirectThrust,
    Fin,
    FinSet,
    ShaftSpeedThrust,
    Thruster,
)
from seatrial.spec.base import Spec
from seatrial.spec.sensors import AnySensor
from seatrial.spec.vehicle import SubmergedBuoyancy, SurfaceBuoyancy, Vehicle

OUTSIDE = 2.0
"""Sizes of a vehicle from its origin, beyond which nothing is fitted to it."""
SHORTEST, LONGEST = 0.3, 1.2
"""Of the blocks under the waterline, compared with the vehicle's own length and beam."""
STEEPEST = math.radians(5.0)
"""List or trim at rest up to which it may be meant."""
AFLOAT, SUBMERGED = 0.1, 0.2
"""How far buoyancy may be from the weight, of the weight: more is a number of another boat."""
SLENDER = 0.1
"""Least radius of gyration over the size across its axis: a rod's is 0.29."""
FIN = 3.0
"""Largest area of a fin over length times beam: the wings of a glider have 0.7."""

PUSH = 20.0
"""Largest thrust of one propeller over the weight: the library's have 1.1 at most, and revolutions
per minute taken for those per second make it 3600 times as much."""

RADII = "a hull has about 0.35 of its beam in roll, a quarter of its length in pitch and yaw"

_RADIO = ("gnss", "uwb")
_SWINGS = {2: "heave", 3: "roll", 4: "pitch", 5: "yaw"}
"""Motions without whose damping a craft afloat swings on for ever, or turns on."""


def doubts_about_vehicle(vehicle: Vehicle) -> Iterator[Problem]:
    """What is unlikely to be meant, each with its number."""
    yield from _coefficients(vehicle)
    yield from _surge(vehicle)
    yield from _inertia(vehicle)
    yield from _fins(vehicle)
    yield from _thrusts(vehicle)
    if isinstance(vehicle.buoyancy, SurfaceBuoyancy):
        yield from _damping(vehicle)
        yield from _blocks(vehicle, vehicle.buoyancy)
        yield from _antennas(vehicle, vehicle.buoyancy)
        yield from _propellers(vehicle, vehicle.buoyancy)
    else:
        yield from _buoyancy(vehicle, vehicle.buoyancy)
    for key in ("actuators", "sensors"):
        for i, fitted in enumerate(getattr(vehicle, key)):
            yield from doubts_about_place(vehicle, (key, i), vehicle, fitted)


def doubts_about_place(
    described: Spec, path: Path, vehicle: Vehicle, fitted: Actuator | AnySensor
) -> Iterator[Problem]:
    """Whether something is on the vehicle that it is fitted to."""
    most = OUTSIDE * max(vehicle.length, vehicle.beam, vehicle.height)
    place = fitted.position
    if isinstance(fitted, FinSet) and fitted.radius > most:
        yield described.problem(
            (*path, "radius"),
            f"the fins of `{fitted.name}` sit far outside `{vehicle.name}`, which is "
            f"{vehicle.length:g} m long",
            value=fitted.radius,
            expected=f"at most {most:.3g} m from the axis of the vehicle",
            mend="places on a vehicle are in metres; 15 cm are `radius_cm: 15`",
        )
    if max(map(abs, place)) > most:
        yield described.problem(
            (*path, "position"),
            f"`{fitted.name}` sits far outside `{vehicle.name}`, which is {vehicle.length:g} m "
            "long",
            value=list(place),
            expected=f"at most {most:.3g} m from the origin of the vehicle",
            mend="places on a vehicle are in metres: forward, starboard, down",
        )


def _coefficients(vehicle: Vehicle) -> Iterator[Problem]:
    """Added masses that make lighter; drag that does not ask which way it goes."""
    water = vehicle.hydrodynamics
    for table in ("coefficients", "dimensional_coefficients", "radiation_damping"):
        given: dict[str, float] = getattr(water, table)
        for force, motion in zip(FORCES, VELOCITIES, strict=True):
            name = f"{force}_{motion}d"
            if given.get(name, 0.0) > 0.0:
                yield vehicle.problem(
                    ("hydrodynamics", table, name),
                    f"`{name}` makes the vehicle lighter than its mass",
                    value=given[name],
                    expected="0 or less: the water that is moved along makes it heavier",
                    mend=f"write `{name}: {-given[name]:g}`",
                )
            name = f"{force}_{motion}{motion}"
            if given.get(name) and not water.about_speed:
                yield vehicle.problem(
                    ("hydrodynamics", table, name),
                    f"`{name}` times {motion}² pushes the same way whichever way it moves",
                    value=given[name],
                    expected=f"a drag against the motion, `{force}_{motion}_a{motion}`",
                    mend=f"write `{force}_{motion}_a{motion}: {given[name]:g}`: many papers print "
                    f"{force}_{motion}|{motion}| so",
                )


def _damping(vehicle: Vehicle) -> Iterator[Problem]:
    """Motions of a craft afloat that nothing damps: it rolls on in a calm, and over in a sea."""
    water = vehicle.hydrodynamics
    if vehicle.hull is not None or not water.coefficients:  # a hull may damp by itself
        return
    fitted = expand(vehicle.actuators)
    symbols = symbols_of(fitted, channels_of(fitted))
    damped = {
        (factors.dof, velocity)
        for table in (
            water.coefficients,
            water.dimensional_coefficients,
            water.radiation_damping,
        )
        for name in table
        for factors in readings(name, symbols)
        for velocity in factors.velocities + factors.absolutes
    }
    strips = water.crossflow
    for i, motion in _SWINGS.items():
        force, letter = FORCES[i], VELOCITIES[i]
        stripped = strips is not None and (
            force == "N" or (force in "ZM" and strips.vertical_plane)
        )
        if not stripped and (i, i) not in damped:
            yield vehicle.problem(
                ("hydrodynamics", "coefficients"),
                f"nothing damps its {motion}",
                expected=f"a coefficient of {letter}: `{force}_{letter}`, or "
                f"`{force}_{letter}_a{letter}`, below 0",
                mend="a boat left alone stops rolling after a few swings: a tenth of critical "
                "damping is a good guess",
            )


def _surge(vehicle: Vehicle) -> Iterator[Problem]:
    """Less drag ahead than the most streamlined body of the same displacement has."""
    water = vehicle.hydrodynamics
    drag = -water.coefficients.get("X_u_au", 0.0)
    volume = vehicle.inertia.mass / water.reference_density
    least = 0.5 * water.reference_density * STREAMLINED * volume ** (2.0 / 3.0)
    if 0.0 < drag < least and water.nondimensional is None and "X_u" not in water.coefficients:
        yield vehicle.problem(
            ("hydrodynamics", "coefficients", "X_u_au"),
            f"no body that displaces {volume:.3g} m³ has so little drag",
            value=-drag,
            expected=f"{-least:.2g} kg/m or more against the motion",
            mend="thrust over the square of the speed that it makes is a good number",
        )


def _fins(vehicle: Vehicle) -> Iterator[Problem]:
    """Square centimetres among square metres."""
    most = FIN * vehicle.length * max(vehicle.beam, vehicle.height)
    for i, fin in enumerate(vehicle.actuators):
        if not isinstance(fin, Fin | FinSet):
            continue
        for key in ("lift", "table"):
            shape = getattr(fin, key, None)
            if shape is not None and shape.area > most:
                yield vehicle.problem(
                    ("actuators", i, key, "area"),
                    f"`{fin.name}` is larger than the vehicle that carries it",
                    value=shape.area,
                    expected=f"m², at most {most:.3g} by the vehicle's length, beam and height",
                    mend="100 cm² are 0.01 m²",
                )


def _thrusts(vehicle: Vehicle) -> Iterator[Problem]:
    """Revolutions of another unit, kilonewtons, a curve with the wrong sign."""
    weight = vehicle.inertia.mass * GRAVITY
    for i, thruster in enumerate(vehicle.actuators):
        if not isinstance(thruster, Thruster):
            continue
        thrust, path = thruster.thrust, ("actuators", i, "thrust")
        push = largest_thrust(thruster, vehicle.hydrodynamics.reference_density)
        direct = isinstance(thrust, DirectThrust)
        limits = thrust.thrust_limits if isinstance(thrust, DirectThrust) else thrust.speed_limits
        if push > PUSH * weight:
            yield vehicle.problem(
                (*path, "thrust_limits" if direct else "speed_limits"),
                f"`{thruster.name}` pushes with {push:.3g} N, {push / weight:.3g} times the "
                f"weight of `{vehicle.name}`",
                value=list(limits),
                expected=f"a thrust of far less than {PUSH * weight:.3g} N",
                mend="`thrust_limits` are in N"
                if direct
                else "shaft speeds are in rev/s: those per minute are written `speed_limits_rpm`",
            )
        if isinstance(thrust, ShaftSpeedThrust):
            fastest = thrust.speed_limits[1]
            if sum(c * fastest**k for k, c in enumerate(thrust.ahead)) < 0.0:
                yield vehicle.problem(
                    (*path, "ahead"),
                    f"`{thruster.name}` pushes astern when it turns ahead",
                    value=list(thrust.ahead),
                    expected=f"a thrust above 0 at {fastest:g} rev/s, its highest speed",
                    mend="give the coefficients the other sign; a propeller that pushes the other "
                    "way has another `direction`",
                )


def _buoyancy(vehicle: Vehicle, submerged: SubmergedBuoyancy) -> Iterator[Problem]:
    """A craft that shoots up, or sinks like a stone."""
    mass, density = vehicle.inertia.mass, vehicle.hydrodynamics.reference_density
    key = "force" if submerged.force is not None else "volume"
    given = getattr(submerged, key)
    displaced = given and (given / GRAVITY if key == "force" else given * density)
    if displaced and abs(displaced - mass) > SUBMERGED * mass:
        neutral = mass * GRAVITY if key == "force" else mass / density
        yield vehicle.problem(
            ("buoyancy", key),
            f"it displaces {displaced:.4g} kg of water and weighs {mass:.4g} kg: it "
            + ("shoots up" if displaced > mass else "sinks like a stone"),
            value=given,
            expected=f"about {neutral:.4g} {'N' if key == 'force' else 'm³'}",
            mend="write `trim: neutral` for a craft that is ballasted to hover",
        )


def _inertia(vehicle: Vehicle) -> Iterator[Problem]:
    """Radii of gyration that reach out of the vehicle, or that only a needle has."""
    inertia = vehicle.inertia
    key = "gyration" if inertia.gyration else "moments"
    given = inertia.gyration or inertia.moments or ()
    radii = given if inertia.gyration else [math.sqrt(m / inertia.mass) for m in given]
    sides = (vehicle.beam, vehicle.height), (vehicle.length, vehicle.height)
    for radius, (a, b), axis in zip(
        radii, (*sides, (vehicle.length, vehicle.beam)), ("roll", "pitch", "yaw"), strict=True
    ):
        most = 0.5 * math.hypot(a, b)
        if radius > most:
            yield vehicle.problem(
                ("inertia", key),
                f"the radius of gyration in {axis}, {radius:.3g} m, reaches out of the vehicle",
                value=list(given),
                expected=f"at most {most:.3g} m by its length, beam and height",
                mend=RADII,
            )
            return
        if radius < SLENDER * max(a, b):
            yield vehicle.problem(
                ("inertia", key),
                f"the radius of gyration in {axis}, {radius:.3g} m, is that of a needle",
                value=list(given),
                expected=f"at least {SLENDER * max(a, b):.3g} m by its length, beam and height",
                mend=f"`gyration` is in m, `moments` in kg m²; {RADII}",
            )
            return


def _blocks(vehicle: Vehicle, afloat: SurfaceBuoyancy) -> Iterator[Problem]:
    """Blocks of another size than the vehicle, and a weight that is not above them."""
    size = {"length": vehicle.length, "beam": vehicle.beam}
    for axis, (key, own) in enumerate(size.items()):
        ends = [(b.at[axis], 0.5 * getattr(b, key)) for b in afloat.blocks]
        extent = max(at + half for at, half in ends) - min(at - half for at, half in ends)
        if not SHORTEST * own <= extent <= LONGEST * own:
            yield vehicle.problem(
                (key,),
                f"the hull under water is {extent:.4g} m and the vehicle {own:.4g} m",
                value=own,
                expected=f"a {key} that fits its `buoyancy.blocks`: {extent:.3g} m or a little "
                "more",
                mend="both are in metres",
            )
    weight = vehicle.inertia.centre_of_gravity
    volumes = [
        b.length * b.beam * b.draught * (math.pi / 4.0 if b.shape == "ellipse" else 1.0)
        for b in afloat.blocks
    ]
    total = sum(volumes)
    displaced, mass = total * vehicle.hydrodynamics.reference_density, vehicle.inertia.mass
    if abs(displaced - mass) > AFLOAT * mass:
        yield vehicle.problem(
            ("buoyancy", "blocks"),
            f"the blocks displace {displaced:.4g} kg of water and the vehicle weighs {mass:.4g} kg",
            expected="blocks that displace its weight",
            mend=f"their draught times {mass / displaced:.3g} would; a hull that is finer below is "
            "a block with less draught",
        )
    for axis, (key, word) in enumerate({"length": "trim", "beam": "list"}.items()):
        centre = sum(v * b.at[axis] for v, b in zip(volumes, afloat.blocks, strict=True)) / total
        stiffness = 0.0  # second moment of the waterplane about the centre
        for block, volume in zip(afloat.blocks, volumes, strict=True):
            area, side = volume / block.draught, getattr(block, key)
            own = side * side / (16.0 if block.shape == "ellipse" else 12.0)
            stiffness += area * (own + (block.at[axis] - centre) ** 2)
        angle = math.atan(abs(weight[axis] - centre) * total / stiffness)
        if angle > STEEPEST:
            yield vehicle.problem(
                ("inertia", "centre_of_gravity"),
                f"the weight lies {abs(weight[axis] - centre):.2g} m beside the centre of its "
                f"blocks: at rest the boat has a {word} of about {math.degrees(angle):.0f}°",
                value=list(weight),
                expected=f"{centre:.3g} m for an even keel",
                mend="move the weight, or the blocks by `at`",
            )


def _antennas(vehicle: Vehicle, afloat: SurfaceBuoyancy) -> Iterator[Problem]:
    """Radio under water."""
    for i, sensor in enumerate(vehicle.sensors):
        below = sensor.position[2] - afloat.waterline
        if sensor.type in _RADIO and below > 0.0:
            yield vehicle.problem(
                ("sensors", i, "position"),
                f"the antenna of `{sensor.name}` is {below:.2g} m under water",
                value=list(sensor.position),
                expected=f"a third number of at most {afloat.waterline:g}: it counts downwards",
                mend=f"write {[*sensor.position[:2], -abs(sensor.position[2])]}",
            )


def _propellers(vehicle: Vehicle, afloat: SurfaceBuoyancy) -> Iterator[Problem]:
    """Propellers in the air, where they push nothing."""
    for i, thruster in enumerate(vehicle.actuators):
        above = isinstance(thruster, Thruster) and afloat.waterline - thruster.position[2]
        if above and above > 0.0:
            yield vehicle.problem(
                ("actuators", i, "position"),
                f"`{thruster.name}` is {above:.2g} m above the water, where it pushes nothing",
                value=list(thruster.position),
                expected=f"a third number above {afloat.waterline:g}: it counts downwards",
                mend=f"write {[*thruster.position[:2], abs(thruster.position[2])]}",
            )
