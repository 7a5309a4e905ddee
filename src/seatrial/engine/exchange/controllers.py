"""Controllers of the user's own, as participants of a run: asked for orders when they are due."""

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from seatrial.engine.command.compiled_controller import Inputs
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.arguments import ALWAYS, Asked, unheard
from seatrial.engine.exchange.deliveries import Deliveries
from seatrial.engine.frames import LegInfo, VehicleInfo
from seatrial.errors import Problem, SeatrialError, SpecError, shorten
from seatrial.signals import Command, SensorInfo


@dataclass(frozen=True)
class VehicleFacts:
    """What a controller is told of its vehicle before a run."""

    name: str
    length: float
    """m."""
    channels: dict[str, str]
    """Command channels, and their units: rev/s, N, rad or kg."""
    sensors: dict[str, SensorInfo]
    """Sensors by name: what they measure, how often and how well."""
    control_period: float
    """Time from one call of `control` or `step` to the next, s."""
    legs: tuple[LegInfo, ...]
    """Its mission; empty without one."""


def facts_of(info: VehicleInfo, control_period: float) -> VehicleFacts:
    """What a controller is told of a vehicle."""
    return VehicleFacts(
        name=info.name,
        length=info.length,
        channels={a.name: a.unit for a in info.actuators},
        sensors={s.name: s for s in info.sensors},
        control_period=control_period,
        legs=info.legs,
    )


class Controller(Protocol):
    """What a class needs to steer a vehicle. It need not know of this one.

    A controller that has a number `period` is asked that often, s: a whole number of the scenario's
    control periods. Others are asked every control period.
    """

    def start(self, vehicle: VehicleFacts) -> None:
        """Get ready; called before every run, so memory belongs here."""

    @property
    def control(self) -> Callable[..., Mapping[str, float] | Command]:
        """`control(time, measurements)` gives the orders of a control period by channel.

        `measurements` holds, by sensor, the valid samples that have arrived since the last call,
        perhaps none. A channel that is not named keeps its last order. A `Command` in place of
        orders can give channels back, or ask the vehicle's autopilot for a setpoint. Arguments are
        told by their names: beside these two there is `truth`, a VehicleState, where the scenario
        says `feedback: truth`, and `estimate`, `leg`, `setpoint` and `allocate` of a vehicle with
        a mission.
        """


class CompiledController(Protocol):
    """What a class needs to steer inside the compiled loop."""

    def init(self, vehicle: VehicleFacts) -> Any:
        """The state before the first step: numbers and arrays."""

    def step(self, state: Any, inputs: Inputs) -> tuple[Any, Mapping[str, Any]]:
        """The next state, and orders by channel; a pure function that JAX can trace."""


AnyController = Controller | CompiledController


def is_compiled(controller: object) -> bool:
    """Whether it is one of those that run inside the compiled loop."""
    return callable(getattr(controller, "step", None)) and not hasattr(controller, "control")


class ControllerError(SeatrialError):
    """A controller that raised an exception, or gave orders that its vehicle cannot take."""

    def __init__(self, vehicle: str, problem: Problem) -> None:
        self.vehicle = vehicle
        super().__init__(str(problem))


@dataclass(frozen=True)
class Assigned:
    """A controller and how it sees its vehicle."""

    controller: Controller
    asked: Asked


class Controllers:
    """The controllers of a run by vehicle."""

    def __init__(self, assigned: Mapping[str, Assigned]) -> None:
        self._assigned = assigned

    def __bool__(self) -> bool:
        return bool(self._assigned)

    def start(self, engine: Engine) -> None:
        """Let every controller get ready."""
        infos = {v.name: v for v in engine.plan.header.vehicles}
        self._periods: dict[str, int] = {}
        self._heard = dict.fromkeys(self._assigned, -float("inf"))
        for name, one in self._assigned.items():
            periods = _periods(name, one.controller, engine.control_period)
            self._periods[name] = periods
            facts = facts_of(infos[name], periods * engine.control_period)
            _call(one.controller.start, name, 0.0, facts)

    def rest(self, engine: Engine) -> int:
        """Control periods until the next controller must be heard."""
        now = engine.periods
        return min((p - now % p for p in self._periods.values()), default=engine.block)

    def steer(self, engine: Engine, deliveries: Deliveries) -> None:
        """Ask those that are due, and give their orders; vehicles that ended are left alone."""
        running, time = engine.running, engine.time
        due = [n for n, p in self._periods.items() if n in running and engine.periods % p == 0]
        asked = {name: self._assigned[name].asked for name in due}
        truth = engine.vehicles if any("truth" in one.named for one in asked.values()) else {}
        guided = engine.guided({name for name, one in asked.items() if one.guided})
        for name in due:
            control = self._assigned[name].controller.control
            values: dict[str, Any] = {"time": time, "truth": truth.get(name)}
            values["measurements"] = deliveries.heard(name, self._heard[name], time)
            values |= {part: getattr(guided[name], part) for part in asked[name].guided}
            self._heard[name] = time
            places, named = asked[name].of(values)
            orders = _call(control, name, time, *places, **named)
            if not isinstance(orders, Mapping | Command):
                expected = "orders by channel, for example `{'left': 5.0}`; `{}` changes nothing"
                problem = Problem(f"`control` returned {shorten(orders)}", expected=expected)
                raise _bad_orders(control, name, time, problem)
            command = orders if isinstance(orders, Command) else Command(channels=orders)
            try:
                engine.order({name: command}, by="controller")
            except SpecError as error:
                raise _bad_orders(control, name, time, error.problems[0]) from None
        deliveries.forget(min(self._heard.values(), default=time))


def _periods(vehicle: str, controller: Controller, control_period: float) -> int:
    """How many control periods pass from one call to the next."""
    period = getattr(controller, "period", control_period)
    number = isinstance(period, int | float) and period > 0
    ratio = period / control_period if number else 0.0
    if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
        raise ControllerError(
            vehicle,
            Problem(
                f"the controller of `{vehicle}` has a `period` that the run cannot keep",
                value=period,
                expected=f"a whole number of control periods of {control_period:g} s",
                mend="change it, or the scenario's `control_period`",
            ),
        )
    return round(ratio)


def unfit(controller: object, told: Sequence[str]) -> Problem | None:
    """What a controller lacks whose vehicle is told some of `KNOWN`, or nothing."""
    compiled = is_compiled(controller)
    methods: tuple[tuple[str, tuple[str, ...]], ...] = (
        (("init", ("vehicle",)), ("step", ("state", "inputs")))
        if compiled
        else (("start", ("vehicle",)), ("control", ALWAYS))
    )
    for name, given in methods:
        method = getattr(controller, name, None)
        if not callable(method):
            return Problem(f"has no method `{name}({', '.join(given)})`")
        if name == "control":
            return unheard(method, told)
        try:
            signature = inspect.signature(method)
        except (TypeError, ValueError):  # not written in Python
            continue
        try:
            signature.bind(*given)
        except TypeError:
            return Problem(
                f"must have a method `{name}({', '.join(given)})`, not `{name}{signature}`"
            )
    return None


def _call(method: Callable[..., Any], vehicle: str, time: float, /, *args: Any, **more: Any) -> Any:
    """Call code of the user's; whatever it raises becomes a ControllerError that names its line."""
    try:
        return method(*args, **more)
    except (Exception, SystemExit) as error:
        file, line = place_of(method, error)
        message = f"the controller of `{vehicle}` failed at {time:g} s: {text_of(error)}"
        raise ControllerError(vehicle, Problem(message, file=file, line=line)) from error


def _bad_orders(
    method: Callable[..., Any], vehicle: str, time: float, problem: Problem
) -> ControllerError:
    file, line = place_of(method)
    message = f"the controller of `{vehicle}` gave wrong orders at {time:g} s: {problem.message}"
    placed = replace(problem, message=message, file=file, line=line)
    return ControllerError(vehicle, placed)


def text_of(error: BaseException) -> str:
    """An exception as the last line of its stack trace shows it.

    Notes that were added to it are left out: JAX's is about the trace, not about the error.
    """
    told = traceback.TracebackException.from_exception(error, limit=0)
    told.__notes__ = None
    return [*told.format_exception_only()][-1].strip()


def place_of(method: Callable[..., Any], error: BaseException | None = None) -> tuple[str, int]:
    """File and line of a user's method, or of where in the user's code an exception came from.

    That is the deepest line in the method's own folder, not one in a library that it called.
    """
    code = getattr(inspect.unwrap(method), "__code__", None)
    if code is None:
        return "", 0
    entries = [] if error is None else traceback.extract_tb(error.__traceback__)
    folder = Path(code.co_filename).parent
    own = [e for e in entries if Path(e.filename).parent == folder]
    return (
        (own[-1].filename, own[-1].lineno or 0) if own else (code.co_filename, code.co_firstlineno)
    )
