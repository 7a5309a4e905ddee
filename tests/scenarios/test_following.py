"""The loaded part of a map follows the vehicles: over all of a map the bottom is the map's."""

import re
import shutil
from dataclasses import replace

import jax
import numpy as np
import pytest

import seatrial as st
from charts import DATUM, described, write
from seatrial.bathymetry.store import open_map, write_map
from seatrial.compile.scenario import compile_scenario
from seatrial.engine.engine import Engine
from seatrial.engine.other_sea import OtherSea
from seatrial.engine.output.gathering import Gatherer
from seatrial.figures.plot import figure
from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.terrain import terrain
from seatrial.record.choose import recorder

ROWS, COLUMNS, STEP = 6001, 801, 2.5
"""Of a map of 15 km by 2 km: more nodes than a program may hold."""
SENSORS = (
    "sensors: [{name: alti, type: altimeter, rate: 2, fidelity: ideal},"
    " {name: dvl, type: dvl, rate: 1, fidelity: ideal}]"
)


def hills(north, east):
    return 60.0 + 12.0 * np.sin(north / 170.0) + 6.0 * np.cos(east / 90.0 + north / 400.0)


@pytest.fixture(scope="module")
def charts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("charts")
    north, east = STEP * np.arange(ROWS) - 1000.0, STEP * np.arange(COLUMNS) - 1000.0
    depth = hills(*np.meshgrid(north, east, indexing="ij"))
    spacing = (STEP, STEP)
    write_map(folder / "map.nc", terrain((north[0], east[0]), spacing, depth), DATUM, {})
    # A shoal that rises to 5 m, 900 m away, and beyond it nothing known.
    depth[:, :] = 40.0
    depth[np.hypot(north[:, None] - 900.0, east) < 150.0] = 5.0
    write_map(folder / "shoal.nc", terrain((north[0], east[0]), spacing, depth), DATUM, {})
    depth = hills(*np.meshgrid(north, east, indexing="ij"))
    depth[(north > 900.0) & (north < 1000.0)] = np.nan
    write_map(folder / "holes.nc", terrain((north[0], east[0]), spacing, depth), DATUM, {})
    return folder


def over(folder, name="map.nc", start=(0, 0, 10), speed=2.5, duration=4, sensors="[]", **other):
    """A REMUS 100 that goes ahead, with the part of the map loaded that it reaches in a moment."""
    extra = "commands: {propeller_rpm: 1500}"
    scenario = described(
        folder,
        f"{{map: {name}}}",
        start=list(start),
        speed=speed,
        duration=duration,
        extra=extra,
        **other,
    )
    text = (folder / "scenario.yaml").read_text()
    (folder / "scenario.yaml").write_text(text.replace("sensors: []", sensors))
    return scenario if sensors == "[]" else st.load(folder / "scenario.yaml", st.Scenario)


def truth(folder, name="map.nc"):
    with open_map(folder / name) as file:
        return file.read(slice(0, ROWS), slice(0, COLUMNS))


def moved(simulation, seconds):
    """Go on; tells which parts of the map were loaded."""
    found = [simulation._engine.plan.loaded]
    while simulation.time < seconds - 1e-6:
        simulation.step()
        if simulation._engine.plan.loaded is not found[-1]:
            found.append(simulation._engine.plan.loaded)
    return found


def test_who_is_driven_on_has_the_bottom_of_the_map_all_the_way(charts):
    """The part that is loaded for 4 s of a REMUS reaches 240 m around its start."""
    simulation = st.Simulation(over(charts, sensors=SENSORS), record=True)
    compiled = []

    def hear(name, seconds, **about):
        if "backend_compile" in name:
            compiled.append(name)

    simulation.step()
    jax.monitoring.register_event_duration_secs_listener(hear)
    parts = moved(simulation, 400.0)
    jax.monitoring.unregister_event_duration_listener(hear)
    assert compiled == []
    assert len(parts) > 3
    run = simulation.finish()
    assert run.summary.vehicles["craft"].events == ()
    recording, whole = run.recording, truth(charts)
    data = recording.vehicle("craft")
    north, east, down = data["position"].values.T
    assert north[-1] > 950.0 > parts[0].high[0] + 500.0
    np.testing.assert_array_equal(recording.scene.depth_under(north, east), whole.at(north, east))
    for sensor, component in (("alti", "range"), ("dvl", "altitude")):
        samples = recording.samples("craft", sensor)
        place = recording.info("craft").sensors
        info = next(s for s in place if s.name == sensor)
        measured = samples.values[:, info.components.index(component)]
        x, y, z = (np.interp(samples.time, data["time"].values, a) for a in (north, east, down))
        # Beams are tilted with the vehicle and look at slopes; at the edge it were metres.
        assert np.abs(measured - (whole.at(x, y) - z)).max() < 0.4


def test_stepped_run_and_repeated_have_the_same_bytes(charts, tmp_path):
    """A run computes a hundred frames at once, a simulation one control period."""
    # What 4 s have loaded is left after 100.
    short = compile_scenario(over(charts, duration=4, sensors=SENSORS))
    plan = replace(short, frames=int(220 / short.header.frame_period) + 1)
    names = [tmp_path / f"{name}.mcap" for name in ("run", "again")]
    for name in names:
        st.run(plan, out=name)
    assert names[0].read_bytes() == names[1].read_bytes()
    simulation = st.Simulation(plan, out=tmp_path / "stepped.mcap")
    while simulation.time < 220.0 + 0.5 * simulation.control_period:
        simulation.step()
    stepped = simulation.finish().recording
    ran = st.read(names[0])
    assert ran.scene.terrain.depth.shape[0] > 300
    np.testing.assert_array_equal(ran.scene.terrain.depth, stepped.scene.terrain.depth)
    for name in ("position", "velocity", "attitude"):
        a, b = (r.vehicle("craft")[name].values for r in (ran, stepped))
        np.testing.assert_array_equal(a, b[: len(a)])
    for sensor in ("alti", "dvl"):
        a, b = (r.samples("craft", sensor).values for r in (ran, stepped))
        np.testing.assert_array_equal(a, b[: len(a)])


def test_a_long_run_without_a_mission_begins_with_what_is_near_and_follows(charts, tmp_path):
    """Two hours of a REMUS reach farther than a program may hold; it goes 15 km in them."""
    scenario = over(charts, duration=2400)
    plan = compile_scenario(scenario)
    assert plan.loaded.part.depth.shape == (512, 512)
    out = tmp_path / "run.mcap"
    assert st.run(plan, out=out).status == "completed"
    recording, whole = st.read(out), truth(charts)
    north, east, _ = recording.vehicle("craft")["position"].values.T
    assert north[-1] > 5000.0
    np.testing.assert_array_equal(recording.scene.depth_under(north, east), whole.at(north, east))
    assert not recording.summary.vehicles["craft"].events
    page = figure(out)
    drawn = [line.get_ydata() for axes in page.axes for line in axes.get_lines()]
    assert drawn
    assert "depth in m" in page.axes[0].get_xlabel()


def test_a_long_way_over_a_map_that_does_not_fit_is_loaded_as_a_strip(charts):
    """Half of ten kilometres beside it, as around a shorter mission, would be too much."""
    ahead = "mission: [{do: goto, waypoints: [[10000, 0, 10]], speed: 1.5}]"
    plan = compile_scenario(described(charts, extra=ahead, duration=8000))
    low, high = plan.loaded.low, plan.loaded.high
    assert low[0] < -200.0
    assert high[0] > 10200.0
    assert plan.loaded.part.depth.shape[1] == 512


def test_a_shoal_far_off_stops_who_comes_to_it(charts):
    scenario = over(charts, "shoal.nc").model_copy(update={"stop_when_grounded": True})
    simulation = st.Simulation(scenario, record=True)
    state = simulation.vehicles["craft"]
    while state.status == "running" and simulation.time < 400.0:
        state = simulation.step()["craft"]
    assert state.status == "grounded"
    assert 700.0 < state.position[0] < 760.0
    for _ in range(5):  # until a frame tells it
        simulation.step()
    assert simulation.finish().summary.vehicles["craft"].status == "grounded"


def test_over_a_hole_the_bottom_is_the_nearest_that_is_known_and_it_is_told(charts):
    simulation = st.Simulation(over(charts, "holes.nc", sensors=SENSORS), record=True)
    moved(simulation, 420.0)
    run = simulation.finish()
    (event,) = run.summary.vehicles["craft"].events
    assert re.match("came over a hole of the map at (898|899|900) m north, -?0 m", event.text)
    assert event.outcome == "left the map"
    values = run.recording.samples("craft", "alti").values
    assert np.isfinite(values).all()
    assert (values > 20.0).all()


def test_the_end_of_the_map_is_told_of_and_no_other(tmp_path):
    write(tmp_path, lambda n, e: 40.0 + 0.01 * n + 0 * e)
    simulation = st.Simulation(over(tmp_path), record=True)
    moved(simulation, 430.0)
    (event,) = simulation.finish().summary.vehicles["craft"].events
    assert event.text.startswith("left the map at 100")
    assert "from -1000 to 1000 m north" in event.text


TWO = """
kind: scenario
name: two
duration: 4
world:
  name: charted
  datum: {latitude_deg: 54.0, longitude_deg: 8.0}
  seabed: {map: map.nc}
vehicles:
  - {name: ahead, vehicle: remus100_mss, sensors: [], start: {position: [0, 0, 10], speed: 2.5},
     commands: {propeller_rpm: 1500}}
  - {name: back, vehicle: remus100_mss, sensors: [], commands: {propeller_rpm: 1500},
     start: {position: [-50, 0, 10], speed: 2.5, heading_deg: 180}}
"""


def test_of_vehicles_that_part_the_first_has_its_bottom_and_the_other_is_told_of(charts):
    (charts / "two.yaml").write_text(TWO)
    simulation = st.Simulation(charts / "two.yaml", record=True)
    parts = moved(simulation, 300.0)
    ends = simulation.finish().summary.vehicles
    assert ends["ahead"].events == ()
    (event,) = ends["back"].events
    assert event.text.startswith("left the loaded part of the map at ")
    assert "vehicles that are farther apart cannot all have it loaded" in event.text
    assert parts[-1].high[0] > 750.0 + 100.0


def test_a_sonar_over_another_part_sees_its_bottom(charts):
    sonar = (
        "sensors: [{name: mbes, type: multibeam, rate: 0.2, range: 120, beams: 64, swath_deg: 90,"
        " fidelity: ideal}]"
    )
    simulation = st.Simulation(over(charts, sensors=sonar, speed=2.5), record=True)
    moved(simulation, 300.0)
    recording, whole = simulation.finish().recording, truth(charts)
    data = recording.vehicle("craft").sel(time=slice(250.0, None))
    samples = recording.samples("craft", "mbes")
    info = recording.info("craft").sensors[0]
    arrays = recording.payload("craft", "mbes")
    seen = 0
    for time_, cloud in zip(samples.time[samples.valid], arrays[:], strict=True):
        if time_ >= 250.0:
            now = data.sel(time=time_, method="nearest")
            turn = rotation_matrix(now["attitude"].values)
            place = now["position"].values + turn @ info.position
            points = place + cloud[np.isfinite(cloud[:, 0]), :3].astype(np.float64) @ turn.T
            assert place[0] > 600.0
            np.testing.assert_allclose(points[:, 2], whole.at(*points[:, :2].T), atol=0.05)
            seen += len(points)
    assert seen > 200


def test_a_map_that_goes_away_leaves_the_bottom_as_it_is_and_says_so(tmp_path):
    write(tmp_path, lambda n, e: 40.0 + 0.01 * n + 0 * e)
    simulation = st.Simulation(over(tmp_path), record=True)
    moved(simulation, 20.0)
    (tmp_path / "map.nc").unlink()
    moved(simulation, 200.0)
    (event,) = simulation.finish().summary.vehicles["craft"].events
    assert event.text.startswith("left the loaded part of the map at ")
    assert "the map cannot be read any more (No such file or directory)" in event.text


def test_many_runs_at_once_follow_as_one_does(charts):
    """The shoal lies beyond the part that a run of forty minutes begins with."""
    scenario = over(charts, "shoal.nc", duration=2400)
    scenario = scenario.model_copy(update={"stop_when_grounded": True})
    plan = compile_scenario(scenario)
    assert plan.loaded.high[0] < 740.0
    alone = st.run(plan).summary.vehicles["craft"]
    several = st.run_many(scenario, seeds=[1, 2])
    assert alone.status == "grounded"
    assert several.status.values.ravel().tolist() == ["grounded"] * 2
    np.testing.assert_array_equal(several.ended_at.values.ravel(), [alone.ended_at] * 2)


def test_a_reset_begins_over_the_part_of_the_start(charts):
    simulation = st.Simulation(over(charts))
    first = simulation._engine.plan.loaded
    before = moved(simulation, 200.0)
    simulation.reset()
    assert simulation._engine.plan.loaded is first
    again = moved(simulation, 200.0)
    assert len(before) == len(again) > 2
    for a, b in zip(before, again, strict=True):
        np.testing.assert_array_equal(a.part.depth, b.part.depth)


def test_a_map_that_fits_is_never_looked_at_again(tmp_path):
    write(tmp_path, half=100.0)
    plan = compile_scenario(over(tmp_path))
    assert plan.loaded.follow is None
    simulation = st.Simulation(plan)
    looked = moved(simulation, 60.0)
    assert len(looked) == 1
    assert simulation._engine._following.rest(600) > 1 << 20


def test_what_stands_on_the_bottom_far_off_stands_on_that_of_the_map(charts):
    body = "bodies: [{name: block, box: {size: [2, 2, 2]}, position: [3000, 100], on_bottom: true}]"
    plan = compile_scenario(over(charts, more=body))
    (block,) = (body for body in plan.scene.bodies if body.name == "block")
    assert block.pose(0.0)[0][2] == pytest.approx(float(truth(charts).at(3000.0, 100.0)) - 1.0)


@pytest.mark.parametrize("name", ["run.mcap", "run.zarr"])
def test_a_recording_that_a_kill_cut_short_has_the_parts_up_to_there(charts, tmp_path, name):
    plan = compile_scenario(over(charts, duration=2400))
    whole = truth(charts)
    sink = recorder(tmp_path / name, 1)
    sink.open(plan.header, plan.scene)
    with Engine(plan) as engine:
        gatherer = Gatherer(plan, engine.opening)
        while engine.time < 1000.0:
            for frames in gatherer.add(engine.advance(engine.block)):
                sink.write(frames)
    copy = tmp_path / f"copy-{name}"
    (shutil.copytree if name.endswith("zarr") else shutil.copy)(tmp_path / name, copy)
    recording = st.read(copy)
    assert recording.summary is None
    north, east = recording.vehicle("craft")["position"].values.T[:2]
    assert north[-1] > 2000.0
    np.testing.assert_array_equal(recording.scene.depth_under(north, east), whole.at(north, east))


def test_the_sea_may_change_while_the_map_follows(charts):
    """The plan of another sea begins with the part of the start."""
    calm = over(charts, sensors=SENSORS)
    other = compile_scenario(
        over(charts, sensors=SENSORS, more="current: {speed: 0.2, towards_deg: 90}")
    )
    with Engine(compile_scenario(calm), stepped=True) as engine:
        while engine.time < 150.0:
            engine.advance(1)
        part = engine.plan.loaded
        assert part.low[0] > -200.0
        with jax.enable_x64(True):
            engine.surround(OtherSea(compile_scenario(calm), other, engine.time).plan(engine.time))
        assert engine.plan.loaded is part
        fleet = engine.plan.fleets[0]
        np.testing.assert_array_equal(fleet.ocean.seabed.depth.first, part.part.first)
        spans = [f.sensor.reach.span for f in fleet.group.suite]
        for span in spans:
            least, most = part.part.depth.min(), part.part.depth.max()
            np.testing.assert_allclose(span, [least - 0.01, most + 0.01])
