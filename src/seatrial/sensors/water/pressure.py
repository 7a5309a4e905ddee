"""Pressure, and the depth that a device makes of it."""

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.processes import gauss_markov, quantise
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import ATMOSPHERE, Column, feel, water_pressure


@pytree
class Flaws:
    """The systematic errors."""

    offset: jax.Array
    """Standard deviation between units, Pa."""
    drift: jax.Array
    """Standard deviation of the wandering offset, Pa."""
    drift_time: jax.Array
    """Its correlation time, s."""
    period: jax.Array
    """From sample to sample, s."""
    resolution: jax.Array | None
    range: jax.Array


@pytree
class Pressure:
    """An absolute pressure sensor."""

    mount: Mount
    column: Column
    density: jax.Array
    """That the device turns pressure into depth with, kg/m³."""
    noise: jax.Array | None
    """None for the exact sensor, which gives the true depth."""
    flaws: Flaws | None

    @property
    def draws(self) -> int:
        """Noise and drift."""
        return 0 if self.noise is None else 1 if self.flaws is None else 2

    @property
    def starting_draws(self) -> int:
        """Offset and drift."""
        return 0 if self.flaws is None else 2

    def begin(self, draws: jax.Array) -> jax.Array:
        """Offset and drift, Pa; both 0 in a sensor without them."""
        if self.flaws is None:
            return jnp.zeros((2, draws.shape[-1]), draws.dtype)
        return jnp.stack([self.flaws.offset * draws[0], self.flaws.drift * draws[1]])

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Pressure (Pa, absolute) and depth (m)."""
        place = look.place(self.mount.arm)
        z = jnp.asarray(place[2])
        pressure = ATMOSPHERE + water_pressure(self.column, feel(look.ocean, place, look.t), z)
        always = jnp.ones(z.shape, bool)
        if self.noise is None:
            return Reading(memory, jnp.stack([pressure, z]), always)
        pressure = pressure + self.noise * draws[0]
        if self.flaws is not None:
            f = self.flaws
            drift = gauss_markov(memory[1], draws[1], f.period, f.drift_time, f.drift)
            memory = jnp.stack([memory[0], drift]).astype(memory.dtype)
            pressure = pressure + memory[0] + memory[1]
            if f.resolution is not None:
                pressure = quantise(pressure, f.resolution)
            pressure = jnp.clip(pressure, 0.0, f.range)
        depth = (pressure - ATMOSPHERE) / (self.density * GRAVITY)
        return Reading(memory, jnp.stack([pressure, depth]), always)
