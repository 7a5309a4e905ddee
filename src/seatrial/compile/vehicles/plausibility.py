"""What a description may say and can hardly mean: speeds and orders beyond what a vehicle has,
places in degrees where metres are meant, things that happen after the end."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from seatrial.compile.vehicles.actuators import channels_of, expand, limits_of
from seatrial.compile.vehicles.limits import FALL, own_speed
from seatrial.compile.vehicles.proportions import doubts_about_place, doubts_about_vehicle
from seatrial.errors import Path, Problem, SpecError
from seatrial.spatial.geodesy import to_ned
from seatrial.spec.base import Spec
from seatrial.spec.mission import Goto
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle

NEAR = 1.0
"""Degrees about the datum, and metres among waypoints, within which numbers are taken for degrees
that stand where metres belong."""
FARTHEST = 200e3
"""From the datum, m: there the sea has fallen by 3 km below the plane."""
DEEPEST = 11e3
"""Of all seas, m: the Challenger Deep has 10.9 km."""
HEIGHTS, HIGHEST_CREST = 2.0, 10.0
"""Heights of a vehicle, and m besides where there are waves, by which it may begin out of its
element: on a crest, or beneath a high sea."""
CRANE = 1.0
"""The same in water without waves, m: dropped by a crane."""
LOOKERS = ("ais", "radar", "lidar", "radar_image", "obstacle_sonar")
"""Sensors by which a vehicle with `avoidance` knows of others, or of what stands in its way."""


@contextmanager
def within_reach(described: Spec) -> Iterator[None]:
    """Refuse a description whose numbers overflow, divide by nothing or leave no inverse."""
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise described.error(
            (),
            "holds numbers too extreme to compute with",
            value=str(error),
            expected="numbers as real vehicles, sensors and seas have them",
            mend="look for a number that is very large or very small",
        ) from error


def check_start(scenario: Scenario, index: int) -> None:
    """Refuse a vehicle that begins faster than anything of its size, deeper than any sea, or with
    orders beyond its actuators."""
    participant = scenario.vehicles[index]
    start, fastest = participant.start, own_speed(participant.vehicle) + FALL
    if abs(start.speed) > fastest:
        raise scenario.error(
            ("vehicles", index, "start", "speed"),
            f"no vehicle of the mass and thrust of `{participant.vehicle.name}` is as fast",
            value=start.speed,
            expected=f"less than {fastest:.3g} m/s",
            mend="start it slower",
        )
    if start.position[2] > DEEPEST:
        raise scenario.error(
            ("vehicles", index, "start", "position"),
            "no sea is as deep",
            value=list(start.position),
            expected=f"a depth of at most {DEEPEST:,.0f} m, the third number",
            mend="start it less deep",
        )
    states = {key: [value] for key, value in start.actuators.items()}
    beyond = list(_beyond(scenario, index, ("start", "actuators"), states))
    if beyond:
        raise SpecError(beyond)


def check_places(scenario: Scenario, index: int) -> None:
    """Refuse places so far away that the plane about the datum is no map of them."""
    datum = scenario.world.datum
    about = (datum.latitude_deg, datum.longitude_deg)
    for i, task in enumerate(scenario.vehicles[index].mission):
        for latitude, longitude in task.places if isinstance(task, Goto) else ():
            away = float(np.linalg.norm(to_ned(latitude, longitude, 0.0, about)))
            if away > FARTHEST:
                raise scenario.error(
                    ("vehicles", index, "mission", i, "places"),
                    f"[{latitude:g}, {longitude:g}] is {away / 1000.0:.0f} km from the datum of "
                    f"the world, [{about[0]:g}, {about[1]:g}]",
                    value=[latitude, longitude],
                    expected=f"latitude, then longitude, within {FARTHEST / 1000.0:g} km of it",
                    mend="give the world a `datum` there; metres are written as `waypoints`",
                )


def doubts_about(scenario: Scenario) -> Iterator[Problem]:
    """What is unlikely to be meant."""
    if "world" not in scenario.model_fields_set:
        yield scenario.problem(
            ("world",),
            "no world is named, and the run is in deep, still water",
            expected="a world of the library, a file, or a description in place",
            mend="write `world: calm` if that is meant; `seatrial list` names the others",
        )
    told: list[Vehicle] = []
    for index, participant in enumerate(scenario.vehicles):
        if participant.vehicle not in told:
            told.append(participant.vehicle)
            yield from doubts_about_vehicle(participant.vehicle)
        yield from _orders(scenario, index)
        yield from _starts(scenario, index)
        yield from _fittings(scenario, index)
        yield from _late(scenario, index)
        yield from _blind(scenario, index)
        yield from _missions(scenario, index)


def _orders(scenario: Scenario, index: int) -> Iterator[Problem]:
    """Orders of a timetable, or a helm, that the actuators cut off at their limits."""
    yield from _helm(scenario, index)
    commands = scenario.vehicles[index].commands
    orders = {
        key: [value for _, value in rows] if isinstance(rows, tuple) else [rows]
        for key, rows in commands.items()
    }
    yield from _beyond(scenario, index, ("commands",), orders)


def _helm(scenario: Scenario, index: int) -> Iterator[Problem]:
    """More helm than a rudder has; what also drives ahead may be cut off in a turn."""
    vehicle, manoeuvre = scenario.vehicles[index].vehicle, scenario.vehicles[index].manoeuvre
    asked = abs(getattr(manoeuvre, "helm", 0.0))
    if vehicle.manoeuvring is None or asked == 0.0:
        return
    actuators = expand(vehicle.actuators)
    limits = limits_of(actuators)
    for channel in channels_of(actuators):
        named = {key: channel.split(key) for key in vehicle.manoeuvring.ahead}
        if channel.name not in limits or any(factor is not None for factor in named.values()):
            continue
        turned = sum(
            value * factor
            for key, value in vehicle.manoeuvring.helm.items()
            if (factor := channel.split(key)) is not None
        )
        most = min(map(abs, limits[channel.name])) / abs(turned) if turned else math.inf
        if asked > most * (1.0 + 1e-6):
            yield scenario.problem(
                ("vehicles", index, "manoeuvre", "helm"),
                f"`{channel.name}` goes no farther than its limits",
                value=asked,
                expected=f"at most {most:.3g} rad, which are {math.degrees(most):.3g}°",
                mend="order less helm, or change the limits of the actuator",
            )


def _starts(scenario: Scenario, index: int) -> Iterator[Problem]:
    """In the air, under water, or faster than under its own power."""
    participant = scenario.vehicles[index]
    vehicle, start = participant.vehicle, participant.start
    path = ("vehicles", index, "start")
    crest = CRANE if scenario.world.waves is None else HIGHEST_CREST
    depth, room = start.position[2], HEIGHTS * vehicle.height + crest
    floats = vehicle.buoyancy.craft != "submerged"
    if depth < -room or (floats and depth > room):
        where = "above" if depth < 0.0 else "below"
        yield scenario.problem(
            (*path, "position"),
            f"`{participant.name}` begins {abs(depth):.4g} m {where} the surface",
            value=list(start.position),
            expected="a depth of 0 for what floats, and more than that for what dives",
            mend="the third number is the depth, which counts downwards",
        )
    fastest = own_speed(vehicle)
    if fastest < abs(start.speed) <= fastest + FALL:
        yield scenario.problem(
            (*path, "speed"),
            f"`{vehicle.name}` does not make as much by itself",
            value=start.speed,
            expected=f"at most {fastest:.3g} m/s",
            mend="start it slower; a speed in knots is written `speed_kn`",
        )
    if _is_near(start.position[:2], scenario):
        yield _degrees(scenario, (*path, "position"), start.position[:2], "metres from the datum")


def _fittings(scenario: Scenario, index: int) -> Iterator[Problem]:
    """Sensors of the scenario's own that are not on the vehicle."""
    participant = scenario.vehicles[index]
    for i, sensor in enumerate(participant.sensors or ()):
        path = ("vehicles", index, "sensors", i)
        yield from doubts_about_place(scenario, path, participant.vehicle, sensor)


def _late(scenario: Scenario, index: int) -> Iterator[Problem]:
    """Faults and orders that begin when the run is over."""
    participant, path = scenario.vehicles[index], ("vehicles", index)
    times = [
        ((*path, "faults", i, "start"), f"the fault of `{fault.target}`", fault.start)
        for i, fault in enumerate(participant.faults)
        if fault.start is not None
    ] + [
        ((*path, "commands", key), f"the last order of `{key}`", rows[-1][0])
        for key, rows in participant.commands.items()
        if isinstance(rows, tuple)
    ]
    for place, what, time in times:
        if time >= scenario.duration:
            yield scenario.problem(
                place,
                f"{what} comes at {time:g} s, and the run ends at {scenario.duration:g} s",
                value=time,
                expected=f"less than {scenario.duration:g} s",
                mend="let it come earlier, or give more `duration`",
            )


def _blind(scenario: Scenario, index: int) -> Iterator[Problem]:
    """Avoidance by a vehicle that knows of nothing to keep clear of."""
    participant = scenario.vehicles[index]
    looks = any(sensor.type in LOOKERS for sensor in participant.fitted)
    if participant.avoidance is not None and not looks and not scenario.obstacles:
        yield scenario.problem(
            ("vehicles", index, "avoidance"),
            f"`{participant.name}` sees nobody and keeps clear of nothing",
            expected=f"one of {', '.join(LOOKERS)} among its sensors, or `obstacles` of the "
            "scenario, which it knows of by itself",
            mend="add for example `{type: ais, name: ais, rate: 1}` to its sensors",
        )


def _missions(scenario: Scenario, index: int) -> Iterator[Problem]:
    """A mission without tasks; places in degrees; circles of acceptance that hold the whole way."""
    participant, path = scenario.vehicles[index], ("vehicles", index, "mission")
    told = participant.model_fields_set
    if "mission" in told and not participant.mission and "commands" not in told:
        yield scenario.problem(
            path,
            f"the mission is empty: `{participant.name}` drifts",
            value=[],
            expected="a list of tasks",
            mend="add one, such as `{do: goto, waypoints: [[50, 0]]}`, or leave `mission` out",
        )
    for i, task in enumerate(participant.mission):
        for key in sorted(
            {"waypoints", "area", "centre", "position"} & set(type(task).model_fields)
        ):
            given = getattr(task, key) or ()
            points = given if given and isinstance(given[0], tuple) else (given,)
            points = [(float(point[0]), float(point[1])) for point in points if point]
            if points and (all(_is_near(p, scenario) for p in points) or _are_degrees(points)):
                mend = "`places`" if isinstance(task, Goto) else "metres from the datum"
                yield _degrees(scenario, (*path, i, key), points[0], mend)
        if isinstance(task, Goto) and task.waypoints and task.acceptance is not None:
            begin = participant.start.position[:2]
            farthest = max(math.dist(begin, point[:2]) for point in task.waypoints)
            if 0.0 < farthest < task.acceptance:
                yield scenario.problem(
                    (*path, i, "acceptance"),
                    "all waypoints are within reach at the start and count as passed at once",
                    value=task.acceptance,
                    expected=f"less than {farthest:.4g} m, the distance to the farthest",
                    mend="the radius around a waypoint at which the next one is begun; try "
                    "two lengths of the vehicle",
                )


def _is_near(point: Sequence[float], scenario: Scenario) -> bool:
    """Whether numbers in metres are those of the datum in degrees, either way round."""
    datum = (scenario.world.datum.latitude_deg, scenario.world.datum.longitude_deg)
    written = any(round(number) != number for number in point)
    return (
        datum != (0.0, 0.0)
        and written
        and any(math.dist(point, order) < NEAR for order in (datum, datum[::-1]))
    )


def _are_degrees(points: Sequence[tuple[float, float]]) -> bool:
    """Whether waypoints lie within a step of each other, away from the datum, to the millimetre."""
    fine = all(round(number, 2) != number for point in points for number in point)
    apart = max(math.dist(points[0], point) for point in points)
    return len(points) > 1 and fine and 0.0 < apart < NEAR and math.hypot(*points[0]) > 5.0 * NEAR


def _degrees(scenario: Scenario, path: Path, found: Sequence[float], mend: str) -> Problem:
    datum = scenario.world.datum
    return scenario.problem(
        path,
        "looks like a latitude and a longitude, and is in metres north and east of the datum",
        value=list(found),
        expected=f"metres; the datum is at {datum.latitude_deg:g}°, {datum.longitude_deg:g}°",
        mend=f"write degrees as {mend}, latitude first" if mend == "`places`" else f"give {mend}",
    )


def _beyond(
    scenario: Scenario, index: int, place: Path, orders: dict[str, list[float]]
) -> Iterator[Problem]:
    actuators = expand(scenario.vehicles[index].vehicle.actuators)
    limits = limits_of(actuators)
    path = ("vehicles", index, *place)
    named = ((c, key, c.split(key)) for key in orders for c in channels_of(actuators))
    for channel, key, factor in named:
        if factor is None or channel.name not in limits:
            continue
        low, high = (side / factor for side in limits[channel.name])
        values = orders[key]
        value = max(values, key=lambda order: max(order - high, low - order))
        if max(value - high, low - value) > 1e-6 * max(abs(low), abs(high)):
            yield scenario.problem(
                (*path, key),
                f"`{channel.name}` goes no farther than its limits",
                value=value,
                expected=f"from {low:.4g} to {high:.4g}",
                mend="order less, or change the limits of the actuator",
            )
