"""Sea water by TEOS-10, smooth curves, currents and the seabed."""

import math

import gsw
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.compile.surroundings.world import build_ocean
from seatrial.ocean import current, seabed, water
from seatrial.ocean.curves import curve, evaluate, resample
from seatrial.ocean.water import PRESETS, teos10, water_from_profile
from seatrial.spec.world import World

pytestmark = pytest.mark.usefixtures("x64")

LATITUDE, LONGITUDE = 4.0, 188.0


def ocean(**parts):
    world = World.model_validate({"kind": "world", "name": "test", **parts})
    return build_ocean(world, 1, jnp.float64)


def as_measured(conservative):
    """In-situ temperature, practical salinity and depth of a TEOS-10 check value at 10 dbar."""
    absolute, pressure = 34.7118, 10.0
    return (
        np.array([-gsw.z_from_p(pressure, LATITUDE)]),
        np.array([gsw.t_from_CT(absolute, conservative, pressure)]),
        np.array([gsw.SP_from_SA(absolute, pressure, LONGITUDE, LATITUDE)]),
    )


def test_density_equals_the_teos10_check_value():
    rho, _ = teos10(*as_measured(28.8099), LATITUDE, LONGITUDE)
    np.testing.assert_allclose(rho, 1021.839935738108, rtol=1e-11)


def test_sound_speed_equals_the_teos10_check_value():
    _, sound = teos10(*as_measured(28.7856), LATITUDE, LONGITUDE)
    np.testing.assert_allclose(sound, 1542.426412426373, rtol=1e-10)


def test_tabulated_water_agrees_with_teos10_between_the_grid_points():
    depth, temperature, salinity = PRESETS["atlantic", "summer"]
    made = water_from_profile(depth, temperature, salinity, 5000.0, 40.0, -30.0, jnp.float64)
    z = np.array([0.3, 12.7, 33.3, 61.9, 250.5, 1999.4, 4321.1])
    t, s = resample(depth, temperature, z), resample(depth, salinity, z)
    rho, sound = teos10(z, t, s, 40.0, -30.0)
    np.testing.assert_allclose(water.density(made, z), rho, atol=2e-3)
    np.testing.assert_allclose(water.sound_speed(made, z), sound, atol=1e-2)
    np.testing.assert_allclose(water.temperature(made, z), t, atol=5e-3)
    np.testing.assert_allclose(water.salinity(made, z), s, atol=1e-4)


def test_given_density_compiles_to_a_constant():
    made = ocean(water={"profile": "constant", "density": 999.0}).water
    assert np.shape(made.rho) == ()
    assert float(water.density(made, jnp.float64(500.0))) == 999.0


def test_default_water_has_the_reference_density():
    assert float(water.density(ocean().water, jnp.float64(3.0))) == 1025.0


def test_water_without_a_given_density_grows_denser_with_pressure():
    made = ocean(water={"profile": "constant"}).water
    z = jnp.linspace(0.0, 4000.0, 200)
    assert np.all(np.diff(water.density(made, z)) > 0.0)
    assert float(water.temperature(made, jnp.float64(7.0))) == 10.0


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_water_is_statically_stable(preset):
    depth, temperature, salinity = PRESETS[preset]
    z = np.arange(0.0, 5000.0, 5.0)
    t, s = resample(depth, temperature, z), resample(depth, salinity, z)
    pressure = gsw.p_from_z(-z, 40.0)
    absolute = gsw.SA_from_SP(s, pressure, -30.0, 40.0)
    conservative = gsw.CT_from_t(absolute, t, pressure)
    stability, _ = gsw.Nsquared(absolute, conservative, pressure, 40.0)
    assert np.min(stability) > -1e-7


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_mixed_layer_is_shallower_and_warmer_in_summer(preset):
    basin, season = preset
    depth, temperature, _ = PRESETS[preset]
    mixed = resample(depth, temperature, np.arange(300.0))
    mixed_depth = np.argmax(mixed < mixed[0] - 0.5)
    assert mixed_depth < 30 if season == "summer" else mixed_depth > 100
    assert temperature[0] >= PRESETS[basin, "winter"][1][0]


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("count", [5, 200])
def test_curve_passes_through_its_table_and_is_monotone_between(uniform, count):
    rng = np.random.default_rng(4)
    x = np.arange(float(count)) if uniform else np.cumsum(rng.uniform(0.01, 3.0, count))
    y = np.cumsum(rng.uniform(0.0, 1.0, count) ** 6)
    made = curve(x, y, jnp.float64, uniform=uniform)
    np.testing.assert_allclose(evaluate(made, x), y, rtol=1e-12)
    fine = np.linspace(x[0] - 1.0, x[-1] + 1.0, 20001)
    assert np.all(np.diff(evaluate(made, fine)) >= -1e-12)
    assert float(evaluate(made, -1e9)) == y[0]
    np.testing.assert_allclose(evaluate(made, 1e9), y[-1])


def test_curve_has_a_continuous_slope_everywhere_its_ends_included():
    x, y = [0.0, 1.0, 4.0, 5.0], [0.0, 2.0, 2.5, 9.0]
    made = curve(x, y, jnp.float64)
    slope = jax.grad(lambda s: evaluate(made, s))
    for knot in x:
        np.testing.assert_allclose(slope(knot - 1e-9), slope(knot + 1e-9), atol=1e-6)


def test_uniform_current_is_two_numbers_and_never_accelerates():
    flow = ocean(current={"speed": 0.5, "towards_deg": 90.0}).current
    assert flow.is_constant
    assert len(jax.tree.leaves(flow)) == 2
    np.testing.assert_allclose(
        current.sample(flow, (1.0, 2.0, 3.0), 4.0), [0.0, 0.5, 0.0], atol=1e-16
    )


def test_current_profile_scales_the_current_smoothly_over_depth():
    profile = {"depth": [0.0, 10.0, 50.0], "factor": [1.0, 0.8, 0.2]}
    flow = ocean(current={"speed": 2.0, "towards": 0.0, "profile": profile}).current
    z = jnp.array([-3.0, 0.0, 10.0, 50.0, 400.0])
    north, east, down = current.sample(flow, (0.0 * z, 0.0 * z, z), 0.0)
    np.testing.assert_allclose(north, [2.0, 2.0, 1.6, 0.4, 0.4], rtol=1e-12)
    np.testing.assert_allclose(east, 0.0)
    np.testing.assert_allclose(down, 0.0)
    assert not flow.is_constant


def test_tidal_constituents_peak_at_their_phase_along_their_direction():
    tide = [
        {"amplitude": 0.5, "period_h": 12.42, "towards_deg": 30.0, "phase_deg": 90.0},
        {"amplitude": 0.1, "period_h": 12.0, "towards_deg": 30.0},
    ]
    flow = ocean(current={"speed": 0.2, "towards_deg": 180.0, "tide": tide}).current

    def expected(t):
        both = 0.5 * math.sin(2 * math.pi * t / (12.42 * 3600)) + 0.1 * math.cos(
            2 * math.pi * t / 43200
        )
        return [both * math.cos(math.pi / 6) - 0.2, both * 0.5, 0.0]

    for t in (0.0, 3.1 * 3600, 1e6):
        np.testing.assert_allclose(current.sample(flow, (0.0, 0.0, 0.0), t), expected(t), atol=1e-9)


def test_current_series_passes_through_its_values_and_its_acceleration_is_continuous():
    series = {"time_min": [0, 10, 20], "speed": [0.0, 0.5, 0.2], "towards_deg": [90, 90, 90]}
    flow = ocean(current={"series": series}).current

    def east(t):
        return current.sample(flow, (0.0, 0.0, 0.0), t)[1]

    np.testing.assert_allclose([east(t) for t in (0.0, 600.0, 1200.0)], [0.0, 0.5, 0.2])
    rate = jax.grad(east)
    np.testing.assert_allclose(rate(600.0 - 1e-6), rate(600.0 + 1e-6), atol=1e-8)


def test_flat_seabed_has_its_depth_everywhere():
    bottom = ocean(seabed={"depth": 42.0}).seabed
    assert float(seabed.sample(bottom, 1e4, -3.0)) == 42.0
