"""Films of a run: `seatrial plot RUN --out run.gif`."""

import sys

import numpy as np
import pytest
import record_frames as rf
from PIL import Image

from seatrial.errors import RecordingError
from seatrial.figures.plot import plot
from seatrial.figures.run.film import _Film, _times
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("film") / "run.mcap"
    recorder = McapRecorder(path)
    recorder.open(rf.header())
    recorder.write(rf.frames())
    recorder.close(rf.summary())
    return path


def test_film_shows_the_time_that_was_asked_for_at_its_speed(recorded, tmp_path, seatrial):
    out = tmp_path / "run.gif"
    words = ("--from", "10", "--to", "30", "--speed", "20", "--vehicle", "otter")
    code, text, err = seatrial("plot", recorded, "--out", out, *words)
    assert code == 0, err
    assert f"film: {out}" in text
    with Image.open(out) as film:
        assert film.n_frames == 16  # a second at 15 pictures a second, and the first
        assert film.size == (800, 450)
        first = np.asarray(film.convert("RGB"), int)
        film.seek(15)
        last = np.asarray(film.convert("RGB"), int)
    assert np.abs(first - last).sum(axis=-1).astype(bool).mean() > 0.002  # it moves
    assert tuple(first[0, -1]) == (255, 255, 255)
    again = tmp_path / "again.gif"
    plot(recorded, again, start=10.0, end=30.0, speed=20.0, vehicles=["otter"])
    assert again.read_bytes() == out.read_bytes()


def test_hulls_lean_as_the_vehicle_does(recorded):
    run = read(recorded)
    film = _Film([run], _times([run], None))
    told = []
    for _ in film.pictures(told.append):
        pass
    assert told[-1] == 1.0
    assert len(told) == 151  # ten seconds
    data, row = run.vehicle("otter"), film._rows[0][-1]
    roll, pitch, _ = data["euler"].values[row]
    hulls = [a for a in film._moving if type(a).__name__ == "Polygon"][::2]
    for hull, rise in zip(hulls, (-roll, pitch), strict=True):  # starboard down; bow up
        corners = hull.get_xy()
        left, right = corners[0], corners[1]  # of the deck
        slope = np.arctan2(*(right - left)[::-1])
        assert slope == pytest.approx(rise, abs=1e-6)
        assert abs(rise) > 1e-3
    assert hulls[0].get_xy()[:, 1].mean() == pytest.approx(-data["depth"].values[row], abs=0.05)


def test_what_no_film_takes_is_refused(recorded, tmp_path, monkeypatch):
    with pytest.raises(RecordingError, match="takes no panels"):
        plot(recorded, tmp_path / "f.gif", panels=["roll"])
    with pytest.raises(RecordingError, match="only a film has a speed"):
        plot(recorded, tmp_path / "f.png", speed=2.0)
    for speed in (-1.0, 1e-4, 1e9):
        with pytest.raises(RecordingError, match="another --speed"):
            plot(recorded, tmp_path / "f.gif", speed=speed)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(RecordingError, match=r"pip install 'seatrial\[video\]'"):
        plot(recorded, tmp_path / "f.mp4")
    assert not list(tmp_path.iterdir())


def test_mp4_is_written_by_the_package_with_its_own_ffmpeg(recorded, tmp_path):
    first, second = (plot(recorded, tmp_path / f"{n}.mp4", speed=60.0) for n in "ab")
    data = first.read_bytes()
    assert data[4:8] == b"ftyp"
    assert data == second.read_bytes()
