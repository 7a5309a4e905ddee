"""A depth is the map's, to the last bit, from whatever part of the map it is read."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from seatrial.geometry.grid import cast, facet
from seatrial.geometry.terrain import joined, side_for, terrain, terrain_of
from seatrial.geometry.window import Chart, window, with_depths

pytestmark = pytest.mark.usefixtures("x64")

RANDOM = np.random.default_rng(3)
WHOLE = terrain((-731.3, 1204.77), (2.3, 3.7), 30.0 + RANDOM.normal(size=(300, 200)))
CHART = Chart(WHOLE.origin, WHOLE.spacing, (300, 200))
SIDES = (64, 48)

look = jax.jit(facet)
beam = jax.jit(cast, static_argnames="steps")


def parts():
    return some.tuples(some.floats(-800.0, 50.0), some.floats(1100.0, 2000.0)).map(part_at)


def part_at(middle):
    place = np.array(middle)
    return WHOLE.part(*window(CHART, place, place, SIDES))


@given(parts(), some.integers(0, 2**32 - 1))
def test_a_part_has_the_depths_and_slopes_of_its_map(part, seed):
    inside = 1e-6, 1.0 - 1e-6
    share = np.random.default_rng(seed).uniform(*inside, (2, 50))
    x, y = (part.origin + share.T * (part.corner - part.origin)).T
    assert part.depth.shape == SIDES
    np.testing.assert_array_equal(part.at(x, y), WHOLE.at(x, y))
    there, everywhere = (look(t.grid(), jnp.asarray(x), jnp.asarray(y)) for t in (part, WHOLE))
    for a, b in zip(there, everywhere, strict=True):
        np.testing.assert_array_equal(a, b)


@given(parts())
def test_a_part_knows_where_it_lies(part):
    i, j = part.first
    np.testing.assert_array_equal(part.north, WHOLE.north[i : i + SIDES[0]])
    np.testing.assert_array_equal(part.east, WHOLE.east[j : j + SIDES[1]])
    again = terrain_of(part.grid())
    assert again.first == part.first
    np.testing.assert_array_equal(again.origin, part.origin)


@given(parts(), parts())
def test_two_parts_are_one_where_either_knows_something(one, other):
    both = joined([one, other])
    for part in (one, other):
        i, j = np.subtract(part.first, both.first)
        rows, columns = part.depth.shape
        np.testing.assert_array_equal(both.depth[i : i + rows, j : j + columns], part.depth)
    unknown = np.isnan(both.depth).sum()
    assert unknown >= both.depth.size - one.depth.size - other.depth.size


@given(some.tuples(some.floats(-5e3, 5e3), some.floats(-5e3, 5e3)))
def test_a_window_stays_on_its_map(middle):
    rows, columns = window(CHART, np.array(middle), np.array(middle), (256, 256))
    assert 0 <= rows.start == rows.stop - 256 <= 300 - 256
    assert (columns.start, columns.stop) == (0, 200)  # fewer than asked for: all of them
    assert side_for(200) == 256


def test_a_beam_meets_a_part_where_it_meets_the_map():
    part = part_at((-400.0, 1600.0))
    middle = 0.5 * (part.origin + part.corner)
    start = (jnp.asarray(middle[0]), jnp.asarray(middle[1]), jnp.asarray(0.0))
    along = (jnp.asarray(0.3), jnp.asarray(-0.2), jnp.asarray(np.sqrt(1.0 - 0.13)))
    met = [float(beam(t.grid(), start, along, 60.0, steps=32)) for t in (part, WHOLE)]
    assert met[0] == met[1] < 60.0


def test_holes_take_the_nearest_depth_and_nothing_else_changes():
    depth = WHOLE.depth.copy()
    depth[10:20, 10:20] = np.nan
    holed = terrain(WHOLE.origin, WHOLE.spacing, depth)
    filled, holes = with_depths(holed, 99.0)
    assert holes.sum() == 100
    np.testing.assert_array_equal(filled.depth[~holes], depth[~holes])
    assert filled.depth[10, 15] == depth[9, 15]
    assert np.isfinite(filled.depth).all()
    nothing, _ = with_depths(terrain(WHOLE.origin, WHOLE.spacing, np.full((4, 4), np.nan)), 99.0)
    assert (nothing.depth == 99.0).all()
    assert with_depths(WHOLE, 99.0)[1] is None
