"""The motion of a place on the vehicle as it is: what a dataset tells beside its sensors."""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.sensors.inertial import kinematics
from seatrial.sensors.look import Look
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.rotations import multiply
from seatrial.spatial.vectors import vec3

COMPONENTS = (
    *("north", "east", "down"),
    *(f"orientation_{part}" for part in "wxyz"),
    *(f"velocity_{axis}" for axis in "xyz"),
    *(f"acceleration_{axis}" for axis in "xyz"),
    *(f"angular_velocity_{axis}" for axis in "xyz"),
)
"""Place (NED) and quaternion from the sensor's axes to the world's; then, in the sensor's axes,
velocity over ground, specific force and angular rate."""


@pytree
class GroundTruth:
    """Pose, velocity, specific force and rate of a sensor's place and axes, without any error."""

    mount: Mount
    turn: jax.Array
    """(4, 1) quaternion from the sensor's axes to the body's."""
    earth_rate: jax.Array | None = None
    """North, east, down, rad/s."""

    @property
    def draws(self) -> int:
        """None."""
        return 0

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing is remembered."""
        return draws

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """As `COMPONENTS` has it."""
        arm = self.mount.arm
        turning = None if self.earth_rate is None else vec3(self.earth_rate)
        values = jnp.stack(
            [
                *look.place(arm),
                *multiply(look.state.attitude, self.turn),
                *self.mount.to_sensor(look.velocity(arm)),
                *kinematics.specific_force(look, self.mount, turning),
                *kinematics.angular_rate(look, self.mount, turning),
            ]
        )
        return Reading(memory, values, jnp.ones(values.shape[1:], bool))
