"""Controllers of the user's own: where they come from, and how they are asked."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from seatrial.compile.scenario import plan_of
from seatrial.compile.swarm import members_of
from seatrial.engine.runner import Plan
from seatrial.errors import Problem, SeatrialError, SpecError, shorten
from seatrial.signals import SensorInfo
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.wording import did_you_mean
from seatrial.stepped.stepper import Stepper
from seatrial.stepped.users_code import load_class, place_of, text_of


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
    """Time from one call of `control` to the next, s."""


class Controller(Protocol):
    """What a class needs to steer a vehicle. It need not know of this one."""

    def start(self, vehicle: VehicleFacts) -> None:
        """Get ready; called before every run, so memory belongs here."""

    @property
    def control(self) -> Callable[..., Mapping[str, float]]:
        """`control(time, measurements)` gives the orders of a control period by channel.

        `measurements` holds, by sensor, the valid samples that have arrived since the last call,
        perhaps none. A channel that is not named keeps its last order. Where the scenario says
        `feedback: truth` there is a third argument, `truth`, a VehicleState.
        """


class ControllerError(SeatrialError):
    """A controller that raised an exception, or gave orders that its vehicle cannot take."""

    def __init__(self, vehicle: str, problem: Problem) -> None:
        self.vehicle = vehicle
        super().__init__(str(problem))


@dataclass(frozen=True)
class _Post:
    """A controller at its vehicle."""

    controller: Controller
    truth: bool
    """Whether it is told the truth."""


class Crew:
    """The controllers of a run by vehicle."""

    def __init__(self, posts: dict[str, _Post]) -> None:
        self._posts = posts

    def __bool__(self) -> bool:
        return bool(self._posts)

    def start(self, plan: Plan, control_period: float) -> None:
        """Let every controller get ready."""
        infos = {v.name: v for v in plan.header.vehicles}
        for name, post in self._posts.items():
            info = infos[name]
            facts = VehicleFacts(
                name=name,
                length=info.length,
                channels={a.name: a.unit for a in info.actuators},
                sensors={s.name: s for s in info.sensors},
                control_period=control_period,
            )
            _call(post.controller.start, name, 0.0, facts)

    def steer(self, stepper: Stepper) -> None:
        """Ask for the orders of this instant and give them; vehicles that ended are left alone."""
        running = stepper.running
        truth = stepper.vehicles if any(p.truth for p in self._posts.values()) else {}
        for name, post in self._posts.items():
            if name not in running:
                continue
            control, time = post.controller.control, stepper.time
            more = {"truth": truth[name]} if post.truth else {}
            orders = _call(control, name, time, time, stepper.arrived[name], **more)
            if not isinstance(orders, Mapping):
                expected = "orders by channel, for example `{'left': 5.0}`; `{}` changes nothing"
                problem = Problem(f"`control` returned {shorten(orders)}", expected=expected)
                raise _bad_orders(control, name, time, problem)
            try:
                stepper.order(name, orders)
            except SpecError as error:
                raise _bad_orders(control, name, time, error.problems[0]) from None


def prepare(
    scenario: str | Path | Scenario | Plan,
    controllers: Mapping[str, Controller] | None,
    allow_code: bool,
    seed: int | None = None,
    duration: float | None = None,
) -> tuple[Plan, Crew]:
    """The plan of a scenario, and those who steer in it.

    `controllers` are objects by vehicle and stand above those that the scenario names, whose code
    runs only when it is allowed.
    """
    described = _described(scenario)
    posts = _posts(described, dict(controllers or {}), allow_code)
    plan = plan_of(scenario if isinstance(scenario, Plan) else described, seed, duration)
    return plan, Crew(posts)


def _described(scenario: str | Path | Scenario | Plan) -> Scenario:
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Plan):
        return load_text(scenario.header.description, Scenario)
    return load(scenario, Scenario)


def _posts(scenario: Scenario, given: dict[str, Controller], allow_code: bool) -> dict[str, _Post]:
    posts: dict[str, _Post] = {}
    names: list[str] = []
    for i, participant in enumerate(scenario.vehicles):
        if participant.controller is None and not given:
            continue
        truth = participant.feedback == "truth"
        members = [member.name for member in members_of(participant, i, scenario.seed)]
        names += members
        for name in members:
            if name in given:
                wrong = _unfit(given[name], truth)
                if wrong:
                    raise SpecError(
                        Problem(f"the controller of `{name}` {wrong}", value=given[name])
                    )
                posts[name] = _Post(given[name], truth)
        if participant.controller is not None and not posts.keys() >= set(members):
            own = load_class(scenario, i, allow_code)
            made = {name: _Post(_made(scenario, i, own, truth), truth) for name in members}
            posts = made | posts
    unknown = sorted(given.keys() - posts.keys())
    if unknown:
        raise SpecError(
            Problem(
                f"there is no vehicle `{unknown[0]}` in this scenario",
                value=unknown[0],
                expected=f"one of {', '.join(names)}",
                mend=did_you_mean(unknown[0], names),
            )
        )
    return posts


def _made(scenario: Scenario, index: int, own: type[Any], truth: bool) -> Controller:
    """An object of a class that the scenario names."""
    try:
        controller: Controller = own()
        wrong = _unfit(controller, truth)
    except (Exception, SystemExit) as error:
        file, line = place_of(own.__init__, error)
        wrong = f"cannot be made: {f'{file}:{line}: ' if file else ''}{text_of(error)}"
    if wrong:
        reference = scenario.vehicles[index].controller
        raise scenario.error(
            ("vehicles", index, "controller"), f"the class {wrong}", value=reference
        )
    return controller


def _unfit(controller: object, truth: bool) -> str:
    """What a controller lacks, or nothing."""
    arguments = ("time", "measurements", "truth") if truth else ("time", "measurements")
    for name, given in (("start", ("vehicle",)), ("control", arguments)):
        method = getattr(controller, name, None)
        if not callable(method):
            return f"has no method `{name}({', '.join(given)})`"
        try:
            signature = inspect.signature(method)
        except (TypeError, ValueError):  # not written in Python
            continue
        try:
            signature.bind(*given[:2], **dict.fromkeys(given[2:]))
        except TypeError:
            return f"must have a method `{name}({', '.join(given)})`, not `{name}{signature}`"
    return ""


def _call(method: Callable[..., Any], vehicle: str, time: float, *args: Any, **more: Any) -> Any:
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
