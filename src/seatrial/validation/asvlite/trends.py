"""Figure 2 of the ASVLite paper: motions of SMARTY over wave height and heading.

Every sea, one per height and replicate, carries a vessel per heading. The seed of a sea that is
cut into uniform bands sets its phases and nothing else, so the wave forces on the hull (stage one)
are computed once per height. What is left is one batch: `jax.vmap` of the step over the phases of
some seas, in parts that fit into the cache of a core, on all cores.
"""

import dataclasses
import os
import time as wall_clock
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.channels import resolve_channels
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import CompiledVehicle, compile_vehicle
from seatrial.core.step import step
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.spatial.rotations import from_euler, rotation, to_euler
from seatrial.validation.asvlite import paper
from seatrial.validation.asvlite.heading import course, turned_back, without_yaw

Array = NDArray[np.float64]
DTYPE = np.dtype(np.float32)

SEAS_PER_PART = 10
"""Seas that one call of the program steps together: 330 vessels."""

INTEGRATOR = "rk4"
"""The paper's step of 40 ms is long for a method of order one: many more vessels turn over."""

STEPS_PER_SAMPLE = 5
"""Motions are sampled every 0.2 s."""

TRANSIENT = 20.0
"""Left out of the statistics: the vessel starts at rest and level, s."""

MOTIONS = ("heave", "roll", "pitch")


@dataclass(frozen=True)
class Grid:
    """Which runs to make."""

    heights: tuple[float, ...] = paper.HEIGHTS
    headings_deg: tuple[float, ...] = paper.HEADINGS_DEG
    replicates: int = paper.REPLICATES
    thrust: float = paper.THRUST
    """Ahead, N."""
    time_limit: float = 300.0
    """For a vessel that the waves keep from getting on, or that has no thrust, s."""

    @property
    def runs(self) -> int:
        """Number of vessels that are sent through the waves."""
        return len(self.heights) * len(self.headings_deg) * self.replicates


def at_rest(grid: Grid) -> Grid:
    """The same heights for vessels without thrust, in beam and in head sea.

    Seen from one place a sea of uniform bands soon repeats itself, so it takes more of them.
    """
    replicates = max(160, 2 * grid.replicates)
    return Grid(grid.heights, (90.0, 180.0), replicates, thrust=0.0, time_limit=100.0)


SAMPLE = Grid((0.5, 1.25, 2.0), tuple(45.0 * i for i in range(9)), 40)
"""A part of the whole: enough seas to tell the trends from chance."""


@dataclass(frozen=True)
class Trends:
    """Significant amplitudes 2σ of every run, and what they cost."""

    grid: Grid
    amplitudes: dict[str, Array]
    """heave (m), roll, pitch (°): (heights, headings, replicates); NaN where the vessel turned
    over, since a roll through 360° is no amplitude."""
    times: Array
    """Until 50 m were run, s: (heights, headings, replicates)."""
    overturned: int
    """Runs in which the vessel turned over."""
    unfinished: int
    """Runs that diverged, or did not get 50 m far in the time allowed."""
    vessel_steps: int
    prepare_s: float
    """Wall time of building the seas and compiling."""
    run_s: float
    """Wall time of the batch."""

    def mean(self, motion: str) -> Array:
        """Mean over the replicates, (heights, headings)."""
        mean: Array = np.nanmean(self.amplitudes[motion], axis=-1)
        return mean

    def error(self, motion: str) -> Array:
        """Standard error of that mean."""
        return standard_error(self.amplitudes[motion])


def standard_error(values: Array) -> Array:
    """Of the mean over the last axis, without what is NaN."""
    count = np.sum(np.isfinite(values), axis=-1)
    error: Array = np.nanstd(values, axis=-1, ddof=1) / np.sqrt(count)
    return error


class Sums(NamedTuple):
    """What is kept of a run while it goes on; arrays (…, seas, headings)."""

    going: Any
    """Whether the 50 m are still to be run."""
    overturned: Any
    """Whether the deck has pointed down."""
    steps: Any
    """Time steps until 50 m were run."""
    samples: Any
    """Taken after the transient."""
    first: Any
    """(3, …) sums of heave, roll and pitch."""
    second: Any
    """(3, …) sums of their squares."""


def run_trends(grid: Grid, progress: Callable[[float], None] | None = None) -> Trends:
    """Send every vessel over its 50 m; `progress` is told the share that is done."""
    began = wall_clock.perf_counter()
    with jax.enable_x64(True), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        seas = _seas(grid)
        start, limit = _start(grid, seas[0].vehicle), jnp.asarray(grid.time_limit)
        size = min(SEAS_PER_PART, grid.replicates)
        program = compile_program(
            jax.jit(_run_part),
            seas[0].vehicle.model,
            seas[0].ocean,
            seas[0].phases[:size],
            start,
            limit,
        )
        prepared = wall_clock.perf_counter()

        def compute(height: int, first: int) -> tuple[int, int, Sums]:
            with jax.enable_x64(True):  # the setting belongs to a thread
                sea = seas[height]
                # The last part repeats seas, so that all parts share one program.
                index = np.minimum(np.arange(first, first + size), grid.replicates - 1)
                done = program(sea.vehicle.model, sea.ocean, sea.phases[index], start, limit)
                return height, first, Sums(*(np.asarray(a) for a in done))

        jobs = [
            pool.submit(compute, h, first)
            for h in range(len(grid.heights))
            for first in range(0, grid.replicates, size)
        ]
        shape = (len(grid.heights), len(grid.headings_deg), grid.replicates)
        sigma, times = np.zeros((3, *shape)), np.zeros(shape)
        overturned = unfinished = 0
        for done, job in enumerate(as_completed(jobs), 1):
            height, first, sums = job.result()
            new = slice(first, min(first + size, grid.replicates))
            sums = Sums(*(a[..., : new.stop - first, :] for a in sums))
            variance = sums.second / sums.samples - (sums.first / sums.samples) ** 2
            variance[:, sums.overturned] = np.nan
            sigma[:, height, :, new] = np.sqrt(np.moveaxis(variance, 1, 2))
            times[height, :, new] = sums.steps.T * paper.TIME_STEP
            overturned += int(np.sum(sums.overturned))
            unfinished += int(np.sum(sums.going))
            if progress is not None:
                progress(done / len(jobs))
        ended = wall_clock.perf_counter()
    scale = {"heave": 2.0, "roll": np.degrees(2.0), "pitch": np.degrees(2.0)}
    return Trends(
        grid=grid,
        amplitudes={m: scale[m] * sigma[i] for i, m in enumerate(MOTIONS)},
        times=times,
        overturned=overturned,
        unfinished=unfinished,
        vessel_steps=round(float(np.sum(times)) / paper.TIME_STEP),
        prepare_s=prepared - began,
        run_s=ended - prepared,
    )


class _Sea(NamedTuple):
    vehicle: CompiledVehicle
    ocean: Ocean
    phases: NDArray[np.float32]
    """(replicates, C)."""


def _seas(grid: Grid) -> list[_Sea]:
    """A hull in the seas of every height, all with the same structure: one program serves all."""
    vehicle = paper.smarty()
    seas: list[_Sea] = []
    for h, height in enumerate(grid.heights):
        world = paper.open_sea(height)
        oceans = [
            build_ocean(world, h * grid.replicates + i, DTYPE) for i in range(grid.replicates)
        ]
        compiled = compile_vehicle(vehicle, oceans[0], DTYPE, INTEGRATOR)
        model = without_yaw(compiled.model)
        phases = []
        for ocean in oceans:
            assert ocean.waves is not None
            assert oceans[0].waves is not None
            assert np.array_equal(ocean.waves.omega, oceans[0].waves.omega)
            phases.append(np.asarray(ocean.waves.phase))
        compiled = dataclasses.replace(compiled, model=model)
        seas.append(_Sea(compiled, oceans[0], np.array(phases)))
    return seas


def _start(grid: Grid, vehicle: CompiledVehicle) -> State:
    """One vessel per heading at the datum, at rest and level, thrusters running.

    The waves go north, so a wave heading of β relative to the vessel is a vessel heading of −β.
    """
    heading = -jnp.radians(jnp.asarray(grid.headings_deg, DTYPE))
    zero = jnp.zeros_like(heading)
    orders = paper.smarty().manoeuvring
    assert orders is not None
    ahead = resolve_channels(orders, ("ahead",), orders.ahead, list(vehicle.channels))
    thrust = np.array(ahead) * grid.thrust / paper.THRUST
    return State(
        position=jnp.zeros((3, len(heading)), DTYPE),
        attitude=from_euler(zero, zero, heading),
        velocity=jnp.zeros((6, len(heading)), DTYPE),
        actuators=jnp.asarray(np.repeat(thrust[:, None], len(heading), 1), DTYPE),
    )


def _run_part(
    model: Model, ocean: Ocean, phases: jax.Array, start: State, limit: jax.Array
) -> Sums:
    """Run a vessel per heading in each of some seas until all have done their 50 m."""
    seas = phases.shape[0]
    held = course(start.attitude)

    def advance(phase: jax.Array, state: State, t: jax.Array) -> State:
        assert ocean.waves is not None
        here = dataclasses.replace(ocean, waves=dataclasses.replace(ocean.waves, phase=phase))
        moved = step(model, here, state, state.actuators, t, paper.TIME_STEP)
        return turned_back(moved, held)

    together = jax.vmap(advance, in_axes=(0, 1, None), out_axes=1)

    def sample(carry: tuple[jax.Array, State, Sums]) -> tuple[jax.Array, State, Sums]:
        index, state, sums = carry

        def body(i: jax.Array, at: State) -> State:
            moved: State = together(phases, at, (index + i) * paper.TIME_STEP)
            return moved

        state = jax.lax.fori_loop(0, STEPS_PER_SAMPLE, body, state)
        index = index + STEPS_PER_SAMPLE
        distance = state.position[0] * held[0] + state.position[1] * held[1]
        going = sums.going & ~(distance >= paper.DISTANCE)  # one that diverged goes on
        counted = going & (index * paper.TIME_STEP > TRANSIENT)
        roll, pitch, _ = to_euler(state.attitude)
        motion = jnp.where(counted, jnp.stack([-state.position[2], roll, pitch]), 0.0)
        sums = Sums(
            going=going,
            overturned=sums.overturned | (counted & (rotation(state.attitude).r22 < 0.0)),
            steps=jnp.where(going, index, sums.steps),
            samples=sums.samples + counted,
            first=sums.first + motion,
            second=sums.second + motion**2,
        )
        return index, state, sums

    def unfinished(carry: tuple[jax.Array, State, Sums]) -> jax.Array:
        index, _, sums = carry
        return jnp.any(sums.going) & (index * paper.TIME_STEP < limit)

    many: State = jax.tree.map(lambda a: jnp.repeat(a[:, None], seas, axis=1), start)
    shape = many.position.shape[1:]
    none, nothing = jnp.zeros(shape, jnp.int64), jnp.zeros((3, *shape), DTYPE)
    sums = Sums(none == 0, none > 0, none, none, nothing, nothing)
    _, _, sums = jax.lax.while_loop(unfinished, sample, (jnp.int64(0), many, sums))
    return sums
