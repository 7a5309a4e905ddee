"""Motions known in closed form or from a run, and what an ideal inertial sensor makes of them.

Call inside `jax.enable_x64(True)`. Time is the last axis of a Look and the first one of samples.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from seatrial.core.types import State
from seatrial.gnc.navigation.strapdown import Navigated
from seatrial.sensors.inertial.kinematics import angular_rate, specific_force
from seatrial.sensors.look import Look
from seatrial.sensors.sensor import Mount
from seatrial.spatial.rotations import from_euler, multiply

ODD = Rotation.from_euler("ZYX", [2.1, -0.4, 0.7])
ARM = np.array([0.3, -0.2, np.sqrt(0.25 - 0.13)])
"""Half a metre off the origin."""


def mount(arm=ARM, turned=ODD):
    """A sensor at `arm` whose axes are `turned` from the body's."""
    return Mount(jnp.asarray(arm, jnp.float64), jnp.asarray(turned.as_matrix().ravel()))


def matrix(roll, pitch, yaw):
    """Body to world as Rz(ψ) Ry(θ) Rx(φ), differentiable."""
    cr, sr, cp, sp = jnp.cos(roll), jnp.sin(roll), jnp.cos(pitch), jnp.sin(pitch)
    cy, sy = jnp.cos(yaw), jnp.sin(yaw)
    rz = jnp.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    ry = jnp.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    rx = jnp.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    return rz @ ry @ rx


def rate_of(function, t):
    """Time derivative at t."""
    return jax.jvp(function, (t,), (jnp.ones_like(t),))[1]


class Motion:
    """A body on a path in closed form: position and Euler angles as functions of time."""

    def __init__(self, position, angles):
        self.position = lambda t: jnp.stack([jnp.asarray(c, t.dtype) for c in position(t)])
        self.angles = lambda t: [jnp.asarray(a, t.dtype) for a in angles(t)]

    def rotation(self, t):
        return matrix(*self.angles(t))

    def velocity(self, t):
        """ν from the definitions: v = Rᵀ ṗ and S(ω) = Rᵀ Ṙ."""
        spin = self.rotation(t).T @ rate_of(self.rotation, t)
        linear = self.rotation(t).T @ rate_of(self.position, t)
        return jnp.concatenate([linear, jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]])])

    def look(self, times):
        """What a sensor sees at `times`."""

        def instant(t):
            state = State(
                self.position(t), from_euler(*self.angles(t)), self.velocity(t), jnp.zeros(0)
            )
            return state, rate_of(self.velocity, t)

        return look(*jax.jit(jax.vmap(instant, out_axes=-1))(jnp.asarray(times)))


def look(states, accelerations):
    """A Look at a whole trajectory, time on the last axis."""
    return Look(None, None, states, jnp.float64(0.0), accelerations)


def feel(seen, fixed, earth_rate=None):
    """Samples (S, 6) of an ideal sensor."""
    force = specific_force(seen, fixed, earth_rate)
    return jnp.stack([*force, *angular_rate(seen, fixed, earth_rate)], axis=-1)


def quaternion(fixed):
    """From sensor to body axes, scalar first."""
    turned = Rotation.from_matrix(np.asarray(fixed.matrix).reshape(3, 3))
    return turned.as_quat(scalar_first=True)


def truth(seen, fixed, axes):
    """How the sensor really moves, time first; `axes` is its quaternion."""
    attitude = multiply(
        seen.state.attitude, jnp.broadcast_to(axes[:, None], seen.state.attitude.shape)
    )
    velocity = seen.rotation.to_world(seen.velocity(fixed.arm))
    return Navigated(
        jnp.stack(seen.place(fixed.arm), -1), jnp.stack(velocity, -1), jnp.moveaxis(attitude, 0, -1)
    )


def spinning_helix():
    """A body that tumbles while it spirals down: everything changes, everything is smooth."""
    return Motion(
        lambda t: (8 * jnp.cos(0.25 * t), 8 * jnp.sin(0.25 * t), 0.1 * t + 0.3 * jnp.sin(0.9 * t)),
        lambda t: (0.5 * jnp.sin(1.3 * t), 0.4 * jnp.sin(0.7 * t + 1), 1.5 * t),
    )
