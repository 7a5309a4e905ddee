"""What a filter is told of the sea and of its sensors, beside what they are."""

import jax
import numpy as np
import pytest

import seatrial as st
from seatrial.compile.autonomy.navigation.deviations import LEAST
from seatrial.compile.autonomy.navigation.navigator import build_navigator
from seatrial.compile.autonomy.navigation.sea import sea_of
from seatrial.compile.scenario import plan_of
from seatrial.compile.surroundings.world import build_ocean, forecast
from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation.waves import LEAST_WIDTH, Waves
from seatrial.pytree import constant
from seatrial.spec.loading import load_text
from seatrial.spec.navigation import Navigation
from seatrial.spec.world import World

pytestmark = pytest.mark.usefixtures("x64")

SEAS = {
    "sea_state_2": "{spectrum: sea_state, code: 2}",
    "sea_state_5": "{spectrum: sea_state, code: 5}",
    "jonswap": "{spectrum: jonswap, significant_height: 1.0, peak_period: 5.0}",
    "regular": "{spectrum: regular, height: 0.5, period: 6.0}",
}


def _world(waves):
    return load_text(f"{{kind: world, name: sea, waves: {waves}}}", World)


def _drawn(world, seed):
    return build_ocean(world, seed, np.dtype(np.float64)).waves


FELT = [
    (sea, metres)
    for sea in SEAS
    for metres in (0.0, 2.0, 5.0, 10.0, 20.0)
    if (sea, metres) != ("jonswap", 20.0)
]
"""Seas, and depths at which a tenth of their height at the surface is left."""


@pytest.mark.parametrize(("sea", "metres"), FELT)
def test_a_filter_knows_the_height_and_the_frequency_of_waves_at_every_depth(sea, metres):
    """Beside the sum over all waves, each of which fades by itself."""
    world = _world(SEAS[sea])
    waves = forecast(world, _drawn(world, 3))
    energy = 0.5 * np.asarray(waves.amplitude) ** 2
    left = energy * np.exp(-2.0 * np.asarray(waves.wavenumber) * metres)
    assert left.sum() >= 0.01 * energy.sum()
    known = sea_of(waves)
    water = Waves(known.wavenumbers, constant([1.0, 1.0]), True).at(jax.numpy.full(1, metres))
    np.testing.assert_allclose(
        float(water.share[0]) * np.sqrt(known.variance), np.sqrt(left.sum()), rtol=0.08
    )
    square = left @ np.asarray(waves.omega) ** 2 / left.sum()
    np.testing.assert_allclose(np.sqrt(float(water.mean_square[0])), np.sqrt(square), rtol=0.08)


@pytest.mark.parametrize("method", ["jittered", "uniform", "equal_energy"])
def test_a_forecast_is_of_every_seed(method):
    """What waves of one seed happen to be longer than those of another nobody knows beforehand: a
    filter that was told of other waves than its own took the rest of them for its depth."""
    world = _world(
        "{spectrum: sea_state, code: 4, swell: {significant_height: 0.5, peak_period: 12}, "
        f"method: {method}}}"
    )
    seas = [forecast(world, _drawn(world, seed)) for seed in (1, 2)]
    np.testing.assert_array_equal(seas[0].amplitude, seas[1].amplitude)
    np.testing.assert_array_equal(seas[0].wavenumber, seas[1].wavenumber)
    assert not np.array_equal(_drawn(world, 1).phase, _drawn(world, 2).phase)


def test_a_forecast_has_the_waves_of_all_seeds_on_average():
    """The share of the energy that is left 10 m below, beside the mean of 200 seeds, whose standard
    error is half a percent."""
    world = _world("{spectrum: sea_state, code: 3}")

    def left(waves):
        energy = np.asarray(waves.amplitude) ** 2
        return energy @ np.exp(-20.0 * np.asarray(waves.wavenumber)) / energy.sum()

    drawn = np.mean([left(_drawn(world, seed)) for seed in range(200)])
    assert left(forecast(world, _drawn(world, 0))) == pytest.approx(drawn, rel=0.02)


def test_a_regular_sea_is_as_narrow_as_any():
    world = _world(SEAS["regular"])
    waves = forecast(world, _drawn(world, 3))
    known = sea_of(waves)
    water = Waves(known.wavenumbers, constant([1.0, 1.0]), True).at(jax.numpy.zeros(1))
    omega = float(np.asarray(waves.omega)[0])
    np.testing.assert_allclose(float(water.damping[0]), LEAST_WIDTH * omega, rtol=1e-6)


def test_no_waves_are_none():
    for world in (World(name="calm"), _world("{spectrum: sea_state, code: 0}")):
        assert sea_of(forecast(world, _drawn(world, 1))) is None


@pytest.fixture(scope="module")
def aids():
    """Aids of a work-class ROV by the type of the sensor, and the sensors themselves."""
    text = """
kind: scenario
name: told
duration: 1
world: {name: sea, seabed: {depth: 40}}
vehicles: [{name: craft, vehicle: sf30k, feedback: truth}]
"""
    scenario = load_text(text, st.Scenario)
    craft = scenario.vehicles[0]
    sensors = tuple(s.model_copy(update={"fidelity": "nominal"}) for s in craft.fitted)
    craft = craft.model_copy(update={"sensors": sensors})
    plan = plan_of(scenario.model_copy(update={"vehicles": (craft,)}), 1)
    infos = tuple(plan.header.vehicles[0].sensors)
    with jax.enable_x64(True):
        ocean = build_ocean(scenario.world, 1, np.dtype(np.float64))
        made = build_navigator(
            Navigation(), sensors, infos, craft.vehicle, scenario.world, ocean, 0.1
        )
    found = {infos[i].type: made.filter.aids[k] for k, i in enumerate(made.aids)}
    return found, {sensor.type: (sensor, info) for sensor, info in zip(sensors, infos, strict=True)}


def test_sensors_are_believed_as_they_are_described(aids):
    """A log by a beam's noise, spread over the axes, and what the noise of the gyroscopes makes of
    its arm; a depth by its noise. Nothing of the library is as good as the least that is believed:
    a log that is good to 2 mm/s downwards and believed to 3 made depths err by less than stated."""
    found, fitted = aids
    (log, info), (imu, imu_info) = fitted["dvl"], fitted["imu"]
    rate = imu.errors.gyroscope.noise_density * np.sqrt(imu_info.rate)
    arm = np.linalg.norm(np.array(info.position) - np.array(imu_info.position))
    angle = log.beam_angle
    share = np.array([1.0 / (np.sqrt(2.0) * np.sin(angle))] * 2 + [0.5 / np.cos(angle)])
    stated = np.asarray(found["dvl"].deviation)
    np.testing.assert_allclose(stated, np.hypot(log.noise * share, rate * arm), rtol=1e-9)
    sensor, _ = fitted["pressure"]
    noise = sensor.noise / (sensor.density * GRAVITY)
    assert float(found["pressure"].deviation) == pytest.approx(noise)
    assert noise > LEAST["depth"]
    assert (log.noise * share).min() > LEAST["velocity"]


def test_waves_that_have_always_been_there_tell_nothing_of_their_height_by_how_fast_they_rise():
    """Displacement and velocity at one instant are uncorrelated in a stationary process, of the
    variances that the sea has; states that were independent would have a correlation of −0.2."""
    known = sea_of(forecast(_world(SEAS["sea_state_5"]), _drawn(_world(SEAS["sea_state_5"]), 3)))
    waves = Waves(known.wavenumbers, constant([1.0, 1.0]), True)
    depth = jax.numpy.array([0.0, 4.0, 15.0])
    water = waves.at(depth)
    swell = waves.sway(0, jax.numpy.zeros((8, 3)), depth)
    P = np.asarray(water.settled())

    def row(found):
        dense = np.zeros((8, 3))
        for i, h in found.items():
            dense[i] = h
        return dense

    sunk, rising = row(swell.sinks), row(swell.flows[2])
    displaced, moving, both = (
        np.einsum("in,ijn,jn->n", a, P, b)
        for a, b in ((sunk, sunk), (rising, rising), (sunk, rising))
    )
    np.testing.assert_allclose(displaced, np.asarray(water.share) ** 2, rtol=1e-3)
    square = np.asarray(water.share**2 * water.mean_square)
    np.testing.assert_allclose(moving, square, rtol=0.02)
    np.testing.assert_allclose(both / np.sqrt(displaced * moving), 0.0, atol=1e-3)
