"""Closed loops: library vehicles carry out missions by their own sensors."""

import numpy as np
import pytest

import seatrial as st
from missions import WAYPOINT_RUNS
from sampling import sampled
from seatrial.cli.running import show_run
from seatrial.compile.scenario import compile_scenario, plan_of
from seatrial.engine.engine import Engine
from seatrial.engine.frames import GUIDANCE, OUTCOMES
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.run import run
from seatrial.record.memory import MemoryRecorder
from seatrial.signals import RELEASE, Command


class Watch:
    """Keeps what a mission's claims need of one vehicle."""

    def open(self, header, scene):
        self.header, self.parts = header, []

    def write(self, frames):
        group = frames.groups[0].frames
        self.parts.append((frames.time, group))

    def close(self, summary):
        self.summary = summary

    def get(self, name):
        return np.concatenate([getattr(group, name)[:, 0] for _, group in self.parts])


def watched(scenario):
    watch = Watch()
    run(plan_of(scenario), [watch])
    return watch


@pytest.mark.parametrize("name", sampled(WAYPOINT_RUNS, "otter-survey"))
def test_a_mission_is_completed_with_every_waypoint_reached(name):
    watch = watched(name)
    legs = watch.header.vehicles[0].legs
    guidance = watch.get("guidance")
    changes = np.flatnonzero(np.diff(guidance[:, 0]) > 0) + 1
    outcomes = [OUTCOMES[int(code)] for code in guidance[changes, 1]]
    assert watch.summary.status == "completed"
    assert int(guidance[-1, 0]) == len(legs)
    assert all(outcome in ("reached", "held") for outcome in outcomes), outcomes
    # The run ends with the frame in which the mission is over.
    assert np.count_nonzero(guidance[:, 0] == len(legs)) == 1
    assert watch.summary.duration < st.load(name, st.Scenario).duration


def test_a_mission_that_the_duration_cuts_off_is_unfinished_and_says_how_far_it_came(capsys):
    found = st.run("otter-survey", duration=20.0)
    assert found.status == found.summary.vehicles["otter"].status == "unfinished"
    assert found.summary.vehicles["otter"].ending == "unfinished: 1 of 9 legs"
    show_run(found, None, as_json=False)
    assert "1 of 9 legs done" in capsys.readouterr().out
    lasting = st.load("otter-survey", st.Scenario).model_copy(update={"stop_when_done": False})
    assert compile_scenario(lasting).stop_when_done is False


def test_a_mission_whose_legs_timed_out_is_not_completed():
    text = """
kind: scenario
name: late
duration: 60
world: {name: calm}
vehicles:
  - name: boat
    vehicle: otter
    feedback: truth
    sensors: []
    mission:
      - {do: goto, waypoints: [[3, 0]], speed: 1}
      - {do: goto, waypoints: [[60, 0]], speed: 1, timeout: 5}
"""
    from seatrial.spec.loading import load_text

    found = st.run(load_text(text, st.Scenario)).summary.vehicles["boat"]
    assert [event.outcome for event in found.events] == ["reached", "timed out"]
    assert found.ending == "unfinished: 1 of 2 legs, 1 timed out"


def test_ordered_velocities_are_kept_by_four_rotatable_thrusters():
    watch = watched("wamv-velocity")
    velocity, guidance = watch.get("velocity"), watch.get("guidance")
    leg = guidance[:, 0]
    asked = [(1.0, 0.0, 0.0), (0.5, 0.0, 0.1), (0.0, 0.3, 0.0), (-0.4, 0.0, 0.0), (0.0, 0.0, 0.15)]
    for number, (surge, sway, turn) in enumerate(asked):
        settled = velocity[leg == number][-100:]
        found = settled[:, [0, 1, 5]].mean(axis=0)
        np.testing.assert_allclose(found, (surge, sway, turn), atol=0.04)
        told = dict(zip(GUIDANCE, guidance[leg == number][-1], strict=True))
        assert int(told["asked"]) & ~8 == 4 + 16 + 32  # surge, sway and rate of turn
        wanted = [told[name] for name in ("surge", "sway", "yaw_rate")]
        np.testing.assert_allclose(wanted, (surge, sway, turn), atol=1e-12)


def test_the_place_that_a_vehicle_holds_is_told_as_what_it_is_asked_for():
    text = """
kind: scenario
name: station
duration: 20
world: {name: calm}
vehicles:
  - name: craft
    vehicle: wamv_azimuth
    feedback: truth
    sensors: []
    start: {position: [1, 2, 0]}
    mission: [{do: hold, position: [4, -3], heading_deg: 30, duration: 10}]
"""
    from seatrial.spec.loading import load_text

    told = watched(load_text(text, st.Scenario)).get("guidance")[-1]
    told = dict(zip(GUIDANCE, told, strict=True))
    assert int(told["asked"]) & ~8 == 1 + 64  # heading and position
    assert (told["north"], told["east"]) == (4.0, -3.0)


def test_a_fence_keeps_out_what_lies_outside_and_brings_back_what_was_driven_out():
    text = """
kind: scenario
name: fenced
duration: 60
world: {{name: stream, current: {{speed: 0.5, towards_deg: 0}}}}
vehicles:
  - name: boat
    vehicle: otter
    feedback: truth
    sensors: []
    guidance: {{fence: [[-20, -20], [10, -20], [10, 20], [-20, 20]]}}
    mission:
      - {{do: goto, waypoints: [[{north}, 0]], speed: 1.2, acceptance: 0.5}}
"""
    from seatrial.spec.loading import load_text

    with pytest.raises(st.SpecError, match="outside the fence"):
        plan_of(load_text(text.format(north=12), st.Scenario))
    watch = watched(load_text(text.format(north=9.5), st.Scenario))
    north = watch.get("position")[:, 0]
    assert north.max() < 14.0
    assert north[-1] < 11.0


def test_the_same_mission_twice_gives_the_same_bytes_and_another_seed_others(tmp_path):
    files = [tmp_path / f"{i}.mcap" for i in range(3)]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        st.run("sookshma-waypoints", seed=seed, duration=30, out=file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes() != files[2].read_bytes()


def test_a_vehicle_without_sensors_needs_the_truth_or_is_refused():
    scenario = st.load("otter-survey", st.Scenario)
    blind = scenario.vehicles[0].model_copy(update={"sensors": ()})
    with pytest.raises(st.SpecError):
        plan_of(scenario.model_copy(update={"vehicles": (blind,)}))


CORNERS = """
kind: scenario
name: corners
duration: 90
vehicles:
  - name: boat
    vehicle: otter
    feedback: truth
    sensors: []
    start: {{speed: 1.5}}
    guidance: {{law: line_of_sight, handover: {handover}}}
    control: {{heading: {heading}}}
    mission:
      - {{do: goto, waypoints: [[40, 0], [40, 40]], speed: 1.5, acceptance: 2.5}}
"""


def test_a_soft_handover_begins_to_turn_before_the_waypoint_and_a_sliding_mode_steers_too():
    from seatrial.spec.loading import load_text

    east = {}
    for handover, heading in (("hard", "pid"), ("soft", "pid"), ("hard", "sliding")):
        text = CORNERS.format(handover=handover, heading=heading)
        watch = watched(load_text(text, st.Scenario))
        place = watch.get("position")
        before = np.argmax(place[:, 0] > 34.0)
        east[handover, heading] = place[before, 1]
        assert int(watch.get("guidance")[-1, 0]) == 2
    assert abs(east["hard", "pid"]) < 0.1
    assert abs(east["hard", "sliding"]) < 0.1
    assert east["soft", "pid"] > 0.5


def test_a_smooth_way_keeps_nearer_to_its_track_than_corners_do():
    from seatrial.spec.loading import load_text

    worst = {}
    for smooth in ("null", "circles", "hermite"):
        text = CORNERS.format(handover="hard", heading="pid").replace(
            "acceptance: 2.5", f"acceptance: 2.5, turning_radius: 10, smooth: {smooth}"
        )
        guidance = watched(load_text(text, st.Scenario)).get("guidance")
        on_track = guidance[:, 0] < guidance[:, 0].max()
        worst[smooth] = np.abs(guidance[on_track, 2]).max()
    assert worst["circles"] < 0.8 * worst["null"]
    assert worst["hermite"] < 0.8 * worst["null"]


def sailed(plan, taken_over):
    """A survey, by its own pilot or with the helm in other hands from 200 to 260 s."""
    memory = MemoryRecorder()
    memory.open(plan.header, plan.scene)
    with Engine(plan) as engine:
        gatherer = Gatherer(plan, engine.opening)
        while not gatherer.complete:
            now, orders = engine.periods, {}
            if taken_over and now == 2000:
                orders = {"otter": Command(channels={"left_rpm": 500.0, "right_rpm": 300.0})}
            if taken_over and now == 2600:
                orders = {"otter": RELEASE}
            engine.order(orders)
            for frames in gatherer.add(engine.advance(min(engine.block, 100))):
                memory.write(frames)
        for frames in gatherer.finish():
            memory.write(frames)
        summary = gatherer.summary(stopped=False)
    memory.close(summary)
    return summary.vehicles["otter"], memory.recording().dataset.sel(vehicle="otter")


def surprise(data):
    """Mean squared error over variance of the horizontal position after 260 s, per axis."""
    error = data.estimate_position.values - data.position.values
    squares = (error / data.estimate_deviation.values)[data.time.values > 260.0, :2] ** 2
    return float(squares.sum(axis=1).mean() / 2.0)


def test_a_pilot_that_was_taken_over_knows_where_it_is_and_finishes():
    """Its filter's model obeyed the orders that were given, so it errs by as much as it says."""
    plan = plan_of("otter-survey")
    (own, alone), (taken, disturbed) = (sailed(plan, t) for t in (False, True))
    both = min(alone.sizes["time"], disturbed.sizes["time"])
    away = np.abs(alone.position.values[:both] - disturbed.position.values[:both])[:, :2].max()
    assert away > 20.0
    assert taken.indices["legs_done"] == own.indices["legs_done"] == 9
    # The drift of a receiver hardly changes within a run: two values of χ² with one degree each,
    # of which 99 % lie within this band of their mean.
    for data in (alone, disturbed):
        assert 0.005 < surprise(data) < 5.3
