"""The radar's picture against the radar equation and plane geometry."""

import math

import numpy as np
import pytest

from pinging import ball, block, build, sea, turned, views
from seatrial.geometry.bodies import Body, Timetable
from seatrial.sensors.radar.clutter import reflectivity, sea_state, surface_around
from seatrial.sensors.radar.picture import FINEST, elevations
from seatrial.sensors.sonar.fan import line_pattern

CALM = sea()
SWELL = sea(waves={"spectrum": "regular", "height": 2.0, "period": 8.0, "towards_deg": 180})
BREEZE = sea(
    waves={"spectrum": "regular", "height": 2.0, "period": 8.0, "towards_deg": 180},
    wind={"speed": 8.0, "towards_deg": 180},
)


def watts(levels):
    """Of dBm."""
    return 10.0 ** (0.1 * (np.asarray(levels, np.float64) - 30.0))


def picture(dense, *at, ocean=CALM, **more):
    """(azimuths, bins) power of one sweep, W."""
    return watts(dense.expand(views(*at, **more), ocean).payload[0])


def test_the_formula_of_the_sea_gives_its_published_values():
    """At 9.4 GHz, 1° and state 3, by hand; and grazing angles beyond its limits are held."""
    psi = 1.0
    expected = (
        -73.0
        + 20.781 * math.log10(math.sin(math.radians(psi)))
        + (27.5 + 7.351) * math.log10(9.4) / 1.95
        + 25.65 * 4.0 ** (1.0 / (2.0 + 0.085 + 0.099))
        + 0.0054
    )
    sine = np.sin(np.radians([1.0, 0.1, 0.01]))
    found = 10.0 * np.log10(reflectivity(sine, 3.0, 9.4e9))
    assert found[0] == pytest.approx(expected)
    assert -45.0 < found[0] < -35.0  # as curves of X-band clutter have it
    assert found[1] == found[2] < found[0]
    assert reflectivity(np.array([-0.1]), 3.0, 9.4e9) == 0.0
    assert sea_state(3.16) == pytest.approx(1.0)
    assert sea_state(40.0) == 6.0


def test_the_echo_is_that_of_the_radar_equation():
    """A ball of 2 m at 300 m: P_t G² λ² σ / ((4π)³ r⁴) with σ = 8/3 π a², over its own cell."""
    radius, distance = 2.0, 300.0
    target = ball(distance, 0.0, -10.0, radius=radius, material="steel")
    dense = build("radar_image", CALM, [target], range=600, bins=300, azimuths=720, rate=0.4).dense
    seen = picture(dense, (0.0, 0.0, -10.0))
    azimuth, cell = np.unravel_index(seen.argmax(), seen.shape)
    assert azimuth == 0
    assert cell * 2.0 == pytest.approx(distance - radius, abs=8.0)  # within the pulse of 12 m
    sigma = 8.0 / 3.0 * math.pi * radius**2
    gain = 4.0 * math.pi / (math.radians(1.8) * math.radians(25.0))
    wave = 299_792_458.0 / 9.4e9
    expected = 4000.0 * gain**2 * wave**2 * sigma / ((4.0 * math.pi) ** 3 * distance**4)
    assert 10.0 * math.log10(seen.max() / expected) == pytest.approx(0.0, abs=0.7)
    # Two-way the beam is 3 dB down at 0.7 of its half-power half-width.
    beside = seen[:, cell] / seen[0, cell]
    assert beside[2] == pytest.approx(beside[-2], rel=0.1)
    assert 0.15 < beside[2] < 0.35  # at 1°, just beyond 0.9°, where it is a quarter


def test_a_strong_echo_leaves_nothing_around_the_ring():
    """Side lobes end 12 widths beside it; rounding used to show 80 dB below it all around."""
    dense = build("radar_image", CALM, [], range=400, bins=50, azimuths=359, rate=0.4).dense
    echo = np.zeros((359, 50), np.float32)
    echo[3, 20] = 1.0
    step = 2.0 * math.pi / 359
    away = step * (np.arange(359) - 3.0)
    away -= 2.0 * math.pi * np.round(away / (2.0 * math.pi))
    expected = step * line_pattern(np.sin(away), dense.width) ** 2
    expected[np.abs(away) > 12.0 * dense.width + step] = 0.0
    blurred = dense._blurred(echo)
    np.testing.assert_allclose(blurred[:, 20], expected, rtol=1e-5, atol=1e-14)
    assert not np.delete(blurred, 20, axis=1).any()


def test_bearings_are_from_the_bow_and_ranges_are_over_ground():
    target = ball(0.0, 200.0, -5.0, radius=2.0)
    dense = build("radar_image", CALM, [target], range=400, bins=200, azimuths=360, rate=0.4).dense
    for yaw in (0.0, 30.0, 250.0):
        seen = picture(dense, (0.0, 0.0, -5.0), attitudes=turned(yaw=yaw))
        azimuth, cell = np.unravel_index(seen.argmax(), seen.shape)
        assert azimuth == (90 - yaw) % 360
        assert cell * 2.0 == pytest.approx(198.0, abs=8.0)


def test_what_is_under_water_is_not_seen_and_a_wall_hides_what_is_lower():
    sunk = ball(200.0, 0.0, 6.0, radius=3.0)
    wall = block(100.0, 0.0, -1.0, 2.0, 60.0, 8.0)
    behind = ball(200.0, 0.0, -1.5, radius=1.5)
    high = ball(200.0, 0.0, -40.0, radius=3.0)
    described = {"range": 400, "bins": 200, "azimuths": 360, "rate": 0.4}
    at = (0.0, 0.0, -4.0)

    def far(*bodies):
        return picture(build("radar_image", CALM, bodies, **described).dense, at)[0, 90:110].max()

    alone = far(wall)
    assert far(sunk) == far()
    assert far(wall, behind) == pytest.approx(alone)
    assert far(behind) > 100.0 * alone
    assert far(wall, high) > 100.0 * alone


def test_the_sea_is_bright_on_the_faces_of_its_waves_and_dark_behind_crests():
    """Regular waves of 100 m towards the antenna from ahead: streaks of that distance, and none of
    what a crest hides sends anything."""
    dense = build("radar_image", BREEZE, range=600, bins=600, azimuths=64, rate=0.4).dense
    place = np.array([0.0, 0.0, -6.0])
    seen = dense.mean(place, 0.0, 0.0, BREEZE)[0].astype(float)
    middle = np.arange(600) + 0.5
    sea_there = surface_around(BREEZE.waves, place[None], np.zeros(1), middle, np.zeros(1))
    elevation, steep = sea_there.elevation[0], sea_there.steepness[0]
    tangent = (elevation - 6.0) / middle
    shadow = np.zeros(600, bool)
    shadow[1:] = tangent[1:] < np.maximum.accumulate(tangent)[:-1]
    # Cells well inside a shadow, longer than the pulse of 12 m.
    deep = np.convolve(shadow, np.ones(21), "same") == 21
    lit = (steep > 0.05) & ~shadow & (middle > 100)
    compensated = seen * middle**3
    assert deep.sum() > 20
    assert compensated[deep].max() < 1e-3 * np.median(compensated[lit])
    length = 9.80665 * 8.0**2 / (2.0 * math.pi)
    spectrum = np.abs(np.fft.rfft(compensated[100:] - compensated[100:].mean(), 4096))
    found = 4096.0 / spectrum[10:].argmax().__add__(10)
    assert found == pytest.approx(length, rel=0.1)


def test_clutter_grows_with_the_wind():
    dense = build("radar_image", BREEZE, range=400, bins=100, azimuths=64, rate=0.4).dense
    place = np.array([0.0, 0.0, -6.0])
    calm, breeze = (dense.mean(place, 0.0, 0.0, o)[:, 10:].mean() for o in (SWELL, BREEZE))
    assert breeze > 10.0 * calm


def test_a_radar_under_water_is_silent_and_others_are_seen():
    fleet = [Body(n, "vehicle", length=6.0, beam=2.0, height=3.0) for n in ("own", "other")]
    dense = build("radar_image", CALM, fleet, range=300, bins=150, azimuths=360, rate=0.4).dense
    assert not dense.expand(views((0.0, 0.0, 1.0)), CALM).valid[0]
    poses = np.full((1, 2, 7), np.nan)
    nothing = picture(dense, (0.0, 0.0, -4.0), others=poses).max()
    poses[0, 1] = (0.0, -100.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    seen = picture(dense, (0.0, 0.0, -4.0), others=poses)
    azimuth, cell = np.unravel_index(seen.argmax(), seen.shape)
    assert seen.max() > 100.0 * nothing
    assert azimuth in (269, 270, 271)
    assert cell * 2.0 == pytest.approx(99.0, abs=8.0)


SWEEP = {"range": 600, "bins": 600, "azimuths": 720, "rate": 0.4}
TURNING = {**SWEEP, "fidelity": "full", "power": 1e6}
"""A revolution of 2.5 s."""


def strongest(seen, rows=slice(None)):
    """Bearing from the bow, degrees, and range, m, of the middle of the strongest echo."""
    part = np.where(seen >= 0.25 * seen[rows].max(), seen, 0.0)
    only = np.zeros_like(part)
    only[rows] = part[rows]
    azimuth, cell = np.nonzero(only)
    weight = only[azimuth, cell]
    return np.average(azimuth, weights=weight) * 0.5, np.average(cell + 0.5, weights=weight)


def seen_late(degrees):
    """How long before the end of a revolution the antenna looks along an azimuth, s."""
    return -2.5 * (719.0 / 720.0 - degrees / 360.0)


def test_an_own_turn_and_way_shift_what_stands_still_by_when_it_was_seen():
    """Balls at three bearings: each lies where plane geometry has it from where the antenna was and
    headed when it looked that way, which is solved for here."""
    balls = [ball(*place, -5.0, radius=2.0) for place in ((220, 60), (-50, 250), (-200, -90))]
    dense = build("radar_image", CALM, balls, **TURNING).dense
    velocity, turn, heading = np.array([8.0, -3.0, 0.0]), 0.15, math.radians(-20.0)
    motion = {"velocity": velocity, "turn": (0.0, 0.0, turn)}
    seen = picture(dense, (0.0, 0.0, -5.0), attitudes=turned(yaw=-20.0), first=4, **motion)
    for body in balls:
        bearing = 0.0
        for _ in range(50):
            late = seen_late(bearing)
            away = body.position[:2] - velocity[:2] * late
            angle = math.atan2(away[1], away[0]) - (heading + turn * late)
            bearing = math.degrees(angle) % 360.0
        still = (math.degrees(math.atan2(*body.position[1::-1])) + 20.0) % 360.0
        assert abs(bearing - still) > 3.0
        rows = slice(int(2 * bearing) - 12, int(2 * bearing) + 13)
        azimuth, distance = strongest(seen, rows)
        assert azimuth == pytest.approx(bearing, abs=0.3)
        assert distance == pytest.approx(float(np.hypot(*away)) - 2.0, abs=6.0)


def test_vessels_are_seen_where_they_were_when_the_antenna_looked_their_way():
    """One on a timetable and another vehicle of the run, of which the sample tells place and
    velocity at its end."""
    lane = Timetable(np.zeros(1), np.array([[200.0, -180.0]]), np.array([[0.0, 10.0]]))
    ship = Body("ship", "vessel", length=6.0, beam=6.0, height=6.0, motion=lane)
    fleet = [Body(n, "vehicle", length=6.0, beam=6.0, height=6.0) for n in ("own", "other")]
    dense = build("radar_image", CALM, [*fleet, ship], **TURNING).dense
    poses = np.full((1, 2, 10), np.nan)
    poses[0, 1] = (-300.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 15.0, 0.0)
    still = {"velocity": np.zeros(3), "turn": np.zeros(3)}
    # The eleventh sample, at 25 s.
    seen = picture(dense, (0.0, 0.0, -4.0), first=10, others=poses, **still)
    for north, east, speed in ((200.0, 70.0, 10.0), (-300.0, 0.0, 15.0)):
        bearing = 0.0
        for _ in range(50):
            then = east + speed * seen_late(bearing)
            bearing = math.degrees(math.atan2(then, north)) % 360.0
        rows = slice(int(2 * bearing) - 12, int(2 * bearing) + 13)
        azimuth, distance = strongest(seen, rows)
        assert azimuth == pytest.approx(bearing, abs=0.3)
        assert distance == pytest.approx(math.hypot(north, then) - 3.0, abs=6.0)
        assert abs(then - east) > 3.0


def test_waves_run_on_during_a_revolution():
    """Each azimuth has the clutter of the instant at which it was looked along."""
    shape = {**SWEEP, "azimuths": 64, "bins": 100}
    dense = build("radar_image", BREEZE, **shape, fidelity="full").dense
    place = np.array([[0.0, 0.0, -6.0]])
    azimuth, middle = dense._azimuths, dense._middle
    when = 40.0 + dense.late
    swept = surface_around(BREEZE.waves, place, azimuth, middle, when)
    for row in (0, 20, 63):
        one = slice(row, row + 1)
        alone = surface_around(BREEZE.waves, place, azimuth[one], middle, when[one])
        np.testing.assert_allclose(swept.elevation[row], alone.elevation[0], atol=1e-6)
        np.testing.assert_allclose(swept.steepness[row], alone.steepness[0], atol=1e-6)
    frozen = surface_around(BREEZE.waves, place, azimuth, middle, np.array([40.0]))
    assert np.abs(swept.elevation[0] - frozen.elevation[0]).max() > 1.0
    np.testing.assert_allclose(swept.elevation[-1], frozen.elevation[-1], atol=1e-6)


def test_rays_lie_close_about_the_horizon():
    angles = elevations(math.radians(25.0))
    steps = np.diff(angles)
    assert steps.min() == pytest.approx(FINEST, rel=0.1)
    assert angles[0] == pytest.approx(-math.radians(25.0))
    np.testing.assert_allclose(angles, -angles[::-1], atol=1e-12)
