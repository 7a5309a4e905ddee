"""Random errors of the sensors in water, air and machinery.

Many units of a sensor take one sample each, with the streams that a run would give them. The seeds
are fixed; each test would fail with a probability of 1e-4 if they were not.
"""

import functools
import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import craft
from instruments import fit, normal, read, record, repeated, state

pytestmark = pytest.mark.usefixtures("x64")

ALARM = 1e-4
UNITS = 4000
SEA = {"seabed": {"depth": 40.0}}
SLANT = math.radians(25.0)
THROUGH = (1.0, -2.0, 0.5, 0.0, 0.0, 0.0)
DOING = {"velocity": THROUGH, "actuators": (7.3, 40.0, 0.5, -0.2)}


@functools.cache
def drawn(count, index=1):
    return normal(12, UNITS, index=index)[:count]


@functools.cache
def sea():
    return craft.ocean_of(**SEA)


def errors(kind, z=10.0, **described):
    """Error of every number of every unit, (D, N), and whether it is valid."""
    built = fit(kind, sea(), **described)
    channel = {"channel": described["channel"]} if "channel" in described else {}
    ideal = fit(kind, sea(), fidelity="ideal", **channel)
    at = state((0, 0, z), n=UNITS, **DOING)
    memory = built.sensor.begin(drawn(built.sensor.starting_draws, index=0))
    values, valid, _ = read(built, sea(), at, drawn=drawn(built.sensor.draws), memory=memory)
    truth, _, _ = read(ideal, sea(), state((0, 0, z), **DOING))
    return values - truth, valid, built


SPEED = math.hypot(THROUGH[0], THROUGH[1])
FLAWLESS = {"fidelity": "nominal"}
RAW = {"resolution": 0.0, "zeroed": False}
LOG = {"noise": 0.0, "scale": 0.0, "bias": 0.0, "misalignment": 0.0, "dropout": 0.0}
NOISES = [
    ("pressure", FLAWLESS | {"noise": 30.0}, 0, 30.0),
    ("pressure", FLAWLESS | {"noise": 30.0}, 1, 30.0 / (1025.0 * 9.80665)),
    ("pressure", RAW | {"noise": 0.0, "drift": 0.0, "offset": 50.0}, 0, 50.0),
    ("pressure", RAW | {"noise": 0.0, "offset": 0.0, "drift": 40.0}, 0, 40.0),
    ("pressure", RAW | {"noise": 30.0, "offset": 40.0, "drift": 120.0}, 0, 130.0),
    ("pressure", RAW | {"zeroed": True, "noise": 30.0, "offset": 900.0, "drift": 40.0}, 0, 50.0),
    ("dvl", FLAWLESS | {"noise": 0.01}, 0, 0.01 / (math.sqrt(2.0) * math.sin(SLANT))),
    ("dvl", FLAWLESS | {"noise": 0.01}, 1, 0.01 / (math.sqrt(2.0) * math.sin(SLANT))),
    ("dvl", FLAWLESS | {"noise": 0.01}, 2, 0.01 / (2.0 * math.cos(SLANT))),
    ("dvl", FLAWLESS | {"range_noise": 0.01}, 3, 0.01 * 30.0 / 2.0),
    ("dvl", FLAWLESS | {"range_noise": 0.01}, 6, 0.01 * 30.0 / math.cos(SLANT)),
    ("dvl", LOG | {"scale": 0.01}, 1, 0.01 * 2.0),
    ("dvl", LOG | {"bias": 0.01}, 2, 0.01),
    ("dvl", LOG | {"misalignment": 0.01}, 0, 0.01 * math.hypot(2.0, 0.5)),
    ("dvl", LOG | {"misalignment": 0.01}, 1, 0.01 * math.hypot(1.0, 0.5)),
    ("speed_log", FLAWLESS | {"noise": 0.05}, 0, 0.05),
    ("speed_log", FLAWLESS | {"noise": 0.05}, 1, 0.05),
    ("speed_log", {"noise": 0.0, "scale": 0.02, "resolution": 0.0}, 1, 0.02 * 2.0),
    ("ctd", FLAWLESS | {"conductivity_noise": 1e-3}, 0, 1e-3),
    ("ctd", FLAWLESS | {"temperature_noise": 0.02}, 1, 0.02),
    ("ctd", FLAWLESS | {"pressure_noise": 300.0}, 2, 300.0),
    ("encoder", FLAWLESS | {"noise": 0.01, "channel": "rudder"}, 0, 0.01),
    ("encoder", {"noise": 0.0, "offset": 0.02, "counts": 0, "channel": "rudder"}, 0, 0.02),
    ("shaft", FLAWLESS | {"noise": 0.1, "channel": "screw"}, 0, 0.1),
    ("battery", FLAWLESS | {"voltage_noise": 0.03}, 0, 0.03),
    ("battery", FLAWLESS | {"current_noise": 0.2}, 1, 0.2),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "described", "component", "deviation"), NOISES)
def test_error_is_normal_with_the_deviation_of_the_description(
    kind, described, component, deviation
):
    error, valid, _ = errors(kind, **described)
    assert valid.all()
    test = stats.kstest(error[component], stats.norm(scale=deviation).cdf)
    assert test.pvalue > ALARM


@pytest.mark.parametrize(
    ("described", "component", "deviation"),
    [
        (FLAWLESS | {"speed_noise": 0.1}, 0, 0.1),
        (FLAWLESS | {"angle_noise": 0.05}, 1, 0.05),
        (
            {
                "speed_noise": 0.0,
                "scale": 0.05,
                "speed_resolution": 0.0,
            },
            0,
            0.05 * SPEED,
        ),
    ],
)
def test_error_of_the_anemometer_is_normal(described, component, deviation):
    error, valid, _ = errors("anemometer", z=-5.0, **described)
    assert valid.all()
    assert stats.kstest(error[component], stats.norm(scale=deviation).cdf).pvalue > ALARM


@pytest.mark.parametrize("fidelity", ["nominal", "full"])
@pytest.mark.parametrize("kind", ["pressure", "speed_log", "ctd", "encoder"])
def test_stated_deviation_is_that_of_the_errors(kind, fidelity):
    """Mean square over the stated variance, as χ² would have it; scale errors set aside."""
    extra = {"speed_log": {"scale": 0.0}, "encoder": {"channel": "rudder"}}.get(kind, {})
    if kind == "pressure":
        extra = {"resolution": 50.0}
    if kind == "ctd":  # steps that cover many values, so that rounding acts as noise
        extra = {"temperature_resolution": 1e-4, "temperature_noise": 3e-4,
                 "conductivity_noise": 2e-4, "pressure_noise": 300.0}  # fmt: skip
    error, _, built = errors(kind, fidelity=fidelity, **extra)
    for row, deviation in zip(error, built.deviation, strict=True):
        ratio = np.sum(row**2) / deviation**2
        # 2 % more than χ² allows: rounding is not quite noise, and salinity is not quite linear
        low, high = stats.chi2.ppf([0.5 * ALARM, 1 - 0.5 * ALARM], UNITS)
        assert 0.98 * low < ratio < 1.02 * high


def test_water_lock_has_its_own_noise():
    error, valid, _ = errors("dvl", **FLAWLESS, maximum_altitude=5.0, water_noise=0.05)
    assert valid.all()
    deviation = 0.05 / (2.0 * math.cos(SLANT))
    assert stats.kstest(error[2], stats.norm(scale=deviation).cdf).pvalue > ALARM


def test_beams_drop_out_with_their_probability_and_take_the_lock_along():
    p = 0.1
    built = fit("dvl", sea(), dropout=p, water_layer=None)
    at = state((0, 0, 10.0), n=UNITS, **DOING)
    values, valid, _ = read(built, sea(), at, drawn=drawn(12))
    lost = values[4:8] == 0.0
    assert stats.binomtest(int(lost.sum()), 4 * UNITS, p).pvalue > ALARM
    locked = (1 - p) ** 4 + 4 * p * (1 - p) ** 3  # three beams or four
    assert stats.binomtest(int(valid.sum()), UNITS, locked).pvalue > ALARM
    np.testing.assert_array_equal(valid, lost.sum(axis=0) <= 1)


def test_pressure_drift_forgets_with_its_time_constant():
    """Correlation over one time constant is e⁻¹; Fisher's z of 4000 units."""
    rate, samples = 1.0, 21
    built = fit("pressure", rate=rate, noise=0.0, offset=0.0, resolution=0.0, drift=80.0,
                drift_time=20.0)  # fmt: skip
    noise = jnp.stack([drawn(2, index=k) for k in range(1, samples + 1)])
    values = record(
        built,
        craft.calm(),
        repeated(state(n=UNITS), samples),
        drawn=noise,
        starting=drawn(2, index=0),
    )[:, 0]
    exact = 101_325.0 + 1025.0 * 9.80665 * 5.0
    assert stats.kstest(values[-1] - exact, stats.norm(scale=80.0).cdf).pvalue > ALARM
    found = np.corrcoef(values[0], values[-1])[0, 1]
    z = (math.atanh(found) - math.atanh(math.exp(-1.0))) * math.sqrt(UNITS - 3)
    assert 2.0 * stats.norm.sf(abs(z)) > ALARM


def test_errors_of_the_axes_of_a_sensor_are_independent():
    for kind, described in (
        ("dvl", FLAWLESS),
        ("speed_log", FLAWLESS),
        ("ctd", FLAWLESS),
        ("battery", FLAWLESS),
    ):
        error, _, _ = errors(kind, **described)
        rows = error[: {"dvl": 3, "ctd": 3}.get(kind, 2)]
        correlation = np.corrcoef(rows)[np.triu_indices(len(rows), 1)]
        # Bonferroni over the eight pairs
        bound = stats.norm.isf(0.5 * ALARM / 8) / math.sqrt(UNITS)
        assert np.all(np.abs(correlation) < bound)
