"""Paths and patterns: lengths, smoothness, following, coverage, geographic waypoints."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.gnc.guidance import dubins, patterns
from seatrial.gnc.guidance.path import (
    PathFollower,
    arc,
    evaluate,
    hermite,
    line,
    make_path,
    sample,
    segment_length,
)
from seatrial.gnc.guidance.smoothing import fillet, smooth
from seatrial.gnc.types import Estimate
from seatrial.spatial.geodesy import to_geodetic

POSES = [
    ((0.0, 0.0, 0.3), (30.0, 10.0, -2.0)),
    ((0.0, 0.0, 0.0), (2.0, 1.0, math.pi)),
    ((5.0, -3.0, 2.5), (6.0, -1.0, 2.4)),
    ((0.0, 0.0, 1.0), (0.5, -4.0, -1.2)),
    ((1.0, 2.0, -3.0), (-40.0, 7.0, 0.2)),
    ((0.0, 0.0, 0.0), (0.0, 6.0, 3.0)),
    ((0.0, 0.0, 0.0), (-3.0, 0.0, 0.0)),
]
RADIUS = 4.0


def walked(word, pieces, start, radius):
    """End of a path by exact steps of its pieces: a second way to the same pose."""
    n, e, psi = start
    for letter, piece in zip(word, pieces, strict=True):
        if letter == "I":
            n, e = n + piece * math.cos(psi), e + piece * math.sin(psi)
        else:
            side = 1.0 if letter == "S" else -1.0
            turned = psi + side * piece
            n += side * radius * (math.sin(turned) - math.sin(psi))
            e -= side * radius * (math.cos(turned) - math.cos(psi))
            psi = turned
    return n, e, psi


@pytest.mark.parametrize(("start", "goal"), POSES)
def test_every_dubins_word_ends_at_the_goal_and_is_as_long_as_it_says(start, goal):
    found = dubins.all_words(start, goal, RADIUS)
    assert len(found) >= 4
    for path in found:
        n, e, psi = walked(path.word, path.pieces, start, RADIUS)
        assert (n, e) == pytest.approx(goal[:2], abs=1e-9)
        assert math.cos(psi - goal[2]) == pytest.approx(1.0, abs=1e-12)
        rows = path.rows()
        points = sample(rows, 0.01)
        integrated = np.sum(np.hypot(*np.diff(points[:, :2], axis=0).T))
        assert integrated == pytest.approx(path.length, rel=1e-5)
        assert sum(map(segment_length, rows)) == pytest.approx(path.length, rel=1e-12)
        assert points[-1, :2] == pytest.approx(goal[:2], abs=1e-9)


def brute_force(start, goal, radius):
    """Length of the shortest path by scanning the first turn and closing the rest numerically.

    For a straight piece the last turn is fixed by the heading, and the first turn must bring the
    end of the straight onto the start of the last turn; for three turns the middle circle must
    touch the last. Both are roots in one variable, found between the points of a fine scan.
    """
    best = math.inf

    def after(pose, side, angle):
        letter = "S" if side > 0 else "P"
        return walked(letter, [angle], pose, radius)

    def centre(pose, side):
        n, e, psi = pose
        return np.array([n - side * radius * math.sin(psi), e + side * radius * math.cos(psi)])

    angles = np.linspace(0.0, 2.0 * math.pi, 721)
    for a, b in itertools.product((1, -1), repeat=2):

        def line_miss(t, a=a, b=b):
            pose = after(start, a, t)
            q = (b * (goal[2] - pose[2])) % (2.0 * math.pi)
            back = after(goal, b, -q)
            way = np.array([back[0] - pose[0], back[1] - pose[1]])
            f = np.array([math.cos(pose[2]), math.sin(pose[2])])
            return f[0] * way[1] - f[1] * way[0], way @ f, q

        def turn_miss(t, a=a, b=b):
            pose = after(start, a, t)
            middle, last = centre(pose, -a), centre(goal, a)
            return np.hypot(*(last - middle)) - 2.0 * radius, (pose, middle, last)

        for miss in (line_miss, turn_miss) if a == b else (line_miss,):
            values = np.array([miss(t)[0] for t in angles])
            near = np.abs(values) < 1e-7
            roots = list(angles[near])
            for i in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0):
                low, high = angles[i], angles[i + 1]
                for _ in range(60):
                    middle = 0.5 * (low + high)
                    if np.sign(miss(middle)[0]) == np.sign(miss(low)[0]):
                        low = middle
                    else:
                        high = middle
                roots.append(low)
            for t in roots:
                value, *rest = miss(t)
                if abs(value) > 1e-6:
                    continue
                if miss is line_miss:
                    straight, q = rest
                    if straight >= -1e-9:
                        best = min(best, radius * (t + q) + straight)
                else:
                    pose, middle, last = rest[0]
                    touch = 0.5 * (middle + last) - last
                    heading = math.atan2(a * touch[0], -a * touch[1])
                    p = (-a * (heading - pose[2])) % (2.0 * math.pi)
                    q = (a * (goal[2] - heading)) % (2.0 * math.pi)
                    best = min(best, radius * (t + p + q))
    return best


@pytest.mark.parametrize(("start", "goal"), POSES)
def test_shortest_dubins_path_is_that_of_a_brute_force_search(start, goal):
    found = dubins.shortest(start, goal, RADIUS)
    assert found.length == pytest.approx(brute_force(start, goal, RADIUS), abs=1e-4)


def test_dubins_words_all_occur_as_the_shortest():
    rng = np.random.default_rng(3)
    words = set()
    for _ in range(400):
        n, e = rng.uniform(-2.0, 2.0, 2)
        goal = (n, e, rng.uniform(-math.pi, math.pi))
        words.add(dubins.shortest((0.0, 0.0, 0.0), goal, 1.0).word)
    assert words == set(dubins.WORDS)


WAYPOINTS = np.array([[0, 0, 0], [40, 10, 2], [50, 60, 4], [-20, 80, 4], [-30, 20, 0]], float)


def ends(row):
    u = np.array([0.0, 1.0])
    return evaluate(np.broadcast_to(row[:, None], (13, 2)), u)


def test_hermite_path_meets_every_waypoint_with_one_tangent():
    rows = smooth(WAYPOINTS)
    for k, row in enumerate(rows):
        assert pytest.approx(WAYPOINTS[k : k + 2], abs=1e-9) == ends(row).point.T
    for before, after in itertools.pairwise(rows):
        leaving, arriving = ends(after).first[:, 0], ends(before).first[:, 1]
        assert leaving / np.linalg.norm(leaving) == pytest.approx(
            arriving / np.linalg.norm(arriving)
        )


def test_hermite_path_through_points_of_a_line_is_the_line():
    points = np.array([[0, 0, 0], [3, 4, 0], [12, 16, 0], [13.5, 18, 0]])
    assert sum(map(segment_length, smooth(points))) == pytest.approx(22.5)


def test_fillets_have_the_turning_radius_and_touch_both_legs():
    rows = fillet(WAYPOINTS, 6.0)
    assert [row[0] for row in rows] == [0, 1, 0, 1, 0, 1, 0]
    assert [row[3] for row in rows if row[0] == 1] == pytest.approx([6.0] * 3)
    for before, after in itertools.pairwise(rows):
        assert ends(before).point[:, 1] == pytest.approx(ends(after).point[:, 0], abs=1e-9)
        a, b = ends(before).first[:2, 1], ends(after).first[:2, 0]
        assert a @ b == pytest.approx(np.linalg.norm(a) * np.linalg.norm(b))
    assert ends(rows[0]).point[:, 0] == pytest.approx(WAYPOINTS[0])
    assert ends(rows[-1]).point[:, 1] == pytest.approx(WAYPOINTS[-1])


def test_fillets_shrink_where_a_leg_is_too_short():
    corner = np.array([[0, 0, 0], [10, 0, 0], [10, 4, 0], [20, 4, 0]], float)
    radii = [row[3] for row in fillet(corner, 6.0) if row[0] == 1]
    assert radii == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize(
    "rows",
    [
        [arc((0.0, 0.0), 30.0, 0.0, 1.8 * math.pi, 5.0)],
        smooth(WAYPOINTS),
        fillet(WAYPOINTS, 12.0),
        [line((0, 0, 0), (80, 30, 0)), hermite((80, 30, 0), (90, 34, 0), (60, 90, 0), (-80, 0, 0))],
        dubins.shortest((0.0, 0.0, 0.3), (-10.0, 60.0, 2.0), 15.0).rows(3.0),
    ],
    ids=["circle", "hermite", "fillet", "line and cubic", "dubins"],
)
def test_path_is_followed_from_beside_it_to_its_end(x64, rows):
    follower = PathFollower(path=make_path(rows), lookahead=jnp.asarray(6.0))
    first = ends(rows[0])
    heading = math.atan2(first.first[1, 0], first.first[0, 0])
    aside = 3.0 * np.array([-math.sin(heading), math.cos(heading), 0.0])
    place = jnp.asarray(first.point[:, 0] + aside)[:, None]
    total = sum(map(segment_length, rows))
    dt, speed = 0.02, 1.5

    def body(carry, _):
        memory, place = carry
        still = jnp.zeros((6, 1))
        believed = Estimate(place, jnp.zeros((4, 1)), still, still[:3])
        memory, asked, errors = follower.guide(memory, believed, jnp.asarray(speed), dt)
        # The yaw rate fed forward stands for the half step that the course is late.
        course = asked.course + 0.5 * dt * asked.yaw_rate
        way = jnp.stack([jnp.cos(course), jnp.sin(course), jnp.zeros(1)])
        moved = (place + dt * speed * way).at[2].set(asked.depth)
        return (memory, moved), (errors, asked)

    carry = (follower.begin(place), place)
    steps = round((total + 6.0) / speed / dt)
    (memory, _), (errors, asked) = jax.lax.scan(body, carry, None, length=steps)
    cross = np.asarray(errors.cross)[:, 0]
    assert cross[0] == pytest.approx(3.0, abs=0.05)
    settled = np.asarray(errors.along)[:, 0] > 40.0
    on_path = settled & (np.asarray(errors.remaining)[:, 0] > 0.0)
    assert np.abs(cross[on_path]).max() < 0.05
    assert memory[0, 0] == len(rows) - 1
    assert memory[1, 0] == 1.0
    assert np.asarray(errors.remaining)[-1, 0] < 0.0
    assert np.all(np.diff(np.asarray(errors.along)[:, 0]) > -1e-9)
    if len(rows) == 1:
        assert np.asarray(asked.yaw_rate)[steps // 2, 0] == pytest.approx(speed / 30.0)


AREAS = {
    "rectangle": patterns.rectangle((10.0, -5.0), 120.0, 45.0, 0.6),
    "triangle": np.array([[0.0, 0.0], [100.0, 20.0], [30.0, 80.0]]),
    "notched": np.array(
        [[0, 0], [100, 0], [100, 60], [60, 60], [50, 15], [40, 60], [0, 60]], float
    ),
}


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("heading", [0.0, 0.6, 2.0])
def test_survey_with_a_swath_of_its_spacing_sees_every_place_of_the_area(area, heading):
    polygon, spacing = AREAS[area], 10.0
    points = patterns.survey(polygon, spacing, heading, depth=7.0)
    assert np.all(points[:, 2] == 7.0)
    assert len(points) % 2 == 0
    ahead = np.array([math.cos(heading), math.sin(heading)])
    starboard = np.array([-ahead[1], ahead[0]])
    rng = np.random.default_rng(1)
    places = rng.uniform(polygon.min(axis=0), polygon.max(axis=0), (3000, 2))
    places = places[[crossings_odd(polygon, p) for p in places]]
    assert len(places) > 800
    seen = np.zeros(len(places), bool)
    for a, b in points[:, :2].reshape(-1, 2, 2):
        along = sorted((a @ ahead, b @ ahead))
        assert (b - a) @ starboard == pytest.approx(0.0, abs=1e-9)
        x, off = places @ ahead, np.abs((places - a) @ starboard)
        seen |= (off <= 0.5 * spacing + 1e-9) & (x >= along[0] - 1e-9) & (x <= along[1] + 1e-9)
    assert seen.all()


def crossings_odd(polygon, place):
    """Whether a place is inside, by the angle that the corners turn through around it."""
    away = polygon - place
    angles = np.arctan2(away[:, 1], away[:, 0])
    turn = (np.diff(np.append(angles, angles[0])) + math.pi) % (2.0 * math.pi) - math.pi
    return abs(turn.sum()) > math.pi


def test_survey_of_a_rectangle_runs_to_and_fro_along_evenly_spaced_lines():
    points = patterns.survey(patterns.rectangle((0.0, 0.0), 100.0, 35.0, 0.0), 10.0, 0.0)
    assert points[:, 1] == pytest.approx(np.repeat([4.375, 13.125, 21.875, 30.625], 2))
    assert points[:, 0] == pytest.approx([0, 100, 100, 0, 0, 100, 100, 0], abs=1e-6)


def test_expanding_square_turns_to_starboard_and_grows_every_second_leg():
    points = patterns.expanding_square((5.0, 5.0), 10.0, 6, heading=0.0)
    assert points[:, :2] - 5.0 == pytest.approx(
        np.array([[0, 0], [10, 0], [10, 10], [-10, 10], [-10, -10], [20, -10], [20, 20]])
    )


def test_loiter_keeps_its_radius_and_goes_round_as_often_as_asked():
    points = patterns.loiter((3.0, 4.0), 20.0, turns=2.0, clockwise=False)
    away = points[:, :2] - [3.0, 4.0]
    assert np.hypot(*away.T) == pytest.approx(20.0)
    turned = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
    assert turned[-1] - turned[0] == pytest.approx(-4.0 * math.pi)


def test_docking_lines_up_before_it_goes_in_slowly():
    approach = patterns.dock((10.0, 0.0), math.pi / 2.0, 30.0, 5.0, 1.5, 0.3)
    assert approach.points[:, :2] == pytest.approx(
        np.array([[10.0, -30.0], [10.0, -5.0], [10.0, 0.0]]), abs=1e-9
    )
    assert approach.speeds.tolist() == [1.5, 1.5, 0.3]
    with pytest.raises(ValueError, match="gate"):
        patterns.dock((0.0, 0.0), 0.0, 5.0, 30.0, 1.5, 0.3)


def test_station_is_one_waypoint():
    assert patterns.station((2.0, 3.0), 4.0).tolist() == [[2.0, 3.0, 4.0]]


def test_geographic_waypoints_lie_where_a_receiver_would_report_them():
    datum = (63.44, 10.4)
    places = np.array([[63.441, 10.402, 0.0], [63.5, 10.6, 40.0], [63.4, 10.1, 5.0]])
    points = patterns.from_latitude_longitude(places, datum)
    assert points[:, 2] == pytest.approx(places[:, 2], abs=1e-6)
    latitude, longitude, _ = to_geodetic(points.T, datum)
    assert latitude == pytest.approx(places[:, 0], abs=1e-10)
    assert longitude == pytest.approx(places[:, 1], abs=1e-10)
