"""A spread sea of uniform bands: the height that a buoy measures, over seeds.

Each of its frequencies has one direction. Where directions shared a frequency, they stood in one
phase to each other for ever, and the height at a place was a matter of luck: 2.9 ± 0.8 m for 3 m.
"""

import math

import numpy as np
import pytest
from scipy import stats

from seatrial.ocean import spectra
from seatrial.ocean.spreading import Spreading
from seatrial.ocean.synthesis import discretise
from seatrial.seeding import generator

ALARM = 1e-4
HEIGHT = 3.0
SEA = spectra.pierson_moskowitz_by_height(HEIGHT)
TOWARDS = math.radians(130.0)
SPREADS = {"cos2": Spreading("cos2"), "cos2s": Spreading("cos2s", 10.0)}


def sea(seed=0, spreading=SPREADS["cos2"], frequencies=15, directions=5):
    rng = generator(seed, "waves")
    return discretise(SEA, spreading, TOWARDS, frequencies, directions, "uniform", rng)


def height(made, seconds, north=0.0, east=0.0, step=0.5):
    """4 σ of the elevation at a place, in deep water."""
    t = np.arange(0.0, seconds, step)
    k = made.omega**2 / 9.80665
    along = north * np.cos(made.direction) + east * np.sin(made.direction)
    phase = np.outer(t, made.omega) - k * along + made.phase
    return 4.0 * math.sqrt(np.mean((np.cos(phase) @ made.amplitude) ** 2))


def repetition(made):
    """s, 2π over the distance of neighbouring frequencies."""
    return 2.0 * math.pi / np.diff(np.unique(made.omega)).min()


@pytest.mark.parametrize("spreading", SPREADS)
@pytest.mark.parametrize("directions", [2, 5, 8])
def test_a_record_over_one_repetition_has_the_height_of_the_sea_anywhere(spreading, directions):
    """Cosines of different frequencies are orthogonal over it, so the height is exact and there are
    no false alarms; with shared frequencies it is off by 25 % (standard deviation over seeds).
    """
    made = [sea(seed, SPREADS[spreading], 15, directions) for seed in range(8)]
    period = repetition(made[0])
    assert len(np.unique(made[0].omega)) == 15 * directions
    # all shifted a little, so that each has a whole number of waves in the record
    for seed, one in enumerate(made):
        lowest = one.omega.min() * period / (2.0 * math.pi)
        shift = one._replace(omega=one.omega - 2.0 * math.pi / period * (lowest % 1.0))
        for north, east in ((0.0, 0.0), (71.0, -33.0)):
            found = height(shift, period, north, east, period / 2048)
            assert found == pytest.approx(HEIGHT, rel=1e-9), seed


def test_height_of_half_hour_records_over_seeds_is_the_seas():
    """Two-sided t-test of the mean, and a χ² test of the spread against that of random phases.

    For phases drawn independently the variance m̂ of a record of length T has Var m̂ =
    Σ_{i<j} (a_i a_j)² ½ [sinc²(½(ω_i − ω_j)T) + …], here summed over all pairs; Hs follows with
    σ_Hs = (Hs / 2 m₀) σ_m. False-alarm rate 1e-4 each.
    """
    seeds, seconds = 40, 1800.0
    made = [sea(seed) for seed in range(seeds)]
    found = np.array([height(one, seconds) for one in made])
    a, omega = made[0].amplitude, made[0].omega
    low = np.sinc((omega[:, None] - omega) * seconds / (2.0 * math.pi))
    pairs = 0.5 * np.outer(a**2, a**2) * low**2
    np.fill_diagonal(pairs, 0.0)
    variance = 0.5 * pairs.sum()
    m0 = (HEIGHT / 4.0) ** 2
    sigma = HEIGHT / (2.0 * m0) * math.sqrt(variance)
    assert sigma < 0.1 * HEIGHT
    error = found.std(ddof=1) / math.sqrt(seeds)
    # E Hs lies below Hs by σ²/(2 Hs): the root of a mean square
    expected = HEIGHT - sigma**2 / (2.0 * HEIGHT)
    assert abs(found.mean() - expected) < stats.t.isf(ALARM / 2, seeds - 1) * error
    spread = (seeds - 1) * found.var(ddof=1) / sigma**2
    assert spread < stats.chi2.isf(ALARM, seeds - 1)


@pytest.mark.parametrize("spreading", SPREADS)
def test_energy_of_every_band_and_every_direction_is_that_of_the_spectrum(spreading):
    chosen = SPREADS[spreading]
    made = sea(3, chosen)
    energy = (0.5 * made.amplitude**2).reshape(15, 5)
    crested = discretise(
        SEA, Spreading("long_crested"), TOWARDS, 15, 1, "uniform", generator(3, "waves")
    )
    np.testing.assert_allclose(energy.sum(axis=1), 0.5 * crested.amplitude**2, rtol=1e-12)
    angle, share = chosen.bands(5)
    np.testing.assert_allclose(energy.sum(axis=0) / energy.sum(), share, rtol=1e-12)
    directions = made.direction.reshape(15, 5)
    np.testing.assert_allclose(directions - TOWARDS, np.broadcast_to(angle, (15, 5)), atol=1e-12)
    # every component lies inside its band, and the parts of a band balance about its middle
    width = crested.omega[1] - crested.omega[0]
    off = made.omega.reshape(15, 5) - crested.omega[:, None]
    assert np.abs(off).max() < 0.5 * width
    np.testing.assert_allclose(off.sum(axis=1), 0.0, atol=1e-9)
    # neither side has the longer waves: the two orders cancel from band to band
    np.testing.assert_allclose(off[:-1] + off[1:], 0.0, atol=1e-9)


def test_long_crested_components_lie_in_the_middle_of_their_bands():
    made = discretise(SEA, Spreading("long_crested"), 0.0, 15, 1, "uniform", generator(1, "waves"))
    grid = SEA.grid()
    density = SEA.density(grid)
    energy = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(grid))])
    low, high = np.interp((0.001, 0.999), energy / energy[-1], grid)
    middle = low + (np.arange(15) + 0.5) * (high - low) / 15
    np.testing.assert_allclose(made.omega, middle, rtol=1e-6)
