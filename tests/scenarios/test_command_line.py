"""What a person types: `seatrial run`, `check`, `list`, `show`, `plot`, `export`, `bench`."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader, AnyReaderError
from rosbags.typesys import Stores, get_typestore

import seatrial as st
from malformed import malformed_documents
from seatrial.cli.progress import working

SEATRIAL = Path(sys.executable).parent / "seatrial"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_same_seed_gives_the_same_bytes_in_two_processes_and_another_seed_others(tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        out = tmp_path / f"{name}.mcap"
        command = [SEATRIAL, "run", "otter-turning-circle", "--seed", seed, "--duration", "40"]
        subprocess.run([*command, "--out", out], check=True, capture_output=True)
    assert digest(tmp_path / "a.mcap") == digest(tmp_path / "b.mcap")
    assert digest(tmp_path / "a.mcap") != digest(tmp_path / "c.mcap")


def test_run_prints_a_table_and_its_json_twin(seatrial, tmp_path):
    words = ("run", "mariner-turning-circle", "--duration", "400", "--out", tmp_path / "m.mcap")
    code, out, _ = seatrial(*words)
    assert code == 0
    assert "completed" in out
    assert "advance over length" in out
    code, out, _ = seatrial(*words, "--json")
    result = json.loads(out)
    assert result["status"] == "completed"
    assert result["real_time_factor"] > 0
    ship = result["vehicles"]["mariner"]
    assert {"distance", "speed_mean", "speed_max", "indices"} <= ship.keys()
    # MSS's mariner.m at 35° of rudder to starboard: 3.54 L and 6.40 L
    assert ship["indices"]["advance_over_length"] == pytest.approx(3.54, rel=0.02)
    assert ship["indices"]["tactical_diameter_over_length"] == pytest.approx(6.40, rel=0.02)


@pytest.mark.parametrize("name", ["mariner-zigzag", "otter-zigzag", "smarty-swarm"])
def test_scenarios_of_the_library_complete_from_the_command_line(name, seatrial):
    """A sample; `tests/oracle/test_library_scenarios.py` and `test_missions.py` run them all."""
    code, out, err = seatrial("run", name, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["status"] == "completed"
    for vehicle in result["vehicles"].values():
        assert vehicle["distance"] > 0
        assert vehicle["speed_max"] < 15.0
    if name.endswith("zigzag"):
        overshoots = [v["indices"]["first_overshoot_deg"] for v in result["vehicles"].values()]
        assert all(0 < o < 60 for o in overshoots)


def test_list_and_show_cover_the_whole_library(seatrial):
    code, out, _ = seatrial("list", "--json")
    assert code == 0
    listed = json.loads(out)
    expected = {
        *("remus100", "remus100_mss", "otter", "wamv", "smarty", "sookshma"),
        *("bluerov2", "bluerov2_heavy", "mariner"),
    }
    assert expected <= listed["vehicle"].keys()
    for kind, entries in listed.items():
        for name, description in entries.items():
            assert description, f"{kind} {name} has no description"
    for name in ("otter", "sea-state-4", "mariner-zigzag"):
        code, out, _ = seatrial("show", name)
        assert code == 0
        assert f"name: {name}" in out
    _, text, _ = seatrial("list")
    assert "mariner" in text


@pytest.mark.parametrize(
    "kinds", [("world",), pytest.param(("vehicle", "scenario"), marks=pytest.mark.rest)], ids=str
)
def test_check_accepts_the_whole_library(seatrial, kinds):
    names = [n for kind in kinds for n in st.library_names(kind)]
    code, out, err = seatrial("check", *names)
    assert code == 0, err
    assert out.count("usable") == len(names)


def test_malformed_files_end_in_a_message_and_exit_code_2(seatrial, tmp_path):
    count = 0
    for name, content in malformed_documents(seed=2026, count=44):
        file = tmp_path / name
        file.write_bytes(content)
        code, _, err = seatrial("check", file)
        assert code == 2, f"{name} was accepted"
        assert name in err
        assert "Traceback" not in err
        assert len(err.strip()) > len(str(file))
        count += 1
    assert count >= 40


def impossible(vehicle, **changes):
    described = st.load(vehicle).model_dump()
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = described
        for key in parents:
            place = place[key]
        place[last] = value
    return st.Vehicle.model_validate(described)


@pytest.mark.parametrize(
    ("vehicle", "changes", "message"),
    [
        ("remus100", {"hydrodynamics__coefficients__Y_vd": 80.0}, "not positive definite"),
        ("remus100", {"inertia__centre_of_gravity": (0.0, 0.0, -0.02)}, "centre of gravity"),
        ("smarty", {"inertia__centre_of_gravity": (0.0, 0.0, -0.3)}, "metacentre"),
        ("otter", {"hydrodynamics__coefficients__X_uz": -1.0}, "`X_uz` means nothing"),
        ("otter", {"inertia__mass": 900.0}, "do not displace what the vehicle weighs"),
        ("otter", {"manoeuvring__helm": {"rudder": 1.0}}, "no command channel `rudder`"),
    ],
)
def test_impossible_physics_is_refused(vehicle, changes, message, seatrial, tmp_path):
    from seatrial.spec.loading import dump

    file = tmp_path / "impossible.yaml"
    file.write_text(dump(impossible(vehicle, **changes)))
    code, _, err = seatrial("check", file)
    assert code == 2
    assert message in err
    assert "impossible.yaml:" in err
    assert "expected:" in err


def test_a_wrong_name_seed_or_output_ends_in_a_message(seatrial, tmp_path):
    code, _, err = seatrial("run", "oter-turning-circle")
    assert code == 2
    assert "did you mean `otter-turning-circle`" in err
    assert seatrial("run", "mariner-zigzag", "--seed", "-1")[0] == 2
    assert seatrial("run", "mariner-zigzag", "--duration", "-5")[0] == 2
    assert seatrial("run", "mariner-zigzag", "--out", tmp_path / "no" / "x.mcap")[0] == 2
    assert seatrial("run", "mariner-zigzag", "--out", tmp_path)[0] == 2
    assert "--out run.mcap" in seatrial("run", "mariner-zigzag", "--out", "")[2]
    for name in ("n" * 300 + ".mcap", "n" * 300 + ".zarr"):
        code, _, err = seatrial("run", "mariner-zigzag", "--out", tmp_path / name)
        assert (code, "too long" in err) == (2, True)
        code, _, err = seatrial("info", tmp_path / name)
        assert (code, "too long" in err) == (2, True)
    for words in (("hull", "n" * 300 + ".stl", "--mass", "5"), ("check", "n" * 300)):
        code, _, err = seatrial(*words)
        assert (code, "nnn" in err) == (2, True)
    assert seatrial("plot", tmp_path / "missing.mcap")[0] == 2
    assert seatrial("export", tmp_path / "missing.mcap", "--to", "csv")[0] == 2


@pytest.mark.parametrize(
    ("variables", "words", "place", "code", "said"),
    [
        ({"PYTHONIOENCODING": "ascii"}, "list", os.devnull, 0, ""),
        ({"PYTHONIOENCODING": "ascii"}, "check größe.yaml", os.devnull, 2, "no such file"),
        ({}, "list", "/dev/full", 2, "No space left on device"),
        ({}, "show otter", "/dev/full", 2, "No space left on device"),
    ],
)
def test_a_place_that_takes_not_everything_ends_in_no_trace(variables, words, place, code, said):
    with open(place, "wb") as out:
        done = subprocess.run(
            [SEATRIAL, *words.split()],
            env=os.environ | variables,
            stdout=out,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_whatever_of_the_three_streams_is_closed_a_run_is_recorded_whole(closed, tmp_path):
    """A file that is opened next would have the number of the closed one, and take its text."""
    run = f'"{SEATRIAL}" run mariner-zigzag --duration 5 --fault "rudder: jam @ 60s" --out'
    for name, how in (("open", ""), ("closed", closed)):
        done = subprocess.run(f"{run} {name}.mcap {how}", shell=True, cwd=tmp_path)
        assert done.returncode == 0
    assert digest(tmp_path / "open.mcap") == digest(tmp_path / "closed.mcap")


def test_wave_forces_are_written_over_no_description(seatrial, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("kind: world\n")
    code, _, err = seatrial("waves", "precompute", "smarty", "sea-state-4", "--out", mine)
    assert (code, mine.read_text()) == (2, "kind: world\n")
    assert "--out mine.npz" in err


@pytest.mark.parametrize("value", ["-1", "nan", "1e9"])
def test_tune_is_refused_a_frequency_that_no_waves_have(value, seatrial):
    code, _, err = seatrial("tune", "wamv_azimuth", "--wave-frequency", value)
    assert code == 2
    assert "wave_frequency" in err


def test_plot_and_export_write_what_they_say(seatrial, tmp_path):
    out = tmp_path / "run.mcap"
    seatrial("run", "mariner-zigzag", "--duration", "60", "--out", out)
    code, text, _ = seatrial("plot", out)
    assert code == 0
    assert (tmp_path / "run.png").stat().st_size > 20_000
    assert "run.png" in text
    assert seatrial("export", out, "--to", "csv")[0] == 0
    assert seatrial("export", out, "--to", "netcdf")[0] == 0
    assert {p.suffix for p in tmp_path.iterdir()} == {".mcap", ".png", ".csv", ".nc"}
    assert seatrial("export", out, "--to", "excel")[0] == 2


def test_a_killed_run_leaves_a_recording_that_opens(tmp_path, seatrial):
    out = tmp_path / "killed.mcap"
    command = [SEATRIAL, "run", "otter-turning-circle", "--duration", "100000", "--out", out]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):  # until something was written, at most two minutes
            if out.exists() and out.stat().st_size > 200_000:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    recording = st.read(out)
    assert recording.summary is None
    assert recording.dataset.sizes["time"] >= 100
    assert np.all(np.isfinite(recording.dataset.position))
    with pytest.raises(AnyReaderError):  # an index is what other programs want
        read_by_rosbags(out)
    assert seatrial("recover", out)[0] == 0
    whole = tmp_path / "killed-recovered.mcap"
    assert read_by_rosbags(whole) >= 100 * 12


def read_by_rosbags(path):
    with AnyReader([path], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        return sum(1 for _ in reader.messages())


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupted_run_is_closed_as_stopped(tmp_path):
    out = tmp_path / "stopped.mcap"
    command = [SEATRIAL, "run", "otter-turning-circle", "--duration", "100000", "--out", out]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for _ in range(1200):
        if out.exists() and out.stat().st_size > 200_000:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert b"Traceback" not in err
    summary = st.read(out).summary
    assert summary is not None
    assert summary.status == "stopped"


INTERRUPTED_ELSEWHERE = """
import os, signal, sys, time
from seatrial import cli
from seatrial.cli import commands

def deaf(how: str):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except BaseException as error:
        if how == "turned":
            raise RuntimeError("the class could not be built") from error
    time.sleep(60)

commands.app.command("deaf")(deaf)
sys.argv = ["seatrial", "deaf", sys.argv[1]]
cli.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize("how", ["swallowed", "turned"])
def test_an_interrupt_is_heard_by_those_who_catch_everything(how):
    """As pydantic does while it builds a class, and XLA while it compiles beside a pool."""
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_ELSEWHERE, how],
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


INTERRUPTED_COMPILER = """
import os, signal, sys, threading, time
from seatrial import cli, programs
from seatrial.cli import commands

def compile_for_long():
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    programs._interruptible(lambda: time.sleep(60))

commands.app.command("long")(compile_for_long)
sys.argv = ["seatrial", "long"]
cli.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupt_is_heard_while_a_program_is_compiled():
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_COMPILER], capture_output=True, text=True, timeout=50
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


def test_demo_ends_with_table_recording_and_figure(seatrial, tmp_path):
    code, out, err = seatrial("demo", "--folder", tmp_path)
    assert code == 0, err
    assert "completed" in out
    assert (tmp_path / "demo.mcap").stat().st_size > 100_000
    assert (tmp_path / "demo.png").stat().st_size > 50_000


def test_bench_step_prints_rows_that_scripts_can_read(seatrial):
    code, out, _ = seatrial("bench", "step", "--vehicle", "smarty", "--json")
    assert code == 0
    rows = json.loads(out)
    assert {(r["vehicles"], r["components"]) for r in rows} == {
        (1, 0),
        (500, 0),
        (1, 75),
        (500, 75),
    }
    for row in rows:
        assert row["vehicle"] == "smarty"
        assert row["integrator"] == "semi_implicit"
        assert row["us_per_vehicle_step"] > 0
        assert row["real_time_factor"] > 0
        assert row["compile_s"] > 0


def test_version_is_printed(seatrial):
    code, out, _ = seatrial("--version")
    assert code == 0
    assert st.__version__ in out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_commands_that_take_long_show_a_bar_on_a_terminal_and_nowhere_else(
    seatrial, tmp_path, monkeypatch
):
    """Written to stderr, and taken away again."""
    monkeypatch.setenv("TERM", "xterm")
    out = tmp_path / "run.mcap"
    assert seatrial("run", "mariner-zigzag", "--duration", "20", "--out", out)[0] == 0
    long = {
        "writing csv": ("export", out, "--to", "csv"),
        "writing foxglove": ("export", out, "--to", "foxglove"),
        "drawing": ("plot", out),
        "checking": ("check", "calm"),
        "designing": ("tune", "mariner"),
    }
    for what, words in long.items():
        code, _, err = seatrial(*words)
        assert (code, err) == (0, "")
        with monkeypatch.context() as patched:
            screen = Terminal()
            patched.setattr(sys, "stderr", screen)
            code, text, _ = seatrial(*words)
        assert code == 0
        assert what in screen.getvalue()
        assert what not in text
        if words[0] == "tune":
            with monkeypatch.context() as patched:
                screen = Terminal()
                patched.setattr(sys, "stderr", screen)
                json.loads(seatrial(*words, "--json")[1])
            assert screen.getvalue() == ""


def test_a_bar_writes_names_with_brackets_as_they_are(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with working("checking runs[/old]/[bold]boat.yaml") as tell:
        tell(1.0)
    assert "runs[/old]/[bold]boat.yaml" in screen.getvalue()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("seatrial ru", {"run"}),
        ("seatrial run otter-s", {n for n in st.library_names("scenario") if n[:7] == "otter-s"}),
        ("seatrial tune remus", {n for n in st.library_names("vehicle") if n[:5] == "remus"}),
        ("seatrial show sea-st", {"sea-state-4"}),
        ("seatrial run nothing-like-it", set()),
    ],
)
def test_a_shell_completes_commands_and_names_of_the_library(typed, offered):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    asked = os.environ | words | {"_SEATRIAL_COMPLETE": "complete_bash"}
    done = subprocess.run([SEATRIAL], env=asked, capture_output=True, text=True)
    assert set(done.stdout.split()) == offered, done.stderr
