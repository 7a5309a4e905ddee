"""Missions leg by leg, and samples on their way to the filter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.compile.autonomy.legs import legs_of
from seatrial.engine.command import sample_queue
from seatrial.engine.compiled.suite import Sample
from seatrial.errors import SpecError
from seatrial.gnc import mission as legs
from seatrial.gnc.guidance import patterns
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import from_euler
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def make_mission(rows, vehicles=1, flat=True):
    """Rows of (kind, start, end, options)."""

    def table(name, default):
        values = [row[3].get(name, default) for row in rows]
        return jnp.asarray(np.tile(np.array(values)[:, None], (1, vehicles)))

    def places(i):
        values = np.array([row[i] for row in rows], float)
        return jnp.asarray(np.tile(values[:, :, None], (1, 1, vehicles)))

    return legs.Mission(
        kind=table("kind", 0) + jnp.asarray(np.array([[row[0]] for row in rows])),
        start=places(1),
        end=places(2),
        speed=table("speed", 1.0),
        acceptance=table("acceptance", 1.0),
        heading=table("heading", np.nan),
        velocity=jnp.zeros((len(rows), 3, vehicles)),
        dwell=table("dwell", 0.0),
        timeout=table("timeout", np.inf),
        watched=table("watched", -1),
        threshold=table("threshold", 0.0),
        side=table("side", 1.0),
        count=jnp.full(vehicles, len(rows), jnp.int32),
        flat=flat,
    )


def believed(*places, velocity=(0.0, 0.0, 0.0)):
    position = jnp.asarray(np.array(places, float).T)
    count = position.shape[1]
    attitude = jnp.zeros((4, count)).at[0].set(1.0)
    moving = jnp.zeros((6, count)).at[:3].set(jnp.asarray(velocity)[:, None])
    return Estimate(position, attitude, moving, jnp.zeros((3, count)))


A, B, C = (0.0, 0.0, 0.0), (10.0, 0.0, 0.0), (10.0, 10.0, 0.0)
TWO_LEGS = [(legs.TRACK, A, B, {}), (legs.TRACK, B, C, {})]


def outcome_of(progress, leg, vehicle=0):
    return legs.OUTCOMES[int(progress.outcome[leg, vehicle])]


def test_a_waypoint_is_reached_inside_its_circle_and_passed_beyond_its_end():
    mission = make_mission(TWO_LEGS, vehicles=3)
    progress = legs.begin(mission)
    at = believed((9.5, 0.5, 0.0), (10.5, 3.0, 0.0), (8.0, 0.0, 0.0))
    progress, leg = legs.follow(mission, progress, at, jnp.float64(1.0))
    assert progress.leg.tolist() == [1, 1, 0]
    assert [outcome_of(progress, 0, i) for i in range(3)] == ["reached", "passed", "pending"]
    np.testing.assert_array_equal(leg.end[:, 0], C)
    np.testing.assert_array_equal(leg.end[:, 2], B)
    np.testing.assert_array_equal(leg.following[:, 2], C)


def test_depth_counts_only_for_vehicles_that_can_choose_it():
    deep = believed((10.0, 0.0, 5.0))
    for flat, moved in ((True, 1), (False, 0)):
        mission = make_mission(TWO_LEGS, flat=flat)
        progress, _ = legs.follow(mission, legs.begin(mission), deep, jnp.float64(0.0))
        assert int(progress.leg[0]) == moved


def test_a_station_is_held_from_the_first_arrival_even_when_the_vehicle_drifts_off():
    mission = make_mission([(legs.HOLD, A, A, {"dwell": 5.0})])
    progress = legs.begin(mission)
    for t, place, ended in (
        (0.0, 3.0, 0),
        (2.0, 0.5, 0),
        (4.0, 2.0, 0),
        (6.9, 0.0, 0),
        (7.0, 9, 1),
    ):
        progress, _ = legs.follow(mission, progress, believed((place, 0, 0)), jnp.float64(t))
        assert int(progress.leg[0]) == ended
    assert outcome_of(progress, 0) == "held"


def test_a_station_is_held_only_where_the_heading_that_it_asks_for_is():
    east = np.pi / 2
    options = {"dwell": 5.0, "heading": east + 2.0 * np.pi}
    mission = make_mission([(legs.DOCK, A, A, options)])
    progress = legs.begin(mission)
    for t, off, ended in ((0, 94, 0), (9, 94, 0), (10, 10, 0), (16, 94, 0), (17, -14, 1)):
        at = believed(A)._replace(
            attitude=from_euler(0.0, 0.0, jnp.array([east + np.radians(off)]))
        )
        progress, _ = legs.follow(mission, progress, at, jnp.float64(t))
        assert int(progress.leg[0]) == ended
    assert outcome_of(progress, 0) == "held"


def test_a_leg_of_no_length_is_left_at_once():
    mission = make_mission([(legs.TRACK, A, B, {}), (legs.TRACK, B, B, {}), (legs.TRACK, B, C, {})])
    progress = legs.begin(mission)
    for t in range(3):  # past the end of the first, and never inside a circle
        progress, _ = legs.follow(mission, progress, believed((14.0, 1.0, 0.0)), jnp.float64(t))
    assert [outcome_of(progress, k) for k in range(3)] == ["passed", "passed", "pending"]


def test_who_is_told_to_come_up_has_done_so_wherever_it_comes_up():
    mission = make_mission([(legs.SURFACE, A, A, {"acceptance": 0.4})], flat=False)
    for depth, ended in ((0.5, 0), (0.3, 1)):
        at = believed((40.0, -30.0, depth))
        progress, _ = legs.follow(mission, legs.begin(mission), at, jnp.float64(1.0))
        assert int(progress.leg[0]) == ended


def test_a_leg_is_given_up_when_its_time_is_over():
    mission = make_mission([(legs.TRACK, A, B, {"timeout": 30.0}), (legs.TRACK, B, C, {})])
    progress = legs.begin(mission)
    for t in (0.0, 29.9):
        progress, _ = legs.follow(mission, progress, believed(A), jnp.float64(t))
        assert int(progress.leg[0]) == 0
    progress, _ = legs.follow(mission, progress, believed(A), jnp.float64(30.0))
    assert int(progress.leg[0]) == 1
    assert outcome_of(progress, 0) == "timed out"
    assert float(progress.began[0]) == 30.0


def test_the_clocks_of_a_leg_stand_still_while_its_mission_waits():
    """Of two: one has 10 s at its station, waits 40 s while it is led away, and is back 5 s later;
    the other has no station and 30 s in all."""
    rows = [(legs.HOLD, A, A, {"dwell": 25.0}), (legs.HOLD, B, B, {"timeout": 30.0})]
    mission = make_mission(rows, vehicles=2)
    progress = legs.begin(mission)._replace(leg=jnp.asarray([0, 1]))
    away, ended = (5.0, 5.0, 0.0), {}
    follow, wait = jax.jit(legs.follow), jax.jit(legs.wait, static_argnums=2)
    for t in range(100):
        if 10 <= t < 50:
            progress = wait(progress, jnp.float64(t), 1.0)
            continue
        at = believed(A if t < 10 or t >= 55 else away, away)
        progress, _ = follow(mission, progress, at, jnp.float64(t))
        for i in range(2):
            if outcome_of(progress, i, i) != "pending":
                ended.setdefault(outcome_of(progress, i, i), t)
    assert ended == {"timed out": 70, "held": 55 + 15}


@pytest.mark.parametrize(
    ("quantity", "threshold", "side", "estimate"),
    [
        ("depth", 4.0, 1.0, believed((0, 0, 5.0))),
        ("depth", 6.0, -1.0, believed((0, 0, 5.0))),
        ("speed", 1.9, 1.0, believed(A, velocity=(2.0, 0.0, 0.0))),
        ("time", 9.0, 1.0, believed(A)),
    ],
)
def test_a_condition_ends_a_leg_on_its_side_of_the_threshold_only(
    quantity, threshold, side, estimate
):
    for sign, ended in ((side, 1), (-side, 0)):
        options = {
            "watched": legs.WATCHED.index(quantity),
            "threshold": threshold,
            "side": sign,
        }
        mission = make_mission([(legs.TRACK, A, B, options)])
        progress, _ = legs.follow(mission, legs.begin(mission), estimate, jnp.float64(10.0))
        assert int(progress.leg[0]) == ended


def test_after_the_last_leg_the_mission_is_over_and_stays_over():
    mission = make_mission([(legs.TRACK, A, B, {})])
    progress = legs.begin(mission)
    for t in (0.0, 1.0, 2.0):
        progress, leg = legs.follow(mission, progress, believed(B), jnp.float64(t))
        assert bool(leg.done[0])
        assert int(progress.leg[0]) == 1
    np.testing.assert_array_equal(leg.end[:, 0], B)


def sample(value, delay, valid=1.0):
    return Sample(jnp.array([[value], [valid], [delay], [0.0]]))


def test_a_letter_is_delivered_once_when_its_delay_is_over_and_in_order():
    box = sample_queue.begin(4, 1, 1, jnp.float64)
    got = []
    for k in range(12):
        t = jnp.float64(0.1 * k)
        box = sample_queue.post(box, sample(float(k), 0.25), jnp.asarray(k % 2 == 0), t)
        box, arrival = sample_queue.collect(box, t)
        if bool(arrival.arrived[0]):
            got.append((k, float(arrival.values[0, 0]), float(arrival.stamp[0])))
    assert got == [
        (3, 0.0, 0.0),
        (5, 2.0, pytest.approx(0.2)),
        (7, 4.0, pytest.approx(0.4)),
        (9, 6.0, pytest.approx(0.6)),
        (11, 8.0, pytest.approx(0.8)),
    ]


def test_who_listens_as_often_as_the_sensor_speaks_catches_up_after_a_delay():
    """Ten samples come a second late, all at once with the first that is on time."""
    box = sample_queue.begin(11, 1, 1, jnp.float64)
    ages = []
    for k in range(30):
        t = jnp.float64(0.1 * k)
        late = max(0.0, min(1.0, 2.0 - 0.1 * k))  # no message overtakes another
        box = sample_queue.post(box, sample(float(k), late), jnp.asarray(True), t)
        box, arrival = sample_queue.catch_up(box, t)
        ages.append(float(t - arrival.stamp[0]) if bool(arrival.arrived[0]) else np.nan)
    assert np.isnan(ages[:10]).all()
    np.testing.assert_allclose(ages[10:20], 1.0)
    np.testing.assert_allclose(ages[20:], 0.0, atol=1e-12)


def test_a_sample_that_is_not_valid_is_never_delivered():
    box = sample_queue.begin(2, 1, 1, jnp.float64)
    box = sample_queue.post(box, sample(1.0, 0.0, valid=0.0), jnp.asarray(True), jnp.float64(0.0))
    _, arrival = sample_queue.collect(box, jnp.float64(1.0))
    assert not bool(arrival.arrived[0])


def test_a_pipeline_is_followed_from_its_nearer_end_at_the_distance_asked_for():
    line = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 50.0]])  # to north, then to east
    moved = patterns.beside(line, 4.0)
    np.testing.assert_allclose(moved, [[0.0, 4.0], [96.0, 4.0], [96.0, 50.0]], atol=1e-9)
    np.testing.assert_allclose(patterns.beside(line, -4.0)[1], [104.0, -4.0], atol=1e-9)
    text = """
kind: scenario
name: inspection
duration: 60
world:
  name: field
  seabed: {depth: 30}
  bodies:
    - name: line
      pipe: {waypoints: [[0, 0, 0], [100, 0, 0], [100, 50, 0]], diameter: 0.5}
      position: [20, 10]
      heading_deg: 90
      on_bottom: true
vehicles:
  - name: craft
    vehicle: bluerov2
    feedback: truth
    sensors: []
    start: {position: [60, 110, 20]}
    mission: [{do: follow, pipeline: line, depth: 25, speed: 0.3}]
"""
    scenario = load_text(text, Scenario)
    found = legs_of(scenario, scenario.vehicles[0], 0.3, holds=True)
    corners = [[-30.0, 110.0, 25.0], [20.0, 110.0, 25.0], [20.0, 10.0, 25.0]]
    np.testing.assert_allclose([leg.end for leg in found], corners, atol=1e-9)
    wrong = load_text(text.replace("pipeline: line", "pipeline: lien"), Scenario)
    with pytest.raises(SpecError, match=r"(?s)no pipeline `lien`.*did you mean `line`"):
        legs_of(wrong, wrong.vehicles[0], 0.3, holds=True)


def test_a_task_without_a_place_stays_at_its_depth_where_it_names_none():
    text = """
kind: scenario
name: depths
duration: 1
world: {name: basin, seabed: {depth: 30}}
vehicles:
  - vehicle: remus100
    start: {position: [1, 2, 4]}
    feedback: truth
    sensors: []
    mission:
      - {do: velocity, surge: 1.5, duration: 9}
      - {do: velocity, surge: 1.5, duration: 9, depth: 6}
      - {do: hold}
      - {do: hold, depth: 7}
      - {do: hold, position: [3, 2], depth: 8}
      - {do: hold, position: [3, 2]}
      - {do: goto, waypoints: [[9, 2], [9, 9, 5]]}
"""
    scenario = load_text(text, Scenario)
    found = legs_of(scenario, scenario.vehicles[0], 1.5, holds=False)
    assert [leg.end[2] for leg in found] == [4, 6, 6, 7, 8, 0, 0, 5]
    wrong = text.replace("{do: hold}", "{do: surface, depth: 3}")
    with pytest.raises(SpecError, match="comes up to the surface: leave out `depth`"):
        load_text(wrong, Scenario)
