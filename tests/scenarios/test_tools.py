"""Tools of the command line that look at sensors, filters and loops."""

import json
import math
import re

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import seatrial as st
from seatrial.cli.commands import app
from seatrial.cli.measured import bench
from seatrial.cli.tables import number, show_table
from seatrial.compile.autonomy.tuning import design
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.validation.timing import steps as timing


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_sensors_check_draws_every_sensor_of_a_vehicle(seatrial, tmp_path):
    code, out, _ = seatrial("sensors", "check", "mariner")
    assert code == 0
    for sensor in ("gyrocompass", "gnss", "speed_log", "anemometer", "rudder_angle"):
        assert sensor in out
    assert (tmp_path / "mariner-sensors.png").read_bytes().startswith(b"\x89PNG")


def test_sensors_check_of_a_vehicle_without_sensors_says_so(seatrial):
    code, _, err = seatrial("sensors", "check", "smarty")
    assert code == 2
    assert "has no sensors" in err


@pytest.fixture(scope="module")
def mission(tmp_path_factory):
    """A minute of Sookshma on its waypoints, recorded; nothing shakes its IMU, whose noise would
    not be found under that."""
    described = st.load("sookshma-waypoints")
    boat = described.vehicles[0]
    calm = [s.model_copy(update={"vibration": 0.0}) if s.type == "imu" else s for s in boat.fitted]
    boat = boat.model_copy(update={"sensors": tuple(calm)})
    out = tmp_path_factory.mktemp("mission") / "run.mcap"
    return st.run(described.model_copy(update={"vehicles": (boat,)}), duration=60, out=out)


def test_allan_finds_the_white_noise_that_the_recorded_imu_was_given(seatrial, tmp_path, mission):
    path = mission.recording.path
    code, out, err = seatrial("allan", path, "--out", "allan.png", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["vehicle"], found["sensor"], found["rate_hz"]) == ("sookshma", "imu", 50.0)
    assert found["moved"]
    # Of 60 s the white noise is seen within a few per cent; what is slower is the vehicle's motion.
    for triad in ("accelerometer", "gyroscope"):
        assert found[triad]["N"]["asked"] == load("adis16448").model_dump()[triad]["noise_density"]
    # The vessel rolls on its own waves: its gyroscope's noise is told apart only where it is still.
    noise = found["accelerometer"]["N"]
    assert noise["value"] == pytest.approx(noise["asked"], rel=0.05)
    assert noise["low"] < noise["value"] < noise["high"]
    assert (tmp_path / "allan.png").read_bytes().startswith(b"\x89PNG")


def test_navigating_a_recording_again_errs_as_the_filter_did_aboard(seatrial, tmp_path, mission):
    code, out, err = seatrial("navigate", mission.recording.path, "--json", "--out", "track.png")
    assert code == 0, err
    found = json.loads(out)
    aboard = mission.summary.vehicles["sookshma"]
    assert found["distance_m"] == pytest.approx(aboard.distance, rel=0.01)
    again = math.hypot(found["horizontal_error_rms_m"], found["depth_error_rms_m"])
    assert again == pytest.approx(aboard.indices["position_error_rms"], rel=0.1)
    # All of the error that the filter states, and not much more: χ² with three degrees of freedom.
    assert 1.0 < found["position_nees_mean"] < 7.8
    assert found["verdict"] == "the filter errs by about as much as it says"
    assert {"compass", "uwb 1", "uwb 4"} <= set(found["nis"])
    for sensor in ("compass", "uwb 1", "uwb 4"):
        assert found["nis"][sensor]["rejected"] < 0.05
    assert (tmp_path / "track.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = seatrial("navigate", mission.recording.path, "--vehicle", "nobody")
    assert (code, "expected: one of sookshma" in err) == (2, True)


def test_tune_prints_the_loops_that_a_mission_would_use(seatrial):
    code, out, err = seatrial("tune", "otter", "--json")
    assert code == 0, err
    found = {loop["name"]: loop for loop in json.loads(out)["loops"]}
    designed = {loop.name: loop for loop in design(load("otter", Vehicle)).tuning.loops}
    assert {"heading", "surge"} <= set(found) == set(designed)
    for name, loop in designed.items():
        assert found[name]["bandwidth"] == pytest.approx(loop.bandwidth)
        assert found[name]["margins"]["phase"] == pytest.approx(loop.margins.phase)
        assert loop.margins.phase > 30.0  # the least that textbooks ask for (Franklin et al.)
    least = max(designed.values(), key=lambda loop: loop.margins.sensitivity)
    document = json.loads(out)
    assert document["fit"] is True
    assert document["verdict"].startswith(f"fit; the {least.name} loop limits it")
    slowest = max(mode["growth"] for mode in document["modes"])
    assert f"falls to a third in {-1.0 / slowest:.3g} s" in document["verdict"]


def test_tune_tells_no_negative_time_of_what_does_not_fall(seatrial):
    """On station in 0.22 m/s a pole of the bluerov2 lies within what counts as none."""
    _, out, _ = seatrial("tune", "bluerov2", "--json")
    document = json.loads(out)
    kept = [m for m in document["modes"] if m["mode"] != "hold" or m["speed"] <= document["steady"]]
    growth = max(mode["growth"] for mode in kept if mode["mode"] != "stay")
    assert growth > 0.0
    told = float(document["verdict"].split("grows threefold in ")[1].split(" s (hold)")[0])
    assert told == pytest.approx(1.0 / growth, rel=0.01)


def test_tune_fails_with_the_reason_where_a_design_falls_short(seatrial):
    code, out, err = seatrial("tune", "otter", "--period", "1", "--json")
    assert code == 1, err
    document = json.loads(out)
    assert any("sensitivity" in reason for reason in document["failures"])
    assert any(mode["growth"] > 0.0 for mode in document["modes"])
    assert document["fit"] is False
    assert document["verdict"].startswith("not fit.")


def test_a_fault_from_the_command_line_takes_the_samples_or_is_refused_with_its_grammar(seatrial):
    words = ("run", "mariner-zigzag", "--duration", "5", "--json")
    code, out, _ = seatrial(*words, "--fault", "gnss: dropout @ 2s", "--out", "run.mcap")
    assert code == 0
    assert json.loads(out)["status"] == "completed"
    recording = st.read("run.mcap")
    # Once a second from 0 s on; what drops out is not written.
    assert recording.samples("mariner", "gnss").time.tolist() == [0.0, 1.0]
    fault = recording.vehicle("mariner")["fault"]
    assert fault.values[:, 0].tolist() == (fault.time.values >= 2.0).tolist()
    code, _, err = seatrial(*words, "--fault", "gnss: explode @ 2s")
    assert code == 2
    assert "explode" in err
    code, _, err = seatrial(*words, "--fault", "ghost/gnss: dropout")
    assert code == 2
    assert "no vehicle `ghost`" in err


def _assert_fits(out):
    """80 columns, nothing cut off."""
    assert out.strip()
    assert not [line for line in out.splitlines() if len(line) > 80]
    assert "…" not in out


def test_tables_fit_80_columns_and_cut_nothing(seatrial, mission, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = mission.recording.path
    for words in (
        ("tune", "mariner"),
        ("run", "mariner-turning-circle", "--duration", "5"),
        ("allan", path, "--out", "a.png"),
        ("navigate", path),
        ("list",),
        ("cache",),
    ):
        code, out, err = seatrial(*words)
        assert code == 0, err
        _assert_fits(out)
        if words[0] == "tune":
            assert "4.72e10" in out  # inertia in yaw, kg m²


def test_a_table_too_wide_goes_on_below_with_its_names_again(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    headings = ["", *(f"heading {i} [m]" for i in range(7))]
    rows = [["name " * 12, *("−11.50 to 12.25",) * 7], ["b", *("1.25e-12",) * 7]]
    show_table(Console(), "title", headings, rows)
    out = capsys.readouterr().out
    _assert_fits(out)
    assert out.count("−11.50 to 12.25") == out.count("1.25e-12") == 7
    assert out.count("[m]") == 7  # and no markup
    assert sum(line.strip().startswith("b ") for line in out.splitlines()) > 1

    row = {
        **{"vehicle": "bluerov2_heavy", "vehicles": 1_000_000, "components": 260},
        **{"precision": "double", "us_per_vehicle_step": 1234.5678, "real_time_factor": 98765432.1},
    }
    monkeypatch.setattr(bench, "time_case", lambda *case: row)
    bench.show_steps(timing.step_cases(["smarty"], "double"), as_json=False)
    _assert_fits(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.0, "0"), (-0.0596, "-0.0596"), (38.31, "38.3"), (1450.4, "1450"), (42490.0, "42500")),
        *((4.721e10, "4.72e10"), (-2.5e-7, "-2.50e-7"), (math.inf, "∞"), (math.nan, "nan")),
    ],
)
def test_numbers_have_three_digits_that_count(value, text):
    assert number(value) == text


def test_every_command_explains_itself():
    """Help is marked up: a bracket in it may end in a trace, or vanish."""

    def commands(command, words):
        yield words, command
        for name, part in getattr(command, "commands", {}).items():
            yield from commands(part, [*words, name])

    for words, command in commands(typer.main.get_command(app), []):
        told = CliRunner().invoke(app, [*words, "--help"])
        assert told.exit_code == 0, (words, told.exception)
        for text in (command.help, *(getattr(option, "help", "") for option in command.params)):
            assert not re.findall(r"(?<!\\)\[[a-z#/@][^\[]*?\]", text or ""), words
