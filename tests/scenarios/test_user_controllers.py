"""Controllers of the user's own: found, allowed, asked, and blamed by file and line."""

import json
import math
import os
import re
import signal
import sys
import textwrap
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import seatrial as st
from seatrial.engine.exchange.controllers import ControllerError
from seatrial.spec.scenario import Participant

ROOT = Path(__file__).resolve().parents[2]

FAILING = """
class Controller:
    def start(self, vehicle):
        self.calls = 0

    def control(self, time, measurements):
        self.calls += 1
        if self.calls > 13:
            return self.helper(time)
        return {"left_rpm": 600.0, "right_rpm": 500.0}

    def helper(self, time):
        return 1.0 / (time - time)  # the line to blame
"""


def trial(folder, code=FAILING, reference="steering:Controller", module="steering", more=""):
    """A scenario file with an otter, and the module that it names beside it."""
    (folder / f"{module}.py").write_text(textwrap.dedent(code))
    file = folder / "trial.yaml"
    text = f"""
        kind: scenario
        name: trial
        seed: 3
        duration: 3
        vehicles:
          - {{name: boat, vehicle: otter, controller: "{reference}"{more}}}
    """
    file.write_text(textwrap.dedent(text))
    return file


def scenario(**changes):
    """Two boats of different kinds, in waves, frames every two control periods."""
    described = {
        "kind": "scenario",
        "name": "two",
        "seed": 5,
        "duration": 3.0,
        "frame_period": 0.2,
        "world": {"kind": "world", "name": "chop", "waves": {"spectrum": "sea_state", "code": 2}},
        "vehicles": [
            {"name": "boat", "vehicle": st.load("otter"), "commands": {"right_rpm": 400.0}},
            {
                "name": "other",
                "vehicle": st.load("wamv"),
                "sensors": [],
                "commands": {"left": 100.0},
            },
        ],
    }
    return st.Scenario.model_validate(described | changes)


class Weaving:
    """Commands the left propeller by the clock, and keeps what it was told."""

    def start(self, vehicle):
        self.vehicle = vehicle
        self.heard = []

    def control(self, time, measurements):
        self.heard.append((time, measurements))
        return weave(time)


def weave(time):
    return {"left_rpm": 500.0 + 300.0 * math.sin(time)}


class Returning(Weaving):
    """Gives the orders that it was made with."""

    def __init__(self, orders):
        self.orders = orders

    def control(self, time, measurements):
        return self.orders


@pytest.fixture(scope="module")
def woven():
    controller = Weaving()
    return controller, st.run(scenario(), controllers={"boat": controller})


def test_a_run_with_a_controller_gives_the_numbers_of_a_simulation_under_the_same_orders(woven):
    _, run = woven
    assert run.status == "completed"
    assert run.dataset.sizes["time"] == 16
    simulation = st.Simulation(scenario())
    for k in range(31):
        if k % 2 == 0:
            frame = run.dataset.isel(time=k // 2)
            for name, state in simulation.vehicles.items():
                recorded = frame.sel(vehicle=name)
                np.testing.assert_array_equal(recorded.position, state.position)
                np.testing.assert_array_equal(recorded.attitude, state.attitude)
                np.testing.assert_array_equal(recorded.velocity, state.velocity[:3])
            command = run.recording.vehicle("boat").command.isel(time=k // 2)
            expected = weave(simulation.time)["left_rpm"] / 60.0, 400.0 / 60.0
            np.testing.assert_allclose(command.values[:2], expected)
        simulation.step({"boat": weave(simulation.time)})


def test_a_controller_hears_every_sample_once_when_it_arrives(woven):
    controller, run = woven
    assert controller.vehicle.channels == {"left": "rev/s", "right": "rev/s"}
    assert controller.vehicle.control_period == pytest.approx(0.1)
    assert controller.vehicle.length == 2.0
    for sensor in controller.vehicle.sensors:
        samples = run.recording.samples("boat", sensor)
        heard = [m[sensor] for _, m in controller.heard]
        times = np.concatenate([m.time for m in heard])
        valid = samples.cut(samples.valid)
        # An IMU feels the step that follows: its sample of the last instant is recorded only.
        usual = valid.cut(slice(0, times.size))
        assert valid.time.size - times.size == (1 if sensor == "imu" else 0)
        np.testing.assert_array_equal(times, usual.time)
        values = np.concatenate([m.values for m in heard])
        np.testing.assert_allclose(values, usual.values, rtol=1e-12, atol=1e-12)
        for (time, _), m in zip(controller.heard, heard, strict=True):
            assert np.all(m.arrival <= time + 1e-9)


def test_a_run_that_a_controller_does_not_influence_is_that_of_the_compiled_program():
    idle = st.run(scenario(), controllers={"boat": Returning({})})
    compiled = st.run(scenario())
    for name, expected in compiled.dataset.data_vars.items():
        found = idle.dataset[name].values
        np.testing.assert_allclose(found, expected.values, rtol=0, atol=1e-9, err_msg=name)
    assert idle.dataset.time.values.tolist() == compiled.dataset.time.values.tolist()
    for vehicle in compiled.header.vehicles:
        for sensor in vehicle.sensors:
            found, expected = (
                run.recording.samples(vehicle.name, sensor.name) for run in (idle, compiled)
            )
            np.testing.assert_array_equal(found.time, expected.time)
            np.testing.assert_allclose(found.values, expected.values, rtol=1e-9, atol=1e-9)
    for vehicle, end in compiled.summary.vehicles.items():
        assert idle.summary.vehicles[vehicle].distance == pytest.approx(end.distance, rel=1e-9)


def test_the_boat_of_the_example_reaches_its_heading_by_compass():
    run = st.run(ROOT / "examples" / "my_controller.yaml", duration=40.0, allow_code=True)
    heading = np.degrees(run.dataset.euler.sel(angle="yaw", vehicle="otter"))
    assert run.status == "completed"
    assert abs(float(heading[0])) < 5.0
    assert np.all(np.abs(heading[-100:] - 90.0) < 8.0)


def test_an_exception_ends_the_run_names_its_line_and_leaves_a_whole_recording(seatrial, tmp_path):
    file, out = trial(tmp_path), tmp_path / "run.mcap"
    code, text, err = seatrial("run", file, "--allow-code", "--out", out)
    line = next(n for n, t in enumerate(FAILING.splitlines(), 1) if "the line to blame" in t)
    assert code == 1
    assert "failed after 1.3 s" in text
    assert f"steering.py:{line}: the controller of `boat` failed at 1.3 s" in err
    assert "ZeroDivisionError: float division by zero" in err
    assert "Traceback" not in err
    recording = st.read(out)
    assert recording.summary.status == "failed"
    assert recording.summary.vehicles["boat"].status == "failed"
    times = recording.dataset.time.values
    np.testing.assert_allclose(times, np.arange(14) * 0.1)
    compass = recording.samples("boat", "compass")
    np.testing.assert_allclose(compass.time, times)  # the one that it failed on included
    command = recording.vehicle("boat").command.values
    np.testing.assert_allclose(command[-1], command[-2])  # the orders in force


def test_the_json_of_a_failed_run_says_why(seatrial, tmp_path):
    code, text, err = seatrial("run", trial(tmp_path), "--allow-code", "--json")
    result = json.loads(text)
    assert code == 1
    assert result["status"] == "failed"
    assert "ZeroDivisionError" in result["failure"]
    assert "ZeroDivisionError" in err


def test_vehicles_beside_a_failed_controller_are_stopped_and_its_exception_is_kept():
    class Broken(Weaving):
        def control(self, time, measurements):
            if time > 0.5:
                raise RuntimeError("no more")
            return super().control(time, measurements)

    run = st.run(scenario(), controllers={"boat": Broken()})
    assert run.status == "failed"
    assert {n: v.status for n, v in run.summary.vehicles.items()} == {
        "boat": "failed",
        "other": "stopped",
    }
    assert run.summary.duration == pytest.approx(0.6)
    assert run.dataset.sizes["time"] == 4
    assert isinstance(run.failure.__cause__, RuntimeError)
    assert Path(__file__).name in str(run.failure)


def test_a_failure_in_start_is_a_failed_run_of_one_frame():
    class Broken(Weaving):
        def start(self, vehicle):
            sys.exit("not today")

    run = st.run(scenario(), controllers={"boat": Broken()})
    assert run.status == "failed"
    assert "SystemExit: not today" in str(run.failure)
    assert run.dataset.sizes["time"] == 1


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ({"lefft_rpm": 1.0}, "did you mean `left_rpm`?"),
        ({3: 1.0}, "no command channel `3`"),
        ({"left": "fast"}, "a command must be a finite number, not 'fast'"),
        ({"left": math.nan}, "a command must be a finite number, not nan"),
        ({"left": [[1.0], [1.0, 2.0]]}, "a command must be a finite number"),
        ({"left": True}, "a command must be a finite number, not True"),
        (None, "`control` returned None"),
        ([600.0, 600.0], "`control` returned [600.0, 600.0]"),
    ],
)
def test_orders_that_cannot_be_taken_are_refused_like_exceptions(orders, message):
    simulation = st.Simulation(calm(), controllers={"boat": Returning(orders)})
    with pytest.raises(ControllerError, match="gave wrong orders at 0 s") as caught:
        simulation.step()
    assert message in str(caught.value)
    line = Returning.control.__code__.co_firstlineno
    assert str(caught.value).startswith(f"{__file__}:{line}: ")


def calm():
    """An otter without sensors in calm water: quick to compile."""
    boat = {"name": "boat", "vehicle": st.load("otter"), "sensors": []}
    described = {"kind": "scenario", "name": "calm", "duration": 1.0, "vehicles": [boat]}
    return st.Scenario.model_validate(described)


def test_wrong_orders_end_a_run_with_a_status():
    run = st.run(calm(), controllers={"boat": Returning({"left": math.inf})})
    assert run.status == "failed"
    assert "not inf" in str(run.failure)


def test_numbers_of_numpy_and_jax_are_orders():
    orders = {"left_rpm": np.float32(300.0), "right_rpm": jnp.asarray(-300.0)}
    simulation = st.Simulation(calm(), controllers={"boat": Returning(orders)})
    for _ in range(10):
        state = simulation.step()["boat"]
    assert state.actuators["left"] == pytest.approx(5.0, rel=1e-3)
    assert state.actuators["right"] == pytest.approx(-5.0, rel=1e-3)
    state = [simulation.step({"right_rpm": 0.0}) for _ in range(10)][-1]["boat"]
    assert state.actuators["right"] == pytest.approx(0.0, abs=1e-3)  # above the controller's order


def test_code_that_a_scenario_names_is_not_even_loaded_without_permission(seatrial, tmp_path):
    touched = tmp_path / "touched"
    file = trial(tmp_path, f"open({str(touched)!r}, 'w').close()\n" + FAILING)
    code, _, err = seatrial("run", file)
    assert code == 2
    assert "trial.yaml:7: vehicles[0].controller: " in err
    assert "--allow-code" in err
    assert "allow_code=True" in err
    assert "shared between people" in err
    assert seatrial("check", file)[0] == 0
    for act in (st.run, st.Simulation, lambda s: st.run(st.compile_scenario(s))):
        with pytest.raises(st.SpecError, match="only with your permission"):
            act(file)
    assert not touched.exists()


def test_an_object_of_ones_own_needs_no_permission(tmp_path):
    file = trial(tmp_path)
    run = st.run(file, duration=0.5, controllers={"boat": Returning({})})
    assert run.status == "completed"


def test_the_module_beside_the_scenario_comes_first_and_leaves_no_trace(tmp_path, monkeypatch):
    """Two folders with modules of the same names, one of them also a name of Python's own."""
    path, modules = list(sys.path), set(sys.modules)
    json_of_python = sys.modules["json"]
    for number in (100.0, 200.0):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "json.py").write_text(f"NUMBER = {number}\n")
        code = """
            import json

            class Controller:
                def start(self, vehicle):
                    pass

                def control(self, time, measurements, truth):
                    assert truth.time == time
                    return {"left": json.NUMBER / 100.0}
        """
        file = trial(folder, code, more=", feedback: truth, sensors: []")
        run = st.run(file, duration=0.1, allow_code=True)
        assert float(run.recording.vehicle("boat").command[-1, 0]) == number / 100.0
    assert sys.path == path
    assert sys.modules["json"] is json_of_python
    assert "steering" not in set(sys.modules) - modules


def test_a_module_that_is_not_beside_the_scenario_is_searched_where_python_searches(
    tmp_path, monkeypatch
):
    installed, folder = tmp_path / "installed", tmp_path / "here"
    (installed / "package").mkdir(parents=True)
    folder.mkdir()
    (installed / "package" / "helm.py").write_text(FAILING)
    monkeypatch.syspath_prepend(installed)
    file = trial(folder, reference="package.helm:Controller", module="unused")
    run = st.run(file, duration=0.2, allow_code=True)
    assert run.status == "completed"


@pytest.mark.parametrize(
    ("code", "reference", "message"),
    [
        (FAILING, "steering", "written `module:Class`"),
        (FAILING, "steeering:Controller", "there is no module `steeering`"),
        (FAILING, "steering:Controler", "did you mean `Controller`?"),
        ("import nothing_like_it\n", "steering:Controller", "steering.py:1: ModuleNotFoundError"),
        ("x = 1\ny = x +\n", "steering:Controller", "steering.py:2: SyntaxError"),
        ("class Controller:\n    pass\n", "steering:Controller", "no method `start(vehicle)`"),
        (
            FAILING.replace("time, measurements", "time"),
            "steering:Controller",
            "not `control(time)`",
        ),
        (
            "class Controller:\n    def __init__(self, gain):\n        pass\n",
            "steering:Controller",
            "steering.py:2: TypeError",
        ),
    ],
)
def test_a_controller_that_cannot_be_used_is_refused_before_the_run(
    code, reference, message, seatrial, tmp_path
):
    file = trial(tmp_path, code, reference)
    status, _, err = seatrial("run", file, "--allow-code")
    assert status == 2
    assert "trial.yaml:7" in err
    assert message in err
    assert "Traceback" not in err


def test_a_controller_is_refused_beside_a_manoeuvre_and_for_an_unknown_vehicle():
    with pytest.raises(st.SpecError, match="did you mean `boat`"):
        st.run(calm(), controllers={"boot": Returning({})})
    boat = calm().vehicles[0].model_dump()
    boat |= {"controller": "a:B", "manoeuvre": {"type": "turning_circle", "helm": 0.3}}
    with pytest.raises(ValueError, match="takes the place of `manoeuvre`"):
        Participant.model_validate(boat)


def test_navigation_beside_a_controller_without_a_mission_is_refused(seatrial, tmp_path):
    file = trial(tmp_path, more=", navigation: {}")
    for command in (("run", file, "--allow-code"), ("check", file)):
        status, _, err = seatrial(*command)
        assert status == 2
        assert "trial.yaml:7" in err
        assert "without a `mission` is told what sensors measure" in err
    own = {"vehicle": "otter", "navigation": {}}
    with pytest.raises(st.SpecError, match="without a `mission` is told what sensors measure"):
        st.run(st.Scenario(vehicles=[own], duration=1.0), controllers={"otter": Returning({})})


def test_every_vessel_of_a_swarm_has_a_controller_of_its_own(tmp_path):
    code = """
        class Controller:
            def start(self, vehicle):
                self.order = 100.0 * (1 + int(vehicle.name[-1]))

            def control(self, time, measurements):
                return {"left_rpm": self.order}
    """
    file = trial(tmp_path, code, more=", count: 3, sensors: []")
    run = st.run(file, duration=0.2, allow_code=True)
    command = run.dataset.command.isel(time=-1).values
    np.testing.assert_allclose(command[:, 0], np.array([100.0, 200.0, 300.0]) / 60.0, rtol=1e-6)


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupt_ends_the_run_after_the_frame_and_closes_the_recording(tmp_path):
    class Interrupting(Weaving):
        def control(self, time, measurements):
            if time > 0.25:
                signal.raise_signal(signal.SIGINT)
            return weave(time)

    out = tmp_path / "run.mcap"
    st.run(calm(), controllers={"boat": Interrupting()}, out=out)
    recording = st.read(out)
    assert recording.summary.status == "stopped"
    assert recording.dataset.time.values[-1] == pytest.approx(0.3)


def test_the_snippets_of_the_document_run(tmp_path, seatrial):
    text = (ROOT / "docs" / "controllers.md").read_text(encoding="utf-8")

    def blocks(language):
        return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)

    (described,), (module, program, compiled) = blocks("yaml"), blocks("python")
    (tmp_path / "my_module.py").write_text(module)
    (tmp_path / "keep-depth.yaml").write_text(described)
    out = tmp_path / "depth.mcap"
    words = ("--allow-code", "--out", out)
    code, _, err = seatrial("run", tmp_path / "keep-depth.yaml", *words)
    assert code == 0, err
    seen = st.read(out).sensor("rov", "depth").depth
    assert np.all(np.abs(seen[-100:] - 6.0) < 0.1)
    names: dict[str, object] = {}
    exec(module + program + compiled, names)
    assert names["run"].status == "completed"
    assert float(names["swift"].dataset.depth[-1, 0]) == pytest.approx(
        float(names["run"].dataset.depth[-1, 0]), abs=0.05
    )
    assert names["many"].status.values.tolist() == [["completed"]] * 2
