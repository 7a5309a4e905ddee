"""Bodies of a world: from what people name to solids with places.

A described body becomes one solid or several, in axes of its own; then it is turned, put into its
place, and told how it moves. Everything random is drawn from a stream named after the body.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.surroundings.body_shapes import (
    depth_under,
    fitted_to_bottom,
    parts_of,
    place_of,
    product,
)
from seatrial.compile.surroundings.seabed import SHALLOWEST
from seatrial.geometry.bodies import Body, Fender, Ride, Timetable, rotation_matrix
from seatrial.ocean import Ocean, seabed
from seatrial.ocean.synthesis import wavenumber
from seatrial.ocean.waves import Waves
from seatrial.seeding import generator
from seatrial.spec import bodies as spec
from seatrial.spec.obstacles import Waypoint

Array = NDArray[np.float64]

MATERIALS = {
    "pipe": "steel",
    "buoy": "plastic",
    "pier": "concrete",
    "wall": "concrete",
    "mine": "steel",
    "rock": "rock",
    "board": "plastic",
}
"""What such things are usually made of; steel where nothing is said."""

DRY_SHARE = 0.4
"""Of a buoy's height."""
ROCK_SHAPES = 6
"""Different shapes among the rocks or parts of wrecks of one scatter, each turned by chance: as
many distance fields are kept."""
FIRM_CURRENT = 0.1
"""Current that holds a moored body at the edge of its circle, m/s; half of it half way."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def world_bodies(
    described: tuple[spec.WorldBody, ...], ocean: Ocean, seed: int
) -> tuple[Body, ...]:
    """The bodies of a world in its ocean, in the order of their description."""
    found: list[Body] = []
    names: set[str] = set()
    for body in described:
        if body.name in names:
            raise body.error(
                ("name",),
                f"two bodies are called `{body.name}`",
                value=body.name,
                expected="a name of its own",
                mend="rename one of them",
            )
        names.add(body.name)
        found += _all_of(body, ocean, seed)
    return tuple(found)


def _all_of(body: spec.WorldBody, ocean: Ocean, seed: int) -> list[Body]:
    """One body, or as many as are scattered."""
    if body.scatter is None:
        parts = parts_of(body, f"bodies/{body.name}", seed)
        return _put(body, body.name, parts, (body.position[0], body.position[1]), body.heading,
                    ocean)  # fmt: skip
    random = generator(seed, f"bodies/{body.name}/scatter")
    places = _within(np.array(body.scatter.area), body.scatter.count, random)
    headings = random.uniform(-math.pi, math.pi, len(places))
    shapes = [
        parts_of(body, f"bodies/{body.name}/{k}", seed)
        for k in range(min(ROCK_SHAPES if body.shape in ("rock", "wreck") else 1, len(places)))
    ]
    found: list[Body] = []
    for k, ((north, east), heading) in enumerate(zip(places.tolist(), headings, strict=True)):
        name = f"{body.name} {k + 1}"
        parts = shapes[k % len(shapes)]
        found += _put(body, name, parts, (north, east), float(heading), ocean)
    return found


def _within(corners: Array, count: int, random: np.random.Generator) -> Array:
    """Places (count, 2) that lie evenly in a convex area: in a triangle of its fan, by area."""
    a, b, c = corners[0], corners[1:-1], corners[2:]
    one, other = b - a, c - a
    area = np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
    which = random.choice(len(area), count, p=area / area.sum())
    u, v = random.random((2, count))
    over = u + v > 1.0
    u, v = np.where(over, 1.0 - u, u), np.where(over, 1.0 - v, v)
    return np.asarray(a + u[:, None] * one[which] + v[:, None] * other[which])


def _put(
    body: spec.WorldBody,
    name: str,
    parts: list[Body],
    place: tuple[float, float],
    heading: float,
    ocean: Ocean,
) -> list[Body]:
    """Turn the parts, put them where they belong, and say how they move."""
    turn = np.array([math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading)])
    rotation = rotation_matrix(turn)
    north, east = place
    down = body.position[2] if len(body.position) == 3 else 0.0
    if body.on_bottom:
        down = _resting(body, parts, ocean, place)
    if body.buoy is not None:
        down += (0.5 - DRY_SHARE) * body.buoy.height
    if body.mine is not None:
        _check_tether(body, body.mine, name, down)
    origin = np.array([north, east, down])
    finished = fitted_to_bottom(body, parts, origin, rotation, ocean)
    common: dict[str, Any] = {
        "kind": body.kind or body.shape,
        "material": body.material or MATERIALS.get(body.shape, "steel"),
        "colour": None if body.colour is None else np.array(body.colour),
        "fender": None
        if body.fender is None
        else Fender(body.fender.stiffness, body.fender.damping),
        "motion": timetable((north, east), body.path) if body.path else None,
        "ride": None if body.afloat is None else _ride(ocean, (north, east), body.afloat.mooring),
    }
    return [
        replace(
            part,
            name=f"{name}{part.name}",
            position=origin + rotation @ place_of(part),
            attitude=product(turn, UPRIGHT if part.attitude is None else part.attitude),
            **common,
        )
        for part in finished
    ]


def _check_tether(body: spec.WorldBody, mine: spec.Mine, name: str, down: float) -> None:
    """Refuse a mine whose middle would hang in the air: a tether holds it under water."""
    high = mine.tether + 0.5 * mine.diameter - down
    if high > 0.0:
        longest = down - 0.5 * mine.diameter
        raise body.error(
            ("mine", "tether"),
            f"`{name}` would hang {high:.3g} m above the water, fastened {down:.4g} m below it",
            value=mine.tether,
            expected=f"less than {longest:.4g} m" if longest > 0.0 else "deeper water",
            mend="shorten the `tether`, or fasten it deeper",
        )


def _resting(
    body: spec.WorldBody, parts: list[Body], ocean: Ocean, place: tuple[float, float]
) -> float:
    """Depth of a body's origin when it stands on the bottom."""
    depth = depth_under(ocean, *place)
    if depth is None:
        raise body.error(
            ("on_bottom",),
            f"`{body.name}` stands on the bottom of a world that has none",
            value=True,
            expected="a world with a `seabed`",
            mend="give the world a `seabed`, or the body a depth as the third number of `position`",
        )
    if body.shape in ("pipe", "mine"):
        return 0.0 if body.shape == "pipe" else depth
    lowest = max(float(np.max(_corners(part)[:, 2])) for part in parts)
    return depth - (lowest / 3.0 if body.shape == "rock" else lowest)


def _corners(part: Body) -> Array:
    """Vertices of a part in the axes of its whole."""
    return np.asarray(part.mesh().vertices @ rotation_matrix(part.attitude).T + place_of(part))


def _ride(ocean: Ocean, place: tuple[float, float], radius: float) -> Ride:
    """How a small body follows the waves at a place."""
    north, east = place
    waves = ocean.waves
    lean = _lean(ocean, radius)
    if waves is None:
        nothing = np.zeros(0)
        return Ride(*(nothing,) * 5, lean=lean, radius=radius)
    amplitude, k, direction, phase, omega = _plain(waves)
    horizontal = amplitude
    if waves.depth is not None:
        depth, number = float(waves.depth), k
        if waves.by_depth is not None and ocean.seabed is not None:
            depth = max(float(seabed.under(ocean.seabed, north, east)), SHALLOWEST)
            number = wavenumber(np.asarray(waves.omega, np.float64), depth)
        horizontal = amplitude / np.tanh(np.maximum(number * depth, 1e-9))
    here = phase - k * (np.cos(direction) * north + np.sin(direction) * east)
    return Ride(
        amplitude=amplitude,
        sway=horizontal,
        omega=omega,
        phase=np.remainder(here, math.tau),
        direction=direction,
        lean=lean,
        radius=radius,
    )


def _plain(waves: Waves) -> list[Array]:
    parts = (waves.amplitude, waves.wavenumber, waves.direction, waves.phase, waves.observed)
    return [np.asarray(part, np.float64) for part in parts]


def _lean(ocean: Ocean, radius: float) -> Array:
    """Where the current of the start holds a moored body within its circle."""
    if ocean.current is None:
        return np.zeros(2)
    from seatrial.ocean import current

    flow = current.sample(ocean.current, (0.0, 0.0, 0.0), np.float64(0.0))
    north, east = (float(c) for c in flow[:2])
    speed = math.hypot(north, east)
    if speed == 0.0:
        return np.zeros(2)
    share = min(1.0, speed / FIRM_CURRENT)
    return radius * share * np.array([north, east]) / speed


def timetable(start: tuple[float, float], waypoints: tuple[Waypoint, ...]) -> Timetable:
    """From waypoint to waypoint in time, and on as before."""
    place = np.array(start, np.float64)
    since, position, velocities = [], [], []
    time = 0.0
    for waypoint in waypoints:
        there = np.array(waypoint.position, np.float64)
        since.append(time)
        position.append(place)
        velocities.append((there - place) / (waypoint.time - time))
        time, place = waypoint.time, there
    return Timetable(np.array(since), np.array(position), np.array(velocities))
