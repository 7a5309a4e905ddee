"""Vehicles that follow the bottom, from the description to the altitude that they fly."""

import numpy as np
import pytest

import seatrial as st
from seatrial.compile.scenario import compile_scenario
from seatrial.ocean.seabed import under
from seatrial.spec.loading import load_text

HILLS = "{name: hills, seabed: {shape: fractal, depth: 30, relief: 1.0, largest: 200, spacing: 4}}"
FLAT = "{name: shelf, seabed: {depth: 30}}"
TASK = "{do: goto, waypoints: [[150, 0], [150, 60]], altitude: 5, acceptance: 6}"

TEXT = """
kind: scenario
name: terrain
seed: 2
duration: {duration}
world: {world}
vehicles:
  - name: craft
    vehicle: {vehicle}
    feedback: {feedback}
    start: {{position: [0, 0, 20], speed: {speed}}}
    mission: [{task}]
    {extra}
"""


def described(task=TASK, vehicle="remus100_x", world=FLAT, feedback="truth", extra="", **numbers):
    numbers = {"duration": 80, "speed": 1.5} | numbers
    text = TEXT.format(
        task=task, vehicle=vehicle, world=world, feedback=feedback, extra=extra, **numbers
    )
    return load_text(text, st.Scenario)


def altitudes(scenario, after):
    """Over the true bottom from some time on, m, and the run."""
    run = st.run(scenario)
    data = run.recording.vehicle("craft")
    place = data["position"].values[data["time"].values > after]
    bottom = compile_scenario(scenario).fleets[0].ocean.seabed
    return under(bottom, place[:, 0], place[:, 1]) - place[:, 2], run


def test_an_auv_keeps_its_altitude_over_hills_by_its_own_dvl():
    found, run = altitudes(described(world=HILLS, feedback="estimate"), after=35.0)
    assert run.status in ("completed", "unfinished")
    assert np.mean(found) == pytest.approx(5.0, abs=0.4)
    assert np.std(found) < 0.6
    assert np.min(found) > 3.5


def test_a_rov_keeps_its_altitude_to_centimetres_where_the_truth_is_fed_back():
    found, _ = altitudes(
        described(vehicle="bluerov2", world=HILLS, speed=0.3, duration=120), after=90.0
    )
    assert np.mean(np.abs(found - 5.0)) < 0.1


BANK = (
    "{name: bank, seabed: {depth: 30}, bodies: [{name: bank, box: {size: [20, 80, 6]}, "
    "position: [110, 0, 27], material: rock}]}"
)
"""A step of 6 m across the way, higher than the altitude that is asked for."""


def test_a_sonar_that_looks_ahead_takes_an_auv_over_a_step():
    task = "{do: goto, waypoints: [[170, 0]], altitude: 4, acceptance: 6}"
    ahead = "{type: obstacle_sonar, name: ahead, rate: 5, range: 60}"
    extra = f"sensors: [{ahead}]"
    run = st.run(described(task=task, world=BANK, extra=extra, duration=110))
    place = run.recording.vehicle("craft")["position"].values
    over = place[(place[:, 0] > 98.0) & (place[:, 0] < 122.0)]
    assert run.status == "completed"
    assert np.max(over[:, 2]) < 24.0 - 1.5
    assert place[place[:, 0] < 40.0, 2].max() > 25.0  # not by staying high all the way


REFUSED = {
    "no sensor tells it": (
        {"feedback": "estimate", "vehicle": "bluerov2"},
        "no sensor that tells its altitude.*dvl or altimeter",
    ),
    "out of the reach of its sensors": (
        {
            "feedback": "estimate",
            "world": "{name: deep, seabed: {depth: 200}}",
            "task": TASK.replace("altitude: 5", "altitude: 90"),
        },
        "do not hear the bottom.*0.2 to 75 m",
    ),
    "no bottom": ({"world": "{name: deep}"}, "no bottom in this world"),
    "out of the water": (
        {"task": TASK.replace("altitude: 5", "altitude: 31")},
        "out of the water, which is 30 m deep",
    ),
    "below its failsafe": (
        {"task": TASK.replace("altitude: 5", "altitude: 0.8")},
        "less than the failsafe `altitude` allows.*more than 1 m",
    ),
    "it floats": ({"vehicle": "otter"}, "otter floats"),
    "it comes up": (
        {"task": "{do: surface, altitude: 5}"},
        "`surface` leads to a depth: leave out `altitude`",
    ),
    "two depths": (
        {"task": "{do: goto, waypoints: [[150, 0, 10]], altitude: 5}"},
        "`waypoints` has a depth, and `altitude`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_altitude_that_cannot_be_kept_is_refused(case):
    how, message = REFUSED[case]
    with pytest.raises(st.SpecError, match=rf"(?s){message}"):
        compile_scenario(described(**how))
