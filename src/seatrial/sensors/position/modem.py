"""Acoustic modem: short messages between the vehicles of a run, and what becomes of them.

Within a cycle every modem sends one packet, in its own slot, that tells who sends it and where that
is. At a receiver the signal stands out of the noise by

    SNR = SL − 20 log₁₀ r − α r − NL − 10 log₁₀ B                            (Urick 1983, section 2)

with the source level SL, the absorption α, the spectrum level NL of the noise and the bandwidth B.
Each of the n bits of the packet is lost with the probability of non-coherent frequency shift
keying, ½ exp(−γ / 2), γ the SNR as a ratio (Proakis 2001, section 5.4), so the packet is with the
probability 1 − (1 − ½ exp(−γ / 2))ⁿ. A packet is heard from its slot plus the travel time r / c̄ on,
for as long as it lasts. Two that are heard at once destroy each other, and who is sending hears
nothing.

A sample is what was received within the cycle that ends with it.
"""

import jax
import jax.numpy as jnp

from seatrial.core.types import Traffic
from seatrial.ocean.curves import Curve, evaluate
from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.position.sound import mean_slowness
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.spatial.gradients import root

PACKET = ("identity", "travel_time", "snr", "north", "east", "down")
"""Numbers of one packet."""


@pytree
class Device:
    """What keeps packets from being heard."""

    level: jax.Array
    """SL − NL − 10 log₁₀ B, dB."""
    absorption: Curve
    """Over depth, dB/m."""
    travel: Curve
    """Time of sound from the surface over depth, s."""
    bits: jax.Array
    """Of a packet."""
    duration: jax.Array
    """Of a packet, s."""
    place_noise: jax.Array
    """Of the place that a vehicle tells of itself, each axis, m."""


@pytree
class Modem:
    """A receiver, and everybody who sends."""

    mount: Mount
    senders: jax.Array
    """(M,) numbers of the vehicles that have a modem, as in `Traffic.identity`."""
    slots: jax.Array
    """(M,) when each of them sends, s from the start of the cycle."""
    device: Device | None
    """None for one that hears everything."""

    @property
    def starting_draws(self) -> int:
        """None are needed."""
        return 0

    @property
    def draws(self) -> int:
        """For every sender: whether its packet is lost, and the place that it tells."""
        return 0 if self.device is None else 4 * len(self.senders)

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing to remember."""
        return draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Packets of all senders, one after the other; zeros where one was not received."""
        traffic: Traffic = look.traffic
        own = look.place(self.mount.arm)
        there = traffic.position[:, self.senders - 1][:, :, None]  # (3, M, 1)
        away = there - jnp.stack([jnp.asarray(part) for part in own])[:, None]
        far = jnp.maximum(root(jnp.sum(away * away, axis=0)), 1.0)
        other = self.senders[:, None] != traffic.identity[traffic.own]
        told = jnp.broadcast_to(there, away.shape)
        if self.device is None:
            travel, snr, heard = jnp.zeros_like(far), jnp.zeros_like(far), other
            valid = jnp.ones(far.shape[1:], bool)
        else:
            device = self.device
            lost, *noise = jnp.split(draws, 4)
            travel = far * mean_slowness(device.travel, own[2], there[2])
            depth = 0.5 * (own[2] + there[2])
            snr = device.level - 20.0 * jnp.log10(far) - evaluate(device.absorption, depth) * far
            heard = other & (uniform(lost) >= packet_error(snr, device.bits))
            heard &= ~_collides(self.slots, travel, other, device.duration)
            told = told + device.place_noise * jnp.stack(noise)
            valid = feel(look.ocean, own, look.t).submerged
            heard &= valid
        who = jnp.broadcast_to(self.senders[:, None], far.shape).astype(far.dtype)
        packets = jnp.where(heard, jnp.concatenate([jnp.stack([who, travel, snr]), told]), 0.0)
        values = packets.swapaxes(0, 1)
        return Reading(memory, values.reshape(-1, values.shape[-1]), valid)


def packet_error(snr: jax.Array, bits: jax.Array) -> jax.Array:
    """Probability that a packet is lost at an SNR in dB."""
    ratio = 10.0 ** (0.1 * snr)
    return -jnp.expm1(bits * jnp.log1p(-0.5 * jnp.exp(-0.5 * ratio)))


def _collides(
    slots: jax.Array, travel: jax.Array, other: jax.Array, duration: jax.Array
) -> jax.Array:
    """(M, N) whether a packet is heard together with another, or while the receiver sends.

    Its own packet counts as one that arrives at once.
    """
    begins = slots[:, None] + jnp.where(other, travel, 0.0)
    near = jnp.abs(begins[:, None] - begins[None]) < duration
    itself = jnp.eye(len(slots), dtype=bool)[:, :, None]
    return jnp.any(near & ~itself, axis=1)
