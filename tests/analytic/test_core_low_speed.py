"""Prime coefficients with the speed of the moment, where that speed vanishes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
from seatrial.core.forces.coefficients import SPIN, force
from seatrial.errors import SpecError
from seatrial.spatial.vectors import Twist

LENGTH = 2.0


def body(coefficients, about_speed=0.0, dimensional=None):
    return craft.vehicle(
        hydrodynamics={
            "coefficients": coefficients,
            "dimensional_coefficients": dimensional or {},
            "nondimensional": {"length": LENGTH, "speed": "instantaneous"},
            "about_speed": about_speed,
        }
    )


def loads(described, u=0.0, v=0.0, r=0.0):
    model = craft.compiled(described).coefficients
    with jax.enable_x64(True):
        twist = Twist(*(jnp.float64(x) for x in (u, v, 0.0, 0.0, 0.0, r)))
        found = force(model, twist, jnp.zeros(0), jnp.float64(1.0))
        return np.array([float(c) for c in found])


def test_cubic_yaw_damping_of_a_vehicle_on_the_spot_is_quadratic():
    """½ρL⁶ N_rrr r³/U, with U no less than rL/SPIN: ½ρL⁵ SPIN N_rrr r², and 0 at rest."""
    described = body({"N_rrr": -0.01})
    unit = 0.5 * craft.RHO * LENGTH**6 * -0.01
    assert loads(described, u=1.0, r=0.5)[5] == pytest.approx(unit * 0.5**3, rel=1e-9)
    for rate in (1e-3, 0.5, -2.0):
        expected = unit * rate * abs(rate) * SPIN / LENGTH
        assert loads(described, r=rate)[5] == pytest.approx(expected, rel=1e-5)
    assert loads(described)[5] == 0.0


def test_cubic_sway_damping_needs_no_help_from_surge():
    described = body({"Y_vvv": -0.08})
    expected = 0.5 * craft.RHO * LENGTH**2 * -0.08 * 0.3**2
    assert loads(described, v=0.3)[1] == pytest.approx(expected, rel=1e-9)


def test_dimensional_coefficients_stand_beside_prime_ones():
    described = body({"Y_v": -0.01, "Y_vd": -0.02}, dimensional={"Y_v": -3.0, "Y_vd": -5.0})
    prime = 0.5 * craft.RHO * LENGTH**2
    assert loads(described, v=0.5)[1] == pytest.approx(-0.01 * prime * 0.25 - 1.5, rel=1e-9)
    assert loads(described, u=2.0, v=1e-6)[1] == pytest.approx(-1e-6 * (0.02 * prime + 3.0))
    model = craft.compiled(described)
    assert float(model.inertia.added_mass[1, 1]) == pytest.approx(0.02 * prime * LENGTH + 5.0)


def test_dimensional_coefficients_without_prime_ones_are_refused():
    with pytest.raises(ValueError, match="write them into `coefficients`"):
        craft.vehicle(hydrodynamics={"dimensional_coefficients": {"Y_v": -1.0}})


def test_a_dimensional_surge_coefficient_beside_a_perturbation_is_refused():
    with pytest.raises(SpecError, match="stands for u − `about_speed`"):
        craft.compiled(body({"X_u": -0.01}, 2.0, {"X_u_au": -1.0}))


@pytest.mark.parametrize("name", ["X_u", "X_uu", "X_uuu", "X_u_au"])
def test_perturbation_has_a_continuous_slope_at_its_edge_and_is_bounded_below(name):
    """The force of each kind of term, between 1.2 U₀ and −1.2 U₀."""
    described = body({"X_u": -0.02, name: -0.01}, 2.0)
    model = craft.compiled(described).coefficients
    with jax.enable_x64(True):
        u = jnp.linspace(-2.4, 2.4, 4801)
        zero = jnp.zeros_like(u)

        def surge(speed):
            twist = Twist(speed, zero, zero, zero, zero, zero)
            return force(model, twist, jnp.zeros(0), 1.0).X

        value, slope = jax.jvp(surge, (u,), (jnp.ones_like(u),))
    unit = 0.5 * craft.RHO * LENGTH**2 * 2.0**2
    assert np.all(np.isfinite(slope))
    assert np.abs(value).max() < 0.1 * unit
    assert np.abs(np.diff(slope)).max() < 0.05 * np.abs(slope).max()
