"""Paths and patterns: lengths, smoothness, coverage, geographic waypoints."""

import itertools
import math

import numpy as np
import pytest

from seatrial.gnc.guidance import patterns
from seatrial.gnc.guidance.path import arc, evaluate, sample, segment_length
from seatrial.gnc.guidance.smoothing import fillet, smooth
from seatrial.spatial.geodesy import to_geodetic

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


def test_points_of_a_path_lie_on_it_no_farther_apart_than_asked_ends_included():
    rows = [arc((0.0, 0.0), 30.0, 0.0, math.pi, 5.0)]
    points = sample(rows, 2.0)
    assert np.hypot(*points[:, :2].T) == pytest.approx(30.0)
    assert points[[0, -1], :2] == pytest.approx(np.array([[30.0, 0.0], [-30.0, 0.0]]), abs=1e-9)
    assert np.hypot(*np.diff(points[:, :2], axis=0).T).max() <= 2.0
    assert segment_length(rows[0]) == pytest.approx(30.0 * math.pi)


def rectangle(corner, length, width, heading):
    """Corners of an area of this length along the heading and width to starboard of it."""
    ahead = np.array([math.cos(heading), math.sin(heading)])
    along, across = length * ahead, width * np.array([-ahead[1], ahead[0]])
    return np.array(corner) + np.array([0 * along, along, along + across, across])


AREAS = {
    "rectangle": rectangle((10.0, -5.0), 120.0, 45.0, 0.6),
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
    points = patterns.survey(rectangle((0.0, 0.0), 100.0, 35.0, 0.0), 10.0, 0.0)
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


def test_geographic_waypoints_lie_where_a_receiver_would_report_them():
    datum = (63.44, 10.4)
    places = np.array([[63.441, 10.402, 0.0], [63.5, 10.6, 40.0], [63.4, 10.1, 5.0]])
    points = patterns.from_latitude_longitude(places, datum)
    assert points[:, 2] == pytest.approx(places[:, 2], abs=1e-6)
    latitude, longitude, _ = to_geodetic(points.T, datum)
    assert latitude == pytest.approx(places[:, 0], abs=1e-10)
    assert longitude == pytest.approx(places[:, 1], abs=1e-10)
