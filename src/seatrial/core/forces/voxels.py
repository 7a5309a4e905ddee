"""Buoyancy of a hull filled with cubes, each cut by the water surface.

A cube of edge l whose middle is d under the surface has the share clip(d/l + ½, 0, 1) of its volume
in the water, as in a level cut through it; the pressure's gradient acts on that. The force is a
continuous function of the depth: no cube appears or vanishes at once.
"""

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.core.forces import wave_patch
from seatrial.core.forces.wave_patch import LocalSea
from seatrial.core.forces.wetted import WetLoads
from seatrial.pytree import pytree
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Scalar, Vec3, Wrench, cross, scale


@pytree
class Voxels:
    """A hull of cubes in body axes."""

    centres: jax.Array
    """(3, M) of what the hull fills of every cube, m."""
    volumes: jax.Array
    """(M,) of the same, m³."""
    edge: jax.Array
    """m."""


def loads(
    hull: Voxels, sea: LocalSea | None, z: Scalar, turned: Rotation, density: Scalar
) -> WetLoads:
    """Loads on one vehicle whose origin is `z` deep."""
    centres: Vec3 = (hull.centres[0], hull.centres[1], hull.centres[2])
    offset = turned.to_world(centres)

    if sea is None:
        wet = _share(z + offset[2], hull.edge) * hull.volumes
        gradient: Vec3 = (0.0, 0.0, wet)
    else:
        depth, slope = wave_patch.head_gradient(sea, offset, z + offset[2])
        wet = _share(depth, hull.edge) * hull.volumes
        gradient = scale(wet, slope)
    force = scale(-density * GRAVITY, turned.to_body(gradient))
    moment = cross(centres, force)
    return WetLoads(
        Wrench(*(jnp.sum(jnp.broadcast_to(c, wet.shape)) for c in (*force, *moment))),
        jnp.sum(wet),
    )


def _share(depth: Scalar, edge: Scalar) -> Scalar:
    return jnp.clip(depth / edge + 0.5, 0.0, 1.0)
