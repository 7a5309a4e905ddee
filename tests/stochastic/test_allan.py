"""Six still hours of every IMU in the library, and what an Allan deviation finds in them."""

import math
from functools import cache, partial

import allantools
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import lfilter

from seatrial.compile.sensors.context import Context
from seatrial.compile.sensors.inertial import imu
from seatrial.core.types import State
from seatrial.sensors.look import Look
from seatrial.sensors.noise import draws as drawing
from seatrial.sensors.noise.allan import Curve, allan, fit
from seatrial.sensors.noise.processes import FLOOR, PEAK, PEAK_TIME, instability_deviation
from seatrial.sensors.sensor import Mount
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.sensors.inertial import Imu, ImuErrors

HOURS = 6
RATE = 20.0
"""Samples per second. Sampling is exact at any rate; it only has to be well above the reciprocal
of the shortest averaging time that matters, the 1.2 s at which the noise of the ADIS16448's
accelerometer turns into its random walk."""
LEVEL = 0.999
"""Of the intervals: eighteen of them, each missing the truth once in a thousand, give a false-alarm
rate of at most 2 % for all; the seed is fixed."""
PRESETS = library_names("imu")
TRIADS = {"accelerometer": slice(0, 3), "gyroscope": slice(3, 6)}


@cache
def _still(preset: str) -> np.ndarray:
    """(samples, 6) of a unit at rest, by the compiled sensor; errors that do not move left out."""
    with jax.enable_x64(True):
        errors = load(preset, ImuErrors)
        spec = Imu(type="imu", name="imu", rate=RATE, errors=errors, fidelity="nominal")
        mount = Mount(jnp.zeros(3), jnp.eye(3).ravel())
        context = Context(mount, np.dtype(np.float64), 1.0 / RATE, None, None, (), (0.0, 0.0))
        sensor = imu(spec, context).sensor
        keys = jnp.asarray(drawing.key(1, preset)[:, None])

        @partial(jax.jit, static_argnames="count")
        def chunk(memory, first, count):
            def one(memory, row):
                state = State(
                    position=jnp.zeros((3, 1)),
                    attitude=jnp.array([[1.0], [0.0], [0.0], [0.0]]),
                    velocity=jnp.zeros((6, 1)),
                    actuators=jnp.zeros((0, 1)),
                )
                look = Look(None, None, state, jnp.float64(0.0), jnp.zeros((6, 1)))
                reading = sensor.measure(memory, look, row)
                return reading.memory, reading.values[:, 0]

            drawn = drawing.normal(keys, first, count, sensor.draws, jnp.float64)
            return jax.lax.scan(one, memory, drawn, unroll=4)

        start = drawing.normal(keys, jnp.int64(0), 1, sensor.starting_draws, jnp.float64)
        memory, parts, count = sensor.begin(start[0]), [], round(HOURS * 3600 * RATE / 12)
        for k in range(12):
            memory, values = chunk(memory, jnp.int64(1 + k * count), count)
            parts.append(np.asarray(values))
    return np.concatenate(parts)


@cache
def _curve(preset: str, triad: str) -> Curve:
    return allan(_still(preset)[:, TRIADS[triad]], 1.0 / RATE)


@pytest.mark.parametrize("triad", TRIADS)
@pytest.mark.parametrize("preset", PRESETS)
def test_six_still_hours_give_back_the_noise_of_the_file(preset: str, triad: str):
    """N, B and K within 99.9 % intervals, from our deviations and from those of allantools.

    What the file does not have is not found either: the fit says how much there could be at most.
    """
    asked = getattr(load(preset, ImuErrors), triad)
    curve = _curve(preset, triad)
    signals = _still(preset)[:, TRIADS[triad]].T
    judged = np.stack([_judge(signal, curve) for signal in signals], axis=-1)
    np.testing.assert_allclose(curve.deviation, judged, rtol=1e-9)
    for deviation in (curve.deviation, judged):
        found = fit(Curve(curve.tau, deviation, curve.interval, curve.duration), LEVEL)
        for estimate, truth in (
            (found.N, asked.noise_density),
            (found.B, asked.bias_instability),
            (found.K, asked.random_walk),
        ):
            assert (estimate.value is not None) == (truth > 0.0)
            assert estimate.low <= truth <= estimate.high


def _judge(signal: np.ndarray, curve: Curve) -> np.ndarray:
    tau, deviation, _, _ = allantools.oadev(
        signal, rate=RATE, data_type="freq", taus=curve.tau.tolist()
    )
    np.testing.assert_allclose(tau, curve.tau)
    return deviation


def _series(rng, N, B, T, K, interval, count, axes):
    """The three noises, made without the sensor."""
    signal = N / math.sqrt(interval) * rng.standard_normal((count, axes))
    phi, sigma = math.exp(-interval / T), instability_deviation(B)
    kicks = sigma * math.sqrt(1.0 - phi**2) * rng.standard_normal((count, axes))
    kicks[0] /= math.sqrt(1.0 - phi**2)  # begins stationary
    signal += lfilter([1.0], [1.0, -phi], kicks, axis=0)
    return signal + np.cumsum(K * math.sqrt(interval) * rng.standard_normal((count, axes)), axis=0)


def test_the_intervals_hold_the_truth_as_often_as_they_say():
    """Of 30 records, 95 % intervals of N, B and K: at least 77 of 90 hold what was put in.

    With a true coverage of 95 % fewer than 77 come with a probability below 1e-3, if the three of
    a record are taken as independent.
    """
    rng = np.random.default_rng(3)
    truth = {"N": 8.7e-5, "B": 5.0e-5, "K": 2.0e-6}
    held = 0
    for _ in range(30):
        found = fit(allan(_series(rng, T=20.0, interval=1.0, count=14_400, axes=3, **truth), 1.0))
        for name, value in truth.items():
            estimate = getattr(found, name)
            held += estimate.low <= value <= estimate.high
    assert held >= 77


def test_white_noise_has_the_degrees_of_freedom_of_the_literature():
    """Against the formula of Howe, Allan and Barnes (1981), as in NIST SP 1065, table 5."""
    count = 20_000
    curve = allan(np.random.default_rng(5).standard_normal(count), 1.0)
    m = curve.tau
    n = count + 1  # their formula counts phases
    known = (3.0 * (n - 1) / (2.0 * m) - 2.0 * (n - 2) / n) * 4.0 * m**2 / (4.0 * m**2 + 5.0)
    np.testing.assert_allclose(fit(curve).freedom, known, rtol=0.1)


def test_the_hump_of_a_gauss_markov_process_stands_at_the_floor():
    """Its Allan variance by the double integral of its covariance: top 0.664 B at 1.89 T."""
    sigma, T = instability_deviation(1.0), 1.0

    def variance(tau):
        # ½ E(ȳ₂ − ȳ₁)² = R₀ − R₁, covariances of neighbouring averages with kernel 1 − |u|/τ.
        u = np.linspace(-tau, tau, 20_001)
        kernel = (1.0 - np.abs(u) / tau) / tau
        same = np.trapezoid(kernel * np.exp(-np.abs(u) / T), u)
        next_one = np.trapezoid(kernel * np.exp(-np.abs(u + tau) / T), u)
        return sigma**2 * (same - next_one)

    taus = np.linspace(1.0, 3.0, 401)
    deviation = np.sqrt([variance(tau) for tau in taus])
    assert taus[np.argmax(deviation)] == pytest.approx(PEAK_TIME * T, abs=0.01)
    assert np.max(deviation) == pytest.approx(PEAK * sigma, rel=1e-5)
    assert np.max(deviation) == pytest.approx(FLOOR, rel=1e-5)


def test_a_signal_that_does_not_change_is_refused():
    with pytest.raises(ValueError, match="does not change"):
        fit(allan(np.ones(5000), 0.01))
