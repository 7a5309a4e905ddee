"""Speeds and accelerations that follow from a balance of forces by hand."""

import math

import numpy as np
import pytest

import craft

DIRECT = {"model": "direct", "thrust_limits": [-200.0, 200.0]}


def test_terminal_speed_under_thrust_balances_linear_and_quadratic_drag():
    linear, quadratic, thrust = 12.0, 30.0, 60.0
    model = craft.compiled(
        craft.vehicle(
            hydrodynamics={"coefficients": {"X_u": -linear, "X_u_au": -quadratic, "X_ud": -20.0}},
            actuators=[{"kind": "thruster", "name": "screw", "thrust": DIRECT}],
        )
    )
    first = craft.state(model, position=(0, 0, 20))
    _, _, _, velocity, _ = craft.simulate(
        model, craft.calm(), first, 60.0, 0.05, [thrust], every=1200
    )
    expected = (-linear + math.sqrt(linear**2 + 4 * quadratic * thrust)) / (2 * quadratic)
    assert velocity[-1, 0] == pytest.approx(expected, rel=1e-10)


def test_start_against_quadratic_drag_follows_the_hyperbolic_tangent():
    # m u̇ = T − D u² from rest: u = √(T/D) tanh(t √(T D) / m).
    drag, thrust, added = 30.0, 60.0, 20.0
    model = craft.compiled(
        craft.vehicle(
            hydrodynamics={"coefficients": {"X_u_au": -drag, "X_ud": -added}},
            actuators=[{"kind": "thruster", "name": "screw", "thrust": DIRECT}],
        )
    )
    first = craft.state(model, position=(0, 0, 20), actuators=(thrust,))
    time, _, _, velocity, _ = craft.simulate(
        model, craft.calm(), first, 5.0, 0.02, [thrust], every=25
    )
    mass = craft.RHO * 0.1 + added
    exact = math.sqrt(thrust / drag) * np.tanh(time * math.sqrt(thrust * drag) / mass)
    assert np.abs(velocity[:, 0] - exact).max() < 1e-8


def test_buoyant_sphere_rises_at_its_terminal_speed():
    radius, drag_coefficient = 0.1, 0.5
    volume = 4 / 3 * math.pi * radius**3
    mass = 0.8 * craft.RHO * volume
    drag = 0.5 * craft.RHO * drag_coefficient * math.pi * radius**2
    model = craft.compiled(craft.sphere(radius, mass, {"Z_w_aw": -drag}))
    first = craft.state(model, position=(0, 0, 100))
    _, _, _, velocity, _ = craft.simulate(model, craft.calm(), first, 20.0, 0.02, every=1000)
    rise = math.sqrt((craft.RHO * volume - mass) * craft.G / drag)
    assert velocity[-1, 2] == pytest.approx(-rise, rel=1e-10)


@pytest.mark.parametrize("relative_density", [0.0001, 0.5, 1.0, 3.0])
def test_released_sphere_starts_with_half_its_displaced_mass_added(relative_density):
    # a = g (ρ∇ − m) / (m + ½ρ∇): a light bubble starts at 2 g, not at infinity.
    radius = 0.2
    displaced = craft.RHO * 4 / 3 * math.pi * radius**3
    mass = relative_density * displaced
    model = craft.compiled(craft.sphere(radius, mass))
    rate = craft.acceleration(model, craft.calm(), craft.state(model, position=(0, 0, 10)))
    expected = craft.G * (mass - displaced) / (mass + 0.5 * displaced)
    assert rate[2] == pytest.approx(expected, rel=1e-12)
    assert np.abs(np.delete(rate, 2)).max() < 1e-9


def test_density_of_the_water_scales_every_hydrodynamic_force():
    fresh = craft.ocean_of(water={"profile": "constant", "density": 1000.0})
    coefficients = {"X_u": -10.0, "Y_v_av": -70.0, "N_r": -5.0}
    neutral = {"inertia": {"mass": 100.0, "moments": [4.0, 6.0, 7.0]}}
    described = craft.vehicle(
        buoyancy={"craft": "submerged", "volume": 0.1},
        hydrodynamics={
            "coefficients": coefficients,
            "crossflow": {"length": 1.0, "draught": 0.5, "beam": 0.5, "drag": 1.0},
        },
        **neutral,
    )
    loads = []
    for ocean in (craft.calm(), fresh):
        model = craft.compiled(described, ocean)
        at = craft.state(model, position=(0, 0, 9), velocity=(0.8, 0.3, 0, 0, 0, 0))
        loads.append(craft.wrench(model, ocean, at)[[0, 1]])
    assert loads[1] == pytest.approx(loads[0] * 1000.0 / 1025.0, rel=1e-12)
