"""The scenarios of the library exist, complete, and do what their description says."""

import numpy as np
import pytest

from missions import MISSIONS
from sampling import sampled
from seatrial.compile.scenario import compile_scenario
from seatrial.engine.run import run
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle

PROMISED = {
    "bluerov2-hover",
    "demo",
    "mariner-turning-circle",
    "mariner-zigzag",
    "otter-turning-circle",
    "otter-zigzag",
    "remus100-dive",
    "smarty-drift",
    "sookshma-turn",
    "wamv-crossing",
}


class Track:
    """Keeps position, attitude and velocity of every vehicle."""

    def open(self, header, scene):
        self.frames = []

    def write(self, frames):
        self.frames.append(frames)

    def close(self, summary):
        pass

    def of(self, vehicle, field):
        return np.concatenate([getattr(f.vehicles[vehicle], field) for f in self.frames])


@pytest.fixture(scope="module")
def play():
    played = {}

    def _play(name):
        if name not in played:
            track = Track()
            summary = run(compile_scenario(load(name, Scenario)), [track]).summary
            played[name] = summary, track
        return played[name]

    return _play


def test_library_holds_the_promised_scenarios():
    assert set(library_names("scenario")) >= PROMISED


@pytest.mark.parametrize(
    "name", sampled(sorted(set(library_names("scenario")) - MISSIONS), "otter-zigzag")
)
def test_scenario_completes(name, play):
    summary, _ = play(name)
    assert summary.status == "completed"
    assert load(name, Scenario).name == name


def circle_through(x, y):
    """Diameter of the circle that fits points best (Kåsa 1976: least squares of x² + y² + …)."""
    rows = np.column_stack([2 * x, 2 * y, np.ones_like(x)])
    a, b, c = np.linalg.lstsq(rows, x**2 + y**2, rcond=None)[0]
    return 2 * np.sqrt(c + a**2 + b**2)


def test_indices_of_the_otters_turn_are_those_of_its_track(play):
    summary, track = play("otter-turning-circle")
    indices = summary.vehicles["otter"].indices
    length, execute = load("otter", Vehicle).length, 150  # frames of 0.1 s
    position = track.of("otter", "position")[execute:]
    w, x, y, z = track.of("otter", "attitude")[execute:].T
    heading = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y**2 + z**2)))
    quarter = np.searchsorted(heading, heading[0] + np.pi / 2)
    north, east = position[quarter, :2] - position[0, :2]
    c, s = np.cos(heading[0]), np.sin(heading[0])
    advance, transfer = c * north + s * east, c * east - s * north
    assert indices["advance_over_length"] == pytest.approx(advance / length, abs=0.1)
    assert indices["transfer_over_length"] == pytest.approx(transfer / length, abs=0.1)
    assert indices["time_to_90_deg"] == pytest.approx(0.1 * quarter, abs=0.1)
    # A whole turn after the first half of one, in waves and gusts that push it a little.
    one = slice(*np.searchsorted(heading, heading[0] + np.array([1, 3]) * np.pi))
    steady = circle_through(*position[one, :2].T) / length
    assert indices["steady_diameter_over_length"] == pytest.approx(steady, rel=0.03)


@pytest.mark.parametrize(
    ("name", "deepest"), [("remus100-dive", 14.0), ("remus100_mss-dive", 16.5)]
)
def test_remus_dives_runs_at_depth_and_surfaces(name, deepest, play):
    _, track = play(name)
    depth = track.of("remus", "position")[:, 2]
    assert depth[0] < 0.2
    assert depth.max() == pytest.approx(deepest, abs=1.0)
    settled = np.flatnonzero(depth > depth.max() - 1.0)
    assert len(settled) * 0.1 > 20.0, "time within a metre of the greatest depth, s"
    assert depth[-1] < 0.5


def test_smarty_follows_the_waves_and_drifts_with_the_current(play):
    _, track = play("smarty-drift")
    elevation = track.of("smarty", "wave_elevation")[50:]
    position = track.of("smarty", "position")
    heave = -position[50:, 2]
    # A float of 0.8 m among waves of 10 m and more rides on them.
    assert np.corrcoef(elevation, heave)[0, 1] > 0.98
    assert heave.std() == pytest.approx(elevation.std(), rel=0.05)
    # The current goes north, waves and wind go east. In two minutes the few waves from other
    # directions do not average out: Stokes' drift of this sea is 6 cm/s in all.
    assert position[-1, 0] / 120.0 == pytest.approx(0.2, abs=0.04)


def test_rov_hovers_within_a_hand_of_its_depth_and_goes_with_the_current(play):
    _, track = play("bluerov2-hover")
    position = track.of("rov", "position")
    assert np.abs(position[:, 2] - 5.0).max() < 0.25
    assert position[-1, 1] == pytest.approx(0.1 * 60.0, abs=0.6)


def test_the_boat_that_gives_way_passes_astern_and_two_lengths_clear(play):
    """Rule 15. On straight courses both would be at the origin at the same time."""
    _, track = play("wamv-crossing")
    gives_way, stands_on = (track.of(name, "position") for name in ("give_way", "stand_on"))
    gap = gives_way - stands_on
    assert np.hypot(gap[:, 0], gap[:, 1]).min() > 2.0 * load("wamv", Vehicle).length
    # The other one goes west; her track is crossed where both are equally far north.
    (crossing,) = np.flatnonzero(np.diff(np.sign(gap[:, 0])))
    assert gap[crossing, 1] > 2.0 * load("wamv", Vehicle).length


@pytest.mark.rest
def test_demo_otter_rides_the_sea_while_the_auv_dives_and_surfaces(play):
    _, track = play("demo")
    heave, elevation = -track.of("otter", "position")[:, 2], track.of("otter", "wave_elevation")
    # Two metres of boat among waves of fifty: it moves as the surface does.
    assert np.corrcoef(elevation, heave)[0, 1] > 0.99
    assert heave.std() == pytest.approx(elevation.std(), rel=0.03)
    depth = track.of("remus", "position")[:, 2]
    assert depth.max() == pytest.approx(17.0, abs=1.5)  # as its description says
    assert np.abs(depth[-100:]).max() < 4.0 * elevation.std()
