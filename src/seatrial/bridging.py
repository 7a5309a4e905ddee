"""`seatrial run --ros2 …`: a run together with the bridges by which others hear and steer it.

Three paces: as fast as it goes, by the wall clock, and in lock-step, where every control period
waits for one order to each vehicle that is driven. Whatever the pace, a bridge is told all of an
instant before orders for that instant are heard; with nobody outside who gives orders the run is
that of `seatrial run`, byte for byte.
"""

import time as wall_clock
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np

from seatrial.api import Run
from seatrial.bridges.arrivals import Arrivals
from seatrial.bridges.bridge import (
    MOST_WAITING,
    Answer,
    Bridge,
    Control,
    Order,
    Request,
    Sea,
    SetFault,
    Setting,
    Turn,
)
from seatrial.compile.control.controllers import prepare
from seatrial.compile.scenario import described_by
from seatrial.compile.surroundings.weather import weather_of, with_weather
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import ControllerError, Controllers
from seatrial.engine.exchange.deliveries import Deliveries, Measured
from seatrial.engine.frames import Frames, GroupFrames, RunSummary, Sink, VehicleFrames
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.output.outlets import Outlets
from seatrial.engine.plan import Plan
from seatrial.engine.run import interrupt_at_leisure
from seatrial.errors import Problem, SeatrialError, SpecError
from seatrial.record.choose import recorder
from seatrial.record.memory import MemoryRecorder
from seatrial.spec.scenario import Scenario
from seatrial.viewer.helm import helms_of

NAP = 0.02
"""Longest wait before an interrupt and other bridges are looked at again, s."""
MOST_LAG = 0.25
"""A run that falls behind by more than this goes on from where it is, slower than asked, s."""


def run_bridged(
    scenario: str | Path | Scenario | Plan,
    bridges: Sequence[Bridge],
    *,
    seed: int | None = None,
    duration: float | None = None,
    out: str | Path | None = None,
    allow_code: bool = False,
    pace: float | None = 1.0,
    lock_step: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Run:
    """Run a scenario to its end with bridges to other programs.

    `pace` is simulated over wall time, None for as fast as it goes. In `lock_step` every control
    period waits for one order to each vehicle that a bridge drives. The frames go to `out`; without
    it they are not kept.
    """
    try:
        plan, controllers = prepare(scenario, None, allow_code, seed, duration)
        if out is not None:  # a name that cannot be used is refused before anything is compiled
            recorder(out, len(plan.header.vehicles))
        running = Bridged(plan, controllers, bridges, out, allow_code, pace, lock_step, say)
        for bridge in bridges:
            say(f"{bridge.name}: {bridge.place}")
        finished = running.run()
    except BaseException:
        for bridge in bridges:
            bridge.close(RunSummary("stopped", 0.0, {}))
        raise
    for bridge in bridges:
        bridge.close(finished.summary)
        say(f"{bridge.name}: {_told(bridge)}")
    return finished


def _told(bridge: Bridge) -> str:
    counted = [f"{count:,} {what}" for what, count in sorted(bridge.counts.items()) if count]
    return ", ".join(counted) or "nothing sent, nothing heard"


class Bridged:
    """An engine, those outside, and a recording."""

    def __init__(
        self,
        plan: Plan,
        controllers: Controllers,
        bridges: Sequence[Bridge],
        out: str | Path | None,
        allow_code: bool,
        pace: float | None,
        lock_step: bool,
        say: Callable[[str], None],
    ) -> None:
        self._controllers, self._out, self._pace, self._say = controllers, out, pace, say
        self._allow_code = allow_code
        self._bridges = list(bridges)
        self._paced_by = [b for b in bridges if lock_step or b.paces]
        for bridge in bridges:  # one that cannot serve refuses before anything is compiled
            bridge.open(setting_of(plan))
        if lock_step:
            _require_somebody(self._paced_by, [v.name for v in plan.header.vehicles])
        self._plan, self._engine = plan, Engine(plan, stepped=True)
        self._failure: ControllerError | None = None
        self._paused, self._steps = False, 0
        """Control periods to make although it is paused."""
        self._anchor = (0.0, 0.0)
        """Wall time and simulated time from which the pace is counted, s."""

    def run(self) -> Run:
        """To the end, or to an interrupt."""
        began = wall_clock.perf_counter()
        try:
            with interrupt_at_leisure() as interrupted:
                self._begin(first=True)
                while not (self._gatherer.complete or interrupted.is_set() or self._failure):
                    self._turn(interrupted)
        finally:
            with self._engine:  # its threads end
                pass
        summary = self._finish(stopped=not self._gatherer.complete)
        elapsed = wall_clock.perf_counter() - began
        kept = MemoryRecorder() if self._out is None else Path(self._out)
        return Run(self._plan.header, summary, elapsed, kept, self._failure)

    # ── One turn ──────────────────────────────────────────────────────────────────────────────

    def _turn(self, interrupted: Event) -> None:
        for bridge in self._bridges:
            self._listen(bridge, 0.0)
        if self._paused and not self._steps:
            self._nap(NAP)
            return
        if not self._wait_for_orders(interrupted) or not self._wait_for_clock(interrupted):
            return
        self._obey_orders()
        self._steps = max(self._steps - 1, 0)
        try:
            self._controllers.steer(self._engine, self._deliveries)
        except ControllerError as error:
            self._failure = error
            return
        block = self._engine.advance(1)
        self._deliveries.take([group.measurements for group in block.frames.groups])
        for frames in self._gatherer.add(block):
            if self._outlets is not None:
                self._outlets.write(frames)
        self._tell(block.frames)

    def _tell(self, frames: Frames) -> None:
        now = self._engine.time
        arrived = self._arrivals.take(frames, now)
        turn = Turn(now, arrived, self._engine.vehicles)
        for bridge in list(self._bridges):
            try:
                bridge.write(turn)
            except Exception as error:  # whatever it is, the others go on
                if bridge in self._paced_by:
                    raise
                self._bridges.remove(bridge)
                bridge.counts["failed"] += 1
                self._say(f"{bridge.name}: failed at {now:g} s and is told no more: {error!r}")

    def _listen(self, bridge: Bridge, wait: float) -> None:
        """Hear a bridge: orders wait for their turn, everything else is done at once."""
        for request, answer in bridge.heard(wait):
            if isinstance(request, Order):
                waiting = self._orders[request.vehicle]
                if len(waiting) >= MOST_WAITING:
                    answer("too many orders wait already")
                else:
                    waiting.append((request, answer))
            else:
                self._obey(request, answer)

    def _wait_for_orders(self, interrupted: Event) -> bool:
        """In lock-step, whether everybody who is driven has an order for this instant."""
        for bridge in self._paced_by:
            driven = bridge.drives() & self._engine.running
            if not all(self._orders[name] for name in driven):
                self._listen(bridge, NAP)
                return False
        return not interrupted.is_set()

    def _wait_for_clock(self, interrupted: Event) -> bool:
        """Whether it is time for the next control period; a step does not wait."""
        if self._pace is None or self._steps:
            return True
        wall, simulated = self._anchor
        now = wall_clock.perf_counter()
        due = wall + (self._engine.time - simulated) / self._pace
        if now < due:
            self._nap(min(due - now, NAP))
            return False
        if now - due > MOST_LAG:
            self._anchor = (now, self._engine.time)
        return not interrupted.is_set()

    def _nap(self, seconds: float) -> None:
        """Wait; the first bridge may wake us with a request."""
        if self._bridges:
            self._listen(self._bridges[0], seconds)
        else:
            wall_clock.sleep(seconds)

    def _obey_orders(self) -> None:
        """Orders that came: one to each vehicle that is waited for, all of them to others."""
        awaited = {name for bridge in self._paced_by for name in bridge.drives()}
        for name, waiting in self._orders.items():
            for _ in range(min(len(waiting), 1) if name in awaited else len(waiting)):
                self._obey(*waiting.popleft())

    # ── Requests ──────────────────────────────────────────────────────────────────────────────

    def _obey(self, request: Request, answer: Answer) -> None:
        try:
            if isinstance(request, Order):
                self._require(request.vehicle)
                self._engine.order({request.vehicle: request.command})
            elif isinstance(request, SetFault):
                self._require(request.vehicle)
                self._engine.set_fault(request.fault, request.on, request.vehicle)
            else:
                self._control(request)
        except SeatrialError as error:
            answer(str(error))
        else:
            answer("")

    def _require(self, vehicle: str) -> None:
        names = [v.name for v in self._plan.header.vehicles]
        if vehicle not in names:
            expected = f"one of {', '.join(names[:20])}"
            raise SpecError(Problem(f"there is no vehicle `{vehicle}`", expected=expected))

    def _control(self, request: Control) -> None:
        if request.do == "reset":
            self._reset(request.sea)
            self._paused, self._steps = False, 0
        elif request.do == "step":
            self._paused = True
            self._steps += 1
        else:
            self._paused = request.do == "pause"
        self._anchor = (wall_clock.perf_counter(), self._engine.time)

    def _reset(self, sea: Sea | None) -> None:
        if sea is not None:
            described = described_by(self._plan)
            height, period = sea.significant_height, sea.peak_period
            before = weather_of(described.world)
            weather = replace(before, wave_height=height, wave_period=period)
            plan, controllers = prepare(with_weather(described, weather), None, self._allow_code)
            self._finish(stopped=True)
            with self._engine:  # its threads end
                self._plan, self._engine = plan, Engine(plan, stepped=True)
            self._controllers = controllers
        else:
            self._finish(stopped=True)
            self._engine.reset()
        for bridge in self._bridges:
            bridge.open(setting_of(self._plan))
        self._begin()

    # ── Beginning and end ─────────────────────────────────────────────────────────────────────

    def _begin(self, first: bool = False) -> None:
        plan, opening = self._plan, self._engine.opening
        self._orders: dict[str, deque[tuple[Request, Answer]]] = defaultdict(deque)
        self._arrivals = Arrivals()
        self._deliveries = Deliveries(plan, opening)
        self._gatherer = Gatherer(plan, opening)
        self._outlets: Outlets | None = None
        if self._out is not None:
            sinks: list[Sink] = [recorder(self._out, len(plan.header.vehicles))]
            self._outlets = Outlets(sinks, plan.header, plan.scene)
        try:
            self._controllers.start(self._engine)
        except ControllerError as error:
            self._failure = error
        if first:  # who waits for an answer in lock-step has said nothing that is old
            for bridge in self._bridges:
                if bridge not in self._paced_by:
                    bridge.forget()
        self._anchor = (wall_clock.perf_counter(), 0.0)
        self._tell(_opening(plan, opening))

    def _finish(self, stopped: bool) -> RunSummary:
        for frames in self._gatherer.finish():
            if self._outlets is not None:
                self._outlets.write(frames)
        summary = self._gatherer.summary(stopped=stopped)
        if self._outlets is not None:
            for lost in self._outlets.close(summary):
                raise lost.error
        return summary


def _require_somebody(bridges: Sequence[Bridge], names: Sequence[str]) -> None:
    """A lock-step that waits for nobody would be none, and nobody would notice."""
    driven = {name for bridge in bridges for name in bridge.drives()}
    if not driven:
        raise SpecError(
            Problem(
                "none of these bridges steers a vehicle",
                value="--lock-step",
                expected="one whose peers give orders",
                mend="add `--ros2`, `--rosbridge PORT` or `--nmea PLACE`, or leave --lock-step out",
            )
        )
    for stranger in sorted(driven - set(names)):
        raise SpecError(
            Problem(
                f"there is no vehicle `{stranger}` in this scenario",
                value=stranger,
                expected=f"one of {', '.join(names[:20])}",
                mend=f"name one of these, as in `--drive {names[0]}`",
            )
        )


def setting_of(plan: Plan) -> Setting:
    """What those outside are told before the first turn of a run."""
    return Setting(
        header=plan.header,
        scene=plan.scene,
        control_period=plan.schedule.time_step * plan.schedule.substeps,
        limits={name: helm.limits for name, helm in helms_of(plan).items()},
    )


def _opening(plan: Plan, opening: list[Measured]) -> Frames:
    """No frames, and what the sensors measured at t = 0."""
    groups = []
    for fleet, measured in zip(plan.fleets, opening, strict=True):
        none = np.empty((0, len(fleet.names), 0))
        frames = VehicleFrames(**dict.fromkeys(VehicleFrames.__dataclass_fields__, none))
        groups.append(GroupFrames(fleet.names, frames, measured))
    return Frames(np.empty(0), tuple(groups))
