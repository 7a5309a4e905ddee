"""Who gives the orders: a timetable, a standard manoeuvre that watches the heading, or a pilot.

A commander is asked once per control period and may keep a memory between the calls. A pilot also
hears its sensors; the others hear nothing.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core.types import State
from seatrial.engine.command import (
    compiled_controller,
    hearing,
    piloting,
    reporting,
    watchkeeping,
)
from seatrial.engine.command.compiled_controller import CompiledController, ControllerState
from seatrial.engine.command.pilot import Outlook, Pilot, Way, Wishes
from seatrial.engine.compiled.suite import Fitted, Sensing
from seatrial.gnc.avoidance import Told
from seatrial.ocean import Ocean
from seatrial.pytree import batched, pytree, static
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import rotation
from seatrial.spatial.trig import wrap_signed

MEMORY = 2
"""Numbers a commander may remember per vehicle."""

TIME_TOLERANCE = 1e-9
"""A row at 10 s is in force at 10 s although the clock may read 9.999999999999998, s."""


@pytree
class Timetable:
    """Commands held from one time to the next; zero before the first row."""

    times: jax.Array
    """(K,) s, increasing, starting at −∞."""
    values: jax.Array = batched()
    """(K, A, N)."""


@pytree
class Manoeuvre:
    """A standard manoeuvre; parameters are (N,), one per vehicle."""

    helm: jax.Array = batched()
    """Helm angle, rad, positive to starboard."""
    heading_change: jax.Array = batched()
    """Zig-zag: change of heading that reverses the helm, rad."""
    approach: jax.Array = batched()
    """Time of the first execute, s."""
    hold: jax.Array = batched()
    """Pull-out: length of the turn; spiral: time at each step, s."""
    engine: jax.Array = batched()
    astern: jax.Array = batched()
    """Crash stop: engine order of the stop."""
    helm_command: jax.Array
    """(A, 1) command per radian of helm."""
    engine_command: jax.Array
    """(A, 1) command at engine order 1."""
    type: str = static()
    steps: int = static(default=0)
    """Spiral: steps from +helm to −helm."""


Commander = Timetable | Manoeuvre | Pilot


class Given(NamedTuple):
    """What was ordered from outside; it stands above what the commander orders."""

    channels: jax.Array
    """(A, N) True where a channel is ordered from outside."""
    orders: jax.Array
    """(A, N) the orders of those channels."""
    wishes: Wishes | None
    """What a pilot is to do in place of its mission; None for those who are no pilots."""
    told: tuple[Told, ...] = ()
    """What the dense sensors see that a pilot steers by, in their order in its sight."""


def begin(commander: Commander, suite: tuple[Fitted, ...], initial: State, channels: int) -> Any:
    """Memory before the first order; arrays with the vehicles last."""
    if isinstance(commander, Pilot):
        return piloting.begin(commander, suite, initial, channels)
    return jnp.asarray(np.zeros((MEMORY, initial.position.shape[-1])))


def hear(
    commander: Commander,
    memory: Any,
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    which: list[int],
    index: jax.Array,
    t: jax.Array,
) -> Any:
    """Memory after hearing what some sensors, none of them inertial, deliver at this instant."""
    if isinstance(commander, Pilot):
        return hearing.hear(commander, memory, suite, sensing, which, index, t)
    return memory


def feel(
    commander: Commander,
    memory: Any,
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    index: jax.Array,
    tick: int,
) -> Any:
    """Memory after the inertial sample of this instant."""
    if isinstance(commander, Pilot):
        return hearing.feel(commander, memory, suite, sensing, index, tick)
    return memory


def report(commander: Commander, memory: Any, state: State) -> tuple[jax.Array, jax.Array]:
    """For the record: what is believed, and where a mission stands; no rows without them."""
    if isinstance(commander, Pilot):
        return reporting.report(commander, memory, state)
    none = state.velocity[:0]
    return none, none


def command(
    commander: Commander,
    memory: Any,
    state: State,
    t: jax.Array,
    given: Given,
    ocean: Ocean,
    since: jax.Array | None = None,
) -> tuple[Any, jax.Array]:
    """Updated memory, and the orders (A, N) in force for the control period that starts at `t`.

    `since` (F, N) is when each fault set in, of which a pilot is told what monitoring would report.
    """
    if isinstance(commander, Pilot):
        given, memory, way = _way(commander, memory, state, t, given, ocean, since)
        memory, own = piloting.steer(commander, memory, way)
        orders = jnp.where(given.channels, given.orders, own)
        return piloting.overrule(commander, memory, state, orders, given.channels), orders
    memory, own = _scripted(commander, memory, state, t)
    return memory, jnp.where(given.channels, given.orders, own)


def consult(
    pilot: Pilot,
    memory: Any,
    state: State,
    t: jax.Array,
    given: Given,
    ocean: Ocean,
    since: jax.Array | None,
) -> Outlook:
    """What a pilot tells of the way that it has found."""
    _, memory, way = _way(pilot, memory, state, t, given, ocean, since)
    return reporting.outlook(pilot, memory, way, state.velocity.dtype)


def _way(
    pilot: Pilot,
    memory: Any,
    state: State,
    t: jax.Array,
    given: Given,
    ocean: Ocean,
    since: jax.Array | None,
) -> tuple[Given, Any, Way]:
    """What is heard of the orders from outside, and the way that a pilot finds, with its memory."""
    given = _reaching(pilot, given, since)
    driven = jnp.any(given.channels, axis=0)
    memory, way = piloting.guide(
        pilot, memory, state, t, ocean, given.wishes, since, driven, given.told
    )
    return given, memory, way


def _reaching(pilot: Pilot, given: Given, since: jax.Array | None) -> Given:
    """What of the orders from outside is heard."""
    lost = watchkeeping.link_lost(pilot, since)
    if lost is False:
        return given
    wishes = given.wishes
    if wishes is not None:
        wishes = wishes._replace(steered=wishes.steered & ~lost)
    return given._replace(channels=given.channels & ~lost, wishes=wishes)


def command_by(
    controller: CompiledController,
    heard: ControllerState,
    commander: Commander,
    memory: Any,
    state: State,
    t: jax.Array,
    given: Given,
    ocean: Ocean,
    since: jax.Array | None = None,
) -> tuple[ControllerState, Any, jax.Array]:
    """The same under a controller of the user's own; channels that it leaves alone are the
    commander's."""
    rows = jnp.asarray(controller.channels)
    if not isinstance(commander, Pilot):
        memory, own = _scripted(commander, memory, state, t)
        heard, mine = compiled_controller.step(controller, heard, None, None, state, t)
        own = own.at[rows].set(mine.astype(own.dtype))
        return heard, memory, jnp.where(given.channels, given.orders, own)
    given, memory, way = _way(commander, memory, state, t, given, ocean, since)
    known = reporting.outlook(commander, memory, way, state.velocity.dtype)
    heard, mine = compiled_controller.step(controller, heard, known, commander.effectors, state, t)
    whole = len(controller.channels) == memory.orders.shape[0]
    if whole:
        own = memory.orders
    else:
        memory, own = piloting.steer(commander, memory, way)
    own = jnp.where(way.stopped, 0.0, own.at[rows].set(mine.astype(own.dtype)))
    orders = jnp.where(given.channels, given.orders, own)
    if whole:  # there is no autopilot whose integrals would need to know what they make
        return heard, memory._replace(orders=orders), orders
    taken = given.channels.at[rows].set(True)
    return heard, piloting.overrule(commander, memory, state, orders, taken), orders


def _scripted(
    commander: Timetable | Manoeuvre, memory: Any, state: State, t: jax.Array
) -> tuple[Any, jax.Array]:
    if isinstance(commander, Timetable):
        row = jnp.sum(commander.times <= t + TIME_TOLERANCE) - 1
        return memory, commander.values[row]
    executed = t + TIME_TOLERANCE >= commander.approach
    memory, helm, engine = _orders(commander, memory, state, t, executed)
    dtype = state.velocity.dtype
    value = commander.engine_command * engine + commander.helm_command * helm
    return memory, value.astype(dtype)


def _orders(
    order: Manoeuvre, memory: jax.Array, state: State, t: jax.Array, executed: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Memory, helm angle and engine order."""
    elapsed = t + TIME_TOLERANCE - order.approach
    if order.type == "turning_circle":
        return memory, jnp.where(executed, order.helm, 0.0), order.engine
    if order.type == "pull_out":
        turning = executed & (elapsed < order.hold)
        return memory, jnp.where(turning, order.helm, 0.0), order.engine
    if order.type == "spiral":
        step = jnp.floor(elapsed / order.hold)
        ladder = jnp.abs(jnp.minimum(step, 2.0 * order.steps) - order.steps)
        helm = order.helm * (2.0 * ladder / order.steps - 1.0)
        return memory, jnp.where(executed, helm, 0.0), order.engine
    if order.type == "crash_stop":
        dead = (memory[0] > 0) | (executed & (state.velocity[0] <= 0))
        engine = jnp.where(dead, 0.0, jnp.where(executed, order.astern, order.engine))
        return memory.at[0].set(dead.astype(memory.dtype)), jnp.zeros_like(order.helm), engine
    return _zigzag(order, memory, state, executed)


def _zigzag(
    order: Manoeuvre, memory: jax.Array, state: State, executed: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Memory holds the side of the helm (0 before the first execute) and the base course."""
    turned = rotation(state.attitude)
    heading = bearing(turned.r10, turned.r00)
    side, base = memory[0], memory[1]
    first = executed & (side == 0)
    side = jnp.where(first, 1.0, side)
    base = jnp.where(first, heading, base)
    change = wrap_signed(heading - base)
    reached = side * change >= order.heading_change
    side = jnp.where(reached & executed, -side, side)
    return jnp.stack([side, base]), side * order.helm, order.engine
