"""Runs a plan to its end: asks those who steer, and hands the frames to the sinks."""

import signal
import time as wall_clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, current_thread, main_thread
from types import FrameType

from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import ControllerError, Controllers
from seatrial.engine.exchange.deliveries import Deliveries
from seatrial.engine.frames import RunSummary, Sink
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.output.outlets import Outlets, SinkFailure
from seatrial.engine.plan import Plan
from seatrial.errors import Problem


@dataclass(frozen=True)
class Ending:
    """How a run went."""

    summary: RunSummary
    wall_time: float
    """Of the simulation itself, without compiling, s."""
    failure: ControllerError | None
    """What a controller of the user's own did wrong."""
    lost: tuple[SinkFailure, ...]
    """Sinks that did not get all of it, where others did."""


def run(
    plan: Plan,
    sinks: Sequence[Sink] = (),
    progress: Callable[[float], None] | None = None,
    controllers: Controllers | None = None,
) -> Ending:
    """Run to the end, or to a failure of a controller, after which the vehicles are not moved."""
    steering = controllers or Controllers({})
    with Engine(plan, stepped=bool(steering)) as engine:
        gatherer = Gatherer(plan, engine.opening)
        deliveries = Deliveries(plan, engine.opening) if steering else None
        outlets = Outlets(sinks, plan.header, plan.scene)
        failure: ControllerError | None = None
        began = wall_clock.perf_counter()
        with interrupt_at_leisure() as interrupted:
            try:
                steering.start(engine)
            except ControllerError as error:
                failure = error
            while True:
                if deliveries is not None and failure is None:
                    try:
                        steering.steer(engine, deliveries)
                    except ControllerError as error:
                        failure = error
                # The last frame tells orders and accelerations of the period that it begins.
                left = (plan.frames - 1) * plan.schedule.controls + 1 - engine.periods
                wanted = 1 if failure is not None else min(left, engine.rest, steering.rest(engine))
                block = engine.advance(wanted)
                if deliveries is not None:
                    deliveries.take([group.measurements for group in block.frames.groups])
                for frames in gatherer.add(block):
                    outlets.write(frames)
                if progress is not None:
                    progress(gatherer.time)
                over = gatherer.complete or interrupted.is_set() or outlets.useless
                if over or failure is not None:
                    break
            for frames in gatherer.finish():
                outlets.write(frames)
        elapsed = wall_clock.perf_counter() - began
        summary = gatherer.summary(stopped=failure is not None or interrupted.is_set())
        if failure is not None:
            ends = summary.vehicles
            ends = ends | {failure.vehicle: replace(ends[failure.vehicle], status="failed")}
            summary = replace(summary, status="failed", vehicles=ends)
        elif summary.status == "failed":
            failure = orders_without_numbers(summary)
        lost = tuple(outlets.close(summary))
    if sinks and len(lost) == len(sinks):
        raise lost[0].error
    return Ending(summary, elapsed, failure, lost)


def orders_without_numbers(summary: RunSummary) -> ControllerError:
    """What a compiled controller did wrong that ended the run of its vehicle."""
    name, end = next((n, v) for n, v in summary.vehicles.items() if v.status == "failed")
    return ControllerError(
        name,
        Problem(
            f"the controller of `{name}` gave an order that is not a finite number at "
            f"{end.ended_at:g} s",
            expected="finite numbers",
            mend="what guidance does not ask for is NaN in the setpoint: look with `jnp.isfinite`",
        ),
    )


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
