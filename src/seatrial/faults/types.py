"""What may go wrong with the vehicles of a group, and what has.

Every fault of a vehicle has a row. `FaultState.since` tells for each row when the fault set in, and
is infinite while it is away: the truth that a detector is scored against. A fault is there while
its trigger says so, or while it is switched on from outside (`FaultState.forced`).
"""

from typing import NamedTuple

import jax

from seatrial.pytree import batched, pytree, static

MOST_FAULTS = 24
"""Faults of one vehicle; each is a bit of a sample's label, a number that a single-precision
swarm must still hold exactly."""


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
    """depth, altitude (over a map), time, roll, pitch, heading, speed, or command."""
    channel: int = static()
    """Of a command; −1 for other quantities."""
    above: bool = static()


Trigger = Windows | Condition | None
"""None: the fault comes only when it is switched on from outside."""


@pytree
class VehicleFault:
    """A fault of an actuator, of the hull or of the radio."""

    value: jax.Array | None
    """reduced: the share that is left; jam: where, or None; added_drag: C_D A in m²; ingress:
    (2,) kg/s and kg at most."""
    index: int = static()
    """Row in `FaultState.since`."""
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
    vehicle_faults: tuple[VehicleFault, ...]


class FaultState(NamedTuple):
    """What faults hand from one instant to the next."""

    since: jax.Array
    """(F, N) when a fault set in, s; infinite while it is away."""
    forced: jax.Array
    """(F, N) 1 while a fault is switched on from outside."""
    tripped: jax.Array
    """(F, N) when a condition held for the first time, s; infinite before."""
    orders: jax.Array
    """(A, N) last orders that the vehicle heard; not a number before the first."""
