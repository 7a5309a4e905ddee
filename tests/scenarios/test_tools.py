"""Tools of the command line that look at sensors, filters and loops."""

import json

import pytest


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


def test_a_recorded_imu_is_analysed_and_a_recording_navigated_again(seatrial, tmp_path):
    run = seatrial("run", "sookshma-waypoints", "--duration", "60", "--out", "run.mcap")
    assert run[0] == 0
    code, out, err = seatrial("allan", "run.mcap", "--out", "allan.png", "--json")
    assert code == 0, err
    assert "gyroscope" in json.dumps(json.loads(out))
    assert (tmp_path / "allan.png").exists()
    code, out, err = seatrial("navigate", "run.mcap", "--json", "--out", "track.png")
    assert code == 0, err
    assert json.loads(out)
    assert (tmp_path / "track.png").exists()


def test_tune_prints_margins_of_every_loop(seatrial):
    code, out, err = seatrial("tune", "otter", "--json")
    assert code == 0, err
    assert {"heading", "surge"} <= {loop["name"] for loop in json.loads(out)["loops"]}


def test_a_fault_from_the_command_line_is_struck_or_refused_with_its_grammar(seatrial):
    words = ("run", "mariner-zigzag", "--duration", "5", "--json")
    code, out, _ = seatrial(*words, "--fault", "gnss: dropout @ 2s")
    assert code == 0
    assert json.loads(out)["status"] == "completed"
    code, _, err = seatrial(*words, "--fault", "gnss: explode @ 2s")
    assert code == 2
    assert "explode" in err
    code, _, err = seatrial(*words, "--fault", "ghost/gnss: dropout")
    assert code == 2
    assert "no vehicle `ghost`" in err
