"""Contact against what mechanics says: rest, friction, rolling, slopes, impact and fenders."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
from craft import RHO, G
from seatrial.compile.surroundings.contact import balls
from seatrial.core import contact
from seatrial.core.step import stepped
from seatrial.geometry.bodies import Body, Fender
from seatrial.geometry.grid import height_grid
from seatrial.geometry.solids import build_solids
from seatrial.ocean import Seabed

MU = contact.FRICTION


def ball(factor, radius=0.3, coefficients=None):
    """A ball `factor` times as heavy as the water that it displaces."""
    displaced = RHO * 4 / 3 * math.pi * radius**3
    return craft.sphere(radius, factor * displaced, coefficients)


def crate(mass=400.0, size=(2.0, 1.0, 0.4), volume=0.2, coefficients=None):
    """A flat heavy box without drag; its centres lie in its middle."""
    length, width, height = size
    moments = [mass / 12 * (a * a + b * b) for a, b in ((width, height), (length, height),
                                                         (length, width))]  # fmt: skip
    return craft.vehicle(
        length=length,
        beam=width,
        height=height,
        inertia={"mass": mass, "moments": moments},
        buoyancy={"craft": "submerged", "volume": volume},
        hydrodynamics={"coefficients": coefficients or {}},
    )


def with_solids(ocean, *bodies):
    with jax.enable_x64(True):
        return jax.device_put(dataclasses.replace(ocean, solids=build_solids(bodies)))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_a_ball_at_rest_on_the_bottom_sinks_less_than_a_millimetre(integrator):
    ocean = craft.ocean_of(seabed={"depth": 8.0})
    damped = {"Z_w": -20.0, "Z_w_aw": -50.0}
    for factor in (1.02, 1.3, 4.0):
        model = craft.compiled(ball(factor, coefficients=damped), ocean, integrator=integrator)
        first = craft.state(model, (0, 0, 7.2))
        _, position, _, velocity, _ = craft.simulate(model, ocean, first, 24.0, 0.02, every=10)
        assert abs(position[-1, 2] + 0.3 - 8.0) < 1e-3
        assert np.abs(velocity[-1]).max() < 5e-4
        assert position[:, 2].max() + 0.3 < 8.0 + 0.05  # nor does it dive in on the way


def test_a_box_that_slides_over_the_bottom_stops_where_friction_says():
    ocean = craft.ocean_of(seabed={"depth": 8.0})
    model = craft.compiled(crate(), ocean)
    net = (400.0 - RHO * 0.2) * G
    for speed in (0.5, 1.0, 2.0):
        first = craft.state(model, (0, 0, 7.8), velocity=(speed, 0, 0, 0, 0, 0))
        _, position, attitude, velocity, _ = craft.simulate(
            model, ocean, first, 6.0, 0.01, every=10
        )
        expected = speed**2 / (2 * MU * net / 400.0)
        # friction is rounded below some centimetres per second
        assert position[-1, 0] == pytest.approx(expected, rel=0.01, abs=0.003)
        assert np.abs(velocity[-1]).max() < 1e-3
        assert abs(attitude[-1, 0]) > 0.9999  # it does not tip over


def test_a_ball_that_slides_begins_to_roll_at_the_speed_that_mechanics_says():
    ocean = craft.ocean_of(seabed={"depth": 8.0})
    described = ball(1.5)
    model = craft.compiled(described, ocean)
    mass = described.inertia.mass
    added = mass / 1.5 / 2
    first = craft.state(model, (0, 0, 7.7), velocity=(1.0, 0, 0, 0, 0, 0))
    _, position, _, _, _ = craft.simulate(model, ocean, first, 4.0, 0.01, every=10)
    speed = np.diff(position[:, 0]) / 0.1
    # μN turns the ball by its moment of inertia while it slows (m + A); then r ω = v
    share = 0.4 * mass / (mass + added)
    assert speed[-10:] == pytest.approx(1.0 / (1.0 + share), rel=0.01)


def slope(angle, depth=20.0):
    """A bottom that gets deeper towards north, by a map."""
    rise = math.tan(angle)
    north = np.arange(-40.0, 41.0, 4.0)
    grid = height_grid(
        (-40.0, -40.0), (4.0, 8.0), np.repeat(depth + rise * north, 11).reshape(21, 11)
    )
    return dataclasses.replace(craft.ocean_of(seabed={"depth": depth}), seabed=Seabed(grid))


def on_slope(model, angle, depth=20.0):
    """A flat box with its underside along the slope, bow down it."""
    into = 0.2 / math.cos(angle)
    return craft.state(model, (0, 0, depth - into), euler=(0, -angle, 0))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_a_box_on_a_slope_stays_below_the_angle_of_friction_and_slides_above_it(integrator):
    steep, gentle = math.radians(40.0), math.radians(15.0)
    a = (400.0 - RHO * 0.2) * G / 400.0
    model = craft.compiled(crate(), slope(steep), integrator=integrator)
    _, position, attitude, _, _ = craft.simulate(
        model, slope(steep), on_slope(model, steep), 2.0, 0.01, every=10
    )
    way = np.linalg.norm(position[-1] - position[0])
    expected = 0.5 * a * (math.sin(steep) - MU * math.cos(steep)) * 2.0**2
    assert way == pytest.approx(expected, rel=0.05)
    assert position[-1, 0] > 0.0
    assert attitude[-1] == pytest.approx(attitude[0], abs=2e-3)
    _, position, _, _, _ = craft.simulate(
        model, slope(gentle), on_slope(model, gentle), 2.0, 0.01, every=10
    )
    # friction that is rounded lets it creep, by less than a tenth of a millimetre per second
    assert np.linalg.norm(position[-1] - position[10]) < 1e-4


@pytest.mark.parametrize("degrees", [28.0, 35.0, 45.0, 60.0])
def test_a_box_put_down_on_a_slope_slides_as_far_as_mechanics_says(degrees):
    """From a millimetre above it: the first touch takes no more than the friction of its push, and
    what friction cannot hold does not stick while it begins to slide."""
    angle = math.radians(degrees)
    a = (400.0 - RHO * 0.2) * G / 400.0
    model = craft.compiled(crate(), slope(angle))
    start = on_slope(model, angle)
    start = dataclasses.replace(start, position=start.position.at[2].add(-1e-3 / math.cos(angle)))
    _, position, _, _, _ = craft.simulate(model, slope(angle), start, 3.0, 0.02, every=10)
    way = np.linalg.norm(position[-1] - position[0])
    expected = 0.5 * a * (math.sin(angle) - MU * math.cos(angle)) * 3.0**2
    assert way == pytest.approx(expected, rel=0.01)


def test_a_keel_that_is_lifted_at_one_end_turns_the_hull():
    ocean = with_solids(
        craft.calm(), Body("rock", "sphere", radius=0.5, position=np.array([0.9, 0.0, 5.69]))
    )
    model = craft.compiled(crate(volume=400.0 / RHO), ocean)
    mass = np.asarray(model.inertia.rigid_body)

    def impulse(position):
        after = one_step(model, ocean, craft.state(model, position))
        return mass @ np.asarray(after.state.velocity)

    up = impulse((0, 0, 5))
    assert up[2] < -1.0
    lever = up[4] / -up[2]
    assert 0.6 < lever < 0.9  # the rock's top, less what friction does as the bow swings up
    assert up[4] > 0.0  # bow up
    assert np.abs(impulse((-30.0, 0.0, 5.0))).max() < 1e-9


def one_step(model, ocean, state, dt=0.02):
    with jax.enable_x64(True):
        return stepped(model, ocean, state, jnp.zeros(0), jnp.float64(0.0), dt)


WALL = Body("wall", "box", length=1.0, beam=40.0, height=9.0, position=np.array([5.5, 0.0, 4.5]))


def energy(velocity, model):
    mass = np.asarray(model.inertia.rigid_body) + np.asarray(model.inertia.added_mass)
    return 0.5 * np.einsum("ti,ij,tj->t", velocity, mass, velocity)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_a_docking_at_half_a_metre_per_second_neither_tunnels_nor_gains_energy(integrator):
    ocean = with_solids(craft.calm(), WALL)
    model = craft.compiled(crate(volume=400.0 / RHO), ocean, integrator=integrator)
    for heading in (0.0, 0.4, 1.5):
        c, s = math.cos(heading), math.sin(heading)
        first = craft.state(model, (3.0, 0, 5), euler=(0, 0, heading),
                            velocity=(0.5 * c, -0.5 * s, 0, 0, 0, 0))  # fmt: skip
        _, position, _, velocity, _ = craft.simulate(model, ocean, first, 8.0, 0.02)
        kept = energy(velocity, model)
        touched = kept < kept[0] * (1 - 1e-9)
        assert touched.any()
        assert kept.max() <= kept[0] * (1 + 1e-3)
        after = kept[np.argmax(touched) + 25 :]
        assert after.max() < 0.6 * kept[0]
        assert position[:, 0].max() < 5.0 - 0.5 * 1.0 * abs(c) + 0.05


def test_a_fender_softens_the_blow_to_what_its_spring_says():
    hard = with_solids(craft.calm(), WALL)
    soft = with_solids(craft.calm(), dataclasses.replace(WALL, fender=Fender(2000.0, 0.0)))
    model = craft.compiled(crate(volume=400.0 / RHO), hard)
    peaks = {}
    for name, ocean in (("hard", hard), ("soft", soft)):
        first = craft.state(model, (3.9, 0, 5), velocity=(0.5, 0, 0, 0, 0, 0))
        _, _position, _, velocity, _ = craft.simulate(model, ocean, first, 4.0, 0.01)
        peaks[name] = 400.0 * np.abs(np.diff(velocity[:, 0])).max() / 0.01
    # three balls at the bow, each on a spring: ½ m v² = ½ 3 k x²
    expected = 0.5 * math.sqrt(400.0 * 3 * 2000.0)
    assert peaks["soft"] == pytest.approx(expected, rel=0.08)
    assert peaks["hard"] > 5 * peaks["soft"]


def test_the_load_tells_place_and_partner():
    ocean = with_solids(craft.ocean_of(seabed={"depth": 8.0}), WALL)
    model = craft.compiled(crate(volume=400.0 / RHO), ocean)

    def told(position):
        return one_step(model, ocean, craft.state(model, position)).load

    wall = told((4.01, 0, 5))
    assert int(wall.partner) == 0
    assert float(wall.place[0]) == pytest.approx(5.01, abs=1e-6)
    assert float(wall.size) == float(wall.struck) > 0.0
    bottom = told((0, 0, 7.81))
    assert int(bottom.partner) == contact.BOTTOM
    assert float(bottom.place[2]) == pytest.approx(8.01, abs=1e-6)
    assert float(bottom.struck) == 0.0 < float(bottom.size)
    assert int(told((0, 0, 3.0)).partner) == contact.NOTHING


def test_gradients_through_a_contact_are_finite():
    ocean = with_solids(craft.ocean_of(seabed={"depth": 1.0}), WALL)
    model = craft.compiled(crate(), ocean)

    def ended(speed):
        start = craft.state(model, (3.9, 0, 0.79))
        at = dataclasses.replace(start, velocity=jnp.zeros(6).at[0].set(speed))

        def one(at, k):
            return craft.step(model, ocean, at, jnp.zeros(0), 0.02 * k, 0.02), None

        return jax.lax.scan(one, at, jnp.arange(20))[0].position[0]

    with jax.enable_x64(True):
        slope_at = float(jax.grad(ended)(jnp.float64(0.5)))
        ahead, behind = (float(ended(jnp.float64(0.5 + e))) for e in (1e-5, -1e-5))
    assert math.isfinite(slope_at)
    assert slope_at == pytest.approx((ahead - behind) / 2e-5, rel=0.05, abs=1e-3)


@pytest.mark.parametrize(
    ("size", "least"),
    [
        ((0.6, 0.6, 0.6), 1),
        ((2.0, 0.3, 0.3), 9),
        ((2.0, 1.0, 0.4), 16),
        ((170.0, 23.0, 15.0), 30),
    ],
)
def test_balls_fill_a_hull_to_its_sides_and_no_farther(size, least):
    described = crate(size=size, mass=1000.0)
    points, radius = balls(described)
    assert points.shape[1] >= least
    assert points.shape[1] <= 40
    for axis, half in enumerate(np.array(size) / 2):
        assert points[axis].max() + radius == pytest.approx(half, rel=1e-9)
        assert points[axis].min() - radius == pytest.approx(-half, rel=1e-9)
