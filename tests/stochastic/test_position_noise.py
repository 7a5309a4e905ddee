"""Distributions of the errors of positioning sensors, drawn from the streams that a run uses.

Every test is two-sided with the false-alarm rate `ALARM` per comparison: Kolmogorov–Smirnov for a
distribution, chi-squared for a standard deviation, Fisher's z for a correlation, an exact binomial
test for a rate. The seeds are fixed, so a test that passes keeps passing.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

from positioning import BASIN, build, calm, keys, random_states, series, state
from seatrial.sensors.look import Look
from seatrial.sensors.noise import draws as drawing

pytestmark = pytest.mark.usefixtures("x64")

ALARM = 1e-4
SAMPLES = 20_000
VEHICLES = 4000


def many(built, turns=None):
    """Values (D, S) of samples that one vehicle takes on the spot with a memoryless sensor."""
    noise = drawing.normal(
        keys(1, seed=11), jnp.int64(1), SAMPLES, built.sensor.draws, np.dtype(float)
    )
    seen = state(np.broadcast_to([[1.0], [2.0], [-0.5]], (3, SAMPLES)), turns)
    memory = built.sensor.begin(jnp.zeros((built.sensor.starting_draws, SAMPLES)))
    look = Look(None, calm(), seen, jnp.float64(0.0))
    return np.asarray(built.sensor.measure(memory, look, noise[:, :, 0].T).values)


def assert_normal(samples, sigma):
    assert stats.kstest(samples / sigma, "norm").pvalue > ALARM


def assert_deviation(samples, sigma):
    """Of samples whose mean is known to be zero."""
    squares = np.sum((samples / sigma) ** 2)
    low, high = stats.chi2.ppf([ALARM / 2, 1 - ALARM / 2], len(samples))
    assert low < squares < high, f"{math.sqrt(squares / len(samples))} of {sigma}"


def assert_correlation(a, b, expected):
    z = (np.arctanh(np.corrcoef(a, b)[0, 1]) - math.atanh(expected)) * math.sqrt(len(a) - 3)
    assert abs(z) < stats.norm.isf(ALARM / 2)


# --- white noise

WHITE = {
    "gnss": (
        {
            "noise": 0.3,
            "vertical_noise": 0.7,
            "drift": 0.0,
            "vertical_drift": 0.0,
            "velocity_noise": 0.05,
            "vertical_velocity_noise": 0.2,
        },
        [0.3, 0.3, 0.7, 0.05, 0.05, 0.2],
        [1.0, 2.0, -0.5, 0.0, 0.0, 0.0],
    ),
    "compass": (
        {"noise_deg": 0.5, "resolution": 0.0, "yaw_deg": 180},
        [math.radians(0.5)],
        [math.pi],
    ),
    "ahrs": (
        {"tilt_error": 0.0, "heading_error": 0.0, "rate_noise": 1e-3, "rate": 25.0},
        [5e-3] * 3,
        [0.0] * 3,
    ),
    "magnetometer": (
        {"noise": 2e-7, "resolution": 0.0, "strength": 5e-5, "inclination": 0.0},
        [2e-7] * 3,
        [5e-5, 0.0, 0.0],
    ),
    "uwb": (
        {"noise": 0.1},
        [0.1] * 4,
        [math.dist(anchor, (1.0, 2.0, -0.5)) for anchor in BASIN],
    ),
}
ROWS = {"ahrs": slice(4, 7), "uwb": slice(3, 7), "gnss": slice(0, 6)}


@pytest.mark.parametrize("kind", WHITE)
def test_white_noise_is_normal_with_the_deviation_told_and_independent_between_axes(kind):
    given, sigma, truth = WHITE[kind]
    built = build(kind, **given)
    rows = ROWS.get(kind, slice(None))
    errors = many(built)[rows] - np.array(truth)[:, None]
    assert built.deviation[rows] == pytest.approx(sigma)
    for error, deviation in zip(errors, sigma, strict=True):
        assert_normal(error, deviation)
        assert_correlation(error[:-1], error[1:], 0.0)
    for i in range(len(errors)):
        for j in range(i):
            assert_correlation(errors[i], errors[j], 0.0)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("compass", {"noise_deg": 0.2, "resolution_deg": 2.0}),
        ("magnetometer", {"noise": 1e-7, "resolution": 1e-6}),
    ],
)
def test_rounding_is_part_of_the_deviation_told(kind, given):
    """Steps of 10 σ at random attitudes, so that a truth is anywhere between two of them.

    The error is then uniform plus normal; its mean square is compared by a z-test.
    """
    _, turns, _ = random_states(SAMPLES)
    exact = many(build(kind, fidelity="ideal"), turns=turns)
    built = build(kind, **given)
    errors = many(built, turns=turns) - exact
    if kind == "compass":
        errors = np.angle(np.exp(1j * errors))
    squares = errors**2
    z = (np.mean(squares, axis=1) - np.array(built.deviation) ** 2) / stats.sem(squares, axis=1)
    assert np.all(np.abs(z) < stats.norm.isf(ALARM / 2))


# --- drifting errors


@pytest.fixture(scope="module")
def gnss_errors():
    """Position errors (S, 3, N) of receivers with a drift and no white noise, once a second."""
    with jax.enable_x64(True):
        built = build(
            "gnss",
            noise=0.0,
            vertical_noise=0.0,
            drift=1.5,
            vertical_drift=3.0,
            drift_time=40.0,
            vertical_drift_time=15.0,
        )
        places = np.broadcast_to([[1.0], [2.0], [-0.5]], (121, 3, VEHICLES))
        values, valid = series(built.sensor, places, keys=keys(VEHICLES))
    assert np.all(valid)
    return values[:, :3] - places


@pytest.mark.parametrize(("axis", "sigma"), [(0, 1.5), (1, 1.5), (2, 3.0)])
@pytest.mark.parametrize("sample", [0, 60, 120])
def test_gnss_drift_is_normal_with_its_deviation_at_all_times(gnss_errors, axis, sigma, sample):
    error = gnss_errors[sample, axis]
    assert_normal(error, sigma)
    assert_deviation(error, sigma)


@pytest.mark.parametrize(("axis", "time"), [(0, 40.0), (1, 40.0), (2, 15.0)])
@pytest.mark.parametrize("lag", [1, 10, 40, 100])
def test_gnss_drift_forgets_exponentially(gnss_errors, axis, time, lag):
    assert_correlation(gnss_errors[20, axis], gnss_errors[20 + lag, axis], math.exp(-lag / time))


def test_gnss_drift_of_axes_and_vehicles_is_independent(gnss_errors):
    now = gnss_errors[50]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        assert_correlation(now[a], now[b], 0.0)
    assert_correlation(now[0, :-1], now[0, 1:], 0.0)


def test_gnss_error_as_a_whole_has_the_deviation_told():
    built = build("gnss", position=[0, 0, -1])
    places = np.zeros((3, 3, VEHICLES))
    values, _ = series(built.sensor, places, keys=keys(VEHICLES, seed=5))
    truth = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    for error, sigma in zip((values[-1, :6].T - truth).T, built.deviation[:6], strict=True):
        assert_normal(error, sigma)
        assert_deviation(error, sigma)


def test_ahrs_attitude_error_drifts_about_the_axes_of_the_world():
    built = build(
        "ahrs", tilt_error_deg=0.5, tilt_time=20.0, heading_error_deg=2.0, heading_time=50.0
    )
    _, turns, _ = random_states(VEHICLES)
    values, _ = series(
        built.sensor, np.zeros((61, 3, VEHICLES)), keys=keys(VEHICLES, seed=3), turns=turns
    )
    errors = [
        (Rotation.from_quat(values[k, [1, 2, 3, 0]].T) * turns.inv()).as_rotvec().T
        for k in (0, 20, 60)
    ]
    for axis, (sigma, time) in enumerate([(0.5, 20.0), (0.5, 20.0), (2.0, 50.0)]):
        for error in errors:
            assert_normal(error[axis], math.radians(sigma))
            assert_deviation(error[axis], math.radians(sigma))
        assert_correlation(errors[0][axis], errors[1][axis], math.exp(-20.0 / time))
        assert_correlation(errors[1][axis], errors[2][axis], math.exp(-40.0 / time))
    assert built.facts["attitude_deviation"] == pytest.approx(
        (math.radians(0.5), math.radians(0.5), math.radians(2.0))
    )


def test_ahrs_quaternion_of_a_level_vehicle_has_the_deviation_told():
    """Over random headings; a product of two random numbers, so a z-test of the mean square."""
    built = build("ahrs")
    turns = Rotation.from_euler(
        "Z", np.random.default_rng(4).uniform(0, 2 * math.pi, (VEHICLES, 1))
    )
    values, _ = series(
        built.sensor, np.zeros((1, 3, VEHICLES)), keys=keys(VEHICLES, seed=8), turns=turns
    )
    squares = (values[0, :4] - turns.as_quat()[:, [3, 0, 1, 2]].T) ** 2
    expected = np.array(built.deviation[:4]) ** 2
    z = (np.mean(squares, axis=1) - expected) / stats.sem(squares, axis=1)
    assert np.all(np.abs(z) < stats.norm.isf(ALARM / 2))


# --- UWB


def test_uwb_detours_come_at_their_rate_and_are_exponential():
    built = build("uwb", noise=0.0, outlier_probability=0.05, outlier_detour=1.5)
    truth = np.array([math.dist(anchor, (1.0, 2.0, -0.5)) for anchor in BASIN])
    extra = many(built)[3:] - truth[:, None]
    assert np.all(extra > -1e-12), "a detour is never shorter than the straight way"
    struck = extra > 1e-12
    for row in struck:
        assert stats.binomtest(int(row.sum()), row.size, 0.05).pvalue > ALARM
    assert stats.kstest(extra[struck], "expon", args=(0, 1.5)).pvalue > ALARM
    assert_correlation(struck[0], struck[1], 0.0)


def test_uwb_shadow_strikes_one_anchor_at_its_rate():
    shadow = {"anchor": 3, "low": [0, 0, -2], "high": [4, 4, 2], "probability": 0.6, "detour": 4.0}
    built = build("uwb", noise=0.0, shadows=[shadow])
    truth = np.array([math.dist(anchor, (1.0, 2.0, -0.5)) for anchor in BASIN])
    extra = many(built)[3:] - truth[:, None]
    struck = extra[2] > 1e-12
    assert stats.binomtest(int(struck.sum()), struck.size, 0.6).pvalue > ALARM
    assert stats.kstest(extra[2, struck], "expon", args=(0, 4.0)).pvalue > ALARM
    assert np.max(np.abs(np.delete(extra, 2, axis=0))) < 1e-12


@pytest.mark.parametrize("depth_change", [0.05, 5.0], ids=["firm", "loose"])
def test_uwb_position_has_the_deviation_told(depth_change):
    """Amid the anchors, where it is computed, once the solution has settled; 1 % for curvature."""
    built = build("uwb", noise=0.02, depth_change=depth_change, position=[0, 0, -0.5])
    values, _ = series(built.sensor, np.zeros((80, 3, VEHICLES)), keys=keys(VEHICLES, seed=2))
    errors = values[-1, :3] - np.array([[0.0], [0.0], [-0.5]])
    slack = 0.01 + stats.norm.isf(ALARM / 2) / math.sqrt(2 * VEHICLES)
    np.testing.assert_allclose(np.std(errors, axis=1), built.deviation[:3], rtol=slack)
    assert built.deviation[2] > built.deviation[0]
