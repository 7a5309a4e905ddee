"""The scenarios of the library exist, complete, and do what their description says."""

import numpy as np
import pytest

from missions import MISSIONS
from seatrial.compile.scenario import compile_scenario
from seatrial.engine.runner import run
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario

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
            summary, _ = run(compile_scenario(load(name, Scenario)), [track])
            played[name] = summary, track
        return played[name]

    return _play


def test_library_holds_the_promised_scenarios():
    assert set(library_names("scenario")) >= PROMISED


@pytest.mark.parametrize("name", sorted(set(library_names("scenario")) - MISSIONS))
def test_scenario_completes(name, play):
    summary, _ = play(name)
    assert summary.status == "completed"
    assert load(name, Scenario).name == name


def test_otter_turns_within_seven_lengths(play):
    summary, _ = play("otter-turning-circle")
    indices = summary.vehicles["otter"].indices
    assert 3 < indices["tactical_diameter_over_length"] < 7
    assert 1.2 < summary.vehicles["otter"].speed_mean < 1.7


def test_mariner_zigzag_overshoots_less_than_the_imo_limit(play):
    summary, _ = play("mariner-zigzag")
    assert 5 < summary.vehicles["mariner"].indices["first_overshoot_deg"] < 25


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
    assert np.corrcoef(elevation, heave)[0, 1] > 0.95
    assert heave.std() == pytest.approx(elevation.std(), rel=0.15)
    assert position[-1, 0] / 120.0 == pytest.approx(0.2, abs=0.05)


def test_rov_hovers_within_a_hand_of_its_depth_and_goes_with_the_current(play):
    _, track = play("bluerov2-hover")
    position = track.of("rov", "position")
    assert np.abs(position[:, 2] - 5.0).max() < 0.25
    assert position[-1, 1] == pytest.approx(0.1 * 60.0, abs=0.6)


def test_crossing_boats_pass_clear_of_each_other(play):
    _, track = play("wamv-crossing")
    gap = track.of("give_way", "position") - track.of("stand_on", "position")
    closest = np.hypot(gap[:, 0], gap[:, 1]).min()
    assert 8.0 < closest < 60.0


def test_demo_otter_rides_the_sea_while_the_auv_dives_and_surfaces(play):
    summary, track = play("demo")
    depth = track.of("remus", "position")[:, 2]
    assert depth.max() > 12.0
    assert np.abs(depth[-100:]).max() < 3.0
    otter = summary.vehicles["otter"]
    assert otter.pitch_max_deg < 25.0
    assert 1.0 < otter.speed_mean < 3.1
