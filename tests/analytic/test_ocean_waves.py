"""Linear wave theory at a point, in deep and in finite water."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.conventions import GRAVITY
from seatrial.ocean import waves as field
from seatrial.ocean.synthesis import Components, wavenumber, waves_from
from seatrial.seeding import generator

DEPTHS = [None, 300.0, 12.0, 2.0]


pytestmark = pytest.mark.usefixtures("x64")


def sea(depth=None, stretching="constant", count=12, dtype=jnp.float64):
    rng = generator(3, "test")
    components = Components(
        amplitude=rng.uniform(0.02, 0.1, count),
        omega=rng.uniform(0.6, 3.0, count),
        direction=rng.uniform(-3.0, 3.0, count),
        phase=rng.uniform(0.0, 6.0, count),
    )
    return waves_from([components], depth, stretching, dtype)


def potential(waves, x, y, z, t):
    """φ = −Σ (a ω / k) cosh k(h − z) / sinh kh · sin θ, written the textbook way."""
    k, w = waves.wavenumber, waves.omega
    along = x * jnp.cos(waves.direction) + y * jnp.sin(waves.direction)
    theta = w * t - k * along + waves.phase
    if waves.depth is None:
        decay = jnp.exp(-k * z)
    else:
        decay = jnp.cosh(k * (waves.depth - z)) / jnp.sinh(k * waves.depth)
    return -jnp.sum(waves.amplitude * w / k * decay * jnp.sin(theta))


@pytest.mark.parametrize("depth", [0.5, 12.0, 4000.0])
def test_wavenumbers_satisfy_the_dispersion_relation_to_machine_precision(depth):
    omega = np.geomspace(1e-3, 100.0, 500)
    k = wavenumber(omega, depth)
    np.testing.assert_allclose(GRAVITY * k * np.tanh(k * depth), omega**2, rtol=4e-15)
    np.testing.assert_allclose(wavenumber(omega, None), omega**2 / GRAVITY, rtol=1e-15)


@pytest.mark.parametrize("depth", DEPTHS)
def test_velocity_acceleration_and_pressure_are_derivatives_of_the_potential(depth):
    waves = sea(depth)
    x, y, z, t = 3.0, -5.0, 1.2, 17.0
    at = field.sample(waves, (x, y, z), t, density=1000.0)
    gradient = jax.grad(potential, argnums=(1, 2, 3))
    velocity = gradient(waves, x, y, z, t)
    acceleration = jax.jvp(lambda s: gradient(waves, x, y, z, s), (t,), (1.0,))[1]
    pressure = -1000.0 * jax.grad(potential, argnums=4)(waves, x, y, z, t)
    np.testing.assert_allclose(at.velocity, velocity, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(at.acceleration, acceleration, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(at.pressure, pressure, rtol=1e-10)


@pytest.mark.parametrize("depth", DEPTHS)
def test_flow_is_free_of_divergence_and_rotation(depth):
    waves = sea(depth)
    jacobian = np.array(
        jax.jacfwd(lambda p: jnp.stack(field.sample(waves, (p[0], p[1], p[2]), 4.0).velocity))(
            jnp.array([1.0, 2.0, 0.7])
        )
    )
    assert abs(np.trace(jacobian)) < 1e-13
    np.testing.assert_allclose(jacobian, jacobian.T, atol=1e-13)


@pytest.mark.parametrize("depth", DEPTHS)
def test_surface_conditions_hold_at_the_mean_level(depth):
    """Kinematic: w = ∂ζ/∂t (up). Dynamic: p = ρ g ζ."""
    waves = sea(depth)
    at = field.sample(waves, (2.0, 1.0, 0.0), 9.0, density=1025.0)
    rate = jax.grad(lambda t: field.elevation(waves, 2.0, 1.0, t))(9.0)
    np.testing.assert_allclose(-at.velocity[2], rate, rtol=1e-12)
    np.testing.assert_allclose(at.pressure, 1025.0 * GRAVITY * at.elevation, rtol=1e-12)


def test_no_water_passes_through_the_bottom_nor_motion_grows_below_it():
    waves = sea(12.0)
    at_bottom = field.sample(waves, (0.0, 0.0, 12.0), 3.0)
    below = field.sample(waves, (0.0, 0.0, 20.0), 3.0)
    assert abs(float(at_bottom.velocity[2])) < 1e-16
    np.testing.assert_allclose(below.velocity, at_bottom.velocity)


def test_slope_is_the_gradient_of_the_elevation():
    waves = sea()
    expected = jax.grad(lambda x, y: field.elevation(waves, x, y, 5.0), argnums=(0, 1))(4.0, -3.0)
    np.testing.assert_allclose(field.slope(waves, 4.0, -3.0, 5.0), expected, rtol=1e-11)
    np.testing.assert_allclose(
        field.sample(waves, (4.0, -3.0, 1.0), 5.0).slope, expected, rtol=1e-11
    )


def test_crest_moves_towards_the_stated_azimuth_at_the_phase_speed():
    towards, omega = math.radians(120.0), 1.1
    components = Components(*(np.array([v]) for v in (0.5, omega, towards, 0.0)))
    waves = waves_from([components], None, "constant", jnp.float64)
    travelled = GRAVITY / omega * 7.0
    crest = field.elevation(
        waves, travelled * math.cos(towards), travelled * math.sin(towards), 7.0
    )
    np.testing.assert_allclose(crest, 0.5, rtol=1e-12)
    under_crest = field.sample(waves, (0.0, 0.0, 1.0), 0.0).velocity
    np.testing.assert_allclose(math.atan2(under_crest[1], under_crest[0]), towards, rtol=1e-12)


def test_very_deep_finite_water_equals_deep_water_without_overflow():
    deep, finite = sea(None), sea(11000.0)
    at = [jnp.asarray(p) for p in (5.0, 6.0, 2.0)]
    for a, b in zip(
        jax.tree.leaves(field.sample(deep, at, 8.0)),
        jax.tree.leaves(field.sample(finite, at, 8.0)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("depth", [None, 12.0])
def test_constant_stretching_holds_the_mean_level_value_above_it(depth):
    waves = sea(depth, "constant")
    at_level = field.sample(waves, (1.0, 1.0, 0.0), 2.0)
    above = field.sample(waves, (1.0, 1.0, -0.4), 2.0)
    np.testing.assert_allclose(above.velocity, at_level.velocity, rtol=1e-14)


@pytest.mark.parametrize("depth", [None, 12.0])
def test_linear_stretching_continues_the_tangent(depth):
    waves = sea(depth, "linear")

    def motion(z):
        at = field.sample(waves, (1.0, 1.0, z), 2.0)
        return jnp.stack([*at.velocity, at.pressure / 1e4])

    value, tangent = jax.jvp(motion, (1e-12,), (1.0,))
    np.testing.assert_allclose(motion(-0.4), value - 0.4 * tangent, rtol=1e-9)


@pytest.mark.parametrize("depth", [None, 12.0])
def test_wheeler_stretching_measures_depth_from_the_instantaneous_surface(depth):
    waves = sea(depth, "wheeler")
    plain = replace(waves, stretching="constant")
    zeta = float(field.elevation(waves, 1.0, 1.0, 2.0))
    at_surface = field.sample(waves, (1.0, 1.0, -zeta), 2.0)
    np.testing.assert_allclose(
        at_surface.velocity, field.sample(plain, (1.0, 1.0, 0.0), 2.0).velocity, rtol=1e-12
    )
    if depth is not None:
        at_bottom = field.sample(waves, (1.0, 1.0, depth), 2.0)
        assert abs(float(at_bottom.velocity[2])) < 1e-15


def test_phase_keeps_its_precision_after_a_month_in_single_precision():
    month = 30 * 86400.0
    single, double = sea(dtype=jnp.float32), sea()
    assert single.omega.dtype == jnp.float64
    a = field.elevation(single, jnp.float32(3.0), jnp.float32(4.0), month)
    b = field.elevation(double, 3.0, 4.0, month)
    assert a.dtype == jnp.float32
    np.testing.assert_allclose(a, b, atol=5e-6)


def test_a_million_points_are_sampled_in_blocks_and_agree_with_single_points():
    waves = sea(count=60)
    points = np.random.default_rng(0).uniform(-200.0, 200.0, (3, 1000, 1000))
    points[2] = np.abs(points[2]) / 20.0
    program = jax.jit(field.sample).lower(waves, tuple(jnp.asarray(points)), 6.0).compile()
    everywhere = program(waves, tuple(jnp.asarray(points)), 6.0)
    assert everywhere.pressure.shape == (1000, 1000)
    # little more than the nineteen fields of the result, far below the 480 MB of a single
    # component × point array
    one_field = points[0].nbytes
    assert program.memory_analysis().temp_size_in_bytes < 25 * one_field
    for i, j in ((0, 0), (17, 503), (999, 999)):
        alone = field.sample(waves, tuple(points[:, i, j]), 6.0)
        for a, b in zip(jax.tree.leaves(everywhere), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(a[i, j], b, rtol=1e-9, atol=1e-12)


def test_gradient_flows_through_blocks_and_through_the_phases():
    waves = sea()
    many = jnp.linspace(0.0, 50.0, 5000)

    def energy(phase):
        return jnp.mean(field.elevation(replace(waves, phase=phase), many, 0.0 * many, 3.0) ** 2)

    gradient = jax.grad(energy)(waves.phase)
    step = 1e-6 * jnp.eye(12)[4]
    numeric = (energy(waves.phase + step) - energy(waves.phase - step)) / 2e-6
    np.testing.assert_allclose(gradient[4], numeric, rtol=1e-6)
