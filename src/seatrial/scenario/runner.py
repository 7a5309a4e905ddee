"""Turns the wheel: compiles a whole run to one scan and hands its frames to the sinks."""

import os
import signal
import time as wall_clock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import Any, NamedTuple

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
from seatrial.scenario.commanders import MEMORY, Commander, command, select
from seatrial.scenario.frames import (
    Array,
    Frames,
    GroupFrames,
    RunHeader,
    RunSummary,
    Sink,
    VehicleFrames,
)
from seatrial.scenario.tracks import Tally, summarise
from seatrial.spatial.vectors import vec3

FRAMES_PER_BLOCK = 100
"""Frames computed by one call of the compiled program, and lost at most when a run is killed."""

SAMPLES_PER_BLOCK = 200_000
"""Vehicles times frames that a block holds at most; bounds the memory of a swarm."""

VEHICLES_PER_PART = 256
"""A group is cut into parts of at most this many vehicles, whose wave phases fit into the cache
of a core; parts run on all cores at once. It must not depend on the number of cores, or a run
would give other bytes on another machine."""

SMALLEST_SPLIT = 64
"""From this many vehicles on there are at least two parts: a second core gains more than the
shorter loops of a part lose."""

RUNNING, DIVERGED, GROUNDED = 0, 1, 2
STATUS = {RUNNING: "completed", DIVERGED: "diverged", GROUNDED: "grounded"}

SPEED_LIMIT = 1e3
"""A vehicle faster than this (m/s or rad/s) has diverged."""


@pytree
class Group:
    """Vehicles of one kind that take orders in the same way: one Model, N states."""

    model: Model
    commander: Commander
    initial: State
    varied: tuple[bool, ...] = static()
    """For each array of the Model whether its last axis counts the vehicles."""
    stop_when_grounded: bool = static()

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return int(self.initial.position.shape[-1])


@dataclass(frozen=True)
class Squad:
    """A group with the names of its vehicles and the ocean in its precision."""

    names: tuple[str, ...]
    group: Group
    ocean: Ocean


class Carry(NamedTuple):
    """What one frame hands to the next."""

    state: State
    memory: jax.Array
    status: jax.Array
    """(N,) codes of `STATUS`."""


Inner = tuple[State, jax.Array, jax.Array]
Block = tuple[Carry, "Observation"]


class Observation(NamedTuple):
    """One frame of a group, component first, vehicles last (NumPy: time, vehicles, components)."""

    position: Any
    attitude: Any
    velocity: Any
    acceleration: Any
    actuators: Any
    command: Any
    current: Any
    wave_elevation: Any
    wave_velocity: Any
    wind: Any
    density: Any
    wet_fraction: Any
    status: Any


@dataclass(frozen=True)
class Plan:
    """A compiled scenario."""

    header: RunHeader
    squads: tuple[Squad, ...]
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
    memory = np.zeros((MEMORY, group.count))
    return Carry(group.initial, jnp.asarray(memory), jnp.asarray(np.zeros(group.count, np.int32)))


def parts_of(group: Group) -> list[tuple[Group, int]]:
    """Cut a group into equal parts; a part comes with how many of its vehicles are new.

    The last part repeats vehicles so that all parts share one compiled program.
    """
    if jax.default_backend() != "cpu" or group.count < SMALLEST_SPLIT:
        return [(group, group.count)]
    number = max(2, -(-group.count // VEHICLES_PER_PART))
    size = -(-group.count // number)
    parts = []
    for first in range(0, group.count, size):
        index = np.minimum(np.arange(first, first + size), group.count - 1)
        parts.append((_selected(group, index), min(size, group.count - first)))
    return parts


def _selected(group: Group, index: NDArray[np.int64]) -> Group:
    """The group's vehicles at `index`."""

    def take(array: jax.Array) -> jax.Array:
        return jnp.asarray(np.asarray(array)[..., index])

    leaves, tree = jax.tree.flatten(group.model)
    chosen = [take(a) if varied else a for a, varied in zip(leaves, group.varied, strict=True)]
    return Group(
        model=jax.tree.unflatten(tree, chosen),
        commander=select(group.commander, index),
        initial=jax.tree.map(take, group.initial),
        varied=group.varied,
        stop_when_grounded=group.stop_when_grounded,
    )


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

    unset = jnp.zeros((group.model.channels, group.count), carry.state.velocity.dtype)
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
    group: Group,
    ocean: Ocean,
    carry: Carry,
    first: jax.Array,
    plan: tuple[float, int, int],
    frames: int,
) -> Block:
    """A block of frames as one scan; `first` counts frames from the start of the run."""
    per_frame = plan[1] * plan[2]

    def body(carry: Carry, k: jax.Array) -> tuple[Carry, Observation]:
        return frame(group, ocean, carry, (first + k) * per_frame, plan)

    return jax.lax.scan(body, carry, jnp.arange(frames))


class _Part:
    """Vehicles that one core works on, block after block."""

    def __init__(self, group: Group, ocean: Ocean, new: int, program: Any) -> None:
        self.new = new
        self._group, self._ocean, self._program = group, ocean, program
        self._carry = start(group)

    def compute(self, first: int) -> list[NDArray[Any]]:
        """The next block, as arrays (T, ..., N) in the order of `Observation`."""
        with jax.enable_x64(True):  # the setting belongs to a thread
            index = jnp.int64(first)
            self._carry, seen = self._program(self._group, self._ocean, self._carry, index)
        return [np.asarray(a)[..., : self.new] for a in seen]


def run(
    plan: Plan,
    sinks: Sequence[Sink] = (),
    progress: Callable[[float], None] | None = None,
) -> tuple[RunSummary, float]:
    """Run to the end; returns the summary and the wall time of the simulation itself, s."""
    workers = os.cpu_count() or 1
    with jax.enable_x64(True), ThreadPoolExecutor(workers) as pool:
        return _run(plan, sinks, progress, pool)


def _run(
    plan: Plan,
    sinks: Sequence[Sink],
    progress: Callable[[float], None] | None,
    pool: ThreadPoolExecutor,
) -> tuple[RunSummary, float]:
    vehicles = sum(squad.group.count for squad in plan.squads)
    size = min(plan.frames, FRAMES_PER_BLOCK, max(1, SAMPLES_PER_BLOCK // vehicles))
    squads = list(pool.map(lambda squad: _prepare(plan, squad, size), plan.squads))
    tallies = [Tally(squad.names, set(plan.manoeuvres)) for squad in plan.squads]
    for sink in sinks:
        sink.open(plan.header)

    def submit(first: int) -> list[list[Future[list[NDArray[Any]]]]]:
        return [[pool.submit(part.compute, first) for part in parts] for parts in squads]

    end = 0.0
    began = wall_clock.perf_counter()
    with _interrupt_at_leisure() as interrupted:
        pending = submit(0)
        for first in range(0, plan.frames, size):
            seen = [_joined([f.result() for f in futures]) for futures in pending]
            if first + size < plan.frames:  # computed while the sinks write this block
                pending = submit(first + size)
            frames, statuses = _to_frames(plan, seen, first)
            end = float(frames.time[-1])
            for tally, group, codes in zip(tallies, frames.groups, statuses, strict=True):
                tally.add(frames.time, group, codes)
            for sink in sinks:
                sink.write(frames)
            if progress is not None:
                progress(end)
            if interrupted.is_set() or all(tally.all_ended for tally in tallies):
                break
    elapsed = wall_clock.perf_counter() - began
    words = STATUS | {RUNNING: "stopped"} if interrupted.is_set() else STATUS
    summary = summarise(plan.header, tallies, end, words, plan.manoeuvres)
    for sink in sinks:
        sink.close(summary)
    return summary, elapsed


@contextmanager
def _interrupt_at_leisure() -> Iterator[Event]:
    """Note the first Ctrl-C instead of raising it in the middle of a sink's write.

    The run then ends after the block in hand, and its recording is closed properly. A second
    Ctrl-C interrupts at once. Signals belong to the main thread; elsewhere nothing changes.
    """
    asked = Event()
    if current_thread() is not main_thread():
        yield asked
        return
    usual = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, usual)


def _prepare(plan: Plan, squad: Squad, frames: int) -> list[_Part]:
    """Cut a squad into parts and compile the one program that all of them share."""
    with jax.enable_x64(True):
        parts = parts_of(squad.group)
        shape = (plan.time_step, plan.substeps, plan.controls)
        example = parts[0][0]
        program = compile_program(
            block, example, squad.ocean, start(example), jnp.int64(0), shape, frames
        )
        return [_Part(group, squad.ocean, new, program) for group, new in parts]


def _joined(parts: list[list[NDArray[Any]]]) -> Observation:
    """Parts of a group side by side, vehicles moved to the second axis."""
    return Observation(
        *(
            np.moveaxis(np.concatenate(arrays, axis=-1), -1, 1)
            for arrays in zip(*parts, strict=True)
        )
    )


def _to_frames(
    plan: Plan, seen: list[Observation], first: int
) -> tuple[Frames, list[NDArray[np.int32]]]:
    """A block as frames and status codes, cut where the run or its last vehicle ended."""
    count = min(plan.frames - first, len(seen[0].status))
    ended = np.all([np.all(o.status != RUNNING, axis=1) for o in seen], axis=0)
    if ended.any():
        count = min(count, int(np.argmax(ended)) + 1)
    fields = [f for f in Observation._fields if f != "status"]
    groups = tuple(
        GroupFrames(squad.names, VehicleFrames(**{f: getattr(o, f)[:count] for f in fields}))
        for squad, o in zip(plan.squads, seen, strict=True)
    )
    time: Array = np.arange(first, first + count, dtype=np.float64) * plan.header.frame_period
    return Frames(time, groups), [o.status[:count] for o in seen]
