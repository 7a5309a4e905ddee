"""Waves over a bottom that is a map, against linear theory at the depth under each place."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import craft
from seatrial.compile.surroundings.bodies import _ride
from seatrial.core.environment import surroundings
from seatrial.core.forces import wave_patch
from seatrial.engine.other_sea import _waves as between
from seatrial.engine.scene import scene_of
from seatrial.engine.sea_change import SeaChange
from seatrial.ocean import waves as airy
from seatrial.ocean.motion import motion
from seatrial.spatial.rotations import from_euler, rotation

pytestmark = pytest.mark.usefixtures("x64")

PERIOD, HEIGHT, TOWARDS = 7.0, 0.4, 0.6
OMEGA = 2.0 * math.pi / PERIOD
REGULAR = {"spectrum": "regular", "height": HEIGHT, "period": PERIOD, "towards": TOWARDS}
SEA = {
    "spectrum": "jonswap",
    "significant_height": 0.5,
    "peak_period": 6.0,
    "spreading": "cos2",
    "frequencies": 8,
    "directions": 4,
}
SLOPE = {"shape": "slope", "depth": 42.0, "gradient": 0.1, "extent": [800.0, 200.0]}
"""From 2 m at 400 m south to 82 m at 400 m north."""
DEPTHS = (2.5, 5.0, 12.0, 30.0, 75.0)


def sloping(sea=REGULAR, **parts):
    return craft.ocean_of(waves=sea, seabed=SLOPE, **parts)


def north_of(depth):
    """Where the slope is so deep."""
    return (depth - SLOPE["depth"]) / SLOPE["gradient"]


def number(omega, depth):
    """ω² = g k tanh kh by bisection."""
    return brentq(lambda k: craft.G * k * math.tanh(k * depth) - omega**2, 1e-6, 1e3, xtol=1e-14)


def test_the_wavenumber_under_a_place_is_that_of_its_depth():
    from seatrial.ocean.dispersion import local

    ocean = sloping(SEA)
    omegas = np.asarray(ocean.waves.omega)
    depths = np.geomspace(1.0, 80.0, 57)
    found = np.asarray(local(ocean.waves.by_depth, jnp.asarray(depths)).wavenumber)
    exact = np.array([[number(w, h) for h in depths] for w in omegas])
    assert np.max(np.abs(found / exact - 1.0)) < 1e-4
    on_land = local(ocean.waves.by_depth, jnp.asarray([-3.0, 0.2]))
    assert np.allclose(on_land.depth, 1.0)
    assert np.allclose(on_land.wavenumber[:, 0], [number(w, 1.0) for w in omegas], rtol=1e-9)


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_water_moves_as_linear_theory_says_at_the_depth_under_it(depth):
    ocean, north, east = sloping(), north_of(depth), 30.0
    k0, k = float(ocean.waves.wavenumber[0]), number(OMEGA, depth)
    along = np.array([math.cos(TOWARDS), math.sin(TOWARDS)])
    a = 0.5 * HEIGHT
    for z in np.linspace(0.0, depth, 5):
        for t in (0.3, 2.9, 5.1):
            found = motion(ocean, (jnp.float64(north), jnp.float64(east), jnp.float64(z)), t)
            theta = OMEGA * t - k0 * along @ [north, east]
            level = a * OMEGA * math.cosh(k * (depth - z)) / math.sinh(k * depth)
            fall = a * OMEGA * math.sinh(k * (depth - z)) / math.sinh(k * depth)
            head = a * math.cosh(k * (depth - z)) / math.cosh(k * depth)
            expected = [*(along * level * math.cos(theta)), fall * math.sin(theta)]
            scale = level + 1e-9
            assert np.allclose(found.orbital, expected, atol=2e-4 * scale)
            pressure = craft.RHO * craft.G * head * math.cos(theta)
            assert float(found.pressure) == pytest.approx(
                pressure, abs=2e-4 * craft.RHO * craft.G * a
            )
    touching = motion(ocean, (jnp.float64(north), jnp.float64(east), jnp.float64(depth)), 1.0)
    assert abs(float(touching.orbital[2])) < 1e-6  # nothing flows through the bottom


def test_the_mean_depth_alone_would_be_far_off():
    """What the slope changes is no rounding: 1.5 m above the bottom in 5 m the water moves nearly
    twice as fast as waves of the mean depth would move it."""
    ocean = sloping()
    flat = dataclasses.replace(ocean.waves, by_depth=None)
    place = (jnp.float64(north_of(5.0)), jnp.float64(0.0), jnp.float64(3.5))
    times = np.linspace(0.0, PERIOD, 24)
    here = [float(np.hypot(*motion(ocean, place, t).orbital[:2])) for t in times]
    before = [float(np.hypot(*airy.sample(flat, place, t).velocity[:2])) for t in times]
    assert max(here) / max(before) > 1.8


@pytest.mark.parametrize("stretching", airy.STRETCHING)
def test_the_flow_neither_turns_nor_swells_and_its_rates_are_those_of_the_frequency(stretching):
    ocean = sloping(SEA | {"stretching": stretching})
    x, y = jnp.asarray([-390.0, -350.0, 10.0]), jnp.asarray([3.0, -20.0, 40.0])
    z, t, step = jnp.asarray([1.2, 3.0, 6.0]), 4.0, 1e-4
    bottom = jnp.asarray([3.0, 7.0, 43.0])

    def at(time=t, level=z):
        return airy.sample(ocean.waves, (x, y, level), time, bottom=bottom)

    rows = np.array(at().gradient)
    if stretching != "wheeler":  # whose moving depth adds terms of its own
        assert np.allclose(np.trace(rows), 0.0, atol=1e-12)
        assert np.allclose(rows, rows.transpose(1, 0, 2), atol=1e-12)
    change = np.array(at(t + step).velocity) - np.array(at(t - step).velocity)
    assert np.allclose(change / (2 * step), at().acceleration, atol=1e-6)
    deeper = np.array(at(level=z + step).velocity) - np.array(at(level=z - step).velocity)
    assert np.allclose(deeper / (2 * step), rows[:, 2], atol=1e-6)


def test_the_surface_is_the_one_that_is_drawn():
    ocean = sloping(SEA)
    x, y = np.linspace(-390, 390, 40), np.linspace(-90, 90, 40)
    found = motion(ocean, (jnp.asarray(x), jnp.asarray(y), jnp.zeros(40)), 12.5)
    drawn = scene_of(ocean).elevation(x, y, 12.5)
    assert np.allclose(found.elevation, drawn, atol=1e-9)


def test_a_level_bottom_has_one_depth_and_no_table():
    assert craft.ocean_of(waves=SEA, seabed={"depth": 20.0}).waves.by_depth is None
    assert craft.ocean_of(waves=SEA).waves.by_depth is None
    mapped = craft.ocean_of(waves=SEA, seabed=SLOPE | {"gradient": 0.0, "depth": 20.0})
    level = craft.ocean_of(waves=SEA, seabed={"depth": 20.0})
    place = (jnp.float64(31.0), jnp.float64(-12.0), jnp.float64(4.0))
    one, other = (motion(ocean, place, 3.3) for ocean in (mapped, level))
    assert np.allclose(one.velocity, other.velocity, rtol=2e-4)
    assert np.allclose(one.acceleration, other.acceleration, rtol=5e-4, atol=1e-6)


def loads(described, ocean, heading):
    """Excitation and water around a craft at the datum, over a period."""
    model = craft.compiled(described, ocean)
    at = craft.state(model, euler=(0.0, 0.0, heading))

    @jax.jit
    def felt(model, ocean, at, t):
        found = surroundings(model, ocean, at, t)
        return jnp.stack([jnp.asarray(v, float) for v in (*found.excitation, *found.relative)])

    return np.array([felt(model, ocean, at, t) for t in np.linspace(0.0, PERIOD, 16)])


@pytest.mark.parametrize("depth", [3.0, 6.0, 15.0])
@pytest.mark.parametrize("heading", [0.0, 1.1])
def test_a_small_craft_is_pushed_as_over_a_level_bottom_of_that_depth(depth, heading):
    """Within what the averaging over its two metres makes of the change of the wavenumber; how
    vertical motion decays over its draught T stays that of the mean depth, T/2h off at most."""
    described = craft.barge(length=2.0, beam=1.0)
    here = SLOPE | {"centre": [-north_of(depth), 0.0]}
    over_slope = loads(described, craft.ocean_of(waves=REGULAR, seabed=here), heading)
    level = craft.ocean_of(waves=REGULAR, seabed={"depth": depth})
    over_level = loads(described, level, heading)
    for kind in (slice(0, 2), slice(2, 3), slice(3, 5), slice(6, 8), slice(8, 9), slice(9, 11)):
        scale = np.abs(over_level[:, kind]).max()
        if kind == slice(2, 3):  # what is left of heave beside the buoyancy of the surface
            scale = 0.5 * HEIGHT * craft.RHO * craft.G * 2.0 * 1.0
        bound = 0.02 + (0.25 / depth if kind.start >= 8 else 0.0)
        assert np.abs(over_slope[:, kind] - over_level[:, kind]).max() < bound * scale
    deep = loads(described, craft.ocean_of(waves=REGULAR, seabed={"depth": 42.0}), heading)
    if depth < 10.0:  # which one depth for all of the map would have missed by a third
        assert np.abs(over_level[:, :2]).max() > 1.25 * np.abs(deep[:, :2]).max()


def test_a_hull_of_triangles_lies_in_waves_of_the_depth_under_it():
    depth = 4.0
    here = SLOPE | {"centre": [-north_of(depth), 0.0]}
    mapped = craft.ocean_of(waves=REGULAR, seabed=here)
    level = craft.ocean_of(waves=REGULAR, seabed={"depth": depth})
    patch = wave_patch.WavePatch(
        half=jnp.asarray([2.0, 1.0]),
        reach=jnp.asarray(1.0),
        mid_depth=jnp.asarray(0.25),
        amplitude=mapped.waves.amplitude,
        nodes=(8, 6),
    )
    turned = rotation(from_euler(*(jnp.float64(a) for a in (0.0, 0.0, 0.7))))
    now = airy.time_phase(mapped.waves, 2.2)
    seen = [
        wave_patch.sample(patch, ocean.waves, 0.0, 0.0, turned, now, *bottom).fields
        for ocean, bottom in ((mapped, (jnp.float64(depth),)), (level, ()))
    ]
    assert np.allclose(seen[0], seen[1], atol=1e-4 * HEIGHT)
    before = wave_patch.sample(patch, mapped.waves, 0.0, 0.0, turned, now).fields
    assert not np.allclose(before, seen[1], atol=1e-2 * HEIGHT)


def test_a_buoy_over_a_shoal_sways_as_far_as_the_water_there():
    ocean, depth = sloping(), 3.0
    ride = _ride(ocean, (north_of(depth), 0.0), 1.0)
    k = number(OMEGA, depth)
    assert ride.sway[0] == pytest.approx(0.5 * HEIGHT / math.tanh(k * depth), rel=1e-6)


def test_a_sea_that_changes_takes_its_wavenumbers_along():
    old, new = sloping(SEA), sloping(SEA | {"peak_period": 8.0})
    change = SeaChange(scene_of(old), scene_of(new), 10.0)
    for t, whole in ((10.0, old), (change.end, new)):
        found = between(change.mix(t), change, old.waves, new.waves)
        assert np.array_equal(found.by_depth.wavenumber, whole.waves.by_depth.wavenumber)


@pytest.mark.parametrize("shape", ["box", "ellipse"])
def test_craft_of_a_batch_each_feel_the_depth_under_them(shape):
    """Long ones by their heading, and round ones, whose table has one row."""
    ocean = sloping(SEA)
    beam = 2.0 if shape == "ellipse" else 1.0
    model = craft.compiled(craft.barge(length=2.0, beam=beam, shape=shape), ocean)
    assert (model.excitation.table.shape[0] == 1) == (shape == "ellipse")
    north = np.array([north_of(h) for h in (2.2, 6.0, 70.0)])
    heading = np.array([0.3, -1.0, 2.2])
    zero = np.zeros(3)

    @jax.jit
    def felt(model, ocean, at):
        found = surroundings(model, ocean, at, jnp.float64(3.0))
        parts = (*found.excitation, *found.relative, found.elevation)
        return jnp.stack([jnp.broadcast_to(v, at.position.shape[1:]) for v in parts])

    together = craft.state(model, (north, zero, zero), (zero, zero, heading), np.zeros((6, 3)), ())
    whole = np.array(felt(model, ocean, together))
    for i in range(3):
        alone = craft.state(model, (north[i], 0.0, 0.0), (0.0, 0.0, heading[i]))
        one = np.array(felt(model, ocean, alone))
        assert np.allclose(whole[:, i], one, rtol=1e-5, atol=1e-6 * np.abs(whole).max())
