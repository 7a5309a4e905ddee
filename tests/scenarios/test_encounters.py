"""Full vessels that hear each other by AIS: hull, filter, autopilot and the COLREGs together.

`benchmarks/encounters.py` counts many of them.
"""

import numpy as np
import pytest

import seatrial as st

SAFE = 2.0 * np.hypot(2.0, 1.08)
"""Both safety circles together, m."""


def tracks(name):
    run = st.run(name)
    assert run.status == "completed"
    data = run.dataset
    return {str(v): data.sel(vehicle=v).position.values[:, :2] for v in data.vehicle.values}, run


def apart(a, b):
    return np.hypot(*(a - b).T)


def rules(run, name):
    codes = run.dataset["rule"].sel(vehicle=name).values
    return {int(c) for c in codes if c > 0}


def test_vessels_that_meet_head_on_both_alter_to_starboard():
    track, run = tracks("otters-head-on")
    north, south = track["north"], track["south"]
    distance = apart(north, south)
    near = distance.argmin()
    assert distance.min() > SAFE
    assert north[near, 1] > 2.0  # east of its track, which is to starboard
    assert south[near, 1] < -2.0
    assert rules(run, "north") == rules(run, "south") == {1}


def test_who_has_the_other_to_starboard_passes_astern_of_her():
    track, run = tracks("otters-crossing")
    own, other = track["give_way"], track["stand_on"]
    assert apart(own, other).min() > SAFE
    crossed = np.flatnonzero(own[:, 0] >= 60.0)[0]  # her track runs west along 60 m north
    assert other[crossed, 1] < own[crossed, 1] - SAFE
    assert np.abs(other[: crossed + 1, 0] - 60.0).max() < 3.0
    assert 2 in rules(run, "give_way")
    assert 3 in rules(run, "stand_on")


def test_who_overtakes_keeps_clear_and_comes_past():
    track, run = tracks("otters-overtaking")
    fast, slow = track["fast"], track["slow"]
    assert apart(fast, slow).min() > SAFE
    assert fast[-1, 0] > slow[-1, 0]
    assert np.abs(slow[:, 1]).max() < 3.0
    assert 4 in rules(run, "fast")


def test_five_in_a_channel_keep_clear_of_each_other_and_arrive():
    track, run = tracks("otters-channel")
    names = list(track)
    least = min(
        apart(track[a], track[b]).min() for i, a in enumerate(names) for b in names[i + 1 :]
    )
    assert least > SAFE
    for vehicle in run.summary.vehicles.values():
        assert vehicle.indices["legs_reached"] == 1


@pytest.mark.parametrize("sensors", ["[]", "[{type: ais, name: ais}]"])
def test_who_touches_another_has_collided_and_others_go_on(sensors):
    """Without avoidance two boats meet on one line, whether or not they hear each other; a third
    sails on."""
    text = """
kind: scenario
name: collision
duration: 20
stop_when_collided: true
vehicles:
  - {name: a, vehicle: otter, start: {speed: 1.5}, sensors: SENSORS,
     commands: {left_rpm: 600, right_rpm: 600}}
  - {name: b, vehicle: otter, start: {position: [20, 0.3, 0], heading_deg: 180, speed: 1.5},
     sensors: SENSORS, commands: {left_rpm: 600, right_rpm: 600}}
  - {name: c, vehicle: otter, start: {position: [0, 50, 0]}, sensors: SENSORS}
"""
    from seatrial.spec.loading import load_text
    from seatrial.spec.scenario import Scenario

    run = st.run(load_text(text.replace("SENSORS", sensors), Scenario))
    assert {n: v.status for n, v in run.summary.vehicles.items()} == {
        "a": "collided",
        "b": "collided",
        "c": "completed",
    }
    last = run.dataset.position.values[-1]
    assert 1.5 < np.hypot(*(last[0] - last[1])[:2]) < 2.3  # bow to bow, not through each other


@pytest.mark.parametrize(
    ("first", "second", "start", "heading", "duration"),
    [
        # Both took it that they stand on: by where they went before they turned.
        (
            [[-8.7, -2.66], [25.92, 14.45]],
            [[19.86, -33.07], [-5.93, -8.26]],
            [-18.82, 26.46, 0],
            62.3,
            60,
        ),
        (
            [[6.06, 5.07], [34.93, -8.99], [-26.82, 30.15]],
            [[23.11, 8.54], [-24.67, -30.59]],
            [-34.61, 21.86, 0],
            295.6,
            75,
        ),
        # One lay still at the end of her mission; the other stood on towards her.
        (
            [[6.9, -30.18], [34.7, 14.72], [25.9, 31.74], [6.67, -36.78], [16.92, 5.52]],
            [[26.08, 2.57], [25.06, 39.76], [-11.96, -26.32], [-8.67, 20.24], [-4.86, 7.07]],
            [-29.81, 18.09, 0],
            100.8,
            280,
        ),
    ],
)
def test_vessels_that_turn_at_their_waypoints_do_not_touch(first, second, start, heading, duration):
    both = {"vehicle": "otter", "feedback": "truth", "avoidance": {}}
    both["sensors"] = [{"type": "ais", "name": "ais"}]
    place = {"position": start, "heading_deg": heading}
    one, two = (
        [{"do": "goto", "waypoints": way, "speed": speed}]
        for way, speed in ((first, 1.3), (second, 1.2))
    )
    scenario = st.Scenario(
        kind="scenario",
        name="corners",
        duration=duration,
        world="calm",
        vehicles=[
            both | {"name": "a", "start": {"position": [0, 0, 0]}, "mission": one},
            both | {"name": "b", "start": place, "mission": two},
        ],
    )
    run = st.run(scenario)
    position = run.dataset.position.values[:, :, :2]
    distance = apart(position[:, 0], position[:, 1])
    assert np.nanmin(distance) > np.hypot(2.0, 1.08) + 1.0
    events = [e.text for v in run.summary.vehicles.values() for e in v.events]
    assert not [text for text in events if "touched" in text]
