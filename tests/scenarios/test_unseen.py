"""Vehicles that find their way by ranging sensors among solids that no chart has."""

import numpy as np
import pytest

import seatrial as st


def clear_of(run, plan):
    """Least distance from the vehicle's origin to the skin of a pile, m."""
    track = run.dataset.position.values[:, 0, :2]
    piles = [b for b in plan.scene.bodies if b.kind == "pile"]
    places = np.array([b.position[:2] for b in piles])
    apart = np.linalg.norm(track[:, None] - places, axis=2).min()
    return apart - piles[0].radius


@pytest.mark.parametrize(
    ("name", "half_beam", "seeds"),
    [("otter-piles", 0.54, (1, 2, 3, 4)), ("bluerov2-piles", 0.3, (1, 3))],
)
def test_goals_behind_piles_are_reached_without_a_touch_for_every_seed(name, half_beam, seeds):
    aside = []
    for seed in seeds:
        scenario = st.load(name).model_copy(update={"seed": seed})
        run = st.run(scenario)
        end = run.summary.vehicles[scenario.vehicles[0].name]
        assert end.status == "completed", (seed, end.events)
        assert [e.outcome for e in end.events] in (["reached"], ["passed"]), seed
        assert clear_of(run, st.compile_scenario(scenario)) > half_beam + 0.3
        aside.append(np.abs(run.dataset.position.values[:, 0, 1]).max())
    # The straight line is blocked in some of them, or nothing would have been shown; one goes
    # round the whole field.
    assert 0.5 < max(aside) < 40.0


def test_the_same_boat_without_its_lidar_runs_into_a_pile():
    scenario = st.load("otter-piles")
    blind = scenario.vehicles[0].model_copy(update={"sensors": ()})
    run = st.run(scenario.model_copy(update={"vehicles": (blind,), "seed": 4}))
    assert run.summary.vehicles["otter"].status == "collided"


def test_the_maze_is_left_by_its_lidar_and_steps_are_as_a_whole_run():
    scenario = st.load("otter-maze")
    run = st.run(scenario)
    end = run.summary.vehicles["otter"]
    assert end.status == "completed"
    assert len(end.events) == len(scenario.vehicles[0].mission[0].waypoints)
    simulation = st.Simulation(scenario)
    for _ in range(300):
        state = simulation.step()["otter"]
    track = run.dataset.position.sel(vehicle="otter")
    np.testing.assert_array_equal(track.sel(time=simulation.time, method="nearest"), state.position)
