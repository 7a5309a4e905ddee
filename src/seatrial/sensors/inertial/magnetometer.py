"""Magnetometer: the Earth's field in the sensor's axes, bent by the iron around it.

    measured = S R_sw B + h + noise

with B = F [cos I cos D, cos I sin D, sin I] (NED) of strength F, inclination I and declination D,
R_sw from world to sensor axes, S the soft-iron matrix and h the hard-iron offset (Gebre-Egziabher
and others 2006).
"""

import math

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.processes import quantise, saturate
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.vectors import vec3

DIPOLE_EQUATOR = 3.0e-5
"""Field of the Earth's dipole at its equator, T."""


def dipole(latitude: float) -> tuple[float, float]:
    """Inclination (rad) and strength (T) of an axial dipole field at a latitude (rad).

    tan I = 2 tan λ,  F = B₀ √(1 + 3 sin² λ). Lowrie (2007), Fundamentals of Geophysics, chapter 5.
    The real field differs from it by tens of per cent and of degrees; describe it where that
    matters.
    """
    sine, cosine = math.sin(latitude), math.cos(latitude)
    return math.atan2(2.0 * sine, cosine), DIPOLE_EQUATOR * math.sqrt(1.0 + 3.0 * sine * sine)


@pytree
class Iron:
    """Disturbances that turn with the sensor."""

    hard: jax.Array
    """(3,) T."""
    soft: jax.Array
    """(3, 3)."""


@pytree
class Magnetometer:
    """A three-axis magnetometer."""

    mount: Mount
    field: jax.Array
    """(3,) NED, T."""
    white: jax.Array | None = None
    """Standard deviation of each axis, T."""
    iron: Iron | None = None
    limit: jax.Array | None = None
    """T."""
    resolution: jax.Array | None = None
    """T."""

    @property
    def starting_draws(self) -> int:
        """None are needed."""
        return 0

    @property
    def draws(self) -> int:
        """Noise of each axis."""
        return 0 if self.white is None else 3

    def begin(self, draws: jax.Array) -> jax.Array:
        """A magnetometer remembers nothing."""
        return draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """The field in sensor axes."""
        values = jnp.stack(self.mount.to_sensor(look.rotation.to_body(vec3(self.field))))
        if self.iron is not None:
            values = jnp.tensordot(self.iron.soft, values, axes=1) + self.iron.hard[:, None]
        if self.white is not None:
            values = values + self.white * draws
        if self.limit is not None:
            values = saturate(values, self.limit)
        if self.resolution is not None:
            values = quantise(values, self.resolution)
        return Reading(memory, values, jnp.ones(values.shape[1:], bool))
