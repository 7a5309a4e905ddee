"""Spectra, spreading and the components made from them."""

import math

import numpy as np
import pytest

from seatrial.ocean import spectra
from seatrial.ocean.integrals import integral
from seatrial.ocean.sea_states import SEA_STATES, sea_state
from seatrial.ocean.spreading import Spreading
from seatrial.ocean.synthesis import discretise
from seatrial.seeding import generator

SEAS = {
    "pierson_moskowitz_by_wind": spectra.pierson_moskowitz_by_wind(10.0),
    "pierson_moskowitz_by_height": spectra.pierson_moskowitz_by_height(3.0),
    "bretschneider": spectra.bretschneider(2.0, 8.0),
    "jonswap": spectra.jonswap(2.0, 8.0, 3.3),
    "jonswap_sharp": spectra.jonswap(4.0, 10.0, 7.0),
    "ochi_hubble": spectra.ochi_hubble(((2.5, 13.0, 3.0), (1.5, 7.0, 1.5))),
    "torsethaugen_wind": spectra.torsethaugen(4.0, 8.0),
    "torsethaugen_swell": spectra.torsethaugen(2.0, 14.0),
}
METHODS = ("uniform", "equal_energy", "jittered")
SPREADS = {
    "long_crested": Spreading("long_crested"),
    "cos2": Spreading("cos2"),
    "cos2s": Spreading("cos2s", 10.0),
}
TOWARDS = math.radians(130.0)


def components(
    sea, spreading=SPREADS["cos2"], frequencies=15, directions=5, method="jittered", seed=1
):
    rng = generator(seed, "waves")
    return discretise(sea, spreading, TOWARDS, frequencies, directions, method, rng)


def test_pierson_moskowitz_by_wind_gives_the_published_height_and_period():
    sea = spectra.pierson_moskowitz_by_wind(10.0)
    assert round(sea.significant_height, 2) == 2.13
    assert round(sea.peak_period, 2) == 7.30


def test_pierson_moskowitz_density_is_the_published_formula():
    """S(f) = A f⁻⁵ exp(−B f⁻⁴), with S(ω) = S(f) / 2π."""
    g, u = 9.80665, 12.0
    f = np.linspace(0.05, 0.6, 50)
    a = 8.10e-3 * g**2 * (2 * math.pi) ** -4
    b = 0.74 * (2 * math.pi * u / g) ** -4
    expected = a * f**-5 * np.exp(-b * f**-4) / (2 * math.pi)
    sea = spectra.pierson_moskowitz_by_wind(u)
    np.testing.assert_allclose(sea.density(2 * math.pi * f), expected, rtol=1e-5)


def test_bretschneider_density_agrees_with_the_rounded_ittc_coefficients():
    """A = 487 Hs²/T⁴ and B = 1949/T⁴ are (5/16) and (5/4) (2π)⁴, rounded."""
    omega = np.linspace(0.5, 3.0, 40)
    expected = 487 * 4.0 / 8.0**4 * omega**-5 * np.exp(-1949 / 8.0**4 * omega**-4)
    density = spectra.bretschneider(2.0, 8.0).density(omega)
    np.testing.assert_allclose(density, expected, rtol=4e-3)


def test_jonswap_peak_is_gamma_times_that_of_its_pierson_moskowitz_shape():
    one = spectra.jonswap(2.0, 8.0, 1.0)
    sharp = spectra.jonswap(2.0, 8.0, 3.3)
    peak, far = 2 * math.pi / 8.0, 3.0
    ratio = sharp.density(np.array([peak, far])) / one.density(np.array([peak, far]))
    np.testing.assert_allclose(ratio[0] / ratio[1], 3.3, rtol=1e-9)
    # DNV's fit of the normalisation, 1 − 0.287 ln γ, is good to a per cent
    np.testing.assert_allclose(ratio[1], 1 - 0.287 * math.log(3.3), rtol=0.01)


def test_ochi_hubble_with_unit_shape_and_one_system_is_bretschneider():
    omega = np.linspace(0.4, 3.0, 40)
    both = spectra.ochi_hubble(((2.0, 9.0, 1.0), (1e-9, 5.0, 1.0)))
    np.testing.assert_allclose(
        both.density(omega), spectra.bretschneider(2.0, 9.0).density(omega), rtol=1e-6
    )


def test_torsethaugen_puts_swell_above_and_wind_sea_below_the_fully_developed_period():
    for height, period in ((4.0, 8.0), (2.0, 14.0)):
        sea = spectra.torsethaugen(height, period)
        first, second = (2 * math.pi / w for w in sea.peaks)
        boundary = 6.6 * height ** (1 / 3)
        assert (first <= boundary < second) or (second <= boundary < first)


@pytest.mark.parametrize("name", SEAS)
def test_spectrum_integrates_to_its_significant_height(name):
    sea = SEAS[name]
    np.testing.assert_allclose(4 * math.sqrt(sea.moment(0)), sea.significant_height, rtol=1e-5)


@pytest.mark.parametrize("name", SEAS)
def test_highest_point_of_the_spectrum_lies_at_its_peak_period(name):
    sea = SEAS[name]
    omega = sea.grid()
    highest = omega[np.argmax(sea.density(omega))]
    np.testing.assert_allclose(2 * math.pi / highest, sea.peak_period, rtol=0.01)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SEAS)
def test_components_have_exactly_the_significant_height(name, method):
    made = components(SEAS[name], method=method)
    height = 4 * math.sqrt(np.sum(made.amplitude**2) / 2)
    np.testing.assert_allclose(height, SEAS[name].significant_height, rtol=1e-12)


@pytest.mark.parametrize("spreading", SPREADS)
@pytest.mark.parametrize("method", METHODS)
def test_components_have_exactly_the_mean_direction(spreading, method):
    made = components(SEAS["jonswap"], SPREADS[spreading], 20, 7, method)
    energy = made.amplitude**2
    mean = math.atan2(
        np.sum(energy * np.sin(made.direction)), np.sum(energy * np.cos(made.direction))
    )
    np.testing.assert_allclose(mean, TOWARDS, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_no_component_of_a_cos2_sea_travels_against_the_wind(method):
    made = components(SEAS["bretschneider"], directions=12, method=method)
    assert np.all(np.cos(made.direction - TOWARDS) > 0.0)


def test_uniform_bands_span_the_ittc_range_of_the_pierson_moskowitz_spectrum():
    sea = SEAS["pierson_moskowitz_by_wind"]
    omega = np.unique(components(sea, frequencies=1000, method="uniform").omega) / sea.peaks[0]
    width = omega[1] - omega[0]
    np.testing.assert_allclose(np.diff(omega), width, rtol=1e-6)
    assert abs(omega[0] - width / 2 - 0.652) < 1e-3
    assert abs(omega[-1] + width / 2 - 5.946) < 0.02


@pytest.mark.parametrize("name", ["bretschneider", "jonswap", "ochi_hubble", "torsethaugen_swell"])
def test_uniform_bands_hold_the_energy_of_the_spectrum_in_each_band(name):
    sea = SEAS[name]
    made = components(sea, SPREADS["long_crested"], 200, 1, "uniform")
    width = made.omega[1] - made.omega[0]
    for i in (5, 20, 60):
        fine = np.linspace(made.omega[i] - width / 2, made.omega[i] + width / 2, 400)
        expected = integral(sea.density(fine), fine) / 0.998
        np.testing.assert_allclose(made.amplitude[i] ** 2 / 2, expected, rtol=2e-3)


@pytest.mark.parametrize("name", SEAS)
def test_finest_components_are_strongest_at_the_peak_period(name):
    made = components(SEAS[name], SPREADS["long_crested"], 600, 1, "uniform")
    period = 2 * math.pi / made.omega[np.argmax(made.amplitude)]
    np.testing.assert_allclose(period, SEAS[name].peak_period, rtol=0.02)


def test_equal_energy_components_have_one_amplitude_and_no_common_frequency():
    made = components(SEAS["jonswap"], method="equal_energy")
    np.testing.assert_allclose(made.amplitude, made.amplitude[0], rtol=1e-12)
    assert len(np.unique(made.omega)) == len(made.omega)


def test_cos2_spreading_shares_follow_the_ittc_function():
    angle, share = SPREADS["cos2"].bands(9)
    assert np.all(np.abs(angle) < math.pi / 2)
    edge = math.pi / 18

    def below(a):
        return (a + math.sin(a) * math.cos(a)) / math.pi + 0.5

    expected = [below(a + edge) - below(a - edge) for a in angle]
    np.testing.assert_allclose(share, expected, atol=1e-7)


def test_cos2s_spreading_has_the_circular_spread_of_theory():
    """First moment of cos^2s (α/2): s / (s + 1), but for the 0.2 % of energy left out."""
    for s in (2.0, 10.0, 50.0):
        angle, share = Spreading("cos2s", s).bands(2001)
        np.testing.assert_allclose(np.sum(share * np.cos(angle)), s / (s + 1), rtol=6e-3)


def autocorrelation(made, lag):
    """Of the elevation at a point, over its variance, at each lag (s)."""
    weight = made.amplitude**2 / np.sum(made.amplitude**2)
    return np.array([np.sum(weight * np.cos(made.omega * s)) for s in lag])


def test_jittered_and_equal_energy_seas_do_not_repeat_within_an_hour_while_uniform_bands_do():
    """A repetition shows as an autocorrelation near one; 20 s to 1 h is searched."""
    lag = np.arange(20.0, 3600.0, 0.1)
    sea = SEAS["pierson_moskowitz_by_wind"]
    assert max(autocorrelation(components(sea, method="uniform"), lag)) > 0.99
    assert max(autocorrelation(components(sea, method="equal_energy"), lag)) < 0.75
    for seed in range(5):
        assert max(autocorrelation(components(sea, method="jittered", seed=seed), lag)) < 0.75


def test_sea_state_heights_lie_in_the_bands_of_the_wmo_code():
    bands = [
        (0, 0),
        (0, 0.1),
        (0.1, 0.5),
        (0.5, 1.25),
        (1.25, 2.5),
        (2.5, 4),
        (4, 6),
        (6, 9),
        (9, 14),
    ]
    for code, (low, high) in enumerate(bands):
        assert low <= SEA_STATES[code][0] <= high
    assert SEA_STATES[9][0] >= 14.0
    assert sea_state(0) is None
    for code in range(1, 10):
        made = sea_state(code)
        np.testing.assert_allclose(4 * math.sqrt(made.moment(0)), SEA_STATES[code][0], rtol=1e-5)
