"""GNSS and UWB against closed forms, and what all positioning sensors share."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from positioning import (
    BASIN,
    ODD,
    begin,
    build,
    look,
    ocean,
    once,
    random_states,
    series,
    state,
)
from seatrial.errors import SpecError

pytestmark = pytest.mark.usefixtures("x64")

KINDS = ["gnss", "uwb", "compass", "ahrs", "magnetometer"]
SILENT = {"noise": 0.0, "vertical_noise": 0.0, "drift": 0.0, "vertical_drift": 0.0}
"""A receiver without errors of position that still needs to be out of the water."""


def straight(*heights):
    """Places (S, 3, 1) of one vehicle at the origin, by height above the mean level."""
    return np.array([[[0.0], [0.0], [-h]] for h in heights])


# --- what all of them share


@pytest.mark.parametrize("kind", KINDS)
def test_an_ideal_sensor_draws_nothing_and_is_always_valid(kind):
    places, turns, velocity = random_states(50, spread=500.0)
    built = build(kind, fidelity="ideal", **ODD)
    reading = once(built.sensor, state(places, turns, velocity))
    assert built.sensor.draws == built.sensor.starting_draws == 0
    assert np.all(reading.valid)
    assert not np.any(built.deviation)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fidelity", ["ideal", "nominal", "full"])
def test_a_single_precision_sensor_computes_in_single_precision(kind, fidelity):
    places, turns, velocity = random_states(4)
    places[2] = -0.5
    built = build(kind, fidelity=fidelity, dtype=jnp.float32, **ODD)
    count = built.sensor.starting_draws
    memory = built.sensor.begin(jnp.ones((count, 4), jnp.float32))
    seen = look(state(places, turns, velocity, jnp.float32), ocean(jnp.float32))
    reading = built.sensor.measure(memory, seen, jnp.ones((built.sensor.draws, 4), jnp.float32))
    assert reading.values.dtype == reading.memory.dtype == jnp.float32
    assert reading.values.shape == (len(built.components), 4)
    assert reading.memory.shape == memory.shape


@pytest.mark.parametrize("kind", KINDS)
def test_names_units_and_deviations_describe_every_number(kind):
    built = build(kind)
    values = once(built.sensor, state(np.zeros((3, 1)))).values
    assert len(built.components) == len(built.units) == len(built.deviation) == len(values)


# --- GNSS


def test_ideal_gnss_gives_place_and_velocity_of_the_antenna():
    """The velocity is checked against the antenna's place a little later and earlier."""
    places, turns, velocity = random_states(20)
    reading = once(build("gnss", fidelity="ideal", **ODD).sensor, state(places, turns, velocity))
    arm = np.array(ODD["position"])
    np.testing.assert_allclose(reading.values[:3], places + turns.apply(arm).T, atol=1e-12)

    def antenna(dt):
        turned = turns * Rotation.from_rotvec(dt * velocity[3:].T)
        return places + dt * turns.apply(velocity[:3].T).T + turned.apply(arm).T

    step = 1e-5
    moved = (antenna(step) - antenna(-step)) / (2 * step)
    np.testing.assert_allclose(reading.values[3:6], moved, atol=1e-8)
    assert np.all(reading.values[6] == 1)


@pytest.mark.parametrize(
    ("fix", "number"),
    [("autonomous", 1), ("differential", 2), ("rtk_float", 3), ("rtk_fixed", 4)],
)
def test_gnss_reports_the_kind_of_fix_and_is_better_for_it(fix, number):
    built = build("gnss", fix=fix, position=[0, 0, -1])
    reading = once(built.sensor, state(np.zeros((3, 1))))
    assert reading.values[6, 0] == number
    if number > 1:
        worse = ["autonomous", "differential", "rtk_float"][number - 2]
        assert np.all(np.array(built.deviation[:3]) < build("gnss", fix=worse).deviation[:3])


def test_gnss_deviation_adds_white_and_correlated_error():
    given = {"noise": 0.3, "vertical_noise": 0.6, "drift": 0.4, "vertical_drift": 0.8}
    built = build("gnss", velocity_noise=0.1, vertical_velocity_noise=0.2, **given)
    assert built.deviation == pytest.approx((0.5, 0.5, 1.0, 0.1, 0.1, 0.2, 0.0))


def test_default_gnss_has_the_circular_error_of_its_data_sheet():
    """Half the fixes of a circular error lie within √(2 ln 2) σ: 2.5 m for the u-blox M8."""
    north = build("gnss").deviation[0]
    assert math.sqrt(2 * math.log(2)) * north == pytest.approx(2.5, rel=0.02)


def test_gnss_loses_the_fix_under_water_and_has_it_back_after_the_delay():
    built = build("gnss", rate=2.0, reacquisition=2.0, **SILENT)
    heights = [1.0] * 3 + [-1.0] * 4 + [1.0] * 8
    values, valid = series(built.sensor, straight(*heights), dt=0.5)
    # Out of the water from sample 7 (3.5 s) on, so a fix from sample 11 (5.5 s) on.
    expected = [True] * 3 + [False] * 8 + [True] * 4
    assert valid[:, 0].tolist() == expected
    assert values[:, 6, 0].tolist() == [float(v) for v in expected]
    assert np.all(values[~valid[:, 0]] == 0.0), "a receiver without a fix gives nothing away"
    assert np.all(values[valid[:, 0], 2, 0] == -1.0)


def test_gnss_waits_anew_when_the_antenna_dips_again():
    built = build("gnss", reacquisition=3.0, **SILENT)
    _, valid = series(built.sensor, straight(1, -1, 1, 1, 1, -1, 1, 1, 1, 1, 1))
    assert np.flatnonzero(valid[:, 0]).tolist() == [0, 9, 10]


def test_gnss_starts_with_a_fix_unless_cold_or_under_water():
    for given, first in [
        ({}, 0),
        ({"cold_start": True}, 4),
        ({"cold_start": True, "reacquisition": 0.0}, 0),
    ]:
        built = build("gnss", **({"reacquisition": 4.0} | given))
        _, valid = series(built.sensor, straight(*[1.0] * 8))
        assert np.flatnonzero(valid[:, 0])[0] == first
    _, valid = series(build("gnss", reacquisition=4.0).sensor, straight(*[-1.0] * 2, *[1.0] * 8))
    assert np.flatnonzero(valid[:, 0])[0] == 6


def test_a_fix_comes_no_earlier_than_the_delay_when_it_is_no_whole_number_of_samples():
    built = build("gnss", rate=4.0, reacquisition=0.6, **SILENT)
    _, valid = series(built.sensor, straight(-1.0, *[1.0] * 6), dt=0.25)
    assert np.flatnonzero(valid[:, 0])[0] == 1 + 3


def test_losing_lock_restarts_the_wait_of_those_that_lost_it():
    sensor = build("gnss", reacquisition=2.0, **SILENT).sensor
    seen = look(state([[0.0, 0.0], [0.0, 0.0], [-1.0, -1.0]]))
    noise = jnp.zeros((sensor.draws, 2))
    memory = sensor.lose_lock(begin(sensor, 2), jnp.array([True, False]), 0.0)
    got = []
    for _ in range(5):
        memory, _, valid, _ = sensor.measure(memory, seen, noise)
        got.append(valid.tolist())
    # The first sample is the lost one; the fix comes two seconds after the next.
    assert got == [[False, True]] * 3 + [[True, True]] * 2


def test_gnss_is_lost_under_the_crests_of_waves():
    """A wave travelling north stands A cos(ω t − k x) above the mean level."""
    height, period = 1.0, 6.0
    sea = ocean(waves={"spectrum": "regular", "height": height, "period": period, "towards": 0.0})
    north = np.linspace(0.0, 60.0, 200)
    seen = state([north, 0 * north, 0 * north])
    omega = 2 * math.pi / period
    surface = 0.5 * height * np.cos(omega * 2.0 - omega**2 / 9.80665 * north)
    for margin in (0.0, 0.1):
        built = build("gnss", position=[0, 0, -0.3], margin=margin, reacquisition=0.0)
        reading = once(built.sensor, seen, sea, t=2.0)
        clear = 0.3 - surface - margin
        assert 0.05 < np.mean(clear < 0) < 0.95
        np.testing.assert_array_equal(reading.valid, clear >= 0)


# --- UWB

COPLANAR = [[-8.0, -5.0, -2.0], [-8.0, 5.0, -2.0], [8.0, 5.0, -2.0], [8.0, -5.0, -2.0]]


def test_ideal_uwb_gives_the_tag_and_its_distances():
    places, turns, velocity = random_states(20)
    reading = once(build("uwb", fidelity="ideal", **ODD).sensor, state(places, turns, velocity))
    tag = places + turns.apply(ODD["position"]).T
    away = np.linalg.norm(tag[:, None] - np.array(BASIN).T[:, :, None], axis=0)
    np.testing.assert_allclose(reading.values, np.concatenate([tag, away]), atol=1e-12)


@pytest.mark.parametrize("anchors", [BASIN, COPLANAR, COPLANAR[:3]], ids=["3d", "flat", "three"])
def test_uwb_without_noise_recovers_the_true_place(anchors):
    rng = np.random.default_rng(5)
    truth = np.stack([rng.uniform(-7, 7, 50), rng.uniform(-4, 4, 50), rng.uniform(-1, -0.1, 50)])
    built = build("uwb", anchors=anchors, noise=0.0)
    values, valid = series(built.sensor, np.broadcast_to(truth, (25, 3, 50)))
    assert np.all(valid)
    np.testing.assert_allclose(values[-1, :3], truth, atol=1e-6)


def test_uwb_follows_a_moving_tag():
    """A metre per second around the basin at ten samples a second, depth and all."""
    angle = np.arange(300) * 0.1 / 4.0
    truth = np.stack([4 * np.cos(angle), 4 * np.sin(angle), -0.5 + 0.1 * np.sin(5 * angle)], 1)
    values, _ = series(build("uwb", noise=0.0).sensor, truth[:, :, None])
    assert np.max(np.abs(values[20:, :3, 0] - truth[20:])) < 1e-4


def test_uwb_needs_three_anchors_within_range():
    anchors = [[0.0, 0.0, -2.0], [10.0, 0.0, -2.0], [0.0, 10.0, -2.0], [200.0, 0.0, -2.0]]
    built = build("uwb", anchors=anchors, noise=0.0, maximum_range=50.0)
    near, far = [4.0, 3.0, -0.5], [160.0, 3.0, -0.5]
    reading = once(built.sensor, state(np.array([near, far]).T))
    assert reading.valid.tolist() == [True, False]
    heard = np.asarray(reading.values[3:] > 0)
    assert heard[:, 0].tolist() == [True, True, True, False]
    assert heard[:, 1].tolist() == [False, False, False, True]


def test_uwb_is_lost_under_water_and_comes_back():
    built = build("uwb", noise=0.0)
    values, valid = series(built.sensor, straight(0.5, 0.5, -0.5, -0.5, 0.5))
    assert valid[:, 0].tolist() == [True, True, False, False, True]
    assert np.all(values[2:4, 3:] == 0.0)
    # The solution that is held while nothing is heard is the last one, not the truth.
    np.testing.assert_array_equal(values[3, :3], values[1, :3])


def test_losing_lock_makes_uwb_start_anew():
    sensor = build("uwb").sensor
    memory = sensor.lose_lock(jnp.full((3, 2), 7.0), jnp.array([True, False]), 0.0)
    np.testing.assert_array_equal(memory[:, 0], sensor.radio.solver.start)
    np.testing.assert_array_equal(memory[:, 1], 7.0)


@pytest.mark.parametrize("height", [-0.3, -2.0], ids=["below", "level with the anchors"])
def test_the_solution_stays_finite_whatever_the_ranges(height):
    """Wild ranges, few or all in a line, and a tag at the height of anchors of one height."""
    line = [[0.0, -5.0, -2.0], [0.0, 0.0, -2.0], [0.0, 5.0, -2.0], [100.0, 0.0, -2.0]]
    for anchors in (COPLANAR, line):
        built = build("uwb", anchors=anchors, noise=5.0, maximum_range=30.0)
        truth = np.broadcast_to([[1.0], [0.5], [height]], (200, 3, 50))
        noise = np.random.default_rng(2).normal(0.0, 3.0, (200, built.sensor.draws, 50))
        values, _ = series(built.sensor, truth, noise=noise)
        assert np.all(np.abs(values) < 1e3)


def test_a_shadow_lengthens_one_range_within_its_box_and_makes_the_position_jump():
    """The jumps of the basin: an obstruction hides one anchor from one corner."""
    shadow = {"anchor": 2, "low": [2, -5, -2], "high": [8, 0, 2], "detour": 3.0}
    built = build("uwb", noise=0.0, shadows=[shadow])
    north = np.linspace(-6.0, 6.0, 121)
    path = np.stack([north, 0 * north - 2.0, 0 * north - 0.5])
    # Draws of 0: the median of the exponential, ln 2 times its mean, for every detour.
    truth = np.linalg.norm(path[:, None] - np.array(BASIN).T[:, :, None], axis=0)
    values, _ = series(built.sensor, path.T[:, :, None])
    extra = values[:, 3:, 0].T - truth
    inside = north >= 2.0
    np.testing.assert_allclose(extra[1, inside], 3.0 * math.log(2), atol=1e-9)
    np.testing.assert_allclose(np.delete(extra, 1, axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(extra[:, ~inside], 0.0, atol=1e-9)
    error = np.linalg.norm(values[:, :2, 0].T - path[:2], axis=0)
    assert np.max(error[5:][~inside[5:]]) < 0.01
    assert np.min(error[inside]) > 0.3


def test_nominal_uwb_has_no_detours():
    shadow = {"anchor": 1, "low": [-9, -9, -9], "high": [9, 9, 9]}
    given = {"shadows": [shadow], "outlier_probability": 0.5}
    assert build("uwb", fidelity="nominal", **given).sensor.detours is None
    assert build("uwb", fidelity="full", **given).sensor.detours is not None
    assert build("uwb", fidelity="full").sensor.detours is None


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"anchors": [[0, 0, -2], [5, 0, 1], [0, 5, -2]]}, ("anchors", 1)),
        ({"anchors": [[0, 0, -2], [5, 5, -1], [10, 10, -3]]}, ("anchors",)),
        (
            {"shadows": [{"anchor": 9, "low": [0, 0, 0], "high": [1, 1, 1]}]},
            ("shadows", 0, "anchor"),
        ),
    ],
    ids=["anchor under water", "anchors in a line", "no such anchor"],
)
def test_anchors_that_cannot_work_are_refused(given, path):
    with pytest.raises(SpecError) as caught:
        build("uwb", **given)
    assert caught.value.problems[0].path == path
    assert caught.value.problems[0].mend
