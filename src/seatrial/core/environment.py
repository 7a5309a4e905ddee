"""Samples the ocean at the vehicle: flow, surface, density, and how wet the hull is."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.forces import hull_loads, restoring, wave_excitation
from seatrial.core.surroundings import Surroundings
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean, water
from seatrial.ocean.motion import bottom_under, drift, motion
from seatrial.spatial.rotations import Rotation, rotation
from seatrial.spatial.vectors import (
    STILL,
    Scalar,
    Twist,
    Vec3,
    Wrench,
    add,
    cross,
    scale,
    subtract,
    vec3,
)


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
    acceleration_by_waves: Twist | None
    """Of the water around a hull, in its axes."""
    hull: Wrench | None
    drift: Vec3 | None


def surroundings(model: Model, ocean: Ocean, state: State, t: jax.Array) -> Surroundings:
    """Everything the forces need to know about the ocean at this state and time."""
    position = vec3(state.position)
    turned = rotation(state.attitude)
    velocity = Twist(*(state.velocity[i] for i in range(6)))
    if isinstance(model.restoring, restoring.SurfaceRestoring):
        found = _at_surface(model, model.restoring, ocean, position, turned, velocity, t)
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
        wave_acceleration=found.acceleration_by_waves,
        hull=found.hull,
        drift=found.drift,
    )


def _at_surface(
    model: Model,
    hull: restoring.SurfaceRestoring,
    ocean: Ocean,
    position: Vec3,
    turned: Rotation,
    velocity: Twist,
    t: jax.Array,
) -> _Water:
    x, y, z = position
    depth = restoring.flotation_depth(hull, turned, z)
    elevation: Scalar = 0.0
    slope: tuple[Scalar, Scalar] = (0.0, 0.0)
    excitation = accelerating = None
    motion, orbital = STILL, None
    bottom = bottom_under(ocean, x, y)
    if model.excitation is not None and ocean.waves is not None:
        loads = wave_excitation.evaluate(model.excitation, ocean.waves, x, y, turned, t, bottom)
        elevation, slope, excitation = loads.elevation, loads.slope, loads.wrench
        motion = _at_depth(loads.motion, turned, depth)
        orbital = turned.to_world(motion.linear)
        accelerating = _seen_turning(loads.acceleration, loads.motion, velocity)
    flow, acceleration = drift(ocean, (x, y, jnp.maximum(z, 0.0)), t, orbital)
    carried = None if flow is None else turned.to_body(flow)
    if carried is not None:
        motion = Twist(*add(motion.linear, carried), *motion.angular)
    volume_ratio = restoring.surface_volume(hull, depth + elevation)
    on_hull = None
    if model.hull is not None:
        linear = velocity.linear if carried is None else subtract(velocity.linear, carried)
        through = Twist(*linear, *velocity.angular)
        density = water.density(ocean.water, jnp.zeros_like(jnp.asarray(z)))
        wetted = hull_loads.evaluate(
            model.hull, ocean.waves, position, turned, through, density, t, bottom
        )
        on_hull = wetted.wrench
        if model.hull.holds:
            volume_ratio = wetted.volume / hull.volume
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
        acceleration_by_waves=accelerating,
        hull=on_hull,
        drift=carried,
    )


def _at_depth(wave: Twist, turned: Rotation, depth: Scalar) -> Twist:
    """Motion of the waves around a hull whose waterline is `depth` below the mean level.

    The amplitudes are those of the hull at its mean level, but the water moves faster near the
    crest, where the hull is when it moves with the waves, than near the trough. To first order in
    the depth z the horizontal velocity is u + z ∂u/∂z, and since waves do not rotate the water,
    ∂u/∂z = ∂w/∂x = −q and ∂v/∂z = ∂w/∂y = p with the turning p, q of the water that the hull sees:
    z [0 0 1] × [p q 0]. Its mean for a float on the surface, z = −ζ, is ½ a² ω k, the half of
    Stokes' drift that comes from the decay with depth; the other half comes from the position.
    """
    lifted = scale(depth, cross(turned.down, wave.angular))
    return Twist(*add(wave.linear, lifted), *wave.angular)


def _seen_turning(of: Twist | None, water: Twist, hull: Twist) -> Twist | None:
    """Acceleration of the water with the rate at which its turning changes in axes that turn:
    d(Rᵀω_w)/dt = Rᵀω̇_w + ω_w × ω. What the level part changes by is among the rates of a step."""
    if of is None:
        return None
    return Twist(*of.linear, *add(of.angular, cross(water.angular, hull.angular)))


def _under_water(
    hull: restoring.SubmergedRestoring,
    ocean: Ocean,
    position: Vec3,
    turned: Rotation,
    t: jax.Array,
) -> _Water:
    centre = add(position, turned.to_world(vec3(hull.buoyancy_centre)))
    found = motion(ocean, centre, t)
    flow = found.velocity
    slices, wet = restoring.submerged_wet(hull, turned, centre[2] + found.elevation, found.slope)
    return _Water(
        motion=Twist(*turned.to_body(flow), 0.0, 0.0, 0.0) if flow else STILL,
        acceleration=found.acceleration,
        elevation=found.elevation,
        slope=found.slope,
        density=water.density(ocean.water, centre[2]),
        wet=wet,
        slices=slices,
        volume_ratio=wet,
        excitation=None,
        acceleration_by_waves=None,
        hull=None,
        drift=None,
    )
