"""An environment by the name of its task, with any vehicle and world."""

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeVar

from seatrial.errors import Problem, SpecError
from seatrial.learning.arena import TIME_STEP, build_arena
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
    if not isinstance(task, str) or task not in TASKS:
        raise SpecError(
            Problem(
                f"there is no task `{task}`",
                expected=f"one of {', '.join(TASKS)}",
                mend=did_you_mean(str(task), list(TASKS)) or "choose one of them",
            )
        )
    posed, usual_vehicle, usual_world, usual_actions = TASKS[task]
    count = whole("count", count)
    if actions not in (None, "actuators", "forces"):
        raise SpecError(
            Problem(
                "what an action is",
                path=("actions",),
                value=actions,
                expected="actuators or forces",
                mend="leave it out for what suits the task",
            )
        )
    _check_period(period, posed.duration)
    chosen = usual_actions if actions is None and vehicle is None else actions or "actuators"
    arena = build_arena(
        _described("vehicle", usual_vehicle if vehicle is None else vehicle, Vehicle),
        _described("world", usual_world if world is None else world, World),
        count=count,
        forces=chosen == "forces",
        vary=_variations(vary),
        period=period,
        seed=seed,
    )
    posed.check(arena)
    return Environment(arena, posed, count)


def whole(name: str, value: Any) -> int:
    """A number of vehicles, which the caller knows as the argument `name`."""
    if (
        not isinstance(value, Integral)
        or isinstance(value, bool)
        or not 1 <= int(value) <= MOST_VEHICLES
    ):
        raise SpecError(
            Problem(
                "not a number of vehicles",
                path=(name,),
                value=value,
                expected=f"a whole number, at least 1 and at most {MOST_VEHICLES}",
                mend=f"for example {name}=4",
            )
        )
    return int(value)


def _check_period(period: Any, longest: float) -> None:
    given = isinstance(period, Real) and not isinstance(period, bool)
    steps = float(period) / TIME_STEP if given else math.nan
    fits = math.isfinite(steps) and round(steps) >= 1 and abs(steps - round(steps)) < 1e-6 * steps
    if not fits or period > longest:
        near = TIME_STEP * max(round(steps), 1) if 0.0 < steps * TIME_STEP <= longest else 0.2
        raise SpecError(
            Problem(
                "not a time between two actions",
                path=("period",),
                value=period,
                expected=f"whole steps of {TIME_STEP:g} s, and at most the {longest:g} s of an "
                "episode",
                mend=f"for example period={near:g}",
            )
        )


def _variations(vary: Any) -> dict[str, Variation]:
    if vary is None:
        return {}
    if not isinstance(vary, Mapping) or not all(isinstance(path, str) for path in vary):
        raise _no_variation(("vary",), vary)
    found = {}
    for path, one in vary.items():
        if isinstance(one, Variation):
            found[path] = one
        elif isinstance(one, Mapping) and all(isinstance(key, str) for key in one):
            try:
                found[path] = Variation(**one)
            except SpecError as error:
                where = ("vary", path)
                raise SpecError(
                    [replace(p, path=(*where, *p.path)) for p in error.problems]
                ) from None
        else:
            raise _no_variation(("vary", path), one)
    return found


def _no_variation(path: tuple[str, ...], value: Any) -> SpecError:
    return SpecError(
        Problem(
            "not a way in which vehicles differ",
            path=path,
            value=value,
            expected="numbers of the description by their path, each with its spread",
            mend='for example vary={"inertia.mass": {"relative": 0.2}}',
        )
    )


def _described(name: str, what: Any, kind: type[AnySpec]) -> AnySpec:
    if isinstance(what, kind):
        return what
    if not isinstance(what, str | Path):
        raise SpecError(
            Problem(
                f"not a {name}",
                path=(name,),
                value=what,
                expected=f"a name of the library, the path of a file, or a {kind.__name__}",
                mend=f"for a description in place: seatrial.{kind.__name__}(...)",
            )
        )
    return load(what, kind)
