"""A run that controllers of the user's own steer; its frames are those of a compiled run."""

import math
import time as wall_clock
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from seatrial.engine import runner, wheel
from seatrial.engine.frames import Frames, GroupFrames, RunSummary, Sink, VehicleFrames
from seatrial.engine.tracks import Tally, summarise
from seatrial.signals import Measurements, join
from seatrial.stepped.controllers import ControllerError, Crew
from seatrial.stepped.stepper import Stepper, Turn


def run(
    plan: runner.Plan,
    crew: Crew,
    sinks: Sequence[Sink] = (),
    progress: Callable[[float], None] | None = None,
) -> tuple[RunSummary, float, ControllerError | None]:
    """Run to the end, or to a failure of a controller, after which the vehicles are not moved.

    Returns the summary, the wall time of the simulation itself in s, and the failure.
    """
    stepper = Stepper(plan, observed=True)
    logbook = _Logbook(plan, sinks)
    for sink in sinks:
        sink.open(plan.header, plan.scene)
    began = wall_clock.perf_counter()
    failure: ControllerError | None = None
    with runner.interrupt_at_leisure() as interrupted:
        try:
            crew.start(plan, stepper.control_period)
        except ControllerError as error:
            failure = error
        for frame in range(plan.frames):
            last = frame == plan.frames - 1 or not stepper.running
            failure = _frame(plan, crew, stepper, logbook, last, failure)
            if progress is not None:
                progress(logbook.time)
            if last or failure is not None or interrupted.is_set():
                break
    elapsed = wall_clock.perf_counter() - began
    summary = logbook.close(failure, stopped=interrupted.is_set())
    return summary, elapsed, failure


def _frame(
    plan: runner.Plan,
    crew: Crew,
    stepper: Stepper,
    logbook: "_Logbook",
    last: bool,
    failure: ControllerError | None,
) -> ControllerError | None:
    """From one frame to the next; at the end of a run only the instant of its last frame."""
    for control in range(plan.schedule.controls):
        if failure is None:
            try:
                crew.steer(stepper)
            except ControllerError as error:
                failure = error
        now = stepper.time
        turns = stepper.advance()  # also at the end: a frame tells orders and accelerations
        if control == 0:
            logbook.note_frame(stepper.observe(turns))
        ends = last or failure is not None
        logbook.note_samples(turns, until=now + 1e-9 if ends else math.inf)
        if ends:
            break
    return failure


class _Logbook:
    """Gathers frames and samples into blocks for the sinks, and adds them up."""

    def __init__(self, plan: runner.Plan, sinks: Sequence[Sink]) -> None:
        self._plan, self._sinks = plan, sinks
        self._tallies = [Tally(squad.names, set(plan.manoeuvres)) for squad in plan.squads]
        self._frames = 0
        """Written to the sinks."""
        self._clear()

    def _clear(self) -> None:
        self._seen: list[list[wheel.Observation]] = []
        self._measured: list[list[dict[str, Measurements]]] = []
        self._rows = 0

    @property
    def time(self) -> float:
        """Of the last frame, s."""
        return (self._frames + len(self._seen) - 1) * self._plan.header.frame_period

    def note_frame(self, seen: list[wheel.Observation]) -> None:
        """Begin a frame; the one before it is finished."""
        if len(self._seen) == runner.FRAMES_PER_BLOCK or self._rows >= runner.SAMPLES_PER_BLOCK:
            self._write()
        self._seen.append(seen)
        self._rows += sum(len(squad.names) for squad in self._plan.squads)

    def note_samples(self, turns: list[Turn], until: float) -> None:
        """Take what was measured in one control period, up to a time."""
        taken = [{k: m.cut(m.time <= until) for k, m in turn.measured.items()} for turn in turns]
        self._measured.append(taken)
        self._rows += sum(m.valid.size for measured in taken for m in measured.values())

    def close(self, failure: ControllerError | None, stopped: bool) -> RunSummary:
        """Write the rest and close the sinks."""
        end = self.time
        self._write()
        early = failure is not None or stopped
        words = wheel.STATUS | {wheel.RUNNING: "stopped"} if early else wheel.STATUS
        plan = self._plan
        summary = summarise(plan.header, self._tallies, end, words, plan.manoeuvres)
        if failure is not None:
            ends = summary.vehicles
            ends = ends | {failure.vehicle: replace(ends[failure.vehicle], status="failed")}
            summary = replace(summary, status="failed", vehicles=ends)
        for sink in self._sinks:
            sink.close(summary)
        return summary

    def _write(self) -> None:
        numbers = np.arange(self._frames, self._frames + len(self._seen), dtype=np.float64)
        time = numbers * self._plan.header.frame_period
        groups = []
        for i, squad in enumerate(self._plan.squads):
            block = wheel.Observation(
                *(np.stack(rows) for rows in zip(*(s[i] for s in self._seen), strict=True))
            )
            arrays = {f: np.moveaxis(a, -1, 1) for f, a in block._asdict().items()}
            codes = arrays.pop("status")
            parts = [measured[i] for measured in self._measured]
            samples = {name: join([part[name] for part in parts]) for name in squad.sensors}
            group = GroupFrames(squad.names, VehicleFrames(**arrays), samples)
            self._tallies[i].add(time, group, codes)
            groups.append(group)
        for sink in self._sinks:
            sink.write(Frames(time, tuple(groups)))
        self._frames += len(self._seen)
        self._clear()
