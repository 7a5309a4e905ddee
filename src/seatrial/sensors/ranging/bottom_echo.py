"""The echo of a flat bottom over time, as a piston hears it.

At the height h over a bottom, with the axis inclined by θ to the vertical, a ring of slant range
r = h s is met at the incidence γ, cos γ = 1/s, and has the area r dr dφ. Its echo loses 1/r⁴ by
spreading there and back and 10^(−2αr/10) by absorption, so a short pulse of level 1 at 1 m that
fills the ranges up to r has brought back

    E(r) = ∫ 10^(−αr/5) S(γ) G(γ, θ) / r³ dr = h⁻² ∫ 10^(−αhs/5) S G / s³ ds

with G from `beam` and the bottom's scattering S. A pulse that lasts τ lights up the ranges between
r − L and r at once, L = cτ/2, so the intensity is E(r) − E(r − L), and its mean over a bin from r₁
to r₂ takes the integral F of E:

    [F(r₂) − F(r₁) − F(r₂ − L) + F(r₁ − L)] / (r₂ − r₁)

The integrand is tabulated over γ and taken as linear in s between the knots; E and F are exact.

The bottom scatters as facets do in the limit of short waves, and diffusely by Lambert's law:

    S = R / (8π σ²) · exp(−tan²γ / 2σ²) / cos⁴γ + μ cos²γ

R: reflected share of the intensity, σ: slope of the facets in each direction (APL-UW 1994, TR 9407,
section IV; Urick 1983, section 8.9).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.materials import Material
from seatrial.sensors.ranging.beam import Beam

Array = NDArray[np.float64]

FARTHEST = math.radians(88.0)
"""Incidence up to which the bottom is lit; beyond, Lambert's law leaves a thousandth at most."""

NEPERS = 0.2 * math.log(10.0)
"""10^(−2αr/10) = exp(−NEPERS α r)."""


def scattering(material: Material, incidence: Array) -> Array:
    """S, per m²."""
    facets, diffuse = scattering_parts(material, incidence)
    return np.asarray(facets + diffuse)


def scattering_parts(material: Material, incidence: Array) -> tuple[Array, Array]:
    """What facets add to S, and what is diffuse."""
    cosine, slope = np.cos(incidence), material.slope
    facets = material.reflection / (8.0 * math.pi * slope**2) / cosine**4
    facets = facets * np.exp(-(np.tan(incidence) ** 2) / (2.0 * slope**2))
    return np.asarray(facets), np.asarray(10.0 ** (0.1 * material.diffuse) * cosine**2)


class Geometry:
    """Pings at a `height` (K,) over the bottom, with the axis at a `tilt` (K,), on the tables."""

    def __init__(self, tables: "BottomTables", height: Array, tilt: Array) -> None:
        last = len(tables.echo) - 1
        place = np.minimum(tilt / tables.step, last)
        row = np.minimum(place.astype(np.int64), last - 2)
        # Cubic through four rows; the tables are even in the tilt.
        self.rows = np.abs(row + np.arange(-1, 3)[:, None])
        t = place - row
        self.weights = np.stack(
            [
                -t * (t - 1.0) * (t - 2.0) / 6.0,
                (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
                -(t + 1.0) * t * (t - 2.0) / 2.0,
                (t + 1.0) * t * (t - 1.0) / 6.0,
            ]
        )[:, :, None]
        self.height = height[:, None]
        self.tables = tables

    def mixed(self, table: Array) -> Array:
        """(K, J) a table at the tilt of each ping."""
        mixture: Array = self.weights[0] * table[self.rows[0]]
        for weight, row in zip(self.weights[1:], self.rows[1:], strict=True):
            mixture += weight * table[row]
        return mixture

    def knots(self, ranges: Array) -> tuple[NDArray[np.int64], Array]:
        """Place of the knot before each range in a flattened (K, J) table, and how far beyond."""
        count = len(self.tables.secant)
        reached = np.maximum(ranges / self.height, 1.0)
        knot = (np.arccos(1.0 / reached) / self.tables.step).astype(np.int64)
        knot = np.minimum(knot, count - 1)
        beyond = reached - self.tables.secant[knot]
        return knot + count * np.arange(len(ranges))[:, None], beyond


@dataclass(frozen=True)
class BottomTables:
    """What does not depend on the ping."""

    step: float
    """Between tilts and between incidences, rad."""
    secant: Array
    """(J,) s at the knots."""
    echo: Array
    """(Θ, J) S G / s³."""
    clear: Array
    """(Θ, J) share of the two-way beam that has not met the bottom at s."""

    def mean_echo(self, geometry: Geometry, edges: Array, pulse: Array, absorption: Array) -> Array:
        """(K, B) mean intensity in bins between the ranges `edges` (K, B + 1), source level 0 dB.

        `pulse` (K,) is L, `absorption` (K,) in dB/m.
        """
        height = geometry.height
        step = np.diff(self.secant)
        d = geometry.mixed(self.echo) * np.exp(-NEPERS * absorption[:, None] * height * self.secant)
        e = np.zeros_like(d)
        np.cumsum(0.5 * step * (d[:, :-1] + d[:, 1:]), axis=1, out=e[:, 1:])
        f = np.zeros_like(d)
        np.cumsum(
            step * (e[:, :-1] + step * (2.0 * d[:, :-1] + d[:, 1:]) / 6.0), axis=1, out=f[:, 1:]
        )
        slope = np.zeros_like(d)
        slope[:, :-1] = np.diff(d, axis=1) / step
        d[:, -1] = 0.0  # nothing comes from beyond the last knot
        knot, u = geometry.knots(np.concatenate([edges, edges - pulse[:, None]], axis=1))
        d, e, f, slope = (a.ravel()[knot] for a in (d, e, f, slope))
        total = f + u * (e + u * (0.5 * d + u * slope / 6.0))  # h F
        rise = np.diff(total[:, : edges.shape[1]], axis=1)
        fall = np.diff(total[:, edges.shape[1] :], axis=1)
        mean: Array = (rise - fall) / (height * np.diff(edges, axis=1))
        return np.maximum(mean, 0.0)

    def clear_share(self, geometry: Geometry, ranges: Array) -> Array:
        """(K, B) share of the two-way beam that is still in the water at some ranges."""
        knot, _ = geometry.knots(ranges)
        share: Array = geometry.mixed(self.clear).ravel()[knot]
        return share


def bottom_tables(beam: Beam, material: Material) -> BottomTables:
    """Tabulate a beam over a material."""
    count = int(FARTHEST / beam.step) + 1
    incidence: Array = beam.step * np.arange(count, dtype=np.float64)
    secant = 1.0 / np.cos(incidence)
    circles = beam.circles[:, :count]
    met = np.zeros_like(circles)
    rings = -0.5 * np.diff(np.cos(incidence)) * (circles[:, 1:] + circles[:, :-1])
    np.cumsum(rings, axis=1, out=met[:, 1:])
    return BottomTables(
        step=beam.step,
        secant=secant,
        echo=circles * scattering(material, incidence) / secant**3,
        clear=np.maximum(1.0 - met / beam.two_way, 0.0),
    )
