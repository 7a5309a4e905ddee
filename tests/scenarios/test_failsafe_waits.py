"""What a mission that a failsafe holds up still owes when it goes on."""

import numpy as np
import pytest

import seatrial as st
from seatrial.spec.loading import load_text


def test_a_station_is_held_for_its_whole_time_however_often_it_is_left():
    """Some seconds there, half a minute on the way home and back, and what was still owed."""
    text = """
kind: scenario
name: pause
duration: 130
world: {name: bay, seabed: {depth: 30}}
vehicles:
  - vehicle: otter
    feedback: truth
    start: {position: [20, 0, 0]}
    failsafes: {link: {after: 1}}
    faults: [{target: link, kind: lost, start: 45, duration: 25}]
    mission: [{do: hold, position: [0, 0], duration: 35}]
"""
    run = st.run(load_text(text, st.Scenario))
    own = run.dataset.isel(vehicle=0)
    near = np.hypot(*own.position.values[:, :2].T) < 3.0
    over, goes_on = own.leg.values >= 1, own.failsafe_action.values == 0
    assert over.any()
    assert near[over].all()
    period = own.time.values[1] - own.time.values[0]
    assert np.sum(near & goes_on & ~over) * period == pytest.approx(35.0, abs=0.5)
    assert 5.0 < np.sum(near & goes_on & (own.time.values < 46.0)) * period < 30.0


def test_the_clock_of_progress_stands_while_a_mission_is_held_up_and_does_not_begin_anew():
    """One makes no way between interruptions; the other is sent home, and comes back all the way in
    more time than a leg may take to become shorter."""
    text = """
kind: scenario
name: interrupted
duration: 130
world: {name: bay, seabed: {depth: 30}}
vehicles:
  - name: stuck
    vehicle: otter
    feedback: truth
    sensors: []
    failsafes: {progress: {after: 20}, link: {after: 0, action: hold}}
    faults:
      - {target: left, kind: power_loss, start: 0}
      - {target: right, kind: power_loss, start: 0}
      - {target: link, kind: lost, start: 10, duration: 5}
      - {target: link, kind: lost, start: 25, duration: 5}
    mission: [{do: goto, waypoints: [[80, 0]], speed: 1.0}]
  - name: homing
    vehicle: otter
    feedback: truth
    sensors: []
    start: {position: [0, 40, 0]}
    failsafes: {progress: {after: 20}, link: {after: 0}}
    faults: [{target: link, kind: lost, start: 40, duration: 40}]
    mission: [{do: goto, waypoints: [[80, 40]], speed: 1.0}]
"""
    run = st.run(load_text(text, st.Scenario))
    told = {
        name: [(event.time, event.text) for event in own.events if "failsafe" in event.outcome]
        for name, own in run.summary.vehicles.items()
    }
    (warned,) = (at for at, what in told["stuck"] if what == "failsafe progress: warn")
    assert warned == pytest.approx(40.0, abs=0.5)  # 10 s, 5 s after 20 s, and 5 s after 35 s
    assert [what for _, what in told["homing"]] == [
        "failsafe link: return",
        "failsafe link is over",
    ]
    north = run.dataset.sel(vehicle="homing").position.values[:, 0]
    assert north[-1] > north[400] > 25.0
    assert north[850] < 12.0
