"""Navigation filters built from descriptions, on runs of whole vehicles with their sensors."""

from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import seatrial as st
from seatrial.cli.recordings.navigate import show_navigation
from seatrial.compile.autonomy.navigation.deviations import MEMORY, lasting
from seatrial.compile.autonomy.navigation.navigator import build_navigator, first_estimate
from seatrial.compile.autonomy.navigation.twin import build_twin
from seatrial.compile.surroundings.world import build_ocean
from seatrial.core.step import step
from seatrial.core.types import State
from seatrial.errors import SpecError
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3
from seatrial.spec.loading import load, load_text
from seatrial.spec.navigation import Navigation
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World
from seatrial.validation.navigation import navigate

BASIN = """
kind: scenario
name: basin
duration: 40
vehicles:
  - name: sookshma
    vehicle: sookshma
    start: {position: [-4.0, -4.0, 0.0], speed: 0.4}
    commands: {propeller_rpm: 500, rudder_deg: [[0, 10], [20, -12]]}
    sensors:
      - {type: imu, name: imu, rate: 50, errors: adis16448}
      - {type: ahrs, name: ahrs, rate: 10}
      - type: uwb
        name: uwb
        rate: 10
        position: [0.0, 0.0, -0.3]
        anchors: [[-15, -15, -2], [-15, 15, -2.5], [15, 15, -2], [15, -15, -2.5]]
        shadows: [{anchor: 3, low: [-15, -6.5, -5], high: [15, -5.5, 5], detour: 2.0}]
"""


@cache
def _basin():
    scenario = load_text(BASIN, Scenario)
    return st.run(scenario).recording, scenario


def _navigated(smooth=False, **options):
    recording, scenario = _basin()
    described = Navigation.model_validate(options)
    return navigate(recording, scenario, "sookshma", described, smooth=smooth)


def _settled_jump(result):
    """Largest change of the error between frames once the errors of the start are gone."""
    late = result.error[result.time > 5.0]
    return np.linalg.norm(np.diff(late, axis=0), axis=1).max()


def test_a_hidden_anchor_does_not_make_the_track_of_the_error_state_filter_jump():
    gated = _navigated()
    assert gated.report()["horizontal_error_rms_m"] < 0.1
    assert _settled_jump(gated) < 0.15
    assert gated.nis["uwb 3"].rejected > 0.03  # the hidden one
    assert max(gated.nis[f"uwb {i}"].rejected for i in (1, 2, 4)) < 0.01
    # Mean of 400 correlated errors of a filter with simplified models: of the right size.
    assert 1.0 < gated.nees < 6.0


def test_the_track_of_the_direct_filter_without_gates_jumps_as_it_did_in_the_basin():
    jumping, steady = _navigated(filter="direct", gate=1.0), _navigated()
    assert _settled_jump(jumping) > 1.0
    assert _settled_jump(steady) < 0.2 * _settled_jump(jumping)
    rms = [r.report()["horizontal_error_rms_m"] for r in (jumping, steady)]
    assert rms[1] < 0.3 * rms[0]


def test_smoothing_a_recording_halves_its_errors_and_draws_a_figure(tmp_path: Path):
    filtered, smoothed = _navigated(), _navigated(smooth=True)
    rms = [r.report()["horizontal_error_rms_m"] for r in (filtered, smoothed)]
    assert rms[1] < 0.5 * rms[0]
    recorded = tmp_path / "basin.mcap"
    st.run(_basin()[1], duration=5.0, out=recorded)
    show_navigation(recorded, None, False, True, tmp_path / "basin.png")
    assert (tmp_path / "basin.png").stat().st_size > 20_000


def test_the_twin_predicts_the_velocity_through_the_water_in_any_uniform_current():
    with jax.enable_x64(True):
        world = World.model_validate(
            {"kind": "world", "name": "w", "current": {"speed": 0.7, "towards": 2.0}}
        )
        vehicle = load("remus100", Vehicle)
        dtype = np.dtype(np.float64)
        ocean = build_ocean(world, 0, dtype)
        twin = build_twin(vehicle, ocean)
        current = 0.7 * np.array([np.cos(2.0), np.sin(2.0), 0.0])
        orders = jnp.asarray([5.0, 0.1, -0.05])[:, None]
        state = State(
            jnp.asarray([[0.0], [0.0], [20.0]]),
            jnp.asarray([[1.0], [0.0], [0.0], [0.0]]),
            jnp.concatenate([jnp.asarray(current)[:, None], jnp.zeros((3, 1))]),
            jnp.zeros((twin.states, 1)),
        )  # adrift: at rest in the water

        @jax.jit
        def both(state, memory):
            drifting = Estimate(state.position, state.attitude, state.velocity, state.position)
            memory = twin.advance(memory, drifting, orders, 0.1)
            for _ in range(5):
                state = step(twin.model, ocean, state, orders, jnp.zeros(()), 0.02)
            return state, memory

        memory = twin.begin(jnp.zeros((6, 1)))
        worst = 0.0
        for _ in range(300):
            state, memory = both(state, memory)
            water = jnp.stack(rotation(state.attitude).to_body(vec3(jnp.asarray(current)[:, None])))
            apart = twin.velocity(memory)[:3] - (state.velocity[:3] - water)
            worst = max(worst, float(jnp.abs(apart).max()))
        assert float(jnp.abs(twin.velocity(memory)[0, 0])) > 0.8  # under way
        assert worst < 2e-3


@pytest.mark.parametrize("name", ["remus100", "remus100_mss", "bluerov2"])
def test_the_twin_of_a_vehicle_on_a_crest_floats_there(name):
    """An estimate above the level of still water is one on a wave. In the air above that level the
    twin fell, faster and faster, and what it said of the velocity was no number in the end."""
    with jax.enable_x64(True):
        ocean = build_ocean(
            World.model_validate({"kind": "world", "name": "w"}), 0, np.dtype(float)
        )
        twin = build_twin(load(name, Vehicle), ocean)
        level = jnp.zeros((4, 1)).at[0].set(1.0)
        crest = jnp.asarray([[0.0], [0.0], [-1.0]])
        believed = Estimate(crest, level, jnp.zeros((6, 1)), jnp.zeros((3, 1)))
        orders = jnp.zeros((twin.model.channels, 1))
        memory = jax.lax.fori_loop(
            0,
            300,
            lambda _, m: twin.advance(m, believed, orders, 0.1),
            twin.begin(jnp.zeros((6, 1))),
        )
        # One that is trimmed for deeper water sinks a little in that of the surface.
        assert float(jnp.abs(twin.velocity(memory)).max()) < 0.1


def test_a_surface_craft_knows_that_it_floats():
    scenario = load_text(
        """
kind: scenario
name: afloat
duration: 40
vehicles:
  - name: otter
    vehicle: otter
    commands: {left_rpm: 60, right_rpm: 50}
    sensors:
      - {type: imu, name: imu, rate: 50, errors: adis16448}
      - {type: compass, name: compass, rate: 10}
      - {type: speed_log, name: log, rate: 5, position: [0, 0, 0.1]}
""",
        Scenario,
    )
    result = navigate(st.run(scenario).recording, scenario, "otter")
    assert result.report()["depth_error_rms_m"] < 0.5
    assert "floating" in result.nis


def _refusal(described, sensors):
    vehicle = load("remus100", Vehicle)
    scenario = load("remus100-dive", Scenario)
    infos = {s.name: s for s in st.compile_scenario(scenario).header.vehicles[0].sensors}
    chosen = tuple(s for s in vehicle.sensors if s.name in sensors)
    with jax.enable_x64(True):
        ocean = build_ocean(scenario.world, 0, np.dtype(np.float64))
        with pytest.raises(SpecError) as refused:
            build_navigator(
                Navigation.model_validate(described),
                chosen,
                tuple(infos[s.name] for s in chosen),
                vehicle,
                scenario.world,
                ocean,
                0.1,
            )
    return str(refused.value)


def test_what_cannot_navigate_is_refused_with_what_is_missing():
    assert "an IMU on the vehicle" in _refusal({}, ["gnss"])
    said = _refusal({"aids": [{"sensor": "battery"}]}, ["imu", "battery"])
    assert "`battery` cannot aid" in said
    assert "`type: ahrs`" in _refusal({"filter": "direct"}, ["imu", "gnss"])
    dynamics = {"filter": "direct", "dynamics": {}}
    assert "filter: error_state" in _refusal(dynamics, ["imu", "ahrs"])


def test_errors_of_the_start_are_drawn_for_every_vehicle_from_its_own_stream():
    described = Navigation.model_validate({"start": {"position": 2.0}})

    def told(names):
        with jax.enable_x64(True):
            level = np.zeros((4, len(names)))
            level[0] = 1.0
            zeros = np.zeros((6, len(names)))
            told = first_estimate(described, zeros[:3], level, zeros, zeros[0], 4, names)
            return jax.tree.map(np.asarray, told)

    one, two = told(("a",)), told(("b", "a"))
    np.testing.assert_array_equal(one.position[:, 0], two.position[:, 1])
    many = told(tuple(f"v{i}" for i in range(500)))
    # A standard deviation from 1500 numbers: false alarm 0.1 % at 3.3 of its own, 1/√3000.
    assert abs(np.std(many.position) / 2.0 - 1.0) < 3.3 / np.sqrt(3000)
    np.testing.assert_allclose(np.linalg.norm(many.attitude, axis=0), 1.0, atol=1e-12)


def test_a_vehicle_is_told_to_drift_with_whatever_is_not_its_own_way_through_the_water():
    described = Navigation.model_validate(
        {"start": {"position": 0.0, "velocity": 0.0, "tilt": 0.0, "heading": 0.0}}
    )
    with jax.enable_x64(True):
        east = np.array([[np.sqrt(0.5)], [0.0], [0.0], [np.sqrt(0.5)]])  # heading
        # 1.5 m/s ahead through water that flows to the north by 0.3 m/s and rises with a wave.
        moving = np.array([[1.5], [-0.3], [-0.2], [0.0], [0.0], [0.0]])
        told = first_estimate(described, np.zeros((3, 1)), east, moving, np.array([1.5]), 4, ("a",))
    np.testing.assert_allclose(np.asarray(told.current)[:, 0], [0.3, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(np.asarray(told.velocity), moving, atol=1e-12)


def test_a_lasting_error_counts_as_white_noise_that_leaves_as_much_after_the_memory():
    period = 0.1
    samples = MEMORY / period
    np.testing.assert_allclose(lasting(0.3, 0.0, 100.0, period), 0.3)
    np.testing.assert_allclose(lasting(0.0, 0.3, 100.0, period) / np.sqrt(samples), 0.3)
    # One that is gone from sample to sample is white already.
    np.testing.assert_allclose(lasting(0.0, 0.3, 0.01, period), 0.3)
