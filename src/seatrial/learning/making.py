"""An environment by the name of its task, with any vehicle and world."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from seatrial.errors import Problem, SpecError
from seatrial.learning.arena import build_arena
from seatrial.learning.environment import Environment
from seatrial.learning.tasks import TASKS
from seatrial.spec.base import Spec
from seatrial.spec.loading import load
from seatrial.spec.scenario import Variation
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.wording import did_you_mean
from seatrial.spec.world import World

AnySpec = TypeVar("AnySpec", bound=Spec)

MOST_VEHICLES = 100_000_000


def make(
    task: str,
    *,
    vehicle: str | Path | Vehicle | None = None,
    world: str | Path | World | None = None,
    count: int = 1,
    actions: Literal["actuators", "forces"] | None = None,
    vary: Mapping[str, Variation | Mapping[str, Any]] | None = None,
    period: float = 0.2,
    seed: int = 0,
) -> Environment:
    """Pose a task to `count` vehicles.

    `vary` names numbers of the vehicle's description that differ from vehicle to vehicle, as in a
    scenario. `seed` draws the sea and those. `period` is the time between two actions, s.
    """
    if task not in TASKS:
        raise SpecError(
            Problem(
                f"there is no task `{task}`",
                expected=f"one of {', '.join(TASKS)}",
                mend=did_you_mean(task, list(TASKS)) or "choose one of them",
            )
        )
    posed, usual_vehicle, usual_world, usual_actions = TASKS[task]
    if not 1 <= count <= MOST_VEHICLES:
        raise SpecError(
            Problem("a number of vehicles", value=count, expected="at least 1", mend="set `count`")
        )
    if actions not in (None, "actuators", "forces"):
        raise SpecError(
            Problem(
                "what an action is",
                value=actions,
                expected="actuators or forces",
                mend="leave it out for what suits the task",
            )
        )
    chosen = usual_actions if actions is None and vehicle is None else actions or "actuators"
    arena = build_arena(
        _described(usual_vehicle if vehicle is None else vehicle, Vehicle),
        _described(usual_world if world is None else world, World),
        count=count,
        forces=chosen == "forces",
        vary={
            path: one if isinstance(one, Variation) else Variation(**dict(one))
            for path, one in (vary or {}).items()
        },
        period=period,
        seed=seed,
    )
    posed.check(arena)
    return Environment(arena, posed, count)


def _described(what: "str | Path | AnySpec", kind: type[AnySpec]) -> AnySpec:
    return what if isinstance(what, kind) else load(what, kind)  # type: ignore[arg-type]
