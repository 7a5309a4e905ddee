"""From a spectrum to regular components.

The band between the frequencies below and above which 0.1 % of the energy lies is used. For the
Pierson–Moskowitz spectrum these are the 0.652 f_p and 5.946 f_p of the ITTC (2002). The amplitudes
are scaled so that the truncated band still has the whole variance (Hs/4)².

    uniform       bands of equal width, a² / 2 = energy of the band. A long-crested sea has one
                  component in the middle of each band. With spreading each band is cut once more
                  into as many parts of equal width as there are directions, and every direction
                  has one of them, in turn from left to right and from right to left, so that
                  neither side has the longer waves. All frequencies are multiples of one width
                  apart, so the sea comes back after 2π/Δω times the number of directions.
    jittered      the same bands; each component lies at a random place of its band, drawn with the
                  density of the spectrum and anew for every direction. The mean over seeds of
                  the components' variance is the spectrum itself, and the sea does not repeat.
    equal_energy  bands of equal energy in frequency and direction: every component has the same
                  amplitude and no two have the same frequency.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.ocean.dispersion import depth_table
from seatrial.ocean.integrals import cumulative
from seatrial.ocean.spectra import Spectrum
from seatrial.ocean.spreading import Spreading
from seatrial.ocean.waves import Waves
from seatrial.pytree import constant

Array = NDArray[np.float64]

ENERGY_CUT = 0.001
"""Share of the energy left out at either end of the spectrum."""


class Components(NamedTuple):
    """Regular waves, each array (C,)."""

    amplitude: Array
    omega: Array
    direction: Array
    phase: Array
    band: Array | None = None
    """Middle of the frequency band that a component was drawn from, rad/s; None: nothing drawn."""


def discretise(
    spectrum: Spectrum,
    spreading: Spreading,
    towards: float,
    frequencies: int,
    directions: int,
    method: str,
    rng: np.random.Generator,
) -> Components:
    """`frequencies` × `directions` components of a sea that travels `towards` (rad)."""
    grid = spectrum.grid()
    energy = cumulative(spectrum.density(grid), grid)
    energy = energy / energy[-1]
    middle: Array | None = None
    if method == "equal_energy":
        angle = spreading.equal_energy(directions)
        share = np.full((frequencies, len(angle)), 1.0 / (frequencies * len(angle)))
        # directions interleave inside a band, so that no two components share a frequency
        fraction = (np.arange(len(angle)) + 0.5) / len(angle)
        level = (np.arange(frequencies)[:, None] + fraction) / frequencies
        level = ENERGY_CUT + (1.0 - 2.0 * ENERGY_CUT) * level
        phase = rng.uniform(0.0, 2.0 * math.pi, share.shape)
        omega = np.interp(level, energy, grid)
    else:
        angle, weight = spreading.bands(directions)
        lowest, highest = np.interp((ENERGY_CUT, 1.0 - ENERGY_CUT), energy, grid)
        edges = np.linspace(lowest, highest, frequencies + 1)
        level = np.interp(edges, grid, energy)
        band = np.diff(level)
        share = band[:, None] * weight / np.sum(band)
        phase = rng.uniform(0.0, 2.0 * math.pi, share.shape)
        if method == "jittered":
            middle = np.repeat(0.5 * (edges[:-1] + edges[1:]), len(angle))
            place = rng.uniform(0.0, 1.0, share.shape)
            omega = np.interp(level[:-1, None] + place * band[:, None], energy, grid)
        else:
            # Directions that share a frequency would stand in one phase to each other for ever:
            # crests at one place, calm at another, and no record would have the sea's height.
            omega = edges[:-1, None] + np.diff(edges)[:, None] * _own_places(*share.shape)
    variance = (spectrum.significant_height / 4.0) ** 2
    return Components(
        amplitude=np.sqrt(2.0 * variance * share).ravel(),
        omega=omega.ravel(),
        direction=np.broadcast_to(towards + angle, share.shape).ravel(),
        phase=phase.ravel(),
        band=middle,
    )


def _own_places(frequencies: int, directions: int) -> Array:
    """Where in its band each direction lies, 0 to 1; every other band is mirrored."""
    places = (np.arange(directions) + 0.5) / directions
    mirrored = np.arange(frequencies)[:, None] % 2 == 1
    return np.where(mirrored, places[::-1], places)


def waves_from(
    systems: Sequence[Components],
    depth: float | None,
    stretching: str,
    dtype: Any,
    current: tuple[float, float] = (0.0, 0.0),
    depths: tuple[float, float] | None = None,
) -> Waves:
    """Put the components of all systems together, with their wavenumbers at this water depth.

    `current` north and east carries the waves: frequencies are those that the water sees. `depths`
    are the least and the greatest of a bottom that is a map.
    """
    bands = [s.omega if s.band is None else s.band for s in systems]
    columns = zip(*(s[:4] for s in systems), strict=True)
    joined = Components(*(np.concatenate(parts) for parts in columns))
    k = wavenumber(joined.omega, depth)
    north, east = np.cos(joined.direction), np.sin(joined.direction)
    return Waves(
        amplitude=constant(joined.amplitude, dtype),
        omega=constant(joined.omega, np.float64),
        wavenumber=constant(k, dtype),
        direction=constant(joined.direction, dtype),
        phase=constant(joined.phase, dtype),
        observed=constant(joined.omega + k * (current[0] * north + current[1] * east), np.float64),
        band=constant(np.concatenate(bands), np.float64),
        depth=None if depth is None else constant(depth, dtype),
        stretching=stretching,
        by_depth=None
        if depths is None
        else depth_table(lambda h: wavenumber(joined.omega, h), *depths, dtype),
    )


def wavenumber(omega: Array, depth: float | None) -> Array:
    """Solve ω² = g k tanh(k h) for k to machine precision; k = ω²/g in deep water."""
    deep = np.asarray(omega, np.float64) ** 2 / GRAVITY
    if depth is None:
        return deep
    target = deep * depth
    # Eckart's (1952) explicit approximation is within 5 % and Newton's method squares the error
    x = target / np.sqrt(np.tanh(target))
    for _ in range(6):
        tanh = np.tanh(x)
        x = x - (x * tanh - target) / (tanh + x * (1.0 - tanh**2))
    return np.asarray(x / depth)
