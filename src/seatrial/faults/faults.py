"""Faults of sensors, actuators, hull and radio: when they strike, and what they then do.

Every fault of a vehicle has a row. `Trouble.since` tells for each row when the fault set in, and
is infinite while it is away: the truth that a detector is scored against. A fault is there while
its trigger says so, or while it is switched on from outside (`Trouble.forced`).
"""

import dataclasses
import math
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core.actuators import Actuator
from seatrial.core.actuators.drive import Drive
from seatrial.core.actuators.fin import Fin
from seatrial.core.actuators.thruster import Thruster
from seatrial.core.forces.coefficients import Coefficients
from seatrial.core.impairment import Harm, Impairment, Seizure
from seatrial.core.types import Model, State
from seatrial.pytree import batched, pytree, static
from seatrial.sensors.noise.draws import uniform
from seatrial.spatial.rotations import to_euler
from seatrial.spatial.vectors import Scalar

MOST_FAULTS = 24
"""Faults of one vehicle; each is a bit of a sample's label, a number that a single-precision
swarm must still hold exactly."""

TIME_TOLERANCE = 1e-9
"""A fault at 10 s is there at 10 s although the clock may read 9.999999999999998, s."""


@pytree
class Windows:
    """A fault that is there from `start` to `end`."""

    start: jax.Array = batched()
    """(K, N) s; infinite where a vehicle has fewer windows than others."""
    end: jax.Array = batched()
    """(K, N) s."""


@pytree
class Condition:
    """A fault that is there while a quantity is beyond a threshold."""

    threshold: jax.Array
    duration: jax.Array | None
    """Given: the fault starts when the condition first holds, and lasts so long, s."""
    quantity: str = static()
    """depth, time, roll, pitch, heading, speed, or command."""
    channel: int = static()
    """Of a command; −1 for other quantities."""
    above: bool = static()


Trigger = Windows | Condition | None
"""None: the fault comes only when it is switched on from outside."""


@pytree
class Damage:
    """A fault of an actuator, of the hull or of the radio."""

    value: jax.Array | None
    """reduced: the share that is left; jam: where, or None; added_drag: C_D A in m²."""
    index: int = static()
    """Row in `Trouble.since`."""
    kind: str = static()
    actuator: int = static(default=-1)
    """Index among the Model's actuators."""
    channel: int = static(default=-1)
    """Command channel, which is also the index of the state."""
    upper: bool = static(default=True)
    """runaway: to the upper limit."""
    zero: bool = static(default=False)
    """loss: all orders become zero, in place of the last ones heard."""


@pytree
class Faults:
    """Everything that may go wrong with the vehicles of a group, apart from how sensors show it."""

    triggers: tuple[Trigger, ...]
    """One per row."""
    damages: tuple[Damage, ...]


@pytree
class SensorFault:
    """How a fault distorts the samples of one sensor."""

    keys: jax.Array = batched()
    """(2, N) of its own random numbers."""
    chosen: jax.Array
    """(D, 1) which numbers of a measurement it strikes."""
    value: jax.Array | None
    """(D, 1) stuck: the value; bias: the jump; drift: per second; spikes: the height; noise: the
    standard deviation; delay: one number, s. SI units."""
    probability: jax.Array | None
    """dropout and spikes: per sample."""
    index: int = static()
    """Row in `Trouble.since`."""
    kind: str = static()


class LosesLock(Protocol):
    """A sensor that follows satellites, an echo or anchors, and can lose them."""

    def lose_lock(self, memory: jax.Array, lost: jax.Array, t: jax.Array) -> jax.Array:
        """Memory of a sensor that has just lost its lock where `lost` (N,) says so."""


class Trouble(NamedTuple):
    """What faults hand from one instant to the next."""

    since: jax.Array
    """(F, N) when a fault set in, s; infinite while it is away."""
    forced: jax.Array
    """(F, N) 1 while a fault is switched on from outside."""
    tripped: jax.Array
    """(F, N) when a condition held for the first time, s; infinite before."""
    orders: jax.Array
    """(A, N) last orders that the vehicle heard; not a number before the first."""


def begin(faults: Faults, channels: int, count: int, dtype: Any) -> Trouble:
    """Before the first instant nothing is broken."""
    rows = (len(faults.triggers), count)
    away = np.full(rows, math.inf)
    return Trouble(
        since=jnp.asarray(away),
        forced=jnp.asarray(np.zeros(rows, np.int32)),
        tripped=jnp.asarray(away),
        orders=jnp.asarray(np.full((channels, count), math.nan), dtype),
    )


def update(faults: Faults, trouble: Trouble, state: State, t: jax.Array) -> Trouble:
    """Which faults are there at `t`."""
    since, tripped = [], []
    for row, trigger in enumerate(faults.triggers):
        first = trouble.tripped[row]
        onset = jnp.full_like(first, math.inf)
        if isinstance(trigger, Windows):
            now = t + TIME_TOLERANCE
            inside = (trigger.start <= now) & (now < trigger.end)
            onset = jnp.min(jnp.where(inside, trigger.start, math.inf), axis=0)
        elif isinstance(trigger, Condition):
            holds = _holds(trigger, trouble, state, t)
            first = jnp.minimum(first, jnp.where(holds, t, math.inf))
            if trigger.duration is None:
                onset = jnp.where(holds, t, math.inf)
            else:
                lasting = t + TIME_TOLERANCE < first + trigger.duration
                onset = jnp.where(lasting, first, math.inf)
        onset = jnp.where(trouble.forced[row] > 0, jnp.minimum(onset, t), onset)
        there = jnp.isfinite(onset)
        since.append(jnp.where(there, jnp.minimum(onset, trouble.since[row]), math.inf))
        tripped.append(first)
    if not since:
        return trouble
    return trouble._replace(since=jnp.stack(since), tripped=jnp.stack(tripped))


def _holds(condition: Condition, trouble: Trouble, state: State, t: jax.Array) -> jax.Array:
    value = _quantity(condition, trouble, state, t)
    beyond = value > condition.threshold if condition.above else value < condition.threshold
    return jnp.broadcast_to(beyond, state.position.shape[1:])


def _quantity(condition: Condition, trouble: Trouble, state: State, t: jax.Array) -> jax.Array:
    name = condition.quantity
    if name == "time":
        return t + TIME_TOLERANCE
    if name == "depth":
        return state.position[2]
    if name == "speed":
        return jnp.sqrt(jnp.sum(state.velocity[:3] ** 2, axis=0))
    if name == "command":
        return trouble.orders[condition.channel]
    angle = to_euler(state.attitude)[("roll", "pitch", "heading").index(name)]
    return jnp.mod(angle, 2.0 * math.pi) if name == "heading" else angle


def impair(faults: Faults, trouble: Trouble, model: Model) -> Model:
    """The Model with what is broken in it; the same Model where no fault touches the vehicle.

    Where an actuator acts through the hull's coefficients, every coefficient that names it is
    multiplied by its effectiveness, so that its whole wrench is, as for one with a wrench of its
    own: drag that goes with δ² loses the same share as lift that goes with δ.
    """
    harms: dict[int, Harm] = {}
    seizures: list[Seizure] = []
    drag_area: jax.Array | None = None
    dtype = model.reference_density.dtype
    for damage in faults.damages:
        active = jnp.isfinite(trouble.since[damage.index])
        k = damage.actuator
        if damage.kind == "reduced":
            left = jnp.where(active, _given(damage.value), 1.0).astype(dtype)
            harm = harms.get(k, Harm())
            so_far = harm.effectiveness
            left = left if so_far is None else so_far * left
            harms[k] = dataclasses.replace(harm, effectiveness=left)
        elif damage.kind == "free_float":
            harms[k] = dataclasses.replace(harms.get(k, Harm()), floating=active)
        elif damage.kind == "added_drag":
            area = jnp.where(active, _given(damage.value), 0.0).astype(dtype)
            drag_area = area if drag_area is None else drag_area + area
        elif damage.kind == "jam" or (damage.kind == "power_loss" and not _is_shaft(model, damage)):
            seizures += [Seizure(active, damage.value, s) for s in _states(model, damage)]
    if not harms and not seizures and drag_area is None:
        return model
    return dataclasses.replace(
        model,
        coefficients=_weakened(model, harms),
        impairment=Impairment(
            actuators=tuple(harms.get(k) for k in range(len(model.actuators))),
            seizures=tuple(seizures),
            drag_area=drag_area,
        ),
    )


def _given(value: jax.Array | None) -> jax.Array:
    """A number that this kind of fault always has."""
    assert value is not None
    return value


def _is_shaft(model: Model, damage: Damage) -> bool:
    """Whether what stops turning without power goes to zero by itself, as a propeller does."""
    actuator = model.actuators[damage.actuator]
    return isinstance(actuator, Thruster) and damage.channel == actuator.channel


def _states(model: Model, damage: Damage) -> list[int]:
    """States of what stands still: a fin takes its servo with it."""
    actuator = model.actuators[damage.actuator]
    if isinstance(actuator, Fin) and actuator.servo != damage.channel:
        return [damage.channel, actuator.servo]
    return [damage.channel]


def _weakened(model: Model, harms: dict[int, Harm]) -> Coefficients | None:
    """Coefficients times the effectiveness of the actuators that they name."""
    if model.coefficients is None:
        return None
    left: dict[int, jax.Array] = {}
    for k, harm in harms.items():
        if harm.effectiveness is not None:
            actuator = model.actuators[k]
            left[actuator.channel] = harm.effectiveness
            if isinstance(actuator, Thruster) and actuator.azimuth is not None:
                left[actuator.azimuth_channel] = harm.effectiveness
    terms = model.coefficients.terms
    if not any(a in left for term in terms for a in term.actuators):
        return model.coefficients
    shape = next(iter(left.values())).shape
    values: list[Scalar] = []
    for k, term in enumerate(terms):
        value: Scalar = model.coefficients.values[k]
        for a in sorted(left.keys() & set(term.actuators)):
            value = value * left[a]
        values.append(jnp.broadcast_to(value, shape))
    return dataclasses.replace(model.coefficients, values=jnp.stack(values))


def obey(
    faults: Faults, trouble: Trouble, model: Model, orders: jax.Array
) -> tuple[Trouble, jax.Array]:
    """What the actuators are told: the orders, as far as they are heard and can be followed."""
    for damage in faults.damages:
        if damage.kind == "loss":
            lost = jnp.isfinite(trouble.since[damage.index])
            kept = jnp.where(jnp.isnan(trouble.orders) | damage.zero, 0.0, trouble.orders)
            orders = jnp.where(lost, kept, orders)
    trouble = trouble._replace(orders=orders)
    for damage in faults.damages:
        if damage.kind == "runaway":
            drive = drive_of(model.actuators[damage.actuator], damage.channel)
            told: Scalar = drive.high if damage.upper else drive.low
        elif damage.kind == "power_loss":  # what has no shaft stands still: see `impair`
            told = 0.0
        else:
            continue
        active = jnp.isfinite(trouble.since[damage.index])
        row = jnp.where(active, told, orders[damage.channel])
        orders = orders.at[damage.channel].set(row.astype(orders.dtype))
    return trouble, orders


def drive_of(actuator: Actuator, channel: int) -> Drive:
    """What moves the state of a command channel."""
    if isinstance(actuator, Thruster) and actuator.azimuth is not None:
        return actuator.drive if channel == actuator.channel else actuator.azimuth
    return actuator.drive


ORDER = ("loss_of_lock", "bias", "drift", "spikes", "noise", "stuck", "freeze", "dropout", "delay")
"""Order in which the faults of one sensor are applied."""


class Distorted(NamedTuple):
    """A sample as a fault leaves it."""

    values: jax.Array
    valid: jax.Array
    delay: jax.Array
    """(N,) additional, s."""
    struck: jax.Array
    """(N,) whether the fault changed this sample."""


def distort(
    fault: SensorFault,
    since: jax.Array,
    values: jax.Array,
    valid: jax.Array,
    last_values: jax.Array,
    last_valid: jax.Array,
    t: jax.Array,
    draws: jax.Array,
) -> Distorted:
    """Apply a fault to a sample (D, N); `draws` (D + 1, N) are standard normal numbers.

    dropout: no sample. freeze: the last sample once more, lost or not; the first of a run has
    none before it and passes. stuck, bias, drift, spikes, noise: on the chosen numbers. delay:
    the sample arrives later. loss_of_lock: no sample (all its numbers are 0); the sensor then finds
    its lock again.

    Faults of one sensor are applied in the order of `ORDER`: what repeats the last sample must
    come after what adds to a sample, or the sum would grow from sample to sample.
    """
    active = jnp.isfinite(since)
    on_time = jnp.zeros_like(since)
    kind = fault.kind
    if kind == "freeze":
        active = active & (t > 0.0)
        frozen = jnp.where(fault.chosen & active, last_values, values)
        whole = active & jnp.all(fault.chosen)
        return Distorted(frozen, jnp.where(whole, last_valid, valid), on_time, active)
    if kind == "loss_of_lock":
        return Distorted(jnp.where(active, 0.0, values), valid & ~active, on_time, active)
    if kind in ("dropout", "spikes"):
        active = active & (uniform(draws[0]) < _given(fault.probability))
    if kind == "dropout":
        return Distorted(values, valid & ~active, on_time, active)
    value = _given(fault.value)
    if kind == "delay":
        return Distorted(values, valid, jnp.where(active, value, on_time), active)
    if kind == "stuck":
        changed = jnp.broadcast_to(value, values.shape)
    elif kind == "drift":
        elapsed = jnp.where(active, t - since, 0.0).astype(values.dtype)
        changed = values + value * elapsed
    elif kind == "spikes":
        changed = values + value * jnp.where(draws[1:] < 0.0, -1.0, 1.0)
    elif kind == "noise":
        changed = values + value * draws[1:]
    else:
        changed = values + value
    return Distorted(jnp.where(fault.chosen & active, changed, values), valid, on_time, active)
