"""Handover and geofence: what holds for every pose and every polygon."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.gnc.guidance import handover
from seatrial.gnc.guidance.fence import inside, signed_distance
from seatrial.gnc.guidance.waypoints import Leg, Waypoints

pytestmark = pytest.mark.usefixtures("x64_module")

coordinate = st.floats(-20.0, 20.0)
poses = st.lists(coordinate, min_size=6, max_size=6).map(lambda v: jnp.asarray(v)[:, None])


@pytest.fixture(scope="module")
def x64_module():
    import jax

    with jax.enable_x64(True):
        yield


def leg(previous, current, following):
    return Leg(previous, current, following, jnp.asarray([False]))


@given(poses, poses, poses, poses, st.sampled_from([2, 4, 8]))
def test_soft_reference_lies_between_the_waypoint_and_the_next(a, b, c, pose, degree):
    found = np.asarray(handover.soft(leg(a, b, c), pose, degree))
    low, high = np.minimum(b, c), np.maximum(b, c)
    assert np.all(found >= low - 1e-9)
    assert np.all(found <= high + 1e-9)


@given(poses, poses, poses)
def test_soft_reference_is_the_waypoint_at_the_start_of_a_leg_and_the_next_at_its_end(a, b, c):
    now = leg(a, b, c)
    assert np.asarray(handover.soft(now, a, 4)) == pytest.approx(np.asarray(b), abs=1e-9)
    if np.any(np.asarray(a) != np.asarray(b)):
        assert np.asarray(handover.soft(now, b, 4)) == pytest.approx(np.asarray(c), abs=1e-9)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_weight_of_the_next_waypoint_grows_as_the_present_one_is_approached(x, y):
    near, far = sorted((x, y))
    for degree in (4, 8):
        assert handover.weight(near, degree) >= handover.weight(far, degree)
    assert handover.weight(near, 8) <= handover.weight(near, 4)


def plan(points, threshold):
    return Waypoints(
        points=jnp.asarray(points, float),
        threshold=jnp.full(len(points), threshold),
        count=jnp.asarray([len(points)]),
    )


def test_handover_waits_for_the_threshold():
    course = plan([[0, 0], [10, 0], [10, 10]], 1.0)
    memory = handover.begin(course)
    memory, now = handover.advance(course, memory, jnp.asarray([[8.9], [0.0]]))
    assert now.current[:, 0].tolist() == [10.0, 0.0]
    memory, now = handover.advance(course, memory, jnp.asarray([[9.1], [0.0]]))
    assert now.current[:, 0].tolist() == [10.0, 10.0]


def test_vehicle_that_swings_wide_is_handed_over_when_it_comes_nearer_to_the_next_waypoint():
    course = plan([[0, 0], [10, 0], [10, 10]], 0.5)
    memory = handover.begin(course)
    for place, number in (((0.0, 0.0), 1), ((8.0, 0.1), 1), ((12.0, 0.1), 1), ((12.0, 1.0), 2)):
        memory, _ = handover.advance(course, memory, jnp.asarray(place)[:, None])
        assert memory[0, 0] == number


def test_waypoint_is_not_skipped_when_the_way_back_begins_within_reach_of_the_next():
    # From (1, 1, 0) it is nearer to the origin than (1, 1, 1) is.
    course = plan([[1, 1, 0], [1, 1, 1], [0, 0, 0]], 0.3)
    memory = handover.begin(course)
    for z, number in ((0.0, 1), (0.3, 1), (0.65, 1), (0.75, 2)):
        memory, _ = handover.advance(course, memory, jnp.asarray([[1.0], [1.0], [z]]))
        assert memory[0, 0] == number


def test_last_waypoint_is_kept():
    course = plan([[0, 0], [10, 0]], 1.0)
    memory = handover.begin(course)
    for _ in range(3):
        memory, now = handover.advance(course, memory, jnp.asarray([[10.0], [0.0]]))
    assert memory[0, 0] == 1
    assert handover.soft(now, jnp.asarray([[10.0], [0.0]]), 4)[:, 0].tolist() == [10.0, 0.0]


@st.composite
def polygons(draw):
    """Star-shaped polygons about a centre, so that they do not cross themselves."""
    count = draw(st.integers(3, 9))
    angles = np.sort(draw(st.lists(st.floats(0.0, 1.0), min_size=count, max_size=count)))
    angles = 2.0 * math.pi * (np.arange(count) + 0.9 * angles) / count
    radii = np.array(draw(st.lists(st.floats(2.0, 15.0), min_size=count, max_size=count)))
    centre = np.array(draw(st.tuples(coordinate, coordinate)))
    points = centre + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return points[::-1] if draw(st.booleans()) else points


@settings(max_examples=60)
@given(polygons(), st.tuples(coordinate, coordinate))
def test_fence_agrees_with_the_turning_angle_and_with_points_along_the_boundary(polygon, place):
    place = np.array(place)
    found = float(signed_distance(polygon, place))
    share = np.linspace(0.0, 1.0, 2001)[:, None, None]
    boundary = polygon + share * (np.roll(polygon, -1, axis=0) - polygon)
    nearest = np.hypot(*(boundary - place).reshape(-1, 2).T).min()
    longest = np.hypot(*(np.roll(polygon, -1, axis=0) - polygon).T).max()
    assert abs(found) == pytest.approx(nearest, abs=longest / 2000.0)
    if nearest > 1e-6:
        away = polygon - place
        angle = np.arctan2(away[:, 1], away[:, 0])
        turn = (np.diff(np.append(angle, angle[0])) + math.pi) % (2.0 * math.pi) - math.pi
        assert (found > 0.0) == (abs(turn.sum()) > math.pi)


@settings(max_examples=5)
@given(polygons())
def test_fence_is_the_same_in_the_loop_as_on_the_host(polygon):
    rng = np.random.default_rng(0)
    places = rng.uniform(-30.0, 30.0, (3, 50))
    host = signed_distance(polygon, places)
    loop = np.asarray(signed_distance(jnp.asarray(polygon), jnp.asarray(places)))
    assert loop == pytest.approx(host, abs=1e-9)
    assert np.array_equal(inside(polygon, places), host > 0.0)
