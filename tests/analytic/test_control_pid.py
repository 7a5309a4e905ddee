"""PID, its anti-windup and its derivative filter, against closed solutions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.gnc.control.pid import Pid, PidMemory, begin, pid
from seatrial.gnc.control.reference import Reference, plan
from seatrial.gnc.control.wave_filter import WaveFilter, response, smooth
from seatrial.gnc.control.wave_filter import begin as begin_filter

pytestmark = pytest.mark.usefixtures("x64")


def gains(proportional, integral, derivative=None, tracking=0.0, filter_time=None):
    given = (proportional, integral, derivative, tracking, filter_time)
    return Pid(*(None if g is None else jnp.asarray(g, float) for g in given))


def test_pi_loop_follows_the_analytic_step_response():
    # m v' = −d v + τ with K_p = 2ωm − d, K_i = ω² m: v/v_d = (b s + ω²)/(s + ω)², b = K_p/m.
    mass, drag, omega, period = 3.0, 1.5, 1.2, 1e-3
    law = gains(2 * omega * mass - drag, omega**2 * mass)
    memory, v, seen = begin(jnp.zeros(1)), jnp.zeros(1), []
    decay = np.exp(-drag / mass * period)
    for _ in range(4000):
        memory, force = pid(law, memory, 1.0 - v, -v, jnp.zeros(1), period)
        v = decay * v + (1.0 - decay) / drag * force
        seen.append(float(v[0]))
    t = period * np.arange(1, 4001)
    b = 2 * omega - drag / mass
    expected = 1.0 - np.exp(-omega * t) * (1.0 + (omega - b) * t)
    np.testing.assert_allclose(seen, expected, atol=2.0 * omega * period)


@pytest.mark.parametrize(("tracking", "most", "least"), [(0.5, 1.02, 0.99), (0.0, 2.0, 1.25)])
def test_back_calculation_stops_the_integral_from_winding_up(tracking, most, least):
    # A velocity of 1 m/s takes 20 s at full thrust: long enough for an integral to run away.
    law = gains(2.0, 0.5, tracking=tracking)
    memory, v, short, period, peak = begin(jnp.zeros(1)), jnp.zeros(1), jnp.zeros(1), 0.05, 0.0
    for _ in range(2000):
        memory, wanted = pid(law, memory, 1.0 - v, -v, short, period)
        given = jnp.clip(wanted, -0.05, 0.05)
        short = given - wanted
        v = v + period * given
        peak = max(peak, float(v[0]))
    assert least <= peak <= most


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("omega", [0.3, 2.0, 12.0])
def test_derivative_filter_has_the_response_of_its_transfer_function(measured, omega):
    # K_d s / (1 + T_f s), held over the period: the pole at exp(−T/T_f) is exact.
    period, time = 0.01, 0.2
    law = gains(0.0, 0.0, 1.0, filter_time=time)
    error = np.exp(1j * omega * period * np.arange(2000))
    memory = PidMemory(jnp.zeros(1, complex), jnp.zeros(1, complex))

    def one(memory, e):
        rate = 1j * omega * e[None] if measured else None
        return pid(law, memory, e[None], rate, jnp.zeros(1), period)

    output = np.asarray(jax.lax.scan(one, memory, jnp.asarray(error))[1])[:, 0]
    found = output[-1] / error[-1]
    z, pole = np.exp(1j * omega * period), np.exp(-period / time)
    exact = (1 - pole) * z / (z - pole) * 1j * omega if measured else (z - 1) / (z - pole) / time
    assert abs(found - exact) < 1e-3 * abs(exact)
    ideal = 1j * omega / (1 + 1j * omega * time)
    assert abs(abs(found) / abs(ideal) - 1.0) < 0.03


def test_reference_model_keeps_its_limits_and_does_not_overshoot():
    limits = Reference(jnp.asarray(1.0), jnp.asarray(0.5), jnp.asarray(0.1))
    value, rate, period = jnp.zeros(3), jnp.zeros(3), 0.1
    target = jnp.asarray([0.05, 2.0, -30.0])
    previous = rate
    for _ in range(1200):
        value, rate, acceleration = plan(limits, value, rate, target - value, 0.0, period)
        assert np.all(np.abs(rate) <= 0.5 + 1e-9)
        assert np.all(np.abs(acceleration) <= 0.1 + 1e-9)
        np.testing.assert_allclose(rate - previous, period * acceleration, atol=1e-12)
        assert np.all(np.abs(value) <= 1.005 * np.abs(target))
        previous = rate
    np.testing.assert_allclose(value, target, rtol=1e-3)


def test_wave_filter_passes_the_mean_and_takes_the_waves_out():
    waves, period = 0.8, 0.1
    law = WaveFilter(jnp.asarray(waves), jnp.asarray(0.1), jnp.asarray(2 * waves))
    t = period * np.arange(1500)
    for omega in (1e-9, 0.1 * waves, waves, 3.0 * waves):
        signal = jnp.exp(1j * omega * t)
        memory = begin_filter(signal[0])
        output = jax.lax.scan(lambda m, x: smooth(law, m, x, period), memory, signal)[1]
        found = complex(output[-1] / signal[-1])
        expected = response(waves, 0.1, 2 * waves, np.asarray(1j * omega))
        assert abs(found - complex(expected)) < 0.02
        if omega == waves:
            assert abs(found) < 0.1
        if omega < 1e-6:
            assert abs(found - 1.0) < 1e-6
