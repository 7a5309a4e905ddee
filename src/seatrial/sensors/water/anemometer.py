"""Apparent wind: the motion of the air past the sensor."""

import jax
import jax.numpy as jnp

from seatrial.ocean import wind
from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.processes import quantise
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import Vec3, subtract


@pytree
class Noise:
    """The random errors."""

    speed: jax.Array
    angle: jax.Array


@pytree
class Flaws:
    """The systematic errors."""

    scale: jax.Array
    """Standard deviation of the scale error between units."""
    starting_speed: jax.Array
    range: jax.Array
    speed_resolution: jax.Array | None
    angle_resolution: jax.Array | None


@pytree
class Anemometer:
    """Speed and angle of the wind in the sensor's x–y plane."""

    mount: Mount
    noise: Noise | None
    """None for the exact sensor."""
    flaws: Flaws | None

    @property
    def draws(self) -> int:
        """Noise of speed and angle."""
        return 0 if self.noise is None else 2

    @property
    def starting_draws(self) -> int:
        """The scale error."""
        return 0 if self.flaws is None else 1

    def begin(self, draws: jax.Array) -> jax.Array:
        """The unit's own scale error, and the last angle, which begins at the bow."""
        if self.flaws is None:
            return jnp.zeros((0, draws.shape[-1]), draws.dtype)
        return jnp.stack([self.flaws.scale * draws[0], jnp.zeros_like(draws[0])])

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Speed (m/s), and angle from the sensor's x axis that the wind comes from (rad)."""
        arm = self.mount.arm
        place = look.place(arm)
        air: Vec3 = (0.0, 0.0, 0.0)
        if look.ocean.wind is not None:
            air = wind.sample(look.ocean.wind, place, look.t)
        past = self.mount.to_sensor(subtract(look.rotation.to_body(air), look.velocity(arm)))
        x, y = jnp.asarray(past[0]), jnp.asarray(past[1])
        speed = jnp.hypot(x, y)
        angle = jnp.where(speed > 0.0, jnp.arctan2(-y, -x), 0.0)
        if self.noise is None:
            return Reading(memory, jnp.stack([speed, angle]), jnp.ones(speed.shape, bool))
        moving = speed
        speed = speed + self.noise.speed * draws[0]
        angle = wrap_signed(angle + self.noise.angle * draws[1])
        if self.flaws is not None:
            f = self.flaws
            speed = speed + memory[0] * moving
            if f.speed_resolution is not None:
                speed = quantise(speed, f.speed_resolution)
            if f.angle_resolution is not None:
                angle = quantise(angle, f.angle_resolution)
            turning = moving >= f.starting_speed
            speed = jnp.where(turning, jnp.minimum(speed, f.range), 0.0)
            angle = jnp.where(turning, angle, memory[1])
            memory = jnp.stack([memory[0], angle]).astype(memory.dtype)
        values = jnp.stack([jnp.maximum(speed, 0.0), angle])
        return Reading(memory, values, ~feel(look.ocean, place, look.t).submerged)
