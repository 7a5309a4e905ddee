"""Values are arrays: seeds, seas, masses, gains, waypoints and fault times share one program.

A program belongs to the structure of its arguments: the pytrees with their static fields, and the
shapes and types of their arrays. Where these are equal nothing is compiled again.
"""

from functools import cache

import jax
import numpy as np
import pytest

import seatrial as st
from seatrial.compile import padding
from seatrial.compile.scenario import compile_scenario
from seatrial.engine.compiled.loop import begin

pytestmark = pytest.mark.usefixtures("x64")

VEHICLE = "vehicles", 0, "vehicle"
BIAS = {"kind": "bias", "target": "compass", "value": 0.1, "start": 10.0, "duration": 5.0}
LOSS = {"kind": "power_loss", "target": "left", "start": 20.0}
AREA = (0.0, 0.0), (80.0, 0.0), (75.0, 75.0), (0.0, 70.0)
DROPOUTS = {"kind": "loss_of_lock", "target": "gnss", "random": {"per_hour": 60.0, "duration": 5.0}}


def changed(name, edits):
    """A library scenario with numbers at some paths replaced, or multiplied by a function."""
    described = st.load(name).model_dump()
    for path, value in edits.items():
        place = described
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    return compile_scenario(st.Scenario.model_validate(described))


def by(factor):
    return lambda value: factor * value


def program_of(plan):
    """What a program is compiled for."""
    arguments = []
    for fleet in plan.fleets:
        carry, samples = jax.eval_shape(
            lambda group, ocean: begin(group, ocean, plan.schedule, None), fleet.group, fleet.ocean
        )
        arguments.append((fleet.group, fleet.ocean, carry, samples))
    leaves, structure = jax.tree.flatten(arguments)
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves], plan.schedule


@cache
def usual(name):
    return program_of(changed(name, {}))


CASES = [
    ("otter-turning-circle", {("seed",): 77}),
    ("otter-turning-circle", {("world", "waves", "significant_height"): by(1.4)}),
    ("otter-turning-circle", {("world", "waves", "peak_period"): by(1.1)}),
    ("otter-turning-circle", {("world", "waves", "towards"): 1.0}),
    ("otter-turning-circle", {("world", "wind", "speed"): 6.0, ("world", "wind", "towards"): 0.0}),
    ("otter-turning-circle", {(*VEHICLE, "inertia", "mass"): by(1.1)}),
    ("otter-turning-circle", {("vehicles", 0, "manoeuvre", "helm"): 0.3}),
    ("otter-turning-circle", {("vehicles", 0, "manoeuvre", "approach"): 12.0}),
    ("demo", {("seed",): 5}),
    ("demo", {("vehicles", 0, "commands", "left_rpm"): ((0.0, 800.0), (30.0, 600.0))}),
    ("wamv-crossing", {("seed",): 2}),
    ("wamv-crossing", {("world", "current", "speed"): 0.3}),
    (
        "wamv-crossing",
        {("vehicles", 1, "commands", "left"): ((0.0, 300.0), (9.0, 330.0), (18.0, 300.0))},
    ),
    ("otter-survey", {("seed",): 9}),
    ("otter-survey", {("world", "seabed", "depth"): 14.0}),
    ("otter-survey", {("vehicles", 0, "mission", 0, "area"): AREA}),
    ("otter-survey", {("vehicles", 0, "mission", 0, "spacing"): 16.0}),
    ("otter-survey", {("vehicles", 0, "mission", 1, "duration"): 40.0}),
    ("otter-survey", {("vehicles", 0, "guidance", "lookahead"): 7.0}),
    ("remus100-survey", {("seed",): 3}),
    ("remus100-survey", {("world", "seabed", "depth"): 55.0}),
    ("otter-crossing", {("obstacles", 0, "vessel", "speed"): 1.4}),
    ("otter-crossing", {("obstacles", 1, "polygon", "margin"): 4.0}),
    ("smarty-swarm", {("seed",): 4}),
]


def label(case):
    name, edits = case
    return f"{name}: {', '.join(str(path[-1]) for path in edits)}"


@pytest.mark.parametrize(("name", "edits"), CASES, ids=map(label, CASES))
def test_another_value_is_the_same_program(name, edits):
    assert program_of(changed(name, edits)) == usual(name)


@pytest.mark.parametrize("fault", [BIAS, LOSS], ids=["sensor", "actuator"])
def test_a_fault_at_another_time_is_the_same_program(fault):
    faults = ("vehicles", 0, "faults")
    later = fault | {"start": 33.0}
    assert program_of(changed("otter-survey", {faults: [fault]})) == program_of(
        changed("otter-survey", {faults: [later]})
    )


def test_random_faults_of_another_seed_are_the_same_program():
    faults = {("vehicles", 0, "faults"): [DROPOUTS]}
    plans = [changed("otter-survey", faults | {("seed",): seed}) for seed in (1, 2, 3)]
    starts = [np.asarray(plan.fleets[0].group.faults.triggers[0].start) for plan in plans]
    assert len({int(np.isfinite(start).sum()) for start in starts}) > 1  # they do differ
    assert len({start.shape for start in starts}) == 1
    assert program_of(plans[0]) == program_of(plans[1]) == program_of(plans[2])


def test_seeds_stack_into_one_batch():
    fleets = [changed("otter-turning-circle", {("seed",): seed}).fleets[0] for seed in range(5)]
    stacked = jax.tree.map(
        lambda *leaves: np.stack(leaves), *((fleet.group, fleet.ocean) for fleet in fleets)
    )
    group, ocean = stacked
    assert ocean.waves.phase.shape[0] == 5
    assert group.model.excitation.table.shape[0] == 5
    assert len(np.unique(ocean.waves.phase[:, 0])) == 5


MISSION = """
kind: scenario
name: padded
duration: 12
world: {name: calm, water: {profile: constant, temperature: 10, salinity: 35}}
obstacles:
  - vessel:
      position: [20, 30]
      length: 8
      beam: 2.5
      waypoints:
        - {time: 5, position: [20, 25]}
        - {time: 10, position: [20, 15]}
        - {time: 15, position: [20, 10]}
        - {time: 40, position: [20, -30]}
  - polygon: {corners: [[30, -6], [40, -6], [40, 6], [30, 6]], margin: 1}
vehicles:
  - name: otter
    vehicle: otter
    feedback: truth
    sensors: []
    start: {speed: 1.5}
    avoidance: {}
    guidance: {fence: [[-40, -40], [80, -40], [80, 40], [-40, 40]]}
    faults:
      - {target: left, kind: reduced, effectiveness: 0.8, start: 3, duration: 4}
    mission:
      - {do: goto, waypoints: [[5, 1], [10, -1], [30, 20], [60, 0]], speed: 1.5, acceptance: 2}
  - name: other
    vehicle: otter
    start: {position: [0, -80, 0]}
    sensors: []
    commands: {left_rpm: [[0, 100], [2, 600], [5, 300]], right_rpm: [[0, 200], [4, 500]]}
"""


def test_room_for_more_changes_nothing(monkeypatch, tmp_path):
    """Everything there comes in fours, which need no room; with room every number is the same."""
    file = tmp_path / "padded.yaml"
    file.write_text(MISSION)
    tracks = []
    for least in (4, 16):
        monkeypatch.setattr(padding, "LEAST", least)
        plan = compile_scenario(st.load(str(file)))
        pilot, timetable = (fleet.group.commander for fleet in plan.fleets)
        for rows in (pilot.mission.kind, pilot.fence, pilot.avoidance.targets.since):
            assert len(rows) == least
        assert len(timetable.times) == least
        assert len(pilot.avoidance.polygons.offset) == max(8, least)
        tracks.append(st.run(plan).dataset)
    for name in ("position", "attitude", "velocity", "command", "leg"):
        np.testing.assert_array_equal(tracks[0][name].values, tracks[1][name].values)
    assert np.nanmax(tracks[0]["leg"].values) >= 1


def test_rooms_are_the_powers_of_two_from_four_on():
    assert [padding.room_for(n) for n in (0, 1, 4, 5, 8, 9, 100)] == [4, 4, 4, 8, 8, 16, 128]
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert padding.with_room(rows).tolist() == [[1, 2], [3, 4], [3, 4], [3, 4]]
    assert padding.with_room(rows, np.inf)[2:].tolist() == [[np.inf, np.inf]] * 2
