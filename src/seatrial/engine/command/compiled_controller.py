"""A controller of the user's own inside the compiled loop: what it hears, and what it orders.

It is written for one vehicle and mapped over those of a group. Of a sensor it hears the newest
valid sample that has arrived; sensors that it never asks for cost nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.engine.command import sample_queue
from seatrial.engine.command.pilot import Belief, LegInForce, Outlook
from seatrial.engine.command.sample_queue import SampleQueue
from seatrial.engine.compiled.suite import Fitted, Sample, Sensing
from seatrial.fingerprint import Marked
from seatrial.gnc.allocation import Effectors
from seatrial.gnc.types import Setpoint
from seatrial.pytree import batched, pytree, static
from seatrial.spatial.rotations import to_euler


class Heard(NamedTuple):
    """The newest sample of a sensor."""

    values: jax.Array
    """(D,) in the order of `SensorInfo.components`; zero before the first."""
    time: jax.Array
    """When it was taken, s; −∞ before the first."""
    new: jax.Array
    """Whether it arrived since the last call."""


class Truth(NamedTuple):
    """The vehicle as it really is."""

    position: jax.Array
    """(3,) NED, m."""
    attitude: jax.Array
    """(4,) quaternion, scalar first, body to world."""
    euler: jax.Array
    """(3,) roll, pitch, yaw, rad."""
    velocity: jax.Array
    """(6,) u v w p q r over ground, body axes."""
    actuators: jax.Array
    """(A,) actual states, SI, in the order of the channels."""


class Inputs(NamedTuple):
    """What `step` is given."""

    time: jax.Array
    """s."""
    measurements: Mapping[str, Heard]
    """By sensor."""
    estimate: Belief | None
    """What navigation believes; None, as are the next three, without a mission."""
    leg: LegInForce | None
    setpoint: Setpoint | None
    """What guidance asks for; NaN where it asks for nothing."""
    allocate: Callable[[jax.Array], dict[str, jax.Array]] | None
    """Orders by channel that make a wrench (6,) in body axes, N and N m, as well as they can."""
    truth: Truth | None
    """None unless the scenario says `feedback: truth`."""


class Situation(NamedTuple):
    """What the inputs are made of; vehicles last, but not on the time."""

    time: jax.Array
    heard: tuple[Heard, ...]
    """Of every sensor in the suite."""
    known: Outlook | None
    truth: Truth | None


class Ear(NamedTuple):
    """A sensor that it asks for."""

    place: int
    """In the suite."""
    box: int
    """How many samples may be on their way at once; 0 where none is ever late."""


@pytree
class CompiledController:
    """A user's `step`, traced."""

    parameters: tuple[jax.Array, ...]
    """Numbers and arrays among the attributes of the user's object."""
    initial: tuple[jax.Array, ...] = batched()
    """Its state before the first step, leaf by leaf."""
    program: Marked = static()
    """Of one vehicle: parameters, effectors, state and `Situation` to the next state and orders.
    It is known by what it computes, so that another one is another program."""
    ears: tuple[Ear, ...] = static()
    channels: tuple[int, ...] = static()
    """Rows of the orders that it gives."""
    sizes: tuple[int, ...] = static()
    """Numbers in a measurement of each sensor of the suite."""
    truth: bool = static()
    """Whether it is told the truth."""


class ControllerState(NamedTuple):
    """What a compiled controller carries from one instant to the next."""

    own: tuple[jax.Array, ...]
    """The user's state, leaf by leaf."""
    heard: tuple[Heard, ...]
    """By ear."""
    boxes: tuple[SampleQueue | None, ...]
    """Samples that are on their way, by ear."""
    failed: jax.Array
    """(N,) whether it gave an order that is not a finite number."""


def begin(
    controller: CompiledController | None, suite: tuple[Fitted, ...], initial: State
) -> ControllerState | None:
    """Before the first instant."""
    if controller is None:
        return None
    count, dtype = initial.position.shape[-1], initial.velocity.dtype
    return ControllerState(
        own=tuple(jnp.asarray(leaf) for leaf in controller.initial),
        heard=tuple(nothing(suite[ear.place].size, (count,), dtype) for ear in controller.ears),
        boxes=tuple(
            sample_queue.begin(ear.box, suite[ear.place].size, count, dtype) if ear.box else None
            for ear in controller.ears
        ),
        failed=jnp.zeros(count, bool),
    )


def nothing(size: int, vehicles: tuple[int, ...], dtype: Any) -> Heard:
    """Before the first sample."""
    return Heard(
        jnp.zeros((size, *vehicles), dtype),
        jnp.full(vehicles, -jnp.inf),
        jnp.zeros(vehicles, bool),
    )


def hear(
    controller: CompiledController | None,
    memory: ControllerState | None,
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    which: list[int],
    index: jax.Array,
) -> ControllerState | None:
    """Memory after what the sensors `which` deliver at time step `index`."""
    if controller is None or memory is None:
        return memory
    heard, boxes = list(memory.heard), list(memory.boxes)
    for k, ear in enumerate(controller.ears):
        if ear.place not in which:
            continue
        fitted, sample = suite[ear.place], sensing[ear.place].last
        due = index % fitted.period == 0
        t = index // fitted.period * fitted.interval
        box = boxes[k]
        if box is None:
            heard[k] = _newer(heard[k], sample, due & sample.valid, t)
        else:
            boxes[k] = sample_queue.post(box, sample, due, t)
    return memory._replace(heard=tuple(heard), boxes=tuple(boxes))


def _newer(before: Heard, sample: Sample, taken: jax.Array, t: jax.Array) -> Heard:
    return Heard(
        jnp.where(taken, sample.values, before.values),
        jnp.where(taken, t, before.time),
        taken | before.new,
    )


def step(
    controller: CompiledController,
    memory: ControllerState,
    known: Outlook | None,
    effectors: Effectors | None,
    state: State,
    t: jax.Array,
) -> tuple[ControllerState, jax.Array]:
    """The next memory, and orders for the rows `controller.channels`."""
    heard, boxes = list(memory.heard), list(memory.boxes)
    for k, box in enumerate(boxes):
        if box is not None:
            newest = sample_queue.newest(box, t)
            newer = newest.arrived & (newest.stamp > heard[k].time)
            heard[k] = Heard(
                jnp.where(newer, newest.values, heard[k].values),
                jnp.where(newer, newest.stamp, heard[k].time),
                newer,
            )
    count, dtype = state.position.shape[-1], state.velocity.dtype
    everything = [nothing(size, (count,), dtype) for size in controller.sizes]
    for ear, sample in zip(controller.ears, heard, strict=True):
        everything[ear.place] = sample
    situation = Situation(
        jnp.asarray(t), tuple(everything), known, truth_of(state) if controller.truth else None
    )
    shared = jax.tree.leaves((controller.parameters, effectors))
    single = jax.tree.leaves(memory.own)
    seen = jax.tree.leaves(situation)
    # Here, because it brings all of JAX's kernels with it: a sixth of a second.
    from jax.extend.core import jaxpr_as_fun

    traced = controller.program.content
    leaves = [
        jnp.asarray(leaf, aval.dtype)
        for leaf, aval in zip([*shared, *single, *seen], traced.in_avals, strict=True)
    ]
    axes = [None] * len(shared) + [-1] * len(single) + [None] + [-1] * (len(seen) - 1)
    mapped = jax.vmap(jaxpr_as_fun(traced), tuple(axes), -1, axis_size=count)
    *after, orders = mapped(*leaves)
    rested = tuple(sample._replace(new=jnp.zeros_like(sample.new)) for sample in heard)
    finite = jnp.isfinite(orders)
    failed = ~jnp.all(finite, axis=0)
    return (
        ControllerState(tuple(after), rested, memory.boxes, failed),
        jnp.where(finite, orders, 0.0),
    )


def truth_of(state: State) -> Truth:
    """As a controller is told it."""
    return Truth(
        position=state.position,
        attitude=state.attitude,
        euler=jnp.stack(to_euler(state.attitude)),
        velocity=state.velocity,
        actuators=state.actuators,
    )
