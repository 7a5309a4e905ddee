"""An IMU lies as its description says: each error alone against what it should be."""

import math
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from seatrial.channels import Channel
from seatrial.compile.sensors.context import Context
from seatrial.compile.sensors.inertial import EARTH_RATE, imu
from seatrial.conventions import GRAVITY
from seatrial.core.types import State
from seatrial.errors import SpecError
from seatrial.seeding import generator
from seatrial.sensors.look import Look
from seatrial.sensors.noise import draws as drawing
from seatrial.sensors.noise import processes as noise
from seatrial.sensors.sensor import Mount
from seatrial.spec.sensors.inertial import Imu, ImuErrors

pytestmark = pytest.mark.usefixtures("x64")

RATE = 100.0
FALSE_ALARM = 1e-4
"""Of every statistical test here; the seeds are fixed, so each either passes always or never."""


def _errors(accelerometer=(), gyroscope=()):
    return ImuErrors(
        kind="imu",
        name="test",
        accelerometer=dict(accelerometer),
        gyroscope=dict(gyroscope),
    )


def _build(accelerometer=(), gyroscope=(), latitude=0.0, channels=(), **imu_fields):
    spec = Imu(
        type="imu", name="imu", rate=RATE, errors=_errors(accelerometer, gyroscope), **imu_fields
    )
    mount = Mount(jnp.zeros(3), jnp.eye(3).ravel())
    dtype = np.dtype(np.float64)
    context = Context(mount, dtype, 1.0 / RATE, None, None, channels, (latitude, 0.0))
    return imu(spec, context).sensor


def _look(units, velocity=(0.0,) * 6, celsius=25.0, depth=0.0, shafts=()):
    """Level and unaccelerated, so that the specific force is that of gravity alone."""
    one = jnp.ones(units)
    state = State(
        position=jnp.array([0.0, 0.0, depth])[:, None] * one,
        attitude=jnp.array([1.0, 0.0, 0.0, 0.0])[:, None] * one,
        velocity=jnp.array(velocity)[:, None] * one,
        actuators=jnp.array(shafts).reshape(-1, 1) * one,
    )
    water = SimpleNamespace(celsius=jnp.asarray(celsius))
    return Look(None, SimpleNamespace(water=water), state, jnp.float64(0.0), jnp.zeros((6, units)))


def _keys(units, name="imu"):
    return jnp.asarray(generator(7, name).integers(0, 2**32, size=(2, units), dtype=np.uint32))


def _start(sensor, units):
    drawn = drawing.normal(_keys(units), jnp.int64(0), 1, sensor.starting_draws, jnp.float64)
    return sensor.begin(drawn[0])


def _first_sample(sensor, units, **seen):
    drawn = drawing.normal(_keys(units), jnp.int64(1), 1, sensor.draws, jnp.float64)
    memory = _start(sensor, units)
    return memory, np.asarray(sensor.measure(memory, _look(units, **seen), drawn[0]).values)


def _samples(sensor, units, count, name="imu", **seen):
    """(count, 6, units) consecutive samples of still units."""
    noise_of = drawing.normal(_keys(units, name), jnp.int64(1), count, sensor.draws, jnp.float64)

    @jax.jit
    def run(memory, drawn):
        def one(memory, row):
            reading = sensor.measure(memory, _look(units, **seen), row)
            return reading.memory, reading.values

        return jax.lax.scan(one, memory, drawn)[1]

    return np.asarray(run(_start(sensor, units), noise_of))


def _assert_normal(values, deviation):
    """Kolmogorov and Smirnov for the shape, χ² for the size."""
    z = np.ravel(values) / deviation
    assert stats.kstest(z, "norm").pvalue > FALSE_ALARM
    total, n = float(np.sum(z**2)), z.size
    assert FALSE_ALARM / 2 < stats.chi2.cdf(total, n) < 1 - FALSE_ALARM / 2


GRAVITY_FELT = np.array([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0])


def test_an_ideal_imu_is_exact_and_draws_nothing():
    sensor = _build({"noise_density": 1.0}, {"turn_on_bias": 1.0}, fidelity="ideal")
    assert (sensor.draws, sensor.starting_draws) == (0, 0)
    _, values = _first_sample(sensor, 2, velocity=(1.0, 0.0, 0.0, 0.0, 0.0, 0.3))
    expected = np.array([0.0, 0.3, -GRAVITY, 0.0, 0.0, 0.3])  # r u across, r about
    np.testing.assert_allclose(values, np.stack([expected] * 2, axis=-1), rtol=0, atol=1e-15)


def test_an_imu_without_errors_is_refused_unless_it_is_ideal():
    spec = Imu(type="imu", name="imu", rate=RATE)
    with pytest.raises(SpecError, match=r"needs to know its errors[\s\S]*errors: adis16448"):
        imu(spec, None)


def test_nominal_keeps_the_random_errors_and_leaves_the_rest():
    parts = {
        "noise_density": 1e-3, "bias_instability": 1e-3, "bias_time_constant": 10.0,
        "random_walk": 1e-4, "turn_on_bias": 0.1, "scale": 0.01, "misalignment": 0.01,
        "temperature_coefficient": 1e-3, "range": 100.0, "resolution": 1e-3,
    }  # fmt: skip
    triad = _build(parts, parts | {"g_sensitivity": 1e-4}, fidelity="nominal").gyroscope
    assert None not in (triad.white, triad.instability, triad.walk, triad.turn_on)
    rest = (triad.crookedness, triad.warmth, triad.g_sensitivity, triad.step, triad.limit)
    assert rest == (None,) * 5
    triad = _build(parts, parts | {"g_sensitivity": 1e-4}, fidelity="full").gyroscope
    assert None not in (triad.crookedness, triad.warmth, triad.g_sensitivity)


def test_white_noise_is_normal_with_the_density_of_the_description():
    """σ = N/√Δt on every axis; false-alarm rate 1e-4 for each of four tests."""
    sensor = _build({"noise_density": 2e-3}, {"noise_density": 1e-4})
    values = _samples(sensor, 2, 20_000) - GRAVITY_FELT[:, None]
    _assert_normal(values[:, :3], 2e-3 * math.sqrt(RATE))
    _assert_normal(values[:, 3:], 1e-4 * math.sqrt(RATE))


def test_streams_are_independent_of_each_other_and_of_their_past():
    """No correlation among six axes, two units and two sensors, nor from sample to sample.

    Of 24 streams, 276 pairs and 24 lags; z below the bound of a false-alarm rate of 1e-4 in all.
    """
    sensor = _build({"noise_density": 2e-3}, {"noise_density": 1e-4})
    parts = [_samples(sensor, 2, 20_000, name).reshape(20_000, -1) for name in ("imu", "other")]
    z = np.concatenate(parts, axis=1)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    bound = stats.norm.isf(FALSE_ALARM / 2 / 300) / math.sqrt(len(z))
    pairs = np.corrcoef(z.T)[np.triu_indices(z.shape[1], 1)]
    assert np.max(np.abs(pairs)) < bound
    assert np.max(np.abs(np.mean(z[1:] * z[:-1], axis=0))) < bound


def test_the_turn_on_bias_is_normal_over_units_and_stays():
    """False-alarm rate 1e-4 for each of two tests."""
    sensor = _build({"turn_on_bias": 0.2})
    _, values = _first_sample(sensor, 4000)
    _assert_normal(values[:3] - GRAVITY_FELT[:3, None], 0.2)
    later = _samples(sensor, 1, 3)
    np.testing.assert_array_equal(later[0], later[2])


@pytest.mark.parametrize("interval", [0.01, 10.0])
def test_the_gauss_markov_bias_has_its_deviation_and_memory_at_any_rate(interval: float):
    """Variance σ² always, correlation exp(−Δt/T) from sample to sample; false alarms 1e-4."""
    sigma, constant, units = 0.3, 20.0, 20_000
    drawn = np.random.default_rng(1).standard_normal((2, units))
    first = jnp.asarray(sigma * drawn[0])
    after = np.asarray(noise.gauss_markov(first, jnp.asarray(drawn[1]), interval, constant, sigma))
    _assert_normal(after, sigma)
    phi = math.exp(-interval / constant)
    _assert_normal(after - phi * drawn[0] * sigma, sigma * math.sqrt(1.0 - phi**2))


def test_the_random_walk_grows_with_the_root_of_time():
    """Standard deviation K √t after 1 s, normal over units; false-alarm rate 1e-4."""
    values = _samples(_build((), {"random_walk": 1e-3}), 1500, 101)
    assert not np.any(values[0, 3:])
    _assert_normal(values[100, 3:], 1e-3)


def test_scale_and_misalignment_multiply_the_truth():
    """The unit's own matrix exactly; over units its elements have the sizes described."""
    sensor = _build((), {"scale": 0.02, "misalignment": 0.005})
    spin = np.array([0.3, -0.7, 1.1])
    memory, values = _first_sample(sensor, 3000, velocity=(0.0, 0.0, 0.0, *spin))
    matrix = np.asarray(memory).reshape(3, 3, -1)
    expected = spin[:, None] + np.einsum("ijn,j->in", matrix, spin)
    np.testing.assert_allclose(values[3:], expected, rtol=1e-14)
    diagonal = np.eye(3, dtype=bool)
    _assert_normal(matrix[diagonal], 0.02)
    _assert_normal(matrix[~diagonal], 0.005)


def test_axes_turned_against_the_case_feel_a_turned_truth():
    """A small rotation: nothing along the truth itself, the angle across it; false alarms 1e-4."""
    memory, values = _first_sample(
        _build((), {"frame": 0.01}), 3000, velocity=(0.0, 0.0, 0.0, 0.0, 0.0, 0.8)
    )
    matrix = np.asarray(memory).reshape(3, 3, -1)
    np.testing.assert_array_equal(matrix, -matrix.swapaxes(0, 1))
    np.testing.assert_allclose(values[5], 0.8, rtol=1e-14)
    _assert_normal(values[3:5], 0.008)


def test_a_gyroscope_at_rest_feels_gravity_by_its_g_sensitivity():
    """Over units the rate has standard deviation s g on every axis; false-alarm rate 1e-4."""
    _, values = _first_sample(_build((), {"g_sensitivity": 1e-4}), 3000)
    _assert_normal(values[3:], 1e-4 * GRAVITY)


def test_the_bias_follows_the_temperature_of_the_water():
    """Nothing at the reference, c (T − T_ref) elsewhere; over units normal, false alarms 1e-4."""
    sensor = _build({"temperature_coefficient": 1e-3, "reference_temperature": 20.0})
    _, calibrated = _first_sample(sensor, 2000, celsius=20.0)
    np.testing.assert_array_equal(calibrated, np.stack([GRAVITY_FELT] * 2000, axis=-1))
    memory, cold = _first_sample(sensor, 2000, celsius=4.0)
    drift = cold[:3] - GRAVITY_FELT[:3, None]
    np.testing.assert_allclose(drift, -16.0 * np.asarray(memory), rtol=1e-12, atol=1e-13)
    _assert_normal(drift, 16e-3)


def test_readings_are_whole_steps_and_the_rounding_adds_a_twelfth_of_a_step_squared():
    """Against the same noise without rounding: error within half a step, variance step²/12.

    The rounding error of noise wider than a step is uniform (Widrow); the bound on its variance
    has a false-alarm rate of 1e-4.
    """
    step, density = 5e-3, 2e-3
    rounded = _samples(_build({"noise_density": density, "resolution": step}), 1, 30_000)[:, 0]
    exact = _samples(_build({"noise_density": density}), 1, 30_000)[:, 0]
    np.testing.assert_allclose(rounded / step, np.round(rounded / step), atol=1e-9)
    error = rounded - exact
    assert np.max(np.abs(error)) <= step / 2 * (1 + 1e-9)
    spread = math.sqrt(1 / 80 - 1 / 144) / math.sqrt(error.size)  # of the mean square, in steps²
    z = (np.mean((error / step) ** 2) - 1 / 12) / spread
    assert abs(z) < stats.norm.isf(FALSE_ALARM / 2)


def test_a_value_rounds_to_the_nearest_step():
    values = jnp.array([-0.74, -0.26, 0.0, 0.24, 0.26, 0.74])
    rounded = np.asarray(noise.quantise(values, 0.5))
    np.testing.assert_array_equal(rounded, [-0.5, -0.5, 0.0, 0.0, 0.5, 0.5])


def test_readings_end_at_the_range():
    sensor = _build({"range": 5.0}, {"range_deg_s": 100.0})
    _, values = _first_sample(sensor, 1, velocity=(0.0, 0.0, 0.0, 3.0, -3.0, 1.0))
    limit = math.radians(100.0)
    np.testing.assert_allclose(values[:, 0], [0.0, 0.0, -5.0, limit, -limit, 1.0], rtol=1e-15)


@pytest.mark.parametrize("latitude", [-33.0, 0.0, 59.9])
def test_a_still_gyroscope_feels_the_earth_turn_if_asked(latitude: float):
    sensor = _build((), (), latitude=latitude, earth_rate=True)
    _, values = _first_sample(sensor, 1)
    phi = math.radians(latitude)
    expected = [EARTH_RATE * math.cos(phi), 0.0, -EARTH_RATE * math.sin(phi)]
    np.testing.assert_allclose(values[3:, 0], expected, rtol=1e-14, atol=1e-20)


SHAFTS = (Channel("left", "rev/s"), Channel("rudder", "rad"), Channel("right", "rev/s"))


@pytest.mark.parametrize("speed", [8.0, 30.0, 70.0])
def test_shafts_shake_as_strongly_as_their_speed_and_the_filters_of_the_device_say(speed):
    """Units differ in strength and phase: over them a sample is normal. Both shafts turn, and a
    rudder does not shake; false-alarm rate 1e-4 for each of two tests."""
    sensor = _build({"bandwidth": 80.0}, channels=SHAFTS, vibration=2e-3)
    values = _samples(sensor, 4000, 3, shafts=(speed, 0.4, speed))[-1, :2]
    force = 2.0 * math.pi * 2e-3 * speed**2 / 25.0  # 2π n v, where v grows with n
    force *= abs(np.sinc(speed / RATE)) / math.hypot(1.0, speed / 80.0)
    _assert_normal(values, math.sqrt(2.0) * force)


def test_a_shaft_at_rest_does_not_shake_and_one_that_turns_is_heard_at_its_own_frequency():
    sensor = _build(channels=SHAFTS, vibration=2e-3)
    still = _samples(sensor, 5, 10, shafts=(0.0, 0.3, 0.0))
    np.testing.assert_array_equal(still[:, :2], 0.0)
    heard = _samples(sensor, 5, 400, shafts=(12.0, 0.0, 0.0))[:, 0]
    spectrum = np.abs(np.fft.rfft(heard, axis=0))
    np.testing.assert_allclose(np.fft.rfftfreq(400, 1.0 / RATE)[spectrum.argmax(axis=0)], 12.0)
    # Above half the rate it is aliased: 70 rev/s at 100 samples per second look like 30.
    heard = _samples(sensor, 5, 400, shafts=(70.0, 0.0, 0.0))[:, 0]
    spectrum = np.abs(np.fft.rfft(heard, axis=0))
    np.testing.assert_allclose(np.fft.rfftfreq(400, 1.0 / RATE)[spectrum.argmax(axis=0)], 30.0)


def test_only_full_fidelity_and_shafts_of_known_speed_shake():
    assert _build(channels=SHAFTS, fidelity="nominal").vibration is None
    assert _build(channels=(Channel("left", "N"),)).vibration is None
    assert _build(channels=SHAFTS, vibration=0.0).vibration is None
    assert _build(channels=SHAFTS).vibration.shafts == (0, 2)


def test_noise_and_motion_pass_the_pole_of_the_bandwidth():
    """White noise of variance s² comes out with s² a/(2 − a), a step after k samples with
    1 − (1 − a)ᵏ, a = 1 − exp(−2π f_b Δt)."""
    share = -math.expm1(-2.0 * math.pi * 5.0 / RATE)
    density = 1e-3
    sensor = _build(gyroscope={"bandwidth": 5.0, "noise_density": density})
    values = _samples(sensor, 6000, 60)[-1, 3]
    deviation = density * math.sqrt(RATE) * math.sqrt(share / (2.0 - share))
    _assert_normal(values, deviation)
    quiet = _build(gyroscope={"bandwidth": 5.0})
    memory, none = _start(quiet, 1), jnp.zeros((0, 1))
    memory = quiet.measure(memory, _look(1), none).memory
    turning = _look(1, velocity=(0.0, 0.0, 0.0, 0.2, 0.0, 0.0))
    for k in range(1, 5):
        reading = quiet.measure(memory, turning, none)
        memory = reading.memory
        assert float(reading.values[3, 0]) == pytest.approx(0.2 * (1.0 - (1.0 - share) ** k))


def test_a_unit_begins_at_the_truth_and_a_bandwidth_beyond_its_rate_is_left_out():
    slow = _build(accelerometer={"bandwidth": 1.0})
    _, first = _first_sample(slow, 3)
    np.testing.assert_allclose(first[2], -GRAVITY)
    assert _build(accelerometer={"bandwidth": 330.0}).accelerometer.follows is None
