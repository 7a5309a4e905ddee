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

from seatrial.compile.vehicle import CompiledVehicle, compile_vehicle, resolve_channels
from seatrial.compile.world import build_ocean
from seatrial.core.rigid_body import Inertia
from seatrial.core.step import step
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.spatial.rotations import from_euler, multiply, normalise, rotation, to_euler
from seatrial.validation import asvlite

Array = NDArray[np.float64]
DTYPE = np.dtype(np.float32)

SEAS_PER_PART = 10
"""Seas that one call of the program steps together: 330 vessels."""

STEPS_PER_SAMPLE = 5
"""Motions are sampled every 0.2 s."""

TRANSIENT = 20.0
"""Left out of the statistics: the vessel starts at rest and level, s."""

TIME_LIMIT = 300.0
"""For a vessel that the waves keep from getting on, s; reaching it is reported."""

MOTIONS = ("heave", "roll", "pitch")


@dataclass(frozen=True)
class Grid:
    """Which runs to make."""

    heights: tuple[float, ...] = asvlite.HEIGHTS
    headings_deg: tuple[float, ...] = asvlite.HEADINGS_DEG
    replicates: int = asvlite.REPLICATES

    @property
    def runs(self) -> int:
        """Number of vessels that are sent through the waves."""
        return len(self.heights) * len(self.headings_deg) * self.replicates


SAMPLE = Grid((0.5, 1.25, 2.0), tuple(45.0 * i for i in range(9)), 4)
"""A small part of the whole, for a quick look."""


@dataclass(frozen=True)
class Trends:
    """Significant amplitudes 2σ of every run, and what they cost."""

    grid: Grid
    amplitudes: dict[str, Array]
    """heave (m), roll, pitch (°): (heights, headings, replicates)."""
    times: Array
    """Until 50 m were run, s: (heights, headings, replicates)."""
    vessel_steps: int
    prepare_s: float
    """Wall time of building the seas and compiling."""
    run_s: float
    """Wall time of the batch."""

    def mean(self, motion: str) -> Array:
        """Mean over the replicates, (heights, headings)."""
        mean: Array = np.mean(self.amplitudes[motion], axis=-1)
        return mean

    def error(self, motion: str) -> Array:
        """Standard error of that mean."""
        values = self.amplitudes[motion]
        spread: Array = np.std(values, axis=-1, ddof=1) / np.sqrt(values.shape[-1])
        return spread


class Sums(NamedTuple):
    """What is kept of a run while it goes on."""

    count: jax.Array
    """Samples, and the time of the run in steps."""
    steps: jax.Array
    first: jax.Array
    """(3, …) sums of heave, roll and pitch."""
    second: jax.Array
    """(3, …) sums of their squares."""


def run_trends(grid: Grid, progress: Callable[[float], None] | None = None) -> Trends:
    """Send every vessel over its 50 m; `progress` is told the share that is done."""
    began = wall_clock.perf_counter()
    with jax.enable_x64(True), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        seas = _seas(grid)
        start = _start(grid, seas[0].vehicle)
        size = min(SEAS_PER_PART, grid.replicates)
        program = compile_program(
            jax.jit(_run_part), seas[0].vehicle.model, seas[0].ocean, seas[0].phases[:size], start
        )
        prepared = wall_clock.perf_counter()

        def compute(height: int, first: int) -> tuple[int, int, Sums]:
            with jax.enable_x64(True):  # the setting belongs to a thread
                sea = seas[height]
                # The last part repeats seas, so that all parts share one program.
                index = np.minimum(np.arange(first, first + size), grid.replicates - 1)
                done = program(sea.vehicle.model, sea.ocean, sea.phases[index], start)
                return height, first, Sums(*(np.asarray(a, np.float64) for a in done))

        jobs = [
            pool.submit(compute, h, first)
            for h in range(len(grid.heights))
            for first in range(0, grid.replicates, size)
        ]
        shape = (len(grid.heights), len(grid.headings_deg), grid.replicates)
        sigma, times = np.zeros((3, *shape)), np.zeros(shape)
        for done, job in enumerate(as_completed(jobs), 1):
            height, first, sums = job.result()
            new = slice(first, min(first + size, grid.replicates))
            width = new.stop - first
            mean = sums.first / sums.count
            deviation = np.sqrt(np.maximum(sums.second / sums.count - mean**2, 0.0))
            sigma[:, height, :, new] = np.moveaxis(deviation, 1, 2)[..., :width]
            times[height, :, new] = sums.steps.T[:, :width] * asvlite.TIME_STEP
            if progress is not None:
                progress(done / len(jobs))
        ended = wall_clock.perf_counter()
    if not np.all(np.isfinite(sigma)):
        raise FloatingPointError("a vessel of the study diverged")
    scale = {"heave": 2.0, "roll": np.degrees(2.0), "pitch": np.degrees(2.0)}
    return Trends(
        grid=grid,
        amplitudes={m: scale[m] * sigma[i] for i, m in enumerate(MOTIONS)},
        times=times,
        vessel_steps=round(float(np.sum(times)) / asvlite.TIME_STEP),
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
    vehicle = asvlite.smarty()
    seas: list[_Sea] = []
    for h, height in enumerate(grid.heights):
        world = asvlite.open_sea(height)
        oceans = [build_ocean(world, h * grid.replicates + i, DTYPE) for i in range(grid.replicates)]
        compiled = compile_vehicle(vehicle, oceans[0], DTYPE, "semi_implicit")
        model = _heading_held(compiled.model)
        phases = []
        for ocean in oceans:
            assert ocean.waves is not None
            assert oceans[0].waves is not None
            assert np.array_equal(ocean.waves.omega, oceans[0].waves.omega)
            phases.append(np.asarray(ocean.waves.phase))
        if seas:
            model = _like(model, seas[0].vehicle.model)
        compiled = dataclasses.replace(compiled, model=model)
        seas.append(_Sea(compiled, oceans[0], np.array(phases)))
    return seas


def _like(model: Model, first: Model) -> Model:
    """The model with the table of contributions of another: they differ by rounding at most."""
    assert model.excitation is not None
    assert first.excitation is not None
    own, other = model.excitation.contributions, first.excitation.contributions
    assert [c[:4] for c in own] == [c[:4] for c in other]
    assert np.allclose([c.factor for c in own], [c.factor for c in other], rtol=1e-9)
    return dataclasses.replace(
        model, excitation=dataclasses.replace(model.excitation, contributions=other)
    )


def _heading_held(model: Model) -> Model:
    """The model without yaw: M ν̇ = τ solved for the other five, with ṙ = 0.

    A constraint moment about the body's vertical axis, whatever it takes, is what removing row
    and column six of M before inverting it means.
    """
    inertia = model.inertia

    def inverse(matrix: Array) -> jax.Array:
        free = np.zeros((6, 6))
        free[:5, :5] = np.linalg.inv(matrix[:5, :5])
        return jnp.asarray(free, inertia.inverse_wet.dtype)

    rigid = np.asarray(inertia.rigid_body, np.float64)
    added = np.asarray(inertia.added_mass, np.float64)
    held: Inertia = dataclasses.replace(
        inertia, inverse_wet=inverse(rigid + added), inverse_dry=inverse(rigid)
    )
    return dataclasses.replace(model, inertia=held)


def _start(grid: Grid, vehicle: CompiledVehicle) -> State:
    """One vessel per heading at the datum, at rest and level, thrusters running.

    The waves go north, so a wave heading of β relative to the vessel is a vessel heading of −β.
    """
    heading = -jnp.radians(jnp.asarray(grid.headings_deg, DTYPE))
    zero = jnp.zeros_like(heading)
    orders = asvlite.smarty().manoeuvring
    assert orders is not None
    thrust = resolve_channels(orders, ("ahead",), orders.ahead, list(vehicle.channels))
    return State(
        position=jnp.zeros((3, len(heading)), DTYPE),
        attitude=from_euler(zero, zero, heading),
        velocity=jnp.zeros((6, len(heading)), DTYPE),
        actuators=jnp.asarray(np.repeat(np.array(thrust)[:, None], len(heading), 1), DTYPE),
    )


def _run_part(model: Model, ocean: Ocean, phases: jax.Array, start: State) -> Sums:
    """Sums over the runs of some seas, arrays (…, seas, headings)."""
    seas = phases.shape[0]
    c0, s0 = _course(start.attitude)

    def advance(phase: jax.Array, state: State, t: jax.Array) -> State:
        assert ocean.waves is not None
        here = dataclasses.replace(ocean, waves=dataclasses.replace(ocean.waves, phase=phase))
        moved = step(model, here, state, state.actuators, t, asvlite.TIME_STEP)
        return _turned_back(moved, c0, s0)

    together = jax.vmap(advance, in_axes=(0, 1, None), out_axes=1)

    def sample(carry: tuple[jax.Array, State, Sums]) -> tuple[jax.Array, State, Sums]:
        index, state, sums = carry

        def body(i: jax.Array, at: State) -> State:
            moved: State = together(phases, at, (index + i) * asvlite.TIME_STEP)
            return moved

        state = jax.lax.fori_loop(0, STEPS_PER_SAMPLE, body, state)
        index = index + STEPS_PER_SAMPLE
        going = _distance(state, c0, s0) < asvlite.DISTANCE
        counted = jnp.where(going & (index * asvlite.TIME_STEP > TRANSIENT), 1.0, 0.0).astype(DTYPE)
        roll, pitch, _ = to_euler(state.attitude)
        motion = jnp.stack([-state.position[2], roll, pitch])
        return (
            index,
            state,
            Sums(
                count=sums.count + counted,
                steps=jnp.where(going, index.astype(DTYPE), sums.steps),
                first=sums.first + counted * motion,
                second=sums.second + counted * motion**2,
            ),
        )

    def unfinished(carry: tuple[jax.Array, State, Sums]) -> jax.Array:
        index, state, _ = carry
        going = jnp.any(_distance(state, c0, s0) < asvlite.DISTANCE)
        return going & (index * asvlite.TIME_STEP < TIME_LIMIT)

    many: State = jax.tree.map(lambda a: jnp.repeat(a[:, None], seas, axis=1), start)
    shape = many.position.shape[1:]
    none, nothing = jnp.zeros(shape, DTYPE), jnp.zeros((3, *shape), DTYPE)
    initial = (jnp.int64(0), many, Sums(none, none, nothing, nothing))
    _, _, sums = jax.lax.while_loop(unfinished, sample, initial)
    return sums


def _course(attitude: jax.Array) -> tuple[Any, Any]:
    """Cosine and sine of the heading."""
    turned = rotation(attitude)
    norm = 1.0 / jnp.sqrt(turned.r00**2 + turned.r10**2)
    return turned.r00 * norm, turned.r10 * norm


def _distance(state: State, c0: jax.Array, s0: jax.Array) -> jax.Array:
    """Run along the heading, m."""
    return state.position[0] * c0 + state.position[1] * s0


def _turned_back(state: State, c0: jax.Array, s0: jax.Array) -> State:
    """The state turned about the vertical to its heading.

    With r = 0 the heading still changes by q sin φ / cos θ, to second order in the motions; over
    a run this would add up to degrees.
    """
    c, s = _course(state.attitude)
    half = 0.5 * (s0 * c - c0 * s)  # sine of the small angle to turn back
    none = jnp.zeros_like(half)
    back = jnp.stack([jnp.ones_like(half), none, none, half])
    return dataclasses.replace(state, attitude=normalise(multiply(back, state.attitude)))
