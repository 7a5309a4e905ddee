"""Wave force amplitudes as a table over the heading, one row per heading for the whole sea.

Between its rows the table is a quadratic B-spline: an amplitude at heading ψ is a weighted sum of
the three nearest rows,

    W(ψ) = Σ_h c_h B((ψ − ψ_h)/Δ),  Δ = 2π/H,
    B(f) = ¾ − f² for |f| ≤ ½,  ½ (3/2 − |f|)² for ½ ≤ |f| ≤ 3/2,

smooth up to its first derivative. The rows c_h are not the amplitudes at the headings ψ_h but the
least-squares fit of the spline to them at all headings (Unser 1999, Splines: a perfect fit for
signal and image processing, section on least squares). A harmonic exp(inψ) of the amplitudes is
kept up to an error of about (2πn/H)³/174 of itself, and one too fast for the rows is averaged away
rather than folded back.

The number of rows follows from the hull and the spectrum of the sea, in steps, never from the
seed: all seeds of a world, and most worlds of a vehicle, share the table's shape.
"""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.hull.froude_krylov import KINDS, Complex, HullInWaves, MeanDrift, Sea, transfer

Array = NDArray[np.float64]

STEPS = (24, 48, 96, 192, 384, 768, 1536)
"""Numbers of headings that a table may have; what 1536 cannot resolve is averaged away."""

TOLERANCE = 4e-3
"""Error of an output over all headings, as a share of its root mean square in the sea."""

LEAK = 5e-3
"""The same for roll, to which turning the vector of moments gives half of what is lost of both: the
roll moment of a slender ship is a hundredth of her pitching one."""

HORIZONTAL = ((0, 1), (3, 4), (7, 8), (9, 10), (12, 13), (14, 15))
"""Outputs that are the two horizontal parts of a vector."""

MOMENTS = slice(3, 5)
"""The outputs of roll and pitch."""


def heading_table(hull: HullInWaves, sea: Sea, typical: Sea) -> NDArray[np.float32]:
    """Rows (H + 3, OUTPUTS, 2C) of amplitudes of cos φ, then of sin φ; vectors north and east.
    With mean drift there are eight more outputs.

    Row r belongs to the heading 2π(r − 1)/H, so that rows r, r + 1 and r + 2 surround the heading
    of the middle one. A hull that waves push alike from all sides has a single row. `typical` is
    the sea with every component in the middle of the band that it was drawn from: it decides the
    number of headings, so that no seed has another.
    """
    rows = 1 if _is_round(hull) else _rows(hull, typical)
    psi = _headings(max(_samples(hull, typical), rows) if rows > 1 else 1)
    amplitudes = _level(transfer(hull, sea, sea.direction[:, None] - psi), psi)
    if hull.drift is not None:
        amplitudes = np.concatenate([amplitudes, _drift(hull.drift, sea, psi)])
    amplitudes = amplitudes * sea.amplitude[:, None]
    if rows > 1:
        amplitudes = _fitted(amplitudes, rows)
    table = np.concatenate([amplitudes.real, -amplitudes.imag], axis=1).transpose(2, 0, 1)
    if rows > 1:
        table = table[np.arange(-1, rows + 2) % rows]
    # Single precision rounds by far less than the interpolation, and halves what a step reads.
    return np.ascontiguousarray(table, np.float32)


def _drift(drift: MeanDrift, sea: Sea, psi: Array) -> Complex:
    """(8, C, H): the two halves of Σ a exp(iφ), then those of Σ a D exp(iφ) for X, Y and N.

    Their products are Newman's approximation of the slowly varying drift, with the mean of two
    components' coefficients for what they make together (see core's `wave_excitation`).
    """
    along, across, turn = drift(sea.omega, sea.direction[:, None] - psi)
    c, s = np.cos(psi), np.sin(psi)
    level = np.stack([np.ones_like(turn), c * along - s * across, s * along + c * across, turn])
    return np.stack([level, -1j * level], axis=1).reshape(8, *turn.shape)


def refined(table: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
    """The same table with more rows, of which there are `rows` with those repeated at the ends.

    The finer spline goes through the coarser one at all of its own headings. At a row it is
    (c₋₁ + 6 c₀ + c₁)/8, which the discrete Fourier transform undoes.
    """
    few, many = table.shape[0] - 3, rows - 3
    if few == many or table.shape[0] == 1:
        return table
    along = np.arange(many) * (few / many) + 0.5
    first = np.floor(along).astype(np.int64)
    f = (along - first)[:, None, None]
    at = (
        0.5 * (1.0 - f) ** 2 * table[first]
        + (0.5 + f * (1.0 - f)) * table[first + 1]
        + 0.5 * f * f * table[first + 2]
    )
    response = (6.0 + 2.0 * np.cos(_headings(many))) / 8.0
    fine = np.fft.ifft(np.fft.fft(at, axis=0) / response[:, None, None], axis=0).real
    return np.ascontiguousarray(fine[np.arange(-1, many + 2) % many], np.float32)


def _headings(count: int) -> Array:
    return 2.0 * math.pi * np.arange(count) / count


def _span(hull: HullInWaves) -> float:
    """Diameter of a circle around the hull's origin that holds its waterplane, at most, m."""
    return max(b.length + abs(b.x) * 2 + b.beam + abs(b.y) * 2 for b in hull.blocks)


def _samples(hull: HullInWaves, sea: Sea) -> int:
    """Headings at which the amplitudes are computed: two for each harmonic that waves may have.

    exp(−ik·r) has harmonics up to about k|r| (Jacobi and Anger).
    """
    harmonics = 8 + 0.5 * float(sea.wavenumber.max()) * _span(hull)
    return next((n for n in STEPS if n >= harmonics), STEPS[-1]) * 2


def _rows(hull: HullInWaves, sea: Sea) -> int:
    """The fewest headings that keep every output within the tolerance."""
    psi = _headings(_samples(hull, sea))
    found = transfer(hull, sea, psi)
    power, turned = (_power(outputs, sea) for outputs in (found, _level(found, -psi)))
    total = power.sum(axis=1)
    for kind in KINDS:  # an output that is zero but for rounding decides nothing
        nothing = total[kind] < 1e-12 * total[kind].max()
        power[kind][nothing] = 0.0
        total[kind][nothing] = np.inf
    for count in STEPS:
        loss = _loss(power.shape[1], count)
        leak = 0.5 * (turned[MOMENTS] @ loss).sum()
        if np.all(power @ loss <= TOLERANCE**2 * total) and leak <= LEAK**2 * total[MOMENTS].min():
            return count
    return STEPS[-1]


def _power(outputs: Complex, sea: Sea) -> Array:
    """Power (OUTPUTS, harmonics) of amplitudes over the heading."""
    series = np.fft.fft(outputs, axis=2) * sea.amplitude[:, None]
    power: Array = np.sum(np.abs(series) ** 2, axis=1)
    return power


def _harmonics(count: int) -> NDArray[np.int64]:
    """Numbers of the harmonics in the order of a discrete Fourier transform."""
    numbers: NDArray[np.int64] = np.rint(np.fft.fftfreq(count, 1.0 / count)).astype(np.int64)
    return numbers


def _response(harmonic: NDArray[np.int64], rows: int) -> Array:
    """Fourier transform of the B-spline: sinc³(n/H)."""
    response: Array = np.sinc(harmonic / rows) ** 3
    return response


def _gram(rows: int) -> Array:
    """Σ sinc⁶ over all harmonics that the rows cannot tell apart."""
    turn = np.cos(_headings(rows))
    # It is the transform of the B-spline of degree five at the integers: 66, 26 and 1 over 120.
    gram: Array = (66.0 + 52.0 * turn + 2.0 * (2.0 * turn**2 - 1.0)) / 120.0
    return gram


def _loss(samples: int, rows: int) -> Array:
    """Share of a harmonic's power that the fit leaves out."""
    n = _harmonics(samples)
    loss: Array = 1.0 - _response(n, rows) ** 2 / _gram(rows)[n % rows]
    return loss


def _fitted(amplitudes: Complex, rows: int) -> Complex:
    """Coefficients (OUTPUTS, C, rows) of the spline nearest to (OUTPUTS, C, samples).

    The samples are a multiple of the rows.
    """
    samples = amplitudes.shape[2]
    series = np.fft.fft(amplitudes, axis=2) * _response(_harmonics(samples), rows)
    folded = series.reshape(*amplitudes.shape[:2], -1, rows).sum(axis=2)
    fitted: Complex = np.fft.ifft(folded / _gram(rows), axis=2) * (rows / samples)
    return fitted


def _level(amplitudes: Complex, psi: Array) -> Complex:
    """Vectors along and across the heading ψ turned to north and east."""
    c, s = np.cos(psi), np.sin(psi)
    turned = amplitudes.copy()
    for along, across in HORIZONTAL:
        turned[along] = c * amplitudes[along] - s * amplitudes[across]
        turned[across] = s * amplitudes[along] + c * amplitudes[across]
    return turned


def _is_round(hull: HullInWaves) -> bool:
    """Whether the heading changes nothing, asked of a wave as long as the hull."""
    k = np.array([2.0 * math.pi / _span(hull)])
    zero, psi = np.zeros(1), _headings(24)
    wave = Sea(np.ones(1), np.sqrt(GRAVITY * k), k, zero, None)
    found = _level(transfer(hull, wave, -psi), psi)[:, 0]
    differs = np.abs(found - found[:, :1])
    return all(differs[kind].max() <= 1e-9 * np.abs(found[kind]).max() for kind in KINDS)
