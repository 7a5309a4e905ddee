"""What a sensor can see at one instant."""

import jax

from seatrial.core.types import Model, State, Traffic
from seatrial.ocean import Ocean
from seatrial.spatial.rotations import Rotation, rotation
from seatrial.spatial.vectors import Vec3, add, cross, vec3


class Look:
    """The truth at one instant."""

    def __init__(
        self,
        model: Model,
        ocean: Ocean,
        state: State,
        t: jax.Array,
        rates: jax.Array | None = None,
        traffic: Traffic | None = None,
    ) -> None:
        self.model = model
        self.ocean = ocean
        self.state = state
        self.t = t
        """Time, s; double precision."""
        self._rates = rates
        self._traffic = traffic

    @property
    def rotation(self) -> Rotation:
        """Body to world. Not kept: sensors of different rates look from different branches of the
        compiled program, and what was computed in one must not be used in another."""
        return rotation(self.state.attitude)

    @property
    def acceleration(self) -> jax.Array:
        """ν̇, (6, N), which only inertial sensors are shown: they are asked after the step."""
        assert self._rates is not None
        return self._rates

    @property
    def traffic(self) -> Traffic:
        """Who else is about, as of the last control period; the engine gathers it where a sensor
        looks for others, and nowhere else."""
        assert self._traffic is not None
        return self._traffic

    @property
    def linear(self) -> Vec3:
        """Velocity of the origin over ground, body axes."""
        return vec3(self.state.velocity[:3])

    @property
    def angular(self) -> Vec3:
        """Angular velocity, body axes."""
        return vec3(self.state.velocity[3:])

    def place(self, arm: Vec3) -> Vec3:
        """Where a point of the body is, NED."""
        return add(vec3(self.state.position), self.rotation.to_world(arm))

    def velocity(self, arm: Vec3) -> Vec3:
        """Velocity over ground of a point of the body, body axes: v + ω × r."""
        return add(self.linear, cross(self.angular, arm))
