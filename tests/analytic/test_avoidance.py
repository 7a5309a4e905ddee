"""Avoidance: geometry against straight motion, roles at the edges of their sectors, shapes."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pydantic import ValidationError

from sampling import sampled
from seatrial.compile.autonomy.obstacles import Turning, build_avoidance, half_planes
from seatrial.gnc.avoidance import Contacts, begin, roles
from seatrial.gnc.avoidance import avoid as avoid_eagerly
from seatrial.gnc.avoidance.contacts import contacts
from seatrial.gnc.avoidance.geometry import closest_approach, convex_interval, disc_interval
from seatrial.gnc.avoidance.roles import (
    GIVE_WAY,
    HEAD_ON,
    NONE,
    OVERTAKEN,
    OVERTAKING,
    STAND_ON,
    bearings,
    classify,
)
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import from_euler
from seatrial.spec.obstacles import Avoidance, Obstacle
from seatrial.validation.colregs.encounters import STEP, Craft, estimate_of, move

pytestmark = pytest.mark.usefixtures("x64")

DOUBLE = np.dtype(np.float64)
avoid = jax.jit(avoid_eagerly)
TIMES = np.linspace(0.0, 200.0, 200_001)


def build(*obstacles, vehicles=1, dtype=DOUBLE, **settings):
    described = [Obstacle.model_validate(o) for o in obstacles]
    return build_avoidance(
        Avoidance(**settings), described, 2.0, 1.08, vehicles, dtype, Turning(0.15, 1.0), None
    )


def vessel(**parts):
    return {"vessel": {"position": [0.0, 0.0], "length": 2.0, "beam": 1.08} | parts}


def estimate(north, east, heading, speed, dtype=DOUBLE):
    n, e, h, u = (jnp.atleast_1d(jnp.asarray(x, dtype)) for x in (north, east, heading, speed))
    zero = jnp.zeros_like(u)
    return Estimate(
        position=jnp.stack([n, e, zero]),
        attitude=from_euler(zero, zero, h),
        velocity=jnp.stack([u, zero, zero, zero, zero, zero]),
        current=jnp.zeros((3, u.size), dtype),
    )


def test_closest_approach_is_that_of_straight_motion():
    random = np.random.default_rng(1)
    place, closing = random.uniform(-60, 60, (2, 40)), random.uniform(-3, 3, (2, 40))
    time, distance = closest_approach(jnp.asarray(place), jnp.asarray(closing))
    for i in range(40):
        apart = np.linalg.norm(place[:, i, None] - closing[:, i, None] * TIMES, axis=0)
        if time[i] < TIMES[-1]:
            assert distance[i] == pytest.approx(apart.min(), abs=1e-5)
            assert time[i] == pytest.approx(TIMES[apart.argmin()], abs=2e-3)


def test_the_velocity_obstacle_is_the_cone_that_touches_the_disc():
    # Half-angle asin(R / |p|) around the bearing of the disc, its apex moved by her velocity.
    random = np.random.default_rng(2)
    theirs, place, radius = np.array([[1.0], [-0.5]]), np.array([[40.0], [25.0]]), 9.0
    own = random.uniform(-4, 4, (2, 5000))
    relative = own - theirs
    turned = np.arctan2(relative[1], relative[0]) - np.arctan2(place[1], place[0])
    half = math.asin(radius / np.linalg.norm(place))
    inside = np.abs(np.angle(np.exp(1j * turned))) < half
    _, distance = closest_approach(jnp.asarray(place), jnp.asarray(relative))
    np.testing.assert_array_equal(np.asarray(distance) < radius, inside)


@pytest.mark.parametrize("corners", [[(20, 5), (30, 10), (26, 22)], [(9, 9), (9, -9), (30, 0)]])
def test_a_ray_is_inside_a_shape_exactly_between_its_two_times(corners):
    random = np.random.default_rng(3)
    start, velocity = random.uniform(-10, 40, (2, 60)), random.uniform(-2, 2, (2, 60))
    normal, offset = half_planes(np.array(corners, np.float64))
    path = start[:, :, None] + velocity[:, :, None] * TIMES[::20]
    within = np.all(np.einsum("ec,cnt->ent", normal, path) <= offset[:, None, None], axis=0)
    disc = np.linalg.norm(path - np.array([20.0, 5.0])[:, None, None], axis=0) < 8.0
    planes = (jnp.asarray(normal)[..., None], jnp.asarray(offset)[:, None])
    polygon_times = convex_interval(*planes, jnp.asarray(start), jnp.asarray(velocity))
    place = jnp.asarray([[20.0], [5.0]]) - start
    disc_times = disc_interval(place, jnp.asarray(velocity), jnp.asarray(8.0))
    for seen, (enter, leave) in ((within, polygon_times), (disc, disc_times)):
        assert seen.any(axis=1).sum() > 5
        between = (np.asarray(enter)[:, None] < TIMES[::20]) & (
            np.asarray(leave)[:, None] > TIMES[::20]
        )
        # A sample on the very edge may go either way.
        assert np.mean(between != seen) < 1e-5


def test_planes_at_the_corners_leave_a_polygon_alone_and_cut_off_what_a_margin_sticks_out():
    corners = np.array([[0.0, 0.0], [30.0, 1.0], [30.0, -1.0]])
    normal, offset = half_planes(corners)
    assert np.all(normal @ corners.T <= offset[:, None] + 1e-12)
    tip = np.array([-4.0, 0.0])  # 4 m off a corner of 4°: outside a margin of 3 m
    assert np.any(normal @ tip > offset + 3.0)
    assert not np.any((normal @ tip > offset + 3.0)[:3])  # the edges alone reach out 90 m


@pytest.mark.parametrize(
    ("bearing", "their_course", "role"),
    [
        # Who comes up from more than 22.5° abaft the beam overtakes: 112.5° off her bow.
        (0.0, 67.4, OVERTAKING),
        (0.0, 67.6, STAND_ON),
        (0.0, -67.4, OVERTAKING),
        (10.0, -57.6, GIVE_WAY),
        # And is overtaken from beyond the same sector of one's own.
        (112.4, -60.0, GIVE_WAY),
        (112.6, -60.0, OVERTAKEN),
        (-112.4, 60.0, STAND_ON),
        (-112.6, 60.0, OVERTAKEN),
        # Courses within 15° of opposite, both nearly ahead.
        (5.0, 180.0, HEAD_ON),
        (-5.0, 180.0, HEAD_ON),
        (7.0, 180.0 + 14.9, HEAD_ON),
        (7.0, 180.0 + 15.1, GIVE_WAY),
        (-7.0, 180.0 - 15.1, STAND_ON),
        (22.4, 180.0, HEAD_ON),
        (22.6, 180.0, GIVE_WAY),
        # Rule 15: give way to her on the starboard side.
        (45.0, -90.0, GIVE_WAY),
        (-45.0, 90.0, STAND_ON),
    ],
)
@pytest.mark.parametrize("own_course", [0.0, 123.0])
def test_roles_change_at_the_edges_of_the_sectors(bearing, their_course, role, own_course):
    angle = math.radians(own_course + bearing)
    place = 100.0 * jnp.asarray([[[math.cos(angle)]], [[math.sin(angle)]]])
    seen = bearings(
        place,
        jnp.asarray([math.radians(own_course)]),
        jnp.asarray([[math.radians(own_course + their_course)]]),
    )
    assert int(classify(seen)[0, 0]) == role


def test_two_vessels_on_a_collision_course_take_roles_that_fit_each_other():
    random = np.random.default_rng(4)
    course, speed = random.uniform(-np.pi, np.pi, (2, 2000)), random.uniform(0.5, 3.0, (2, 2000))
    velocity = speed * np.stack([np.cos(course), np.sin(course)])
    place = 60.0 * (velocity[:, 0] - velocity[:, 1])
    here = classify(bearings(jnp.asarray(place), *jnp.asarray(course)))
    there = classify(bearings(jnp.asarray(-place), *jnp.asarray(course[::-1])))
    fits = {
        HEAD_ON: HEAD_ON,
        GIVE_WAY: STAND_ON,
        STAND_ON: GIVE_WAY,
        OVERTAKING: OVERTAKEN,
        OVERTAKEN: OVERTAKING,
    }
    assert [fits[int(r)] for r in here] == [int(r) for r in there]


def test_vessels_follow_their_timetable():
    described = vessel(
        position=[10.0, 0.0],
        waypoints=[
            {"time": 10.0, "position": [30.0, 0.0]},
            {"time": 20.0, "position": [30.0, 40.0]},
        ],
    )
    targets = build(described, vessel(course=math.pi / 2, speed=2.0), vehicles=3).targets
    for t, first, second in (
        (0.0, (10, 0), (0, 0)),
        (5.0, (20, 0), (0, 10)),
        (15.0, (30, 20), (0, 30)),
        (25.0, (30, 60), (0, 50)),
    ):
        seen = contacts(targets, jnp.asarray(t))
        np.testing.assert_allclose(seen.position[:, :, 2].T, [first, second], atol=1e-9)
    np.testing.assert_allclose(seen.velocity[:, :, 0].T, [(0, 4), (0, 2)], atol=1e-9)
    np.testing.assert_allclose(seen.radius, math.hypot(2.0, 1.08))


def test_an_unthreatened_vehicle_gets_back_what_it_wished():
    near = vessel(position=[30.0, 60.0], course=math.pi / 2, speed=2.0)  # going away
    avoidance = build(near, {"circle": {"centre": [0.0, -40.0], "radius": 10.0}})
    course, speed = jnp.asarray([0.3]), jnp.asarray([1.7])
    _, new_course, new_speed, info = avoid(
        avoidance, begin(avoidance, 1), estimate(0, 0, 0.3, 1.7), course, speed, jnp.asarray(0.0)
    )
    assert new_course[0] == course[0]
    assert new_speed[0] == speed[0]
    assert info.roles[0, 0] == NONE
    assert not info.altered[0]


def test_a_decision_holds_for_its_period():
    avoidance = build(vessel(position=[80.0, 0.0], course=math.pi, speed=2.0), period=2.0)
    memory = begin(avoidance, 1)
    wish, speed = jnp.asarray([0.0]), jnp.asarray([2.0])
    chosen = []
    for t in (0.0, 0.5, 1.9, 2.0):
        known = estimate(2.0 * t, 0.0, 0.0, 2.0)
        memory, course, _, info = avoid(avoidance, memory, known, wish, speed, jnp.asarray(t))
        wish = wish - 0.05  # the wish wanders, the decision does not
        chosen.append(float(course[0]))
    assert info.roles[0, 0] == HEAD_ON
    assert chosen[0] == chosen[1] == chosen[2] >= math.radians(20.0) - 1e-9
    assert info.closest[0, 0] > 10.0


def test_vehicles_of_a_batch_decide_each_for_itself_and_in_their_own_precision():
    ahead, aside = [70.0, 5.0], [40.0, 50.0]
    obstacles = [
        vessel(position=ahead, course=3.0, speed=2.0),
        vessel(position=aside, course=-math.pi / 2, speed=2.0),
        {"circle": {"centre": [25.0, -12.0], "radius": 8.0}},
    ]
    starts = [(0.0, 0.0, 0.0), (5.0, -20.0, 1.0), (200.0, 200.0, 0.0)]

    def decide(rows, dtype):
        north, east, heading = (np.array(c) for c in zip(*rows, strict=True))
        avoidance = build(*obstacles, vehicles=len(rows), dtype=dtype)
        known = estimate(north, east, heading, np.full(len(rows), 2.0), dtype)
        wish, speed = jnp.asarray(heading, dtype), jnp.full(len(rows), 2.0, dtype)
        memory = begin(avoidance, len(rows))
        after, *decided = avoid(avoidance, memory, known, wish, speed, jnp.asarray(0.0))
        assert [a.dtype for a in after] == [a.dtype for a in memory]
        return np.array(decided[:2])

    together = decide(starts, DOUBLE)
    for i, row in enumerate(starts):
        np.testing.assert_allclose(decide([row], DOUBLE)[:, 0], together[:, i], rtol=1e-12)
    np.testing.assert_allclose(decide(starts, np.dtype(np.float32)), together, rtol=1e-5)


SHAPES = {
    "circle": {"circle": {"centre": [60.0, 0.0], "radius": 15.0}},
    "pier": {"polygon": {"corners": [[50, -20], [50, 12], [58, 12], [58, -20]]}},
    "wedge": {"polygon": {"corners": [[40, 3], [80, 25], [80, -30]]}},
}


@pytest.mark.parametrize("name", sampled(SHAPES, "wedge"))
def test_shapes_on_the_track_are_rounded_and_never_entered(name):
    count = 41
    avoidance = build(SHAPES[name], vehicles=count)
    offset = jnp.linspace(-30.0, 30.0, count)
    still = jnp.zeros(count)
    craft = Craft(jnp.stack([still, offset]), still, jnp.linspace(1.0, 3.0, count), still)
    speed = craft.speed

    @jax.jit
    def sail(craft, memory):
        def step(carry, i):
            craft, memory = carry
            wish = jnp.arctan(-(craft.place[1] - offset) / 20.0)
            memory, course, ahead, _ = avoid(
                avoidance, memory, estimate_of(craft), wish, speed, i * STEP
            )
            craft = move(craft, course, ahead)
            return (craft, memory), craft.place

        return jax.lax.scan(step, (craft, memory), jnp.arange(2000))

    (after, _), track = sail(craft, begin(avoidance, count))
    track = np.asarray(track)
    if "circle" in SHAPES[name]:
        gap = np.hypot(track[:, 0] - 60.0, track[:, 1]) - 15.0
    else:
        corners = np.array(SHAPES[name]["polygon"]["corners"], np.float64)
        gap = _distance(track, corners)
    assert gap.min() > math.hypot(2.0, 1.08) + 2.0  # safety circle and margin
    assert np.all(np.asarray(after.place[0]) > 110.0)
    assert np.all(np.abs(after.place[1] - offset) < 2.0)


def _distance(track, corners):
    """Distance of points (T, 2, N) to the outline of a polygon; they start outside of it."""
    least = np.inf
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = np.einsum("c,tcn->tn", b - a, track - a[:, None]) / np.sum((b - a) ** 2)
        nearest = a[:, None] + (b - a)[:, None] * np.clip(along, 0.0, 1.0)[:, None]
        least = np.minimum(least, np.linalg.norm(track - nearest, axis=1))
    return least


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "give one of"),
        ({"circle": SHAPES["circle"]["circle"]} | vessel(), "give one of"),
        (vessel(speed=1.0, waypoints=[{"time": 5.0, "position": [1.0, 1.0]}]), "not both"),
        (
            vessel(waypoints=[{"time": t, "position": [t, 0.0]} for t in (5.0, 5.0)]),
            "must increase",
        ),
        ({"polygon": {"corners": [[0, 0], [10, 0], [2, 2], [0, 10]]}}, "convex"),
        (
            {"polygon": {"corners": [[0, 10], [6, -8], [-10, 3], [10, 3], [-6, -8]]}},
            "crosses itself",
        ),
    ],
    ids=["nothing", "two", "both", "times", "hollow", "star"],
)
def test_obstacles_that_make_no_sense_are_refused(data, words):
    with pytest.raises(ValidationError, match=words):
        Obstacle.model_validate(data)


def test_a_vessel_that_stands_still_is_kept_clear_of():
    avoidance = build(vessel(position=[50.0, 0.0]))
    nowhere, none = jnp.zeros((2, 0, 1)), jnp.zeros((0, 1))
    live = Contacts(nowhere, nowhere, none, none.astype(jnp.int32))
    _, course, _, info = avoid(
        avoidance,
        begin(avoidance, 1),
        estimate(0, 0, 0, 2.0),
        jnp.zeros(1),
        jnp.full(1, 2.0),
        jnp.asarray(0.0),
        live,
    )
    assert info.roles[0, 0] == OVERTAKING
    assert abs(float(course[0])) >= math.radians(20.0) - 1e-9
    assert info.closest[0, 0] >= 2 * math.hypot(2.0, 1.08) + 10.0 - 0.5


def test_a_decision_once_taken_is_kept_until_the_other_has_passed():
    avoidance = build(vessel(position=[300.0, 3.0], course=math.pi, speed=2.0))
    zero = jnp.zeros(1)
    craft = Craft(jnp.zeros((2, 1)), zero, zero + 2.0, zero)

    @jax.jit
    def sail(craft, memory):
        def step(carry, i):
            craft, memory = carry
            wish = jnp.arctan(-craft.place[1] / 20.0)
            memory, course, speed, info = avoid(
                avoidance, memory, estimate_of(craft), wish, zero + 2.0, i * STEP
            )
            return (move(craft, course, speed), memory), (info.altered[0], craft.place[:, 0])

        return jax.lax.scan(step, (craft, memory), jnp.arange(1500))[1]

    altered, place = (np.asarray(a) for a in sail(craft, begin(avoidance, 1)))
    begins = np.flatnonzero(np.diff(altered.astype(int)) == 1)
    ends = np.flatnonzero(np.diff(altered.astype(int)) == -1)
    assert len(begins) == len(ends) == 1
    theirs = np.stack([300.0 - 2.0 * STEP * np.arange(1500), np.full(1500, 3.0)], axis=1)
    nearest = np.linalg.norm(place - theirs, axis=1).argmin()
    assert begins[0] < nearest
    assert ends[0] < nearest + 50  # within five seconds of passing
    assert np.abs(place[-1, 1]) < 1.0  # back on the track


def test_who_stands_on_acts_at_the_last_moment_and_one_that_lies_still_is_kept_clear_of():
    """Closing at 3 m/s head to head, radii of 4 m together, 5 s for a quarter turn: the last
    moment is 9 s before they meet."""
    apart = np.array([30.0, 24.0, 24.0])

    def situation(theirs, aside):
        return roles.Situation(
            place=jnp.asarray(np.stack([apart, aside])[:, None]),
            velocity=jnp.full((2, 1, 3), 0.0).at[0].set(theirs),
            own=jnp.zeros((2, 1, 3)).at[0].set(1.0),
            own_course=jnp.zeros(3),
            radii=jnp.full((1, 3), 4.0),
            clearance=jnp.full(3, 2.0),
        )

    now = situation(-2.0, np.array([0.0, 0.0, 5.0]))
    assert roles.in_extremis(now, jnp.full(3, 5.0))[0].tolist() == [False, True, False]
    role, time = jnp.full((1, 3), roles.STAND_ON), jnp.full(3, 60.0)
    still = situation(0.0, np.zeros(3))
    after, _ = roles.update(role, 0.0 * role, still, time, 0.1 * time, 0.1 * time, 0.5)
    assert after[0].tolist() == [roles.OVERTAKING] * 3
