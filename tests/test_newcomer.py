"""A newcomer who has `docs/first-hour.md` only: its files and its commands, in an empty folder.

Unlike the snippets of other pages, these are typed in a shell, each command a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from test_docs import DOCS, blocks_of, commands_of

PAGE = DOCS / "first-hour.md"


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder after the hour, and what each command printed."""
    folder = tmp_path_factory.mktemp("empty")
    programs = folder.parent / "programs"
    programs.mkdir()
    for name, module in (("seatrial", "-m seatrial"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (programs / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "MPLBACKEND": "agg"}
    printed = {}
    for block in blocks_of(PAGE):
        if block.note.startswith("file: "):
            (folder / block.note.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
        assert block.language in ("bash", "text") or block.note.startswith("file: "), block.place
        for line in commands_of(block) if block.language == "bash" else []:
            done = subprocess.run(
                line, shell=True, cwd=folder, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{block.place}: {line}\n{done.stdout}\n{done.stderr}"
            printed[line] = done.stdout
    return folder, printed


def test_the_page_leads_to_a_recording_and_a_figure(hour):
    folder, printed = hour
    assert {path.name for path in folder.iterdir()} >= {"box.mcap", "box.png"}
    assert (folder / "box.png").stat().st_size > 50_000
    sailed = next(text for line, text in printed.items() if line.startswith("seatrial run"))
    assert "3 of 3 legs done, 3 reached" in sailed


def test_the_numbers_that_python_reads_are_those_of_the_boat(hour):
    lines = hour[1]["python look.py"].splitlines()
    assert lines[0] == "completed"
    fastest, rolled = (float(line.split()[-2]) for line in lines[1:3])
    assert 1.2 < fastest < 2.5  # she makes 2 m/s, and the stream half a metre per second
    assert 2.0 < rolled < 25.0
    assert "velocity_north" in "\n".join(lines[3:])


def test_the_drift_is_that_of_stream_and_wind(hour):
    south, east = hour[1]["python adrift.py"].splitlines()
    means = [float(line.split()[0]) for line in (south, east)]
    spreads = [float(line.split()[-2]) for line in (south, east)]
    # Half a metre per second of stream to the south-east for half a minute; waves and gusts differ.
    assert 3.0 < means[0] < 8.0
    assert 10.0 < means[1] < 20.0
    assert all(0.1 < spread < 2.0 for spread in spreads)
