"""A plan stepped from the host, one control period at a time; all vehicles in compiled programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.actuators import Channel
from seatrial.compile.vehicle import resolve_channels
from seatrial.engine import runner, wheel
from seatrial.engine.frames import Array, euler_angles
from seatrial.errors import Problem, SpecError, shorten
from seatrial.ocean import Ocean
from seatrial.programs import call, compile_program
from seatrial.signals import Measurements, join


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
"""Orders by channel; `left_rpm` gives a channel in another unit than SI."""


class Turn(NamedTuple):
    """What one squad went through in one control period."""

    steps: int
    """Time steps before it."""
    before: wheel.Carry
    outset: wheel.Outset
    measured: dict[str, Measurements]
    """By sensor, vehicles on the second axis."""


class Stepper:
    """All vehicles of a plan, the orders that they were given, and what their sensors delivered.

    An order stays in force until it is replaced; a channel that never got one follows the
    scenario's own script.
    """

    def __init__(self, plan: runner.Plan, observed: bool = False) -> None:
        self._plan = plan
        self._schedule = plan.schedule._replace(controls=1)
        self._channels = {
            v.name: [Channel(a.name, a.unit) for a in v.actuators] for v in plan.header.vehicles
        }
        self._begin()
        with jax.enable_x64(True):
            count = range(len(plan.squads))
            self._programs = [
                compile_program(_advance, *self._arguments(i), self._schedule) for i in count
            ]
            self._peeks = [compile_program(_peek, *self._seen_by(i), self._schedule) for i in count]
            self._observers = [self._observer(i) for i in count] if observed else []
        self._deliver(None)

    def reset(self) -> None:
        """Back to the start."""
        self._begin()
        self._deliver(None)

    def _begin(self) -> None:
        self.index = 0
        """Time steps since the start."""
        self.arrived: dict[str, dict[str, Measurements]] = {}
        """By vehicle and sensor, the valid samples that arrived in the last control period, oldest
        first. Those of this very instant are among them, unless their sensor has a latency."""
        with jax.enable_x64(True):
            self._carries = [call(wheel.start, squad.group) for squad in self._plan.squads]
        self._orders: dict[str, Array] = {}
        """Orders by vehicle, NaN in channels that never got one."""
        self._waiting: dict[tuple[str, str], Measurements] = {}
        """Samples by vehicle and sensor that are on their way."""

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.index * self._schedule.time_step

    @property
    def control_period(self) -> float:
        """Time that `advance` takes, s."""
        return self._schedule.time_step * self._schedule.substeps

    @property
    def running(self) -> set[str]:
        """Names of the vehicles that neither diverged nor ran aground."""
        return {
            name
            for squad, carry in zip(self._plan.squads, self._carries, strict=True)
            for name, code in zip(squad.names, np.asarray(carry.status), strict=True)
            if code == wheel.RUNNING
        }

    @property
    def vehicles(self) -> dict[str, VehicleState]:
        """Every vehicle now."""
        found: dict[str, VehicleState] = {}
        for squad, carry in zip(self._plan.squads, self._carries, strict=True):
            state = jax.tree.map(lambda a: np.asarray(a, np.float64), carry.state)
            for i, name in enumerate(squad.names):
                names = [c.name for c in self._channels[name]]
                found[name] = VehicleState(
                    time=self.time,
                    position=state.position[:, i],
                    attitude=state.attitude[:, i],
                    velocity=state.velocity[:, i],
                    actuators=dict(zip(names, state.actuators[:, i].tolist(), strict=False)),
                    status=wheel.STATUS[int(carry.status[i])].replace("completed", "running"),
                )
        return {v.name: found[v.name] for v in self._plan.header.vehicles}

    def order(self, vehicle: str, orders: Orders) -> None:
        """Give a vehicle orders; raises SpecError for those that it cannot take."""
        channels = self._channels[vehicle]
        held = self._orders.get(vehicle, np.full(len(channels), np.nan)).copy()
        for name, value in orders.items():
            key = str(name)
            values = resolve_channels(
                None, (vehicle,), {key: _number(vehicle, key, value)}, channels
            )
            index = next(i for i, c in enumerate(channels) if c.split(key) is not None)
            held[index] = values[index]
        self._orders[vehicle] = held

    def advance(self) -> list[Turn]:
        """Go on by one control period; one turn per squad."""
        window = self.index // self._schedule.substeps
        turns = []
        for i, squad in enumerate(self._plan.squads):
            before = self._carries[i]
            with jax.enable_x64(True):
                self._carries[i], outset, samples = self._programs[i](*self._arguments(i))
            measured = self._measured(squad, samples, window)
            turns.append(Turn(self.index, before, outset, measured))
        self.index += self._schedule.substeps
        self._deliver(turns)
        return turns

    def observe(self, turns: list[Turn]) -> list[wheel.Observation]:
        """The frame at the beginning of a turn, per squad; of a Stepper that is `observed`."""
        seen = []
        for squad, observer, turn in zip(self._plan.squads, self._observers, turns, strict=True):
            with jax.enable_x64(True):
                index = np.int64(turn.steps)
                frame = observer(squad.group, squad.ocean, turn.before, turn.outset, index)
            seen.append(jax.tree.map(np.asarray, frame))
        return seen

    def set_fault(self, fault: str, on: bool, vehicle: str | None) -> None:
        """Strike a vehicle (all when None) with a fault that its scenario describes, or not."""
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

    def _deliver(self, turns: list[Turn] | None) -> None:
        """Take new samples in hand and hand out those that have arrived by now."""
        now = self.time + 1e-9
        self.arrived = {v.name: {} for v in self._plan.header.vehicles}
        for i, squad in enumerate(self._plan.squads):
            if not squad.sensors:
                continue
            with jax.enable_x64(True):
                peeked = self._peeks[i](*self._seen_by(i))
            window = self.index // self._schedule.substeps
            at_once = self._measured(squad, peeked, window, last=True)
            before = self.time - self.control_period + 1e-9
            new: dict[str, list[Measurements]] = {}
            for name, fitted in zip(squad.sensors, squad.group.suite, strict=True):
                later = [] if turns is None else [turns[i].measured[name]]
                if fitted.inertial:  # cannot be peeked at: it comes with the step that it felt
                    new[name] = [at_once[name].cut(slice(0)), *later]
                else:  # the first of the last period was handed out at its own instant
                    new[name] = [*(m.cut(m.time > before) for m in later), at_once[name]]
            for sensor, parts in new.items():
                together = join(parts)
                for k, vehicle in enumerate(squad.names):
                    own = together.pick(k)
                    waiting = self._waiting.get((vehicle, sensor))
                    own = own if waiting is None else join([waiting, own])
                    here = own.arrival <= now
                    self._waiting[vehicle, sensor] = own.cut(~here)
                    self.arrived[vehicle][sensor] = own.cut(here & own.valid)

    def _measured(
        self, squad: runner.Squad, samples: wheel.Samples, window: int, last: bool = False
    ) -> dict[str, Measurements]:
        blocks: wheel.Samples = jax.tree.map(lambda a: np.asarray(a)[None], samples)
        return runner.measurements_of(squad, blocks, self._schedule, window, 1, last)

    def _arguments(self, i: int) -> tuple[Any, ...]:
        squad = self._plan.squads[i]
        index = np.int64(self.index)
        return squad.group, squad.ocean, self._carries[i], *self._given(squad), index

    def _seen_by(self, i: int) -> tuple[Any, ...]:
        squad = self._plan.squads[i]
        return squad.group, squad.ocean, self._carries[i], np.int64(self.index)

    def _observer(self, i: int) -> Any:
        squad, index = self._plan.squads[i], np.int64(self.index)
        # A turn that is thrown away tells the shapes of its outset.
        _, outset, _ = self._programs[i](*self._arguments(i))
        return compile_program(
            _observe, squad.group, squad.ocean, self._carries[i], outset, index, self._schedule
        )

    def _given(self, squad: runner.Squad) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which channels of a squad are commanded from Python, and their orders; both (A, N)."""
        dtype = squad.group.initial.velocity.dtype
        unset = np.full(squad.group.model.channels, np.nan)
        values = np.stack([self._orders.get(n, unset) for n in squad.names], axis=-1)
        given = np.isfinite(values)
        return given, np.where(given, values, 0.0).astype(dtype)


def _number(vehicle: str, key: str, value: object) -> float:
    """A value as a number; arrays without axes, as NumPy and JAX compute them, are numbers too."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # such as lists in lists of different lengths
        array = np.asarray(None)
    if array.shape != () or array.dtype.kind not in "iuf" or not np.isfinite(array):
        message = f"a command must be a finite number, not {shorten(value)}"
        raise SpecError(Problem(message, (vehicle, key)))
    return float(array)


@partial(jax.jit, static_argnames="schedule")
def _advance(
    group: wheel.Group,
    ocean: Ocean,
    carry: wheel.Carry,
    given: jax.Array,
    values: jax.Array,
    index: jax.Array,
    schedule: wheel.Schedule,
) -> tuple[wheel.Carry, wheel.Outset, wheel.Samples]:
    after, outset, samples = wheel.stretch(group, ocean, carry, index, schedule, (given, values))
    kept, alive = wheel.judge(group, ocean, carry, after, samples)
    return kept, outset, alive


_peek = jax.jit(wheel.peek, static_argnames="schedule")


@partial(jax.jit, static_argnames="schedule")
def _observe(
    group: wheel.Group,
    ocean: Ocean,
    carry: wheel.Carry,
    outset: wheel.Outset,
    index: jax.Array,
    schedule: wheel.Schedule,
) -> wheel.Observation:
    return wheel.observe(group, ocean, carry, outset, index * schedule.time_step)
