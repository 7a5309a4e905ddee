"""AIS receiver: what vessels within radio range say of themselves.

A position report (ITU-R M.1371-5, message types 1 and 18) holds latitude and longitude in 1/10000
minute, speed over ground in 0.1 knot up to 102.2, course over ground in 0.1° and heading in 1°;
the dimensions of the vessel (types 5 and 24) are in metres. The errors are those of the other's own
receiver. All vessels report at the receiver's samples: the rate of the sensor is the reporting
rate of their class, 2 to 10 s for class A under way, 30 s for class B. A report that collides with
another is lost.
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

REPORT = ("identity", "north", "east", "course", "speed", "heading", "length", "beam")
"""Numbers of one contact."""
STEPS = (1852e-4, 1852e-4, math.radians(0.1), 0.1 * 1852.0 / 3600.0, math.radians(1.0))
"""Of latitude, longitude at the equator, course, speed and heading, in m, rad and m/s."""
FASTEST = 1022 * STEPS[3]
"""Highest speed that a report can hold, m/s."""


@pytree
class Errors:
    """Of what the others say: north, east, course, speed and heading, in m, rad and m/s."""

    deviation: jax.Array
    """(5,) standard deviations."""
    step: jax.Array
    """(5,) to which a report is rounded."""
    loss: jax.Array
    """Probability that a report is lost."""


@pytree
class Ais:
    """A receiver."""

    mount: Mount
    reach: jax.Array
    """m."""
    errors: Errors | None
    """None for one that hears the truth."""
    margin: jax.Array | None
    """Least height of the antenna above the surface, m; None where it does not matter."""
    room: int = static()
    """Contacts in a measurement."""

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    @property
    def draws(self) -> int:
        """For every contact: north, east, course, speed, heading, and whether it is lost."""
        return 0 if self.errors is None else 6 * self.room

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing to remember."""
        return draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Reports of the nearest, one after the other."""
        antenna = look.place(self.mount.arm)
        found = nearest(look, antenna, self.reach, self.room)
        speed = root(jnp.sum(found.velocity**2, axis=0))
        course = bearing(found.velocity[1], found.velocity[0])
        said = jnp.stack([*found.place, course, speed, found.heading])
        size = jnp.stack([found.length, found.beam])
        heard = found.identity > 0
        if self.errors is not None:
            noise = draws.reshape(6, self.room, -1)
            said = said + self.errors.deviation[:, None, None] * noise[:5]
            step = self.errors.step[:, None, None]
            said, size = jnp.round(said / step) * step, jnp.round(size)
            said = said.at[3].set(jnp.clip(said[3], 0.0, FASTEST))
            heard = heard & (uniform(noise[5]) >= self.errors.loss)
        said = said.at[jnp.array([2, 4])].set(jnp.mod(said[jnp.array([2, 4])], 2.0 * math.pi))
        report = jnp.concatenate([found.identity[None].astype(said.dtype), said, size])
        valid = jnp.ones(report.shape[-1:], bool)
        if self.margin is not None:
            valid = above_water(look, antenna, self.margin)
        values = jnp.where(heard & valid, report, 0.0).swapaxes(0, 1)
        return Reading(memory, values.reshape(-1, values.shape[-1]), valid)
