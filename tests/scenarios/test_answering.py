"""Which vehicles are told that they do not answer their orders: those with a broken actuator."""

import numpy as np
import pytest

import seatrial as st

CALM = {"name": "w", "seabed": {"depth": 80}}
ROUGH = CALM | {"waves": {"spectrum": "sea_state", "code": 3}}


def sail(vehicle, mission, duration, start=(0, 0, 0), world=CALM, faults=()):
    """A run with the truth fed back, and what was said of actuators."""
    boat = {"name": "b", "vehicle": vehicle, "feedback": "truth", "mission": mission}
    boat |= {"start": {"position": list(start)}, "faults": list(faults)}
    scenario = st.Scenario(
        kind="scenario", name="s", seed=0, duration=duration, world=world, vehicles=[boat]
    )
    run = st.run(scenario)
    told = [(e.time, e.text) for e in run.summary.vehicles["b"].events if "actuator" in e.text]
    return run, told


@pytest.mark.parametrize(
    ("vehicle", "mission", "duration", "start", "world"),
    [
        # Slips in her turns: by drag along single axes half of her yawing moment was missing.
        (
            "kvlcc2_l7",
            {"do": "goto", "waypoints": [[150, 0], [150, 150], [0, 150]]},
            400,
            (0, 0, 0),
            CALM,
        ),
        # Leans on its buoyancy as it comes up.
        ("remus100_mss", {"do": "surface", "acceptance": 0.05}, 110, (0, 0, 8), CALM),
        # Is thrown about by waves right under the surface.
        (
            "remus100_x",
            {"do": "loiter", "centre": [30, 0], "radius": 39, "turns": 9, "depth": 0.2},
            100,
            (0, 0, 0.2),
            ROUGH,
        ),
    ],
)
def test_what_a_well_vehicle_meets_is_not_its_actuators_fault(
    vehicle, mission, duration, start, world
):
    _, told = sail(vehicle, [mission], duration, start, world)
    assert told == []


def test_a_dead_thruster_of_an_rov_is_found_by_what_it_does_not_make():
    """No shaft tells, and there are thrusters enough to go on: it rolled by 48°."""
    mission = [
        {"do": "goto", "waypoints": [[10, 0, 8], [10, 8, 4]]},
        {"do": "hold", "position": [5, 5, 6], "heading_deg": 200, "duration": 60},
    ]
    world = {"name": "w", "seabed": {"depth": 40}, "current": {"speed": 0.2, "towards_deg": 60}}
    dead = {"target": "rear_starboard", "kind": "power_loss", "start": 40}
    run, told = sail("bluerov2_heavy", mission, 150, (0, 0, 5), world, [dead])
    ((when, what),) = told
    assert what == "failsafe actuator: warn"
    assert 41.0 < when < 60.0
    tilt = np.degrees(np.abs(run.dataset.euler.values[:, 0, :2]))
    assert tilt.max() < 25.0
    assert tilt[run.dataset.time.values > 70.0].max() < 8.0
