"""Controllers of the user's own inside the compiled loop, and what a mission tells them."""

import math
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import seatrial as st
from seatrial import programs

SENSORS = [
    {"type": "compass", "name": "compass", "rate": 20},
    {"type": "compass", "name": "late", "rate": 10, "latency": 0.25},
    {"type": "imu", "name": "imu", "rate": 50, "fidelity": "ideal"},
]


def otter(duration=3.0, count=1, sensors=(), **more):
    boat = {"name": "boat", "vehicle": st.load("otter"), "sensors": list(sensors), "count": count}
    described = {
        "kind": "scenario",
        "name": "own",
        "seed": 5,
        "duration": duration,
        "precision": "double",
        "vehicles": [boat | more],
    }
    return st.Scenario.model_validate(described)


def guided(**more):
    """On waypoints, with the truth for an estimate: quick to compile."""
    way = {"do": "goto", "waypoints": [[8, 0], [8, 40]], "speed": 1.2, "acceptance": 3.0}
    return otter(duration=15.0, feedback="truth", mission=[way], **more)


class Helm:
    """Compiled: heading and speed."""

    def __init__(self, gain=120.0):
        self.gain = gain

    def init(self, vehicle):
        self.period = vehicle.control_period
        return {"integral": 0.0, "steps": 0}

    def step(self, state, inputs):
        believed, asked = inputs.estimate, inputs.setpoint
        error = asked.course - believed.euler[2]
        error = jnp.arctan2(jnp.sin(error), jnp.cos(error))
        slow = asked.velocity[0] - believed.velocity[0]
        turn = self.gain * error - 150.0 * believed.velocity[5]
        wrench = jnp.zeros(6).at[0].set(200.0 * slow + state["integral"]).at[5].set(turn)
        memory = {
            "integral": state["integral"] + 20.0 * self.period * slow,
            "steps": state["steps"] + 1,
        }
        return memory, inputs.allocate(wrench)


class AskedHelm:
    """The same law, asked from Python."""

    def start(self, vehicle):
        self.period, self.integral = vehicle.control_period, 0.0
        self.legs, self.seen, self.courses = vehicle.legs, [], []

    def control(self, time, measurements, truth, estimate, leg, setpoint, allocate):
        self.seen.append((estimate, int(leg.number), leg.end, truth))
        self.courses.append(float(setpoint.course))
        error = math.remainder(setpoint.course - estimate.euler[2], math.tau)
        slow = setpoint.velocity[0] - estimate.velocity[0]
        turn = 120.0 * error - 150.0 * estimate.velocity[5]
        push = 200.0 * slow + self.integral
        self.integral += 20.0 * self.period * slow
        return allocate([push, 0, 0, 0, 0, turn])


@pytest.fixture(scope="module")
def steered():
    return st.run(guided(), controllers={"boat": Helm()})


def test_the_compiled_law_steers_as_the_same_law_asked_from_python(steered):
    asked = AskedHelm()
    run = st.run(guided(), controllers={"boat": asked})
    assert run.failure is None
    np.testing.assert_allclose(run.dataset.position, steered.dataset.position, rtol=0, atol=1e-9)
    assert steered.dataset.position.values[-1, 0, 0] > 7.0  # under way, not adrift
    assert steered.dataset.position.values[-1, 0, 1] > 1.0
    assert [leg.end for leg in asked.legs] == [(8.0, 0.0, 0.0), (8.0, 40.0, 0.0)]
    recorded = run.dataset.sel(vehicle="boat")
    np.testing.assert_array_equal(recorded["setpoint_direction"], asked.courses)
    assert set(recorded["setpoint_asked"].values.astype(int) & 7) == {2 + 4}  # course and surge
    assert float(recorded["setpoint_surge"].values[0]) == 1.2
    numbers = [number for _, number, _, _ in asked.seen]
    assert sorted(set(numbers)) == [0, 1]
    for estimate, number, end, truth in asked.seen:
        np.testing.assert_array_equal(end, asked.legs[number].end)
        np.testing.assert_array_equal(estimate.position, truth.position)
        np.testing.assert_array_equal(estimate.deviation, np.zeros(3))


def test_stepped_and_run_are_the_same_bytes_and_one_of_many_the_same_to_rounding(steered):
    simulation = st.Simulation(guided(), controllers={"boat": Helm()})
    for k in range(40):
        state = simulation.vehicles["boat"]
        np.testing.assert_array_equal(state.position, steered.dataset.position[k, 0])
        np.testing.assert_array_equal(state.velocity[:3], steered.dataset.velocity[k, 0])
        simulation.step()
    many = st.run_many(guided(), seeds=(5, 6), duration=3.0, controllers={"boat": Helm()})
    np.testing.assert_allclose(
        many.position.isel(run=0), steered.dataset.position[:31], rtol=0, atol=1e-9
    )


def test_orders_from_outside_stand_above_a_compiled_controller():
    simulation = st.Simulation(guided(), controllers={"boat": Helm()})
    for _ in range(20):
        state = simulation.step({"left": 0.0})["boat"]
    assert abs(state.actuators["left"]) < 1e-6
    assert abs(state.actuators["right"]) > 1.0


def test_another_gain_is_not_another_program_and_changes_the_track(steered):
    before = programs.counts["compiled"]
    other = st.run(guided(), controllers={"boat": Helm(gain=20.0)})
    assert programs.counts["compiled"] == before
    assert np.abs(other.dataset.position - steered.dataset.position).max() > 0.1


def test_channels_that_it_leaves_alone_are_the_autopilots():
    class Half:
        def init(self, vehicle):
            return ()

        def step(self, state, inputs):
            return state, {"left_rpm": 300.0}

    run = st.run(guided(), duration=3.0, controllers={"boat": Half()})
    command = run.dataset.command.values[:, 0]
    np.testing.assert_allclose(command[:, 0], 5.0)
    assert np.ptp(command[:, 1]) > 1.0


class Listening:
    """Orders what it hears, so that the recording tells it."""

    def init(self, vehicle):
        return jnp.zeros(())

    def step(self, state, inputs):
        late, imu = inputs.measurements["late"], inputs.measurements["imu"]
        compass = inputs.measurements["compass"]
        heard = late.new * 100.0 + jnp.where(jnp.isfinite(late.time), late.time, -1.0)
        return state + compass.new, {"left": heard, "right": compass.values[0] + imu.values[2]}


def test_it_hears_the_newest_sample_that_has_arrived():
    scenario = otter(sensors=SENSORS, start={"heading": 1.0})
    run = st.run(scenario, controllers={"boat": Listening()})
    assert run.failure is None
    command = run.dataset.command.values[:, 0]
    samples = {name: run.recording.samples("boat", name) for name in ("compass", "late", "imu")}
    for k, t in enumerate(run.dataset.time.values[:-1]):
        late = samples["late"]
        arrived = late.time[late.valid & (late.arrival <= t + 1e-9)]
        fresh = np.any(late.valid & (late.arrival <= t + 1e-9) & (late.arrival > t - 0.1 + 1e-9))
        expected = (arrived[-1] if arrived.size else -1.0) + 100.0 * fresh
        assert command[k, 0] == pytest.approx(expected, abs=1e-9), t
        compass = samples["compass"]
        seen = compass.values[compass.time <= t + 1e-9][-1, 0]
        # An inertial sensor feels the step that follows an instant.
        felt = samples["imu"].values[samples["imu"].time < t - 1e-9]
        assert command[k, 1] == pytest.approx(seen + (felt[-1, 2] if felt.size else 0.0), abs=1e-6)


def test_every_vessel_of_a_swarm_has_a_memory_of_its_own():
    class Counting:
        def init(self, vehicle):
            return {"by": 1.0 + int(vehicle.name[-1]), "sum": 0.0}

        def step(self, state, inputs):
            total = state["sum"] + state["by"]
            return state | {"sum": total}, {"left": total}

    own = Counting()
    run = st.run(otter(count=3), duration=0.4, controllers={f"boat_{i}": own for i in range(3)})
    np.testing.assert_allclose(run.dataset.command.values[-1, :, 0], [5.0, 10.0, 15.0])
    np.testing.assert_allclose(run.dataset.command.values[:, :, 1], 0.0)  # the timetable's


CODE = """
    import jax.numpy as jnp
    from helper import FACTOR

    class Controller:
        def init(self, vehicle):
            return 0.0

        def step(self, state, inputs):
            {line}
            return state + 1.0, {{"left": FACTOR * state}}
"""


def written(folder, line="pass", factor=1.0):
    """A scenario file, the module that it names, and a module which that one imports."""
    folder.mkdir(exist_ok=True)
    (folder / "steering.py").write_text(textwrap.dedent(CODE.format(line=line)))
    (folder / "helper.py").write_text(f"FACTOR = {factor}\n")
    file = folder / "trial.yaml"
    file.write_text(
        "kind: scenario\nname: trial\nduration: 0.5\nvehicles:\n"
        "  - {name: boat, vehicle: otter, sensors: [], controller: 'steering:Controller'}\n"
    )
    return file


def test_a_changed_controller_never_runs_the_old_program(tmp_path, monkeypatch):
    """Nor does one whose own file stays as it was while a module that it imports changes."""
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("SEATRIAL_CACHE_LIMIT", raising=False)

    def last(factor):
        file = written(tmp_path / "code", factor=factor)
        programs.forget()
        before = dict(programs.counts)
        run = st.run(file, allow_code=True)
        made = programs.counts["compiled"] - before.get("compiled", 0)
        return float(run.dataset.command[-1, 0, 0]), made

    assert last(1.0)[0] == pytest.approx(5.0)
    order, made = last(2.0)
    assert order == pytest.approx(10.0)
    assert made > 0
    assert last(1.0) == (pytest.approx(5.0), 0)  # kept, and known again


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "if state > 1.0: state = 1.0",
            ["steering.py:10:", "cannot be compiled: ", "boolean conversion", "jnp.where"],
        ),
        ("float(state)", ["steering.py:10:", "cannot be compiled: ", "ConcretizationTypeError"]),
        ("__import__('numpy').asarray(state)", ["steering.py:10:", "TracerArrayConversionError"]),
        (
            "[1.0, 2.0][jnp.asarray(state, int)]",
            ["steering.py:10:", "TracerIntegerConversionError"],
        ),
        ("state = jnp.zeros(3)", ["was float64[] and became float64[3]"]),
        ("return state, {'lefft': 1.0}", ["no command channel `lefft`", "did you mean `left`?"]),
        ("return state, {'left': jnp.ones(2)}", ["an order of float64[2]", "one number"]),
        ("return state, {'left': 1.0, 'left_rpm': 1.0}", ["which are one channel"]),
        ("return state", ["`step` returned", "a pair: the next state, and orders"]),
        ("inputs.measurements['compas']", ["asks for a sensor `compas`"]),
        ("inputs.estimate.position", ["a vehicle with a `mission`"]),
        ("jnp.ones(2) + jnp.ones(3)", ["steering.py:10:", "mend it there"]),
    ],
)
def test_a_step_that_cannot_be_compiled_is_refused_with_its_line(line, words, seatrial, tmp_path):
    code, _, err = seatrial("run", written(tmp_path / "code", line), "--allow-code")
    assert code == 2
    assert "trial.yaml:5: vehicles[0].controller" in err
    assert "`Controller`" in err
    assert "steering.py:" in err
    for word in words:
        assert word in err
    assert "Traceback" not in err


def test_a_state_of_whole_numbers_that_becomes_a_fraction_is_refused():
    class Integral(Helm):
        def init(self, vehicle):
            return 0

        def step(self, state, inputs):
            return state + 0.5, {"left": 0.0}

    with pytest.raises(st.SpecError, match=r"starts as one: `0\.0`, not `0`"):
        st.run(otter(), controllers={"boat": Integral()})


def test_it_needs_permission_and_is_not_loaded_without(tmp_path):
    with pytest.raises(st.SpecError, match="only with your permission"):
        st.run(written(tmp_path / "code"))


def test_an_order_that_is_no_number_fails_the_run_and_says_when(tmp_path):
    class Dividing:
        def init(self, vehicle):
            return 3.0

        def step(self, state, inputs):
            return state - 1.0, {"left": 0.0 / state}

    run = st.run(otter(), controllers={"boat": Dividing()})
    assert run.status == "failed"
    assert "`boat` gave an order that is not a finite number at 0.3 s" in str(run.failure)
    assert np.all(np.isfinite(run.dataset.command))


def test_an_asked_controller_is_told_of_a_mission_only_where_there_is_one():
    with pytest.raises(st.SpecError, match="asks for `estimate`, which only a vehicle with a"):
        st.run(otter(feedback="truth"), controllers={"boat": AskedHelm()})


@pytest.mark.parametrize("feedback", ["truth", "estimate"])
def test_an_asked_controller_is_told_what_it_names_in_any_number_and_order(feedback):
    told = []

    class Shuffled(AskedHelm):
        def control(self, allocate, leg, time, nothing=None, truth=None):
            told.append((time, int(leg.number), truth is not None, nothing))
            return allocate([10.0, 0, 0, 0, 0, 0])

    class Placed(AskedHelm):
        def control(self, clock, heard, /, *, leg):
            told.append((clock, int(leg.number), isinstance(heard, dict), None))
            return {}

    class Alone(AskedHelm):
        def control(self, estimate):
            told.append((0.0, 0, estimate.position.shape == (3,), None))
            return {}

    boat = {"feedback": feedback, "mission": [{"do": "goto", "waypoints": [[8, 0]]}]}
    for own, flag in ((Shuffled, feedback == "truth"), (Placed, True), (Alone, True)):
        told.clear()
        run = st.run(
            otter(duration=0.1, sensors=st.load("otter").sensors, **boat),
            controllers={"boat": own()},
        )
        assert run.failure is None
        assert told[0] == (0.0, 0, flag, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("time, measurements, truth", ["asks for `truth`", "say `feedback: truth`"]),
        ("measurements, leg, time", ["asks for `leg`", "give the vehicle a `mission`"]),
        ("time, measurements, estimat", ["asks for `estimat`", "`estimate`", "rename it"]),
        ("estimat", ["asks for `estimat`"]),
    ],
)
def test_an_argument_that_nothing_is_told_by_is_refused_with_the_remedy(arguments, words):
    own = type("Own", (AskedHelm,), {"control": eval(f"lambda self, {arguments}: {{}}")})
    with pytest.raises(st.SpecError) as refused:
        st.run(otter(), controllers={"boat": own()})
    for word in words:
        assert word in str(refused.value)


def test_a_wrench_of_another_shape_is_refused_in_both_kinds():
    class Flat(AskedHelm):
        def control(self, time, measurements, truth, allocate):
            return allocate([1.0, 2.0])

    run = st.run(guided(), controllers={"boat": Flat()})
    assert run.status == "failed"
    assert "this is no wrench" in str(run.failure)

    class Short(Helm):
        def step(self, state, inputs):
            return state, inputs.allocate(jnp.zeros(3))

    with pytest.raises(st.SpecError, match="a wrench of shape"):
        st.run(guided(), controllers={"boat": Short()})


def test_conditions_and_loops_of_jax_are_traced():
    class Conditional:
        def init(self, vehicle):
            return jnp.arange(3.0)

        def step(self, state, inputs):
            order = jax.lax.cond(inputs.time > 0.15, lambda: 2.0, lambda: 1.0)
            state = jax.lax.fori_loop(0, 3, lambda i, s: s + 1.0, state)
            return state, {"left": order, "right": state[2]}

    run = st.run(otter(), duration=0.4, controllers={"boat": Conditional()})
    command = run.dataset.command.values[:, 0]
    np.testing.assert_allclose(command[:, 0], [1.0, 1.0, 2.0, 2.0, 2.0])
    np.testing.assert_allclose(command[:, 1], [5.0, 8.0, 11.0, 14.0, 17.0])
