"""A controller of your own inside the compiled loop: sliding mode on heading, PI on speed.

Navigation and guidance are the vehicle's own; what they believe and ask for comes in, a wrench goes
to the vehicle's own allocation. `my_compiled_controller.yaml` names it, and
`seatrial run my_compiled_controller.yaml --allow-code` does the same as this, at the speed of the
autopilot that comes with seatrial.

The heading law is that of Healey and Lienard (1993) with a boundary layer: on the surface
s = ψ̃' + λ ψ̃ the error dies out with the time constant 1/λ, whatever pushes the boat.
"""

from pathlib import Path

import jax.numpy as jnp


class SlidingHelm:
    """Follows the course and the speed that guidance asks for."""

    def __init__(self):
        # Numbers among the attributes are arguments of the program: others need no other program.
        self.inertia = 42.0  # of the boat in yaw, with the water that it moves, kg m²
        self.lead = 0.6  # λ, 1/s
        self.reach = 30.0  # largest moment that is spent on reaching the surface, N m
        self.layer = 0.2  # thickness of the boundary layer, rad/s
        self.push, self.build = 120.0, 25.0  # N per m/s, and per m/s and second
        self.most = 100.0  # of the integral, N

    def init(self, vehicle):
        """The memory before the first step; here the integral of the speed error."""
        self.period = vehicle.control_period
        return {"integral": 0.0}

    def step(self, state, inputs):
        """The next memory, and orders by channel; JAX traces it once, before the run."""
        believed, asked = inputs.estimate, inputs.setpoint
        wanted = jnp.where(jnp.isfinite(asked.heading), asked.heading, asked.course)
        error = jnp.where(jnp.isfinite(wanted), believed.euler[2] - wanted, 0.0)
        error = jnp.arctan2(jnp.sin(error), jnp.cos(error))
        rate = believed.velocity[5]
        surface = rate + self.lead * error
        turn = -self.inertia * self.lead * rate - self.reach * jnp.tanh(surface / self.layer)

        slow = jnp.where(
            jnp.isfinite(asked.velocity[0]), asked.velocity[0] - believed.velocity[0], 0.0
        )
        integral = jnp.clip(
            state["integral"] + self.build * self.period * slow, -self.most, self.most
        )
        wrench = jnp.zeros(6).at[0].set(self.push * slow + integral).at[5].set(turn)
        return {"integral": integral}, inputs.allocate(wrench)


if __name__ == "__main__":
    import seatrial as st

    run = st.run(Path(__file__).with_suffix(".yaml"), allow_code=True)
    end = run.summary.vehicles["otter"]
    print(f"{run.status} at {run.real_time_factor:.0f} times real time: {end.indices}")
    assert run.status == "completed"
    assert end.indices["legs_reached"] == 4
    assert end.indices["cross_track_rms"] < 2.0
