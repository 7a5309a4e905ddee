"""Exported units, run by FMPy, which knows nothing of seatrial."""

import shutil
import sys
import zipfile
from types import ModuleType

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

import seatrial as st
from seatrial.errors import SpecError
from seatrial.fmu.export import export_fmu
from seatrial.fmu.vessel import Vessel
from seatrial.geometry.mesh import sphere
from seatrial.ros.description import stl
from seatrial.spec.hull import Hull
from seatrial.spec.loading import dump

ORDERS = {"left": 12.0, "right": 7.0}
SEEN = ["position.north", "position.east", "attitude.yaw", "velocity.u", "velocity.r"]


@pytest.fixture(scope="module", params=[2, 3])
def unit(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("units") / "otter.fmu"
    return str(export_fmu("otter", "sea-state-4", out, request.param, seed=4))


def sailed(unit, step=0.1, **start):
    columns = [("time", float), *((f"order.{name}", float) for name in ORDERS)]
    orders = np.array([(t, *ORDERS.values()) for t in (0.0, 5.0)], dtype=columns)
    return fmpy.simulate_fmu(
        *(unit,),
        stop_time=5.0,
        step_size=step,
        output_interval=step,
        input=orders,
        output=SEEN,
        start_values=start,
        debug_logging=True,  # without it pythonfmu keeps what a unit of FMI 2 says to itself
    )


def test_a_unit_is_written_where_another_of_its_name_was_run(tmp_path, monkeypatch):
    """FMPy loads units into its own process, where their modules stay."""
    monkeypatch.setitem(sys.modules, "otter_fmi2", ModuleType("otter_fmi2"))
    assert export_fmu("otter", "calm", tmp_path / "otter.fmu", 2).exists()


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_unit_has_the_meshes_of_its_descriptions_inside(fmi, tmp_path):
    """Its world's wreck and its hull were looked for where the unit was used."""
    home = tmp_path / "author"
    (home / "models").mkdir(parents=True)
    (home / "models" / "ball.stl").write_bytes(stl(sphere(1.0)))
    otter = dump(st.load("otter", st.Vehicle).model_copy(update={"hull": Hull(file="x.stl")}))
    (home / "boat.yaml").write_text(otter.replace("x.stl", "models/ball.stl"))
    (home / "sea.yaml").write_text(
        "kind: world\nname: sea\nbodies:\n"
        "  - {name: wreck, mesh: {file: models/ball.stl}, position: [30, 0, 5]}\n"
    )
    out = tmp_path / "boat.fmu"
    export_fmu(home / "boat.yaml", home / "sea.yaml", out, fmi)
    shutil.rmtree(home)
    with zipfile.ZipFile(out) as inside:
        inside.extractall(tmp_path / "unit")
    vessel = Vessel(tmp_path / "unit" / "resources")
    assert vessel.state.status == "running"
    described = st.load(tmp_path / "unit" / "resources" / "scenario.yaml", st.Scenario)
    named = described.vehicles[0].vehicle.hull.file, described.world.bodies[0].mesh.file
    assert sorted(named) == ["files/0/ball.stl", "files/1/ball.stl"]


def test_a_unit_whose_mesh_is_missing_is_not_written(tmp_path):
    (tmp_path / "sea.yaml").write_text(
        "kind: world\nname: sea\nbodies:\n"
        "  - {name: wreck, mesh: {file: lost.stl}, position: [30, 0, 5]}\n"
    )
    with pytest.raises(SpecError, match=r"sea\.yaml:4.*lost\.stl"):
        export_fmu("otter", tmp_path / "sea.yaml", tmp_path / "otter.fmu", 2)


def test_a_unit_moves_as_a_run_does(unit):
    rows = sailed(unit)
    scenario = st.Scenario(
        world="sea-state-4",
        seed=4,
        duration=5.0,
        control_period=0.02,
        frame_period=0.1,
        vehicles=[{"vehicle": "otter", "sensors": [], "commands": ORDERS}],
    )
    ran = st.run(scenario).dataset.isel(vehicle=0)
    np.testing.assert_allclose(
        rows["position.north"], ran.position.values[:, 0], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        rows["velocity.u"], ran.velocity.values[:, 0], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        rows["velocity.r"], ran.angular_velocity.values[:, 2], rtol=1e-12, atol=1e-12
    )
    assert abs(rows["attitude.yaw"][-1]) > 0.3


def test_parameters_decide_where_it_begins_and_in_which_sea(unit):
    there = sailed(unit, **{"start.north": 100.0, "start.heading": 1.0})
    assert there["position.north"][0] == pytest.approx(100.0)
    assert there["attitude.yaw"][0] == pytest.approx(1.0)
    other = sailed(unit, **{"seed": 5})
    assert not np.allclose(other["velocity.u"], sailed(unit)["velocity.u"])


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"start.heading": float("nan")}, "heading: not a finite number"),
        ({"start.speed": 1e300}, "less than 17.8 m/s"),
        ({"seed": 2.5}, "a whole number, 0 or more"),
        ({"seed": float("nan")}, "a whole number, 0 or more"),
    ],
)
def test_a_start_that_cannot_be_is_refused_when_the_unit_is_initialised(unit, start, said, capfd):
    with pytest.raises(FMICallException, match="ExitInitializationMode"):
        sailed(unit, **start)
    assert said in capfd.readouterr().out


def test_parameters_are_fixed_once_the_unit_is_initialised(tmp_path):
    with zipfile.ZipFile(export_fmu("otter", "calm", tmp_path / "otter.fmu")) as packed:
        packed.extractall(tmp_path)
    vessel = Vessel(tmp_path / "resources")
    shown = {v.name: v for v in vessel.variables()}
    assert shown["position.north"].get() == 0.0
    shown["start.north"].set(5.0)  # after somebody looked
    vessel.begin()
    assert shown["position.north"].get() == 5.0
    with pytest.raises(SpecError, match="fixed since the unit was initialised"):
        shown["start.north"].set(7.0)


def test_its_description_is_valid_and_names_its_units(unit):
    described = fmpy.read_model_description(unit, validate=True)
    causes = {v.name: v.causality for v in described.modelVariables}
    assert causes["order.left"] == "input"
    assert causes["position.down"] == causes["actuator.right"] == "output"
    assert causes["seed"] == "parameter"
    assert not fmpy.validation.validate_fmu(unit)


def test_a_step_between_periods_is_refused(unit, tmp_path):
    with zipfile.ZipFile(unit) as packed:
        packed.extractall(tmp_path)
    vessel = Vessel(tmp_path / "resources")
    assert "not a whole number of periods" in vessel.step(0.0, 0.013)
    for length in (np.nan, np.inf, -np.inf, -0.02):
        assert "not a whole number of periods" in vessel.step(0.0, length)
    for time in (np.nan, np.inf):
        assert "it is at 0 s" in vessel.step(time, 0.1)
    assert vessel.step(0.0, 0.1) == ""
    assert "it is at 0.1 s" in vessel.step(1.0, 0.1)
    assert "it is at 0.1 s" in vessel.step(0.0, 0.1)
    assert vessel.step(0.1, 0.1) == ""


def test_a_unit_may_begin_at_any_time(unit):
    """Tools that go on from elsewhere give a start time; the sea of the unit begins with it."""
    late = fmpy.simulate_fmu(unit, start_time=7.0, stop_time=8.0, output_interval=0.1, output=SEEN)
    soon = fmpy.simulate_fmu(unit, start_time=0.0, stop_time=1.0, output_interval=0.1, output=SEEN)
    np.testing.assert_allclose(late["time"], soon["time"] + 7.0)
    for name in SEEN:
        np.testing.assert_array_equal(late[name], soon[name])


def test_only_units_are_written(tmp_path):
    with pytest.raises(st.SpecError, match=r"ends in `\.fmu`"):
        export_fmu("otter", "calm", tmp_path / "otter.zip")
