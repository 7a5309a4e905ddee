"""Compiled controllers of the user's own: traced for one vehicle, and put into the loop.

What a controller computes is taken down once, as a program of JAX, before the run. That text is
its identity: whatever changes it, the class, a module that it imports or a constant, makes another
program, and a finished executable of the old one is never taken for it.
"""

import copy
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.channels import Channel, find_channel
from seatrial.engine.command.compiled_controller import (
    CompiledController,
    Ear,
    Heard,
    Inputs,
    Situation,
    nothing,
    truth_of,
)
from seatrial.engine.command.pilot import Belief, LegInForce, Outlook, Pilot
from seatrial.engine.compiled.group import Group
from seatrial.engine.exchange.controllers import VehicleFacts, place_of, text_of
from seatrial.engine.plan import Fleet
from seatrial.errors import SpecError, shorten
from seatrial.fingerprint import Marked
from seatrial.gnc.allocation import Effectors, allocate
from seatrial.gnc.types import Setpoint
from seatrial.pytree import constant

Refuse = Callable[..., SpecError]
"""Makes the error that names the place in the scenario: `refuse(message, expected=…, mend=…)`."""

_shape: Any = jax.ShapeDtypeStruct  # JAX gives it no types

TRACED = (
    "it is traced once with symbols for numbers: choose with `jnp.where` or `jax.lax.cond` instead "
    "of `if`, compute with `jax.numpy`; or write `start` and `control`, which stay in Python"
)


@dataclass(frozen=True)
class Given:
    """A compiled controller, and how to refuse it."""

    controller: Any
    truth: bool
    refuse: Refuse


class CompiledControllers:
    """Those of a scenario by vehicle; each is traced once, however many plans it is part of."""

    def __init__(self, given: Mapping[str, Given]) -> None:
        self._given = given
        objects = {id(one.controller): one for one in given.values()}
        self._number = {own: i for i, own in enumerate(objects)}
        self._traced: dict[tuple[str, ...], CompiledController] = {}

    def __bool__(self) -> bool:
        return bool(self._given)

    def key(self, vehicle: str) -> int:
        """Number of its controller; vehicles with the same one may share a program."""
        return self._number[id(self._given[vehicle].controller)] if vehicle in self._given else -1

    def into(self, fleet: Fleet, facts: Callable[[str], VehicleFacts], boxes: list[int]) -> Fleet:
        """The fleet with its controller in the loop.

        `boxes` tells for each sensor how many samples may be on their way at once.
        """
        if fleet.names[0] not in self._given:
            return fleet
        if fleet.names not in self._traced:
            told = [facts(name) for name in fleet.names]
            self._traced[fleet.names] = _build(
                self._given[fleet.names[0]], fleet.group, told, boxes
            )
        group = replace(fleet.group, controller=self._traced[fleet.names])
        return replace(fleet, group=group)


def _build(
    given: Given, group: Group, facts: list[VehicleFacts], boxes: list[int]
) -> CompiledController:
    states = [_initial(given, vehicle) for vehicle in facts]
    dtype = np.dtype(group.initial.velocity.dtype)
    structure = jax.tree.structure(states[0])
    rows = [[_array(given, leaf, dtype) for leaf in jax.tree.leaves(s)] for s in states]
    initial = tuple(np.stack(same, axis=-1) for same in zip(*rows, strict=True))
    names = tuple(facts[0].sensors)
    channels = [Channel(name, unit) for name, unit in facts[0].channels.items()]
    parameters = {
        name: np.asarray(value, dtype if np.asarray(value).dtype.kind == "f" else None)
        for name, value in vars(given.controller).items()
        if isinstance(value, float | np.ndarray | np.floating | jax.Array)
    }
    pilot = group.commander if isinstance(group.commander, Pilot) else None
    asked: set[str] = set()
    ordered: dict[int, str] = {}

    def one(
        values: tuple[jax.Array, ...],
        effectors: Effectors | None,
        leaves: tuple[jax.Array, ...],
        seen: Situation,
    ) -> Any:
        controller = copy.copy(given.controller)
        vars(controller).update(zip(parameters, values, strict=True))
        known = seen.known
        inputs = Inputs(
            time=seen.time,
            measurements=_Measurements(dict(zip(names, seen.heard, strict=True)), asked),
            estimate=None if known is None else known.estimate,
            leg=None if known is None else known.leg,
            setpoint=None if known is None else known.setpoint,
            allocate=None
            if known is None or effectors is None or pilot is None
            else _allocator(effectors, known, pilot.period, channels),
            truth=None
            if seen.truth is None
            else seen.truth._replace(actuators=seen.truth.actuators[: len(channels)]),
        )
        found = controller.step(jax.tree.unflatten(structure, leaves), inputs)
        if not isinstance(found, tuple) or len(found) != 2:
            raise _UnfitError(
                f"`step` returned {shorten(found)}", "a pair: the next state, and orders"
            )
        after, orders = found
        return (*_checked(after, structure, leaves), _rows(orders, channels, ordered))

    arguments = jax.tree.map(
        lambda a: _shape(a.shape, a.dtype),
        (
            tuple(parameters.values()),
            None if pilot is None else pilot.effectors,
            tuple(row[..., 0] for row in initial),
            _seen(group, given.truth),
        ),
    )
    method = given.controller.step
    try:
        traced = jax.make_jaxpr(one)(*arguments)
        mark = _mark(traced)
    except _UnfitError as wrong:
        raise _refusal(given, method, wrong.message, None, wrong.expected, wrong.mend) from None
    except SpecError as error:
        problem = error.problems[0]
        raise _refusal(
            given, method, problem.message, None, problem.expected, problem.mend
        ) from None
    except (Exception, SystemExit) as error:
        what = f"cannot be compiled: {text_of(error).splitlines()[0]}"
        raise _refusal(given, method, what, error, "", _mend(error, pilot is None)) from error
    put: CompiledController = jax.device_put(
        CompiledController(
            parameters=tuple(constant(value) for value in parameters.values()),
            initial=tuple(constant(row) for row in initial),
            program=Marked(mark, traced),
            ears=tuple(Ear(i, boxes[i]) for i, name in enumerate(names) if name in asked),
            channels=tuple(ordered),
            sizes=tuple(fitted.size for fitted in group.suite),
            truth=given.truth,
        )
    )
    return put


def _mark(traced: Any) -> str:
    """Fingerprint of all that a program computes, numbers included."""
    from jax.extend.core import jaxpr_as_fun  # heavy, and few write such controllers

    inputs = [_shape(a.shape, a.dtype) for a in traced.in_avals]
    text = jax.jit(jaxpr_as_fun(traced)).lower(*inputs).as_text()
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()


class _UnfitError(Exception):
    """What `step` does is not what a controller does."""

    def __init__(self, message: str, expected: str = "", mend: str = "") -> None:
        super().__init__(message)
        self.message, self.expected, self.mend = message, expected, mend


def _refusal(
    given: Given,
    method: Callable[..., Any],
    message: str,
    error: BaseException | None,
    expected: str,
    mend: str,
) -> SpecError:
    file, line = place_of(method, error)
    place = f"{file}:{line}: " if file else ""
    name = type(given.controller).__qualname__
    return given.refuse(f"{place}the controller `{name}` {message}", expected=expected, mend=mend)


def _mend(error: BaseException, scripted: bool) -> str:
    if isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
        return TRACED
    if scripted and "NoneType" in str(error):
        return (
            "`estimate`, `leg`, `setpoint` and `allocate` are there for a vehicle with a "
            "`mission`, `truth` where the scenario says `feedback: truth`"
        )
    return "mend it there"


def _initial(given: Given, vehicle: VehicleFacts) -> Any:
    try:
        return given.controller.init(vehicle)
    except (Exception, SystemExit) as error:
        what = f"cannot be initialised: {text_of(error)}"
        raise _refusal(given, given.controller.init, what, error, "", "mend it there") from error


def _array(given: Given, leaf: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    array = np.asarray(leaf)
    if array.dtype.kind not in "fiub":
        raise _refusal(
            given,
            given.controller.init,
            f"has a state that holds {shorten(leaf)}",
            None,
            "numbers and arrays, in tuples, lists, dicts or NamedTuples",
            "keep everything else as an attribute of the object",
        )
    return array.astype(dtype) if array.dtype.kind == "f" else array


def _checked(after: Any, structure: Any, leaves: tuple[jax.Array, ...]) -> list[jax.Array]:
    """The next state, leaf by leaf, of the shapes that `init` gave."""
    if jax.tree.structure(after) != structure:
        raise _UnfitError(
            f"has a state of another structure after a step: {jax.tree.structure(after)}",
            f"that of `init`: {structure}",
        )
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree.flatten_with_path(after)[0]]
    found = []
    for name, new, old in zip(names, jax.tree.leaves(after), leaves, strict=True):
        array = jnp.asarray(new)
        if array.shape != old.shape or not jnp.can_cast(array.dtype, old.dtype, "same_kind"):
            raise _UnfitError(
                f"has a state whose part `{name or 'state'}` was {old.dtype}{list(old.shape)} and "
                f"became {array.dtype}{list(array.shape)} in a step",
                "the shape and type that `init` gave it",
                "a number that becomes a fraction starts as one: `0.0`, not `0`",
            )
        found.append(array.astype(old.dtype))
    return found


def _rows(orders: Any, channels: list[Channel], ordered: dict[int, str]) -> jax.Array:
    """Orders by channel as one array; notes which channels they are for."""
    if not isinstance(orders, Mapping) or not orders:
        raise _UnfitError(
            f"gives the orders {shorten(orders)}",
            "orders by channel, the same in every step: `{'left': …, 'right': …}`",
        )
    ordered.clear()
    rows = []
    for name, value in orders.items():
        i, factor = find_channel(channels, str(name), (), 1.0)
        array = jnp.asarray(value)
        if array.shape != () or array.dtype.kind not in "fiu":
            raise _UnfitError(
                f"gives `{name}` an order of {array.dtype}{list(array.shape)}", "one number"
            )
        if i in ordered:
            raise _UnfitError(f"gives `{ordered[i]}` and `{name}` orders, which are one channel")
        ordered[i] = str(name)
        rows.append(array * factor)
    return jnp.stack(rows)


def _allocator(
    effectors: Effectors, known: Outlook, period: float, channels: list[Channel]
) -> Callable[[jax.Array], dict[str, jax.Array]]:
    def allocated(wrench: jax.Array) -> dict[str, jax.Array]:
        asked = jnp.asarray(wrench)
        if asked.shape != (6,):
            raise _UnfitError(
                f"asks for a wrench of shape {asked.shape}", "six numbers: X Y Z K M N, N and N m"
            )
        found = allocate(
            effectors,
            asked[:, None],
            known.through_water[:, None],
            known.orders[:, None],
            period,
            known.health[:, None],
        )
        return {c.name: row for c, row in zip(channels, found.orders[:, 0], strict=True)}

    return allocated


class _Measurements(Mapping[str, Heard]):
    """Samples by sensor, which notes the sensors that are asked for."""

    def __init__(self, samples: dict[str, Heard], asked: set[str]) -> None:
        self._samples, self._asked = samples, asked

    def __getitem__(self, name: str) -> Heard:
        if name not in self._samples:
            raise _UnfitError(
                f"asks for a sensor `{name}`, which its vehicle does not have",
                f"one of {', '.join(self._samples) or 'none'}",
            )
        self._asked.add(name)
        return self._samples[name]

    def __iter__(self) -> Any:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)


def _seen(group: Group, truth: bool) -> Situation:
    """Arrays of the shapes and types that one vehicle of a group sees."""
    dtype = group.initial.velocity.dtype
    known = None
    if isinstance(group.commander, Pilot):

        def numbers(*shape: int) -> Any:
            return np.zeros(shape, dtype)

        pilot = group.commander
        known = Outlook(
            estimate=Belief(*(numbers(n) for n in (3, 4, 3, 6, 3, 3, 3, 6))),
            leg=LegInForce(
                number=constant(0, np.int32),
                kind=constant(0, np.int32),
                start=numbers(3),
                end=numbers(3),
                following=numbers(3),
                speed=numbers(),
                acceptance=numbers(),
                done=constant(False),
            ),
            setpoint=Setpoint(
                position=numbers(3),
                heading=numbers(),
                course=numbers(),
                velocity=numbers(3),
                yaw_rate=numbers(),
                depth=numbers(),
                pitch=numbers(),
            ),
            through_water=numbers(6),
            orders=numbers(group.model.channels),
            health=numbers(len(pilot.effectors.names)),
        )
    alone = jax.tree.map(lambda a: a[..., 0], group.initial)
    return Situation(
        time=constant(0.0),
        heard=tuple(nothing(fitted.size, (), dtype) for fitted in group.suite),
        known=known,
        truth=truth_of(alone) if truth else None,
    )
