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
    """Where the pilot takes the vehicle to be: by its filter, or by the truth without one."""
    if pilot.navigator is None:
        return Estimate(state.position, state.attitude, state.velocity, memory.stream)
    found = navigation.estimate(pilot.navigator.filter, memory.filter)
    return Estimate(*(part.astype(dtype) for part in found))


def through_water(believed: Estimate) -> jax.Array:
    """Velocity relative to the water, (6, N), body axes."""
    water = rotation(believed.attitude).to_body(vec3(believed.current))
    return believed.velocity.at[:3].add(-jnp.stack(water))
