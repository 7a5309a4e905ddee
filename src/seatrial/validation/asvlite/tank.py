"""Table II of the ASVLite paper: SMARTY in a towing tank, in a regular wave of 6 cm amplitude.

The paper does not state the period of the wave, the heading, or whether the vehicle was moored.
What is assumed here:

period   1.3 s, a wave 2.6 m long and 1/22 steep: the period at which the widths of roll and pitch
         come closest to the tank's. Heave plays no part in that choice, so it remains a test.
         Results are shown from 1.0 s (steepness 1/13) to 3.0 s (1/94).
heading  roll and pitch were both large, so the wave came in obliquely. A round hull tilts in the
         plane of the wave, so the ranges of roll and pitch are as the sine and cosine of the
         angle: 26.1° : 21.2° is a wave from 51° off the bow, a wave heading of 129°.
freedom  the vehicle drifts without thrust, its heading held; heave counts from where it floats
         at rest.
tank     fresh water, 2 m deep: the library's `towing-tank` with another period.
"""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.forces.restoring import SurfaceRestoring
from seatrial.core.step import step
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean, water
from seatrial.programs import compile_program
from seatrial.spatial.rotations import from_euler, to_euler
from seatrial.spec.loading import load
from seatrial.spec.waves import Regular
from seatrial.spec.world import World
from seatrial.validation.asvlite import paper
from seatrial.validation.asvlite.heading import course, turned_back, without_yaw
from seatrial.validation.asvlite.paper import Range
from seatrial.validation.claims import Claim

Array = NDArray[np.float64]

PERIOD = 1.3
"""Of the wave, as assumed, s."""

HEADING_DEG = round(
    180.0 - math.degrees(math.atan2(paper.TANK["roll"].width, paper.TANK["pitch"].width))
)
"""Wave heading that the ratio of roll to pitch tells; 180° is a head sea."""

PERIODS = tuple(round(1.0 + 0.1 * i, 1) for i in range(21))
HEADINGS_DEG = (180.0, 150.0, float(HEADING_DEG), 90.0)
TIME_STEP = 0.02
SETTLING, MEASURED = 40.0, 30.0
"""Left out, and then watched, s."""


@dataclass(frozen=True)
class Tank:
    """Ranges of motion by period and heading."""

    periods: tuple[float, ...]
    headings_deg: tuple[float, ...]
    ranges: dict[str, Array]
    """heave (m, up), roll, pitch (°): (2, periods, headings), least and greatest."""
    drift: Array
    """Mean speed along the wave, m/s: (periods, headings)."""

    def at(self, motion: str, period: float, heading_deg: float = HEADING_DEG) -> Range:
        """One range."""
        i, j = self.periods.index(period), self.headings_deg.index(heading_deg)
        low, high = self.ranges[motion][:, i, j]
        return Range(float(low), float(high))


def run_tank(periods: tuple[float, ...] = PERIODS) -> Tank:
    """Let the vehicle drift in a wave of every period, at every heading."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        motion = np.array(list(pool.map(_in_tank, periods)))  # periods, time, motions, headings
    ends = np.stack([motion.min(axis=1), motion.max(axis=1)])
    travelled = motion[:, -1, 3] - motion[:, 0, 3]
    return Tank(
        periods=periods,
        headings_deg=HEADINGS_DEG,
        ranges={
            "heave": ends[:, :, 0],
            "roll": np.degrees(ends[:, :, 1]),
            "pitch": np.degrees(ends[:, :, 2]),
        },
        drift=travelled / MEASURED,
    )


def _in_tank(period: float) -> Array:
    dtype = np.dtype(np.float64)
    with jax.enable_x64(True):  # the setting belongs to a thread
        ocean = build_ocean(_tank(period), 0, dtype)
        model = without_yaw(compile_vehicle(paper.smarty(), ocean, dtype).model)
        program = compile_program(jax.jit(_drift), model, ocean)
        return np.asarray(program(model, ocean))


def _tank(period: float) -> World:
    world = load("towing-tank", World)
    wave = Regular(
        spectrum="regular", height=2.0 * paper.WAVE_AMPLITUDE, period=period, towards=0.0
    )
    return world.model_copy(update={"waves": wave})


def _drift(model: Model, ocean: Ocean) -> jax.Array:
    """Heave (up), roll, pitch and the way north, (time, 4, headings)."""
    hull = model.restoring
    assert isinstance(hull, SurfaceRestoring)
    # In fresh water the hull floats deeper than in the sea water of its description.
    fresh = water.density(ocean.water, jnp.zeros(()))
    sinkage = hull.volume / hull.waterplane_area * (model.reference_density / fresh - 1.0)
    heading = -jnp.radians(jnp.asarray(HEADINGS_DEG))  # the wave goes north
    zero = jnp.zeros_like(heading)
    still = State(
        position=jnp.zeros((3, len(HEADINGS_DEG))),
        attitude=from_euler(zero, zero, heading),
        velocity=jnp.zeros((6, len(HEADINGS_DEG))),
        actuators=jnp.zeros((model.channels, len(HEADINGS_DEG))),
    )
    held = course(still.attitude)

    def body(state: State, i: jax.Array) -> tuple[State, jax.Array]:
        moved = step(model, ocean, state, state.actuators, i * TIME_STEP, TIME_STEP)
        moved = turned_back(moved, held)
        roll, pitch, _ = to_euler(moved.attitude)
        return moved, jnp.stack([sinkage - moved.position[2], roll, pitch, moved.position[0]])

    steps = round((SETTLING + MEASURED) / TIME_STEP)
    _, motion = jax.lax.scan(body, still, jnp.arange(steps))
    return motion[round(SETTLING / TIME_STEP) :]


def distance(found: Range, measured: Range) -> float:
    """How far both ends of a range are from the tank's, added up."""
    return abs(found.least - measured.least) + abs(found.greatest - measured.greatest)


def periods_closer(tank: Tank, motion: str) -> list[float]:
    """Periods at which our range lies closer to the tank's than ASVLite's does."""
    limit = distance(paper.TANK_ASVLITE[motion], paper.TANK[motion])
    return [p for p in tank.periods if distance(tank.at(motion, p), paper.TANK[motion]) < limit]


def implied_period(tank: Tank) -> float:
    """Period at which the widths of roll and pitch together come closest to the tank's."""

    def miss(period: float) -> float:
        return sum(
            (tank.at(m, period).width / paper.TANK[m].width - 1.0) ** 2 for m in ("roll", "pitch")
        )

    return min(tank.periods, key=miss)


def judge(tank: Tank) -> list[Claim]:
    """Whether heave comes closer to the tank than the paper's does, and for which periods."""
    closer = periods_closer(tank, "heave")
    ours, theirs = (
        {m: distance(table[m], paper.TANK[m]) for m in paper.TANK}
        for table in (
            {m: tank.at(m, PERIOD) for m in paper.TANK},
            paper.TANK_ASVLITE,
        )
    )
    return [
        Claim(
            f"roll and pitch come closest to the tank's at the assumed {PERIOD:g} s",
            implied_period(tank) == PERIOD,
            f"both ends together {ours['roll']:.1f}° and {ours['pitch']:.1f}° off, ASVLite "
            f"{theirs['roll']:.1f}° and {theirs['pitch']:.1f}°",
        ),
        Claim(
            f"at {PERIOD:g} s heave lies closer to the tank's than ASVLite's does",
            ours["heave"] < theirs["heave"],
            f"both ends together {100 * ours['heave']:.1f} cm off, ASVLite "
            f"{100 * theirs['heave']:.1f} cm",
        ),
        Claim(
            "so it does over most plausible periods",
            len(closer) > len(tank.periods) / 2,
            f"at {len(closer)} of {len(tank.periods)}, from {min(closer, default=0.0):g} s to "
            f"{max(closer, default=0.0):g} s",
        ),
    ]
