"""Two full vessels that hear each other by AIS: hull, filter, autopilot and the COLREGs together.

Every encounter would bring the vessels within a few metres of each other if nobody acted. They are
far apart from one another, so that a fleet of pairs is as many encounters at once.
"""

import jax
import numpy as np
import pytest

import fleet
from seatrial.compile.scenario import plan_of
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

EACH = 4
HEAD_ON, CROSSING, OVERTAKING = range(3)
SECONDS = 150
LENGTH, BEAM = 2.0, 1.08
RADII = 2.0 * np.hypot(LENGTH, BEAM)
"""Both safety circles together, m; the clearance wanted beyond them is 10 m."""

TEXT = """
kind: scenario
name: encounter
duration: 10
time_step: 0.02
control_period: 0.2
frame_period: 0.2
vehicles:
  - name: boat
    vehicle: otter
    start: {speed: 1.5}
    avoidance: {}
    sensors:
      - {type: imu, name: imu, rate: 50, position: [0.2, 0.0, -0.1], errors: adis16448}
      - {type: compass, name: compass, rate: 10}
      - {type: gnss, name: gnss, rate: 5, position: [-0.5, 0.0, -1.0], fix: rtk_fixed}
      - type: ais
        name: ais
        position: [-0.5, 0.0, -1.0]
        latency: 0.2
        contacts: 2
        reach: 1000
    mission:
      - {do: goto, waypoints: [[400, 0]], speed: 1.5}
"""


def drawn(rng, each=EACH):
    """Kind, and place, heading and speed of both vessels; the first one steers north."""
    kind = np.repeat([HEAD_ON, CROSSING, OVERTAKING], each)
    count = len(kind)
    own = rng.uniform(1.2, 1.7, count)
    slow = own * rng.uniform(0.35, 0.6, count)
    other = np.where(kind == OVERTAKING, slow, rng.uniform(1.2, 1.7, count))
    course = np.select(
        [kind == HEAD_ON, kind == CROSSING],
        [
            np.pi + np.radians(rng.uniform(-8, 8, count)),
            -np.radians(rng.uniform(45, 115, count)),  # from starboard
        ],
        np.radians(rng.uniform(-10, 10, count)),
    )
    meet = np.where(kind == OVERTAKING, 80.0, 40.0) + rng.uniform(-3, 3, count)
    apart = np.stack([5000.0 * np.arange(count), np.zeros(count)])
    first = np.stack([-own * meet, 0.0 * own])
    second = -other * meet * np.stack([np.cos(course), np.sin(course)])
    second = second + rng.uniform(-3, 3, second.shape)
    return kind, (first + apart, np.zeros(count), own), (second + apart, course, other)


@pytest.fixture(scope="module")
def encounters():
    """Kinds, tracks (T, 2, N) of both vessels, and the courses on which they began."""
    plan = plan_of(load_text(TEXT, Scenario))
    (squad,) = plan.squads
    kind, first, second = drawn(np.random.default_rng(5))
    with jax.enable_x64(True):
        groups = tuple(
            fleet.spread(squad.group, *vessel, 400.0, salt)
            for salt, vessel in enumerate((first, second))
        )
        _, states = fleet.sail(
            groups,
            (squad.ocean, squad.ocean),
            plan.schedule,
            SECONDS * 5,
            sizes=((LENGTH, BEAM), (LENGTH, BEAM)),
        )
        return kind, *(np.asarray(s.position)[:, :2] for s in states), first[1], second[1]


def departure(track, course):
    """Distance from the line that was to be followed, (T, N), starboard positive."""
    off = track - track[0]
    return np.cos(course) * off[:, 1] - np.sin(course) * off[:, 0]


@pytest.mark.slow
def test_nobody_comes_near_another(encounters):
    _, first, second, _, _ = encounters
    apart = np.linalg.norm(first - second, axis=1)
    assert np.all(apart.min(axis=0) > RADII + 5.0)


@pytest.mark.slow
def test_vessels_that_meet_head_on_both_alter_to_starboard_and_pass_port_to_port(encounters):
    kind, first, second, *courses = encounters
    near = np.linalg.norm(first - second, axis=1).argmin(axis=0)
    for own, other, course in ((first, second, courses[0]), (second, first, courses[1])):
        for i in np.flatnonzero(kind == HEAD_ON):
            k = near[i]
            way, there = own[k + 1, :, i] - own[k, :, i], other[k, :, i] - own[k, :, i]
            assert way[0] * there[1] - way[1] * there[0] < 0.0
            assert departure(own, course)[k, i] > 2.0


@pytest.mark.slow
def test_who_has_the_other_to_starboard_passes_astern_of_her(encounters):
    kind, first, second, _, course_of_other = encounters
    for i in np.flatnonzero(kind == CROSSING):
        own, other = first[:, :, i], second[:, :, i]
        course = np.array([np.cos(course_of_other[i]), np.sin(course_of_other[i])])
        aside = (own - other[0]) @ np.array([-course[1], course[0]])
        ahead = (own - other) @ course
        crossed = np.flatnonzero(np.sign(aside[1:]) != np.sign(aside[:-1]))
        assert len(crossed) > 0
        assert ahead[crossed[0]] < -RADII
    # The other one stands on.
    assert np.abs(departure(second, course_of_other)[:, kind == CROSSING]).max() < 2.0


@pytest.mark.slow
def test_who_overtakes_keeps_clear_and_comes_past(encounters):
    kind, first, second, own_course, other_course = encounters
    over = kind == OVERTAKING
    assert np.all(np.abs(departure(first, own_course)[:, over]).max(axis=0) > 8.0)
    assert np.all((first - second)[-1, 0, over] > 0.0)
    assert np.abs(departure(second, other_course)[:, over]).max() < 2.0
