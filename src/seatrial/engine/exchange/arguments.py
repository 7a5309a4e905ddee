"""What a `control` of the user's own is told: whatever it names among its arguments."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from seatrial.errors import Problem

ALWAYS = ("time", "measurements")
"""Every controller may have them; as the first two arguments they may have any name."""
GUIDED = ("estimate", "leg", "setpoint", "allocate")
"""What there is beside a mission."""
KNOWN = (*ALWAYS, "truth", *GUIDED)


@dataclass(frozen=True)
class Asked:
    """What a `control` is told."""

    placed: bool
    """Whether its first two arguments are time and measurements by their places."""
    named: tuple[str, ...]
    """Those of `KNOWN` that it is told by name."""

    @property
    def guided(self) -> tuple[str, ...]:
        """Those that a pilot must be consulted for."""
        return tuple(name for name in GUIDED if name in self.named)

    def of(self, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments by place and by name, of values by name."""
        places = [values[name] for name in ALWAYS] if self.placed else []
        return places, {name: values[name] for name in self.named}


def told_to(truth: bool, mission: bool) -> tuple[str, ...]:
    """Those of `KNOWN` that there are for a vehicle."""
    return (*ALWAYS, *(("truth",) if truth else ()), *(GUIDED if mission else ()))


def asked_by(control: Any, told: Sequence[str]) -> Asked:
    """What a `control` asks for of what its vehicle is told."""
    found = _parameters(control)
    placed, rest = _apart(found)
    more = any(p.kind is Parameter.VAR_KEYWORD for p in found)
    names = {p.name for p in rest} | ({"truth"} if more else set())
    return Asked(placed, tuple(name for name in told if name in names))


def unheard(control: Any, told: Sequence[str]) -> Problem | None:
    """What is wrong with the arguments of a `control`."""
    found = _parameters(control)
    placed, rest = _apart(found)
    for parameter in rest:
        if parameter.default is Parameter.empty and parameter.name not in told:
            return _refusal(parameter.name)
    names = {p.name for p in rest}
    if not placed and tuple(told) == ALWAYS and not names >= set(ALWAYS):
        return Problem(
            f"must have a method `control(time, measurements)`, not "
            f"`control{inspect.signature(control)}`"
        )
    return None


def _refusal(name: str) -> Problem:
    if name in GUIDED:
        return Problem(
            f"asks for `{name}`, which only a vehicle with a `mission` is told",
            mend=f"give the vehicle a `mission`, or leave `{name}` out",
        )
    if name == "truth":
        return Problem(
            "asks for `truth`, which only a vehicle with `feedback: truth` is told",
            mend="say `feedback: truth` in the vehicle's entry of the scenario, or leave `truth` "
            "out",
        )
    return Problem(
        f"has a method `control` that asks for `{name}`, which it is never told",
        expected=f"arguments among {', '.join(f'`{known}`' for known in KNOWN)}",
        mend="rename it, or give it a default",
    )


def _parameters(control: Any) -> list[Parameter]:
    try:
        return list(inspect.signature(control).parameters.values())
    except (TypeError, ValueError):  # not written in Python
        return [Parameter("all", Parameter.VAR_POSITIONAL), Parameter("of", Parameter.VAR_KEYWORD)]


def _apart(found: list[Parameter]) -> tuple[bool, list[Parameter]]:
    """Whether the first two are told by their places, and those that are told by their names."""
    placeable = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    first = [p for p in found if p.kind in placeable][: len(ALWAYS)]
    enough = len(first) == len(ALWAYS) or any(p.kind is Parameter.VAR_POSITIONAL for p in found)
    free = all(p.name == own or p.name not in KNOWN for p, own in zip(first, ALWAYS, strict=False))
    nameable = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    placed = enough and free
    rest = [p for p in found if not (placed and p in first)]
    return placed, [p for p in rest if p.kind in nameable]
