"""Speckle and noise of sonars and radar, against their distributions; one false alarm in 1,000."""

import numpy as np
import pytest
from scipy import stats

from pinging import ball, build, intensity, sea, views
from seatrial.geometry.bodies import Body, Timetable

ALARM = 1e-3
BOTTOM = sea(seabed={"depth": 20.0})
AT = (0.0, 0.0, 12.0)
DRIFTING = Timetable(np.zeros(1), np.array([[0.0, 3.0]]), np.array([[0.5, 0.2]]))


def pings(count, kind="imaging_sonar", **described):
    """Intensities (count, beams, bins) of pings from one place, and their mean."""
    shape = {"beams": 16, "field_of_view_deg": 20, "bins": 100, "range": 40, **described}
    exact = build(kind, BOTTOM, **shape).dense
    noisy = build(kind, BOTTOM, fidelity="nominal", **shape).dense
    drawn = noisy.expand(views(np.tile(AT, (count, 1))), BOTTOM).payload
    return intensity(drawn), intensity(exact.expand(views(AT), BOTTOM).payload[0]) + noisy.noise


def test_the_intensity_of_a_cell_is_exponentially_distributed_around_its_mean():
    seen, mean = pings(60)
    ratio = (seen / mean).ravel()
    assert stats.kstest(ratio, "expon").pvalue > ALARM
    error = 1.0 / np.sqrt(ratio.size)
    assert abs(ratio.mean() - 1.0) < 3.3 * error
    # The deviation equals the mean; that of a deviation of exponential numbers is √2 / √n.
    assert abs(ratio.std() - 1.0) < 3.3 * np.sqrt(2.0) * error
    amplitude = np.sqrt(seen[:, 5, 60] / mean[5, 60])
    assert stats.kstest(amplitude, "rayleigh", args=(0.0, np.sqrt(0.5))).pvalue > ALARM


def test_cells_and_pings_are_independent():
    seen, mean = pings(60)
    ratio = seen / mean
    for one, other in (
        (ratio[:, :-1], ratio[:, 1:]),
        (ratio[:, :, :-1], ratio[:, :, 1:]),
        (ratio[:-1], ratio[1:]),
    ):
        correlation = np.corrcoef(one.ravel(), other.ravel())[0, 1]
        assert abs(correlation) < 3.3 / np.sqrt(one.size)


@pytest.mark.parametrize(
    ("kind", "described"),
    [
        ("imaging_sonar", {"beams": 16, "bins": 100}),
        ("side_scan", {"bins": 100, "multipath": True}),
        ("mechanical_sonar", {"bins": 100}),
        ("multibeam", {"beams": 32}),
    ],
)
def test_a_sample_depends_on_its_view_and_number_alone(kind, described, monkeypatch):
    """Pings are cast some at a time: neither which nor how many changes a byte."""
    monkeypatch.setattr("seatrial.sensors.sonar.fan_sonar.RAYS", 3 * 11264)
    buoy = Body("buoy", "sphere", radius=1.0, position=np.array([0.0, 4.0, 8.0]), motion=DRIFTING)
    noisy = build(kind, BOTTOM, [buoy], fidelity="nominal", **described).dense
    places = AT + np.array([[0.3, 0.1, 0.2]]) * np.arange(5)[:, None]
    whole = noisy.expand(views(places, first=3), BOTTOM)
    for i, place in enumerate(places):
        alone = noisy.expand(views(place, first=3 + i), BOTTOM)
        assert alone.payload[0].tobytes() == whole.payload[i].tobytes()
        assert alone.values[0].tobytes() == whole.values[i].tobytes()
    assert (whole.payload[1] != whole.payload[2]).mean() > 0.5
    other = noisy.expand(views(places[2], first=5, key=(7, 10)), BOTTOM).payload
    assert (other[0] != whole.payload[2]).mean() > 0.5


def test_soundings_scatter_as_stated():
    described = {"beams": 64, "swath_deg": 90, "range_noise": 0.02, "angle_noise_deg": 0.1}
    exact = build("multibeam", BOTTOM, **described).dense
    noisy = build("multibeam", BOTTOM, fidelity="nominal", source_level=240, **described).dense
    true = exact.expand(views(AT), BOTTOM).payload[0].astype(float)
    told = noisy.expand(views(np.tile(AT, (200, 1))), BOTTOM).payload.astype(float)
    farther = (told[..., 4] - true[:, 4]) / 0.02
    aside = (told[..., 5] - true[:, 5]) / np.radians(0.1)
    for error in (farther, aside):
        there = error[np.isfinite(error)]
        assert there.size > 12_000
        assert stats.kstest(there, "norm").pvalue > ALARM
    # The place moves with both: depth by cos β and by r sin β.
    middle = np.nanstd(told[:, 32, 2] - true[32, 2])
    side = np.nanstd(told[:, 0, 2] - true[0, 2])
    assert abs(middle / 0.02 - 1.0) < 0.2
    expected = np.hypot(0.02 * np.cos(np.pi / 4), true[0, 4] * np.radians(0.1) * np.sin(np.pi / 4))
    assert abs(side / expected - 1.0) < 0.2


def test_weak_echoes_give_no_soundings():
    loud, faint = (
        build("multibeam", BOTTOM, fidelity="nominal", beams=64, source_level=level).dense
        for level in (230, 120)
    )
    where = views(np.tile(AT, (20, 1)))
    assert loud.expand(where, BOTTOM).values[:, 0].mean() > 60.0
    assert faint.expand(where, BOTTOM).values[:, 0].mean() < 2.0


def test_the_noise_of_a_radar_is_that_of_its_receiver():
    calm = sea()
    noisy = build("radar_image", calm, fidelity="nominal", azimuths=64, bins=512, rate=0.4).dense
    levels = noisy.expand(views((0.0, 0.0, -5.0)), calm).payload[0].astype(float)
    power = 10.0 ** (0.1 * (levels - 30.0))
    sea_alone = noisy.mean(np.array([0.0, 0.0, -5.0]), 0.0, 0.0, calm).astype(float)
    assert sea_alone[:, -1].max() < 0.2 * 1.26e-13
    expected = sea_alone + 1.380649e-23 * 290.0 * 10.0**0.4 / 8e-8
    assert stats.kstest((power / expected).ravel(), "expon").pvalue > ALARM


def test_a_mast_narrower_than_the_rays_is_met_in_its_share_of_sweeps():
    mast = ball(900.0, 3.0, -6.0, radius=0.4)
    shape = {"range": 1200, "bins": 120, "azimuths": 180, "rate": 0.4}
    noisy = build("radar_image", sea(), [mast], fidelity="nominal", **shape).dense
    sweeps = noisy.expand(views(np.tile((0.0, 0.0, -6.0), (40, 1))), sea()).payload
    strongest = sweeps[:, [179, 0, 1], 88:94].max(axis=(1, 2))
    seen = (strongest > sweeps[:, 60:120, 88:94].max(axis=(1, 2)) + 3.0).mean()
    spacing = 900.0 * 2.0 * np.pi / (180 * 4)
    assert 0.01 < seen < 0.5
    assert spacing > 5.0
