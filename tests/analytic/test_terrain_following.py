"""What is made of beams that meet the bottom, against planes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.gnc.guidance import terrain
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import from_euler

pytestmark = pytest.mark.usefixtures("x64")

move, sound = jax.jit(terrain.move, static_argnums=3), jax.jit(terrain.sound)

ARM = np.array([0.4, 0.0, 0.1])
PLANE = np.array([30.0, 0.15, -0.1])
"""Depth at the origin, and how it grows towards north and east."""


def four_beams(angle=0.44):
    azimuth = np.radians([45.0, 135.0, 225.0, 315.0])
    flat = np.sin(angle) * np.stack([np.cos(azimuth), np.sin(azimuth)])
    return np.vstack([flat, np.full(4, np.cos(angle))]).T


def settings(beams, climb=np.inf, lead=0.0):
    sounder = terrain.Sounder(
        jnp.asarray(ARM), jnp.asarray(beams), jnp.asarray([0.05, 0.0]), first=1, place=0, box=1
    )
    numbers = (jnp.asarray(v) for v in (0.2, 30.0, lead, climb, 10.0))
    return terrain.Terrain(*numbers, (sounder,))


def at(place, euler=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0)):
    rest = np.concatenate([velocity, np.zeros(3)])
    attitude = from_euler(*(jnp.asarray(a) for a in euler))
    columns = [jnp.asarray(v)[:, None] for v in (place, attitude, rest, np.zeros(3))]
    return Estimate(*columns)


def ranges(believed, beams):
    """Of a vehicle where it believes to be, over PLANE; the first number is something else."""
    from seatrial.spatial.rotations import rotation
    from seatrial.spatial.vectors import vec3

    turned = rotation(believed.attitude)
    place = np.array(believed.position[:, 0]) + np.ravel(turned.to_world(vec3(jnp.asarray(ARM))))
    found = [99.0]
    for beam in beams:
        n, e, d = np.ravel(turned.to_world(vec3(jnp.asarray(beam))))
        gap = PLANE[0] + PLANE[1] * place[0] + PLANE[2] * place[1] - place[2]
        found.append(gap / (d - PLANE[1] * n - PLANE[2] * e))
    return jnp.asarray(found)[:, None]


def heard(how, plane, believed, values, age=0.0):
    return sound(how, how.sounders[0], plane, believed, values, jnp.ones(1, bool), jnp.full(1, age))


def test_four_beams_over_a_plane_tell_its_depth_and_slope():
    beams = four_beams()
    how, believed = settings(beams), at([5.0, -3.0, 12.0], (0.1, -0.2, 0.7))
    plane = terrain.begin(how, 1, jnp.float64)
    for _ in range(200):
        plane = heard(how, plane, believed, ranges(believed, beams))
    below = PLANE[0] + 5.0 * PLANE[1] - 3.0 * PLANE[2]
    np.testing.assert_allclose(plane.mean[:, 0], [below, *PLANE[1:]], atol=0.01)


def test_one_beam_learns_the_slope_from_the_way():
    beams = np.array([[0.0, 0.0, 1.0]])
    how, velocity = settings(beams), (1.5, 0.0, 0.0)
    plane = terrain.begin(how, 1, jnp.float64)
    for k in range(600):
        believed = at([0.15 * k, 0.0, 12.0], velocity=velocity)
        plane = move(how, plane, believed, 0.1) if k else plane
        if k % 2 == 0:
            plane = heard(how, plane, believed, ranges(believed, beams))
    bottom = terrain.wanted(how, plane, believed, jnp.asarray([4.0]))
    below = PLANE[0] + PLANE[1] * float(believed.position[0, 0])
    np.testing.assert_allclose(bottom.depth, below - 4.0, atol=0.1)
    np.testing.assert_allclose(bottom.slope, PLANE[1], atol=0.02)


def test_a_late_sample_is_put_where_it_was_taken():
    beams, velocity = four_beams(), (2.0, 0.0, 0.0)
    how, then = settings(beams), at([0.0, 0.0, 12.0], velocity=velocity)
    now = at([2.0, 0.0, 12.0], velocity=velocity)
    plane = terrain.begin(how, 1, jnp.float64)
    for _ in range(200):
        plane = heard(how, plane, now, ranges(then, beams), age=1.0)
    np.testing.assert_allclose(plane.mean[0, 0], PLANE[0] + 2.0 * PLANE[1], atol=0.02)


def test_a_wrong_range_does_little_and_no_echo_nothing():
    beams = four_beams()
    how, believed = settings(beams), at([0.0, 0.0, 12.0])
    plane, values = terrain.begin(how, 1, jnp.float64), ranges(at([0.0, 0.0, 12.0]), beams)
    for _ in range(50):
        plane = heard(how, plane, believed, values)
    silent = heard(how, plane, believed, jnp.zeros_like(values))
    np.testing.assert_array_equal(silent.mean, plane.mean)
    spoilt = heard(how, plane, believed, values.at[2].add(25.0))
    assert abs(float(spoilt.mean[0, 0] - plane.mean[0, 0])) < 0.3


def test_without_echoes_the_bottom_is_not_taken_to_fall():
    """It may rise, which is the safe side, and levels off within the correlation length."""
    how = settings(four_beams())
    for slope, expected in ((0.2, 30.0 + 0.2 * 3.0), (-0.2, 30.0 - 0.2 * 30.0)):
        plane = terrain.begin(how, 1, jnp.float64)._replace(
            mean=jnp.asarray([[30.0], [slope], [0.0]]), heard=jnp.ones(1, bool)
        )
        believed = at([0.0, 0.0, 12.0], velocity=(1.5, 0.0, 0.0))
        for _ in range(3000):
            plane = move(how, plane, believed, 0.1)
        np.testing.assert_allclose(plane.mean[0, 0], expected, atol=0.3)


def test_a_slow_climber_begins_early_where_the_bottom_rises_faster():
    plane = terrain.begin(settings(four_beams()), 1, jnp.float64)._replace(
        mean=jnp.asarray([[30.0], [-0.3], [0.0]]), heard=jnp.ones(1, bool)
    )
    north, south = (at([0.0, 0.0, 12.0], velocity=(v, 0.0, 0.0)) for v in (1.5, -1.5))
    asked = jnp.asarray([5.0])
    slow = settings(four_beams(), climb=0.1, lead=2.0)
    # 15 m ahead the bottom is 4.5 m higher, and the vehicle 1.5 m; 3 m are the lead's 0.9 m.
    assert float(terrain.wanted(slow, plane, north, asked).depth[0]) == pytest.approx(21.1)
    assert float(terrain.wanted(slow, plane, south, asked).depth[0]) == pytest.approx(25.0)
    nothing = terrain.wanted(slow, plane, north, jnp.asarray([jnp.nan]))
    assert not nothing.kept.any()
    unheard = terrain.begin(slow, 1, jnp.float64)
    assert not terrain.wanted(slow, unheard, north, asked).kept.any()


def test_what_a_sonar_sees_ahead_puts_a_lid_on_the_depth():
    """A return 20 m ahead, 4 m above the vehicle: at 0.2 m per m it must be 4 m + altitude up."""
    angle = np.arctan2(-4.0, 20.0)
    beams = np.array([[np.cos(angle), 0.0, np.sin(angle)], [1.0, 0.0, 0.0]])
    sonar = terrain.Lookout(
        jnp.zeros(3), jnp.asarray(beams), *jnp.asarray([0.2, 0.0]), place=1, box=1
    )
    how = dataclasses.replace(settings(four_beams()), lookout=sonar)
    believed = at([0.0, 0.0, 12.0], velocity=(1.5, 0.0, 0.0))
    plane = terrain.begin(how, 1, jnp.float64)._replace(
        mean=jnp.asarray([[30.0], [0.0], [0.0]]), heard=jnp.ones(1, bool)
    )
    far = jnp.asarray([[np.hypot(20.0, 4.0)], [0.0]])
    seen = terrain.look_ahead(sonar, plane, believed, far, jnp.ones(1, bool), jnp.zeros(1))
    asked = jnp.asarray([5.0])
    assert float(terrain.wanted(how, plane, believed, asked).depth[0]) == pytest.approx(25.0)
    assert float(terrain.wanted(how, seen, believed, asked).depth[0]) == pytest.approx(7.0)
    nearer = move(how, seen, believed, 1.0)
    assert float(nearer.lid[0]) == pytest.approx(12.0 - 0.2 * 1.5)
    clear = terrain.look_ahead(sonar, nearer, believed, 0.0 * far, jnp.ones(1, bool), jnp.zeros(1))
    assert float(terrain.wanted(how, clear, believed, asked).depth[0]) == pytest.approx(25.0)
