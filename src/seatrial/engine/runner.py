"""Turns the wheel: runs a compiled scenario block by block and hands its frames to the sinks."""

import os
import signal
import time as wall_clock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.engine import suite as sensing
from seatrial.engine.commanders import select
from seatrial.engine.frames import (
    Array,
    Frames,
    GroupFrames,
    LegInfo,
    RunHeader,
    RunSummary,
    Scene,
    Sink,
    VehicleFrames,
)
from seatrial.engine.pilot import Pilot
from seatrial.engine.tracks import Tally, summarise
from seatrial.engine.wheel import (
    RUNNING,
    STATUS,
    Group,
    Observation,
    Samples,
    Schedule,
    block,
    start,
)
from seatrial.faults import faults as faulting
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.signals import Measurements

FRAMES_PER_BLOCK = 100
"""Frames computed by one call of the compiled program, and lost at most when a run is killed."""

SAMPLES_PER_BLOCK = 200_000
"""Frames and measurements that a block holds at most; bounds the memory of a swarm."""

VEHICLES_PER_PART = 256
"""A group is cut into parts of at most this many vehicles, whose wave phases fit into the cache
of a core; parts run on all cores at once. It must not depend on the number of cores, or a run
would give other bytes on another machine."""

SMALLEST_SPLIT = 64
"""From this many vehicles on there are at least two parts: a second core gains more than the
shorter loops of a part lose."""


@dataclass(frozen=True)
class Squad:
    """A group with the names of its vehicles and the ocean in its precision."""

    names: tuple[str, ...]
    group: Group
    ocean: Ocean
    sensors: tuple[str, ...]
    """Names of the sensors in the group's suite."""
    legs: dict[str, tuple[LegInfo, ...]]
    """Legs of each vehicle that has a mission."""


@dataclass(frozen=True)
class Plan:
    """A compiled scenario."""

    header: RunHeader
    squads: tuple[Squad, ...]
    schedule: Schedule
    frames: int
    """Frames to record, the one at t = 0 included."""
    manoeuvres: dict[str, tuple[str, dict[str, float]]]
    """Type and parameters of each vehicle's standard manoeuvre, for the indices."""
    scene: Scene
    """The ocean and the bodies as the sinks get them."""


def parts_of(group: Group) -> list[tuple[Group, int]]:
    """Cut a group into equal parts; a part comes with how many of its vehicles are new.

    The last part repeats vehicles so that all parts share one compiled program.
    """
    whole = group.count < SMALLEST_SPLIT or isinstance(group.commander, Pilot)
    if jax.default_backend() != "cpu" or whole:
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
        suite=sensing.select(group.suite, index),
        faults=None if group.faults is None else faulting.select(group.faults, index),
        varied=group.varied,
        stop_when_grounded=group.stop_when_grounded,
    )


Seen = tuple[Observation, Samples]
"""A block of a group: its frames, and what each sensor measured in them."""


class _Part:
    """Vehicles that one core works on, block after block."""

    def __init__(self, group: Group, ocean: Ocean, new: int, program: Any) -> None:
        self.new = new
        self._group, self._ocean, self._program = group, ocean, program
        self._carry = start(group)

    def compute(self, first: int) -> Seen:
        """The next block, as arrays (T, ..., N)."""
        with jax.enable_x64(True):  # the setting belongs to a thread
            index = jnp.int64(first)
            self._carry, seen = self._program(self._group, self._ocean, self._carry, index)
        found: Seen = jax.tree.map(lambda a: np.asarray(a)[..., : self.new], seen)
        return found


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
    rows = sum(squad.group.count * _rows(squad.group, plan.schedule) for squad in plan.squads)
    size = min(plan.frames, FRAMES_PER_BLOCK, max(1, SAMPLES_PER_BLOCK // rows))
    squads = list(pool.map(lambda squad: _prepare(plan, squad, size), plan.squads))
    tallies = [Tally(squad.names, set(plan.manoeuvres)) for squad in plan.squads]
    for sink in sinks:
        sink.open(plan.header, plan.scene)

    def submit(first: int) -> list[list[Future[Seen]]]:
        return [[pool.submit(part.compute, first) for part in parts] for parts in squads]

    end = 0.0
    began = wall_clock.perf_counter()
    with interrupt_at_leisure() as interrupted:
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
def interrupt_at_leisure() -> Iterator[Event]:
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
        example = parts[0][0]
        program = compile_program(
            block, example, squad.ocean, start(example), jnp.int64(0), plan.schedule, frames
        )
        return [_Part(group, squad.ocean, new, program) for group, new in parts]


def _rows(group: Group, schedule: Schedule) -> int:
    """Frames and samples that one vehicle of a group gives per frame period."""
    steps = schedule.substeps * schedule.controls
    return 1 + sum(steps // fitted.period for fitted in group.suite)


def _joined(parts: list[Seen]) -> Seen:
    """Parts of a group side by side."""
    joined: Seen = jax.tree.map(lambda *arrays: np.concatenate(arrays, axis=-1), *parts)
    return joined


def _to_frames(plan: Plan, seen: list[Seen], first: int) -> tuple[Frames, list[NDArray[np.int32]]]:
    """A block as frames and status codes, cut where the run or its last vehicle ended."""
    statuses = [o.status for o, _ in seen]
    count = min(plan.frames - first, len(statuses[0]))
    ended = np.all([np.all(codes != RUNNING, axis=1) for codes in statuses], axis=0)
    if ended.any():
        count = min(count, int(np.argmax(ended)) + 1)
    last = first + count == plan.frames or bool(ended.any())
    fields = [f for f in Observation._fields if f != "status"]
    groups = tuple(
        GroupFrames(
            squad.names,
            VehicleFrames(**{f: np.moveaxis(getattr(o, f)[:count], -1, 1) for f in fields}),
            measurements_of(squad, samples, plan.schedule, first, count, last),
        )
        for squad, (o, samples) in zip(plan.squads, seen, strict=True)
    )
    time: Array = np.arange(first, first + count, dtype=np.float64) * plan.header.frame_period
    return Frames(time, groups), [codes[:count] for codes in statuses]


def measurements_of(
    squad: Squad, samples: Samples, schedule: Schedule, first: int, count: int, last: bool
) -> dict[str, Measurements]:
    """What the sensors of a group measured in `count` windows, by sensor.

    A window is a frame period, or a control period when a run is stepped; `first` counts them. A
    run that ends takes no samples after its `last` frame.
    """
    steps = schedule.substeps * schedule.controls
    starts = (first + np.arange(count)) * steps
    found = {}
    for name, fitted, taken in zip(squad.sensors, squad.group.suite, samples, strict=True):
        rows = np.moveaxis(np.asarray(taken.rows)[:count], -1, 2)
        numbers = -(-starts // fitted.period)[:, None] + np.arange(rows.shape[1])
        at = numbers * fitted.period
        inside = at < starts[:, None] + steps
        if last:
            inside[-1] &= at[-1] == starts[-1]
        rows = rows[inside]
        time = at[inside].astype(np.float64) * schedule.time_step
        found[name] = Measurements(
            time=time,
            arrival=time[:, None] + rows[..., -2],
            values=rows[..., :-3],
            valid=rows[..., -3] > 0.5,
            fault=rows[..., -1].astype(np.int32),
        )
    return found
