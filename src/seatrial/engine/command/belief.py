"""What a pilot takes to be true of its vehicle."""

from typing import Any

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.engine.command.pilot import Pilot, PilotState
from seatrial.gnc.navigation import dispatch as navigation
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3


def believed_by(pilot: Pilot, memory: PilotState, state: State, dtype: Any) -> Estimate:
    """Where the pilot takes the vehicle to be: by its filter, or by the truth without one.

    The filter stands an inertial sample behind. At 1.2 m/s that is 2 cm, more than a receiver with
    carrier phases errs by; and in a wave of 1 m/s² it is 2 cm/s.
    """
    if pilot.navigator is None:
        return Estimate(state.position, state.attitude, state.velocity, memory.stream)
    navigator, filter = pilot.navigator, memory.filter
    passed = jnp.where(filter.started, navigator.behind, 0.0)
    found = navigation.estimate(navigator.filter, filter, passed)
    return Estimate(*(part.astype(dtype) for part in found))


def through_water(believed: Estimate) -> jax.Array:
    """Velocity relative to the water, (6, N), body axes."""
    water = rotation(believed.attitude).to_body(vec3(believed.current))
    return believed.velocity.at[:3].add(-jnp.stack(water))
