"""Indices from tracks drawn by hand, and the orders of the standard manoeuvres."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
from seatrial.engine.command.commanders import MEMORY, Given, Manoeuvre, Timetable, command
from seatrial.engine.output.indices import against_the_helm, indices

DT = 0.1
L = 5.0


def columns(time):
    return np.zeros((len(time), 3)), np.zeros((len(time), 3)), np.zeros((len(time), 6))


def circle(side=1.0, course=0.0, radius=20.0, speed=2.0, approach=10.0, steps=2000):
    """Straight on, then at once a perfect circle."""
    time = DT * np.arange(steps)
    position, euler, velocity = columns(time)
    rate = side * speed / radius
    turn = np.maximum(time - approach, 0.0) * rate
    heading = course + turn
    ahead = speed * np.minimum(time, approach) + radius * np.sin(np.abs(turn))
    aside = side * radius * (1 - np.cos(turn))
    c, s = math.cos(course), math.sin(course)
    position[:, 0] = c * ahead - s * aside
    position[:, 1] = s * ahead + c * aside
    euler[:, 2] = np.mod(heading + math.pi, 2 * math.pi) - math.pi
    velocity[:, 0] = np.where(time < approach, 2.5, speed)  # it loses speed in the turn
    velocity[:, 5] = np.where(time < approach, 0.0, rate)
    return time, position, euler, velocity


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("course", [0.0, 2.0, -3.0])
def test_turning_circle_of_known_radius_gives_its_indices(side, course):
    radius = 20.0
    time, position, euler, velocity = circle(side, course, radius)
    before = int(10.0 / DT)
    velocity[before, 0] = 2.5
    found = indices("turning_circle", {"approach": 10.0}, time, position, euler, velocity, L)
    quarter = math.pi / 2 * radius / 2.0
    assert found["advance_over_length"] == pytest.approx(radius / L, rel=1e-3)
    assert found["transfer_over_length"] == pytest.approx(radius / L, rel=1e-3)
    assert found["tactical_diameter_over_length"] == pytest.approx(2 * radius / L, rel=1e-3)
    assert found["time_to_90_deg"] == pytest.approx(quarter, rel=1e-9)
    assert found["time_to_180_deg"] == pytest.approx(2 * quarter, rel=1e-9)
    assert found["steady_diameter_over_length"] == pytest.approx(2 * radius / L, rel=1e-9)
    assert found["speed_in_turn_over_approach"] == pytest.approx(2.0 / 2.5)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("course", [0.0, 3.0])
def test_a_turn_against_the_helm_is_told(side, course):
    """A wrong sign in `manoeuvring.helm` gave the indices of a turn to the other side."""
    time, _, euler, _ = circle(side, course)
    parameters = {"approach": 10.0, "helm": math.radians(20.0)}
    told = against_the_helm(parameters | {"helm": -side * parameters["helm"]}, time, euler)
    assert [event.time for event in told] == pytest.approx([10.0 + math.radians(20) / 0.1], abs=DT)
    assert ("turned to starboard by helm to port" in told[0].text) == (side > 0)
    assert against_the_helm(parameters | {"helm": side * parameters["helm"]}, time, euler) == []
    assert against_the_helm({"approach": 10.0}, time, euler) == []  # a crash stop has no helm


def test_turn_that_stops_short_has_no_tactical_diameter():
    track = circle(steps=int((10.0 + 20.0) / DT))  # 2 rad of turn
    found = indices("turning_circle", {"approach": 10.0}, *track, L)
    assert "advance_over_length" in found
    assert "tactical_diameter_over_length" not in found


def test_zigzag_of_known_swings_gives_its_overshoots_and_period():
    # Heading swings to +14°, −15°, +13.5°, −13° past helm reversals at ±10°, in half-sines.
    peaks = [14.0, -15.0, 13.5, -13.0, 12.0]
    half = 20.0
    time = DT * np.arange(int((10.0 + half * len(peaks)) / DT) + 1)
    heading = np.zeros_like(time)
    for i, peak in enumerate(peaks):
        during = (time >= 10.0 + i * half) & (time <= 10.0 + (i + 1) * half)
        heading[during] = peak * np.sin(math.pi * (time[during] - 10.0 - i * half) / half)
    position, euler, velocity = columns(time)
    course = 3.0  # close to the wrap of the angle
    euler[:, 2] = np.mod(np.radians(heading) + course + math.pi, 2 * math.pi) - math.pi
    parameters = {"approach": 10.0, "heading_change": math.radians(10.0)}
    found = indices("zigzag", parameters, time, position, euler, velocity, L)
    for name, peak in zip(("first", "second", "third", "fourth"), peaks, strict=False):
        assert found[f"{name}_overshoot_deg"] == pytest.approx(abs(peak) - 10.0, abs=1e-9)
    execute = [half / math.pi * math.asin(10.0 / abs(p)) + half * i for i, p in enumerate(peaks)]
    assert found["initial_turning_time"] == pytest.approx(execute[0], abs=0.01)
    assert found["period"] == pytest.approx(execute[2] - execute[0], abs=0.02)


def test_crash_stop_of_constant_deceleration_gives_its_head_reach():
    speed, slowing = 4.0, 0.2
    time = DT * np.arange(400)
    position, euler, velocity = columns(time)
    run = np.clip(time - 10.0, 0.0, None)
    velocity[:, 0] = speed - slowing * run
    position[:, 0] = speed * np.minimum(time, 10.0) + speed * run - 0.5 * slowing * run**2
    found = indices("crash_stop", {"approach": 10.0}, time, position, euler, velocity, L)
    assert found["stopping_time"] == pytest.approx(speed / slowing)
    reach = speed**2 / (2 * slowing) / L
    assert found["head_reach_over_length"] == pytest.approx(reach, rel=1e-6)
    assert found["track_reach_over_length"] == pytest.approx(reach, rel=1e-3)
    assert found["lateral_deviation_over_length"] == pytest.approx(0.0)


def test_pull_out_compares_the_rest_rate_with_the_turning_rate():
    time = DT * np.arange(1500)
    position, euler, velocity = columns(time)
    turning = (time >= 10.0) & (time <= 70.0 + 1e-9)
    velocity[:, 5] = np.where(turning, 0.05, np.where(time > 70.0, 0.01, 0.0))
    found = indices(
        "pull_out", {"approach": 10.0, "turn": 60.0}, time, position, euler, velocity, L
    )
    assert found["turning_rate_deg_s"] == pytest.approx(math.degrees(0.05))
    assert found["residual_over_turning_rate"] == pytest.approx(0.2)


def test_spiral_reads_the_settled_rate_of_every_rung_and_the_loop_height():
    steps, hold, helm = 4, 20.0, 0.2
    time = DT * np.arange(int((10.0 + hold * 9) / DT) + 1)
    position, euler, velocity = columns(time)
    rung = np.clip(np.floor((time - 10.0 + 1e-9) / hold), 0, 2 * steps).astype(int)
    share = np.abs(rung - steps) * 2 - steps  # +4 … −4 … +4
    loop = np.where(rung <= steps, 0.01, -0.01)  # an unstable craft keeps turning the old way
    settling = np.exp(-np.maximum(time - 10.0 - rung * hold, 0.0))
    velocity[:, 5] = 0.1 * share / steps + loop + 0.02 * settling
    parameters = {"approach": 10.0, "steps": float(steps), "hold": hold, "helm": helm}
    found = indices("spiral", parameters, time, position, euler, velocity, L)
    assert found["loop_height_deg_s"] == pytest.approx(math.degrees(0.02), rel=1e-4)
    top = math.degrees(helm)
    assert found[f"yaw_rate_at_helm_{top:+.1f}_deg_going"] == pytest.approx(
        math.degrees(0.11), rel=1e-4
    )
    assert found[f"yaw_rate_at_helm_{-top:+.1f}_deg_going"] == pytest.approx(
        math.degrees(-0.09), rel=1e-4
    )


def order(kind, **parts):
    def column(value):
        return jnp.asarray([value], jnp.float64)

    given = {
        "helm": 0.35, "heading_change": 0.2, "approach": 10.0, "hold": 5.0,
        "engine": 0.8, "astern": -0.6,
    } | {k: v for k, v in parts.items() if k != "steps"}  # fmt: skip
    return Manoeuvre(
        **{k: column(v) for k, v in given.items()},
        helm_command=jnp.asarray([[1.0], [0.0]]),
        engine_command=jnp.asarray([[0.0], [10.0]]),
        type=kind,
        steps=parts.get("steps", 0),
    )


def unordered(channels):
    """Nothing is ordered from outside."""
    return Given(jnp.zeros((channels, 1), bool), jnp.zeros((channels, 1)), None)


def obey(manoeuvre, headings, speeds=None, dt=0.5):
    """Commands along a history of headings, (T, 2): helm and shaft."""
    commands = []
    with jax.enable_x64(True):
        memory = jnp.zeros((MEMORY, 1))
        for i, heading in enumerate(headings):
            speed = 1.0 if speeds is None else speeds[i]
            at = craft.State(
                jnp.zeros((3, 1)),
                craft.from_euler(*(jnp.asarray([a], jnp.float64) for a in (0.1, 0.05, heading))),
                jnp.asarray([[speed]] + [[0.0]] * 5, jnp.float64),
                jnp.zeros((2, 1)),
            )
            memory, value = command(
                manoeuvre, memory, at, jnp.float64(dt * i), unordered(2), craft.calm()
            )
            commands.append(np.asarray(value)[:, 0])
    return np.array(commands)


@pytest.fixture(autouse=True)
def _double_precision(x64):
    """The orders below are built by hand."""


@pytest.mark.parametrize("course", [0.0, 3.1])
def test_zigzag_reverses_the_helm_at_every_change_of_heading(course):
    time = 0.5 * np.arange(200)
    swing = 0.25 * np.sin(2 * math.pi * (time - 10.0) / 40.0) * (time >= 10.0)
    helm = obey(order("zigzag"), course + swing)[:, 0]
    assert (helm[time < 10.0] == 0).all()
    side, expected = 0.0, []
    for t, change in zip(time, swing, strict=True):
        if t >= 10.0 and side == 0.0:
            side = 1.0
        if side * change >= 0.2:
            side = -side
        expected.append(0.35 * side)
    assert helm == pytest.approx(expected)
    assert np.count_nonzero(np.diff(np.sign(helm[time >= 10.0]))) >= 4


def test_turning_circle_puts_the_helm_over_at_the_execute():
    found = obey(order("turning_circle"), np.zeros(40))
    assert found[:, 0] == pytest.approx(np.where(0.5 * np.arange(40) >= 10.0, 0.35, 0.0))
    assert found[:, 1] == pytest.approx(np.full(40, 8.0))


def test_pull_out_returns_the_helm_amidships():
    time = 0.5 * np.arange(60)
    helm = obey(order("pull_out", hold=12.0), np.zeros(60))[:, 0]
    assert helm == pytest.approx(np.where((time >= 10.0) & (time < 22.0), 0.35, 0.0))


def test_spiral_steps_down_the_ladder_of_helm_angles_and_up_again():
    time = 0.5 * np.arange(140)
    helm = obey(order("spiral", steps=4, hold=5.0), np.zeros(140))[:, 0]
    assert (helm[time < 10.0] == 0).all()
    rungs = helm[(time >= 10.0) & (time < 55.0)][::10]
    ladder = np.array([1.0, 0.5, 0.0, -0.5, -1.0, -0.5, 0.0, 0.5, 1.0])
    assert rungs == pytest.approx(0.35 * ladder, abs=1e-12)
    assert helm[-1] == pytest.approx(0.35)


def test_crash_stop_goes_astern_until_dead_in_the_water_and_stays_stopped():
    time = 0.5 * np.arange(60)
    speeds = np.where(time < 10.0, 2.0, 2.0 - 0.2 * (time - 10.0))
    speeds[-4:] = 0.1  # a wave pushes it ahead again
    engine = obey(order("crash_stop"), np.zeros(60), speeds)[:, 1] / 10.0
    dead = np.flatnonzero(speeds <= 0)[0]
    expected = np.where(time < 10.0, 0.8, -0.6)
    expected[dead:] = 0.0
    assert engine == pytest.approx(expected)


def test_timetable_holds_each_row_until_the_next():
    table = Timetable(
        times=jnp.asarray([-math.inf, 3.0, 7.0]),
        values=jnp.asarray([[[0.0]], [[1.5]], [[-2.0]]]),
    )
    at = craft.State(*(jnp.zeros((n, 1)) for n in (3, 4, 6, 1)))
    with jax.enable_x64(True):
        found = [
            float(
                command(
                    table, jnp.zeros((MEMORY, 1)), at, jnp.float64(t), unordered(1), craft.calm()
                )[1][0, 0]
            )
            for t in (0.0, 2.9, 0.1 * 30, 6.999, 7.0, 100.0)
        ]
    assert found == [0.0, 0.0, 1.5, 1.5, -2.0, -2.0]
