"""Bridges from the command line: what is typed in error is refused before anything is compiled."""

import socket

import pytest

from seatrial.cli import main


def typed(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["seatrial", *arguments])
    with pytest.raises(SystemExit) as ending:
        main()
    return ending.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--lock-step"], "nobody outside would be heard"),
        (["--pace", "2"], "nobody outside would be heard"),
        (["--nmea", "serial"], "no place to speak at"),
        (["--nmea", "ghost@pty:"], "there is no vehicle `ghost`"),
        (["--nmea2000", "ghost@pty:"], "--nmea2000 otter@tcp"),
        (["--ros2", "--profile", "ros1"], "there is no profile `ros1`"),
        (["--ros2", "--domain", "999"], "232"),
        (["--rosbridge", "70000"], "65535"),
        (["--foxglove", "-1"], "--foxglove"),
        (["--ardupilot", "otter@x"], "no place for --ardupilot"),
        (["--ardupilot", "otter@0:rudder=1"], "no channel `rudder`"),
        (["--mavlink", "ghost@0"], "there is no vehicle `ghost`"),
        (["--nmea", "pty:", "--out", "run.txt"], "run.txt"),
        (["--rosbridge", "0", "--drive", "otter"], "only a run in lock-step waits"),
        (["--rosbridge", "0", "--lock-step", "--drive", "ghost"], "there is no vehicle `ghost`"),
        (["--nmea", "pty:", "--profile", "vrx"], "--ros2, --rosbridge or --foxglove"),
        (["--profile", "panism"], "--ros2, --rosbridge or --foxglove"),
        (["--nmea2000", "pty:", "--lock-step"], "none of these bridges steers"),
        (["--nmea", "udp://127.0.0.1:9", "--lock-step"], "none of these bridges steers"),
        (["--nmea", "tcp://no-such-host.invalid:10110"], "no-such-host.invalid:10110"),
    ],
)
def test_mistakes_end_with_2_and_a_reason(monkeypatch, capsys, arguments, told):
    code, said = typed(monkeypatch, capsys, "run", "otter-turning-circle", *arguments)
    assert code == 2
    assert told in said
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_named(monkeypatch, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        for option, place in (
            ("--rosbridge", str(port)),
            ("--foxglove", str(port)),
            ("--mavlink", str(port)),
            ("--nmea", f"tcp://127.0.0.1:{port}"),
        ):
            code, said = typed(monkeypatch, capsys, "run", "demo", option, place)
            assert code == 2
            assert f"port {port}" in said


def test_a_recording_that_is_none_is_not_replayed(monkeypatch, capsys, tmp_path):
    (tmp_path / "x.mcap").write_bytes(b"nothing of that kind")
    for name in ("x.mcap", "missing.mcap"):
        code, said = typed(monkeypatch, capsys, "replay", str(tmp_path / name), "--domain", "97")
        assert code == 2
        assert "cannot replay" in said


def test_a_run_with_bridges_says_where_they_are_and_what_they_did(monkeypatch, capsys, tmp_path):
    (tmp_path / "short.yaml").write_text(
        "kind: scenario\nname: short\nseed: 5\nduration: 6\nworld: calm\nvehicles:\n"
        "  - {name: otter, vehicle: otter, start: {speed: 1.0, heading_deg: 30},\n"
        "     commands: {left_rpm: 600, right_rpm: 500}}\n"
    )
    arguments = ["run", str(tmp_path / "short.yaml"), "--nmea", "pty:", "--pace", "0", "--json"]
    monkeypatch.setattr("sys.argv", ["seatrial", *arguments])
    with pytest.raises(SystemExit) as ending:
        main()
    told = capsys.readouterr()
    assert ending.value.code in (0, None)
    assert "nmea: serial device /dev/" in told.err
    assert "sent" in told.err
    assert '"status": "completed"' in told.out
