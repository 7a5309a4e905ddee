"""Vehicles that touch bodies and each other in a run: events, statuses, refusals, who pushes."""

import re

import numpy as np
import pytest

import seatrial as st
from seatrial.errors import SpecError

QUAY = {"name": "quay", "wall": {"points": [[12, -10], [12, 10]], "height": 4}}
AHEAD = {"left_rpm": 500, "right_rpm": 500}
A = {"name": "a", "vehicle": "otter", "start": {"position": [6, 0, 0], "speed": 0.5},
     "commands": AHEAD}  # fmt: skip
B = {"name": "b", "vehicle": "otter", "start": {"position": [2, 0.2, 0]}, "commands": AHEAD}


def run(*vehicles, duration=16.0, bodies=(QUAY,), **keys):
    world = {"name": "w", "seabed": {"depth": 6}, "bodies": list(bodies)}
    return st.run(
        st.Scenario(name="touch", duration=duration, world=world, vehicles=list(vehicles), **keys)
    )


@pytest.fixture(scope="module")
def pushing():
    return run(A, B, vehicles_touch=True)


def test_a_boat_that_runs_into_a_quay_stays_before_it_and_an_event_tells_where(pushing):
    track = pushing.dataset.position.sel(vehicle="a").values
    # half the wall, and the hull, whose middle lies 0.2 m aft of the origin
    assert 12 - 0.1 - 0.8 - 0.05 < track[:, 0].max() < 12 - 0.1 - 0.8 + 0.05
    first = next(e for e in pushing.summary.vehicles["a"].events if "quay" in e.text)
    assert first.outcome == "touched"
    assert first.text.startswith("touched quay at 11.9 m north")
    assert "N s" in first.text
    assert pushing.summary.vehicles["a"].status == "completed"


def test_boats_push_each_other_and_do_not_pass_through(pushing):
    a, b = (pushing.dataset.position.sel(vehicle=n).values[:, :2] for n in "ab")
    apart = np.linalg.norm(a - b, axis=1)
    assert apart.min() > 1.07  # beside each other at the least: they are 1.08 m wide
    assert any("touched a" in e.text for e in pushing.summary.vehicles["b"].events)
    assert any("touched b" in e.text for e in pushing.summary.vehicles["a"].events)


def test_boats_of_a_run_that_does_not_ask_for_it_pass_through_each_other():
    alone = run(A | {"commands": {}}, B, bodies=(), duration=12.0)
    assert not alone.summary.vehicles["a"].events
    a, b = (alone.dataset.position.sel(vehicle=n).values for n in "ab")
    assert (b - a)[-1, 0] > 0.0


def test_a_touch_ends_the_run_where_it_is_a_collision_and_a_soft_one_does_not():
    ended = run(A, stop_when_collided=True, duration=10.0)
    assert ended.summary.vehicles["a"].status == "collided"
    assert ended.summary.duration < 10.0
    soft = run(A, stop_when_collided=True, collision_impulse=500.0, duration=10.0)
    assert soft.summary.vehicles["a"].status == "completed"
    assert any("quay" in e.text for e in soft.summary.vehicles["a"].events)
    hard = run(A, stop_when_collided=True, collision_impulse=5.0, duration=10.0)
    assert hard.summary.vehicles["a"].status == "collided"


def test_vehicles_of_two_kinds_push_each_other_too():
    ship = {"name": "big", "vehicle": "wamv", "start": {"position": [10, 0.3, 0]}}
    met = run(A | {"start": {"position": [4, 0, 0], "speed": 1.0}}, ship, bodies=(),
              vehicles_touch=True, duration=14.0, control_period=0.02)  # fmt: skip
    boat, big = (met.dataset.position.sel(vehicle=n).values for n in ("a", "big"))
    assert (big - boat)[:, 0].min() > 1.5  # of half their lengths, 3.05 m at the bow and the stern
    assert big[-1, 0] > 10.2  # and the smaller pushes the larger along
    assert boat[-1, 0] > 4.5
    # What acts on the one acts on the other.
    told = [met.summary.vehicles[n].events[0].text for n in ("a", "big")]
    felt = [float(re.search(r"([\d.e+]+) N s", text)[1]) for text in told]
    assert felt[0] == pytest.approx(felt[1], rel=0.01)
    assert felt[0] > 400.0


def test_steps_and_blocks_end_a_collision_at_the_same_instant():
    scenario = st.Scenario(
        name="touch", duration=8.0, stop_when_collided=True, vehicles=[A],
        world={"name": "w", "seabed": {"depth": 6}, "bodies": [QUAY]},
    )  # fmt: skip
    whole = st.run(scenario)
    simulation = st.Simulation(scenario, record=True)
    while simulation.vehicles["a"].status == "running":
        simulation.step()
    simulation.step()  # the frame after the blow tells of it
    stepped = simulation.finish()
    ends = [r.summary.vehicles["a"].ended_at for r in (whole, stepped)]
    assert ends[0] == ends[1] < 8.0
    assert whole.summary.vehicles["a"].events == stepped.summary.vehicles["a"].events


def test_a_vehicle_that_begins_within_a_body_is_refused():
    with pytest.raises(SpecError, match="deep in `quay`"):
        run(A | {"start": {"position": [11.5, 0, 0]}})
    with pytest.raises(SpecError, match="set that too"):
        run(A, collision_impulse=4.0)


def test_vehicles_that_begin_within_each_other_are_refused_where_they_push_each_other():
    """They stayed locked together, and told five million newton seconds."""
    a, b = ({"name": n, "vehicle": "otter"} for n in "ab")
    overlapping = b | {"start": {"position": [0.8, 0.2, 0]}}
    with pytest.raises(SpecError, match=r"`b` begins 0\.\d+ m deep in `a`") as refused:
        run(a, overlapping, vehicles_touch=True, duration=1.0)
    assert "vehicles[1].start.position" in str(refused.value)
    assert run(a, overlapping, bodies=(), duration=1.0).status == "completed"
    beside = b | {"start": {"position": [0.3, 1.1, 0]}}
    assert run(a, beside, vehicles_touch=True, duration=1.0).status == "completed"
    turned = b | {"start": {"position": [0.3, 1.1, 0], "heading_deg": 45}}
    with pytest.raises(SpecError, match="deep in `a`"):
        run(a, turned, vehicles_touch=True, duration=1.0)
    deeper = {"name": "d", "vehicle": "remus100", "start": {"position": [0.3, 0.2, 3.0]}}
    assert run(a, deeper, vehicles_touch=True, duration=1.0).status == "completed"


def packed(duration, **keys):
    """Two hundred boats between walls that leave each of them hardly more than its own size."""
    corners = [[-17, -17], [17, -17], [17, 17], [-17, 17], [-17, -17]]
    return st.run(
        st.Scenario(
            name="basin",
            duration=duration,
            frame_period=1.0,
            integrator="semi_implicit",
            time_step=0.05,
            vehicles_touch=True,
            world={
                "name": "basin",
                "seabed": {"depth": 5},
                "wind": {"speed": 12, "towards_deg": 40},
                "bodies": [{"name": "basin", "wall": {"points": corners, "height": 4}}],
            },
            vehicles=[
                {"name": "boat", "vehicle": "otter", "count": 200, "formation": "grid",
                 "spacing": 2.2, "sensors": [], "commands": {"left_rpm": 100, "right_rpm": 80}}
            ],
        )
    )  # fmt: skip


def settled(run):
    """What must hold of boats that are pressed together."""
    track = run.dataset.position.values
    assert np.isfinite(track).all()
    assert np.abs(track[..., :2]).max() < 17.0  # nobody has left through a wall
    assert max(v.speed_max for v in run.summary.vehicles.values()) < 2.0
    assert {v.status for v in run.summary.vehicles.values()} == {"completed"}


def test_two_hundred_boats_packed_in_a_basin_stay_there():
    settled(packed(5.0))
