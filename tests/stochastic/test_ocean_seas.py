"""Statistics of synthesised seas over many seeds.

Every test compares a mean over independent seeds with its target by a two-sided z-test at the
false-alarm rate `ALARM`. The seeds are fixed, so a test that passes keeps passing.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from seatrial.compile.surroundings.world import build_ocean
from seatrial.ocean import spectra, waves
from seatrial.ocean.spreading import Spreading
from seatrial.ocean.synthesis import discretise, waves_from
from seatrial.seeding import generator
from seatrial.spec.world import World

pytestmark = pytest.mark.usefixtures("x64")

ALARM = 1e-4
CRITICAL = 3.89
"""Two-sided quantile of the normal distribution at `ALARM`."""
TOWARDS = math.radians(200.0)
SEAS = {
    "pierson_moskowitz": spectra.pierson_moskowitz_by_wind(10.0),
    "bretschneider": spectra.bretschneider(2.0, 8.0),
    "jonswap": spectra.jonswap(2.0, 8.0),
    "ochi_hubble": spectra.ochi_hubble(((2.5, 13.0, 3.0), (1.5, 7.0, 1.5))),
    "torsethaugen": spectra.torsethaugen(3.0, 12.0),
}


def sea(name, seed, frequencies, directions):
    rng = generator(seed, "waves")
    made = discretise(
        SEAS[name], Spreading("cos2"), TOWARDS, frequencies, directions, "jittered", rng
    )
    return waves_from([made], None, "constant", jnp.float64)


@pytest.fixture(scope="module")
def records():
    """Half-hour records at a buoy of elevation, its rate and its slopes, for each sea and seed."""
    with jax.enable_x64(True):

        @jax.jit
        def record(waves_now, t):
            def buoy(time):
                zeta, rate = jax.jvp(
                    lambda s: waves.elevation(waves_now, 0.0, 0.0, s), (time,), (1.0,)
                )
                return jnp.stack([zeta, rate, *waves.slope(waves_now, 0.0, 0.0, time)])

            return jax.lax.map(buoy, t, batch_size=512)

        t = jnp.arange(0.0, 2048.0, 0.5)
        return {
            name: np.array([record(sea(name, seed, 60, 5), t) for seed in range(24)])
            for name in SEAS
        }


def z_score(samples, target):
    return (np.mean(samples) - target) / (np.std(samples, ddof=1) / math.sqrt(len(samples)))


def z_limit(count):
    return stats.t.isf(ALARM / 2, count - 1)


@pytest.mark.parametrize("name", SEAS)
def test_significant_height_of_records_matches_the_target(name, records):
    variance = np.var(records[name][..., 0], axis=1)
    target = (SEAS[name].significant_height / 4) ** 2
    assert abs(np.mean(variance) / target - 1) < 0.02
    assert abs(z_score(variance, target)) < z_limit(len(variance))


@pytest.mark.parametrize("name", SEAS)
def test_peak_period_of_records_matches_the_spectrum(name, records):
    """Peak frequency by ∫ω S⁴ / ∫S⁴ (Young 1995), of the spectrum and of averaged periodograms.

    The smoothing of a periodogram moves a skewed peak by up to 2 %, which the test allows for.
    """
    zeta = records[name][..., 0].reshape(6, 4, -1)
    omega = 2 * math.pi * np.fft.rfftfreq(zeta.shape[-1], 0.5)
    power = np.mean(np.abs(np.fft.rfft(zeta * np.hanning(zeta.shape[-1]))) ** 2, axis=1)
    smooth = np.array([np.convolve(p, np.ones(15) / 15, mode="same") for p in power])
    found = np.sum(omega * smooth**4, axis=1) / np.sum(smooth**4, axis=1)
    grid = SEAS[name].grid()
    density, cell = SEAS[name].density(grid), np.gradient(grid)
    target = np.sum(grid * density**4 * cell) / np.sum(density**4 * cell)
    error = np.std(found, ddof=1) / math.sqrt(len(found))
    assert abs(np.mean(found) / target - 1) < 0.06
    assert abs(np.mean(found) - target) < 0.02 * target + z_limit(len(found)) * error


@pytest.mark.parametrize("name", SEAS)
def test_mean_direction_of_records_matches_the_target(name, records):
    """Energy flux of the surface, −⟨ζ_t ∇ζ⟩, points where the waves travel (Longuet-Higgins)."""
    _, rate, north, east = np.moveaxis(records[name], -1, 0)
    across = np.mean(-rate * (east * math.cos(TOWARDS) - north * math.sin(TOWARDS)), axis=1)
    along = np.mean(-rate * (north * math.cos(TOWARDS) + east * math.sin(TOWARDS)), axis=1)
    assert np.all(along > 0)
    angle = np.arctan2(across, along)
    assert abs(np.mean(angle)) < math.radians(5.0)
    assert abs(z_score(angle, 0.0)) < z_limit(len(angle))


@pytest.mark.parametrize("name", SEAS)
def test_elevation_over_seeds_has_the_variance_of_the_spectrum(name):
    """For random phases Var(ζ²) = 2 m₀² − (3/8) Σ a⁴ exactly, which sets the test's width."""
    made = [sea(name, seed, 15, 5) for seed in range(800)]
    amplitude = np.array([np.asarray(w.amplitude) for w in made])
    squared = np.sum(amplitude * np.cos([np.asarray(w.phase) for w in made]), axis=1) ** 2
    m0 = (SEAS[name].significant_height / 4) ** 2
    spread = math.sqrt(2 * m0**2 - 0.375 * np.sum(amplitude[0] ** 4))
    assert abs(np.mean(squared) - m0) / (spread / math.sqrt(len(made))) < CRITICAL


def test_jittered_frequencies_follow_the_spectrum_on_the_mean_over_seeds():
    """Zero-crossing period √(m₀/m₂) of the components against that of the spectrum's band."""
    target = SEAS["jonswap"]
    grid = target.grid()
    energy = np.cumsum(target.density(grid) * np.gradient(grid))
    inside = (energy > 0.001 * energy[-1]) & (energy < 0.999 * energy[-1])
    weight = target.density(grid) * np.gradient(grid) * inside
    expected = np.sum(weight * grid**2) / np.sum(weight)
    made = [sea("jonswap", seed, 15, 5) for seed in range(200)]
    found = [float(jnp.sum(w.amplitude**2 * w.omega**2) / jnp.sum(w.amplitude**2)) for w in made]
    assert abs(z_score(found, expected)) < z_limit(len(found))


def world(**parts):
    return World.model_validate({"kind": "world", "name": "test", **parts})


JONSWAP = {"spectrum": "jonswap", "significant_height": 2.0, "peak_period": 8.0}
FULL = {
    "waves": JONSWAP,
    "wind": {"speed": 9.0, "gusts": {"spectrum": "norsok"}},
    "turbulence": {"dissipation_rate": 1e-6, "outer_length": 5.0},
}


def test_same_seed_gives_the_same_arrays_and_another_seed_gives_others():
    one, same, other = (build_ocean(world(**FULL), seed, jnp.float64) for seed in (7, 7, 8))
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(same), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one.waves.phase, other.waves.phase)
    assert not np.array_equal(one.waves.omega, other.waves.omega)
    assert not np.array_equal(one.wind.gusts.phase, other.wind.gusts.phase)
    assert not np.array_equal(one.turbulence.phase, other.turbulence.phase)


def test_adding_a_swell_wind_or_turbulence_leaves_the_wind_sea_as_it_was():
    swell = {"significant_height": 1.0, "peak_period": 14.0, "towards_deg": 90.0}
    plain = build_ocean(world(waves=JONSWAP), 7, jnp.float64).waves
    rich = build_ocean(world(**FULL | {"waves": JONSWAP | {"swell": swell}}), 7, jnp.float64).waves
    count = len(plain.phase)
    assert len(rich.phase) == 2 * count
    np.testing.assert_array_equal(rich.phase[:count], plain.phase)
    np.testing.assert_array_equal(rich.omega[:count], plain.omega)
    height = 4 * math.sqrt(float(jnp.sum(rich.amplitude**2)) / 2)
    np.testing.assert_allclose(height, math.hypot(2.0, 1.0), rtol=1e-12)
