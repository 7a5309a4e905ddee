"""Samples the ocean at the vehicle: flow, surface, density, and how wet the hull is."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.forces import restoring, wave_excitation
from seatrial.core.surroundings import Surroundings
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean, current, turbulence, water, waves
from seatrial.spatial.rotations import Rotation, rotation
from seatrial.spatial.vectors import STILL, Scalar, Twist, Vec3, Wrench, add, vec3


class _Water(NamedTuple):
    """What differs between a craft on the surface and one under it."""

    motion: Twist
    """Of the water around the hull, body axes."""
    acceleration: Vec3 | None
    """Of the water, NED."""
    elevation: Scalar
    slope: tuple[Scalar, Scalar]
    density: Scalar
    wet: Scalar
    slices: list[Scalar]
    volume_ratio: Scalar
    excitation: Wrench | None


def surroundings(model: Model, ocean: Ocean, state: State, t: jax.Array) -> Surroundings:
    """Everything the forces need to know about the ocean at this state and time."""
    position = vec3(state.position)
    turned = rotation(state.attitude)
    velocity = Twist(*(state.velocity[i] for i in range(6)))
    if isinstance(model.restoring, restoring.SurfaceRestoring):
        found = _at_surface(model, model.restoring, ocean, position, turned, t)
    else:
        found = _under_water(model.restoring, ocean, position, turned, t)
    return Surroundings(
        position=position,
        rotation=turned,
        velocity=velocity,
        relative=Twist(*(a - b for a, b in zip(velocity, found.motion, strict=True))),
        fluid_velocity=None if found.motion is STILL else found.motion.linear,
        fluid_acceleration=turned.to_body(found.acceleration) if found.acceleration else None,
        elevation=found.elevation,
        slope=found.slope,
        density=found.density,
        density_ratio=found.density / model.reference_density,
        wet=found.wet,
        slices=found.slices,
        volume_ratio=found.volume_ratio,
        excitation=found.excitation,
    )


def drift(ocean: Ocean, position: Vec3, t: jax.Array) -> tuple[Vec3 | None, Vec3 | None]:
    """Velocity of current and turbulence, and its material derivative Dv/Dt; NED.

    The derivative follows the water, ∂v/∂t + (v · ∇) v, because that is what the pressure
    gradient on a body is made of (Taylor 1928; Batchelor 1967, section 6.9).
    """
    if ocean.current is None and ocean.turbulence is None:
        return None, None

    def flow(place: Vec3, time: jax.Array) -> Vec3:
        parts: list[Vec3] = []
        if ocean.current is not None:
            parts.append(current.sample(ocean.current, place, time))
        if ocean.turbulence is not None:
            parts.append(turbulence.sample(ocean.turbulence, place, time))
        moving = add(parts[0], parts[1]) if len(parts) == 2 else parts[0]
        like = jnp.asarray(place[0])
        x, y, z = (jnp.broadcast_to(c, like.shape).astype(like.dtype) for c in moving)
        return x, y, z

    velocity = flow(position, t)
    if ocean.turbulence is None and ocean.current is not None and ocean.current.is_constant:
        return velocity, None
    place = tuple(jnp.asarray(c) for c in position)
    _, acceleration = jax.jvp(flow, (place, t), (velocity, jnp.ones_like(t)))
    return velocity, acceleration


def _at_surface(
    model: Model,
    hull: restoring.SurfaceRestoring,
    ocean: Ocean,
    position: Vec3,
    turned: Rotation,
    t: jax.Array,
) -> _Water:
    x, y, z = position
    flow, acceleration = drift(ocean, (x, y, jnp.maximum(z, 0.0)), t)
    motion = Twist(*turned.to_body(flow), 0.0, 0.0, 0.0) if flow else STILL
    elevation: Scalar = 0.0
    slope: tuple[Scalar, Scalar] = (0.0, 0.0)
    excitation = None
    if model.excitation is not None and ocean.waves is not None:
        loads = wave_excitation.evaluate(model.excitation, ocean.waves, x, y, turned, t)
        elevation, slope, excitation = loads.elevation, loads.slope, loads.wrench
        motion = Twist(*(a + b for a, b in zip(motion, loads.motion, strict=True)))
    depth = restoring.flotation_depth(hull, turned, z)
    volume_ratio = restoring.surface_volume(hull, depth + elevation)
    return _Water(
        motion=motion,
        acceleration=acceleration,
        elevation=elevation,
        slope=slope,
        density=water.density(ocean.water, jnp.zeros_like(jnp.asarray(z))),
        wet=restoring.surface_wet(volume_ratio),
        slices=[],
        volume_ratio=volume_ratio,
        excitation=excitation,
    )


def _under_water(
    hull: restoring.SubmergedRestoring,
    ocean: Ocean,
    position: Vec3,
    turned: Rotation,
    t: jax.Array,
) -> _Water:
    centre = add(position, turned.to_world(vec3(hull.buoyancy_centre)))
    flow, acceleration = drift(ocean, centre, t)
    elevation: Scalar = 0.0
    slope: tuple[Scalar, Scalar] = (0.0, 0.0)
    if ocean.waves is not None:
        wave = waves.sample(ocean.waves, centre, t)
        elevation, slope = wave.elevation, wave.slope
        flow = add(flow, wave.velocity) if flow else wave.velocity
        acceleration = add(acceleration, wave.acceleration) if acceleration else wave.acceleration
    slices, wet = restoring.submerged_wet(hull, turned, centre[2] + elevation, slope)
    return _Water(
        motion=Twist(*turned.to_body(flow), 0.0, 0.0, 0.0) if flow else STILL,
        acceleration=acceleration,
        elevation=elevation,
        slope=slope,
        density=water.density(ocean.water, centre[2]),
        wet=wet,
        slices=slices,
        volume_ratio=wet,
        excitation=None,
    )
