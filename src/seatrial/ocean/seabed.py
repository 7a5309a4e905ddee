"""The bottom of the sea: flat, at a stated depth, of a stated material."""

from typing import NamedTuple

import jax

from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar


@pytree
class Seabed:
    """A flat bottom."""

    depth: jax.Array
    """Below the mean level, m."""


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
    """Depth of the bottom under (x, y), m; the same everywhere."""
    return seabed.depth
