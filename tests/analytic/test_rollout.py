"""Reverse mode through a whole closed-loop run, against finite differences."""

import dataclasses
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sampling import sampled
from seatrial.compile.scenario import compile_scenario
from seatrial.engine.rollout import rollout
from seatrial.engine.run import run
from seatrial.record.memory import MemoryRecorder
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Scenario

PERIODS = 11
QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}
"""A program that runs once need not be fast."""


def mission(feedback):
    """An Otter that turns towards a waypoint a little to starboard, in a current; differences see
    the steps of sensors that round, derivatives do not, so these do not round."""
    return load_text(
        textwrap.dedent(f"""
        kind: scenario
        name: rollout
        duration: {PERIODS / 5}
        time_step: 0.04
        control_period: 0.2
        frame_period: 0.2
        world: {{name: stream, current: {{speed: 0.2, towards_deg: 120}}}}
        vehicles:
          - name: boat
            vehicle: otter
            feedback: {feedback}
            start: {{speed: 1.0}}
            sensors:
              - {{type: imu, name: imu, rate: 25, errors: adis16448, fidelity: nominal}}
              - {{type: compass, name: compass, rate: 5, fidelity: nominal}}
              - {{type: gnss, name: gnss, rate: 5, position: [-0.5, 0.0, -1.0], latency: 0.1}}
            mission:
              - {{do: goto, waypoints: [[30, 1]], speed: 1.2}}
    """),
        Scenario,
    )


def aimed(plan, x):
    """The group with its waypoint, its speed loop's gains and its start changed."""
    group = plan.fleets[0].group
    pilot = group.commander
    place = jnp.stack([x[0], x[1], 0.0 * x[0]])[:, None]
    gains = dataclasses.replace(
        pilot.autopilot.surge, pid=jax.tree.map(lambda a: a * x[2], pilot.autopilot.surge.pid)
    )
    return dataclasses.replace(
        group,
        commander=dataclasses.replace(
            pilot,
            mission=dataclasses.replace(
                pilot.mission, end=jnp.asarray(pilot.mission.end).at[0].set(place)
            ),
            autopilot=dataclasses.replace(pilot.autopilot, surge=gains),
        ),
    )


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("feedback", sampled(["truth", "estimate"], "truth"))
def test_a_rollout_is_the_run_and_its_gradients_are_those_of_differences(feedback):
    """Of where the boat ends, with respect to its waypoint and the gains of its speed loop, through
    sensors, guidance, control and allocation; with its own estimate also through the filter."""
    plan = compile_scenario(mission(feedback))
    ocean, schedule = plan.fleets[0].ocean, plan.schedule

    def final(x):
        states = rollout(aimed(plan, x), ocean, schedule, PERIODS)
        return jnp.sum(states.position[-1] * jnp.array([[1.0], [2.0], [0.0]])), states.position

    x = jnp.array([30.0, 1.0, 1.0])
    both = jax.jit(jax.value_and_grad(final, has_aux=True)).lower(x).compile(QUICK)
    (_, track), slope = both(x)
    memory = MemoryRecorder()
    run(plan, [memory])
    recorded = memory.recording().dataset.position.values[1:, 0]
    np.testing.assert_allclose(np.asarray(track)[:, :, 0], recorded, rtol=0, atol=1e-10)
    assert np.all(np.isfinite(slope))
    assert np.abs(slope).min() > 1e-6
    for i, step in enumerate((1e-3, 1e-3, 1e-4)):
        (ahead, _), _ = both(x.at[i].add(step))
        (back, _), _ = both(x.at[i].add(-step))
        difference = (float(ahead) - float(back)) / (2.0 * step)
        np.testing.assert_allclose(slope[i], difference, rtol=1e-4, atol=1e-8)


@pytest.mark.usefixtures("x64")
def test_what_is_kept_for_the_way_back_grows_slower_than_the_run():
    """A state per stretch of about the root of its length, not per control period."""
    plan = compile_scenario(load("remus100-dive", Scenario))
    fleet = plan.fleets[0]

    def kept(periods):
        def final(scale):
            initial = dataclasses.replace(
                fleet.group.initial, velocity=fleet.group.initial.velocity * scale
            )
            group = dataclasses.replace(fleet.group, initial=initial)
            return jnp.sum(rollout(group, fleet.ocean, plan.schedule, periods).position[-1])

        _, back = jax.eval_shape(lambda s: jax.vjp(final, s), jnp.float64(1.0))
        return sum(a.size * a.dtype.itemsize for a in jax.tree.leaves(back))

    assert kept(400) < 6.0 * kept(25)
