"""Controllers of the user's own: where those of a run come from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seatrial.compile.scenario import described_by, plan_of
from seatrial.compile.swarm import members_of
from seatrial.compile.users_code import load_class
from seatrial.engine.exchange.controllers import (
    Assigned,
    Controller,
    Controllers,
    place_of,
    text_of,
    unfit,
)
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SpecError
from seatrial.programs import foresee
from seatrial.spec.scenario import Scenario
from seatrial.spec.wording import did_you_mean


def prepare(
    scenario: str | Path | Scenario | Plan,
    controllers: Mapping[str, Controller] | None,
    allow_code: bool,
    seed: int | None = None,
    duration: float | None = None,
) -> tuple[Plan, Controllers]:
    """The plan of a scenario, and those who steer in it.

    `controllers` are objects by vehicle and stand above those that the scenario names, whose code
    runs only when it is allowed.
    """
    described = described_by(scenario)
    assigned = _assigned(described, dict(controllers or {}), allow_code)
    if not isinstance(scenario, Plan):
        foresee(described.name)
    plan = plan_of(scenario if isinstance(scenario, Plan) else described, seed, duration)
    return plan, Controllers(assigned)


def _assigned(
    scenario: Scenario, given: dict[str, Controller], allow_code: bool
) -> dict[str, Assigned]:
    assigned: dict[str, Assigned] = {}
    names: list[str] = []
    for i, participant in enumerate(scenario.vehicles):
        if participant.controller is None and not given:
            continue
        truth = participant.feedback == "truth"
        members = [member.name for member in members_of(participant, i, scenario.seed)]
        names += members
        for name in members:
            if name in given:
                wrong = unfit(given[name], truth)
                if wrong:
                    raise SpecError(
                        Problem(f"the controller of `{name}` {wrong}", value=given[name])
                    )
                assigned[name] = Assigned(given[name], truth)
        if participant.controller is not None and not assigned.keys() >= set(members):
            own = load_class(scenario, i, allow_code)
            made = {name: Assigned(_made(scenario, i, own, truth), truth) for name in members}
            assigned = made | assigned
    unknown = sorted(given.keys() - assigned.keys())
    if unknown:
        raise SpecError(
            Problem(
                f"there is no vehicle `{unknown[0]}` in this scenario",
                value=unknown[0],
                expected=f"one of {', '.join(names)}",
                mend=did_you_mean(unknown[0], names),
            )
        )
    return assigned


def _made(scenario: Scenario, index: int, own: type[Any], truth: bool) -> Controller:
    """An object of a class that the scenario names."""
    try:
        controller: Controller = own()
        wrong = unfit(controller, truth)
    except (Exception, SystemExit) as error:
        file, line = place_of(own.__init__, error)
        wrong = f"cannot be made: {f'{file}:{line}: ' if file else ''}{text_of(error)}"
    if wrong:
        reference = scenario.vehicles[index].controller
        raise scenario.error(
            ("vehicles", index, "controller"), f"the class {wrong}", value=reference
        )
    return controller
