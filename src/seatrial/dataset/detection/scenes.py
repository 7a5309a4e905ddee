"""Seas, weathers and what floats there, drawn at random.

After the experiment of section 5.3.1 of E. G. Bjerke and I. L. Haukeland's thesis *Digital Twin
Platform for Unmanned Surface Vehicles* (2024): one set is clear and still, one foggy and wavy, with
the sun and the places of the things at random.

Picture i of both sets has the same things at the same places under the same sun: what differs is
the weather alone. Everything is drawn from the seed, the set's name where it is the weather, and
the number of the picture, so that pictures can be drawn in any order.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.dataset.detection import craft
from seatrial.dataset.flight import multiply
from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.ocean.spectra import jonswap
from seatrial.ocean.spreading import Spreading
from seatrial.ocean.synthesis import Components, discretise, waves_from
from seatrial.ocean.water import Water
from seatrial.pytree import constant
from seatrial.render.picture import Lens, Shot, Stage
from seatrial.render.sky import Sky
from seatrial.render.water import medium
from seatrial.seeding import generator

Array = NDArray[np.float64]

NEAREST, FARTHEST = 9.0, 70.0
"""Between which things lie, m."""
ROOM = 4.0
"""Between the middles of two things at least, m, and half a length more for vessels."""
EYE = 2.6
"""Height of the camera above the water, m."""
PITCH = math.radians(-3.0)
"""How far it looks down."""


@dataclass(frozen=True)
class Weather:
    """What a set's pictures are taken in; pairs are the ends of what is drawn."""

    height: tuple[float, float]
    """Significant wave height, m; 0 for a sea that only ripples."""
    visibility: tuple[float, float]
    """m."""
    cloud: tuple[float, float]


CLEAR = Weather(height=(0.0, 0.02), visibility=(30_000.0, 80_000.0), cloud=(0.0, 0.25))
FOGGY = Weather(height=(0.5, 1.2), visibility=(50.0, 160.0), cloud=(0.6, 1.0))
SETS = {"clear": CLEAR, "foggy": FOGGY}
"""By name."""


def scene(seed: int, name: str, number: int, lens: Lens) -> tuple[Stage, Shot]:
    """Everything that picture `number` of a set shows, and where it is taken from."""
    weather = SETS[name]
    chance = generator(seed, f"detection/{number}")
    sky_chance = generator(seed, f"detection/{name}/{number}")
    sun = chance.uniform(math.radians(12.0), math.radians(65.0)), chance.uniform(0.0, math.tau)
    height = sky_chance.uniform(*weather.height)
    waves = _sea(height, sky_chance)
    sky = Sky(*sun, sky_chance.uniform(*weather.cloud), sky_chance.uniform(*weather.visibility))
    bodies = _things(chance, lens, waves)
    water = Water(*(constant(number) for number in (1025.0, 1500.0, 12.0, 34.0)))
    ocean = Ocean(water, waves_from([waves], None, "constant", np.float64))
    stage = Stage(RayScene(bodies), ocean, sky, medium("3C"))
    rise, tilt = _surface(waves, np.zeros(2))
    roll, pitch = -0.6 * tilt[1], PITCH + 0.6 * tilt[0]
    return stage, Shot(np.array([0.0, 0.0, -EYE - rise]), _attitude(roll, pitch, 0.0), 0.0, lens)


def _sea(height: float, chance: np.random.Generator) -> Components:
    """Steep wind waves of a height, or the ripples of a light air."""
    high = max(height, 0.015)
    period = max(1.2, 3.9 * math.sqrt(high))
    return discretise(
        jonswap(high, period),
        Spreading("cos2s", 4.0),
        chance.uniform(0.0, math.tau),
        24,
        9,
        "jittered",
        chance,
    )


def _things(chance: np.random.Generator, lens: Lens, waves: Components) -> list[Body]:
    """Two to six things in view of the camera, none upon another."""
    half = math.atan(0.5 * lens.width / lens.focal_length)
    taken: list[tuple[Array, float]] = []
    bodies: list[Body] = []
    wanted = int(chance.integers(2, 7))
    for k in range(wanted):
        kind = craft.CLASSES[chance.integers(len(craft.CLASSES))]
        parts = craft.MAKERS[kind](chance)
        reach = max(float(np.abs(part.mesh().vertices[:, :2]).max()) for part in parts)
        for _ in range(20):
            # Evenly over the inverse of the distance: small and large ones alike.
            near = max(NEAREST, 3.0 * reach)
            away = 1.0 / chance.uniform(1.0 / FARTHEST, 1.0 / near)
            bearing = chance.uniform(-0.92, 0.92) * half
            place = away * np.array([math.cos(bearing), math.sin(bearing)])
            heading = chance.uniform(0.0, math.tau)
            if all(np.hypot(*(place - p)) > ROOM + reach + r for p, r in taken):
                break
        else:
            continue
        taken.append((place, reach))
        rise, tilt = _surface(waves, place)
        calm = 1.0 if kind != "vessel" else 0.5
        tilted = _attitude(-calm * tilt[1], calm * tilt[0], 0.0)
        attitude = multiply(tilted, _attitude(0.0, 0.0, heading))
        where = np.array([*place, -rise])
        bodies += craft.placed(parts, f"{kind} {k + 1}", kind, where, attitude)
    return bodies


def _surface(waves: Components, place: Array) -> tuple[float, Array]:
    """Height of the sea at a place, at the start, and how it rises towards north and east."""
    k = waves.omega**2 / GRAVITY
    kx, ky = k * np.cos(waves.direction), k * np.sin(waves.direction)
    angle = waves.phase - kx * place[0] - ky * place[1]
    slope = waves.amplitude * np.sin(angle)
    return float(np.sum(waves.amplitude * np.cos(angle))), np.array(
        [np.sum(kx * slope), np.sum(ky * slope)]
    )


def _attitude(roll: float, pitch: float, yaw: float) -> Array:
    """Quaternion, yaw then pitch then roll."""
    half = 0.5 * np.array([yaw, pitch, roll])
    (cy, cp, cr), (sy, sp, sr) = np.cos(half), np.sin(half)
    return np.array(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )
