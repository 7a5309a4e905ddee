"""A scenario with another seed, duration, fault or number; and one as many."""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seatrial.errors import Problem, SpecError, shorten
from seatrial.spec.base import Spec
from seatrial.spec.fault_grammar import parse_fault
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.wording import did_you_mean


def with_overrides(
    scenario: Scenario,
    seed: int | None = None,
    duration: float | None = None,
    faults: Sequence[str] = (),
) -> Scenario:
    """The scenario with another seed or duration, and with faults given as text."""
    changes: dict[str, object] = {}
    if seed is not None:
        changes["seed"] = seed
    if duration is not None:
        changes["duration"] = duration
    if faults:
        changes["vehicles"] = _with_faults(scenario, faults)
    return scenario.model_copy(update=changes) if changes else scenario


def _with_faults(scenario: Scenario, faults: Sequence[str]) -> tuple[Participant, ...]:
    """The vehicles with more faults; one that names no vehicle strikes all of them."""
    vehicles = list(scenario.vehicles)
    names = [v.name for v in vehicles]
    for text in faults:
        wanted, fault = parse_fault(text)
        if wanted is not None and wanted not in names:
            raise SpecError(
                Problem(
                    f"there is no vehicle `{wanted}` in this scenario",
                    value=text,
                    expected=f"one of {', '.join(names)} before the slash",
                    mend=did_you_mean(wanted, names),
                )
            )
        for i, vehicle in enumerate(vehicles):
            if wanted in (None, vehicle.name):
                more = {"faults": (*vehicle.faults, fault)}
                vehicles[i] = vehicle.model_copy(update=more)
    return tuple(vehicles)


def runs_of(
    scenario: Scenario, seeds: Iterable[int] | None, vary: Mapping[str, Sequence[Any]]
) -> tuple[list[Scenario], dict[str, list[Any]]]:
    """The scenario of every run, and what was varied by its path."""
    chosen = None if seeds is None else _numbers(seeds)
    try:
        if not isinstance(vary, Mapping) or not all(isinstance(path, str) for path in vary):
            raise TypeError(f"it is {shorten(vary)}")
        varied = {path: list(values) for path, values in vary.items()}
    except TypeError as error:
        raise SpecError(
            Problem(
                f"`vary` holds a list for each path, one value for each run: {error}",
                expected="for example `vary={'vehicles[0].start.speed': [0.5, 1.0]}`",
            )
        ) from None
    lengths = {path: len(values) for path, values in varied.items()}
    if chosen is not None:
        lengths["seeds"] = len(chosen)
    if not lengths or 0 in lengths.values():
        raise _refused("many runs need at least one seed or value", lengths)
    if len(set(lengths.values())) > 1:
        raise _refused("`seeds` and each list of `vary` hold one value for each run", lengths)
    runs = []
    for number in range(next(iter(lengths.values()))):
        one = scenario
        for path, values in varied.items():
            try:
                one = _changed(one, path, values[number])
            except SpecError as error:
                raise _told_of(error, path, number) from None
        runs.append(with_overrides(one, None if chosen is None else chosen[number]))
    _check_axes(runs)
    return runs, varied


def _told_of(error: SpecError, path: str, number: int) -> SpecError:
    """The same problems, with what was varied and for which run."""
    return SpecError(
        [replace(p, message=f"{p.message} (`{path}` of run {number})") for p in error.problems]
    )


def _check_axes(runs: Sequence[Scenario]) -> None:
    """Refuse runs that do not fit into one dataset: its times and its vehicles are those of all."""
    periods = sorted({one.frame_period for one in runs})
    fleets = {tuple((v.name, v.count) for v in one.vehicles) for one in runs}
    for what, alike, found in (
        ("`frame_period`", len(periods) == 1, ", ".join(f"{p:g} s" for p in periods)),
        ("vehicles", len(fleets) == 1, "other names or counts"),
    ):
        if not alike:
            raise SpecError(
                Problem(
                    f"the runs of one dataset have the same {what}",
                    value=found,
                    expected="a path in `vary` that leaves them as they are",
                    mend="call `run_many` for each, or `run`",
                )
            )


def _numbers(seeds: Iterable[int]) -> list[int]:
    try:
        return [operator.index(seed) for seed in seeds]
    except TypeError as error:
        expected = "whole numbers, for example `range(100)`"
        raise SpecError(Problem(f"these are no seeds: {error}", expected=expected)) from None


def _refused(message: str, lengths: dict[str, int]) -> SpecError:
    found = ", ".join(f"{count} of `{name}`" for name, count in lengths.items()) or "none"
    return SpecError(Problem(message, value=found, expected="lists of one length, not empty"))


def _changed(scenario: Scenario, path: str, value: Any) -> Scenario:
    """The scenario with another value at a path, checked like any other."""
    steps = re.findall(r"[^\W\d]\w*|\d+", path)
    words = re.sub(r"\[\d+\]|\.", " ", path).split()
    if not words or words != [s for s in steps if not s.isdigit()]:
        raise SpecError(Problem("this is no path to a number", value=path, mend=_EXAMPLE))
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    changed = _with(scenario, steps, value, path)
    assert isinstance(changed, Scenario)
    return changed


_EXAMPLE = "write for example `vehicles[0].start.speed` or `world.waves.significant_height`"


def _with(place: Any, steps: list[str], value: Any, path: str) -> Any:
    if not steps:
        return value
    step, *rest = steps
    if isinstance(place, Spec):
        known = place.accepted_keys()
        if step in type(place).model_fields:
            return place.model_copy(update={step: _with(getattr(place, step), rest, value, path)})
        if step in known and not rest:
            return place.model_copy(update={step: value})
    elif isinstance(place, dict) and step in place:
        return place | {step: _with(place[step], rest, value, path)}
    elif isinstance(place, tuple) and step.isdigit() and int(step) < len(place):
        at = int(step)
        return (*place[:at], _with(place[at], rest, value, path), *place[at + 1 :])
    else:
        known = list(place) if isinstance(place, dict) else []
        known += [str(i) for i in range(len(place))] if isinstance(place, tuple) else []
    raise SpecError(
        Problem(
            f"there is no `{step}` to be varied",
            value=path,
            expected=f"one of {', '.join(known)}" if known else "a path to what is described",
            mend=did_you_mean(step, known) or _EXAMPLE,
        )
    )
