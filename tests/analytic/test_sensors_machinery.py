"""Encoders, shafts and the battery, against closed forms and an independent integration."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp, trapezoid

import craft
from instruments import fit, read, record, repeated, shapes, state
from seatrial.compile.sensors.machinery import lithium_ion
from seatrial.errors import SpecError

pytestmark = pytest.mark.usefixtures("x64")

STANDING = (7.3, -40.0, 0.5, -0.21)
"""screw in rev/s, pod in N, pod_angle and rudder in rad."""


def calm_read(built, at=None, **more):
    return read(built, craft.calm(), at or state(actuators=STANDING), **more)


def over_time(built, samples, actuators=STANDING):
    return record(built, craft.calm(), repeated(state(actuators=actuators), samples))[:, :, 0]


# --- encoder and shaft ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "channel", "value"),
    [("encoder", "rudder", -0.21), ("encoder", "pod_angle", 0.5), ("shaft", "screw", 7.3)],
)
def test_ideal_encoder_and_shaft_give_the_state_of_their_channel(kind, channel, value):
    values, valid, _ = calm_read(fit(kind, channel=channel, fidelity="ideal"))
    assert values.tolist() == [[value]]
    assert valid.all()


def test_encoder_rounds_to_its_counts_and_keeps_its_offset():
    built = fit("encoder", channel="rudder", counts=360, offset_deg=2.0, noise=0.0)
    memory = built.sensor.begin(jnp.array([[1.0]]))
    values, _, _ = calm_read(built, memory=memory)
    np.testing.assert_allclose(np.degrees(values[0, 0]), round(math.degrees(-0.21) + 2.0))


@pytest.mark.parametrize(
    ("kind", "described", "words"),
    [
        ("encoder", {"channel": "ruder"}, ["no channel `ruder`", "did you mean `rudder`?"]),
        ("encoder", {"channel": "screw"}, ["is in rev/s, not an angle", "`pod_angle`, `rudder`"]),
        ("shaft", {"channel": "pod"}, ["is in N, not a shaft speed", "`screw`"]),
        ("battery", {"full_power": {"scew": 9.0}}, ["full_power.scew", "did you mean `screw`?"]),
        ("battery", {"full_power": {"rudder": 9.0}}, ["is in rad", "`screw`, `pod`"]),
    ],
)
def test_channels_that_cannot_be_measured_are_refused_with_a_remedy(kind, described, words):
    with pytest.raises(SpecError) as caught:
        fit(kind, **described)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("speed", [7.3, -7.3, 0.04])
def test_shaft_counts_whole_pulses_and_loses_none(speed):
    rate, pulses, samples = 10.0, 6, 400
    built = fit("shaft", channel="screw", rate=rate, pulses=pulses, noise=0.0)
    values = over_time(built, samples, (speed, 0, 0, 0))[:, 0]
    step = rate / pulses
    np.testing.assert_allclose(values / step, np.round(values / step), atol=1e-9)
    assert np.all(np.abs(values - speed) < step)
    # never more than a pulse behind the way that the shaft has made
    way = np.cumsum(values) / rate
    behind = speed * np.arange(1, samples + 1) / rate - way
    assert np.all((behind > -1e-9) & (behind < 1.0 / pulses + 1e-9))


def test_shaft_counts_the_way_of_a_ramp_by_its_mean_speed():
    rate, pulses, samples = 10.0, 1000, 50
    ramp = np.zeros((samples, 4, 1))
    ramp[:, 0, 0] = 0.2 * np.arange(samples)
    built = fit("shaft", channel="screw", rate=rate, pulses=pulses, noise=0.0)
    values = record(built, craft.calm(), repeated(state(), samples, actuators=ramp))[1:, 0, 0]
    mean = 0.5 * (ramp[1:, 0, 0] + ramp[:-1, 0, 0])
    np.testing.assert_allclose(values, mean, atol=rate / pulses)


# --- battery -------------------------------------------------------------------------------------

PACK = {
    "capacity": 3600.0 * 50.0,
    "open_circuit": [[0.0, 12.0], [0.5, 15.0], [1.0, 16.0]],
    "resistance": 0.2,
    "hotel": 10.0,
    "full_power": {"screw": 400.0, "pod": 100.0},
    "fidelity": "ideal",
}


def test_power_follows_the_cube_of_the_speed_and_the_three_halves_of_the_thrust():
    values, _, _ = calm_read(fit("battery", **PACK | {"resistance": 0.0}))
    expected = 10.0 + 400.0 * (7.3 / 20.0) ** 3 + 100.0 * (40.0 / 100.0) ** 1.5
    np.testing.assert_allclose(values[2, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(values[1, 0], expected / 16.0, rtol=1e-12)


def test_voltage_and_current_satisfy_the_circuit_with_the_smaller_current():
    values, _, _ = calm_read(fit("battery", **PACK))
    voltage, current, power, charge = values[:, 0]
    assert charge == 1.0
    np.testing.assert_allclose(voltage, 16.0 - 0.2 * current, rtol=1e-12)
    np.testing.assert_allclose(power, voltage * current, rtol=1e-12)
    expected = (16.0 - math.sqrt(16.0**2 - 4 * 0.2 * power)) / (2 * 0.2)
    np.testing.assert_allclose(current, expected, rtol=1e-12)


def test_battery_gives_no_more_than_its_resistance_allows():
    values, _, _ = calm_read(fit("battery", **PACK | {"hotel": 1e4}))
    np.testing.assert_allclose(values[:3, 0], [8.0, 40.0, 320.0], rtol=1e-9)  # V/2, V/2R, V²/4R


def test_energy_from_the_terminals_and_the_resistance_is_what_the_charge_lost():
    """∫(P + I² R) dt = Q ∫V_oc ds; with a flat V_oc and no resistance ∫P dt is capacity × Δs."""
    rate, samples = 0.5, 1200
    values = over_time(fit("battery", rate=rate, **PACK), samples)
    charge, current, power = values[:, 3], values[:, 1], values[:, 2]
    spent = trapezoid(power + 0.2 * current**2, dx=1.0 / rate)
    table = np.array(PACK["open_circuit"])
    coulombs = PACK["capacity"] / trapezoid(table[:, 1], table[:, 0])
    s = np.linspace(charge[-1], charge[0], 20_001)
    stored = coulombs * trapezoid(np.interp(s, *table.T), s)
    np.testing.assert_allclose(spent, stored, rtol=1e-5)
    assert charge[-1] < 0.5  # past the bend of the curve

    flat = PACK | {"open_circuit": [[0.0, 14.0], [1.0, 14.0]], "resistance": 0.0}
    values = over_time(fit("battery", rate=rate, **flat), samples)
    lost = PACK["capacity"] * (values[0, 3] - values[-1, 3])
    np.testing.assert_allclose(trapezoid(values[:, 2], dx=1.0 / rate), lost, rtol=1e-9)


def test_charge_agrees_with_an_independent_integration():
    rate, samples = 1.0, 900
    built = fit("battery", rate=rate, **PACK)
    values = over_time(built, samples)
    table = np.array(PACK["open_circuit"])
    coulombs = PACK["capacity"] / trapezoid(table[:, 1], table[:, 0])
    power = 10.0 + 400.0 * (7.3 / 20.0) ** 3 + 100.0 * 0.4**1.5

    def rate_of_charge(_, s):
        volts = np.interp(s, *table.T)
        return -(volts - np.sqrt(volts**2 - 0.8 * power)) / 0.4 / coulombs

    time = np.arange(samples) / rate
    oracle = solve_ivp(rate_of_charge, (0, time[-1]), [1.0], t_eval=time, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(values[:, 3], oracle.y[0], atol=1e-7)


def test_charge_ends_at_zero():
    built = fit("battery", rate=0.1, **PACK | {"charge": 0.02})
    values = over_time(built, 60)
    assert values[0, 3] == 0.02
    assert values[-1, 3] == 0.0
    assert np.all(np.diff(values[:, 3]) <= 0.0)
    np.testing.assert_allclose(values[-1, 0] + 0.2 * values[-1, 1], 12.0)


def test_default_pack_is_a_lithium_ion_cell_scaled_to_the_nominal_voltage():
    sensor = fit("battery", fidelity="ideal", nominal_voltage=29.6).sensor
    s, volts = np.asarray(sensor.charges), np.asarray(sensor.voltages)
    np.testing.assert_allclose(trapezoid(volts, s), 29.6, rtol=1e-12)
    np.testing.assert_allclose(volts / volts[-1], lithium_ion(s) / lithium_ion(np.array(1.0)))
    # the printed curve: 2.654 V empty, 3.797 V half full, 4.103 V full
    found = lithium_ion(np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(found, [2.654, 3.8034, 4.1029], atol=1e-3)


# --- all of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fidelity", ["ideal", "nominal", "full"])
@pytest.mark.parametrize(
    ("kind", "described"),
    [
        ("encoder", {"channel": "rudder"}),
        ("shaft", {"channel": "screw"}),
        ("battery", {"full_power": {"screw": 50.0}}),
    ],
)
def test_memory_keeps_its_shape_and_type_and_ideal_sensors_draw_nothing(
    kind, described, fidelity, dtype
):
    built = fit(kind, dtype=dtype, fidelity=fidelity, **described)
    memory, reading = shapes(built, craft.calm(), dtype=dtype)
    assert (reading.memory.shape, reading.memory.dtype) == (memory.shape, memory.dtype)
    assert reading.values.shape == (len(built.components), 3)
    assert (reading.valid.shape, reading.valid.dtype) == ((3,), bool)
    assert len(built.components) == len(built.units) == len(built.deviation)
    if fidelity == "ideal":
        assert built.sensor.draws == built.sensor.starting_draws == 0
        assert not any(built.deviation)
