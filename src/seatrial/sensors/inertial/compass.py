"""Compass: the heading of the sensor's x axis, projected on the horizontal.

    true heading = magnetic heading + declination
    magnetic heading = compass heading + δ,   δ = A + B sin ψ + C cos ψ + D sin 2ψ + E cos 2ψ

Declination and deviation δ are positive to the east, as on a chart and on a deviation card. ψ is
the magnetic heading; a card is drawn over the compass heading, which differs by the deviation
itself and so changes δ in second order only.
"""

import math

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.processes import quantise
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.trig import wrap

COEFFICIENTS = 5
"""Of a deviation."""


@pytree
class Compass:
    """A magnetic compass."""

    mount: Mount
    declination: jax.Array
    """rad."""
    correction: jax.Array
    """What the device adds for the declination, rad."""
    white: jax.Array | None = None
    """Standard deviation, rad."""
    deviation: jax.Array | None = None
    """(5,) A, B, C, D, E, rad."""
    residual: jax.Array | None = None
    """Standard deviation of each coefficient between units, rad."""
    resolution: jax.Array | None = None
    """rad."""

    @property
    def starting_draws(self) -> int:
        """Coefficients of the unit's own deviation."""
        return 0 if self.residual is None else COEFFICIENTS

    @property
    def draws(self) -> int:
        """Noise."""
        return 0 if self.white is None else 1

    def begin(self, draws: jax.Array) -> jax.Array:
        """The unit's own deviation."""
        return draws[:0] if self.residual is None else self.residual * draws

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Heading from 0 to 2π."""
        north, east, _ = look.rotation.to_world(self.mount.to_body((1.0, 0.0, 0.0)))
        magnetic = jnp.arctan2(east, north) - self.declination
        heading = magnetic
        if self.deviation is not None:
            heading = heading - deviation(self.deviation, magnetic)
        if self.residual is not None:
            heading = heading - deviation(memory, magnetic)
        heading = heading + self.correction
        if self.white is not None:
            heading = heading + self.white * draws[0]
        if self.resolution is not None:
            heading = quantise(heading, self.resolution)
        heading = wrap(heading)
        # A hair below north wraps to 2π by rounding.
        heading = jnp.where(heading < 2.0 * math.pi, heading, 0.0)
        return Reading(memory, heading[None], jnp.ones(heading.shape, bool))


def deviation(coefficients: jax.Array, heading: jax.Array) -> jax.Array:
    """A + B sin ψ + C cos ψ + D sin 2ψ + E cos 2ψ."""
    a, b, c, d, e = (coefficients[i] for i in range(5))
    once, twice = heading, 2.0 * heading
    return a + b * jnp.sin(once) + c * jnp.cos(once) + d * jnp.sin(twice) + e * jnp.cos(twice)
