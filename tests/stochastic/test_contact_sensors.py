"""AIS receiver and radar: whom they tell of, and the distributions of their errors.

Tests of chance are two-sided with the false-alarm rate `ALARM` per comparison: chi-squared for a
standard deviation, an exact binomial test for a rate. Seeds are fixed.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

from positioning import calm, keys, state
from seatrial.compile.sensors import contacts
from seatrial.compile.sensors.context import Context
from seatrial.compile.sensors.fitting import FittedOut
from seatrial.core.types import Traffic
from seatrial.sensors.contacts.radar import detection
from seatrial.sensors.look import Look
from seatrial.sensors.noise import draws as drawing
from seatrial.sensors.sensor import Mount
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors import contacts as spec

pytestmark = pytest.mark.usefixtures("x64")
ALARM = 1e-4
SAMPLES = 20_000
KNOT = 1852.0 / 3600.0


def build(kind, latitude=0.0, **given):
    described = {"ais": spec.Ais, "radar": spec.Radar}[kind].model_validate(
        {"type": kind, "name": kind, "position": (0.0, 0.0, -1.0)} | given
    )
    turned = np.array([[math.cos(described.yaw), -math.sin(described.yaw), 0.0],
                       [math.sin(described.yaw), math.cos(described.yaw), 0.0],
                       [0.0, 0.0, 1.0]])  # fmt: skip
    context = Context(
        mount=Mount(jnp.asarray(described.position), jnp.asarray(turned.ravel())),
        dtype=np.dtype(float),
        period=1.0 / described.rate,
        ocean=calm(),
        vehicle=None,
        channels=(),
        datum=(latitude, 0.0),
    )
    return getattr(contacts, kind)(described, context)


def traffic(*vessels, looking=1):
    """Own vessel at the origin, then others as (north, east, down, course, speed, length)."""
    rows = np.array([(0.0, 0.0, 0.0, 0.0, 0.0, 2.0), *vessels])
    north, east, down, course, speed, length = rows.T
    return Traffic(
        position=jnp.asarray(np.stack([north, east, down])),
        attitude=jnp.asarray(
            np.stack([np.cos(0.5 * course), 0.0 * course, 0.0 * course, np.sin(0.5 * course)])
        ),
        velocity=jnp.asarray(speed * np.stack([np.cos(course), np.sin(course), 0.0 * course])),
        heading=jnp.asarray(course),
        length=jnp.asarray(length),
        beam=jnp.asarray(0.3 * length),
        identity=jnp.arange(len(rows)) + 101,
        own=jnp.zeros(looking, jnp.int32),
    )


def read(built, about, samples=1, heading=0.0):
    """Contacts (M, numbers, samples) of a sensor on a vessel at the origin."""
    sensor = built.sensor
    turns = Rotation.from_euler("Z", np.full((samples, 1), heading))
    seen = state(np.zeros((3, samples)), turns)
    noise = drawing.normal(keys(1, seed=3), jnp.int64(1), samples, sensor.draws, np.dtype(float))
    look = Look(None, calm(), seen, jnp.float64(0.0), traffic=about)
    reading = sensor.measure(jnp.zeros((0, samples)), look, noise[:, :, 0].T)
    assert np.all(reading.valid)
    values = np.asarray(reading.values)
    return values.reshape(sensor.room, -1, samples)


def assert_deviation(samples, sigma):
    squares = np.sum((samples / sigma) ** 2)
    low, high = stats.chi2.ppf([ALARM / 2, 1 - ALARM / 2], len(samples))
    assert low < squares < high, f"{math.sqrt(squares / len(samples))} of {sigma}"


OTHERS = [
    (300.0, 0.0, 0.0, 1.0, 5.0, 30.0),
    (0.0, -50.0, 0.0, 2.0, 1.5, 10.0),
    (40.0, 0.0, 20.0, 0.0, 1.0, 2.0),  # dived
    (4000.0, 0.0, 0.0, 0.0, 3.0, 200.0),  # far
    (0.0, 100.0, 0.0, -0.5, 2.0, 6.0),
]


@pytest.mark.parametrize("kind", ["ais", "radar"])
def test_the_nearest_within_reach_are_told_of_and_neither_oneself_nor_who_has_dived(kind):
    built = build(kind, fidelity="ideal", reach=1000.0, contacts=4)
    found = read(built, traffic(*OTHERS))[:, :, 0]
    assert found[:, 0].tolist() == [103.0, 106.0, 102.0, 0.0]
    assert np.all(found[3] == 0.0)
    few = read(build(kind, fidelity="ideal", reach=1000.0, contacts=2), traffic(*OTHERS))
    assert few[:, 0, 0].tolist() == [103.0, 106.0]


def test_an_ideal_receiver_hears_the_truth():
    found = read(build("ais", fidelity="ideal", contacts=1), traffic((10.0, -50.0, 0, -0.5, 2, 6)))
    assert found[0, :, 0] == pytest.approx(
        [102, 10.0, -50.0, 2 * math.pi - 0.5, 2.0, 2 * math.pi - 0.5, 6.0, 1.8]
    )


def test_an_ideal_radar_measures_from_its_own_axis():
    """The antenna looks 30° to starboard of a bow that points east."""
    built = build("radar", fidelity="ideal", contacts=1, yaw_deg=30.0, position=[0.0, 0.0, -1.0])
    found = read(built, traffic((0.0, 80.0, 0, 0.7, 2, 6)), heading=math.pi / 2)
    assert found[0, :, 0] == pytest.approx([102, 80.0, -math.pi / 6, 0.7, 2.0, 6.0])


def test_reports_are_rounded_as_in_the_message_and_err_as_described():
    given = {"position_noise": 3.0, "course_noise": 0.04, "speed_noise": 0.3, "heading_noise": 0.05}
    built = build("ais", latitude=60.0, contacts=1, loss=0.0, **given)
    found = read(built, traffic((500.0, 200.0, 0.0, 2.0, 5.0, 29.6)), SAMPLES)[0]
    truth = [500.0, 200.0, 2.0, 5.0, 2.0]
    steps = [0.1852, 0.1852 * 0.5, math.radians(0.1), 0.1 * KNOT, math.radians(1.0)]
    sigmas = [3.0, 3.0, 0.04, 0.3, 0.05]
    for row, true, step, sigma in zip(found[1:6], truth, steps, sigmas, strict=True):
        whole = row / step
        assert np.abs(whole - np.round(whole)).max() < 1e-6
        # Rounding adds the variance of its step, s²/12 (Widrow 1956).
        assert_deviation(row - true, math.sqrt(sigma**2 + step**2 / 12.0))
    assert np.all(found[6:] == np.array([[30.0], [9.0]]))


def test_as_many_reports_are_lost_as_described():
    built = build("ais", contacts=2, loss=0.2)
    found = read(built, traffic(*OTHERS[:2]), SAMPLES)
    for slot in found:
        lost = int(np.sum(slot[0] == 0.0))
        assert stats.binomtest(lost, SAMPLES, 0.2).pvalue > ALARM
        assert np.all(slot[:, slot[0] == 0.0] == 0.0)
    both = int(np.sum((found[:, 0] == 0.0).all(axis=0)))
    assert stats.binomtest(both, SAMPLES, 0.04).pvalue > ALARM


def test_plots_err_as_described():
    given = {"range_noise": 5.0, "bearing_noise": 0.02, "course_noise": 0.1, "speed_noise": 0.2}
    built = build("radar", contacts=1, length_noise=2.0, half_range=50_000.0, **given)
    found = read(built, traffic((300.0, 400.0, 0.0, 2.0, 5.0, 30.0)), SAMPLES)[0]
    truth = [500.0, math.atan2(400.0, 300.0), 2.0, 5.0, 30.0]
    assert np.all(found[0] == 102.0)
    for row, true, sigma in zip(found[1:], truth, [5.0, 0.02, 0.1, 0.2, 2.0], strict=True):
        assert_deviation(row - true, sigma)


@pytest.mark.parametrize(("distance", "length"), [(1000.0, 5.0), (700.0, 3.0), (1500.0, 10.0)])
def test_a_vessel_is_seen_as_often_as_its_size_and_range_let_it(distance, length):
    """P_fa^(1/(1+S)) of Swerling's case 1; half of the sweeps at `half_range` by definition."""
    built = build("radar", contacts=1, half_range=1000.0, half_length=5.0)
    found = read(built, traffic((distance, 0.0, 0.0, 0.0, 1.0, length)), SAMPLES)[0]
    half = math.log(1e-6) / math.log(0.5) - 1.0
    signal = half * (length / 5.0) ** 2 * (1000.0 / distance) ** 4
    expected = 1e-6 ** (1.0 / (1.0 + signal))
    if (distance, length) == (1000.0, 5.0):
        assert expected == pytest.approx(0.5)
    seen = int(np.sum(found[0] > 0.0))
    assert stats.binomtest(seen, SAMPLES, expected).pvalue > ALARM


def test_detection_falls_with_range_and_grows_with_size():
    near, far = (detection(jnp.asarray(r), 10.0, 1000.0, 5.0) for r in (500.0, 3000.0))
    assert far < detection(jnp.asarray(3000.0), 30.0, 1000.0, 5.0) < near


def test_what_is_too_near_or_astern_is_not_seen():
    given = {"contacts": 3, "least_range": 20.0, "blind_deg": 60.0, "half_range": 50_000.0}
    about = traffic(
        (15.0, 0.0, 0.0, 0.0, 1.0, 5.0),
        (-100.0, 50.0, 0.0, 0.0, 1.0, 5.0),  # 26.6° off the direction astern
        (-100.0, 70.0, 0.0, 0.0, 1.0, 5.0),  # 35.0°
    )
    found = read(build("radar", **given), about)
    assert found[:, 0, 0].tolist() == [0.0, 0.0, 104.0]


def test_a_receiver_under_water_hears_nothing():
    built = build("ais", contacts=1)
    look = Look(
        None,
        calm(),
        state(np.array([[0.0], [0.0], [3.0]]), None),
        jnp.float64(0.0),
        traffic=traffic(OTHERS[1]),
    )
    reading = built.sensor.measure(jnp.zeros((0, 1)), look, jnp.zeros((built.sensor.draws, 1)))
    assert not reading.valid[0]
    assert np.all(reading.values == 0.0)


def test_the_errors_of_a_receiver_do_not_depend_on_what_else_is_fitted():
    text = """
kind: scenario
name: streams
duration: 1
time_step: 0.02
vehicles:
  - name: boat
    vehicle: otter
    sensors:
      [{more}{{type: ais, name: ais}}, {{type: radar, name: radar, latency: 0.5, jitter: 0.1}}]
"""
    suites = []
    for more in ("", "{type: gnss, name: gnss, rate: 5}, "):
        scenario = load_text(text.format(more=more), Scenario)
        fitted = FittedOut(scenario, scenario.vehicles[0], (), calm(), np.dtype(float))
        suites.append(fitted.suite(("boat",), {})[-2:])
    for one, other in zip(*suites, strict=True):
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(a, b)
    assert np.any(suites[0][0].keys != suites[0][1].keys)
