"""Sensors that feel water and air, against closed forms and the TEOS-10 library."""

import math

import gsw
import jax.numpy as jnp
import numpy as np
import pytest

import craft
from craft import RHO, G
from instruments import fit, read, record, repeated, shapes, state
from seatrial.sensors.water.medium import ATMOSPHERE, absorption, mackenzie, practical_salinity

pytestmark = pytest.mark.usefixtures("x64")

ARM = np.array([0.8, -0.3, 0.2])
MOUNT = {"position": ARM.tolist(), "roll": 0.4, "pitch": -0.2, "yaw": 1.1}
TO_BODY = craft.euler_matrix(0.4, -0.2, 1.1)
EULER = (0.2, -0.3, 2.0)
TO_WORLD = craft.euler_matrix(*EULER)
MOVING = (1.2, -0.4, 0.3, 0.1, -0.2, 0.5)
AT = np.array([3.0, -7.0, 12.0])
WAVE = {"spectrum": "regular", "height": 1.0, "period": 5.0, "towards_deg": 0.0}
CURRENT = {"speed": 0.7, "towards_deg": 60.0}
DRIFT = 0.7 * np.array([math.cos(math.radians(60)), math.sin(math.radians(60)), 0.0])


def sensor_velocity(relative_to=(0.0, 0.0, 0.0)):
    """Velocity of the sensor in its own axes, by hand: R_sᵀ (v + ω × r − Rᵀ u)."""
    linear, angular = np.array(MOVING[:3]), np.array(MOVING[3:])
    body = linear + np.cross(angular, ARM) - TO_WORLD.T @ np.array(relative_to)
    return TO_BODY.T @ body


def moving():
    return state(AT, EULER, MOVING)


PLACE = AT + TO_WORLD @ ARM

# --- pressure ------------------------------------------------------------------------------------


def test_ideal_pressure_is_that_of_the_column_above_the_sensor_itself():
    values, valid, _ = read(fit("pressure", fidelity="ideal", **MOUNT), craft.calm(), moving())
    np.testing.assert_allclose(values[:, 0], [ATMOSPHERE + RHO * G * PLACE[2], PLACE[2]])
    assert valid.all()


def test_pressure_of_a_stratified_sea_agrees_with_teos_10():
    """gsw.p_from_z holds for water of 35.16504 g/kg and 0 °C and a gravity of its own."""
    depth = np.linspace(0.0, 3000.0, 301)
    latitude = 45.5
    dbar = gsw.p_from_z(-depth, latitude)
    celsius = gsw.t_from_CT(gsw.SA_from_SP(35.0, dbar, -30.0, latitude), 0.0, dbar)
    ocean = craft.ocean_of(
        datum={"latitude_deg": latitude, "longitude_deg": -30.0},
        water={
            "profile": "table",
            "depth": depth.tolist(),
            "temperature": celsius.tolist(),
            "salinity": [35.0] * len(depth),
        },
    )
    z = np.array([10.0, 333.3, 1000.0, 2500.0])
    at = state((0, 0, z))
    values, _, _ = read(fit("pressure", ocean, fidelity="ideal"), ocean, at)
    expected = 1e4 * gsw.p_from_z(-z, latitude)
    expected = expected * G / gsw.grav(latitude, gsw.p_from_z(-0.5 * z, latitude))
    np.testing.assert_allclose(values[0] - ATMOSPHERE, expected, rtol=2e-5)


def test_pressure_goes_on_below_the_deepest_row_of_the_water():
    ocean = craft.ocean_of(
        seabed={"depth": 100.0}, water={"profile": "constant", "temperature": 4.0}
    )
    built = fit("pressure", ocean, fidelity="ideal")
    deepest = float(ocean.water.rho.knots[-1])
    values, _, _ = read(built, ocean, state((0, 0, np.array([deepest, deepest + 1.0]))))
    density = float(ocean.water.rho.values[-1])
    np.testing.assert_allclose(values[0, 1] - values[0, 0], density * G, rtol=1e-9)


@pytest.mark.parametrize("depth", [None, 6.0])
def test_pressure_under_a_regular_wave_follows_linear_theory(depth):
    ocean = craft.ocean_of(waves=WAVE, **({"seabed": {"depth": depth}} if depth else {}))
    k = float(ocean.waves.wavenumber[0])
    omega, x, z = 2.0 * math.pi / 5.0, 1.3, 2.0
    decay = math.cosh(k * (depth - z)) / math.cosh(k * depth) if depth else math.exp(-k * z)
    built = fit("pressure", ocean, fidelity="ideal")
    for t in (0.0, 1.1, 3.7):
        values, _, _ = read(built, ocean, state((x, 0.0, z)), t)
        dynamic = RHO * G * 0.5 * decay * math.cos(omega * t - k * x)
        np.testing.assert_allclose(values[0, 0], ATMOSPHERE + RHO * G * z + dynamic, rtol=1e-12)


def test_pressure_in_a_crest_vanishes_at_the_surface_and_is_the_airs_above_it():
    ocean = craft.ocean_of(waves=WAVE)
    z = np.array([-0.2, -0.5, -0.6])  # in the crest of 0.5 m, on it, above it
    values, _, _ = read(fit("pressure", ocean, fidelity="ideal"), ocean, state((0, 0, z)))
    expected = ATMOSPHERE + RHO * G * np.array([0.3, 0.0, 0.0])
    np.testing.assert_allclose(values[0], expected, atol=1e-6)


def test_device_turns_pressure_into_depth_with_its_own_density():
    built = fit("pressure", fidelity="nominal", density=1000.0)
    values, _, _ = read(built, craft.calm(), state((0, 0, 20.0)))
    np.testing.assert_allclose(values[1, 0], 20.0 * RHO / 1000.0)


def test_pressure_output_moves_in_steps_and_ends_at_its_range():
    built = fit("pressure", resolution=1000.0, range=3e5)
    values, _, _ = read(built, craft.calm(), state((0, 0, np.array([5.0, 12.34, 40.0]))))
    np.testing.assert_allclose(values[0] % 1000.0, 0.0, atol=1e-6)
    assert values[0, 2] == 3e5


# --- Doppler velocity log ------------------------------------------------------------------------

BOTTOM = {"seabed": {"depth": 40.0}}
EXACT = {"noise": 0.0, "range_noise": 0.0, "water_noise": 0.0, "fidelity": "nominal"}


def beams(angle):
    azimuth = np.radians([45.0, 135.0, 225.0, 315.0])
    return np.stack(
        [
            math.sin(angle) * np.cos(azimuth),
            math.sin(angle) * np.sin(azimuth),
            np.full(4, math.cos(angle)),
        ]
    )


@pytest.mark.parametrize("how", [{"fidelity": "ideal"}, EXACT])
@pytest.mark.parametrize("degrees", [22.5, 30.0])
def test_dvl_gives_velocity_altitude_and_ranges_at_its_own_place_and_angle(how, degrees):
    ocean = craft.ocean_of(**BOTTOM, current=CURRENT)
    tilted = MOUNT | {"roll": 0.1, "pitch": -0.15}
    to_body = craft.euler_matrix(0.1, -0.15, 1.1)
    built = fit("dvl", ocean, beam_angle_deg=degrees, **tilted, **how)
    values, valid, _ = read(built, ocean, moving())
    velocity = to_body.T @ (np.array(MOVING[:3]) + np.cross(MOVING[3:], ARM))
    height = 40.0 - PLACE[2]
    down = (TO_WORLD @ to_body @ beams(math.radians(degrees)))[2]
    np.testing.assert_allclose(values[:3, 0], velocity, atol=1e-12)
    np.testing.assert_allclose(values[3, 0], height, rtol=1e-12)
    np.testing.assert_allclose(values[4:8, 0], height / down, rtol=1e-12)
    assert values[8, 0] == 1.0
    assert valid.all()


@pytest.mark.parametrize("lost", range(4))
def test_three_beams_still_give_the_exact_velocity_and_altitude(lost):
    ocean = craft.ocean_of(**BOTTOM)
    built = fit("dvl", ocean, **(EXACT | {"fidelity": "full", "scale": 0.0, "dropout": 0.5}))
    drawn = np.ones((12, 1))
    drawn[8 + lost] = -1.0
    at = state(AT, (0.2, -0.1, 2.0), MOVING)
    values, valid, _ = read(built, ocean, at, drawn=jnp.asarray(drawn))
    np.testing.assert_allclose(values[:3, 0], MOVING[:3], atol=1e-12)
    np.testing.assert_allclose(values[3, 0], 28.0, rtol=1e-12)
    assert values[4 + lost, 0] == 0.0
    assert np.count_nonzero(values[4:8, 0]) == 3
    assert valid.all()


def test_two_beams_give_no_bottom_lock():
    ocean = craft.ocean_of(**BOTTOM)
    how = EXACT | {"fidelity": "full", "scale": 0.0, "dropout": 0.5, "water_layer": None}
    drawn = np.ones((12, 1))
    drawn[8:10] = -1.0
    values, valid, _ = read(fit("dvl", ocean, **how), ocean, moving(), drawn=jnp.asarray(drawn))
    assert not valid.any()
    assert values[8, 0] == 0.0
    np.testing.assert_allclose(values[3, 0], 28.0, rtol=1e-12)  # two beams still range


def test_dvl_without_a_seabed_is_ideal_over_ground_and_real_through_the_water():
    ocean = craft.ocean_of(current=CURRENT)
    ideal, valid, _ = read(fit("dvl", ocean, fidelity="ideal", **MOUNT), ocean, moving())
    np.testing.assert_allclose(ideal[:, 0], [*sensor_velocity(), 0, 0, 0, 0, 0, 1], atol=1e-12)
    assert valid.all()
    real, valid, _ = read(fit("dvl", ocean, **EXACT, **MOUNT), ocean, moving())
    np.testing.assert_allclose(real[:, 0], [*sensor_velocity(DRIFT), 0, 0, 0, 0, 0, 2], atol=1e-12)
    assert valid.all()


def test_dvl_out_of_reach_of_the_bottom_follows_the_water_at_its_layer():
    profile = {"depth": [0.0, 10.0, 20.0, 30.0], "factor": [1.0, 1.0, 0.5, 0.5]}
    ocean = craft.ocean_of(seabed={"depth": 200.0}, current=CURRENT | {"profile": profile})
    built = fit("dvl", ocean, water_layer=16.0, **EXACT)
    values, valid, _ = read(built, ocean, state((0, 0, 9.0), velocity=(1.0, 0, 0, 0, 0, 0)))
    np.testing.assert_allclose(values[:3, 0], [1.0, 0.0, 0.0] - 0.5 * DRIFT, atol=1e-12)
    np.testing.assert_array_equal(values[3:, 0], [0, 0, 0, 0, 0, 2])
    assert valid.all()
    near, _, _ = read(built, ocean, state((0, 0, 150.0), velocity=(1.0, 0, 0, 0, 0, 0)))
    assert near[8, 0] == 1.0
    without = fit("dvl", ocean, **EXACT, water_layer=None)
    _, valid, _ = read(without, ocean, state((0, 0, 9.0)))
    assert not valid.any()


def test_water_lock_needs_the_layer_well_above_the_bottom():
    ocean = craft.ocean_of(seabed={"depth": 30.0})
    how = EXACT | {"maximum_altitude": 3.0, "water_layer": 10.0}
    at = state((0, 0, np.array([15.0, 18.0])))  # the layer at 67 % and at 83 % of the way
    values, valid, _ = read(fit("dvl", ocean, **how), ocean, at)
    np.testing.assert_array_equal(values[8], [2.0, 0.0])
    np.testing.assert_array_equal(valid, [True, False])


def test_dvl_gives_nothing_out_of_the_water():
    ocean = craft.ocean_of(**BOTTOM, waves=WAVE)
    at = state((0, 0, np.array([-0.4, -0.6])))  # in a crest of 0.5 m, and above it
    _, valid, _ = read(fit("dvl", ocean, **EXACT), ocean, at)
    np.testing.assert_array_equal(valid, [True, False])


def reach(euler=(0, 0, 0), water=None, **described):
    """Largest altitude of bottom lock, to a centimetre."""
    parts = {"water": water} if water else {}
    ocean = craft.ocean_of(seabed={"depth": 120.0}, **parts)
    height = np.arange(0.01, 120.0, 0.01)
    built = fit("dvl", ocean, **(EXACT | {"water_layer": None} | described))
    _, valid, _ = read(built, ocean, state((0, 0, 120.0 - height), euler))
    return height[valid].min(), height[valid].max()


def constant(temperature, salinity):
    return {
        "profile": "constant",
        "density": RHO,
        "temperature": temperature,
        "salinity": salinity,
    }


def test_reach_of_a_level_dvl_in_the_reference_water_is_that_of_the_data_sheet():
    nearest, farthest = reach(maximum_altitude=75.0, minimum_altitude=0.3)
    assert nearest == pytest.approx(0.3, abs=0.011)
    # the sea's pressure at 45 m weakens the absorption of magnesium sulphate a little
    assert 75.0 < farthest < 1.003 * 75.0


def test_water_changes_the_reach_of_the_dvl_by_its_absorption():
    _, farthest = reach(water=constant(10.0, 35.0))
    _, fresh = reach(water=constant(10.0, 0.0))
    _, cold = reach(water=constant(2.0, 35.0))
    assert fresh > 1.05 * farthest  # no salts to relax
    assert cold < 0.85 * farthest  # viscosity reigns at 1 MHz and grows in the cold
    _, low = reach(water=constant(10.0, 35.0), frequency=3e5)
    _, low_cold = reach(water=constant(2.0, 35.0), frequency=3e5)
    assert low_cold > 1.02 * low  # magnesium sulphate reigns at 300 kHz and fades in the cold


def test_tilt_shortens_the_reach_of_the_dvl():
    _, level = reach()
    _, tilted = reach(euler=(0.0, 0.3, 0.0))
    assert tilted < 0.9 * level
    with pytest.raises(ValueError, match="zero-size"):  # no altitude at all has lock
        reach(euler=(math.pi, 0.0, 0.0))


def test_wrong_sound_speed_scales_velocities_and_ranges():
    ocean = craft.ocean_of(**BOTTOM)
    how = EXACT | {"fidelity": "full", "scale": 0.0, "dropout": 0.0, "sound_speed": 1520.0}
    values, _, _ = read(fit("dvl", ocean, **how), ocean, moving(), drawn=None)
    ratio = 1520.0 / float(ocean.water.sound.values[12])
    np.testing.assert_allclose(values[:3, 0], ratio * np.array(MOVING[:3]), rtol=1e-4)
    np.testing.assert_allclose(values[3, 0], ratio * 28.0, rtol=1e-4)


@pytest.mark.parametrize("fidelity", ["ideal", "nominal", "full"])
def test_lost_lock_silences_the_dvl_for_one_sample(fidelity):
    ocean = craft.ocean_of(**BOTTOM)
    sensor = (built := fit("dvl", ocean, fidelity=fidelity, dropout=0.0)).sensor
    at = state((0, 0, np.array([10.0, 10.0])))
    memory = sensor.begin(jnp.zeros((sensor.starting_draws, 2)))
    memory = sensor.lose_lock(memory, jnp.array([True, False]), 0.0)
    values, valid, memory = read(built, ocean, at, memory=memory)
    np.testing.assert_array_equal(valid, [False, True])
    np.testing.assert_array_equal(values[8], [0.0, 1.0])
    _, valid, _ = read(built, ocean, at, memory=memory)
    assert valid.all()


def test_absorption_agrees_with_an_independent_formula():
    """Ainslie and McColm (1998), pH 8; they state agreement within 10 % or so."""
    for f, t, s, z in [(3e5, 5, 35, 0), (6e5, 15, 33, 500), (1e6, 10, 35, 100), (1e6, 2, 5, 0)]:
        khz, km = f * 1e-3, z * 1e-3
        f1, f2 = 0.78 * math.sqrt(s / 35) * math.exp(t / 26), 42.0 * math.exp(t / 17)
        expected = (
            0.106 * f1 * khz**2 / (f1**2 + khz**2)
            + 0.52 * (1 + t / 43) * (s / 35) * f2 * khz**2 / (f2**2 + khz**2) * math.exp(-km / 6)
            + 0.00049 * khz**2 * math.exp(-(t / 27 + km / 17))
        )
        found = 1e3 * absorption(f, np.array(float(t)), np.array(float(s)), np.array(float(z)))
        np.testing.assert_allclose(found, expected, rtol=0.1)


# --- speed log -----------------------------------------------------------------------------------


def test_speed_log_gives_the_velocity_through_current_and_waves_at_its_place():
    ocean = craft.ocean_of(current=CURRENT, waves=WAVE)
    k, omega = float(ocean.waves.wavenumber[0]), 2.0 * math.pi / 5.0
    t = 0.9
    phase = (omega + k * DRIFT[0]) * t - k * PLACE[0]  # the current carries the waves
    orbital = 0.5 * omega * math.exp(-k * PLACE[2])
    water = DRIFT + orbital * np.array([math.cos(phase), 0.0, math.sin(phase)])
    values, valid, _ = read(fit("speed_log", ocean, fidelity="ideal", **MOUNT), ocean, moving(), t)
    np.testing.assert_allclose(values[:, 0], sensor_velocity(water)[:2], atol=1e-9)
    assert valid.all()


def test_speed_log_is_silent_in_the_air_unless_ideal():
    at = state((0, 0, np.array([0.5, -0.5])))
    for fidelity, expected in (("ideal", [True, True]), ("full", [True, False])):
        _, valid, _ = read(fit("speed_log", fidelity=fidelity), craft.calm(), at)
        np.testing.assert_array_equal(valid, expected)


def test_speed_log_has_scale_and_steps():
    built = fit("speed_log", scale=0.02, resolution=0.1)
    sensor = built.sensor
    memory = sensor.begin(jnp.array([[1.0]]))
    at = state((0, 0, 2.0), velocity=(3.0, 0.52, 0, 0, 0, 0))
    values, _, _ = read(built, craft.calm(), at, memory=memory)
    np.testing.assert_allclose(values[:, 0], [3.1, 0.5])  # 3.06 and 0.5304, rounded


# --- anemometer ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("towards", "heading", "angle"),
    [(180.0, 0.0, 0.0), (270.0, 0.0, 90.0), (90.0, 0.0, -90.0), (270.0, 45.0, 45.0)],
)
def test_wind_angle_is_where_it_comes_from_clockwise_from_the_bow(towards, heading, angle):
    ocean = craft.ocean_of(wind={"speed": 8.0, "towards_deg": towards})
    built = fit("anemometer", ocean, fidelity="ideal", position=[0, 0, -10.0])
    values, _, _ = read(built, ocean, state((0, 0, 0), (0, 0, math.radians(heading))))
    np.testing.assert_allclose(values[:, 0], [8.0, math.radians(angle)], atol=1e-12)


def test_apparent_wind_takes_the_masthead_and_its_own_motion():
    roughness = 1e-3
    ocean = craft.ocean_of(
        wind={"speed": 9.0, "towards_deg": 200.0, "profile": "log", "roughness": roughness}
    )
    mast = np.array([0.5, 0.2, -4.0])
    built = fit("anemometer", ocean, fidelity="ideal", position=mast.tolist(), yaw=0.7)
    euler = (0.15, -0.1, 1.0)
    turn = craft.euler_matrix(*euler)
    values, _, _ = read(built, ocean, state((0, 0, 0), euler, MOVING))
    height = -(turn @ mast)[2]
    speed = 9.0 * math.log(height / roughness) / math.log(10.0 / roughness)
    towards = math.radians(200.0)
    air = speed * np.array([math.cos(towards), math.sin(towards), 0.0])
    past = turn.T @ air - np.array(MOVING[:3]) - np.cross(MOVING[3:], mast)
    past = craft.euler_matrix(0, 0, 0.7).T @ past
    expected = [math.hypot(past[0], past[1]), math.atan2(-past[1], -past[0])]
    np.testing.assert_allclose(values[:, 0], expected, rtol=1e-12)


def test_calm_air_is_felt_by_a_moving_craft():
    built = fit("anemometer", fidelity="ideal", position=[0, 0, -3.0])
    at = state((0, 0, 0), velocity=(np.array([2.0, 0.0]), 0, 0, 0, 0, 0))
    values, _, _ = read(built, craft.calm(), at)
    np.testing.assert_allclose(values, [[2.0, 0.0], [0.0, 0.0]], atol=1e-12)


def test_vane_below_its_starting_speed_keeps_its_last_angle():
    built = fit("anemometer", starting_speed=0.5, angle_resolution=0.0, position=[0, 0, -3.0])
    at = state((0, 0, 0), velocity=(0.0, 1.0, 0, 0, 0, 0))
    blown, _, memory = read(built, craft.calm(), at)
    slack = state((0, 0, 0), velocity=(0.4, 0, 0, 0, 0, 0))
    values, _, _ = read(built, craft.calm(), slack, memory=memory)
    np.testing.assert_allclose(blown[:, 0], [1.0, math.pi / 2])
    np.testing.assert_allclose(values[:, 0], [0.0, math.pi / 2])


def test_anemometer_rounds_ends_and_drowns():
    built = fit("anemometer", speed_resolution=0.5, angle_resolution_deg=10.0, range=5.0)
    at = state(
        (0, 0, np.array([-1.0, -1.0, 1.0])), velocity=(-3.1, np.array([1, 9, 0]), 0, 0, 0, 0)
    )
    values, valid, _ = read(built, craft.calm(), at)
    np.testing.assert_allclose(values[0], [3.5, 5.0, 3.0])
    np.testing.assert_allclose(np.degrees(values[1]) % 10.0, 0.0, atol=1e-9)
    np.testing.assert_array_equal(valid, [True, True, False])


# --- CTD -----------------------------------------------------------------------------------------

THERMOCLINE = {
    "water": {
        "profile": "table",
        "depth": [0.0, 20.0, 30.0, 200.0],
        "temperature": [18.0, 18.0, 8.0, 6.0],
        "salinity": [34.0, 34.0, 35.0, 35.2],
    }
}


def test_ideal_ctd_gives_the_water_and_the_conductivity_of_teos_10():
    ocean = craft.ocean_of(**THERMOCLINE)
    z = np.array([5.0, 25.0, 150.0])
    values, valid, _ = read(fit("ctd", ocean, fidelity="ideal"), ocean, state((0, 0, z)))
    celsius, salinity = values[1], values[3]
    np.testing.assert_allclose(celsius[[0, 2]], [18.0, 6.6], atol=0.3)
    dbar = (values[2] - ATMOSPHERE) * 1e-4
    np.testing.assert_allclose(values[0], 0.1 * gsw.C_from_SP(salinity, celsius, dbar), rtol=1e-6)
    absolute = gsw.SA_from_SP(salinity, dbar, 0.0, 0.0)
    sound = gsw.sound_speed(absolute, gsw.CT_from_t(absolute, celsius, dbar), dbar)
    np.testing.assert_allclose(values[4], sound, atol=0.02)
    assert valid.all()


def test_salinity_from_conductivity_agrees_with_teos_10():
    c, t, p = np.meshgrid([1.0, 3.0, 4.2, 5.5], [0.0, 10.0, 25.0], [0.0, 500.0, 4000.0])
    found = practical_salinity(jnp.asarray(c), jnp.asarray(t), jnp.asarray(p * 1e4))
    np.testing.assert_allclose(found, gsw.SP_from_C(10.0 * c, t, p), atol=1e-9)


def test_sound_speed_of_mackenzie_agrees_with_teos_10():
    t, s, z = np.meshgrid([3.0, 10.0, 25.0], [33.0, 36.0], [0.0, 1000.0])
    dbar = gsw.p_from_z(-z, 45.0)
    sound = gsw.sound_speed_t_exact(gsw.SA_from_SP(s, dbar, -30.0, 45.0), t, dbar)
    np.testing.assert_allclose(mackenzie(t, s, z), sound, atol=0.6)


def test_thermometer_of_the_ctd_lags_and_the_salinity_spikes():
    ocean = craft.ocean_of(**THERMOCLINE)
    built = fit("ctd", ocean, rate=4.0, temperature_lag=0.5, temperature_resolution=0.0,
                conductivity_resolution=0.0, pressure_resolution=0.0)  # fmt: skip
    z = np.array([10.0] + [100.0] * 12)
    states = repeated(state(), 13, position=np.stack([0 * z, 0 * z, z], axis=1)[:, :, None])
    values = record(built, ocean, states)[:, :, 0]
    ideal, _, _ = read(fit("ctd", ocean, fidelity="ideal"), ocean, state((0, 0, 100.0)))
    true = ideal[:, 0]
    late = np.exp(-np.arange(13) * 0.25 / 0.5)
    np.testing.assert_allclose(values[:, 1], true[1] + (18.0 - true[1]) * late, rtol=1e-9)
    dbar = (values[1:, 2] - ATMOSPHERE) * 1e-4
    made = gsw.SP_from_C(10.0 * values[1:, 0], values[1:, 1], dbar)
    np.testing.assert_allclose(values[1:, 3], made, atol=1e-5)
    assert values[1, 3] < true[3] - 5.0  # a warm thermometer makes the water seem fresh
    assert abs(values[-1, 3] - true[3]) < 0.05


def test_ctd_is_silent_out_of_the_water():
    at = state((0, 0, np.array([1.0, -1.0])))
    _, valid, _ = read(fit("ctd"), craft.calm(), at)
    np.testing.assert_array_equal(valid, [True, False])


def test_ctd_rounds_its_cells():
    built = fit("ctd", conductivity_resolution=0.01, temperature_resolution=0.1,
                pressure_resolution=100.0)  # fmt: skip
    values, _, _ = read(built, craft.calm(), state((0, 0, 12.345)))
    cells = [values[0, 0] / 0.01, values[1, 0] / 0.1, (values[2, 0] - ATMOSPHERE) / 100.0]
    np.testing.assert_allclose(cells, np.round(cells), atol=1e-9)


# --- all of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fidelity", ["ideal", "nominal", "full"])
@pytest.mark.parametrize("kind", ["pressure", "dvl", "speed_log", "ctd", "anemometer"])
def test_memory_keeps_its_shape_and_type_and_ideal_sensors_draw_nothing(kind, fidelity, dtype):
    air = {"wind": {"speed": 5.0, "towards": 1.0}}
    ocean = craft.ocean_of(dtype, **THERMOCLINE, **BOTTOM, **air, waves=WAVE, current=CURRENT)
    built = fit(kind, ocean, dtype=dtype, fidelity=fidelity)
    memory, reading = shapes(built, ocean, dtype=dtype)
    assert (reading.memory.shape, reading.memory.dtype) == (memory.shape, memory.dtype)
    assert reading.values.shape == (len(built.components), 3)
    assert (reading.valid.shape, reading.valid.dtype) == ((3,), bool)
    assert len(built.components) == len(built.units) == len(built.deviation)
    if fidelity == "ideal":
        assert built.sensor.draws == built.sensor.starting_draws == 0
        assert not any(built.deviation)
