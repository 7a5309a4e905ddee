"""Failsafes: each is set off by what it watches for, and by nothing else."""

import numpy as np
import pytest

import seatrial as st
from seatrial.compile.scenario import plan_of
from seatrial.engine.engine import Engine
from seatrial.engine.output.gathering import Gatherer
from seatrial.record.memory import MemoryRecorder
from seatrial.signals import ACTIONS, FAILSAFES, Command, Setpoint
from seatrial.spec.loading import load_text

BOAT = """
  - name: {name}
    vehicle: otter
    feedback: truth
    start: {{position: [0, {east}, 0], roll_deg: {roll}, speed: 1.0}}
    sensors:
      - {{type: shaft, name: left_rpm, rate: 10, channel: left}}
      - {{type: shaft, name: right_rpm, rate: 10, channel: right}}
      - type: battery
        name: battery
        rate: 1
        capacity_Wh: 9.0
        nominal_voltage: 28.8
        full_power: {{left: 300.0, right: 300.0}}
    guidance: {{fence: [[-40, -60], [60, -60], [60, 340], [-40, 340]]}}
    failsafes: {{progress: {{after: 20}}, link: {{after: 5}}, capsize: {{after: 0.5}}}}
    faults:
      - {{target: link, kind: lost}}
      - {{target: hull, kind: ingress, mass: 5, rate: 0.5}}
      - {{target: left, kind: power_loss}}
      - {{target: right, kind: power_loss}}
    mission:
      - {{do: goto, waypoints: [[{north}, {east}], [-30, {east}]], speed: {speed}, acceptance: 3}}
"""
BOATS = {
    "well": {},
    "link": {},
    "ingress": {},
    "actuator": {},
    "progress": {},
    "battery": {"speed": 2.4, "north": 40},
    "fence": {"north": 59},
    "capsize": {"roll": 178},
}
STRUCK = {
    "link: lost": ("link",),
    "hull: ingress": ("ingress",),
    "left: power_loss": ("actuator", "progress"),
    "right: power_loss": ("progress",),
}


def fleet(entry, entries, duration, world):
    """A scenario of vehicles of one kind, which are one program."""
    head = f"kind: scenario\nname: fleet\nseed: 11\nduration: {duration}\nworld: {world}\nvehicles:"
    usual = {"roll": 0, "north": 50, "speed": 1.0}
    rows = [
        entry.format(**usual | {"name": name, "east": 40 * i} | own)
        for i, (name, own) in enumerate(entries.items())
    ]
    plan = plan_of(load_text(head + "".join(rows), st.Scenario))
    assert len(plan.fleets) == 1
    return plan


def sailed(plan, acts):
    """Summary and frames of a run with what is done to its engine, by control period."""
    memory = MemoryRecorder()
    memory.open(plan.header, plan.scene)
    with Engine(plan) as engine:
        gatherer = Gatherer(plan, engine.opening)
        while not gatherer.complete:
            for act in acts.get(engine.periods, ()):
                act(engine)
            for frames in gatherer.add(engine.advance(100)):
                memory.write(frames)
        for frames in gatherer.finish():
            memory.write(frames)
    summary = gatherer.summary(stopped=False)
    memory.close(summary)
    return summary.vehicles, memory.recording().dataset


def strike(fault, vehicle, on=True):
    return lambda engine: engine.set_fault(fault, on, vehicle)


@pytest.fixture(scope="module")
def boats():
    world = "{name: bay, current: {speed: 0.1, towards_deg: 90}, seabed: {depth: 30}}"
    plan = fleet(BOAT, BOATS, 110, world)
    ahead = {"link": Command(setpoint=Setpoint(surge=0.5, heading=0.0))}
    acts = {
        200: [strike(fault, name) for fault, names in STRUCK.items() for name in names]
        + [lambda engine: engine.order(ahead)],
        700: [strike("link: lost", "link", on=False)],
    }
    return sailed(plan, acts)


def alarms(vehicle):
    return [(event.time, event.text) for event in vehicle.events if "failsafe" in event.outcome]


def test_a_vehicle_that_is_well_sails_its_mission(boats):
    vehicles, data = boats
    assert alarms(vehicles["well"]) == []
    assert vehicles["well"].indices["legs_reached"] == 1
    assert not data["failsafes"].sel(vehicle="well").any()


def test_a_lost_link_sends_it_home_and_nobody_is_heard_until_it_is_back(boats):
    vehicles, data = boats
    (first, second) = alarms(vehicles["link"])
    assert first == (25.0, "failsafe link: return")
    assert second == (75.0, "failsafe link is over")
    own = data.sel(vehicle="link")
    home = np.hypot(*(own.position.values[700, :2] - (0, 40)))
    assert home < 4.0
    # Back on the air it obeys the setpoint that was given meanwhile, and steers north.
    assert own.position.values[-1, 0] > own.position.values[-100, 0] + 3.0
    assert abs(np.degrees(own.euler.values[-1, 2])) < 5.0


def test_the_link_may_be_lost_twice():
    text = """
kind: scenario
name: twice
duration: 30
world: {name: bay, seabed: {depth: 30}}
vehicles:
  - vehicle: otter
    feedback: truth
    failsafes: {link: {after: 2}}
    faults:
      - {target: link, kind: lost, start: 5, duration: 4}
      - {target: link, kind: lost, start: 20, duration: 4}
    mission: [{do: goto, waypoints: [[80, 0]], speed: 1.0}]
"""
    run = st.run(load_text(text, st.Scenario))
    came = [at for at, said in alarms(run.summary.vehicles["otter"]) if "link: return" in said]
    np.testing.assert_allclose(came, [7.0, 22.0], atol=0.11)


def test_water_in_the_hull_weighs_and_sends_it_home(boats):
    vehicles, data = boats
    ((at, text),) = alarms(vehicles["ingress"])
    assert text == "failsafe ingress: return"
    assert 21.0 <= at < 21.2
    own = data.sel(vehicle="ingress")
    depth = own.position.values[:, 2]
    # 5 kg on a waterplane of 0.67 m² of sea water
    assert depth[-1] - depth[199] == pytest.approx(5.0 / (1025.0 * 0.67), rel=0.3)
    assert np.hypot(*(own.position.values[-1, :2] - (0, 80))) < 4.0


def test_a_dead_propeller_is_found_by_its_shaft_and_left_out(boats):
    vehicles, data = boats
    found = alarms(vehicles["actuator"])
    assert found[0][1] == "failsafe actuator: warn"
    assert 20.0 < found[0][0] < 26.0
    left = data.command.sel(vehicle="actuator", channel="left").values
    assert np.abs(left[150:200]).min() > 1.0
    assert np.all(left[300:600] == 0.0)


def test_a_vehicle_that_makes_no_way_says_so(boats):
    vehicles, _ = boats
    texts = [text for _, text in alarms(vehicles["progress"])]
    assert texts == ["failsafe actuator: warn", "failsafe progress: warn"]
    assert 40.0 < alarms(vehicles["progress"])[1][0] < 65.0


def test_a_battery_that_runs_low_sends_it_home(boats):
    vehicles, data = boats
    own = data.sel(vehicle="battery")
    ((at, text),) = alarms(vehicles["battery"])
    assert text == "failsafe battery: return"
    assert 60.0 < at < 105.0
    assert own["failsafe_action"].values[-1] == 4
    assert own["failsafes"].values[-1] == 1 << FAILSAFES.index("battery")
    assert ACTIONS[4] == "return"


def test_an_empty_battery_turns_no_propeller():
    """It came home at full thrust with a charge of zero. The hotel load stays: that is not told
    by what moves."""
    text = """
kind: scenario
name: empty
duration: 60
world: {name: bay, seabed: {depth: 30}}
vehicles:
  - vehicle: otter
    feedback: truth
    sensors:
      - {type: shaft, name: left_rpm, rate: 10, channel: left}
      - type: battery
        name: battery
        rate: 1
        capacity: 4000.0
        full_power: {left: 300.0, right: 300.0}
    mission: [{do: goto, waypoints: [[300, 0]], speed: 2.0}]
"""
    run = st.run(load_text(text, st.Scenario))
    charge = run.recording.sensor("otter", "battery")["charge"]
    spent = float(charge.time.values[charge.values.ravel() <= 0.0][0])
    assert 10.0 < spent < 25.0
    own = run.dataset.isel(vehicle=0)
    time, surge = own.time.values, own.velocity.values[:, 0]
    assert surge[time < spent].max() > 1.5
    assert np.abs(own.command.values[time > spent + 1.0]).max() > 1.0  # it knows of no such thing
    turning = run.recording.sensor("otter", "left_rpm")["speed"]
    assert np.abs(turning.values.ravel()[turning.time.values > spent + 5.0]).max() < 0.2  # a pulse
    assert surge[-1] < 0.4


def test_a_fence_is_not_crossed(boats):
    vehicles, data = boats
    assert alarms(vehicles["fence"])[0][1] == "failsafe fence: hold"
    assert data.position.sel(vehicle="fence").values[:, 0].max() < 60.0


def test_a_boat_upside_down_stops_its_propellers(boats):
    vehicles, data = boats
    texts = [text for _, text in alarms(vehicles["capsize"])]
    assert texts == ["failsafe capsize: abort", "failsafe capsize is over"]
    own = data.sel(vehicle="capsize")
    stopped = own["failsafe_action"].values == 6
    assert stopped.any()
    assert np.all(own.command.values[stopped] == 0.0)
    assert vehicles["capsize"].indices["legs_done"] == 1  # upright again it goes on


AUV = """
  - name: {name}
    vehicle: remus100_mss
    start: {{position: [0, {east}, 10], speed: 1.5}}
    sensors:
      - {{type: imu, name: imu, rate: 50, position: [0.2, 0.0, 0.0], errors: adis16448}}
      - {{type: ahrs, name: ahrs, rate: 10, position: [0.2, 0.0, 0.0]}}
      - {{type: pressure, name: depth, rate: 10, position: [0.3, 0.0, 0.0]}}
      - {{type: dvl, name: dvl, rate: 5, position: [0.4, 0.0, 0.08]}}
      - {{type: gnss, name: gnss, rate: 1, position: [0.0, 0.0, -0.15], reacquisition: 5}}
    failsafes: {{position: {{limit: 2.5}}, altitude: {{limit: 4}}}}
    faults:
      - {{target: dvl, kind: dropout}}
      - {{target: stern_plane, kind: jam, value: 12, unit: deg}}
    mission:
      - {{do: goto, waypoints: [[300, {east}, 10]], speed: 1.5, acceptance: 6}}
"""


@pytest.fixture(scope="module")
def auvs():
    world = "{name: shelf, seabed: {depth: 30}}"
    with pytest.warns(st.SpecWarning, match="nothing bounds the position of `well`"):
        plan = fleet(AUV, {"well": {}, "position": {}, "depth": {}}, 105, world)
    acts = {100: [strike("dvl: dropout", "position"), strike("stern_plane: jam", "depth")]}
    return sailed(plan, acts)


def test_an_auv_that_does_not_know_where_it_is_comes_up_for_a_fix(auvs):
    vehicles, data = auvs
    assert alarms(vehicles["well"]) == []
    (came, text), (went, over) = alarms(vehicles["position"])
    assert (text, over) == ("failsafe position: surface", "failsafe position is over")
    own = data.sel(vehicle="position")
    deviation = own.estimate_deviation.values[:, :2].max(axis=1)
    frames = [round(10 * t) for t in (came, went)]
    assert deviation[frames[0] - 25] < 2.5 < deviation[frames[0]]  # two seconds of it
    assert own.depth.values[: frames[0]].min() > 9.0
    assert own.depth.values[frames[0] : frames[1]].min() < 0.5
    assert deviation[frames[1]] < 2.5


def test_an_auv_turns_round_within_its_fence_and_keeps_its_depth():
    """It cannot stop where it is: it was 32 m outside, astern, and the failsafe came and went in
    half seconds."""
    text = """
kind: scenario
name: corner
duration: 240
world: {name: bay, current: {speed: 0.3, towards_deg: 45}, seabed: {depth: 40}}
vehicles:
  - name: auv
    vehicle: remus100_mss
    feedback: truth
    sensors: []
    start: {position: [40, 0, 2], speed: 1.5}
    guidance: {fence: [[-30, -60], [120, -60], [120, 60], [-30, 60]]}
    mission: [{do: velocity, surge: 1.5, duration: 200, depth: 5}]
"""
    run = st.run(load_text(text, st.Scenario))
    told = alarms(run.summary.vehicles["auv"])
    assert told[0][1] == "failsafe fence: hold"
    assert np.diff([at for at, _ in told]).min() > 5.0
    own = run.dataset.isel(vehicle=0)
    north, east, depth = own.position.values.T
    assert north.max() < 120.0
    assert np.abs(east).max() < 60.0
    assert own.velocity.values[:, 0].min() > 1.0
    assert np.abs(depth[own.time.values > 40.0] - 5.0).max() < 0.3


def test_an_auv_with_a_jammed_plane_says_so_before_it_is_aground(auvs):
    vehicles, data = auvs
    lost = vehicles["depth"]
    (first, deep), (second, low) = alarms(lost)
    assert (deep, low) == ("failsafe depth: surface", "failsafe altitude: surface")
    depth = data.depth.sel(vehicle="depth").values
    assert depth[round(10 * first) - 10] == pytest.approx(5.0 + 1.2 * 10.0, abs=0.2)
    assert depth[round(10 * second) - 10] == pytest.approx(30.0 - 4.0, abs=0.5)
    assert second < lost.ended_at
    assert lost.status == "grounded"


def test_a_boat_with_a_weak_thruster_is_back_on_its_line_once_it_knows_how_weak():
    """Nothing measures the shaft. The allocation asked both alike and got less to port: with all
    that was left in use, the boat stayed 2.3 m off its line."""
    text = """
kind: scenario
name: weak
duration: 260
world: {name: bay, current: {speed: 0.2, towards_deg: 90}, seabed: {depth: 100}}
vehicles:
  - name: boat
    vehicle: otter
    feedback: truth
    sensors: []
    start: {position: [0, 0, 0], speed: 1.0}
    faults:
      - {target: left, kind: reduced, effectiveness: 0.4, start: 100}
    mission:
      - {do: goto, waypoints: [[1000, 0]], speed: 2.0}
"""
    run = st.run(load_text(text, st.Scenario))
    ((when, what),) = alarms(run.summary.vehicles["boat"])
    assert what == "failsafe actuator: warn"
    assert 110.0 < when < 135.0
    off = np.abs(run.recording.vehicle("boat")["cross_track_error"].values.ravel())
    time = run.dataset.time.values
    assert off[time > 100.0].max() > 1.0
    assert off[time > 240.0].max() < 0.2
