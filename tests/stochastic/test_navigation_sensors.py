"""Filters on whole vehicles with the sensors of the library: true sigmas, and sensors that fail.

Twelve vehicles sail the same way in a sea, fed back the truth; their filters run over what their
sensors measured, with and without a fault put into the samples. One recording and one program of
the filter serve all cases of a vehicle. The slow errors of a sensor hardly change within a run, so
that a mean over time counts as one value for each vehicle and axis; bands are of 99.9 %.
"""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import seatrial as st
from seatrial.compile.autonomy.navigation.navigator import build_navigator, first_estimate
from seatrial.compile.surroundings.world import build_ocean
from seatrial.gnc.navigation import consistency, dispatch, offline
from seatrial.signals import HEALTH, Measurements
from seatrial.spec.loading import load_text
from seatrial.spec.navigation import Navigation

RUNS = 12
SECONDS = 130
SETTLED = 20.0
FAILED, MENDED = 40.0, 80.0

OTTER = """
kind: scenario
name: otters
seed: 5
duration: 130
world:
  name: sea
  waves: {spectrum: jonswap, significant_height: 0.88, peak_period: 5.8}
  current: {speed: 0.3, towards_deg: 200}
  wind: {speed: 6, towards_deg: 120}
vehicles:
  - name: boat
    vehicle: otter
    count: 12
    feedback: truth
    mission: [{do: loiter, centre: [30, 0], radius: 25, turns: 4, speed: 1.5, acceptance: 5}]
"""
REMUS = """
kind: scenario
name: remuses
seed: 5
duration: 130
world:
  name: sea
  waves: {spectrum: jonswap, significant_height: 0.88, peak_period: 5.8}
  current: {speed: 0.2, towards_deg: 100}
  seabed: {depth: 40}
vehicles:
  - name: boat
    vehicle: remus100_mss
    count: 12
    feedback: truth
    start: {position: [0, 0, 10], speed: 1.5}
    mission:
      - {do: loiter, centre: [40, 0], radius: 35, turns: 4, depth: 10, speed: 1.5, acceptance: 8}
"""


def _together(parts):
    arrays = {
        name: np.stack([getattr(p, name) for p in parts], axis=1)
        for name in ("arrival", "values", "valid", "fault")
    }
    return Measurements(parts[0].time, **arrays)


@cache
def _sailed(text):
    scenario = load_text(text, st.Scenario)
    recording = st.run(scenario).recording
    names = [v.name for v in recording.header.vehicles]
    infos = tuple(recording.header.vehicles[0].sensors)
    participant = scenario.vehicles[0]
    with jax.enable_x64(True):
        navigator = build_navigator(
            Navigation(),
            participant.fitted,
            infos,
            participant.vehicle,
            build_ocean(scenario.world, scenario.seed, np.dtype(np.float64)),
            recording.header.frame_period,
            0.0,
        )
    used = [infos[i].name for i in (navigator.imu, *navigator.aids)]
    measured = {s: _together([recording.samples(n, s) for n in names]) for s in used}
    data = [recording.vehicle(n) for n in names]
    truth = {
        key: np.stack([d[key].values for d in data], axis=-1)
        for key in ("position", "attitude", "velocity", "angular_velocity", "command")
    } | {"time": data[0]["time"].values}
    speeds = np.array([v.start.speed for v in scenario.vehicles for _ in range(v.count)])
    return navigator, used, measured, truth, names, speeds


class Track:
    """What the filters made of it."""

    def __init__(self, text, **faults):
        navigator, self.sensors, measured, truth, names, speeds = _sailed(text)
        measured = {s: faults.get(s, lambda m: m)(m) for s, m in measured.items()}
        imu, *aids = (measured[s] for s in self.sensors)
        with jax.enable_x64(True):
            moving = np.concatenate([truth["velocity"][0], truth["angular_velocity"][0]])
            there = truth["position"][0], truth["attitude"][0]
            start = first_estimate(Navigation(), *there, moving, speeds, 5, tuple(names))
            samples, valid = offline.inertial(imu)
            feeds = tuple(offline.feed(imu, aid, live=True) for aid in aids)
            given = jax.tree.map(jnp.asarray, (samples, valid, feeds, truth["command"]))
            track = offline.run(
                navigator.filter, start, given[0], given[1], 0.02, given[2], given[3], 5, 5
            )
            health = jax.vmap(lambda s: dispatch.health(navigator.filter, s))(track.state)
        self.time = imu.time[4::5][: len(health)]
        self.health = np.asarray(health)
        true = truth["position"][: len(self.time)]
        # Ticks lie a fifth of a frame before the next frame.
        true = true + 0.8 * (truth["position"][1 : len(self.time) + 1] - true)
        self.error = np.asarray(track.estimate.position) - true
        self.covariance = np.asarray(track.state.covariance)
        self.nis, self.freedom = track.nis, navigator.freedom

    def within(self, first, last):
        return (self.time > first) & (self.time < last)

    @property
    def off(self):
        """Horizontal error over the run, m; (T, N)."""
        return np.linalg.norm(self.error[:, :2], axis=1)

    def words(self, sensor, first, last):
        """How a sensor was found between two times."""
        row = self.sensors.index(sensor)
        return {HEALTH[int(c)] for c in np.unique(self.health[self.within(first, last), row])}


@cache
def _sound(text):
    return Track(text)


CRAFT = [pytest.param(OTTER, id="otter"), pytest.param(REMUS, id="remus", marks=pytest.mark.rest)]


@pytest.mark.parametrize("text", CRAFT)
def test_the_position_errs_by_as_much_as_the_filter_says(text):
    track = _sound(text)
    late = track.within(SETTLED, SECONDS)
    level = consistency.nees(track.error[late, :2], track.covariance[late, :2, :2])
    low, high = consistency.band(2, RUNS, 0.999)
    assert low < level.mean() < high
    assert np.mean(level < 5.99) > 0.85  # 95 % of χ²(2) on average
    depth = track.error[late, 2] ** 2 / track.covariance[late, 2, 2]
    assert depth.mean() < 1.6


@pytest.mark.parametrize("text", CRAFT)
def test_the_innovations_of_every_sensor_are_as_large_as_the_filter_says(text):
    track = _sound(text)
    for sensor, nis, sizes in zip(track.sensors[1:], track.nis, track.freedom, strict=False):
        for group, freedom in enumerate(sizes):
            values = np.asarray(nis)[1000:, group]
            values = values[np.isfinite(values)]
            if values.size:
                assert 0.6 < values.mean() / freedom < 1.6, sensor


@pytest.mark.parametrize("text", CRAFT)
def test_a_sensor_that_is_well_is_never_found_wrong(text):
    track = _sound(text)
    # 12 vehicles and 110 s are 22 minutes.
    for sensor in track.sensors:
        assert track.words(sensor, SETTLED, SECONDS) <= {"used", "unheard"}


def frozen(m):
    values = m.values.copy()
    struck = np.flatnonzero((m.time >= FAILED) & (m.time < MENDED))
    values[struck] = values[struck[0] - 1]
    return replace(m, values=values)


def dead(m):
    return replace(m, valid=m.valid & ~((m.time >= FAILED) & (m.time < MENDED))[:, None])


def jumped(*offset, rate=0.0):
    def jump(m):
        since = np.where((m.time >= FAILED) & (m.time < MENDED), m.time - FAILED, -1.0)
        share = np.where(since >= 0.0, 1.0 if not rate else rate * since, 0.0)
        whole = np.zeros(m.values.shape[-1])
        whole[: len(offset)] = offset
        added = (share[:, None, None] * whole).astype(m.values.dtype)
        return replace(m, values=m.values + added)

    return jump


def late(by):
    def delay(m):
        struck = ((m.time >= FAILED) & (m.time < MENDED))[:, None]
        return replace(m, arrival=m.arrival + np.where(struck, by, 0.0))

    return delay


CASES = [
    (OTTER, "gnss", dead, "silent", 5.0),
    (OTTER, "gnss", frozen, "frozen", 5.0),
    (OTTER, "gnss", late(3.0), "stale", 5.0),
    (OTTER, "gnss", jumped(10.0), "rejected", 1.0),
    (OTTER, "gnss", jumped(0.0, 50.0), "rejected", 1.0),
    (OTTER, "compass", frozen, "frozen", 1.0),
    (OTTER, "compass", late(0.5), "stale", 1.0),
    (OTTER, "compass", jumped(0.5), "rejected", 1.0),
    (OTTER, "imu", frozen, "frozen", 2.0),
    (OTTER, "imu", dead, "silent", 2.0),
    (REMUS, "dvl", dead, "silent", 5.0),
    (REMUS, "dvl", frozen, "frozen", 5.0),
    (REMUS, "dvl", jumped(0.5), "rejected", 5.0),
    (REMUS, "ahrs", frozen, "frozen", 3.0),
    (REMUS, "ahrs", late(1.0), "stale", 3.0),
    (REMUS, "depth", jumped(3e4, 3.0), "rejected", 1.0),
    (REMUS, "imu", frozen, "frozen", 5.0),
]
NAMES = ["gnss dead", "gnss frozen", "gnss late", "gnss 10 m", "gnss 50 m", "compass frozen",
         "compass late", "compass 30 deg", "imu frozen", "imu dead", "dvl dead", "dvl frozen",
         "dvl 0.5 m/s", "ahrs frozen", "ahrs late", "depth 3 m", "remus imu frozen"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sensor", "fault", "word", "most"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.rest] if case[0] == REMUS else [])
        for case, name in zip(CASES, NAMES, strict=True)
    ],
)
def test_a_sensor_that_fails_is_found_left_out_and_taken_back(text, sensor, fault, word, most):
    """`most` is by how much the fault may make the position worse while it lasts, m."""
    sound, track = _sound(text), Track(text, **{sensor: fault})
    assert word in track.words(sensor, FAILED + 10.0, MENDED)
    assert track.words(sensor, SECONDS - 20.0, SECONDS) == {"used"}
    for other in track.sensors:
        if other != sensor:
            assert track.words(other, SETTLED, MENDED) <= {"used", "unheard"}
    during = track.within(FAILED, MENDED + 5.0)
    assert track.off[during].max() < sound.off[during].max() + most
    after = track.within(SECONDS - 20.0, SECONDS)
    assert track.off[after].max() < sound.off[after].max() + 2.0
    if sensor in ("dvl", "depth"):
        assert np.abs(track.error[track.within(SETTLED, SECONDS), 2]).max() < 0.5
    if sensor == "imu":
        # What was known of the position before is not lost while others bridge the gap.
        lost = np.linalg.norm(track.error - sound.error, axis=1)
        assert lost[after].max() < (1.0 if text == OTTER else 3.0)
    sigma = np.sqrt(track.covariance[:, 0, 0] + track.covariance[:, 1, 1])
    assert (track.off / sigma)[track.within(SETTLED, SECONDS)].max() < 4.0


def test_a_fix_that_drifts_away_is_left_out_before_it_has_drawn_the_position_along():
    """What it did before it was found keeps it out for a while afterwards."""
    sound, track = _sound(OTTER), Track(OTTER, gnss=jumped(1.0, rate=0.5))
    assert track.words("gnss", FAILED + 20.0, MENDED) == {"rejected"}
    during = track.within(FAILED, SECONDS)
    assert track.off[during].max() < sound.off[during].max() + 3.0  # of 20 m


def test_an_imu_whose_biases_jump_is_found_out_by_all_others_and_its_biases_learned_anew():
    sound, track = _sound(OTTER), Track(OTTER, imu=jumped(0.5, 0.0, 0.0, 0.0, 0.0, 0.02))
    assert "rejected" in track.words("compass", FAILED, MENDED)
    during = track.within(FAILED, SECONDS)
    assert track.off[during].max() < sound.off[during].max() + 5.0
    assert track.off[track.within(SECONDS - 5.0, SECONDS)].max() < 6.0


def test_accelerometers_that_jump_are_found_out_by_the_fixes_and_the_dynamics():
    """A compass has nothing against them: it was 600 m within a minute and a half."""
    track = Track(OTTER, imu=jumped(0.5, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert track.off[track.within(FAILED, SECONDS)].max() < 25.0
    assert track.off[track.within(SECONDS - 5.0, SECONDS)].max() < 15.0
