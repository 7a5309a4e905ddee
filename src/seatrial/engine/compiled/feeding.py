"""What batteries feed: a thruster whose batteries are all empty has no power."""

import jax
import jax.numpy as jnp

from seatrial.engine.compiled.suite import Fitted, Sensing
from seatrial.sensors.machinery.battery import Battery


def fed(suite: tuple[Fitted, ...], sensing: tuple[Sensing, ...], orders: jax.Array) -> jax.Array:
    """What the actuators are told (A, N): zero where there is no power, as by the fault
    `power_loss`, so that what turns goes round until it has slowed down."""
    empty: dict[int, jax.Array] = {}
    for fitted, sensed in zip(suite, sensing, strict=True):
        if isinstance(fitted.sensor, Battery):
            spent = fitted.sensor.empty(sensed.memory)
            for load in fitted.sensor.loads:
                before = empty.get(load.channel)
                empty[load.channel] = spent if before is None else before & spent
    for channel, spent in empty.items():
        orders = orders.at[channel].set(jnp.where(spent, 0.0, orders[channel]))
    return orders
