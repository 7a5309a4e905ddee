"""Ultra-short baseline: distance and direction of a transponder, by sound that comes back.

The time 2 r / c̄ gives the distance (`sound`), the phases at an array of small hydrophones the
direction. The direction u in the sensor's axes errs by a small angle in each of the two axes across
it, u + σ (n₁ e₁ + n₂ e₂), so that neither bearing nor elevation has a noise of its own. An answer
that was taken for the direct one but came off the surface seems to come from the mirror image of
the transponder above it, and by that longer way. The sample is there when the answer has come.
"""

import jax
import jax.numpy as jnp

from seatrial.ocean.curves import Curve
from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.position.sound import mean_slowness
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.vectors import Vec3, across, add, safe_norm, scale, subtract, vec3


@pytree
class Failures:
    """What goes wrong with answers."""

    dropout: jax.Array
    """Probability that one is not heard."""
    outlier: jax.Array
    """Probability that it came off the surface."""


@pytree
class Device:
    """What keeps a real device from the truth."""

    maximum_range: jax.Array
    deviation: jax.Array
    """(6,) of the distance (m), of the two angles (rad), and of the place as it is told (m)."""
    travel: Curve
    """Time of sound from the surface over depth, s."""
    failures: Failures | None
    sound_speed: jax.Array | None
    """That the device assumes, m/s."""


@pytree
class Usbl:
    """A transceiver."""

    mount: Mount
    place: jax.Array | None
    """(3,) of a fixed transponder, NED, m."""
    number: jax.Array | None
    """Of the vehicle that carries it, from 1 on as in `Traffic.identity`."""
    device: Device | None
    """None for one that knows everything."""

    @property
    def starting_draws(self) -> int:
        """None are needed."""
        return 0

    @property
    def draws(self) -> int:
        """Distance, two angles, three of the place; whether it is heard, and off the surface."""
        if self.device is None:
            return 0
        return 6 if self.device.failures is None else 8

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing to remember."""
        return draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Distance, bearing, elevation, and the place of the transponder, NED."""
        own = look.place(self.mount.arm)
        shape = jnp.shape(look.state.position[0])
        if self.place is not None:
            target = vec3(self.place)
        else:
            assert self.number is not None
            position = look.traffic.position
            target = vec3(jnp.take(position, self.number - 1, axis=1))
        told = jnp.stack([jnp.broadcast_to(part, shape) for part in target])
        if self.device is None:
            way = self._way(look, own, target)
            return Reading(memory, _values(way, told), jnp.ones(shape, bool))
        device, n = self.device, draws
        heard = jnp.ones(shape, bool)
        if device.failures is not None:
            mirrored = uniform(n[7]) < device.failures.outlier
            down = jnp.where(mirrored, -jnp.abs(jnp.asarray(target[2])), target[2])
            target = (target[0], target[1], down)
            heard &= uniform(n[6]) >= device.failures.dropout
        way = self._way(look, own, target)
        distance = jnp.asarray(safe_norm(way))
        heard &= (distance <= device.maximum_range) & feel(look.ocean, own, look.t).submerged
        slowness = mean_slowness(device.travel, own[2], jnp.abs(target[2]))
        time = 2.0 * distance * slowness
        ahead = scale(1.0 / distance, way)
        first, second = across(ahead)
        aside = add(
            scale(device.deviation[1] * n[1], first), scale(device.deviation[2] * n[2], second)
        )
        turned = add(ahead, aside)
        if device.sound_speed is not None:
            distance = distance * slowness * device.sound_speed
        distance = jnp.maximum(distance + device.deviation[0] * n[0], 0.0)
        seen = scale(distance / safe_norm(turned), turned)
        told = told + device.deviation[3:6, None] * n[3:6]
        values = jnp.where(heard, _values(seen, told), 0.0)
        return Reading(memory, values, heard, jnp.where(heard, time, 0.0))

    def _way(self, look: Look, own: Vec3, target: Vec3) -> Vec3:
        """From the sensor to a place, sensor axes."""
        return self.mount.to_sensor(look.rotation.to_body(subtract(target, own)))


def _values(way: Vec3, told: jax.Array) -> jax.Array:
    x, y, z = (jnp.asarray(part) for part in way)
    level = root(x * x + y * y)
    rows = jnp.stack([root(level * level + z * z), bearing(y, x), bearing(z, level)])
    return jnp.concatenate([rows, told])
