"""Worlds with a bottom that is not flat: loaded where the vehicles are, felt, checked and kept."""

import warnings

import jax
import numpy as np
import pytest
from typer.testing import CliRunner

import seatrial as st
from charts import described, ridge, write
from seatrial.bathymetry.store import open_map
from seatrial.cli import main
from seatrial.cli.commands import app
from seatrial.compile.scenario import compile_scenario
from seatrial.compile.surroundings.reach import reach_of
from seatrial.compile.surroundings.seabed import bottom_of
from seatrial.figures.plot import figure
from seatrial.geometry.grid import HeightGrid
from seatrial.ocean.synthesis import wavenumber


def shapes(plan):
    """What a program belongs to."""
    leaves, structure = jax.tree.flatten([(f.group, f.ocean) for f in plan.fleets])
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]


NORTH = "mission: [{do: goto, waypoints: [[150, 0, 10]], speed: 1.5}]"


def test_of_a_map_the_part_around_the_vehicles_is_loaded(tmp_path):
    whole = write(tmp_path)
    plan = compile_scenario(described(tmp_path, extra=NORTH))
    depth = plan.fleets[0].ocean.seabed.depth
    assert isinstance(depth, HeightGrid)
    part = plan.scene.terrain
    assert part.depth.shape == (192, 128)
    assert whole.depth.shape == (401, 401)
    # 200 m, and half of the mission's 150 m, around start and waypoint.
    assert (part.origin <= [-275.0, -275.0]).all()
    assert (part.corner >= [425.0, 275.0]).all()
    x, y = np.random.default_rng(1).uniform(-200, 200, (2, 100))
    np.testing.assert_allclose(part.at(x, y), whole.at(x, y), atol=1e-9)
    assert plan.header.water_depth is None


def test_another_map_seed_and_place_are_the_same_program(tmp_path):
    write(tmp_path)
    write(tmp_path, lambda n, e: 60.0 - ridge(n, e) / 3.0 + 0.01 * e, name="other.nc")
    one = compile_scenario(described(tmp_path, extra=NORTH))
    other = described(tmp_path, "{map: other.nc}", extra=NORTH, seed=7, start=[20, -30, 12])
    compiled = []

    def hear(name, seconds, **about):
        if "backend_compile" in name:
            compiled.append(name)

    jax.monitoring.register_event_duration_secs_listener(hear)
    another = compile_scenario(other)
    jax.monitoring.unregister_event_duration_listener(hear)
    assert compiled == []
    assert shapes(one) == shapes(another)
    assert not np.array_equal(one.scene.terrain.depth, another.scene.terrain.depth)


def test_without_a_mission_the_reach_grows_with_the_time(tmp_path):
    write(tmp_path)
    short, long = (reach_of(described(tmp_path, duration=t)) for t in (4, 40))
    speed = (long.high[0] - short.high[0]) / 36.0
    assert 3.0 < speed < 20.0  # a generous bound on what a REMUS 100 can do
    assert short.high[0] > 200.0 + 4.0 * 1.5


def test_waves_have_the_mean_depth_under_start_and_mission(tmp_path):
    write(tmp_path, lambda n, e: 10.0 + 0.02 * n + 0 * e)
    more = "waves: {spectrum: regular, height: 0.2, period: 6.0}"
    otter = {"vehicle": "otter", "start": [0, 0, 0], "more": more}
    way = "mission: [{do: goto, waypoints: [[100, 0], [200, 0]]}]"
    plan = compile_scenario(described(tmp_path, extra=way, **otter))
    waves = plan.fleets[0].ocean.waves
    assert float(waves.depth) == pytest.approx(12.0, abs=1e-4)  # of 10, 12 and 14 m
    k = wavenumber(np.array([2.0 * np.pi / 6.0]), 12.0)[0]
    assert float(np.asarray(waves.wavenumber).ravel()[0]) == pytest.approx(k, rel=1e-6)
    alone = bottom_of(described(tmp_path, **otter).world, 1)
    assert alone.for_waves == pytest.approx(15.0, abs=0.1)  # of all that is wet, 0 to 30 m


REFUSED = {
    "no such file": ({"seabed": "{map: none.nc}"}, r"no map can be read.*none\.nc"),
    "no map": ({"seabed": "{map: scenario.yaml}"}, "no map can be read"),
    "another datum": (
        {"seabed": "{map: elsewhere.nc}"},
        r"datum lies \d+(\.\d+)? km.*\n(.*\n)*.*"
        r"latitude_deg: 54.1",
    ),
    "holes": ({"seabed": "{map: holes.nc}"}, "have no depth(.*\n)*.*--holes fill"),
    "outside": ({"start": [2000, 0, 10]}, "`craft` begins 1000 m outside of the map"),
    "in the ridge": ({"start": [100, 0, 20]}, r"begins 5\.\d+ m deep in the bottom"),
    "on land": (
        {"vehicle": "otter", "start": [0, 300, 0], "seabed": "{map: coast.nc}"},
        "`craft` begins on land, 2 m above the water",
    ),
    "a waypoint in the ridge": (
        {"extra": "mission: [{do: goto, waypoints: [[100, 0, 20]]}]"},
        "at 20 m, where the water is 15 m deep",
    ),
    "a waypoint on land": (
        {
            "vehicle": "otter",
            "start": [0, 0, 0],
            "seabed": "{map: coast.nc}",
            "extra": "mission: [{do: goto, waypoints: [[0, 300]]}]",
        },
        "lies on land, 2 m above the water",
    ),
    "too far apart": (
        {
            "seabed": "{map: fine.nc}",
            "extra": "mission: [{do: goto, waypoints: [[-1500, -1500, 10], [1500, 1500, 10]]}]",
        },
        r"3000 m apart towards north(.*\n)*.*at most 4194304 nodes around(.*\n)*.*one by one",
    ),
    "waves too high": (
        {
            "more": "waves: {spectrum: jonswap, significant_height: 7, peak_period: 15}",
            "seabed": "{map: coast.nc}",
            "start": [0, 0, 5],
        },
        "breaks in water of this depth",
    ),
}


@pytest.fixture(scope="module")
def charts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("charts")
    write(folder)
    write(folder, name="elsewhere.nc", datum=(54.1, 8.0))
    write(folder, lambda n, e: np.where((n > 20) & (e > 20), np.nan, 40.0), name="holes.nc")
    write(folder, lambda n, e: np.maximum(10.0 - 0.05 * e, -2.0), name="coast.nc")
    write(folder, half=1700.0, spacing=1.0, name="fine.nc")
    return folder


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_over_a_map_is_refused(charts, case):
    edits, message = REFUSED[case]
    with pytest.raises(st.SpecError, match=message):
        compile_scenario(described(charts, **edits))


def test_a_way_through_a_ridge_is_doubted(charts):
    through = "mission: [{do: goto, waypoints: [[200, 0, 30]], speed: 1.5}]"
    over = "mission: [{do: goto, waypoints: [[200, 0, 12]], speed: 1.5}]"
    with pytest.warns(
        st.SpecWarning, match=r"`goto 1` leads through the bottom: it rises to 16\.28 m"
    ):
        compile_scenario(described(charts, extra=through))
    with warnings.catch_warnings():
        warnings.simplefilter("error", st.SpecWarning)
        compile_scenario(described(charts, extra=over))


def test_a_run_over_a_ridge_feels_its_altitude_and_keeps_the_bottom(charts, tmp_path):
    """A REMUS goes level at 10 m over a ridge that rises from 40 m to 15 m."""
    fault = "{target: propeller, kind: reduced, effectiveness: 0.5, "
    fault += "when: {quantity: altitude, below: 12}}"
    extra = f"commands: {{propeller_rpm: 1200}}\n    faults: [{fault}]"
    scenario = described(charts, start=[60, 0, 10], speed=2.0, extra=extra, duration=30)
    out = tmp_path / "run.mcap"
    assert st.run(scenario, out=out).status == "completed"
    recorded = st.read(out)
    data = recorded.vehicle("craft")
    north, east, depth = data["position"].values.T
    under = recorded.scene.depth_under(north, east)
    with open_map(charts / "map.nc") as file:
        whole = file.read(slice(0, 401), slice(0, 401))
    np.testing.assert_allclose(under, whole.at(north, east), atol=1e-9)
    struck = data["fault"].values.ravel() > 0
    altitude = under - depth
    assert struck.any()
    assert not struck[0]
    clear = np.abs(altitude - 12.0) > 0.2
    np.testing.assert_array_equal(struck[clear], altitude[clear] < 12.0)
    page = figure(out)
    assert "depth in m" in page.axes[0].get_xlabel()
    drawn = [line.get_ydata() for axes in page.axes for line in axes.get_lines()]
    assert any(len(y) == len(under) and np.allclose(y, under) for y in drawn)


def test_a_vehicle_that_runs_into_the_ridge_is_aground(charts):
    ahead = "commands: {propeller_rpm: 1500}"
    scenario = described(charts, start=[75, 0, 20], speed=2.0, duration=30, extra=ahead)
    scenario = scenario.model_copy(update={"stop_when_grounded": True})
    finished = st.run(scenario)
    assert finished.status == "grounded"
    assert 2.0 < finished.summary.vehicles["craft"].ended_at < 28.0


COMMANDS = {
    "binary": (["a.xyz", "--out", "a.nc"], "a.xyz:1: this is binary data"),
    "no file": (["b.xyz", "--out", "a.nc"], "b.xyz: there is no such file"),
    "no map": (["a.xyz", "--out", "a.txt"], "a name that ends in .nc"),
    "no folder": (["a.xyz", "--out", "none/a.nc"], "there is no such folder"),
    "a datum of words": (["a.xyz", "--out", "a.nc", "--datum", "here"], "LATITUDE,LONGITUDE"),
    "a datum in space": (["a.xyz", "--out", "a.nc", "--datum", "91,0"], "no place on Earth"),
    "a way of its own": (["a.xyz", "--out", "a.nc", "--as", "cubic"], "grid or mesh"),
    "no spacing": (["a.xyz", "--out", "a.nc", "--spacing", "0"], "0.01 to 10,000 m"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_what_cannot_be_imported_ends_with_two_and_no_trace(tmp_path, monkeypatch, capsys, case):
    arguments, message = COMMANDS[case]
    (tmp_path / "a.xyz").write_bytes(b"\x00\x01\x02")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["seatrial", "seabed", "import", *arguments])
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["a.xyz"]


def test_the_command_writes_a_map_a_picture_and_a_report(tmp_path):
    random = np.random.default_rng(1)
    rows = zip(random.uniform(54, 54.01, 400), random.uniform(8, 8.01, 400), strict=True)
    (tmp_path / "a.xyz").write_text("\n".join(f"{a},{b},{20 + 500 * (a - 54)}" for a, b in rows))
    out = tmp_path / "map.nc"
    command = ["seabed", "import", str(tmp_path / "a.xyz"), "--out", str(out), "--datum", "54,8"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    for words in ("400, of which 0 repeat", "m north by", "resolution", "holes", "datum  54.0"):
        assert words in result.output
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    scenario = described(tmp_path, start=[300, 300, 5])
    assert compile_scenario(scenario).scene.terrain.at(500.0, 300.0) == pytest.approx(22.2, abs=0.1)


def test_who_leaves_a_map_is_told_of_and_who_stays_is_not(tmp_path):
    write(tmp_path, lambda n, e: 40.0 + 0 * n + 0 * e)
    for start, told in ((996, ["left the map at 1000 m north, 0 m east"]), (0, [])):
        events = st.run(described(tmp_path, start=[start, 0, 10])).summary.vehicles["craft"].events
        assert [event.text.split(":")[0] for event in events] == told
