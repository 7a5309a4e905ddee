"""How strongly what sound meets sends it back.

A square metre met at the incidence γ scatters back, of the intensity that falls on it,

    S = R / (8π σ²) · exp(−tan²γ / 2σ²) / cos⁴γ + μ cos²γ                          per sr and m²

as facets in the limit of short waves do, and diffusely by Lambert's law (`ranging.bottom_echo` has
the references; Lurton 2010, section 3.6). A smooth body is the same law with a small slope σ: a
glint where it is met squarely, and little elsewhere.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.materials import MATERIAL_NAMES, material_column

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

SURFACE = len(MATERIAL_NAMES)
"""Index of the surface of the sea, after those of the materials."""

NOTHING = SURFACE + 1
"""Index of what sends nothing back: where a ray meets nothing."""

SURFACE_DIFFUSE = -35.0
"""What the surface scatters diffusely, dB per m²; an assumption."""

STEEPEST = 1e-3
"""Least cosine of the incidence of which facets know: none of them is inclined so far."""


@dataclass(frozen=True)
class Targets:
    """Scattering by the index of a material."""

    reflection: Array
    """(M,) R."""
    slope: Array
    """(M,) σ."""
    diffuse: Array
    """(M,) μ, per m²."""

    @cached_property
    def _laws(self) -> dict[str, Floats]:
        sharp, facets = 0.5 / self.slope**2, self.reflection / (8.0 * math.pi * self.slope**2)
        rows = np.stack([sharp, facets, self.diffuse])
        return {kind: rows.astype(kind) for kind in "fd"}

    def laws(self, kind: Any) -> Floats:
        """(3, M) of 1 / 2σ², R / 8πσ² and μ, in single or in double precision."""
        return self._laws[np.dtype(kind).char]

    def strength(self, material: int | NDArray[np.integer], cosine: Floats) -> Floats:
        """S over cos γ: of all that lies in a unit of solid angle at a unit of range; in the
        precision of the cosine. All of it is of one material, or each of its own."""
        index = np.asarray(material, np.intp)
        return np.asarray(law(np, self.laws(cosine.dtype).take(index, axis=1), cosine))

    @cached_property
    def strongest(self) -> float:
        """Bound of S over cos γ: facets send most back at tan²γ = 5σ² − 1, or else squarely."""
        sharp, facets, diffuse = self.laws(np.float64)
        secant = np.maximum(2.5 / sharp, 1.0)  # 1 / cos²γ
        return float(np.max(facets * np.exp(sharp * (1.0 - secant)) * secant**2.5 + diffuse))


def law(xp: Any, rows: Any, cosine: Any) -> Any:
    """S over cos γ, with the rows of `Targets.laws`; `xp` is NumPy or JAX's."""
    sharp, facets, diffuse = rows
    inverse = 1.0 / xp.maximum(cosine, STEEPEST)
    square = inverse * inverse
    return facets * xp.exp(sharp * (1.0 - square)) * (square * square * inverse) + diffuse * cosine


def targets(wind_speed: float) -> Targets:
    """All materials in their order, and the surface under a wind, m/s at 10 m.

    The surface reflects everything. Its slope is that of Cox and Munk (1954), of whose mean square
    0.003 + 0.00512 U each direction has half.
    """
    slope = math.sqrt(0.5 * (0.003 + 0.00512 * wind_speed))
    diffuse = np.append(material_column("diffuse"), SURFACE_DIFFUSE)
    return Targets(
        reflection=np.append(material_column("reflection"), 1.0),
        slope=np.append(material_column("slope"), slope),
        diffuse=10.0 ** (0.1 * diffuse),
    )
