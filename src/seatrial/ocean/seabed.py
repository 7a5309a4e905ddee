"""The bottom of the sea: flat or by a map, of a stated material."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from seatrial.geometry import grid
from seatrial.geometry.grid import Facet, HeightGrid
from seatrial.geometry.terrain import terrain_of
from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar, Vec3


@pytree
class Seabed:
    """A bottom."""

    depth: jax.Array | HeightGrid
    """Below the mean level, m: the same everywhere, or a map; a map's numbers are arrays of the
    compiled program, so that another one of the same size is the same program."""


class Material(NamedTuple):
    """What sound of tens to hundreds of kilohertz finds at the bottom."""

    impedance: float
    """Density times sound speed, over those of the water."""
    slope: float
    """Standard deviation of the slope of its facets in each direction, rad."""
    diffuse: float
    """What is scattered at oblique incidence, by Lambert's law, at normal incidence; dB per m²."""

    @property
    def reflection(self) -> float:
        """Share of the intensity that a flat piece reflects at normal incidence."""
        return ((self.impedance - 1.0) / (self.impedance + 1.0)) ** 2


MATERIALS = {
    "mud": Material(impedance=1.147 * 0.985, slope=0.05, diffuse=-32.0),
    "sand": Material(impedance=1.845 * 1.178, slope=0.15, diffuse=-22.0),
    "gravel": Material(impedance=2.492 * 1.337, slope=0.25, diffuse=-17.0),
    "rock": Material(impedance=2.5 * 2.5, slope=0.35, diffuse=-12.0),
}
"""Impedances after the ratios of density and sound speed of APL-UW (1994), High-frequency ocean
environmental acoustic models handbook, TR 9407, for silt, medium sand, gravel and rock. Slopes and
diffuse strengths are rounded values of the kind seen in its curves, not a fit to a place."""


def sample(seabed: Seabed, x: Scalar, y: Scalar) -> jax.Array:
    """Depth of the bottom under (x, y), m."""
    return facet(seabed, x, y).depth


def under(seabed: Seabed, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Depth of the bottom under places, m; on the host, without a program."""
    if isinstance(seabed.depth, HeightGrid):
        return terrain_of(seabed.depth).at(x, y)
    return np.full(np.broadcast_shapes(np.shape(x), np.shape(y)), float(seabed.depth))


def facet(seabed: Seabed, x: Scalar, y: Scalar) -> Facet:
    """Depth of the bottom under (x, y), and how it slopes there."""
    if isinstance(seabed.depth, HeightGrid):
        return grid.facet(seabed.depth, x, y)
    level = jnp.zeros_like(seabed.depth)
    return Facet(seabed.depth, level, level)


def cast(seabed: Seabed, start: Vec3, along: Vec3, reach: Scalar, steps: int) -> jax.Array:
    """How far rays go before they meet the bottom, m; `reach` where they do not.

    On a map the way is sampled at `steps` equal distances, as `geometry.grid.cast` says.
    """
    if isinstance(seabed.depth, HeightGrid):
        return grid.cast(seabed.depth, start, along, reach, steps)
    falling = jnp.asarray(along[2]) > 0.0
    height = jnp.maximum(seabed.depth - start[2], 0.0)
    length = height / jnp.where(falling, along[2], 1.0)
    return jnp.where(falling, jnp.minimum(length, reach), jnp.where(height > 0.0, reach, 0.0))
