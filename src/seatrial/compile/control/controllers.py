"""Controllers of the user's own: where those of a run come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.compile.control.compiled_controllers import CompiledControllers, Given, Refuse
from seatrial.compile.control.users_code import load_class
from seatrial.compile.scenario import described_by, plan_of
from seatrial.compile.swarm import members_of
from seatrial.engine.exchange.arguments import asked_by, told_to
from seatrial.engine.exchange.controllers import (
    AnyController,
    Assigned,
    Controllers,
    is_compiled,
    place_of,
    text_of,
    unfit,
)
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SpecError, shorten
from seatrial.programs import foresee
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.wording import did_you_mean


def prepare(
    scenario: str | Path | Scenario | Plan,
    controllers: Mapping[str, AnyController] | None,
    allow_code: bool,
    seed: int | None = None,
    duration: float | None = None,
) -> tuple[Plan, Controllers]:
    """The plan of a scenario, and those who steer in it from outside.

    `controllers` are objects by vehicle and stand above those that the scenario names, whose code
    runs only when it is allowed. Compiled ones are part of the plan.
    """
    described = described_by(scenario)
    assigned, compiled = assigned_to(described, controllers, allow_code)
    if not isinstance(scenario, Plan):
        foresee(described.name)
    plan = plan_of(scenario if isinstance(scenario, Plan) else described, seed, duration, compiled)
    return plan, Controllers(assigned)


def assigned_to(
    scenario: Scenario, controllers: Mapping[str, AnyController] | None, allow_code: bool
) -> tuple[dict[str, Assigned], CompiledControllers]:
    """The controllers of a scenario by vehicle: those asked from outside, and compiled ones."""
    if not isinstance(controllers, Mapping | None):
        message = f"controllers cannot be {shorten(controllers)}"
        raise SpecError(Problem(message, expected="a mapping: {name of a vehicle: controller}"))
    given = dict(controllers or {})
    found: dict[str, _Chosen] = {}
    names: list[str] = []
    for i, participant in enumerate(scenario.vehicles):
        if participant.controller is None and not given:
            continue
        members = [member.name for member in members_of(participant, i, scenario.seed)]
        names += members
        if participant.controller is not None or given.keys() & set(members):
            _refuse_idle_navigation(participant)
        for name in members:
            if name in given:
                found[name] = _Chosen(given[name], participant, _refuse_object(name, given[name]))
        if participant.controller is not None and not found.keys() >= set(members):
            made = _made(scenario, i, load_class(scenario, i, allow_code), members)
            found = made | found
    unknown = sorted(given.keys() - found.keys())
    if unknown:
        raise SpecError(
            Problem(
                f"there is no vehicle `{unknown[0]}` in this scenario",
                value=unknown[0],
                expected=f"one of {', '.join(names)}",
                mend=did_you_mean(unknown[0], names),
            )
        )
    for one in found.values():
        wrong = unfit(one.controller, one.told)
        if wrong is not None:
            raise one.refuse(wrong.message, expected=wrong.expected, mend=wrong.mend)
    compiled = {
        name: Given(one.controller, one.truth, one.refuse)
        for name, one in found.items()
        if is_compiled(one.controller)
    }
    asked = {
        name: Assigned(one.controller, asked_by(one.controller.control, one.told))
        for name, one in found.items()
        if name not in compiled
    }
    return asked, CompiledControllers(compiled)


def _refuse_idle_navigation(participant: Participant) -> None:
    """A filter runs for a pilot, which a vehicle has on a mission; without it none would."""
    if participant.navigation is not None and not participant.mission:
        raise participant.error(
            ("navigation",),
            "would have no effect: a controller without a `mission` is told what sensors measure, "
            "and nothing else",
            expected="a `mission` beside it, whose estimate and setpoints the controller is told",
            mend="give a mission, for example `- {do: hold, position: [0, 0, 0]}`, or leave it out",
        )


@dataclass(frozen=True)
class _Chosen:
    """A controller, whom it is for, and how to refuse it."""

    controller: Any
    participant: Participant
    refuse: Refuse

    @property
    def truth(self) -> bool:
        return self.participant.feedback == "truth"

    @property
    def told(self) -> tuple[str, ...]:
        """What there is for it to ask for."""
        return told_to(self.truth, bool(self.participant.mission))


def _refuse_object(vehicle: str, controller: object) -> Refuse:
    def refuse(message: str, **details: str) -> SpecError:
        problem = Problem(f"the controller of `{vehicle}` {message}", value=controller, **details)  # type: ignore[arg-type]
        return SpecError(problem)

    return refuse


def _made(scenario: Scenario, index: int, own: type[Any], members: list[str]) -> dict[str, _Chosen]:
    """Objects of a class that the scenario names: one for each vehicle, or a compiled one for all.

    A compiled one keeps its memory in arrays, one column per vehicle.
    """
    participant = scenario.vehicles[index]

    def refuse(message: str, **details: str) -> SpecError:
        path = ("vehicles", index, "controller")
        return scenario.error(path, f"the class {message}", value=participant.controller, **details)

    try:
        if is_compiled(own):
            return dict.fromkeys(members, _Chosen(own(), participant, refuse))
        return {name: _Chosen(own(), participant, refuse) for name in members}
    except (Exception, SystemExit) as error:
        file, line = place_of(own.__init__, error)
        raise refuse(
            f"cannot be made: {f'{file}:{line}: ' if file else ''}{text_of(error)}"
        ) from error
