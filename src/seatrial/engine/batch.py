"""Many plans of one shape as one program: a scenario under a thousand seeds.

What differs between the plans (seas, noise, masses, gains, waypoints) are arrays; they are put side
by side on a first axis, so that the loop computes the same step of all of them at once.
"""

import os
import time as wall_clock
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import jax
import numpy as np

from seatrial.engine.assembly import Block, block_of, block_size, by_fleet
from seatrial.engine.command.commanders import Given
from seatrial.engine.compiled import block as programs
from seatrial.engine.compiled.group import Carries, Groups, Oceans, Samples, Schedule
from seatrial.engine.exchange.deliveries import Measured
from seatrial.engine.exchange.orders import Orders
from seatrial.engine.exchange.samples import measured_at_start
from seatrial.engine.following import Following, with_loaded
from seatrial.engine.frames import Frames, RunSummary, Sink
from seatrial.engine.loaded import Moved
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.parts import Part, parts_of
from seatrial.engine.plan import Plan
from seatrial.engine.run import Ending
from seatrial.programs import compile_program

PLANS_PER_PROGRAM = 32
"""Plans that one call computes side by side: 128 runs of `otter-survey` take 1.2 GB on two cores
with 32 of them, and 1.8 GB with 64."""


def run_batch(
    plans: Iterable[Plan],
    sinks: Sequence[Sequence[Sink]],
    progress: Callable[[float], None] | None = None,
) -> list[Ending]:
    """Run plans to their ends, each with sinks of its own; on all cores.

    Plans of one shape are computed side by side, others by programs of their own. They are taken
    when their turn comes, beside what is computed, and let go of when they have run: the amplitudes
    of its waves alone make a plan a megabyte. `progress` is told which share is done.
    """
    count, cores = len(sinks), os.cpu_count() or 1
    width = min(PLANS_PER_PROGRAM, -(-count // cores))
    coming = iter(plans)
    endings: list[Ending] = []
    computing: deque[Future[list[Ending]]] = deque()

    def finish_one() -> None:
        endings.extend(computing.popleft().result())
        if progress is not None:
            progress(len(endings) / count)

    with ThreadPoolExecutor(cores) as pool:
        for first in range(0, count, width):
            if len(computing) == cores:
                finish_one()
            own = sinks[first : first + width]
            some = list(islice(coming, len(own)))
            computing.append(pool.submit(_run_by_shape, some, own, width))
        while computing:
            finish_one()
    return endings


def _run_by_shape(
    plans: Sequence[Plan], sinks: Sequence[Sequence[Sink]], width: int
) -> list[Ending]:
    """Endings of plans, of which those run together that one program can compute."""
    alike: dict[Any, list[int]] = {}
    for place, plan in enumerate(plans):
        alike.setdefault(_shape(plan), []).append(place)
    found: dict[int, Ending] = {}
    for places in alike.values():
        some = [plans[i] for i in places], [sinks[i] for i in places]
        endings = _run(*some, width if len(alike) == 1 else len(places))
        found |= zip(places, endings, strict=True)
    return [found[place] for place in range(len(plans))]


def _shape(plan: Plan) -> Any:
    """What its program belongs to."""
    leaves, structure = jax.tree.flatten(_arrays_of(parts_of(plan)))
    return plan.schedule, structure, tuple((np.shape(a), jax.dtypes.result_type(a)) for a in leaves)


def _run(plans: Sequence[Plan], sinks: Sequence[Sequence[Sink]], width: int) -> list[Ending]:
    schedule = plans[0].schedule
    size = block_size(plans[0])
    own_parts = parts_of(plans[0])
    with jax.enable_x64(True):
        inputs = _inputs_of(plans, width)
        started = [_call(_begin, *one, schedule) for one in inputs]
        carries = [one[0] for one in started]
        openings = [_host(one[1]) for one in started]
        orders = [_no_orders(plans[0], part) for part in own_parts]
        courses = [
            _Course(plan, own, _opening(plan, [_pick(o, b) for o in openings], own_parts))
            for b, (plan, own) in enumerate(zip(plans, sinks, strict=True))
        ]
        began = wall_clock.perf_counter()
        index = 0
        while not all(course.summary for course in courses):
            now = index // schedule.substeps
            look = any(course.due(now) for course in courses)
            places = [_places(one) for one in carries] if look else []
            moved = [
                course.follow([_pick(one, b) for one in places], own_parts, now)
                for b, course in enumerate(courses)
            ]
            if any(moved):
                inputs = _inputs_of([course.plan for course in courses], width)
            periods = min(size, *(c.rest(now) for c in courses if c.summary is None))
            outcomes = []
            for k, (groups, oceans) in enumerate(inputs):
                carries[k], outcome = _call(
                    _advance,
                    *(groups, oceans, carries[k], orders[k]),
                    *(np.int64(index), np.int64(periods), schedule, size),
                )
                outcomes.append(_host(outcome))
            index, first = index + periods * schedule.substeps, index
            for b, course in enumerate(courses):
                if course.summary is None:
                    own = [_pick(outcome, b) for outcome in outcomes]
                    block = block_of(course.plan, own_parts, own, first, periods)
                    course.add(block._replace(moved=moved[b]))
                    if now + periods == course.periods:
                        course.finish()
    elapsed = (wall_clock.perf_counter() - began) / len(plans)
    return [Ending(course.finish(), elapsed, None, ()) for course in courses]


class _Course:
    """One run of a batch. Its sinks are called in its own time: one that fails ends the batch."""

    def __init__(self, plan: Plan, sinks: Sequence[Sink], opening: list[Measured]) -> None:
        self.plan, self._sinks = plan, sinks
        self._gatherer = Gatherer(plan, opening)
        self._following = Following.of(plan)
        self.periods = (plan.frames - 1) * plan.schedule.controls + 1
        """That it lasts at most."""
        self.summary: RunSummary | None = None
        """Of a run that has ended."""
        for sink in sinks:
            sink.open(plan.header, plan.scene)

    def due(self, periods: int) -> bool:
        """Whether it is time to look whether its vehicles need another part of their map."""
        return self._following.due(periods)

    def rest(self, periods: int) -> int:
        """Control periods until the next look, or the end."""
        return min(self._following.rest(periods), self.periods - periods)

    def follow(self, found: list[Any], parts: list[Part], periods: int) -> tuple[Moved, ...]:
        """Load another part where it is time, and vehicles as they were `found` need it."""
        if self.summary is not None or not self.due(periods):
            return ()
        period = self.plan.schedule.time_step * self.plan.schedule.substeps
        moved = self._following.look(by_fleet(self.plan, parts, found), periods * period)
        if moved is None:
            return ()
        self.plan = with_loaded(self.plan, moved.loaded)
        return (moved,)

    def add(self, block: Block) -> None:
        """Take a block, which may be the last."""
        self._write(self._gatherer.add(block))
        if self._gatherer.complete:
            self.finish()

    def finish(self) -> RunSummary:
        """End the run."""
        if self.summary is None:
            self._write(self._gatherer.finish())
            self.summary = self._gatherer.summary(stopped=False)
            for sink in self._sinks:
                sink.close(self.summary)
        return self.summary

    def _write(self, blocks: Sequence[Frames]) -> None:
        for frames in blocks:
            for sink in self._sinks:
                sink.write(frames)


def _places(carries: Carries) -> Any:
    """Where the vehicles of a part of all plans are, and whether they run."""
    return _host(tuple((carry.state.position, carry.status) for carry in carries))


def _inputs_of(plans: Sequence[Plan], width: int) -> list[tuple[Groups, Oceans]]:
    """Arrays of all parts of so many plans; the last is repeated where there are fewer."""
    padded = [*plans, *[plans[-1]] * (width - len(plans))]
    parts = zip(*(parts_of(plan) for plan in padded), strict=True)
    return [_side_by_side(part) for part in parts]


def _side_by_side(part: Sequence[Part]) -> tuple[Groups, Oceans]:
    """Arrays of the same part of all plans on a first axis."""
    stacked: tuple[Groups, Oceans] = jax.tree.map(
        lambda *arrays: np.stack([np.asarray(a) for a in arrays], axis=0), *_arrays_of(part)
    )
    return stacked


def _arrays_of(parts: Sequence[Part]) -> list[tuple[Groups, Oceans]]:
    """What the program of each part is called with."""
    return [(tuple(m.group for m in part), tuple(m.ocean for m in part)) for part in parts]


def _no_orders(plan: Plan, part: Part) -> tuple[Given, ...]:
    orders = Orders(plan)
    return tuple(orders.given(member) for member in part)


@partial(jax.jit, static_argnames="schedule")
def _begin(
    groups: Groups, oceans: Oceans, schedule: Schedule
) -> tuple[Carries, tuple[Samples, ...]]:
    one = partial(programs.begin, schedule=schedule)
    begun: tuple[Carries, tuple[Samples, ...]] = jax.vmap(one)(groups, oceans)
    return begun


@partial(jax.jit, static_argnames=("schedule", "capacity"))
def _advance(
    groups: Groups,
    oceans: Oceans,
    carries: Carries,
    given: tuple[Given, ...],
    index: jax.Array,
    periods: jax.Array,
    schedule: Schedule,
    capacity: int,
) -> tuple[Carries, tuple[programs.Outcome, ...]]:
    one = partial(programs.advance, schedule=schedule, capacity=capacity)
    shared = (None, None, None)
    advanced: tuple[Carries, tuple[programs.Outcome, ...]] = jax.vmap(one, (0, 0, 0, *shared))(
        groups, oceans, carries, given, index, periods
    )
    return advanced


def _call(function: Any, *arguments: Any) -> Any:
    """Compile, or take the program of another part of the batch, and call."""
    static = 1 if function is _begin else 2
    return compile_program(function, *arguments)(*arguments[:-static])


def _host(tree: Any) -> Any:
    return jax.tree.map(np.asarray, tree)


def _pick(tree: Any, b: int) -> Any:
    """What belongs to one plan."""
    return jax.tree.map(lambda a: a[b], tree)


def _opening(plan: Plan, samples: list[Any], parts: list[Part]) -> list[Measured]:
    return [
        measured_at_start(fleet, taken, plan.schedule)
        for fleet, taken in zip(plan.fleets, by_fleet(plan, parts, samples), strict=True)
    ]
