"""What faults do to the samples of a sensor."""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from seatrial.pytree import batched, pytree, static
from seatrial.sensors.noise.draws import uniform

ORDER = ("loss_of_lock", "bias", "drift", "spikes", "noise", "stuck", "freeze", "dropout", "delay")
"""Order in which the faults of one sensor are applied."""


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
    """Row in `FaultState.since`."""
    kind: str = static()


class LosesLock(Protocol):
    """A sensor that follows satellites, an echo or anchors, and can lose them."""

    def lose_lock(self, memory: jax.Array, lost: jax.Array, t: jax.Array) -> jax.Array:
        """Memory of a sensor that has just lost its lock where `lost` (N,) says so."""


class Distorted(NamedTuple):
    """A sample as a fault leaves it."""

    values: jax.Array
    valid: jax.Array
    delay: jax.Array
    """(N,) additional, s."""
    active: jax.Array
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


def _given(value: jax.Array | None) -> jax.Array:
    """A number that this kind of fault always has."""
    assert value is not None
    return value
