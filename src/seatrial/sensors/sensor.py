"""What every sensor is: a mounting, a measurement, a memory."""

from typing import NamedTuple, Protocol

import jax

from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Vec3, vec3


@pytree
class Mount:
    """Where a sensor sits on the vehicle, and how it is turned."""

    position: jax.Array
    """(3,) in the body frame, m."""
    matrix: jax.Array
    """(9,) rotation from the sensor's axes to the body's, row by row."""

    @property
    def arm(self) -> Vec3:
        """From the vehicle's origin to the sensor, body axes."""
        return vec3(self.position)

    @property
    def rotation(self) -> Rotation:
        """From the sensor's axes to the body's: `to_world` reads sensor to body."""
        return Rotation(*(self.matrix[i] for i in range(9)))

    def to_sensor(self, v: Vec3) -> Vec3:
        """A vector of the body frame seen from the sensor."""
        return self.rotation.to_body(v)

    def to_body(self, v: Vec3) -> Vec3:
        """A vector of the sensor's axes seen from the body."""
        return self.rotation.to_world(v)


class Reading(NamedTuple):
    """What a sensor answers."""

    memory: jax.Array
    """(M, N) for its next sample."""
    values: jax.Array
    """(D, N) SI units."""
    valid: jax.Array
    """(N,) False where it has nothing to say: no fix, no lock."""
    delay: jax.Array | None = None
    """(N,) of this sample beside the sensor's latency, s: sound that was on its way."""


class Sensor(Protocol):
    """A sensor is a pytree with these two functions; errors that it has not are None in it."""

    @property
    def draws(self) -> int:
        """Standard normal numbers that one sample uses per vehicle."""

    @property
    def starting_draws(self) -> int:
        """Standard normal numbers that `begin` uses per vehicle."""

    def begin(self, draws: jax.Array) -> jax.Array:
        """Memory (M, N) before the first sample; `draws` is (starting_draws, N)."""

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """One sample; `draws` is (draws, N)."""
