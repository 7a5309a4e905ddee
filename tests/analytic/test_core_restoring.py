"""Weight and buoyancy: natural periods, metacentres, stratified water, and leaving the water."""

import dataclasses
import math

import gsw
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
import seatrial as st
from seatrial.core.environment import surroundings
from seatrial.core.step import hydrostatics as hydrostatics_of
from seatrial.hull.blocks import Block, hydrostatics
from seatrial.ocean import water
from seatrial.spatial.rotations import from_euler
from seatrial.spec.library import library_names

RHO, G = craft.RHO, craft.G


def period_of(time, signal):
    """Mean time between upward zero crossings, by linear interpolation where a sine is straight."""
    up = np.flatnonzero((signal[:-1] < 0) & (signal[1:] >= 0))
    share = signal[up] / (signal[up] - signal[up + 1])
    crossings = time[up] + share * (time[up + 1] - time[up])
    assert len(crossings) >= 3
    return (crossings[-1] - crossings[0]) / (len(crossings) - 1)


SHAPES = {
    # waterplane area, second moments about the x and y axes: textbook formulas
    "box": (4.0 * 2.0, 4.0 * 2.0**3 / 12, 2.0 * 4.0**3 / 12),
    "ellipse": (
        math.pi / 4 * 2.0 * 2.0,
        math.pi / 64 * 2.0**4,
        math.pi / 64 * 2.0**4,
    ),  # a vertical cylinder of diameter 2 m
}
ADDED = (400.0, 900.0, 5000.0, 250.0, 1400.0, 1500.0)


def floating(shape, gravity_depth=0.1):
    length = 4.0 if shape == "box" else 2.0
    draught = 0.6
    return craft.barge(
        length, 2.0, draught, shape, gravity_depth, coefficients=craft.added(*ADDED)
    ), draught


@pytest.mark.parametrize("shape", ["box", "ellipse"])
def test_restoring_matrix_is_that_of_the_textbook(shape):
    described, draught = floating(shape)
    area, transverse, longitudinal = SHAPES[shape]
    volume = area * draught
    model = craft.compiled(described)
    # KB + BM − KG, heights above the keel
    kb, kg = draught / 2, draught - 0.1
    gm_t = kb + transverse / volume - kg
    gm_l = kb + longitudinal / volume - kg
    h = 1e-4
    heave = craft.wrench(model, craft.calm(), craft.state(model, (0, 0, h)))
    roll = craft.wrench(model, craft.calm(), craft.state(model, euler=(h, 0, 0)))
    pitch = craft.wrench(model, craft.calm(), craft.state(model, euler=(0, h, 0)))
    assert -heave[2] / h == pytest.approx(RHO * G * area, rel=1e-8)
    assert -roll[3] / math.sin(h) == pytest.approx(RHO * G * volume * gm_t, rel=1e-8)
    assert -pitch[4] / math.sin(h) == pytest.approx(RHO * G * volume * gm_l, rel=1e-8)
    for load, own in ((heave, 2), (roll, 3), (pitch, 4)):
        assert np.abs(np.delete(load, own)).max() < 1e-5 * abs(load[own])


@pytest.mark.parametrize("shape", ["box", "ellipse"])
def test_natural_periods_of_a_floating_body_are_those_of_its_mass_and_stiffness(shape):
    described, draught = floating(shape)
    area, transverse, longitudinal = SHAPES[shape]
    volume = area * draught
    mass = RHO * volume
    model = craft.compiled(described)
    length = 4.0 if shape == "box" else 2.0
    # Sway and roll are coupled by CG and added mass; free of any spring in sway, the pair swings
    # with the roll inertia that remains when the sway momentum vanishes.
    kg_below = 0.1
    stiff = [RHO * G * area] + [
        RHO * G * volume * (second / volume - draught / 2 + kg_below)
        for second in (transverse, longitudinal)
    ]
    radii = (0.35 * 2.0, 0.26 * length)
    inertia = [mass + ADDED[2]]
    for radius, turning, sliding in zip(radii, ADDED[3:5], ADDED[1::-1], strict=True):
        about_origin = mass * radius**2 + mass * kg_below**2 + turning
        inertia.append(about_origin - (mass * kg_below) ** 2 / (mass + sliding))
    n = 3
    first = craft.state(
        model,
        position=np.array([[0, 0, 0], [0, 0, 0], [1e-3, 0, 0]], float),
        euler=np.array([[0, 1e-3, 0], [0, 0, 1e-3], [0, 0, 0]], float),
        velocity=np.zeros((6, n)),
    )
    time, position, attitude, *_ = craft.simulate(model, craft.calm(), first, 20.0, 0.01)
    signals = (position[:, 2, 0], attitude[:, 1, 1], attitude[:, 2, 2])
    for signal, mass_term, stiffness in zip(signals, inertia, stiff, strict=True):
        expected = 2 * math.pi * math.sqrt(mass_term / stiffness)
        assert period_of(time, signal) == pytest.approx(expected, rel=1e-5)


def test_metacentric_radii_of_blocks_are_those_of_their_waterplane():
    twin = tuple(Block(False, 5.0, 0.4, 0.3, 0.0, y) for y in (-1.0, 1.0))
    found = hydrostatics(twin)
    volume = 2 * 5.0 * 0.4 * 0.3
    assert found.volume == pytest.approx(volume)
    assert found.buoyancy_depth == pytest.approx(0.15)
    transverse = 2 * (5.0 * 0.4**3 / 12 + 5.0 * 0.4 * 1.0)
    assert found.transverse_radius == pytest.approx(transverse / volume)
    assert found.longitudinal_radius == pytest.approx(2 * 0.4 * 5.0**3 / 12 / volume)
    # two blocks in a row, one deeper: centroids by hand
    row = (Block(False, 2.0, 1.0, 0.5, -1.0, 0.0), Block(False, 2.0, 1.0, 1.0, 1.0, 0.0))
    found = hydrostatics(row)
    assert (found.flotation, found.buoyancy) == (pytest.approx(0.0), pytest.approx(1 / 3))
    assert found.buoyancy_depth == pytest.approx((1.0 * 0.25 + 2.0 * 0.5) / 3)
    assert found.longitudinal_radius == pytest.approx(4.0**3 / 12 / 3.0)
    cylinder = hydrostatics((Block(True, 2.0, 2.0, 0.5, 0.0, 0.0),))
    assert cylinder.transverse_radius == pytest.approx(1.0**2 / (4 * 0.5))


def test_load_off_the_centre_of_flotation_heaves_and_trims_like_the_hull_it_is():
    # A vertical push at x sinks the hull by F/ρgA and trims it about its centre of flotation.
    tank = {"kind": "ballast", "name": "tank", "position": [1.5, 0.0, 0.0],
            "mass_limits": [0.0, 100.0], "mass_rate_limit": 100.0}  # fmt: skip
    described = craft.barge(
        at=(0.3, 0.0),
        coefficients={"Z_w": -9000.0, "M_q": -9000.0, "X_u": -900.0},
        actuators=[tank],
    )
    model = craft.compiled(described)
    first = craft.state(model, actuators=(10.0,))
    _, position, attitude, *_ = craft.simulate(
        model, craft.calm(), first, 120.0, 0.02, [10.0], every=6000
    )
    pitch = 2 * attitude[-1, 2]
    area, volume = 8.0, 4.0
    gm = 4.0**2 / (12 * 0.5) - 0.25 + 0.0
    trim = -10.0 * G * (1.5 - 0.3) / (RHO * G * volume * gm)
    assert pitch == pytest.approx(trim, rel=2e-3)  # small angles
    flotation_depth = position[-1, 2] - 0.3 * math.sin(pitch)
    assert flotation_depth == pytest.approx(10.0 / (RHO * area), rel=2e-3)


def test_floating_craft_sinks_in_fresh_water_until_it_displaces_its_weight():
    fresh = craft.ocean_of(water={"profile": "constant", "density": 1000.0})
    model = craft.compiled(craft.barge(coefficients={"Z_w": -20000.0}), fresh)
    first = craft.state(model)
    _, position, *_ = craft.simulate(model, fresh, first, 20.0, 0.02, every=1000)
    assert 0.5 + position[-1, 2] == pytest.approx(0.5 * 1025 / 1000, rel=1e-9)


def test_submerged_body_swings_like_a_pendulum_about_its_centre_of_buoyancy():
    mass, lever, inertia, added = RHO * 0.1, 0.05, 4.0, 1.5
    model = craft.compiled(
        craft.vehicle(
            inertia={"mass": mass, "centre_of_gravity": [0, 0, lever], "moments": [inertia] * 3},
            hydrodynamics={"coefficients": {"K_pd": -added}},
        )
    )
    first = craft.state(model, (0, 0, 20), (1e-3, 0, 0))
    time, _, attitude, *_ = craft.simulate(model, craft.calm(), first, 30.0, 0.02)
    expected = 2 * math.pi * math.sqrt((inertia + added) / (mass * G * lever))
    assert period_of(time, attitude[:, 1]) == pytest.approx(expected, rel=1e-5)


@pytest.fixture(scope="module")
def stratified():
    return craft.ocean_of(
        water={
            "profile": "table",
            "depth": [0.0, 20.0, 40.0, 60.0, 100.0],
            "temperature": [20.0, 19.0, 14.0, 11.0, 10.0],
            "salinity": [34.0, 34.2, 34.8, 35.0, 35.1],
        }
    )


def density_at(ocean, depth):
    with jax.enable_x64(True):
        found = float(water.density(ocean.water, depth))
        celsius = float(water.temperature(ocean.water, depth))
        salinity = float(water.salinity(ocean.water, depth))
    pressure = gsw.p_from_z(-depth, 0.0)
    absolute = gsw.SA_from_SP(salinity, pressure, 0.0, 0.0)
    by_hand = gsw.rho(absolute, gsw.CT_from_t(absolute, celsius, pressure), pressure)
    assert found == pytest.approx(by_hand, abs=2e-3)
    return by_hand


def test_float_settles_at_the_depth_where_the_water_is_as_dense_as_it(stratified):
    target = 37.0
    mass = density_at(stratified, target) * 0.1
    model = craft.compiled(
        craft.vehicle(
            inertia={"mass": mass, "moments": [4.0] * 3},
            hydrodynamics={"coefficients": {"Z_w": -8.0, "Z_wd": -50.0}},
        ),
        stratified,
    )
    for start in (25.0, 48.0):
        first = craft.state(model, (0, 0, start))
        _, position, *_ = craft.simulate(model, stratified, first, 1500.0, 0.5, every=3000)
        assert position[-1, 2] == pytest.approx(target, abs=0.02)


def test_float_bobs_at_the_buoyancy_frequency(stratified):
    # ω² = g (dρ/dz) ∇ / (m + A): Brunt and Väisälä's N, slowed by the added mass.
    centre, h = 37.0, 0.5
    mass, added = density_at(stratified, centre) * 0.1, 50.0
    gradient = (density_at(stratified, centre + h) - density_at(stratified, centre - h)) / (2 * h)
    model = craft.compiled(
        craft.vehicle(
            inertia={"mass": mass, "moments": [4.0] * 3},
            hydrodynamics={"coefficients": {"Z_wd": -added}},
        ),
        stratified,
    )
    first = craft.state(model, (0, 0, centre + 0.2))
    time, position, *_ = craft.simulate(model, stratified, first, 1500.0, 0.5)
    expected = 2 * math.pi * math.sqrt((mass + added) / (G * gradient * 0.1))
    assert period_of(time, position[:, 2] - position[:, 2].mean()) == pytest.approx(
        expected, rel=0.02
    )


def depths(model, z, pitch=0.0):
    n = len(z)
    return craft.state(
        model,
        position=np.stack([np.zeros(n), np.zeros(n), z]),
        euler=(np.zeros(n), np.full(n, pitch), np.zeros(n)),
        velocity=np.zeros((6, n)),
    )


@pytest.mark.parametrize("pitch", [0.0, 0.5, 1.4])
def test_submerged_craft_loses_its_buoyancy_smoothly_as_it_leaves_the_water(pitch):
    model = craft.compiled(craft.torpedo())
    z = np.linspace(-2.0, 2.0, 4001)
    wet = craft.wet(model, craft.calm(), depths(model, z, pitch))
    assert (wet[0], wet[-1]) == (0.0, 1.0)
    assert (np.diff(wet) >= 0).all()
    # smoothstep over the height: the slope never exceeds 1.5 / height per slice
    assert np.diff(wet).max() <= 1.5 / 0.25 * (z[1] - z[0]) + 1e-12
    load = craft.wrench(model, craft.calm(), depths(model, z, pitch))
    down = load[0] * -math.sin(pitch) + load[2] * math.cos(pitch)
    assert down == pytest.approx(RHO * 0.07 * G * (1 - wet), abs=1e-9)


def test_surface_craft_loses_its_buoyancy_smoothly_as_it_leaves_the_water():
    model = craft.compiled(craft.barge())
    z = np.linspace(-1.5, 1.5, 3001)
    at = depths(model, z)
    wet = craft.wet(model, craft.calm(), at)
    lift = RHO * 4.0 * G - craft.wrench(model, craft.calm(), at)[2]
    assert (np.diff(wet) >= 0).all()
    assert (wet[z < -0.56], wet[z >= 0.0]) == (pytest.approx(0.0), pytest.approx(1.0))
    assert (np.diff(lift) >= -1e-9).all()
    wall = (z > -0.44) & (z < 0.69)  # between the rounded keel and the rounded deck
    assert lift[wall] == pytest.approx(RHO * G * 8.0 * (0.5 + z[wall]), rel=1e-9)
    assert lift[-1] == pytest.approx(RHO * G * 8.0 * 1.25)  # deck under: the whole hull
    assert lift[0] == 0.0


def surface_craft():
    """Every vehicle of the library that floats."""
    vehicles = (st.load(name, st.Vehicle) for name in library_names("vehicle"))
    return {v.name: v for v in vehicles if v.buoyancy.craft == "surface"}


FLOATING = surface_craft()


@pytest.mark.parametrize("described", FLOATING.values(), ids=FLOATING.keys())
def test_surface_craft_in_free_fall_does_not_turn(described):
    """Weight acts at the centre of gravity: that falls with g, and nothing turns about it."""
    model = craft.compiled(described)
    rng = np.random.default_rng(6)
    n = 40
    euler = rng.uniform([[-3.1], [-1.5], [-3.1]], [[3.1], [1.5], [3.1]], (3, n))
    high = np.outer([0.0, 0.0, -2.0 * described.length - described.height], np.ones(n))
    at = craft.state(model, high, euler, np.zeros((6, n)))
    rate = craft.acceleration(model, craft.calm(), at)
    assert np.abs(rate[3:]).max() < 1e-9
    down = np.array([craft.euler_matrix(*e).T @ [0.0, 0.0, G] for e in euler.T]).T
    assert np.abs(rate[:3] - down).max() < 1e-9


def test_dropped_otter_falls_without_turning_until_it_meets_the_water():
    model = craft.compiled(FLOATING["otter"])
    first = craft.state(model, (0.0, 0.0, -1.0))
    orders = np.zeros(model.channels)
    *_, velocity, _ = craft.simulate(model, craft.calm(), first, 0.4, 0.01, orders)
    assert np.abs(velocity[:, 3:]).max() < 1e-9
    assert velocity[-1, 2] == pytest.approx(0.4 * G, rel=1e-9)


@pytest.mark.parametrize("described", FLOATING.values(), ids=FLOATING.keys())
def test_stiffness_of_a_floating_craft_is_that_of_waterplane_and_metacentres(described):
    """∂τ/∂(z, φ, θ) at rest: ρgA at the centre of flotation, ρg∇GM_T, ρg∇GM_L, and no more.

    Heave at r_F = (x_F, 0, z_F) has the moment x_F Z about y, and pitch sinks r_F by −x_F θ.
    """
    density = described.hydrodynamics.reference_density
    ocean = craft.ocean_of(water={"profile": "constant", "density": density})
    model = craft.compiled(described, ocean)
    hull = model.restoring
    with jax.enable_x64(True):
        at = craft.state(model)

        def load(x):
            attitude = from_euler(x[1], x[2], 0.0 * x[0])
            position = jnp.stack([0.0 * x[0], 0.0 * x[0], x[0] - hull.flotation[2]])
            moved = dataclasses.replace(at, position=position, attitude=attitude)
            around = surroundings(model, ocean, moved, jnp.float64(0.0))
            return jnp.stack(hydrostatics_of(model, around))

        at_rest, found = load(jnp.zeros(3)), -np.asarray(jax.jacfwd(load)(jnp.zeros(3)))
    weight, x_f = float(hull.mass) * G, float(hull.flotation[0])
    assert np.abs(at_rest).max() < 1e-12 * weight
    area = density * G * float(hull.waterplane_area)
    expected = np.zeros((6, 3))
    expected[2] = area, 0.0, -area * x_f
    expected[4] = -area * x_f, 0.0, area * x_f**2 + weight * float(hull.gm_longitudinal)
    expected[3, 1] = weight * float(hull.gm_transverse)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected[expected != 0]).min()


@pytest.mark.parametrize("described", FLOATING.values(), ids=FLOATING.keys())
def test_still_water_holds_a_leaning_craft_without_turning_it_and_without_work(described):
    """Weight and buoyancy are vertical, so that they have no moment about the vertical: with one of
    ρg∇ (GM_L − GM_T) sin φ sin θ, roll and pitch together turned a boat in oblique waves. And what
    they do on a way around is nothing."""
    density = described.hydrodynamics.reference_density
    ocean = craft.ocean_of(water={"profile": "constant", "density": density})
    model = craft.compiled(described, ocean)
    angle = np.linspace(0.0, 2.0 * np.pi, 721)
    roll, pitch = 0.4 * np.cos(angle), 0.3 * np.sin(angle + 0.5)
    turn = np.array([craft.euler_matrix(*e) for e in zip(roll, pitch, angle, strict=True)])
    place = -(turn @ np.array(model.restoring.flotation)).T  # it stays at its mark
    at = craft.state(model, place, (roll, pitch, angle), np.zeros((6, 721)))
    with jax.enable_x64(True):
        around = surroundings(model, ocean, at, jnp.float64(0.0))
        load = np.array(hydrostatics_of(model, around))
    assert np.abs(load[:3]).max() < 1e-9 * float(model.restoring.mass) * G
    level = np.einsum("nij,jn->in", turn, load[3:])
    assert np.abs(level[2]).max() < 1e-9 * np.abs(level[:2]).max()
    step = np.einsum("nij,nik->jkn", turn[:-1], turn[1:])  # from each attitude to the next
    angles = 0.5 * np.stack([step[k, j] - step[j, k] for j, k in ((1, 2), (2, 0), (0, 1))])
    work = -0.5 * (load[3:, :-1] + load[3:, 1:]) * angles
    assert abs(work.sum()) < 1e-4 * np.abs(work).sum()


@pytest.mark.parametrize("share", [0.2, 0.05, 0.01])
def test_moment_about_the_centre_of_gravity_of_an_emerging_craft_goes_with_its_buoyancy(share):
    # With the weight at the centre of flotation the moment would be W (x_F − x_G) in the air.
    described = craft.barge(gravity_x=0.4)
    model = craft.compiled(described)
    z = -0.5 * (1 - share)
    load = craft.wrench(model, craft.calm(), craft.state(model, (0, 0, z)))
    weight = RHO * 4.0 * G
    lift = weight - load[2]
    about_gravity = load[4] + 0.4 * load[2]
    assert 0.0 < lift < (share + 0.03) * weight
    assert abs(about_gravity) < lift * 0.5 * described.length


@pytest.mark.parametrize(
    "described", [craft.barge(gravity_depth=0.1), craft.torpedo()], ids=["barge", "torpedo"]
)
def test_craft_in_the_air_falls_freely_without_added_mass(described):
    model = craft.compiled(described)
    at = craft.state(model, (0, 0, -20.0), velocity=(3.0, 1.0, 2.0, 0, 0, 0))
    rate = craft.acceleration(model, craft.calm(), at)
    assert rate == pytest.approx([0, 0, G, 0, 0, 0], abs=1e-9)


def test_light_body_floats_with_the_share_of_its_volume_that_balances_its_weight():
    displaced = RHO * 4 / 3 * math.pi * 0.3**3
    model = craft.compiled(craft.sphere(0.3, 0.7 * displaced, {"Z_w": -300.0}))
    first = craft.state(model, (0, 0, 1.0))
    _, position, *_ = craft.simulate(model, craft.calm(), first, 60.0, 0.02, every=3000)
    end = craft.state(model, position[-1])
    assert craft.wet(model, craft.calm(), end) == pytest.approx(0.7, rel=1e-8)


def test_auv_surfaces_floats_and_dives_again():
    tank = {"kind": "ballast", "name": "tank", "position": [0.05, 0.0, 0.0],
            "mass_limits": [-2.0, 2.0], "mass_rate_limit": 0.5}  # fmt: skip
    model = craft.compiled(craft.torpedo(actuators=[tank]))
    first = craft.state(model, (0, 0, 3.0))
    up = craft.simulate(model, craft.calm(), first, 90.0, 0.02, [-2.0], every=50)
    at_surface = craft.state(model, up[1][-1])
    share = float(craft.wet(model, craft.calm(), at_surface))
    assert share == pytest.approx(1 - 2.0 / (RHO * 0.07), rel=2e-3)  # floats 2 kg light
    assert up[1][:, 2].min() > -0.5  # it does not leap out of the water
    last = craft.state(model, up[1][-1], velocity=up[3][-1], actuators=up[4][-1])
    down = craft.simulate(model, craft.calm(), last, 60.0, 0.02, [2.0], every=50)
    assert down[1][-1, 2] > 5.0
    assert np.isfinite(down[1]).all()
