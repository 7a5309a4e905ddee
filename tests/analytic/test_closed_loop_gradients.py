"""Reverse mode through a closed loop: sensors, filter, guidance, autopilot, allocation, hull."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import fleet
from seatrial.compile.scenario import plan_of
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

PERIODS = 15
STEP = 1e-5

OTTER = """
kind: scenario
name: gradients
duration: 5
time_step: 0.02
control_period: 0.2
frame_period: 0.2
vehicles:
  - name: boat
    vehicle: otter
    start: {speed: 1.0}
    avoidance: {}
    sensors:
      - {type: imu, name: imu, rate: 50, errors: adis16448}
      - {type: compass, name: compass, rate: 5}
      - {type: gnss, name: gnss, rate: 5, position: [-0.5, 0.0, -1.0], latency: 0.1}
      - {type: ais, name: ais, position: [-0.5, 0.0, -1.0], contacts: 2}
    mission:
      - {do: goto, waypoints: [[60, 25]], speed: 1.2}
"""
REMUS = """
kind: scenario
name: gradients
duration: 5
time_step: 0.02
control_period: 0.2
frame_period: 0.2
vehicles:
  - name: auv
    vehicle: remus100
    feedback: truth
    sensors: []
    start: {position: [0, 0, 10], speed: 1.5}
    mission:
      - {do: goto, waypoints: [[60, 25, 14]]}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("text", [OTTER, REMUS], ids=["otter by its filter", "remus by the truth"])
def test_the_derivative_of_where_a_pilot_gets_to_is_that_of_differences(text):
    """By the start, the waypoint and a gain at once, after fifteen control periods."""
    plan = plan_of(load_text(text, Scenario))
    (squad,) = plan.squads
    group = squad.group
    pull = jnp.asarray([[0.7], [-0.4], [0.2]])

    def loss(start, waypoint, gain):
        pilot = group.commander
        surge = dataclasses.replace(
            pilot.autopilot.surge, bandwidth=pilot.autopilot.surge.bandwidth * gain
        )
        changed = dataclasses.replace(
            group,
            initial=dataclasses.replace(group.initial, velocity=group.initial.velocity + start),
            commander=dataclasses.replace(
                pilot,
                mission=dataclasses.replace(pilot.mission, end=pilot.mission.end + waypoint),
                autopilot=dataclasses.replace(pilot.autopilot, surge=surge),
            ),
        )
        ships, _ = fleet.sail(
            (changed,), (squad.ocean,), plan.schedule, PERIODS, sizes=((2.0, 1.08),)
        )
        return jnp.sum(pull * ships[0].state.position)

    at = (jnp.zeros((6, 1)), jnp.zeros((1, 3, 1)), jnp.asarray(1.0))
    along = (
        jnp.asarray([[0.3], [0.1], [0.02], [0.0], [0.01], [0.05]]),
        jnp.asarray([[[2.0], [-5.0], [0.5]]]),
        jnp.asarray(0.3),
    )
    whole = jax.jit(loss)
    parts = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*at)
    for part in parts:
        assert np.all(np.isfinite(part))
    for k in range(3):
        forth, back = (
            float(whole(*(a + side * STEP * d if i == k else a
                          for i, (a, d) in enumerate(zip(at, along, strict=True)))))
            for side in (1.0, -1.0)
        )  # fmt: skip
        slope = float(jnp.sum(parts[k] * along[k]))
        assert abs(slope) > 1e-6
        assert slope == pytest.approx((forth - back) / (2.0 * STEP), rel=1e-4, abs=1e-8)
