"""Tracks of contacts: who is who, dead reckoning, forgetting, and roles that stay with a vessel."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.gnc.avoidance import Avoidance, Contacts, Ear, Watch, avoid, begin, roles, tracking
from seatrial.gnc.avoidance.tracking import Reports
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import from_euler

pytestmark = pytest.mark.usefixtures("x64")
WATCH = Watch(timeout=jnp.asarray(10.0), lag=jnp.asarray(4.0), ears=(), tracks=3)
HEARD = jnp.ones(1, bool)


def reports(*contacts):
    """Of vessels (identity, north, east, velocity north, velocity east), for one vehicle."""
    rows = np.array(contacts, float).reshape(-1, 5)
    return Reports(
        identity=jnp.asarray(rows[:, :1], jnp.int32),
        position=jnp.asarray(rows[:, 1:3].T[..., None]),
        velocity=jnp.asarray(rows[:, 3:].T[..., None]),
        radius=jnp.full((len(rows), 1), 3.0),
    )


def told(tracks, t, *contacts):
    return tracking.update(tracks, reports(*contacts), jnp.asarray([t]), HEARD)


def names(tracks):
    return tracks.identity[:, 0].tolist()


def test_a_vessel_keeps_her_track_whatever_the_order_of_the_reports():
    tracks = tracking.begin(WATCH, 1, jnp.float64)
    tracks = told(tracks, 0.0, (7, 10, 0, 1, 0), (9, 50, 5, 0, 1))
    assert names(tracks) == [7, 9, 0]
    tracks = told(tracks, 2.0, (9, 50, 7, 0, 1), (4, 8, 8, 0, 0), (7, 12, 0, 1, 0))
    assert names(tracks) == [7, 9, 4]
    assert pytest.approx(np.array([[12, 0], [50, 7], [8, 8]])) == tracks.position[:, :, 0].T
    # A fourth one has to wait for a free track, and gets one when another is forgotten.
    tracks = told(tracks, 4.0, (7, 14, 0, 1, 0), (5, 1, 1, 0, 0), (9, 50, 9, 0, 1))
    assert names(tracks) == [7, 9, 4]
    tracks = tracking.forget(WATCH, tracks, jnp.asarray(12.5))
    assert names(tracks) == [7, 9, 0]
    tracks = told(tracks, 12.5, (5, 1, 1, 0, 0))
    assert names(tracks) == [7, 9, 5]
    assert tracks.position[:, 2, 0] == pytest.approx([1.0, 1.0])


def test_between_reports_a_vessel_is_dead_reckoned_and_then_forgotten():
    tracks = told(tracking.begin(WATCH, 1, jnp.float64), 1.0, (7, 10, 0, 1.5, -0.5))
    there = tracking.plot(tracks, jnp.asarray(5.0))
    assert there.position[:, 0, 0] == pytest.approx([16.0, -2.0])
    assert there.identity[:, 0].tolist() == [7, 0, 0]
    assert names(tracking.forget(WATCH, tracks, jnp.asarray(11.0))) == [7, 0, 0]
    assert names(tracking.forget(WATCH, tracks, jnp.asarray(11.1))) == [0, 0, 0]


def test_a_late_report_does_not_turn_a_track_back():
    tracks = told(tracking.begin(WATCH, 1, jnp.float64), 4.0, (7, 10, 0, 1, 0))
    late = told(tracks, 2.0, (7, 99, 0, 9, 0))
    for a, b in zip(tracks, late, strict=True):
        np.testing.assert_array_equal(a, b)
    unheard = tracking.update(tracks, reports((7, 99, 0, 9, 0)), jnp.asarray([6.0]), ~HEARD)
    for a, b in zip(tracks, unheard, strict=True):
        np.testing.assert_array_equal(a, b)


def test_white_errors_shrink_as_the_filter_says():
    """The variance of an α filter with a known velocity is α / (2 − α) of the measurement's."""
    rng = np.random.default_rng(1)
    vessels, steps = 4000, 12
    watch = Watch(timeout=jnp.asarray(10.0), lag=jnp.asarray(4.0), ears=(), tracks=1)
    tracks = tracking.begin(watch, vessels, jnp.float64)
    for k in range(steps):
        noise = rng.normal(size=(2, 1, vessels))
        seen = Reports(
            identity=jnp.full((1, vessels), 7, jnp.int32),
            position=jnp.asarray(np.array([[[3.0 * k]], [[0.0]]]) + noise),
            velocity=jnp.asarray(np.broadcast_to([[[1.5]], [[0.0]]], (2, 1, vessels))),
            radius=jnp.ones((1, vessels)),
        )
        tracks = tracking.update(tracks, seen, jnp.full(vessels, 2.0 * k), jnp.ones(vessels, bool))
    error = np.asarray(tracks.position[:, 0]) - [[3.0 * (steps - 1)], [0.0]]
    share = tracking.FOLLOWS / (2.0 - tracking.FOLLOWS)
    # 8,000 errors: the sample variance is within 5.3 % of its own, 1 in 1,000.
    assert error.var() == pytest.approx(share, rel=0.053)


def estimate(north=0.0, east=0.0, heading=0.0, speed=0.0, yaw_rate=0.0):
    zero = jnp.zeros(1)
    return Estimate(
        position=jnp.asarray([[north], [east], [0.0]]),
        attitude=from_euler(zero, zero, zero + heading),
        velocity=jnp.asarray([[speed], [0.0], [0.0], [0.0], [0.0], [yaw_rate]]),
        current=jnp.zeros((3, 1)),
    )


def ear(kind, arm=(0.0, 0.0, 0.0), yaw=0.0):
    return Ear(arm=jnp.asarray(arm), yaw=jnp.asarray(yaw), kind=kind, place=0, box=1)


def test_what_a_radar_sees_is_placed_by_where_the_vehicle_was_then():
    """On course east at 2 m/s, turning at 0.1 rad/s; a second ago the contact was dead ahead."""
    own = estimate(100.0, 50.0, math.pi / 2 + 0.1, 2.0, 0.1)
    values = jnp.asarray([[7.0], [80.0], [-0.3], [1.0], [2.0], [6.0], *[[0.0]] * 6])
    found = tracking.read(ear("radar", (1.0, 0.5, 0.0), 0.3), values, own, jnp.asarray([1.0]))
    ago = math.pi / 2  # heading
    course = ago + 0.1
    back = np.array([100.0, 50.0]) - 2.0 * np.array([math.cos(course), math.sin(course)])
    antenna = np.array([-0.5, 1.0])  # one metre ahead, half a metre to starboard, heading east
    assert found.position[:, 0, 0] == pytest.approx(back + antenna + [0.0, 80.0], abs=1e-9)
    assert found.velocity[:, 0, 0] == pytest.approx([2.0 * math.cos(1.0), 2.0 * math.sin(1.0)])
    assert found.radius[0, 0] == pytest.approx(math.hypot(6.0, 2.0))
    assert found.identity[:, 0].tolist() == [7, 0]


def test_what_a_receiver_hears_is_where_it_is():
    values = jnp.asarray([[7.0], [80.0], [-30.0], [1.0], [2.0], [1.1], [6.0], [8.0]])
    found = tracking.read(ear("ais"), values, estimate(5.0, 5.0, 1.0), jnp.asarray([1.0]))
    assert found.position[:, 0, 0].tolist() == [80.0, -30.0]
    assert found.radius[0, 0] == pytest.approx(10.0)


def settings():
    number = {
        "radius": 2.0,
        "clearance": 10.0,
        "horizon": 60.0,
        "shape_horizon": 30.0,
        "reaction": 20.0,
        "patience": roles.PATIENCE,
        "lag": 1.0,
        "turn_rate": 0.2,
    }
    made = {name: jnp.asarray(value) for name, value in number.items()}
    return Avoidance(**made, targets=None, circles=None, polygons=None, period=1.0)


def contacts(*vessels):
    """Two places for (identity, north, east, velocity north, velocity east)."""
    rows = np.array([*vessels, *[(0, 0, 0, 0, 0)] * (2 - len(vessels))], float)
    return Contacts(
        jnp.asarray(rows[:, 1:3].T[..., None]),
        jnp.asarray(rows[:, 3:].T[..., None]),
        jnp.full((2, 1), 2.0),
        jnp.asarray(rows[:, :1], jnp.int32),
    )


def steered(memory, t, *vessels):
    own, still = estimate(speed=1.5), jnp.zeros(1)
    memory, course, _, info = avoid(
        settings(), memory, own, still, still + 1.5, jnp.asarray(t), contacts(*vessels)
    )
    return memory, float(course[0]), info


def test_nobody_is_kept_clear_of_at_an_empty_place():
    """An unused place holds zeros, which is where the vehicle itself is."""
    _, course, info = steered(begin(settings(), 1, live=2), 0.0)
    assert course == 0.0
    assert not info.altered[0]
    assert np.all(np.isinf(info.closest))


def test_a_role_goes_with_the_vessel_and_not_with_her_place():
    """Having met one head-on, the vehicle sees another in the same place, on its port side."""
    ahead, port = (7, 60, 0, -1.5, 0), (8, 40, -40, 0, 1.5)
    memory, course, info = steered(begin(settings(), 1, live=2), 0.0, ahead)
    assert info.roles[0, 0] == roles.HEAD_ON
    assert course > math.radians(10.0)
    _, _, info = steered(memory, 1.0, port)
    assert info.roles[0, 0] == roles.STAND_ON
    memory, _, info = steered(memory, 1.0)  # she is no longer heard of
    assert info.roles[:, 0].tolist() == [roles.NONE, roles.NONE]
    _, _, info = steered(memory, 2.0, port)
    assert info.roles[0, 0] == roles.STAND_ON
