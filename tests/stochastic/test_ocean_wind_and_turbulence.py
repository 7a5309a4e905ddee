"""Gusts and turbulence: variance, spectrum and, for the water, no divergence.

The fields are sums of harmonics whose variances are exact, so most claims need no statistics; those
that do are z-tests over fixed seeds with a false-alarm rate of 1e-4.
"""

import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from seatrial.compile.surroundings.world import build_ocean
from seatrial.ocean import turbulence, wind
from seatrial.spec.world import World

pytestmark = pytest.mark.usefixtures("x64")

ALARM = 1e-4
EPSILON, OUTER, SMALLEST = 1e-5, 4.0, 0.04


def ocean(seed=1, **parts):
    world = World.model_validate({"kind": "world", "name": "test", **parts})
    return build_ocean(world, seed, jnp.float64)


def air(seed=1, **parts):
    return ocean(seed, wind={"speed": 12.0, "towards_deg": 30.0, **parts}).wind


def water(seed=1, modes=200, **parts):
    described = {
        "dissipation_rate": EPSILON,
        "outer_length": OUTER,
        "smallest_length": SMALLEST,
        "modes": modes,
    }
    return ocean(seed, turbulence=described, **parts).turbulence


@pytest.mark.parametrize(
    ("parts", "law"),
    [
        ({"profile": "log", "roughness": 1e-3}, lambda h: math.log(h / 1e-3) / math.log(1e4)),
        ({"profile": "power", "exponent": 0.14}, lambda h: (h / 10.0) ** 0.14),
    ],
)
def test_mean_wind_follows_its_boundary_layer_and_direction(parts, law):
    for height in (1.0, 10.0, 30.0):
        north, east, down = wind.sample(air(**parts), (5.0, 6.0, -height), 0.0)
        np.testing.assert_allclose(math.hypot(north, east), 12.0 * law(height), rtol=1e-12)
        np.testing.assert_allclose(math.atan2(east, north), math.radians(30.0), rtol=1e-12)
        assert float(down) == 0.0


def test_wind_stays_finite_under_water():
    under = wind.sample(air(gusts={"spectrum": "norsok"}), (0.0, 0.0, 20.0), 0.0)
    assert all(math.isfinite(v) for v in under)


def test_davenport_density_integrates_to_six_drag_times_speed_squared():
    everything = wind.band_variance("davenport", 12.0, 1e-7, 1.0) + wind.band_variance(
        "davenport", 12.0, 1.0, 1e6
    )
    np.testing.assert_allclose(everything, 6 * 0.002 * 12.0**2, rtol=1e-3)


def test_norsok_gusts_have_the_turbulence_intensity_of_the_same_standard():
    """I_u(10 m) = 0.06 (1 + 0.043 U): an independent formula of NORSOK N-003, met within 10 %."""
    for speed in (10.0, 20.0, 30.0):
        deviation = math.sqrt(wind.band_variance("norsok", speed, 1 / 3600, 0.5))
        assert abs(deviation / speed / (0.06 * (1 + 0.043 * speed)) - 1) < 0.1


@pytest.mark.parametrize("spectrum", ["norsok", "davenport"])
def test_gusts_have_the_variance_of_their_spectrum_in_every_band(spectrum):
    made = air(gusts={"spectrum": spectrum, "harmonics": 60}).gusts
    hertz, variance = made.omega / (2 * math.pi), made.amplitude**2 / 2
    total = wind.band_variance(spectrum, 12.0, 1 / 600, 0.5)
    np.testing.assert_allclose(np.sum(variance), total, rtol=1e-4)
    for low in (0, 20, 40):
        band = slice(low, low + 20)
        edges = np.geomspace(1 / 600, 0.5, 61)[[low, low + 20]]
        assert np.all((hertz[band] >= edges[0]) & (hertz[band] <= edges[1]))
        np.testing.assert_allclose(
            np.sum(variance[band]), wind.band_variance(spectrum, 12.0, *edges), rtol=1e-3
        )


def test_gust_records_have_the_variance_of_the_spectrum():
    target = wind.band_variance("norsok", 12.0, 1 / 600, 0.5)
    t = jnp.arange(0.0, 3600.0, 1.0)
    record = jax.jit(
        lambda air, t: jax.vmap(
            lambda s: wind.sample(air, (0.0, 0.0, -10.0), s)[0] / math.cos(math.radians(30.0))
        )(t)
    )
    found = [np.var(record(air(seed, gusts={"spectrum": "norsok"}), t)) for seed in range(40)]
    error = np.std(found, ddof=1) / math.sqrt(len(found))
    assert abs(np.mean(found) - target) < stats.t.isf(ALARM / 2, 39) * error
    assert abs(np.mean(found) / target - 1) < 0.05


def test_gusts_reach_a_point_downwind_later_by_the_travel_time():
    gusty = air(gusts={"spectrum": "davenport"})
    there = (120.0 * math.cos(math.radians(30.0)), 120.0 * math.sin(math.radians(30.0)), -10.0)
    np.testing.assert_allclose(
        wind.sample(gusty, there, 60.0), wind.sample(gusty, (0.0, 0.0, -10.0), 50.0), rtol=1e-10
    )


def test_turbulence_has_the_energy_of_its_spectrum():
    """½⟨u²⟩ is the sum of the shells' energies in every realisation."""
    made = water()
    energy = np.sum(made.cosine**2 + made.sine**2) / 4
    low, high = 1 / (turbulence.LARGEST_SCALE * OUTER), 2 * math.pi / SMALLEST
    k = np.geomspace(low, high, 40001)
    density = turbulence.energy_spectrum(k, EPSILON, OUTER)
    expected = np.sum(0.5 * (density[1:] + density[:-1]) * np.diff(k))
    np.testing.assert_allclose(energy, expected, rtol=1e-4)


def test_sampled_turbulence_has_its_variance_and_is_isotropic():
    made = water()
    points = jnp.asarray(np.random.default_rng(0).uniform(-2000.0, 2000.0, (3, 200_000)))
    sampled = np.array(jax.jit(turbulence.sample)(made, tuple(points), 0.0))
    total = np.sum(made.cosine**2 + made.sine**2) / 2
    np.testing.assert_allclose(np.sum(np.mean(sampled**2, axis=1)), total, rtol=0.02)
    shares = np.array(
        [
            np.sum(np.asarray(m.cosine) ** 2 + np.asarray(m.sine) ** 2, axis=1)
            for m in (water(seed, modes=64) for seed in range(200))
        ]
    )
    shares = shares / np.sum(shares, axis=1, keepdims=True)
    error = np.std(shares, axis=0, ddof=1) / math.sqrt(len(shares))
    assert np.all(np.abs(np.mean(shares, axis=0) - 1 / 3) < stats.t.isf(ALARM / 2, 199) * error)


def test_outer_scale_velocity_agrees_with_the_cube_root_of_dissipation_times_length():
    """u' = √(2/3 ∫E dk) is (ε L)^⅓ times a constant of order one of this spectrum."""
    for epsilon, length in ((1e-8, 1.0), (1e-5, 20.0)):
        energy = turbulence.band_energy(0.01 / length, 1.0 / length, epsilon, length)
        energy += turbulence.band_energy(1.0 / length, 1e4 / length, epsilon, length)
        ratio = math.sqrt(2 / 3 * energy) / (epsilon * length) ** (1 / 3)
        assert 0.75 < ratio < 1.1


def test_turbulence_has_a_minus_five_thirds_range_at_the_level_of_its_dissipation():
    """E(k) = 1.5 ε^⅔ k^(−5/3) between the outer and the dissipative scales, from the modes."""
    made = water(modes=400)
    k = np.linalg.norm(made.wavevector, axis=0)
    speed2 = np.sum(made.cosine**2 + made.sine**2, axis=0) / 2
    edges = np.geomspace(1 / (turbulence.LARGEST_SCALE * OUTER), 2 * math.pi / SMALLEST, 401)
    density = speed2 / 2 / np.diff(edges)
    middle = np.sqrt(edges[1:] * edges[:-1])
    # the Pao factor is 0.9 at k η = 0.1
    inertial = (middle > 5 / OUTER) & (middle < 0.05 / (turbulence.VISCOSITY**3 / EPSILON) ** 0.25)
    slope, _ = np.polyfit(np.log(middle[inertial]), np.log(density[inertial]), 1)
    assert np.sum(inertial) > 50
    assert abs(slope + 5 / 3) < 0.1
    compensated = density[inertial] * middle[inertial] ** (5 / 3) / EPSILON ** (2 / 3)
    np.testing.assert_allclose(compensated, 1.5, rtol=0.15)
    assert np.all((k > edges[:-1]) & (k < edges[1:]))


def test_one_dimensional_record_through_turbulence_falls_with_minus_five_thirds():
    """Longitudinal spectrum along a line, E₁₁(k) = (18/55) 1.5 ε^⅔ k^(−5/3), over 30 seeds."""
    x = jnp.arange(0.0, 409.6, 0.05)
    line = jax.jit(lambda w: turbulence.sample(w, (x, 0.0 * x, 0.0 * x), 0.0)[0])
    window = np.hanning(len(x))
    power = np.mean(
        [np.abs(np.fft.rfft(np.asarray(line(water(s, 300))) * window)) ** 2 for s in range(30)],
        axis=0,
    )
    k = 2 * math.pi * np.fft.rfftfreq(len(x), 0.05)
    # one-sided density, so that its integral over k is the variance of the component
    density = 2 * power / np.sum(window**2) * 0.05 / (2 * math.pi)
    edges = np.geomspace(2.0, 20.0, 9)
    bands = [(k > low) & (k <= high) for low, high in pairwise(edges)]
    compensated = [np.mean(density[b] * k[b] ** (5 / 3)) / EPSILON ** (2 / 3) for b in bands]
    slope, _ = np.polyfit(np.log(edges[1:]), np.log(compensated), 1)
    assert abs(slope) < 0.15
    np.testing.assert_allclose(np.mean(compensated), 18 / 55 * 1.5, rtol=0.1)


def test_turbulence_is_free_of_divergence():
    made = water()

    def velocity(p):
        return jnp.stack(turbulence.sample(made, (p[0], p[1], p[2]), 5.0))

    for point in np.random.default_rng(2).uniform(-50.0, 50.0, (5, 3)):
        jacobian = np.array(jax.jacfwd(velocity)(jnp.asarray(point)))
        assert abs(np.trace(jacobian)) < 1e-11 * np.max(np.abs(jacobian))


def test_eddies_are_carried_by_the_current_and_change_slowly_while_they_drift():
    still = water()
    carried = water(current={"speed": 1.5, "towards_deg": 90.0})
    np.testing.assert_allclose(
        turbulence.sample(carried, (0.3, 0.2 + 1.5 * 8.0, 1.0), 8.0),
        turbulence.sample(still, (0.3, 0.2, 1.0), 8.0),
        rtol=1e-9,
    )
    before = np.array(turbulence.sample(still, (0.3, 0.2, 1.0), 0.0))
    after = np.array(turbulence.sample(still, (0.3, 0.2, 1.0), 600.0))
    assert np.max(np.abs(after - before)) > 1e-3
