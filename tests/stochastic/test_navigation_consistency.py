"""Whether the matched filter errs by as much as it says, over 100 seeded runs.

Runs differ in all random numbers and share the path. NEES at one time is a mean over independent
runs, so its band is exact; NEES at neighbouring times is not independent, and of many times only
the share within the band is looked at. The innovations of a matched filter are independent, so NIS
is judged over all of them. Bands are two-sided with the probability that each test states.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import seatrial as st
from seatrial.gnc.navigation import consistency, smoother
from voyages import errors, filtered, matched, sail

RUNS = 100
AIDS = ("gnss", "dvl", "depth", "compass")
START = (1.0, 0.2, 0.01)
GROUPS = [("gnss", 0, 0, 3), ("gnss", 0, 1, 3), ("dvl", 1, 0, 3), ("depth", 2, 0, 1),
          ("compass", 3, 0, 1)]  # fmt: skip

pytestmark = pytest.mark.usefixtures("x64")


@cache
def _sailed(water_lock, fixes_until=np.inf):
    voyage = sail("consistency", 60.0, RUNS, water_lock=water_lock, start=START)
    voyage.feeds["gnss"].usable[voyage.time > fixes_until] = False
    track, rows = filtered(voyage, matched(AIDS, start=START), AIDS)
    return voyage, track, rows, errors(voyage, track.state, rows)


@pytest.mark.parametrize("water_lock", [False, True])
def test_nees_of_the_matched_filter_stays_within_its_band(water_lock):
    # False alarm: 0.1 % at each of three times.
    _, track, _, error = _sailed(water_lock)
    mean = consistency.nees(error, track.state.covariance[:, :18, :18]).mean(axis=-1)
    low, high = consistency.band(18, RUNS, 0.999)
    for second in (20, 40, 60):
        assert low < mean[second - 1] < high
    low, high = consistency.band(18, RUNS, 0.95)
    assert np.mean((mean > low) & (mean < high)) > 0.85


@pytest.mark.parametrize("water_lock", [False, True])
@pytest.mark.parametrize(("name", "aid", "group", "freedom"), GROUPS)
def test_nis_of_every_sensor_stays_within_its_band(water_lock, name, aid, group, freedom):
    # False alarm: 0.1 % for each of ten.
    del name
    _, track, _, _ = _sailed(water_lock)
    found = consistency.judge_nis(track.nis[aid][:, group], freedom, np.inf, 0.999)
    assert found is not None
    assert found.band.low < found.mean < found.band.high


def test_the_position_drifts_in_an_outage_as_the_filter_predicts():
    # False alarm: 0.1 %.
    _, track, rows, error = _sailed(True, 20.0)
    P = np.asarray(track.state.covariance)
    level = consistency.nees(error[-1, :2], P[-1, :2, :2]).mean()
    low, high = consistency.band(2, RUNS, 0.999)
    assert low < level < high
    at_the_end, before = np.sqrt(P[-1, 0, 0].mean()), np.sqrt(P[19, 0, 0].mean())
    assert at_the_end > 3.0 * before
    assert rows[19] * 0.02 <= 20.0


def test_the_current_is_seen_only_where_a_log_of_the_water_meets_fixes_of_the_ground():
    deviation = {
        lock: np.sqrt(np.asarray(_sailed(lock)[1].state.covariance)[-1, 15, 15].mean())
        for lock in (False, True)
    }
    unseen = np.hypot(0.3, 2e-3 * np.sqrt(60.0))  # what it was, and its walk
    np.testing.assert_allclose(deviation[False], unseen, rtol=1e-3)
    assert deviation[True] < 0.1 * unseen
    error = _sailed(True)[3][-1, 15:18]
    assert np.sqrt(np.mean(error**2)) < 0.1 * unseen


@pytest.mark.rest
def test_smoothing_makes_the_errors_smaller_and_says_so():
    # False alarm: 0.1 %; the smoother may well be overtaken in single runs, not over all of them.
    runs = 20
    voyage = sail("smoothing", 30.0, runs, water_lock=True, start=START)
    aids = ("gnss", "dvl")
    feeds = jax.tree.map(jnp.asarray, tuple(voyage.feeds[name] for name in aids))
    valid = np.ones((len(voyage.time), runs), bool)
    filter = matched(aids, start=START)
    track, better = smoother.smooth(
        filter, voyage.start, jnp.asarray(voyage.samples), valid, 0.02, feeds, every=100
    )
    rows = np.arange(99, len(voyage.time) // 100 * 100, 100)
    before = errors(voyage, track.state, rows)
    after = errors(voyage, better.state, rows)
    middle = slice(2, 12)
    for part in (slice(0, 3), slice(3, 6), slice(6, 9), slice(15, 18)):
        gain = np.sqrt(np.mean(after[middle, part] ** 2) / np.mean(before[middle, part] ** 2))
        assert gain < 0.85
    P, smoothed = np.asarray(track.state.covariance), np.asarray(better.state.covariance)
    variances = np.einsum("biin->bin", smoothed) / np.einsum("biin->bin", P)
    assert variances.max() < 1.0 + 1e-9
    nees = consistency.nees(after[7], smoothed[7, :18, :18]).mean()
    low, high = consistency.band(18, runs, 0.999)
    assert low < nees < high


def test_bands_are_those_of_the_chi_squared_distribution():
    low, high = consistency.band(18, 100, 0.95)
    # Nearly normal with mean 18 and variance 2·18/100.
    np.testing.assert_allclose([low, high], 18.0 + np.array([-1.96, 1.96]) * 0.6, atol=0.03)


def test_a_recording_states_what_a_receiver_good_to_a_centimetre_leaves_of_the_place():
    """Of the instant at which it is recorded: an inertial sample earlier the vehicle was 2 cm
    behind, and mean squares were 3.

    The errors of a run are alike for seconds: of eight runs a true mean square of 1 comes out above
    2 with a probability far below 1 %.
    """
    ways = [{"do": "goto", "waypoints": [[40, 0], [40, 40]], "speed": 1.2}]
    scenario = st.Scenario(
        world="calm", duration=60.0, vehicles=[{"vehicle": "wamv_azimuth", "mission": ways}]
    )
    found = st.run_many(scenario, seeds=range(8)).isel(vehicle=0).sel(time=slice(5.0, None))
    off = (found.estimate_position - found.position) / found.estimate_deviation
    assert float((off**2).mean(("run", "time")).max()) < 2.0
    assert float((np.abs(off) < 1.96).mean()) > 0.85
