"""Conductivity, temperature and pressure, and what a device makes of them."""

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.ocean import water
from seatrial.ocean.curves import Curve, evaluate
from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.processes import quantise
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import (
    ATMOSPHERE,
    Column,
    feel,
    mackenzie,
    practical_salinity,
    water_pressure,
)


@pytree
class Ctd:
    """A CTD; the order of its three cells is conductivity, temperature, pressure."""

    mount: Mount
    column: Column
    conductivity: Curve
    """S/m over depth."""
    density: jax.Array
    """By which a measured pressure becomes the depth for the sound speed, kg/m³."""
    noise: jax.Array | None
    """(3,) standard deviations; None for the exact sensor."""
    share: jax.Array | None
    """Part of a change of temperature that the thermometer follows from sample to sample."""
    resolution: jax.Array | None
    """(3,) steps, 0 for none."""

    @property
    def draws(self) -> int:
        """Noise of the three cells."""
        return 0 if self.noise is None else 3

    @property
    def starting_draws(self) -> int:
        """None: nothing differs between units."""
        return 0

    def begin(self, draws: jax.Array) -> jax.Array:
        """Temperature of the thermometer, and 1 as soon as it has been in the water."""
        return jnp.zeros((0 if self.share is None else 2, draws.shape[-1]), draws.dtype)

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Conductivity (S/m), temperature (°C), pressure (Pa), salinity, sound speed (m/s)."""
        place = look.place(self.mount.arm)
        z = jnp.asarray(place[2])
        felt = feel(look.ocean, place, look.t)
        here = look.ocean.water
        celsius = jnp.broadcast_to(water.temperature(here, z), z.shape)
        salinity = jnp.broadcast_to(water.salinity(here, z), z.shape)
        sound = jnp.broadcast_to(water.sound_speed(here, z), z.shape)
        true = jnp.stack(
            [evaluate(self.conductivity, z), celsius, water_pressure(self.column, felt, z)]
        )
        cells = true
        if self.share is not None:
            begun = memory[1] > 0.0
            last = jnp.where(begun, memory[0], celsius)
            lagging = jnp.where(felt.submerged, last + self.share * (celsius - last), last)
            memory = jnp.stack([lagging, begun | felt.submerged]).astype(memory.dtype)
            cells = jnp.stack([true[0], lagging, true[2]])
        valid = jnp.ones(z.shape, bool)
        if self.noise is not None:
            valid = felt.submerged
            cells = cells + self.noise[:, None] * draws
            if self.resolution is not None:
                step = self.resolution[:, None]
                cells = jnp.where(step > 0.0, quantise(cells, jnp.where(step > 0, step, 1)), cells)
            # The device's formulas act on the errors only: without errors it gives the truth,
            # which comes from TEOS-10.
            made = practical_salinity(*cells)
            error = made - practical_salinity(*true)
            depth = true[2] / (self.density * GRAVITY), cells[2] / (self.density * GRAVITY)
            sound = sound + (
                mackenzie(cells[1], salinity + error, depth[1])
                - mackenzie(true[1], salinity, depth[0])
            )
            salinity = jnp.maximum(salinity + error, 0.0)
        values = jnp.stack([cells[0], cells[1], ATMOSPHERE + cells[2], salinity, sound])
        return Reading(memory, values, valid)
