"""What a Python program uses to run a scenario."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from seatrial.compile.control.controllers import assigned_to, prepare
from seatrial.compile.scenario import described_by, plan_of
from seatrial.compile.variations import runs_of
from seatrial.engine import batch as batching
from seatrial.engine import run as running
from seatrial.engine.exchange.controllers import AnyController, ControllerError
from seatrial.engine.frames import RunHeader, RunSummary, Sink
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SpecError
from seatrial.record.choose import recorder
from seatrial.record.many import RunsTable
from seatrial.record.memory import MemoryRecorder
from seatrial.record.place import as_path
from seatrial.record.reader import Recording, read
from seatrial.spec.scenario import Scenario

if TYPE_CHECKING:
    import xarray

    from seatrial.figures.page import Page
    from seatrial.figures.run.choice import View


@dataclass(frozen=True)
class Run:
    """A finished run.

    >>> finished = st.run("otter-turning-circle", duration=1.0)
    >>> finished.status, finished.dataset.sizes["time"]
    ('completed', 11)
    >>> page = finished.plot("figure.png")
    """

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
        """The worst of the vehicles': completed, unfinished, stopped, aborted, lost, grounded,
        capsized, collided, diverged or failed."""
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

        page = None if out is None else plot.written(self.recording, out, **view)
        return plot.figure(self.recording, **view) if page is None else page


def compile_scenario(scenario: str | Path | Scenario) -> Plan:
    """Turn a scenario (a name, a file or an object) into arrays, or refuse it with reasons.

    >>> plan = st.compile_scenario("otter-turning-circle")
    >>> st.run(plan, duration=1.0).status
    'completed'
    """
    return plan_of(scenario, None, None)


def run_many(
    scenario: str | Path | Scenario | Plan,
    *,
    seeds: Iterable[int] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    duration: float | None = None,
    out: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
    controllers: Mapping[str, AnyController] | None = None,
    allow_code: bool = False,
) -> "xarray.Dataset":
    """Run a scenario many times at once: one program, all cores, one dataset with a run dimension.

    `seeds` and every list in `vary` hold one value for each run; `vary` names numbers of the
    description by their path. Much faster than as many calls of `run`. `progress` is told which
    share is done. Controllers are as in `run`, but compiled ones only.

    Beside what a run's dataset has, every run has its `seed`, what was varied, and `status`,
    `ended_at`, `distance` and the indices of every vehicle. A run that ended early has NaN after
    its end. Measurements are not kept. With `out`, a folder whose name ends in `.zarr`, frames are
    written as they come and read back where they are looked at: memory grows neither with the
    number of runs nor with their length.

    >>> found = st.run_many("otter-turning-circle", seeds=range(3), duration=1.0)
    >>> found.sizes["run"], found.status.values.tolist()
    (3, [['completed'], ['completed'], ['completed']])
    >>> knots = {"vehicles[0].start.speed_kn": [0.0, 2.0]}
    >>> found = st.run_many("otter-turning-circle", vary=knots, duration=1.0)
    >>> found.speed.isel(time=0, vehicle=0).values.round(1).tolist()
    [0.1, 1.1]
    """
    described = described_by(scenario)
    chosen, varied = runs_of(described, seeds, vary or {})
    asked, compiled = assigned_to(described, controllers, allow_code)
    for name in asked:
        raise SpecError(
            Problem(
                f"many runs at once are compiled and cannot ask the controller of `{name}`",
                expected="a compiled controller, which has `init` and `step`",
                mend="call `run` for every seed",
            )
        )
    plans = (plan_of(one, None, duration, compiled) for one in chosen)
    facts = {"seed": [one.seed for one in chosen], **varied}
    longest = max(one.duration for one in chosen) if duration is None else duration
    table = RunsTable(len(chosen), longest, None if out is None else as_path(out))
    sinks = [[table.sink(run)] for run in range(len(chosen))]
    endings = batching.run_batch(plans, sinks, progress)
    return table.dataset([ending.summary for ending in endings], facts)


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

    >>> finished = st.run("otter-turning-circle", seed=7, duration=1.0)
    >>> finished
    Run('otter-turning-circle', seed=7, status='completed')
    """
    plan, steering = prepare(scenario, controllers, allow_code, seed, duration)
    memory = MemoryRecorder()
    sink: Sink = memory if out is None else recorder(out, len(plan.header.vehicles))
    ending = running.run(plan, [sink], progress, steering)
    kept = memory if out is None else as_path(out)
    return Run(plan.header, ending.summary, ending.wall_time, kept, ending.failure)
