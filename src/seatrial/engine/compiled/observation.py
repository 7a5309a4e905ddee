"""What a frame records of the vehicles of a group."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.environment import surroundings
from seatrial.core.types import Model, State
from seatrial.engine.compiled.touches import Touch
from seatrial.ocean import Ocean, wind
from seatrial.ocean.motion import motion
from seatrial.spatial.vectors import vec3


class Observation(NamedTuple):
    """One frame of a group, component first, vehicles last (NumPy: time, vehicles, components)."""

    position: Any
    attitude: Any
    velocity: Any
    acceleration: Any
    actuators: Any
    command: Any
    current: Any
    wave_elevation: Any
    wave_velocity: Any
    wind: Any
    density: Any
    wet_fraction: Any
    faults: Any
    estimate: Any
    guidance: Any
    status: Any
    contact: Any


def observe(
    model: Model,
    ocean: Ocean,
    state: State,
    t: jax.Array,
    orders: jax.Array,
    rates: jax.Array,
    faults: jax.Array,
    estimate: jax.Array,
    guidance: jax.Array,
    status: jax.Array,
    touch: tuple[Touch, ...],
) -> Observation:
    """The frame of an instant: state and surroundings, and what is known of the loop."""
    position = vec3(state.position)
    around = surroundings(model, ocean, state, t)
    water = motion(ocean, position, t)
    zero = jnp.zeros_like(state.position)
    air = zero
    if ocean.wind is not None:
        x, y = state.position[0], state.position[1]
        air = jnp.stack(
            [jnp.broadcast_to(c, x.shape) for c in wind.sample(ocean.wind, (x, y, 0 * x - 10.0), t)]
        )
    return Observation(
        position=state.position,
        attitude=state.attitude,
        velocity=state.velocity,
        acceleration=rates,
        actuators=state.actuators[: model.channels],
        command=orders,
        current=zero if water.drift is None else jnp.stack(water.drift),
        wave_elevation=zero[0] + water.elevation,
        wave_velocity=zero if water.orbital is None else jnp.stack(water.orbital),
        wind=air,
        density=jnp.broadcast_to(around.density, zero[0].shape),
        wet_fraction=jnp.broadcast_to(around.wet, zero[0].shape),
        faults=faults,
        estimate=estimate,
        guidance=guidance,
        status=status,
        contact=jnp.concatenate([zero[:0], *map(_told, touch)]),
    )


def _told(touch: Touch) -> jax.Array:
    """(6, N) impulse, largest force, its place and what it came from."""
    return jnp.concatenate(
        [jnp.stack([touch.impulse, touch.hardest]), touch.place, touch.partner[None]]
    )
