"""Radar with automatic plotting: range and bearing of the vessels around, their course and speed.

Whether a vessel is seen in a sweep follows from the radar equation: the signal goes with the echo
area over the fourth power of the range, and an echo that fluctuates from sweep to sweep (Swerling's
case 1) is detected with the probability

    P_d = P_fa^(1 / (1 + S)),   S = S₅₀ (L / L₀)² (R₀ / R)⁴

(Skolnik 2008, section 2.8). The echo area of a hull goes with the square of its length L; R₀ is the
range at which one of length L₀ is seen in half of all sweeps, which fixes S₅₀. A tracker behind it
keeps the plots of one vessel apart from those of others and tells her course, speed and size.
"""

import math

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.sensors.contacts.nearest import nearest
from seatrial.sensors.look import Look
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.position.radio import above_water
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.trig import wrap_signed

PLOT = ("identity", "range", "bearing", "course", "speed", "length")
"""Numbers of one contact; the bearing is that from the sensor's x axis."""
FALSE_ALARM = 1e-6
"""P_fa of one resolution cell, the usual design value."""
HALF_SEEN = math.log(FALSE_ALARM) / math.log(0.5) - 1.0
"""S₅₀: the signal to noise with which P_d is a half."""


@pytree
class Errors:
    """Of the plots, and when a vessel is seen."""

    deviation: jax.Array
    """(5,) standard deviations of range, bearing, course, speed and length, m, rad and m/s."""
    half_range: jax.Array
    """R₀, m."""
    half_length: jax.Array
    """L₀, m."""
    margin: jax.Array
    """Least height of the antenna above the surface, m."""


@pytree
class Radar:
    """A radar; its x axis is the zero of bearings, its blind sector lies astern of it."""

    mount: Mount
    reach: jax.Array
    """m."""
    least_range: jax.Array
    """Within which echoes are lost in the transmitter's own pulse, m."""
    blind: jax.Array
    """Half of the blind sector about the direction astern, rad."""
    errors: Errors | None
    """None for one that sees the truth."""
    room: int = static()
    """Contacts in a measurement."""

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    @property
    def draws(self) -> int:
        """For every contact: range, bearing, course, speed, length, and whether it is seen."""
        return 0 if self.errors is None else 6 * self.room

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing to remember."""
        return draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Plots of the nearest, one after the other."""
        antenna = look.place(self.mount.arm)
        found = nearest(look, antenna, self.reach, self.room)
        ahead = look.rotation.to_world(self.mount.to_body((1.0, 0.0, 0.0)))
        azimuth = bearing(found.place[1] - antenna[1], found.place[0] - antenna[0])
        from_bow = wrap_signed(azimuth - bearing(jnp.asarray(ahead[1]), jnp.asarray(ahead[0])))
        astern = jnp.abs(wrap_signed(from_bow + math.pi))
        seen = (found.identity > 0) & (found.range >= self.least_range) & (astern >= self.blind)
        course = bearing(found.velocity[1], found.velocity[0])
        speed = root(jnp.sum(found.velocity**2, axis=0))
        plot = jnp.stack([found.range, from_bow, course, speed, found.length])
        valid = jnp.ones(found.range.shape[-1:], bool)
        if self.errors is not None:
            e = self.errors
            noise = draws.reshape(6, self.room, -1)
            chance = detection(found.range, found.length, e.half_range, e.half_length)
            seen = seen & (uniform(noise[5]) < chance)
            plot = plot + e.deviation[:, None, None] * noise[:5]
            sizes = jnp.array([0, 3, 4])
            plot = plot.at[sizes].set(jnp.maximum(plot[sizes], 0.0))
            valid = above_water(look, antenna, e.margin)
        plot = plot.at[1].set(wrap_signed(plot[1])).at[2].set(jnp.mod(plot[2], 2.0 * math.pi))
        plot = jnp.concatenate([found.identity[None].astype(plot.dtype), plot])
        values = jnp.where(seen & valid, plot, 0.0).swapaxes(0, 1)
        return Reading(memory, values.reshape(-1, values.shape[-1]), valid)


def detection(
    range: jax.Array, length: jax.Array, half_range: jax.Array, half_length: jax.Array
) -> jax.Array:
    """P_d of vessels of some length at some range, both m."""
    near = half_range / jnp.maximum(range, 1e-3)
    signal = HALF_SEEN * (length / half_length) ** 2 * near**4
    return jnp.exp(math.log(FALSE_ALARM) / (1.0 + signal))
