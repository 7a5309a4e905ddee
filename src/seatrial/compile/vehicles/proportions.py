"""Numbers of a vehicle that hardly fit each other: a millimetre among metres, a sign that was
forgotten, a coefficient under the name that another notation gives it."""

import math
from collections.abc import Iterator

from seatrial.errors import Path, Problem
from seatrial.spec.actuators import Actuator
from seatrial.spec.base import Spec
from seatrial.spec.sensors import AnySensor
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle

OUTSIDE = 2.0
"""Sizes of a vehicle from its origin, beyond which nothing is fitted to it."""
SHORTEST, LONGEST = 0.3, 1.2
"""Of the blocks under the waterline, compared with the vehicle's own length and beam."""
STEEPEST = math.radians(5.0)
"""List or trim at rest up to which it may be meant."""

_MOTIONS = {"X": "u", "Y": "v", "Z": "w", "K": "p", "M": "q", "N": "r"}
_RADIO = ("gnss", "uwb")


def doubts_about_vehicle(vehicle: Vehicle) -> Iterator[Problem]:
    """What is unlikely to be meant, each with its number."""
    yield from _coefficients(vehicle)
    yield from _inertia(vehicle)
    if isinstance(vehicle.buoyancy, SurfaceBuoyancy):
        yield from _blocks(vehicle, vehicle.buoyancy)
        yield from _antennas(vehicle, vehicle.buoyancy)
    for key in ("actuators", "sensors"):
        for i, fitted in enumerate(getattr(vehicle, key)):
            yield from doubts_about_place(vehicle, (key, i), vehicle, fitted)


def doubts_about_place(
    described: Spec, path: Path, vehicle: Vehicle, fitted: Actuator | AnySensor
) -> Iterator[Problem]:
    """Whether something is on the vehicle that it is fitted to."""
    most = OUTSIDE * max(vehicle.length, vehicle.beam, vehicle.height)
    place = fitted.position
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
    for table in ("coefficients", "dimensional_coefficients"):
        given: dict[str, float] = getattr(water, table)
        for force, motion in _MOTIONS.items():
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


def _inertia(vehicle: Vehicle) -> Iterator[Problem]:
    """Radii of gyration that reach out of the vehicle."""
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
                mend="a hull has about 0.35 of its beam in roll, a quarter of its length in pitch "
                "and yaw",
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
