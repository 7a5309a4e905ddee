"""The one thing that turns a plan: for a run to a file, for steps from Python, for a live client.

`advance` runs compiled up to the instant at which somebody outside must be heard, and no shorter.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.engine.assembly import Block, block_of, block_size, by_fleet, join_blocks
from seatrial.engine.command.pilot import Belief, LegInForce, Outlook, Pilot
from seatrial.engine.compiled import block as programs
from seatrial.engine.compiled.group import Carries, Groups, Oceans, Samples
from seatrial.engine.compiled.judging import RUNNING, STATUS
from seatrial.engine.exchange.deliveries import Measured
from seatrial.engine.exchange.orders import By, Orders
from seatrial.engine.exchange.samples import measured_at_start
from seatrial.engine.exchange.sightings import Sightings
from seatrial.engine.following import Following, with_loaded
from seatrial.engine.frames import VehicleState as VehicleState
from seatrial.engine.loaded import Moved
from seatrial.engine.parts import Member, Part, parts_of
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SpecError
from seatrial.gnc.types import Setpoint
from seatrial.programs import call, compile_program, outcome
from seatrial.signals import Command

FEW_VEHICLES = 16
"""Up to so many vehicles the empty arrays of a full block cost less than the call of a program, so
that single steps are taken with the program of whole runs. More of them have one of their own."""


@dataclass(frozen=True)
class Guided:
    """What the pilot of a vehicle tells those outside who steer in its autopilot's place."""

    estimate: Belief
    leg: LegInForce
    setpoint: Setpoint
    allocate: Callable[[Any], dict[str, float]]
    """Orders by channel that make a wrench (6,) in body axes, N and N m, as well as they can."""


class Engine:
    """All vehicles of a plan; a context, since it keeps threads."""

    def __init__(self, plan: Plan, stepped: bool = False) -> None:
        """`stepped` tells that control periods will be asked for one at a time."""
        self.plan = plan
        self._schedule = plan.schedule
        self._parts = parts_of(plan)
        self._count = sum(fleet.group.count for fleet in plan.fleets)
        self.block = 1 if stepped and self._count > FEW_VEHICLES else block_size(plan)
        """Control periods that `advance` may be asked for at once."""
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self._home = plan.loaded
        """The part of a map that a run begins with."""
        self._begin()
        self._programs = list(
            self._pool.map(lambda i: self._compiled(i, self._parts[i]), range(len(self._parts)))
        )
        self._answering: dict[tuple[Any, int], Any] = {}
        """Programs that answer those outside who steer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def reset(self, plan: Plan | None = None) -> None:
        """Back to the start, of another plan of the same vehicles where one is given."""
        if plan is not None:
            self._take(plan)
            self._home = plan.loaded
        elif self._home is not None and self.plan.loaded is not self._home:
            with jax.enable_x64(True):
                self._take(with_loaded(self.plan, self._home))
        self._begin()

    def _begin(self) -> None:
        self.index = 0
        """Time steps since the start."""
        self._orders = Orders(self.plan)
        self._following = Following.of(self.plan)
        found = list(self._pool.map(self._started, range(len(self._parts))))
        self._carries: list[Carries] = [carries for carries, _ in found]
        taken = by_fleet(self.plan, self._parts, [samples for _, samples in found])
        self.opening: list[Measured] = [
            measured_at_start(fleet, samples, self._schedule)
            for fleet, samples in zip(self.plan.fleets, taken, strict=True)
        ]
        """What the sensors measured at t = 0, by fleet; blocks begin after it."""
        self._sightings = Sightings(self.plan)
        self._sightings.take(self.opening, 0.0)

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.index * self._schedule.time_step

    @property
    def periods(self) -> int:
        """Control periods since the start."""
        return self.index // self._schedule.substeps

    @property
    def control_period(self) -> float:
        """s."""
        return self._schedule.time_step * self._schedule.substeps

    @property
    def running(self) -> set[str]:
        """Names of the vehicles whose run has not ended."""
        return {
            name
            for fleet, codes in zip(self.plan.fleets, self._status(), strict=True)
            for name, code in zip(fleet.names, codes, strict=True)
            if code == RUNNING
        }

    @property
    def vehicles(self) -> dict[str, VehicleState]:
        """Every vehicle now."""
        channels = {v.name: [a.name for a in v.actuators] for v in self.plan.header.vehicles}
        found: dict[str, VehicleState] = {}
        now = [tuple(c.state for c in carries) for carries in self._carries]
        states = by_fleet(self.plan, self._parts, now)
        for fleet, state, status in zip(self.plan.fleets, states, self._status(), strict=True):
            state = jax.tree.map(lambda a: np.asarray(a, np.float64), state)
            for i, name in enumerate(fleet.names):
                values = state.actuators[:, i].tolist()
                found[name] = VehicleState(
                    time=self.time,
                    position=state.position[:, i],
                    attitude=state.attitude[:, i],
                    velocity=state.velocity[:, i],
                    actuators=dict(zip(channels[name], values, strict=False)),
                    status=STATUS[int(status[i])].replace("completed", "running"),
                )
        return {v.name: found[v.name] for v in self.plan.header.vehicles}

    def guided(self, vehicles: set[str]) -> dict[str, Guided]:
        """What the pilots of some vehicles know at this instant, before they give their orders."""
        found: dict[str, Guided] = {}
        for i, part in enumerate(self._parts):
            names = [self.plan.fleets[m.fleet].names for m in part]
            if not any(vehicles & set(own) for own in names):
                continue
            *arguments, _ = self._arguments(i, 1)
            outlooks = jax.tree.map(
                np.asarray, self._asked((programs.consult, i), *arguments, self._schedule)
            )
            for member, own, outlook in zip(part, names, outlooks, strict=True):
                for k, name in enumerate(own):
                    if name in vehicles:
                        alone = jax.tree.map(lambda a, k=k: a[..., k], outlook)
                        found[name] = self._guided(member, name, alone)
        return found

    def _guided(self, member: Member, name: str, known: Outlook) -> Guided:
        info = next(v for v in self.plan.header.vehicles if v.name == name)
        pilot = member.group.commander
        assert isinstance(pilot, Pilot)

        def allocated(wrench: Any) -> dict[str, float]:
            asked = np.asarray(wrench, np.float64)
            if asked.shape != (6,) or not np.all(np.isfinite(asked)):
                expected = "six finite numbers, X Y Z K M N in body axes, N and N m"
                raise SpecError(Problem("this is no wrench", value=wrench, expected=expected))
            column = jax.tree.map(lambda a: a[..., None], known)
            orders = self._asked(
                (programs.allocation, member.fleet),
                *(pilot.effectors, asked[:, None], column.through_water, column.orders),
                *(column.health, pilot.period),
            )
            orders = np.asarray(orders)[:, 0]
            return {a.name: float(v) for a, v in zip(info.actuators, orders, strict=True)}

        return Guided(known.estimate, known.leg, known.setpoint, allocated)

    def _asked(self, which: tuple[Any, int], *arguments: Any) -> Any:
        """The answer of a program whose last argument is static; it is compiled when first asked.

        `which` is the function, and the part or fleet that it is compiled for.
        """
        with jax.enable_x64(True):
            if which not in self._answering:
                self._answering[which] = compile_program(which[0], *arguments)
            return self._answering[which](*arguments[:-1])

    def order(self, orders: Mapping[str, Command], by: By = "outside") -> None:
        """Tell vehicles something; raises SpecError, and tells nobody, if one cannot obey."""
        self._orders.take(orders, by)

    @property
    def rest(self) -> int:
        """Control periods that can be gone on by without a stop, at most `block`."""
        return min(self.block, self._following.rest(self.periods))

    def advance(self, periods: int = 1) -> Block:
        """Go on by some control periods, at most `block` of them, under the orders in force."""
        if not 0 < periods <= self.block:
            raise ValueError(f"a block has 1 to {self.block} control periods, not {periods}")
        blocks = []
        while periods > 0:
            moved = self._follow()
            stretch = min(
                periods, self._sightings.rest(self.periods), self._following.rest(self.periods)
            )
            blocks.append(self._advance(stretch)._replace(moved=moved))
            periods -= stretch
        return join_blocks(blocks)

    def _follow(self) -> tuple[Moved, ...]:
        """Load another part of the map where the vehicles need it."""
        if not self._following.due(self.periods):
            return ()
        now = [tuple((c.state.position, c.status) for c in carries) for carries in self._carries]
        moved = self._following.look(by_fleet(self.plan, self._parts, now), self.time)
        if moved is None:
            return ()
        with jax.enable_x64(True):
            self._take(with_loaded(self.plan, moved.loaded))
        return (moved,)

    def _advance(self, periods: int) -> Block:
        """The same, up to where pilots must be told what their dense sensors see."""
        outcomes = list(self._pool.map(lambda i: self._turn(i, periods), range(len(self._parts))))
        first, self.index = self.index, self.index + periods * self._schedule.substeps
        block = block_of(self.plan, self._parts, outcomes, first, periods)
        self._sightings.take([group.measurements for group in block.frames.groups], self.time)
        return block

    def foresee(self, plan: Plan) -> None:
        """Compile what `surround` will need, where that is not at hand; from any thread."""
        for i, part in enumerate(parts_of(plan)):
            self._compiled(i, part)

    def surround(self, plan: Plan) -> None:
        """Go on with the vehicles where they are, in the sea and with the models of another plan
        of the same run."""
        loaded = self.plan.loaded
        if loaded is not None and loaded.follow is not None and loaded is not self._home:
            with jax.enable_x64(True):
                plan = with_loaded(plan, loaded, like=self.plan)
        self._take(plan)

    def _take(self, plan: Plan) -> None:
        parts = parts_of(plan)
        for i, (old, new) in enumerate(zip(self._parts, parts, strict=True)):
            if _shapes(old) != _shapes(new):
                self._programs[i] = self._compiled(i, new)
                self._answering.clear()
        self.plan, self._parts = plan, parts

    def set_fault(self, fault: str, on: bool, vehicle: str | None) -> None:
        """Strike a vehicle (all when None) with a fault that its scenario describes, or not."""
        infos = {v.name: [f.name for f in v.faults] for v in self.plan.header.vehicles}
        if vehicle is not None and vehicle not in infos:
            raise SpecError(
                Problem(
                    f"there is no vehicle `{vehicle}` in this simulation",
                    value=vehicle,
                    expected=f"one of {', '.join(list(infos)[:20])}",
                    mend="name one of these, or none for all of them",
                )
            )
        known = False
        for i, part in enumerate(self._parts):
            carries = list(self._carries[i])
            for m, member in enumerate(part):
                faults = carries[m].faults
                names = [self.plan.fleets[member.fleet].names[k] for k in member.columns]
                chosen = [vehicle in (None, n) and fault in infos[n] for n in names]
                if faults is None or not any(chosen):
                    continue
                known = True
                forced = np.array(faults.forced)
                forced[infos[names[0]].index(fault), chosen] = on
                carries[m] = carries[m]._replace(faults=faults._replace(forced=jnp.asarray(forced)))
            self._carries[i] = tuple(carries)
        if not known:
            chosen_from = infos if vehicle is None else {vehicle: infos[vehicle]}
            names = sorted({name for faults in chosen_from.values() for name in faults})
            owner = "this simulation" if vehicle is None else f"the scenario for `{vehicle}`"
            raise SpecError(
                Problem(
                    f"there is no fault `{fault}` in {owner}",
                    value=fault,
                    expected=f"one of {', '.join(names)}" if names else "a scenario with `faults`",
                    mend="describe it under `faults` of the vehicle in the scenario",
                )
            )

    # ── Programs ──────────────────────────────────────────────────────────────────────────────

    def _started(self, i: int) -> tuple[Carries, tuple[Samples, ...]]:
        with jax.enable_x64(True):  # the setting belongs to a thread
            begun = call if self._count > FEW_VEHICLES else outcome
            started: tuple[Carries, tuple[Samples, ...]] = begun(
                programs.begin, *_inputs(self._parts[i]), self._schedule
            )
        return started

    def _compiled(self, i: int, part: Part) -> Any:
        """The program of a part as it will be, for the vehicles of part `i` as they are."""
        _, _, *rest = self._arguments(i, 1)
        with jax.enable_x64(True):
            return compile_program(
                programs.advance, *_inputs(part), *rest, self._schedule, self.block
            )

    def _turn(self, i: int, periods: int) -> tuple[programs.Outcome, ...]:
        with jax.enable_x64(True):
            self._carries[i], outcomes = self._programs[i](*self._arguments(i, periods))
            found: tuple[programs.Outcome, ...] = jax.tree.map(np.asarray, outcomes)
        return found

    def _arguments(self, i: int, periods: int) -> tuple[Any, ...]:
        part = self._parts[i]
        given = tuple(
            self._orders.given(member)._replace(told=self._sightings.told(member.fleet))
            for member in part
        )
        index = np.int64(self.index)
        return *_inputs(part), self._carries[i], given, index, np.int64(periods)

    def _status(self) -> list[NDArray[np.int32]]:
        return by_fleet(
            self.plan, self._parts, [tuple(c.status for c in carries) for carries in self._carries]
        )


def _shapes(part: Part) -> Any:
    """What shapes the program of a part."""
    leaves, structure = jax.tree.flatten(_inputs(part))
    return structure, [(np.shape(leaf), getattr(leaf, "dtype", type(leaf))) for leaf in leaves]


def _inputs(part: Part) -> tuple[Groups, Oceans]:
    return tuple(member.group for member in part), tuple(member.ocean for member in part)
