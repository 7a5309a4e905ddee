"""What a Python program uses: run a scenario, or step it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile import scenario as compiler
from seatrial.compile.actuators import Channel
from seatrial.compile.scenario import with_overrides
from seatrial.compile.vehicle import resolve_channels
from seatrial.errors import Problem, SpecError
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.record.choose import recorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import Recording, read
from seatrial.scenario import runner
from seatrial.scenario.commanders import command as orders_of
from seatrial.scenario.frames import Array, RunHeader, RunSummary, Sink, euler_angles
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario

if TYPE_CHECKING:
    import xarray

    from seatrial.record.figures.page import Page


@dataclass(frozen=True)
class Run:
    """A finished run."""

    header: RunHeader
    summary: RunSummary
    wall_time: float
    """Time the simulation itself took, without compiling, s."""
    _kept: MemoryRecorder | Path
    """The frames, in memory or in the file they were recorded to."""

    def __repr__(self) -> str:
        return f"Run({self.header.scenario!r}, seed={self.header.seed}, status={self.status!r})"

    @property
    def status(self) -> str:
        """completed, diverged, grounded or stopped: the worst of the vehicles."""
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

    def plot(self, out: str | Path | None = None) -> "Page":
        """A page of figures; also written to `out` when given."""
        from seatrial.record.figures import plot

        if out is not None:
            plot.plot(self.recording, out)
        return plot.figure(self.recording)


def compile_scenario(scenario: str | Path | Scenario) -> runner.Plan:
    """Turn a scenario (a name, a file or an object) into arrays, or refuse it with reasons."""
    return _plan(scenario, None, None)


def run(
    scenario: str | Path | Scenario | runner.Plan,
    *,
    seed: int | None = None,
    duration: float | None = None,
    out: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Run a scenario to its end; frames go to `out` when given, else they stay in memory.

    The name of `out` ends in `.mcap`, or in `.zarr` for swarms.
    """
    plan = _plan(scenario, seed, duration)
    memory = MemoryRecorder()
    sink: Sink = memory if out is None else recorder(out, len(plan.header.vehicles))
    summary, wall_time = runner.run(plan, [sink], progress)
    return Run(plan.header, summary, wall_time, memory if out is None else Path(out))


def _plan(
    scenario: str | Path | Scenario | runner.Plan, seed: int | None, duration: float | None
) -> runner.Plan:
    if isinstance(scenario, runner.Plan):
        if seed is not None or duration is not None:
            raise ValueError("a compiled plan has its seed and duration already")
        return scenario
    described = scenario if isinstance(scenario, Scenario) else load(scenario, Scenario)
    return compiler.compile_scenario(with_overrides(described, seed, duration))


@dataclass(frozen=True)
class VehicleState:
    """One vehicle at one instant."""

    time: float
    position: Array
    """(3,) NED, m."""
    attitude: Array
    """(4,) quaternion, scalar first, body to world."""
    velocity: Array
    """(6,) u v w p q r, body axes."""
    actuators: dict[str, float]
    """Actual state by channel, SI."""
    status: str
    """running, diverged or grounded."""

    @property
    def euler(self) -> Array:
        """Roll, pitch, yaw, rad."""
        angles: Array = euler_angles(self.attitude[None])[0]
        return angles


Orders = Mapping[str, float]


class Simulation:
    """A scenario that is stepped from Python, one control period at a time.

    `step(command)` takes a mapping from channels to values (`{"left_rpm": 900}`), or from vehicle
    names to such mappings. An order stays in force until it is replaced; a channel that never got
    one follows the scenario's own timetable or manoeuvre. Without any command the numbers are
    those of `run`.
    """

    def __init__(
        self, scenario: str | Path | Scenario | runner.Plan, *, seed: int | None = None
    ) -> None:
        self._plan = _plan(scenario, seed, None)
        self.reset()
        with jax.enable_x64(True):
            self._programs = [
                compile_program(_advance, *self._arguments(i), *self._steps)
                for i in range(len(self._plan.squads))
            ]

    def reset(self) -> None:
        """Back to the start."""
        self._index = 0
        with jax.enable_x64(True):
            self._carries = [runner.start(squad.group) for squad in self._plan.squads]
        self._orders: dict[str, Array] = {}
        """Orders given from Python by vehicle, NaN in channels that never got one."""

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._index * self._plan.time_step

    @property
    def control_period(self) -> float:
        """Time that one step takes, s."""
        return self._plan.time_step * self._plan.substeps

    @property
    def vehicles(self) -> dict[str, VehicleState]:
        """Every vehicle now."""
        found: dict[str, VehicleState] = {}
        for squad, carry in zip(self._plan.squads, self._carries, strict=True):
            state = jax.tree.map(lambda a: np.asarray(a, np.float64), carry.state)
            for i, name in enumerate(squad.names):
                names = [c.name for c in self._channels(name)]
                found[name] = VehicleState(
                    time=self.time,
                    position=state.position[:, i],
                    attitude=state.attitude[:, i],
                    velocity=state.velocity[:, i],
                    actuators=dict(zip(names, state.actuators[:, i].tolist(), strict=False)),
                    status=runner.STATUS[int(carry.status[i])].replace("completed", "running"),
                )
        return {v.name: found[v.name] for v in self._plan.header.vehicles}

    def step(self, command: Orders | Mapping[str, Orders] | None = None) -> dict[str, VehicleState]:
        """Advance by one control period."""
        for name, orders in self._by_vehicle(command).items():
            self._give(name, orders)
        with jax.enable_x64(True):
            for i, advance in enumerate(self._programs):
                self._carries[i] = advance(*self._arguments(i))
        self._index += self._plan.substeps
        return self.vehicles

    def _channels(self, name: str) -> list[Channel]:
        info = next(v for v in self._plan.header.vehicles if v.name == name)
        return [Channel(a.name, a.unit) for a in info.actuators]

    def _by_vehicle(self, command: Orders | Mapping[str, Orders] | None) -> dict[str, Orders]:
        names = [v.name for v in self._plan.header.vehicles]
        if not command:
            return {}
        nested = {k: v for k, v in command.items() if isinstance(v, Mapping)}
        if not nested and len(names) == 1:
            return {names[0]: command}  # type: ignore[dict-item]  # no mappings in it
        unknown = [k for k in command if k not in names]
        if unknown:
            raise SpecError(
                Problem(
                    f"there is no vehicle `{unknown[0]}` in this simulation",
                    value=unknown[0],
                    expected=f"one of {', '.join(names)}",
                    mend="with several vehicles, give {vehicle: {channel: value}}",
                )
            )
        return nested

    def _give(self, name: str, orders: Orders) -> None:
        channels = self._channels(name)
        held = self._orders.setdefault(name, np.full(len(channels), np.nan))
        for key, value in orders.items():
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise SpecError(
                    Problem("a command must be a number", (name, key), value, "a number")
                )
            values = resolve_channels(None, (name,), {key: float(value)}, channels)
            index = next(i for i, c in enumerate(channels) if c.split(key) is not None)
            held[index] = values[index]

    @property
    def _steps(self) -> tuple[float, int]:
        return self._plan.time_step, self._plan.substeps

    def _arguments(self, i: int) -> tuple[Any, ...]:
        squad = self._plan.squads[i]
        index = jnp.int64(self._index)
        return squad.group, squad.ocean, self._carries[i], *self._given(squad), index

    def _given(self, squad: runner.Squad) -> tuple[jax.Array, jax.Array]:
        """Which channels of a squad are commanded from Python, and their orders; both (A, N)."""
        dtype = squad.group.initial.velocity.dtype
        unset = np.full(squad.group.model.channels, np.nan)
        values = np.stack([self._orders.get(n, unset) for n in squad.names], axis=-1)
        given = np.isfinite(values)
        return jnp.asarray(given), jnp.asarray(np.where(given, values, 0.0), dtype)


@partial(jax.jit, static_argnames=("time_step", "substeps"))
def _advance(
    group: runner.Group,
    ocean: Ocean,
    carry: runner.Carry,
    given: jax.Array,
    values: jax.Array,
    index: jax.Array,
    time_step: float,
    substeps: int,
) -> runner.Carry:
    memory, scripted = orders_of(group.commander, carry.memory, carry.state, index * time_step)
    orders = jnp.where(given, values, scripted)
    state = runner.control_period(
        group.model, ocean, carry.state, orders, index, time_step, substeps
    )
    return runner.judge(group, ocean, carry, runner.Carry(state, memory, carry.status))
