"""What a Python program uses to run a scenario."""

import operator
import time as wall_clock
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from seatrial.compile.controllers import assigned_to, prepare
from seatrial.compile.scenario import described_by, plan_of
from seatrial.engine import batch as batching
from seatrial.engine import run as running
from seatrial.engine.exchange.controllers import AnyController, ControllerError
from seatrial.engine.frames import RunHeader, RunSummary, Sink
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SpecError
from seatrial.record.choose import recorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import Recording, read
from seatrial.spec.scenario import Scenario

if TYPE_CHECKING:
    import xarray

    from seatrial.figures.page import Page
    from seatrial.figures.run.choice import View


@dataclass(frozen=True)
class Run:
    """A finished run."""

    header: RunHeader
    summary: RunSummary
    wall_time: float
    """Time the simulation itself took, without compiling, s."""
    _kept: MemoryRecorder | Path
    """The frames, in memory or in the file they were recorded to."""
    failure: ControllerError | None = None
    """What a controller of the user's own did wrong when the status is `failed`; its text names
    file and line, its `__cause__` is the exception."""

    def __repr__(self) -> str:
        return f"Run({self.header.scenario!r}, seed={self.header.seed}, status={self.status!r})"

    @property
    def status(self) -> str:
        """The worst of the vehicles': completed, stopped, aborted, lost, grounded, capsized,
        collided, diverged or failed."""
        return self.summary.status

    @property
    def real_time_factor(self) -> float:
        """Simulated over wall time."""
        return self.summary.duration / max(self.wall_time, 1e-9)

    @cached_property
    def recording(self) -> Recording:
        """All frames, read back from the file when the run was recorded to one."""
        return read(self._kept) if isinstance(self._kept, Path) else self._kept.recording()

    @property
    def dataset(self) -> "xarray.Dataset":
        """All frames as one xarray.Dataset; NED, forward-starboard-down, SI."""
        return self.recording.dataset

    def plot(self, out: str | Path | None = None, **view: "Unpack[View]") -> "Page":
        """A page of figures; also written to `out` when given, as a film if that is gif or mp4.

        With `panels=["track", "depth"]`, `width="180mm"`, `height`, `start`, `end` (s) and
        `vehicles=["otter"]` only that, in that size, as `seatrial plot` has them.
        """
        from seatrial.figures import plot

        if out is not None:
            plot.plot(self.recording, out, **view)
        return plot.figure(self.recording, **view)


def compile_scenario(scenario: str | Path | Scenario) -> Plan:
    """Turn a scenario (a name, a file or an object) into arrays, or refuse it with reasons."""
    return plan_of(scenario, None, None)


@dataclass(frozen=True)
class Batch:
    """One scenario under many seeds, finished."""

    seeds: tuple[int, ...]
    header: RunHeader
    """Of the first of them; the others differ in their seed."""
    summaries: tuple[RunSummary, ...]
    """By seed."""
    wall_time: float
    """Time of all of it, with planning, compiling or loading the program, s."""
    _kept: tuple[MemoryRecorder, ...]

    def __repr__(self) -> str:
        return f"Batch({self.header.scenario!r}, {len(self.seeds)} seeds, {self.statuses})"

    @property
    def statuses(self) -> dict[str, int]:
        """How many runs ended in which way."""
        return dict(Counter(summary.status for summary in self.summaries))

    @cached_property
    def dataset(self) -> "xarray.Dataset":
        """All frames of all runs, seeds first; a run that ended early has NaN after its end."""
        import xarray

        parts = [kept.recording().dataset for kept in self._kept]
        seeds = xarray.DataArray(list(self.seeds), dims="seed", name="seed")
        return xarray.concat(parts, dim=seeds, join="outer")


def run_batch(
    scenario: str | Path | Scenario | Plan,
    seeds: Iterable[int],
    *,
    duration: float | None = None,
    progress: Callable[[float], None] | None = None,
    controllers: Mapping[str, AnyController] | None = None,
    allow_code: bool = False,
) -> Batch:
    """Run a scenario under many seeds at once: one program, all cores, frames in memory.

    Much faster than as many calls of `run`. `progress` is told which share is done. Controllers
    are as in `run`, but compiled ones only.
    """
    began = wall_clock.perf_counter()
    described = described_by(scenario)
    try:
        chosen = tuple(operator.index(seed) for seed in seeds)
    except TypeError as error:
        expected = "whole numbers, for example `range(100)`"
        raise SpecError(Problem(f"these are no seeds: {error}", expected=expected)) from None
    if not chosen:
        raise SpecError(Problem("a batch needs at least one seed", value=()))
    asked, compiled = assigned_to(described, controllers, allow_code)
    for name in asked:
        raise SpecError(
            Problem(
                f"a batch runs compiled and cannot ask the controller of `{name}`",
                expected="a compiled controller, which has `init` and `step`",
                mend="call `run` for every seed",
            )
        )
    plans = [plan_of(described, seed, duration, compiled) for seed in chosen]
    kept = tuple(MemoryRecorder() for _ in plans)
    endings = batching.run_batch(plans, [[one] for one in kept], progress)
    elapsed = wall_clock.perf_counter() - began
    summaries = tuple(ending.summary for ending in endings)
    return Batch(chosen, plans[0].header, summaries, elapsed, kept)


def run(
    scenario: str | Path | Scenario | Plan,
    *,
    seed: int | None = None,
    duration: float | None = None,
    out: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
    controllers: Mapping[str, AnyController] | None = None,
    allow_code: bool = False,
) -> Run:
    """Run a scenario to its end; frames go to `out` when given, else they stay in memory.

    The name of `out` ends in `.mcap`, or in `.zarr` for swarms. `controllers` are objects of your
    own that steer, by vehicle. Those that the scenario itself names are loaded and run only with
    `allow_code`, because a scenario may come from somebody else.
    """
    plan, steering = prepare(scenario, controllers, allow_code, seed, duration)
    memory = MemoryRecorder()
    sink: Sink = memory if out is None else recorder(out, len(plan.header.vehicles))
    ending = running.run(plan, [sink], progress, steering)
    kept = memory if out is None else Path(out)
    return Run(plan.header, ending.summary, ending.wall_time, kept, ending.failure)
