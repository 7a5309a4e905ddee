"""A scenario stepped from Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile.actuators import Channel
from seatrial.compile.scenario import plan_of
from seatrial.compile.vehicle import resolve_channels
from seatrial.errors import Problem, SpecError
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.scenario import runner, wheel
from seatrial.scenario.frames import Array, euler_angles
from seatrial.signals import Measurements, join
from seatrial.spec.scenario import Scenario


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
        self._plan = plan_of(scenario, seed)
        self._schedule = self._plan.schedule._replace(controls=1)
        self._start()
        with jax.enable_x64(True):
            self._programs = [
                compile_program(_advance, *self._arguments(i), self._schedule)
                for i in range(len(self._plan.squads))
            ]
            self._peeks = [
                compile_program(_peek, *self._seen_by(i), self._schedule)
                for i in range(len(self._plan.squads))
            ]
        self._collect([()] * len(self._plan.squads))

    def reset(self) -> None:
        """Back to the start."""
        self._start()
        self._collect([()] * len(self._plan.squads))

    def _start(self) -> None:
        self._index = 0
        with jax.enable_x64(True):
            self._carries = [wheel.start(squad.group) for squad in self._plan.squads]
        self._orders: dict[str, Array] = {}
        """Orders given from Python by vehicle, NaN in channels that never got one."""
        self._waiting: dict[tuple[str, str], Measurements] = {}
        """Samples by vehicle and sensor that are on their way."""
        self._arrived: dict[str, dict[str, Measurements]] = {}

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._index * self._schedule.time_step

    @property
    def control_period(self) -> float:
        """Time that one step takes, s."""
        return self._schedule.time_step * self._schedule.substeps

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
                    status=wheel.STATUS[int(carry.status[i])].replace("completed", "running"),
                )
        return {v.name: found[v.name] for v in self._plan.header.vehicles}

    def step(self, command: Orders | Mapping[str, Orders] | None = None) -> dict[str, VehicleState]:
        """Advance by one control period."""
        for name, orders in self._by_vehicle(command).items():
            self._give(name, orders)
        taken: list[wheel.Samples] = []
        with jax.enable_x64(True):
            for i, advance in enumerate(self._programs):
                self._carries[i], samples = advance(*self._arguments(i))
                taken.append(samples)
        self._index += self._schedule.substeps
        self._collect(taken)
        return self.vehicles

    @property
    def measurements(self) -> dict[str, dict[str, Measurements]]:
        """By vehicle and sensor, the samples that arrived in the last step, oldest first.

        Samples of this very instant are among them, unless their sensor has a latency.
        """
        return self._arrived

    def set_fault(self, fault: str, on: bool = True, vehicle: str | None = None) -> None:
        """Strike a vehicle with one of the faults that its scenario describes, or call it off.

        A fault that is switched off here still sets in when its own trigger says so.
        """
        struck = False
        for i, squad in enumerate(self._plan.squads):
            trouble = self._carries[i].trouble
            for k, name in enumerate(squad.names):
                info = next(v for v in self._plan.header.vehicles if v.name == name)
                for f, known in enumerate(info.faults):
                    if known.name == fault and vehicle in (None, name) and trouble is not None:
                        forced = np.array(trouble.forced)
                        forced[f, k] = on
                        trouble = trouble._replace(forced=jnp.asarray(forced))
                        struck = True
            self._carries[i] = self._carries[i]._replace(trouble=trouble)
        if not struck:
            names = sorted({f.name for v in self._plan.header.vehicles for f in v.faults})
            raise SpecError(
                Problem(
                    f"there is no fault `{fault}` in this simulation",
                    value=fault,
                    expected=f"one of {', '.join(names)}" if names else "a scenario with `faults`",
                    mend="describe it under `faults` of the vehicle in the scenario",
                )
            )

    def _collect(self, taken: list[Any]) -> None:
        """Take samples in hand and deliver those that have arrived by now."""
        now = self.time + 1e-9
        self._arrived = {v.name: {} for v in self._plan.header.vehicles}
        for i, squad in enumerate(self._plan.squads):
            if not squad.sensors:
                continue
            new: dict[str, list[Measurements]] = {name: [] for name in squad.sensors}
            if taken[i]:
                window = self._index // self._schedule.substeps - 1
                before = self.time - self.control_period + 1e-9
                for name, found in self._sampled(squad, taken[i], window).items():
                    new[name].append(found.cut(found.time > before))  # the first was seen already
            with jax.enable_x64(True):
                seen = self._peeks[i](*self._seen_by(i))
            window = self._index // self._schedule.substeps
            for name, found in self._sampled(squad, seen, window, last=True).items():
                new[name].append(found)
            for sensor, parts in new.items():
                together = join(parts)
                for k, vehicle in enumerate(squad.names):
                    own = together.pick(k)
                    waiting = self._waiting.get((vehicle, sensor))
                    own = own if waiting is None else join([waiting, own])
                    here = own.arrival <= now
                    self._waiting[vehicle, sensor] = own.cut(~here)
                    self._arrived[vehicle][sensor] = own.cut(here & own.valid)

    def _sampled(
        self, squad: runner.Squad, samples: wheel.Samples, window: int, last: bool = False
    ) -> dict[str, Measurements]:
        blocks: wheel.Samples = jax.tree.map(lambda a: np.asarray(a)[None], samples)
        return runner.measurements_of(squad, blocks, self._schedule, window, 1, last)

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

    def _arguments(self, i: int) -> tuple[Any, ...]:
        squad = self._plan.squads[i]
        index = jnp.int64(self._index)
        return squad.group, squad.ocean, self._carries[i], *self._given(squad), index

    def _seen_by(self, i: int) -> tuple[Any, ...]:
        squad = self._plan.squads[i]
        return squad.group, squad.ocean, self._carries[i], jnp.int64(self._index)

    def _given(self, squad: runner.Squad) -> tuple[jax.Array, jax.Array]:
        """Which channels of a squad are commanded from Python, and their orders; both (A, N)."""
        dtype = squad.group.initial.velocity.dtype
        unset = np.full(squad.group.model.channels, np.nan)
        values = np.stack([self._orders.get(n, unset) for n in squad.names], axis=-1)
        given = np.isfinite(values)
        return jnp.asarray(given), jnp.asarray(np.where(given, values, 0.0), dtype)


@partial(jax.jit, static_argnames="schedule")
def _advance(
    group: wheel.Group,
    ocean: Ocean,
    carry: wheel.Carry,
    given: jax.Array,
    values: jax.Array,
    index: jax.Array,
    schedule: wheel.Schedule,
) -> tuple[wheel.Carry, wheel.Samples]:
    after, _, samples = wheel.stretch(group, ocean, carry, index, schedule, (given, values))
    return wheel.judge(group, ocean, carry, after, samples)


_peek = jax.jit(wheel.peek, static_argnames="schedule")
