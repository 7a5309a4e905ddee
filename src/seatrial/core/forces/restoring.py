"""Weight and buoyancy, under water and at the surface."""

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.core.smooth import smooth_clip, smootherstep, smoothstep
from seatrial.pytree import pytree
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import (
    Scalar,
    Vec3,
    Wrench,
    add,
    cross,
    scale,
    subtract,
    total,
    vec3,
    wrench_at,
)


@pytree
class SubmergedRestoring:
    """Weight at the CG and buoyancy at the CB; Fossen (2021) eq. 4.6 with local density.

    The hull is cut into slices along its length, and each slice loses its buoyancy smoothly as
    it leaves the water, so a surfacing vehicle lifts its nose out before its tail.
    """

    mass: jax.Array
    volume: jax.Array
    gravity_centre: jax.Array
    """(3,) body frame, m."""
    buoyancy_centre: jax.Array
    stations: jax.Array
    """(S,) offsets of the slices from the centre of buoyancy along x, m; their sum is zero."""
    height: jax.Array
    """Vertical extent over which a slice leaves the water, m."""


@pytree
class SurfaceRestoring:
    """A craft at the surface: waterplane stiffness about the local water surface.

    Immersion is measured from the wave surface averaged over the hull, so buoyancy follows the
    waves: ρ g A (z + ζ) is the hydrostatic and the Froude-Krylov heave force in one.
    """

    mass: jax.Array
    volume: jax.Array
    """Displaced volume at rest, m³; weight and buoyancy balance in reference water."""
    gravity_centre: jax.Array
    """(3,) body frame, m."""
    waterplane_area: jax.Array
    flotation: jax.Array
    """(3,) centroid of the waterplane in the body frame, m."""
    freeboard: jax.Array
    """Height of the hull above the waterline, m."""
    gm_transverse: jax.Array
    gm_longitudinal: jax.Array


def submerged_wet(
    model: SubmergedRestoring, rotation: Rotation, depth: Scalar, slope: tuple[Scalar, Scalar]
) -> tuple[list[Scalar], Scalar]:
    """Immersed share of every slice and of the whole; `depth` is of the CB under the surface."""
    down = rotation.r20 + slope[0] * rotation.r00 + slope[1] * rotation.r10
    per_height = 1.0 / model.height
    shares = [
        smoothstep((depth + model.stations[i] * down) * per_height + 0.5)
        for i in range(model.stations.shape[0])
    ]
    return shares, sum(shares) / len(shares)


def floating_depth(model: SubmergedRestoring, density: Scalar) -> jax.Array:
    """Depth of the CB at which the vehicle floats awash when it is level, m; that at which it is
    just under where it does not float.

    The immersed share is s = x² (3 − 2 x) with x = depth / height + ½, so that
    depth = −height sin(asin(1 − 2 s) / 3).
    """
    share = jnp.minimum(model.mass / (density * model.volume), 1.0)
    return -model.height * jnp.sin(jnp.arcsin(1.0 - 2.0 * share) / 3.0)


def submerged(
    model: SubmergedRestoring, rotation: Rotation, density: Scalar, shares: list[Scalar]
) -> Wrench:
    """Weight plus the buoyancy of every slice."""
    down = rotation.down
    weight = scale(model.mass * GRAVITY, down)
    slice_force = -density * GRAVITY * model.volume / len(shares)
    centre = vec3(model.buoyancy_centre)
    slices = [
        wrench_at(scale(slice_force * share, down), add(centre, (model.stations[i], 0.0, 0.0)))
        for i, share in enumerate(shares)
    ]
    return total([wrench_at(weight, vec3(model.gravity_centre)), *slices])


def surface_volume(model: SurfaceRestoring, immersion: Scalar) -> Scalar:
    """Displaced volume over its value at rest, for an extra immersion in metres.

    Wall-sided (linear) over the height of the hull, rounded where the keel leaves the water and
    where the deck goes under.
    """
    draught = model.volume / model.waterplane_area
    return smooth_clip(draught + immersion, draught + model.freeboard, 0.1 * draught) / draught


def surface(
    model: SurfaceRestoring,
    rotation: Rotation,
    density: Scalar,
    density_ratio: Scalar,
    volume_ratio: Scalar,
    wet: Scalar,
) -> Wrench:
    """Weight at the centre of gravity and the buoyancy of a wall-sided hull; Fossen (2021) 4.2.

    The buoyancy at rest acts under the centre of gravity, since there is no trim, and at the
    metacentres when the craft leans. Afloat at its mark, with d the unit vector down in body axes,
    its energy is ρ g ∇ [½ (GM_L − GM_T) d_x² − GM_T d_z], and the moment d × ∂/∂d of it is

        K = −ρ g ∇ GM_T d_y,   M = ρ g ∇ d_x [GM_T + (GM_L − GM_T) d_z],
        N = −ρ g ∇ (GM_L − GM_T) d_x d_y,

    for small angles K = −ρ g ∇ GM_T φ and M = −ρ g ∇ GM_L θ. N is what keeps it level: buoyancy
    turns nothing about the vertical. What the craft displaces more or less acts at the centre of
    flotation. Weight and buoyancy at rest cancel in reference water; in denser water the craft
    rises until they do again.

    Out of the water the buoyancy at rest goes with its moments, by the wet share, and the weight is
    alone: with the buoyancy B = b W of the displaced volume, W r_G − W [b r_F + wet (r_G − r_F)] is
    the sum of the levers. The share is 1 with zero slope and curvature at the mark.
    """
    down = rotation.down
    weight = model.mass * GRAVITY
    excess = weight * (1.0 - density_ratio * volume_ratio)
    flotation, gravity = vec3(model.flotation), vec3(model.gravity_centre)
    dry = scale(weight * (1.0 - wet), subtract(gravity, flotation))
    moment = cross(add(scale(excess, flotation), dry), down)
    stiffness = density * GRAVITY * model.volume * wet
    as_round = stiffness * model.gm_transverse
    longer = stiffness * (model.gm_longitudinal - model.gm_transverse) * down[0]
    return Wrench(
        *scale(excess, down),
        moment[0] - as_round * down[1],
        moment[1] + as_round * down[0] + longer * down[2],
        moment[2] - longer * down[1],
    )


def weight(model: SurfaceRestoring, rotation: Rotation) -> Wrench:
    """Of a craft that is held up by the pressure on its hull."""
    return wrench_at(scale(model.mass * GRAVITY, rotation.down), vec3(model.gravity_centre))


def flotation_depth(model: SurfaceRestoring, rotation: Rotation, z: Scalar) -> Scalar:
    """Depth of the centre of flotation below the mean level."""
    point: Vec3 = vec3(model.flotation)
    return z + rotation.to_world(point)[2]


def surface_wet(volume_ratio: Scalar) -> Scalar:
    """Share of the hull that works: 1 at or below the waterline, smoothly 0 in the air."""
    return smootherstep(volume_ratio)
