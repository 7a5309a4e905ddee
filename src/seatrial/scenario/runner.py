"""Turns the wheel: compiles a whole run to one scan and hands its frames to the sinks."""

import time as wall_clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.core.environment import drift, surroundings
from seatrial.core.forces.grounding import penetration
from seatrial.core.step import accelerate, step
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean, waves, wind
from seatrial.programs import compile_program
from seatrial.pytree import pytree, static
from seatrial.scenario.commanders import MEMORY, Commander, command
from seatrial.scenario.frames import Array, Frames, RunHeader, RunSummary, Sink, VehicleFrames
from seatrial.scenario.tracks import Track, summarise
from seatrial.spatial.vectors import vec3

FRAMES_PER_BLOCK = 100
"""Frames computed by one call of the compiled program, and lost at most when a run is killed."""

RUNNING, DIVERGED, GROUNDED = 0, 1, 2
STATUS = {RUNNING: "completed", DIVERGED: "diverged", GROUNDED: "grounded"}

SPEED_LIMIT = 1e3
"""A vehicle faster than this (m/s or rad/s) has diverged."""


@pytree
class Group:
    """Vehicles of one kind: one Model, N states."""

    model: Model
    commander: Commander
    initial: State
    names: tuple[str, ...] = static()
    stop_when_grounded: bool = static()


class Carry(NamedTuple):
    """What one frame hands to the next."""

    state: State
    memory: jax.Array
    status: jax.Array
    """(N,) codes of `STATUS`."""


Inner = tuple[State, jax.Array, jax.Array]
Block = tuple[tuple[Carry, ...], tuple["Observation", ...]]


class Observation(NamedTuple):
    """One frame of a group, component first, vehicles last."""

    position: jax.Array
    attitude: jax.Array
    velocity: jax.Array
    acceleration: jax.Array
    actuators: jax.Array
    command: jax.Array
    current: jax.Array
    wave_elevation: jax.Array
    wave_velocity: jax.Array
    wind: jax.Array
    density: jax.Array
    wet_fraction: jax.Array
    status: jax.Array


@dataclass(frozen=True)
class Plan:
    """A compiled scenario."""

    header: RunHeader
    ocean: Ocean
    groups: tuple[Group, ...]
    time_step: float
    substeps: int
    """Time steps per control period."""
    controls: int
    """Control periods per frame."""
    frames: int
    """Frames to record, the one at t = 0 included."""
    manoeuvres: dict[str, tuple[str, dict[str, float]]]
    """Type and parameters of each vehicle's standard manoeuvre, for the indices."""


def start(group: Group) -> Carry:
    """Carry of a group before its first frame."""
    vehicles = len(group.names)
    memory = np.zeros((MEMORY, vehicles))
    return Carry(group.initial, jnp.asarray(memory), jnp.asarray(np.zeros(vehicles, np.int32)))


def control_period(
    model: Model,
    ocean: Ocean,
    state: State,
    orders: jax.Array,
    index: jax.Array,
    time_step: float,
    substeps: int,
) -> State:
    """State after one control period under constant orders; `index` counts time steps."""

    def body(i: jax.Array, at: State) -> State:
        return step(model, ocean, at, orders, (index + i) * time_step, time_step)

    advanced: State = jax.lax.fori_loop(0, substeps, body, state)
    return advanced


def observe(
    model: Model, ocean: Ocean, carry: Carry, orders: jax.Array, t: jax.Array
) -> Observation:
    """What a frame records."""
    state = carry.state
    position = vec3(state.position)
    around = surroundings(model, ocean, state, t)
    flow, _ = drift(ocean, position, t)
    zero = jnp.zeros_like(state.position)
    elevation, orbital, air = zero[0], zero, zero
    if ocean.waves is not None:
        wave = waves.sample(ocean.waves, position, t)
        elevation, orbital = jnp.asarray(wave.elevation), jnp.stack(wave.velocity)
    if ocean.wind is not None:
        x, y = state.position[0], state.position[1]
        air = jnp.stack(
            [jnp.broadcast_to(c, x.shape) for c in wind.sample(ocean.wind, (x, y, 0 * x - 10.0), t)]
        )
    return Observation(
        position=state.position,
        attitude=state.attitude,
        velocity=state.velocity,
        acceleration=accelerate(model, ocean, state, around, t),
        actuators=state.actuators[: model.channels],
        command=orders,
        current=zero if flow is None else jnp.stack(flow),
        wave_elevation=elevation,
        wave_velocity=orbital,
        wind=air,
        density=jnp.broadcast_to(around.density, zero[0].shape),
        wet_fraction=jnp.broadcast_to(around.wet, zero[0].shape),
        status=carry.status,
    )


def frame(
    group: Group, ocean: Ocean, carry: Carry, index: jax.Array, plan: tuple[float, int, int]
) -> tuple[Carry, Observation]:
    """Record a frame, then run until the next one."""
    time_step, substeps, controls = plan

    def period(c: jax.Array, inner: Inner) -> Inner:
        state, memory, first_orders = inner
        at = index + c * substeps
        memory, orders = command(group.commander, memory, state, at * time_step)
        state = control_period(group.model, ocean, state, orders, at, time_step, substeps)
        return state, memory, jnp.where(c == 0, orders, first_orders)

    unset = jnp.zeros((group.model.channels, len(group.names)), carry.state.velocity.dtype)
    state, memory, orders = jax.lax.fori_loop(
        0, controls, period, (carry.state, carry.memory, unset)
    )
    seen = observe(group.model, ocean, carry, orders, index * time_step)
    return judge(group, ocean, carry, Carry(state, memory, carry.status)), seen


def judge(group: Group, ocean: Ocean, before: Carry, after: Carry) -> Carry:
    """Stop vehicles that diverged (at their last good state) or ran aground."""
    state = after.state
    parts = [state.position, state.attitude, state.velocity, state.actuators]
    sane = jnp.all(jnp.abs(state.velocity) < SPEED_LIMIT, axis=0)
    for part in parts:
        sane &= jnp.all(jnp.isfinite(part), axis=0)
    running = before.status == RUNNING
    moved = running & sane
    kept = jax.tree.map(lambda new, old: jnp.where(moved, new, old), after, before)
    status = jnp.where(running & ~sane, DIVERGED, before.status)
    if group.model.grounding is not None and ocean.seabed is not None and group.stop_when_grounded:
        touched = penetration(group.model.grounding, ocean.seabed, vec3(kept.state.position)) > 0
        status = jnp.where(moved & touched, GROUNDED, status)
    return Carry(kept.state, kept.memory, status.astype(jnp.int32))


@partial(jax.jit, static_argnames=("plan", "frames"))
def block(
    groups: tuple[Group, ...],
    ocean: Ocean,
    carries: tuple[Carry, ...],
    first: jax.Array,
    plan: tuple[float, int, int],
    frames: int,
) -> tuple[tuple[Carry, ...], tuple[Observation, ...]]:
    """A block of frames of the whole fleet, as one scan; `first` counts frames from the start."""
    per_frame = plan[1] * plan[2]

    def body(
        carries: tuple[Carry, ...], k: jax.Array
    ) -> tuple[tuple[Carry, ...], tuple[Observation, ...]]:
        index = (first + k) * per_frame
        pairs = [frame(g, ocean, c, index, plan) for g, c in zip(groups, carries, strict=True)]
        return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)

    return jax.lax.scan(body, carries, jnp.arange(frames))


def run(
    plan: Plan,
    sinks: Sequence[Sink] = (),
    progress: Callable[[float], None] | None = None,
) -> tuple[RunSummary, float]:
    """Run to the end; returns the summary and the wall time of the simulation itself, s."""
    with jax.enable_x64(True):
        return _run(plan, sinks, progress)


def _run(
    plan: Plan, sinks: Sequence[Sink], progress: Callable[[float], None] | None
) -> tuple[RunSummary, float]:
    size = min(FRAMES_PER_BLOCK, plan.frames)
    shape = (plan.time_step, plan.substeps, plan.controls)
    carries = tuple(start(group) for group in plan.groups)
    compiled = compile_program(block, plan.groups, plan.ocean, carries, jnp.int64(0), shape, size)

    def compute(carries: tuple[Carry, ...], first: int) -> Block:
        result: Block = compiled(plan.groups, plan.ocean, carries, jnp.int64(first))
        return result

    for sink in sinks:
        sink.open(plan.header)
    tracks = {name: Track() for group in plan.groups for name in group.names}
    interrupted = False
    began = wall_clock.perf_counter()
    try:
        pending = compute(carries, 0)
        for first in range(0, plan.frames, size):
            carries, seen = pending
            if first + size < plan.frames:  # computed while the sinks write this block
                pending = compute(carries, first + size)
            frames, statuses = _to_frames(plan, seen, first)
            for name, vehicle in frames.vehicles.items():
                tracks[name].append(frames.time, vehicle, statuses[name])
            for sink in sinks:
                sink.write(frames)
            if progress is not None:
                progress(float(frames.time[-1]))
            if all(codes[-1] != RUNNING for codes in statuses.values()):
                break
    except KeyboardInterrupt:  # what was recorded so far is closed properly
        interrupted = True
        if not any(track.time for track in tracks.values()):
            raise
    elapsed = wall_clock.perf_counter() - began
    summary = summarise(
        plan.header,
        tracks,
        STATUS | {RUNNING: "stopped"} if interrupted else STATUS,
        plan.manoeuvres,
    )
    for sink in sinks:
        sink.close(summary)
    return summary, elapsed


def _to_frames(
    plan: Plan, seen: tuple[Observation, ...], first: int
) -> tuple[Frames, dict[str, NDArray[np.int32]]]:
    """A block as frames and status codes, cut where the run or its last vehicle ended."""
    count = plan.frames - first
    ended = np.all([np.all(np.asarray(o.status) != RUNNING, axis=1) for o in seen], axis=0)
    if ended.any():
        count = min(count, int(np.argmax(ended)) + 1)
    vehicles: dict[str, VehicleFrames] = {}
    statuses: dict[str, NDArray[np.int32]] = {}
    fields = [f for f in Observation._fields if f != "status"]
    for group, observation in zip(plan.groups, seen, strict=True):
        arrays = {f: np.asarray(getattr(observation, f), np.float64)[:count] for f in fields}
        codes = np.asarray(observation.status)[:count]
        for i, name in enumerate(group.names):
            vehicles[name] = VehicleFrames(**{f: a[..., i] for f, a in arrays.items()})
            statuses[name] = codes[:, i]
    size = len(next(iter(statuses.values())))
    time: Array = np.arange(first, first + size, dtype=np.float64) * plan.header.frame_period
    return Frames(time, vehicles), statuses
