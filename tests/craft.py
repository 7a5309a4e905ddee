"""Small bodies with known physics, and short ways to evaluate and run them.

Everything here enters double precision by itself and hands back NumPy arrays.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.environment import surroundings
from seatrial.core.step import derivative, step
from seatrial.core.step import wrench as total_wrench
from seatrial.core.types import State
from seatrial.spatial.rotations import from_euler
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

RHO = 1025.0
G = 9.80665

DOF = "uvwpqr"
FORCES = "XYZKMN"


def vehicle(**parts):
    """A vehicle description with the given parts; the rest is a plain neutral 1 m body."""
    described = {
        "kind": "vehicle",
        "name": "body",
        "source": "made up",
        "length": 1.0,
        "beam": 0.5,
        "height": 0.5,
        "stable": False,
        "inertia": {"mass": RHO * 0.1, "moments": [4.0, 6.0, 7.0]},
        "buoyancy": {"craft": "submerged", "volume": 0.1},
    }
    return Vehicle.model_validate(described | parts)


def added(*diagonal):
    """Acceleration coefficients of a diagonal added mass."""
    return {f"{f}_{v}d": -a for f, v, a in zip(FORCES, DOF, diagonal, strict=True) if a}


def sphere(radius=0.3, mass=None, coefficients=None, **parts):
    """A submerged sphere with the added mass of potential theory, ½ρ∇."""
    volume = 4.0 / 3.0 * math.pi * radius**3
    mass = RHO * volume if mass is None else mass
    half = 0.5 * RHO * volume
    return vehicle(
        length=2 * radius,
        beam=2 * radius,
        height=2 * radius,
        inertia={"mass": mass, "moments": [0.4 * mass * radius**2] * 3},
        buoyancy={"craft": "submerged", "volume": volume},
        hydrodynamics={"coefficients": added(half, half, half, 0, 0, 0) | (coefficients or {})},
        **parts,
    )


def torpedo(coefficients=None, actuators=(), **hydrodynamics):
    """A streamlined neutral body: added mass, linear and quadratic damping, CG below CB."""
    given = added(2.0, 60.0, 60.0, 0.1, 9.0, 9.0) | {
        "X_u": -2.0,
        "X_u_au": -4.0,
        "Y_v": -30.0,
        "Y_v_av": -90.0,
        "Y_r": 8.0,
        "Z_w": -30.0,
        "Z_w_aw": -90.0,
        "K_p": -2.0,
        "M_q": -20.0,
        "M_w": 5.0,
        "N_r": -20.0,
        "N_v": -5.0,
        "N_r_ar": -12.0,
    }
    return vehicle(
        length=2.0,
        beam=0.25,
        height=0.25,
        stable=True,
        inertia={
            "mass": RHO * 0.07,
            "centre_of_gravity": [0.05, 0.0, 0.03],
            "moments": [0.8, 20.0, 20.0],
        },
        buoyancy={"craft": "submerged", "volume": 0.07, "centre": [0.05, 0.0, 0.0]},
        hydrodynamics={"coefficients": given if coefficients is None else coefficients}
        | hydrodynamics,
        actuators=actuators,
    )


def barge(
    length=4.0,
    beam=2.0,
    draught=0.5,
    shape="box",
    gravity_depth=0.0,
    coefficients=None,
    at=(0.0, 0.0),
    gravity_x=None,
    **parts,
):
    """A floating prism, origin on the waterline; its mass is what it displaces."""
    area = length * beam * (math.pi / 4 if shape == "ellipse" else 1.0)
    mass = RHO * area * draught
    return vehicle(
        **{
            "length": length,
            "beam": beam,
            "height": 2.5 * draught,
            "inertia": {
                "mass": mass,
                "centre_of_gravity": [at[0] if gravity_x is None else gravity_x, 0, gravity_depth],
                "gyration": [0.35 * beam, 0.26 * length, 0.27 * length],
            },
            "buoyancy": {
                "craft": "surface",
                "blocks": [
                    {
                        "shape": shape,
                        "length": length,
                        "beam": beam,
                        "draught": draught,
                        "at": list(at),
                    }
                ],
            },
            "hydrodynamics": {"coefficients": coefficients or {}},
        }
        | parts
    )


def ocean_of(precision=np.float64, seed=1, **parts):
    """The ocean of a world with the given parts."""
    with jax.enable_x64(True):
        world = World.model_validate({"kind": "world", "name": "test"} | parts)
        return build_ocean(world, seed, np.dtype(precision))


@functools.cache
def calm():
    """Still, deep water of constant density."""
    return ocean_of()


def compiled(described, ocean=None, precision=np.float64, integrator="rk4"):
    """Model of a description in an ocean."""
    with jax.enable_x64(True):
        return compile_vehicle(described, ocean or calm(), np.dtype(precision), integrator).model


def state(model, position=(0, 0, 0), euler=(0, 0, 0), velocity=(0,) * 6, actuators=()):
    """One vehicle; every entry may also be an array over the batch, components first."""
    with jax.enable_x64(True):
        kind = model.inertia.mass.dtype
        attitude = from_euler(*(jnp.asarray(a, jnp.float64) for a in euler))
        size = 1 + max([-1, *(i for a in model.actuators for i in (a.channel, _servo(a)))])
        inner = jnp.zeros((size, *np.shape(np.asarray(velocity))[1:]))
        if len(actuators):
            given = jnp.asarray(actuators, jnp.float64)
            inner = inner.at[: given.shape[0]].set(given)
        return State(
            jnp.asarray(position, kind),
            attitude.astype(kind),
            jnp.asarray(velocity, kind),
            inner.astype(kind),
        )


def _servo(actuator):
    return max(getattr(actuator, "servo", -1), getattr(actuator, "azimuth_channel", -1))


_derivative = jax.jit(derivative)


@jax.jit
def _wrench(model, ocean, at, t):
    shape = at.velocity.shape[1:]
    around = surroundings(model, ocean, at, t)
    load = total_wrench(model, ocean, at, around, t)
    return jnp.stack([jnp.broadcast_to(jnp.asarray(c), shape) for c in load]), around.wet


def acceleration(model, ocean, at, t=0.0):
    """ν̇ as a NumPy array."""
    with jax.enable_x64(True):
        return np.array(_derivative(model, ocean, at, jnp.float64(t)).velocity)


def wrench(model, ocean, at, t=0.0):
    """Sum of all loads, (6, ...); the Coriolis forces are among them."""
    with jax.enable_x64(True):
        return np.array(_wrench(model, ocean, at, jnp.float64(t))[0])


def wet(model, ocean, at, t=0.0):
    """Wet share of the hull."""
    with jax.enable_x64(True):
        return np.array(_wrench(model, ocean, at, jnp.float64(t))[1])


@functools.partial(jax.jit, static_argnames=("frames",))
def rollout(model, ocean, first, command, dt, start, frames, every):
    """States after every `every` steps, as one scan; only `frames` shapes the program."""

    def one(k, at):
        return step(model, ocean, at, command, start + k * dt, dt)

    def frame(at, n):
        at = jax.lax.fori_loop(n * every, (n + 1) * every, one, at)
        return at, at

    return jax.lax.scan(frame, first, jnp.arange(frames))[1]


def simulate(model, ocean, first, seconds, dt, command=(), every=1, start=0.0):
    """(time, position, attitude, velocity, actuators), time first, the initial state included."""
    with jax.enable_x64(True):
        steps = round(seconds / dt)
        orders = jnp.asarray(command, model.inertia.mass.dtype)
        orders = orders.reshape(orders.shape + (1,) * (first.velocity.ndim - orders.ndim))
        orders = jnp.broadcast_to(orders, (orders.shape[0], *first.velocity.shape[1:]))
        later = rollout(model, ocean, first, orders, dt, jnp.float64(start), steps // every, every)
        whole = jax.tree.map(lambda a, b: np.concatenate([np.asarray(a)[None], b]), first, later)
    time = start + dt * every * np.arange(steps // every + 1)
    return time, whole.position, whole.attitude, whole.velocity, whole.actuators


def rotation_matrix(attitude):
    """Body to world, from a scalar-first quaternion, by the Rodrigues formula."""
    w, v = attitude[0], np.asarray(attitude[1:])
    s = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * s + 2 * s @ s


def euler_matrix(roll, pitch, yaw):
    """Body to world as Rz(ψ) Ry(θ) Rx(φ), each written out."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    return rz @ ry @ rx


def skew(a):
    """S(a) with S(a) b = a × b."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
