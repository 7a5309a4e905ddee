"""Runs that are shown to their end, pages in notebooks, and other seeds and seas from the page."""

import json
import re
import socket
import time
import urllib.error
import urllib.request
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import seatrial as st
from seatrial import viewing
from seatrial.cli.commands import app
from seatrial.engine.frames import Act, Scene
from seatrial.errors import SpecError
from seatrial.record.choose import recorder
from seatrial.spec.loading import dump
from seatrial.viewer import server
from seatrial.viewer.messages import read_request
from seatrial.viewing import run_in_view, stage_of
from shown import SCENARIO


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of its own, whether the real one is built or not."""
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "index.html").write_text("<p>page</p>")
    monkeypatch.setattr(server, "STATIC", folder)
    monkeypatch.setattr(viewing, "LINGERING", 0.0)


def status(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def scenario(**more):
    return st.Scenario(**{**SCENARIO, "duration": 4.0, **more})


def test_a_run_in_view_is_the_run_itself(page, tmp_path):
    seen = []
    shown, alone = tmp_path / "shown.mcap", tmp_path / "alone.mcap"
    run = run_in_view(
        scenario(), out=shown, speed=100.0, shown=lambda p: seen.append(status(p.url))
    )
    st.run(scenario(), out=alone)
    assert shown.read_bytes() == alone.read_bytes()
    assert (run.status, run.summary.duration, seen) == ("completed", 4.0, [200])
    kept = run_in_view(scenario(), out=None, speed=100.0, shown=lambda p: None)
    assert np.array_equal(kept.dataset.position.values, run.dataset.position.values)


def test_the_command_line_shows_a_run_and_records_it(page, tmp_path):
    out = tmp_path / "run.mcap"
    options = ["--out", str(out), "--duration", "1", "--port", "0", "--no-browser", "--pace", "50"]
    file = tmp_path / "otter.yaml"
    file.write_text(dump(scenario()), encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(file), "--view", "--json", *options])
    assert done.exit_code == 0, done.output
    assert re.search(r"http://127\.0\.0\.1:\d+/", done.stderr)
    assert json.loads(done.stdout)["status"] == "completed"
    assert st.read(out).dataset.sizes["time"] == 11


def test_a_finished_run_is_a_page_in_a_cell(page):
    with st.view(st.run(scenario(), duration=1.0)) as shown:
        assert status(shown.url) == 200
        cell = shown._repr_html_()
        assert f'src="{shown.url}"' in cell
        assert shown.stage.hello.mode == "playback"
    with pytest.raises(urllib.error.URLError):
        status(shown.url)


def test_a_drill_has_a_link_for_each_role_and_none_without(page):
    with st.view(scenario(), drill=True) as shown:
        assert list(shown.links) == ["instructor", "trainee", "watcher"]
        assert len(set(shown.links.values())) == 3
        assert [status(link) for link in shown.links.values()] == [200] * 3
        assert status(shown.url.split("?")[0]) == 403


def test_what_cannot_be_shown_is_refused(page):
    with pytest.raises(SpecError, match="cannot keep this speed"):
        st.view(scenario(), speed=1000.0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SpecError, match="cannot listen"):
            st.view(scenario(), port=taken.getsockname()[1])


class Asked:
    """Does what pages ask for in the thread of the test, without a clock."""

    def __init__(self, stage):
        self.stage, self.refused = stage, []

    def __call__(self, **request):
        self.stage.ask(read_request.validate_python(request), self.refused.append)
        self.stage._hear()

    def until(self, true):
        """Wait for what is made beside the run."""
        for _ in range(3000):
            self.stage._hear()
            if true():
                return
            time.sleep(0.02)
        raise AssertionError(self.refused)


def test_another_seed_is_another_sea_from_the_start(tmp_path):
    out = tmp_path / "seeds.mcap"
    stage = stage_of(scenario(), out=out)
    ask = Asked(stage)
    ask(type="step")
    before = stage.hello
    ask(type="reset", seed=11)
    ask.until(lambda: stage.hello.seed == 11)
    assert (stage.run, stage.time) == (2, pytest.approx(0.1))
    assert stage.hello.waves.phase != before.waves.phase
    for _ in range(10):
        ask(type="step")
    stage._finish()
    recorded, alone = st.read(out), st.run(scenario(seed=11), duration=1.0)
    assert recorded.header.seed == 11
    assert [(a.who, a.what, a.value) for a in recorded.acts[:1]] == [
        ("operator", "reset", {"seed": 11})
    ]
    assert np.array_equal(recorded.dataset.position.values[:11], alone.dataset.position.values[:11])
    assert ask.refused == []


def _asked(stage):
    return stage._changing.asked


def test_weather_is_asked_for_by_parts_and_refused_with_reasons():
    stage = stage_of(scenario())
    ask = Asked(stage)
    ask(type="weather", wave_height=9.0, wave_period=3.0)
    ask.until(lambda: ask.refused)
    assert "would break" in ask.refused[0]
    assert stage.hello.weather.wave_height == 1.88
    ask(type="weather", visibility=300.0)
    ask(type="weather", sea_state=3)
    ask.until(lambda: (_asked(stage).visibility, _asked(stage).wave_height) == (300.0, 0.88))
    assert stage.hello.visibility == pytest.approx(100_000.0)
    for _ in range(230):
        ask(type="step")
    assert stage.hello.visibility == pytest.approx(300.0)
    assert stage.hello.weather.wave_period == 7.5
    ask(type="reset")
    assert stage.hello.visibility == 100_000.0
    assert stage.hello.weather.wave_height == 1.88


def test_a_flat_sea_without_wind_and_current_gets_them_all():
    stage = stage_of(scenario(world="calm"))
    ask = Asked(stage)
    ask(type="weather", wave_height=0.5, wave_period=4.0, wind_speed=6.0, current_speed=0.5)
    ask.until(lambda: stage._changing.periods is not None)
    for _ in range(230):
        ask(type="step")
    row = stage._block.frames.groups[0].frames
    assert np.hypot(*row.wind[-1, 0, :2]) == pytest.approx(6.0)
    assert row.current[-1, 0, 0] == pytest.approx(0.5)
    assert len(stage.hello.waves.amplitude) == 75
    assert ask.refused == []


@pytest.mark.parametrize("name", ["run.mcap", "run.zarr"])
def test_acts_are_kept_in_every_kind_of_recording(name, tmp_path):
    run = st.run(scenario(), duration=1.0)
    frames = run.recording.source.frames
    sea = Scene(waves=run.recording.scene.waves)
    acts = (
        Act(0.2, "operator", "channels", {"vehicle": "otter", "values": {"left": 5.0}}),
        Act(0.2, "instructor", "weather", {"visibility": 80.0}, sea),
        Act(0.95, "trainee", "release", {"vehicle": "ottér"}),
    )
    sink = recorder(tmp_path / name, 1)
    sink.open(run.header, run.recording.scene)
    sink.write(replace(frames, acts=acts))
    sink.close(run.summary)
    found = st.read(tmp_path / name).acts
    assert [replace(act, sea=None) for act in found] == [replace(act, sea=None) for act in acts]
    assert np.array_equal(found[1].sea.waves.phase, sea.waves.phase)
    assert [act.text for act in found] == [
        "operator: channels otter, left 5",
        "instructor: weather visibility 80",
        "trainee: release ottér",
    ]
    assert [act.deed for act in found] == ["channels left 5", "weather visibility 80", "release"]
