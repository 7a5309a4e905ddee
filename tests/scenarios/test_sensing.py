"""Sensors inside the compiled run: their rates, delays and streams, in blocks and stepped."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import seatrial as st
from seatrial.compile.scenario import plan_of
from seatrial.engine.compiled.suite import Fitted
from seatrial.engine.plan import Plan
from seatrial.engine.run import run
from seatrial.pytree import pytree
from seatrial.sensors.noise import draws
from seatrial.sensors.sensor import Reading

TIME_STEP = 0.02


@pytree
class Clock:
    """Gives the time, one random number, and how often it was asked."""

    @property
    def draws(self):
        return 1

    @property
    def starting_draws(self):
        return 1

    def begin(self, draws):
        return jnp.zeros_like(draws)

    def measure(self, memory, look, draws):
        count = memory + 1.0
        x = look.state.position[0]
        level = look.rotation.r22  # what sensors of several rates look at, each in its own branch
        values = jnp.stack([jnp.full_like(x, look.t), draws[0], count[0], x * level])
        return Reading(count, values, jnp.ones(x.shape, bool))


def clock(period: int, name: str, count: int = 1, latency: float = 0.0, jitter: float = 0.0):
    keys = jnp.stack([jnp.asarray(draws.key(3, f"{name}/{i}")) for i in range(count)], axis=-1)
    late = jnp.stack([jnp.asarray(draws.key(3, f"late/{name}/{i}")) for i in range(count)], axis=-1)
    return Fitted(
        sensor=Clock(),
        keys=keys,
        latency=jnp.asarray(latency),
        jitter=jnp.asarray(jitter) if jitter else None,
        jitter_keys=late if jitter else None,
        faults=(),
        size=4,
        period=period,
        interval=period * TIME_STEP,
        inertial=False,
    )


def plan_with(suite: dict[str, Fitted], **changes) -> Plan:
    scenario = st.load("otter-turning-circle", st.Scenario).model_copy(
        update={"duration": 12.0, "time_step": TIME_STEP} | changes
    )
    bare = scenario.vehicles[0].model_copy(update={"sensors": ()})
    plan = plan_of(scenario.model_copy(update={"vehicles": (bare,)}))
    fleet = plan.fleets[0]
    group = dataclasses.replace(fleet.group, suite=tuple(suite.values()))
    return dataclasses.replace(
        plan, fleets=(dataclasses.replace(fleet, group=group, sensors=tuple(suite)),)
    )


class Collector:
    def __init__(self):
        self.parts = {}

    def open(self, header, scene):
        pass

    def write(self, frames):
        for name, found in frames.groups[0].measurements.items():
            self.parts.setdefault(name, []).append(found.pick(0))

    def close(self, summary):
        pass


def measured(plan):
    sink = Collector()
    run(plan, [sink])
    return {name: st.signals.join(parts) for name, parts in sink.parts.items()}


PERIODS = {
    "every_step": 1,
    "fast": 2,
    "awkward": 3,
    "frame": 5,
    "slow": 7,
    "slower": 50,
    "gnss": 60,
}


def test_every_sensor_samples_at_the_multiples_of_its_own_period_and_no_other_time():
    with jax.enable_x64(True):
        found = measured(plan_with({n: clock(p, n) for n, p in PERIODS.items()}))
    for name, period in PERIODS.items():
        expected = np.arange(0, 12.0 + 1e-9, period * TIME_STEP)
        np.testing.assert_allclose(found[name].time, expected, atol=1e-12)
        np.testing.assert_allclose(found[name].values[:, 0], expected, atol=1e-12)
        np.testing.assert_array_equal(found[name].values[:, 2], np.arange(1, len(expected) + 1))
        assert found[name].valid.all()


def test_a_sensor_gives_the_same_bytes_beside_others_in_other_frames_and_when_stepped():
    with jax.enable_x64(True):
        alone = measured(plan_with({"slow": clock(7, "slow")}))["slow"]
        suite = {n: clock(p, n) for n, p in PERIODS.items()}
        beside = measured(plan_with(suite))["slow"]
        longer = measured(plan_with(suite, frame_period=0.5))["slow"]
        plan = plan_with(suite)
    np.testing.assert_array_equal(alone.values, beside.values)
    np.testing.assert_array_equal(alone.values[: len(longer.values)], longer.values)
    simulation = st.Simulation(plan)
    parts = [simulation.measurements["otter"]["slow"]]
    for _ in range(60):
        simulation.step()
        parts.append(simulation.measurements["otter"]["slow"])
    stepped = st.signals.join(parts)
    count = len(stepped.time)
    assert count > 40
    np.testing.assert_array_equal(stepped.values, alone.values[:count])
    np.testing.assert_allclose(stepped.time, alone.time[:count], atol=1e-12)


def test_random_numbers_of_samples_and_of_sensors_are_independent():
    """Correlations of 600 pairs stay within 4.5 standard errors: false alarm 1 in 40,000 runs."""
    with jax.enable_x64(True):
        found = measured(plan_with({"a": clock(1, "a"), "b": clock(1, "b")}))
    a, b = found["a"].values[:, 1], found["b"].values[:, 1]
    assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 / np.sqrt(len(a))
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 4.5 / np.sqrt(len(a))


def test_a_sample_arrives_later_by_latency_and_jitter_and_never_overtakes():
    """Mean and spread of 600 delays within 5 standard errors: false alarm below 1 in 10⁶."""
    with jax.enable_x64(True):
        late = clock(1, "late", latency=0.25, jitter=0.004)
        found = measured(plan_with({"late": late, "sharp": clock(1, "sharp", latency=0.25)}))
    np.testing.assert_allclose(found["sharp"].arrival - found["sharp"].time, 0.25, atol=1e-12)
    delay = found["late"].arrival - found["late"].time
    assert abs(delay.mean() - 0.25) < 5 * 0.004 / np.sqrt(len(delay))
    assert abs(delay.std() - 0.004) < 5 * 0.004 / np.sqrt(2 * len(delay))
    assert (np.diff(found["late"].arrival) >= 0).all()


def test_a_stepped_simulation_delivers_a_sample_when_it_arrives_and_not_before():
    with jax.enable_x64(True):
        plan = plan_with({"late": clock(5, "late", latency=0.25)})
    simulation = st.Simulation(plan)
    seen = [simulation.measurements["otter"]["late"].time]
    for _ in range(20):
        simulation.step()
        arrived = simulation.measurements["otter"]["late"]
        assert (arrived.arrival <= simulation.time + 1e-9).all()
        assert (arrived.arrival > simulation.time - simulation.control_period - 1e-9).all()
        seen.append(arrived.time)
    np.testing.assert_allclose(np.concatenate(seen), np.arange(0, 1.76, 0.1), atol=1e-9)


def test_a_sensor_that_falls_between_time_steps_is_refused_with_a_way_out():
    sensor = {"type": "compass", "name": "compass", "rate": 30.0}
    scenario = st.load("otter-turning-circle", st.Scenario)
    described = scenario.model_dump() | {"time_step": 0.02}
    described["vehicles"][0]["sensors"] = [sensor]
    with pytest.raises(st.SpecError, match="not a whole number of time steps"):
        plan_of(st.Scenario.model_validate(described))
    described["time_step"] = None
    plan = plan_of(st.Scenario.model_validate(described))
    assert plan.schedule.time_step == pytest.approx(1 / 60)
