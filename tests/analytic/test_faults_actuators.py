"""Faults of actuators, hull and radio: onset, effect and label, against closed forms."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from craft import RHO, calm, ocean_of, state, torpedo, wrench
from seatrial import faults as faulting
from seatrial.compile.events.faults import compile_faults
from seatrial.compile.events.triggers import FaultContext
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.actuators import advance
from seatrial.errors import SpecError
from seatrial.spec.fault_grammar import parse_fault

PROPELLER = {
    "kind": "thruster",
    "name": "propeller",
    "position": [-1.0, 0.0, 0.0],
    "time_constant": 0.5,
    "thrust": {"model": "polynomial", "ahead": [0.0, 0.0, 0.02], "speed_limits": [-20.0, 30.0]},
}
POD = {
    "kind": "thruster",
    "name": "pod",
    "position": [-1.0, 0.0, 0.1],
    "azimuth": {"angle_limit": 1.0, "time_constant": 0.4},
    "thrust": {"model": "direct", "thrust_limits": [-10.0, 20.0]},
}
RUDDER = {
    "kind": "fin",
    "name": "rudder",
    "position": [-0.9, 0.0, 0.05],
    "angle_limit": 0.5,
    "time_constant": 0.3,
    "lift": {"area": 0.02, "aspect_ratio": 3.0, "zero_lift_drag": 0.013},
}
PLANE = {"kind": "fin", "name": "plane", "symbol": "delta", "angle_limit": 0.5, "backlash": 0.02}
FIXED = {
    "kind": "fin",
    "name": "keel",
    "position": [0.0, 0.0, 0.2],
    "angle_limit": 0.0,
    "lift": {"area": 0.03, "aspect_ratio": 2.0},
}
TANK = {
    "kind": "ballast",
    "name": "tank",
    "position": [0.0, 0.0, 0.0],
    "mass_limits": [-1.0, 2.0],
    "mass_rate_limit": 0.5,
}
ACTUATORS = [PROPELLER, POD, RUDDER, PLANE, FIXED, TANK]
CHANNELS = ["propeller", "pod", "pod_angle", "rudder", "plane", "tank"]
ORDERS = [15.0, 8.0, 0.5, 0.3, 0.2, 1.0]
COEFFICIENTS = {"X_u": -3.0, "Z_u_u_delta": -9.0, "X_u_u_delta_delta": -5.0, "M_u_u_delta": -4.0}
DT = 0.01
DEEP = np.array([[0.0], [0.0], [5.0]])


def described():
    return torpedo(coefficients=COEFFICIENTS, actuators=ACTUATORS)


def strike(*texts, count=1, seed=1, duration=100.0, water_depth=None):
    """A vehicle, and its faults as they are compiled."""
    vehicle = described()
    with jax.enable_x64(True):
        compiled = compile_vehicle(vehicle, calm(), np.dtype(np.float64))
        context = FaultContext(
            names=tuple(f"boat_{i}" for i in range(count)),
            vehicle=vehicle,
            compiled=compiled,
            sensors=(),
            views={},
            duration=duration,
            water_depth=water_depth,
            seed=seed,
            dtype=np.dtype(np.float64),
        )
        return compiled.model, compile_faults([parse_fault(t)[1] for t in texts], context)


def start(model, count=1, speed=1.0, **kwargs):
    velocity = np.zeros((6, count))
    velocity[0] = speed
    kwargs.setdefault("actuators", np.zeros((len(CHANNELS), count)))
    position, euler = np.zeros((3, count)), [np.zeros(count)] * 3
    return state(model, **{"position": position, "euler": euler, "velocity": velocity} | kwargs)


@jax.jit
def _turn(model, faults, fault_state, at, orders, t):
    fault_state = faulting.update(faults, fault_state, at, t)
    broken = faulting.impair(faults, fault_state, model, t)
    fault_state, obeyed = faulting.obey(faults, fault_state, broken, orders)
    moved = advance(broken.actuators, at.actuators, obeyed, DT, broken.impairment)
    return fault_state, dataclasses.replace(at, actuators=moved)


def run(model, faults, seconds, orders=lambda t: ORDERS, first=None):
    """Times, actuator states (T, S) and onsets (T, F) of one vehicle, before each step."""
    with jax.enable_x64(True):
        at = start(model) if first is None else first
        fault_state = faulting.begin(faults, model.channels, 1, np.float64)
        times, states, since = [], [], []
        for k in range(round(seconds / DT)):
            t = k * DT
            given = jnp.asarray(orders(t), jnp.float64)[:, None]
            states.append(np.asarray(at.actuators)[:, 0])
            fault_state, at = _turn(model, faults, fault_state, at, given, jnp.float64(t))
            times.append(t)
            since.append(np.asarray(fault_state.since)[:, 0])
    return np.array(times), np.array(states), np.array(since)


def broken_at(model, compiled, t, at):
    """The Model as the faults leave it at one instant."""
    with jax.enable_x64(True):
        count = at.position.shape[1]
        fault_state = faulting.begin(compiled.faults, model.channels, count, np.float64)
        fault_state = faulting.update(compiled.faults, fault_state, at, jnp.float64(t))
        return faulting.impair(compiled.faults, fault_state, model, jnp.float64(t))


def assert_label(times, since, onset, end=math.inf):
    there = (times > onset - 1e-6) & (times < end - 1e-6)
    np.testing.assert_allclose(since[there, 0], onset, atol=1e-9)
    assert np.all(np.isinf(since[~there, 0]))


def test_a_propeller_without_power_runs_down_through_its_lag_and_up_again():
    model, compiled = strike("propeller: power_loss @ 4s for 2s")
    times, states, since = run(model, compiled.faults, 10.0)
    speed = states[:, CHANNELS.index("propeller")]
    expected = 15.0 * -np.expm1(-times / 0.5)
    down = times >= 4.0 - 1e-9
    at_onset, at_end = 15.0 * -math.expm1(-8.0), 15.0 * -math.expm1(-8.0) * math.exp(-4.0)
    expected[down] = at_onset * np.exp(-(times[down] - 4.0) / 0.5)
    back = times >= 6.0 - 1e-9
    expected[back] = 15.0 + (at_end - 15.0) * np.exp(-(times[back] - 6.0) / 0.5)
    np.testing.assert_allclose(speed, expected, rtol=1e-9, atol=1e-9)
    assert_label(times, since, 4.0, 6.0)


@pytest.mark.parametrize("channel", ["rudder", "pod_angle", "plane", "tank"])
@pytest.mark.parametrize("kind", ["power_loss", "jam"])
def test_what_has_no_shaft_stays_where_it_was_at_the_onset(channel, kind):
    model, compiled = strike(f"{channel}: {kind} @ 0.2s for 1s")
    times, states, since = run(model, compiled.faults, 2.0)
    healthy = run(model, strike("comms: loss")[1].faults, 2.0)[1]
    i = CHANNELS.index(channel)
    before, during = times < 0.2 + 1e-9, (times > 0.2) & (times < 1.2 + 1e-9)
    # Other faults are another program, which may round otherwise.
    np.testing.assert_allclose(states[before], healthy[before], rtol=1e-14)
    assert np.all(states[during, i] == states[20, i])
    assert states[20, i] != 0.0
    assert abs(states[-1, i] - ORDERS[i]) < abs(states[20, i] - ORDERS[i]) + 1e-12
    others = [k for k in range(len(CHANNELS)) if k != i]
    np.testing.assert_allclose(states[:, others], healthy[:, others], rtol=1e-14)
    assert_label(times, since, 0.2, 1.2)


def test_a_shaft_that_jams_keeps_turning_as_it_did():
    model, compiled = strike("propeller: jam @ 1s")
    times, states, since = run(
        model, compiled.faults, 2.0, orders=lambda t: [15.0 - 20 * (t > 1), *ORDERS[1:]]
    )
    assert np.all(states[times > 1.0 - 1e-9, 0] == states[100, 0])
    assert states[100, 0] == pytest.approx(15.0 * -math.expm1(-2.0))
    assert_label(times, since, 1.0)


def test_a_jam_at_a_given_value_holds_fin_and_servo_there():
    model, compiled = strike("plane: jam value=-20deg @ 1s", "propeller: jam value=600rpm @ 1s")
    times, states, since = run(model, compiled.faults, 2.0)
    after = times > 1.0 + 1e-9
    assert np.allclose(states[after, CHANNELS.index("plane")], math.radians(-20.0), rtol=1e-14)
    assert np.allclose(states[after, len(CHANNELS)], math.radians(-20.0), rtol=1e-14)  # servo
    assert np.allclose(states[after, 0], 10.0, rtol=1e-14)
    assert_label(times, since, 1.0)


@pytest.mark.parametrize(("towards", "limit"), [("upper", 30.0), ("lower", -20.0)])
def test_a_runaway_propeller_goes_to_its_limit_whatever_is_ordered(towards, limit):
    model, compiled = strike(f"propeller: runaway towards={towards} @ 1s")
    orders = [0.0] * len(CHANNELS)
    times, states, since = run(model, compiled.faults, 4.0, orders=lambda t: orders)
    after = times > 1.0 - 1e-9
    expected = limit * -np.expm1(-(times[after] - 1.0) / 0.5)
    np.testing.assert_allclose(states[after, 0], expected, rtol=1e-9, atol=1e-9)
    assert_label(times, since, 1.0)


def test_a_runaway_azimuth_drive_goes_to_the_limit_of_its_angle():
    model, compiled = strike("pod_angle: runaway @ 0s")
    _, states, _ = run(model, compiled.faults, 4.0)
    assert states[-1, CHANNELS.index("pod_angle")] == pytest.approx(1.0, abs=1e-4)
    assert states[-1, CHANNELS.index("pod")] == pytest.approx(8.0)


def test_reduced_effectiveness_scales_the_whole_wrench_of_an_actuator():
    actuators = np.array([[12.0], [5.0], [0.4], [0.2], [0.15], [0.5]])
    for target in ("propeller", "pod", "rudder", "keel", "plane"):
        model, compiled = strike(f"{target}: reduced effectiveness=0.3 @ 1s")
        gone = strike(f"{target}: reduced effectiveness=0 @ 1s")[1]
        at = start(model, position=DEEP, speed=2.0, actuators=actuators)
        whole = wrench(broken_at(model, compiled, 0.0, at), calm(), at)
        np.testing.assert_allclose(whole, wrench(model, calm(), at), rtol=1e-12)
        left = wrench(broken_at(model, compiled, 1.0, at), calm(), at)
        without = wrench(broken_at(model, gone, 1.0, at), calm(), at)
        assert np.abs(whole - without).max() > 1e-2, target
        np.testing.assert_allclose(left, without + 0.3 * (whole - without), rtol=1e-12, atol=1e-12)


def test_a_fin_in_the_coefficients_loses_lift_and_drag_alike():
    model, compiled = strike("plane: reduced effectiveness=0.3 @ 0s")
    actuators = np.zeros((6, 1))
    at = start(model, position=DEEP, speed=2.0, actuators=actuators)
    bare = wrench(model, calm(), at)[:, 0]
    actuators[CHANNELS.index("plane")] = 0.25
    at = start(model, position=DEEP, speed=2.0, actuators=actuators)
    part = wrench(broken_at(model, compiled, 0.0, at), calm(), at)[:, 0] - bare
    assert part[0] == pytest.approx(0.3 * -5.0 * 4.0 * 0.25**2)
    assert part[2] == pytest.approx(0.3 * -9.0 * 4.0 * 0.25)
    assert part[4] == pytest.approx(0.3 * -4.0 * 4.0 * 0.25)


def test_a_loose_fin_has_no_lift_and_keeps_the_drag_of_no_angle_of_attack():
    model, compiled = strike("rudder: free_float @ 0s", "rudder: reduced effectiveness=0.0")
    gone = strike("rudder: reduced effectiveness=0.0 @ 0s")[1]
    actuators = np.zeros((6, 1))
    actuators[CHANNELS.index("rudder")] = 0.4
    velocity = np.array([2.0, 0.5, 0.1, 0.0, 0.0, 0.3])[:, None]
    at = start(model, position=DEEP, velocity=velocity, actuators=actuators)
    loose = wrench(broken_at(model, compiled, 0.0, at), calm(), at)
    force = (loose - wrench(broken_at(model, gone, 0.0, at), calm(), at))[:, 0]
    flow = np.array([2.0 - 0.0, 0.5 + 0.3 * -0.9])  # in the plane across the span, v + ω × r
    speed = np.hypot(*flow)
    expected = -0.5 * RHO * 0.02 * 0.013 * speed * flow
    np.testing.assert_allclose(force[:2], expected, rtol=1e-6)
    arm = np.array([-0.9, 0.0, 0.05])
    np.testing.assert_allclose(force[3:], np.cross(arm, force[:3]), atol=1e-12)


def test_added_drag_opposes_the_motion_through_the_water_without_a_torque():
    model, compiled = strike(
        "hull: added_drag drag_area=0.2 @ 1s for 1s", "hull: added_drag drag_area=0.1 @ 1s"
    )
    current = ocean_of(current={"speed": 0.5, "towards_deg": 90.0})
    velocity = np.array([1.5, -0.2, 0.3, 0.1, 0.2, 0.3])[:, None]
    at = start(model, position=DEEP, velocity=velocity)
    before, during, after = (
        wrench(broken_at(model, compiled, t, at), current, at)[:, 0] for t in (0.0, 1.0, 2.0)
    )
    through = np.array([1.5, -0.2 - 0.5, 0.3])
    expected = -0.5 * RHO * 0.2 * np.linalg.norm(through) * through
    np.testing.assert_allclose((during - before)[:3], 1.5 * expected, rtol=1e-9)
    np.testing.assert_allclose((after - before)[:3], 0.5 * expected, rtol=1e-9)
    np.testing.assert_allclose((during - before)[3:], 0.0, atol=1e-9)


def test_a_vehicle_that_hears_nothing_goes_on_with_its_last_orders_or_with_none():
    def orders(t):
        return [10.0 if t < 2.0 - 1e-9 else 20.0, *ORDERS[1:]]

    for then, told in (("hold", 10.0), ("zero", 0.0)):
        model, compiled = strike(f"comms: loss then={then} @ 1s for 3s")
        times, states, since = run(model, compiled.faults, 8.0, orders)
        speed = states[:, 0]
        during = (times > 1.0 - 1e-9) & (times < 4.0 + 1e-9)
        at_onset = 10.0 * -math.expm1(-2.0)
        expected = told + (at_onset - told) * np.exp(-(times[during] - 1.0) / 0.5)
        np.testing.assert_allclose(speed[during], expected, rtol=1e-9, atol=1e-9)
        assert speed[-1] == pytest.approx(20.0, rel=1e-3)
        assert_label(times, since, 1.0, 4.0)


def test_a_vehicle_that_never_heard_an_order_stands_still():
    model, compiled = strike("comms: loss @ 0s")
    _, states, _ = run(model, compiled.faults, 1.0)
    assert np.all(states == 0.0)


def test_nothing_of_a_fault_is_in_the_model_unless_one_may_strike_it():
    model, compiled = strike("comms: loss @ 0s", "propeller: runaway", "propeller: power_loss")
    assert broken_at(model, compiled, 0.0, start(model)) is model
    assert model.impairment is None
    assert strike()[1].faults is None


def test_a_fault_that_is_switched_on_from_outside_sets_in_then_and_goes():
    model, compiled = strike("propeller: power_loss")
    faults, at = compiled.faults, start(model)
    with jax.enable_x64(True):
        fault_state = faulting.begin(faults, model.channels, 1, np.float64)
        seen = []
        for t, forced in ((0.0, 0), (1.0, 1), (2.0, 1), (3.0, 0), (4.0, 1)):
            fault_state = fault_state._replace(forced=jnp.full((1, 1), forced, jnp.int32))
            fault_state = faulting.update(faults, fault_state, at, jnp.float64(t))
            seen.append(float(fault_state.since[0, 0]))
    assert seen == [math.inf, 1.0, 1.0, math.inf, 4.0]


CONDITIONS = {
    "depth > 10": ({"position": np.array([[0.0], [0.0], [11.0]])}, {}),
    "depth < 1": ({}, {"position": np.array([[0.0], [0.0], [2.0]])}),
    "altitude < 5": ({"position": np.array([[0.0], [0.0], [26.0]])}, {}),
    "roll > 30deg": ({"euler": [np.array([0.6]), np.zeros(1), np.zeros(1)]}, {}),
    "pitch < -30deg": ({"euler": [np.zeros(1), np.array([-0.6]), np.zeros(1)]}, {}),
    "heading > 180deg": (
        {"euler": [np.zeros(1), np.zeros(1), np.array([-0.1])]},
        {"euler": [np.zeros(1), np.zeros(1), np.array([0.1])]},
    ),
    "speed > 5kn": ({"velocity": np.array([2.0, 1.0, 1.5, 0, 0, 0])[:, None]}, {}),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_fault_is_there_while_its_condition_holds(condition):
    model, compiled = strike(f"propeller: power_loss when {condition}", water_depth=30.0)
    inside, outside = (start(model, **parts) for parts in CONDITIONS[condition])
    with jax.enable_x64(True):
        fault_state = faulting.begin(compiled.faults, model.channels, 1, np.float64)
        seen = []
        for t, at in enumerate((outside, inside, inside, outside, inside)):
            fault_state = faulting.update(compiled.faults, fault_state, at, jnp.float64(t))
            seen.append(float(fault_state.since[0, 0]))
    assert seen == [math.inf, 1.0, 1.0, math.inf, 4.0]


def test_a_condition_with_a_duration_strikes_once_and_for_so_long():
    model, compiled = strike("propeller: power_loss when depth > 10 for 2s")
    deep, shallow = start(model, position=np.array([[0.0], [0.0], [11.0]])), start(model)
    with jax.enable_x64(True):
        fault_state = faulting.begin(compiled.faults, model.channels, 1, np.float64)
        seen = []
        for t, at in enumerate((shallow, deep, shallow, shallow, deep)):
            fault_state = faulting.update(compiled.faults, fault_state, at, jnp.float64(t))
            seen.append(float(fault_state.since[0, 0]))
    assert seen == [math.inf, 1.0, 1.0, math.inf, math.inf]


def test_a_condition_on_the_clock_holds_from_its_time_on():
    model, compiled = strike("propeller: power_loss when time > 1.5s")
    times, _, since = run(model, compiled.faults, 2.0)
    np.testing.assert_array_equal(np.isfinite(since[:, 0]), times > 1.5 - 1e-9)


def test_a_condition_on_a_command_sees_the_last_order_that_was_heard():
    model, compiled = strike("rudder: jam when command.rudder > 20deg for 1s")
    times, states, since = run(
        model,
        compiled.faults,
        4.0,
        orders=lambda t: [0, 0, 0, 0.4 if t > 1.0 - 1e-9 else 0.2, 0, 0],
    )
    onset = 1.0 + DT  # heard at 1 s, acted upon at the next look
    assert_label(times, since, onset, onset + 1.0)
    i = CHANNELS.index("rudder")
    during = (times > onset - 1e-9) & (times < onset + 1.0 + 1e-9)
    assert np.ptp(states[during, i]) == 0.0
    assert states[-1, i] == pytest.approx(0.4, abs=2e-3)


REFUSED = {
    "propellor: power_loss": "did you mean `propeller`?",
    "plane: free_float": "coefficients",
    "keel: free_float": "only a movable fin",
    "propeller: free_float": "only a movable fin",
    "keel: jam": "a fixed fin does not move",
    "tank: reduced effectiveness=0.5": "weight",
    "pod_angle: reduced effectiveness=0.5": "no force of its own",
    "rudder: jam value=40deg": "between -0.5 and 0.5 rad",
    "rudder: jam value=3rpm": "`rpm` is not a unit",
    "rudder: jam when command.ruder > 1": "did you mean `rudder`?",
    "rudder: jam when depth > 1deg": "`deg` is not a unit",
    "rudder: jam when altitude < 1": "no bottom",
    "imu: freeze": "no sensor `imu`",
    "rudder: jam random 30000/h for 1s": "at most 1000",
}


@pytest.mark.parametrize("text", REFUSED)
def test_nonsense_is_refused_when_compiling(text):
    with pytest.raises(SpecError) as caught:
        strike(text, duration=1000.0)
    (problem,) = caught.value.problems
    assert REFUSED[text] in str(problem)
    assert problem.expected
    assert problem.mend


def test_more_faults_than_a_label_has_bits_are_refused():
    strike(*["propeller: power_loss @ 1s"] * faulting.MOST_FAULTS)
    with pytest.raises(SpecError, match="each of which is a bit of a label"):
        strike(*["propeller: power_loss @ 1s"] * (faulting.MOST_FAULTS + 1))


def test_faults_of_one_kind_on_one_target_have_names_of_their_own():
    infos = strike("rudder: jam @ 1s", "rudder: jam @ 9s", "pod: jam @ 1s")[1].infos
    assert [i.name for i in infos] == ["rudder: jam", "rudder: jam 2", "pod: jam"]
