"""The gallery of dense sensors: pictures that show what they should, on one page."""

import dataclasses

import numpy as np
import pytest
from typer.testing import CliRunner

from seatrial.cli.commands import app
from seatrial.errors import RecordingError
from seatrial.figures.gallery import picture, write_gallery
from seatrial.figures.instruments import DRAWN, fan_picture, soundings, with_gain
from seatrial.validation.gallery import PICTURES, take

SMALL = {
    "imaging_sonar": {"beams": 64, "bins": 128, "rays": 64},
    "side_scan": {"bins": 200, "rays": 128},
    "multibeam": {"beams": 64},
    "mechanical_sonar": {"bins": 100, "rays": 32, "step_deg": 6},
    "radar_image": {"azimuths": 90, "bins": 64},
    "lidar": {"model": "vlp16"},
    "camera": {"width": 64, "height": 48},
    "depth_camera": {"width": 64, "height": 48},
    "thermal_camera": {"width": 64, "height": 48},
}
"""What makes a picture of each sensor quick."""


def smaller(one):
    """The same picture with few samples and cells."""
    sensor = {**one.sensor, **SMALL[one.sensor["type"]]}
    samples = min(one.samples, 60 if one.sensor["type"] == "mechanical_sonar" else 12)
    return dataclasses.replace(one, sensor=sensor, samples=samples)


@pytest.fixture(scope="module")
def shots():
    return {one.sensor["type"]: take(smaller(one), seed=3) for one in PICTURES}


def test_every_sensor_that_draws_is_in_the_gallery(shots):
    assert set(shots) == set(DRAWN) == set(SMALL)


def test_pictures_show_what_their_captions_say(shots):
    imaging = with_gain(shots["imaging_sonar"])[0]
    assert np.quantile(imaging, 0.999) - np.median(imaging) > 10.0  # targets on the bottom
    port, starboard = with_gain(shots["side_scan"])[:, :, :].mean(axis=0)
    first = 9.0 / 60.0 * 200
    for side in (port, starboard):  # silent water, then the bottom
        assert side[int(first) + 10 :].mean() > side[: int(first) - 5].mean() + 10.0
    depth = soundings(shots["multibeam"])[:, 2]
    assert np.median(depth) == pytest.approx(14.0, abs=2.0)
    radar = shots["radar_image"].payload[0]
    assert radar.max() - np.median(radar) > 30.0
    assert np.isfinite(shots["lidar"].payload[..., 0]).sum() > 100
    assert np.isfinite(shots["depth_camera"].payload).mean() > 0.3
    red, _, blue = shots["camera"].payload[0].reshape(-1, 3).mean(axis=0)
    assert blue > 2.0 * red  # the reef
    kelvin = 0.01 * shots["thermal_camera"].payload[0]
    assert kelvin[0].mean() < 280.0 < kelvin[-1].mean()


def test_a_fan_is_drawn_upright_with_starboard_to_the_right():
    levels = np.zeros((61, 50))
    levels[50, 25] = 1.0  # 20 degrees to starboard, half way out
    seen, (left, right, low, high) = fan_picture(levels, np.radians(np.arange(-30, 31)), 10.0)
    row, column = np.argwhere(seen == 1.0).mean(axis=0)
    x = left + (column + 0.5) * (right - left) / seen.shape[1]
    y = low + (row + 0.5) * (high - low) / seen.shape[0]
    assert np.degrees(np.arctan2(x, y)) == pytest.approx(20.0, abs=0.5)
    assert np.hypot(x, y) == pytest.approx(5.1, abs=0.1)
    assert np.isnan(seen[0, 0])
    assert np.isnan(seen[0, -1])
    whole, _ = fan_picture(np.ones((36, 5)), np.radians(np.arange(-180, 180, 10)), 1.0)
    assert np.isfinite(whole[:20, 440:460]).mean() > 0.7  # nothing is missing astern


def test_the_page_needs_no_other_file(shots, tmp_path):
    page = tmp_path / "gallery.html"
    write_gallery(list(shots.values()), page)
    text = page.read_text()
    assert text.count("<figure>") == text.count("data:image/png;base64,") == len(shots)
    assert 'src="http' not in text
    one = next(iter(shots.values()))
    assert picture(one) == picture(one)
    with pytest.raises(RecordingError, match="cannot write the page"):
        write_gallery([], tmp_path / "nowhere" / "gallery.html")


def test_the_command_writes_the_page(monkeypatch, tmp_path):
    some = tuple(smaller(one) for one in PICTURES if one.sensor["type"] == "radar_image")
    monkeypatch.setattr("seatrial.validation.gallery.PICTURES", some)
    out = tmp_path / "g.html"
    done = CliRunner().invoke(app, ["sensors", "gallery", "--out", str(out), "--seed", "5"])
    assert done.exit_code == 0, done.output
    assert "1 pictures" in done.output
    assert out.stat().st_size > 20_000
