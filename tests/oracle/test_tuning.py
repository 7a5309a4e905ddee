"""`tune` on the library's vehicles: linear models, margins, and steps of the nonlinear vehicle."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import signal
from scipy.linalg import expm

from sampling import sampled
from seatrial.compile.autonomy.tuning import craft_of, design
from seatrial.core.step import step
from seatrial.core.types import State
from seatrial.design import gains as design_limits
from seatrial.design.authority import authority
from seatrial.design.linearisation import linearise, service_speed, turning_drag
from seatrial.design.loop_bench import STATIONS
from seatrial.design.loop_design import design_loops, growth, modes
from seatrial.errors import SpecError
from seatrial.gnc.allocation import allocate
from seatrial.gnc.control import begin, control
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.spatial.rotations import from_euler, to_euler
from seatrial.spec.loading import load
from seatrial.spec.mission import LoopGains
from seatrial.spec.vehicle import Vehicle

PERIOD, FINE = 0.1, 5
DEPTH = 20.0


@functools.cache
def craft(name):
    with jax.enable_x64(True):
        return craft_of(load(name, Vehicle))


@functools.cache
def tuned(name):
    return design(load(name, Vehicle), period=PERIOD).tuning


def setpoint(**given):
    def full(name, shape):
        value = np.full(shape, np.nan)
        if name in given:
            value[:] = np.reshape(given[name], shape)
        return jnp.asarray(value)

    shapes = {"position": (3, 1), "velocity": (3, 1)}
    return Setpoint(*(full(n, shapes.get(n, (1,))) for n in Setpoint._fields))


@functools.partial(jax.jit, static_argnames=("periods", "law"))
def voyage(model, ocean, effectors, pilot, state, memory, wanted, periods, law):
    def one(carry, k):
        state, memory, orders, achieved = carry
        known = Estimate(
            state.position, state.attitude, state.velocity, jnp.zeros_like(state.position)
        )
        memory, demand = law(pilot, memory, wanted, known, achieved)
        given = allocate(effectors, demand, state.velocity, orders, PERIOD)

        def move(i, at):
            return step(
                model, ocean, at, given.orders, k * PERIOD + i * PERIOD / FINE, PERIOD / FINE
            )

        state = jax.lax.fori_loop(0, FINE, move, state)
        seen = (state.position, to_euler(state.attitude), state.velocity)
        return (state, memory, given.orders, given.wrench), jnp.concatenate(seen)[:, 0]

    start = (state, memory, jnp.zeros((model.channels, 1)), jnp.zeros((6, 1)))
    return jax.lax.scan(one, start, jnp.arange(periods))[1]


def steer(pilot, memory, wanted, known, achieved):
    return control(pilot, memory, wanted, known, achieved, PERIOD)


def sail(name, wanted, seconds, pilot, memory, law, speed=0.0, pitch=0.0):
    """North, east, down, roll, pitch, yaw, u, v, w, p, q, r at every period, with the truth fed
    back."""
    it = craft(name)

    def column(*values):
        return jnp.asarray(values, jnp.float64)[:, None]

    state = State(
        column(0.0, 0.0, 0.0 if it.floats else DEPTH),
        from_euler(*column(0.0, pitch, 0.0)),
        column(speed, 0, speed * math.tan(pitch), 0, 0, 0),  # level
        jnp.zeros((it.actuator_states, 1)),
    )
    return np.asarray(
        voyage(
            it.model,
            it.ocean,
            it.effectors,
            pilot,
            state,
            memory,
            wanted,
            round(seconds / PERIOD),
            law,
        )
    )


STEPS = {
    # speed (m/s), heading (rad), change of depth (m); what a vehicle cannot do is None.
    "otter": (1.2, 0.8, None),
    "wamv": (1.4, 0.8, None),
    "smarty": (0.45, 0.8, None),
    "sookshma": (0.45, 0.8, None),
    "mariner": (None, 0.4, None),
    "remus100": (1.6, 0.6, 2.0),
    "remus100_mss": (1.9, 0.8, 3.0),
    "bluerov2": (0.25, 0.8, 0.6),
    "bluerov2_heavy": (0.22, 0.8, 0.6),
}

SETTLING = 18.0
"""Time after which a step has settled, times its bandwidth, beside the time on the way."""


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", sampled(STEPS, "otter", "remus100", "bluerov2"))
def test_tuned_vehicle_follows_steps_within_its_design(name):
    tuning = tuned(name)
    pilot, loops = tuning.autopilot, {loop.name: loop for loop in tuning.loops}
    speed, heading, deeper = STEPS[name]
    asked = {"heading": heading}
    waits = [SETTLING / loops["heading"].bandwidth + heading / pilot.heading.reference.rate_limit]
    if speed is not None:
        sideways = 0.0 if pilot.sway is not None else np.nan
        asked["velocity"] = (speed, sideways, np.nan)
        waits.append(SETTLING / loops["surge"].bandwidth)
    if deeper is not None:
        asked["depth"] = DEPTH + deeper
        rate = pilot.depth.reference.rate_limit
        depth = loops["depth"] if "depth" in loops else loops["depth by pitch"]
        waits.append(SETTLING / depth.bandwidth + deeper / rate)
    seconds = min(max(float(np.max(w)) for w in waits), 400.0)
    track = sail(
        name,
        setpoint(**asked),
        seconds,
        pilot,
        begin(pilot, 1, jnp.float64),
        steer,
        tuning.trim.speed,
        tuning.trim.pitch,
    )
    assert np.all(np.isfinite(track))
    last = track[-50:]
    if speed is not None:
        np.testing.assert_allclose(last[:, 6], speed, rtol=0.02)
    assert np.abs(last[:, 5] - heading).max() < 0.05 * heading
    assert track[:, 5].max() < 1.12 * heading
    if deeper is not None:
        gone = track[:, 2] - DEPTH
        assert np.abs(gone[-50:] - deeper).max() < 0.06 * deeper
        assert gone.max() < 1.15 * deeper
        assert gone.min() > -0.15 * deeper
    assert np.abs(track[:, 3]).max() < 0.5
    assert np.abs(track[:, 4]).max() < 0.6


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", sampled(STEPS, "otter", "remus100", "bluerov2"))
def test_every_loop_has_margins_and_all_together_are_stable(name):
    tuning = tuned(name)
    assert tuning.failures == ()
    # A station is not kept in water that passes faster than its loops bear.
    flown = [m for m in tuning.modes if m.mode not in STATIONS or m.speed <= tuning.steady]
    assert max(mode.growth for mode in flown) < design_limits.NEUTRAL
    assert {mode.mode for mode in tuning.modes} >= {"track", "velocity"}
    assert tuning.trim.residual < 1e-4
    for loop in tuning.loops:
        assert loop.margins.gain > 2.0, loop.name
        assert loop.margins.phase > 29.0, loop.name
        assert loop.margins.sensitivity < 2.0, loop.name


@pytest.mark.usefixtures("x64")
def test_autopilot_that_falls_short_says_where_and_why():
    tuning = design(load("otter", Vehicle), period=1.0).tuning
    assert any(
        reason.startswith("track at 2.02 m/s: `heading` has a sensitivity of")
        for reason in tuning.failures
    )
    assert max(mode.growth for mode in tuning.modes) > 0.0


def test_a_trim_that_the_fins_cannot_hold_is_not_fit():
    """Trim at 1.54 m/s takes 2.24 N m; planes of −6.15 N m s²/m² per rad give that at 8.8°."""
    vehicle = load("remus100", Vehicle)
    held = design(vehicle).tuning
    assert held.trim.load == pytest.approx(2.24 / (6.15 * 1.54**2) / np.radians(13.6), rel=0.01)
    fins = tuple(
        part.model_copy(update={"angle_limit": np.radians(6.0)}) if part.kind == "fin" else part
        for part in vehicle.actuators
    )
    weak = design(vehicle.model_copy(update={"actuators": fins})).tuning
    assert weak.failures[0].startswith("trim at 1.54 m/s: straight and level takes 1.46 times")
    assert weak.slowest > weak.trim.speed > held.slowest


def test_fins_hold_the_depth_down_to_where_they_act_the_other_way():
    """Flown at 8 m and then 2 m deeper: remus100 sinks to the bottom at 1.0 m/s and not at 1.1,
    the neutral ones miss the depth by 2 m at 0.4 m/s and by 0.1 m at 0.5."""
    assert 1.0 < tuned("remus100").slowest < 1.2
    assert 0.4 < tuned("remus100_mss").slowest < 0.5
    assert tuned("otter").slowest is None
    assert tuned("bluerov2").slowest is None


@pytest.mark.usefixtures("x64")
def test_poles_of_a_mode_are_those_of_the_loops_that_fly():
    # The bare BlueROV2 runs away with its sway loop open: the mode must have it closed.
    _, bench = design_loops(craft("bluerov2"), 0.31, 0.31, PERIOD, None, "pid", {})
    names = modes(bench)["track"]
    together = growth(np.linalg.eigvals(bench.closing(names, bench.loops)[0]))
    without = [name for name in names if name != "sway"]
    assert together == bench.growths["track"] < 0.0
    assert growth(np.linalg.eigvals(bench.closing(without, bench.loops)[0])) > 0.05


@pytest.mark.usefixtures("x64")
def test_poles_of_a_station_are_those_in_the_water_that_passes_it():
    """Bow against 0.31 m/s the bare BlueROV2 sways by 4° on station, and by nothing in 0.25 m/s
    (the nonlinear vehicle): across it Munk's moment, u² times the difference of the added masses,
    is stronger than its heading loop."""
    light, heavy = tuned("bluerov2"), tuned("bluerov2_heavy")
    for tuning in (light, heavy):
        speeds = [float(v) for v in tuning.autopilot.speeds]
        for mode in STATIONS:
            assert [m.speed for m in tuning.modes if m.mode == mode] == pytest.approx(speeds)
    (fastest,) = (m for m in light.modes if m.mode == "hold" and m.speed == light.fastest)
    assert fastest.growth > design_limits.NEUTRAL
    assert 0.2 < light.steady < 0.3 < heavy.steady
    assert tuned("otter").steady is None


@pytest.mark.usefixtures("x64")
def test_thrust_of_an_rov_is_held_to_what_it_can_bear():
    light, heavy = tuned("bluerov2"), tuned("bluerov2_heavy")
    # 2.26 N m per rad of righting, 9.07 kg of Munk's moment, 8.5 cm of lever.
    u = light.fastest
    pitch = 0.085 * (4.03 + 18.18 * u) * u / (2.26 - 9.07 * u * u)
    assert pitch == pytest.approx(0.17, abs=0.02)  # small angles
    # 2 N of buoyancy help a craft whose bow is up.
    resistance = (4.03 + 18.18 * u) * u - 2.0 * math.sin(light.trim.pitch)
    assert light.autopilot.most_surge[-1] == pytest.approx(resistance, rel=0.03)
    assert light.autopilot.pitch is None
    assert heavy.autopilot.pitch.law.proportional.min() > 0.5
    np.testing.assert_allclose(heavy.autopilot.pitch_coupling, 18.68 - 6.36, rtol=1e-6)
    np.testing.assert_allclose(heavy.autopilot.roll_coupling, -(18.68 - 7.12), rtol=1e-6)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", ["wamv", "remus100"])
def test_linear_model_is_the_derivative_of_the_step(name):
    # exp(A dt) against central differences of `step` itself, actuators switched off.
    it = craft(name)
    linear = linearise(it, service_speed(it))
    dt, size = 0.01, 1e-5
    model, orders = it.model, jnp.zeros((it.model.channels, 24))

    def moved(x):
        state = State(
            jnp.asarray(x[:3]), from_euler(*jnp.asarray(x[3:6])), jnp.asarray(x[6:]), 0.0 * orders
        )
        after = jax.jit(step)(model, it.ocean, state, orders, jnp.zeros(()), dt)
        return np.concatenate([after.position, to_euler(after.attitude), after.velocity])

    shifts = size * np.hstack([np.eye(12), -np.eye(12)])
    after = moved(linear.state[:, None] + shifts)
    found = (after[:, :12] - after[:, 12:]) / (2 * size)
    # Roll and pitch that the craft does not control are linearised as they swing, not at rest.
    tilting = [i for d in (3, 4) if d not in it.dofs for i in (d, 6 + d)]
    kept = np.setdiff1d(np.arange(12), tilting)
    # Without the wrench of the trim the vehicle slows down; over one step that is of second order.
    np.testing.assert_allclose(found[:, kept], expm(linear.A * dt)[:, kept], atol=1e-3)


@pytest.mark.filterwarnings(
    "ignore::scipy.signal.BadCoefficients"
)  # a numerator that begins with 0
@pytest.mark.usefixtures("x64")
def test_margins_agree_with_transfer_functions_of_scipy():
    it = craft("otter")
    cruise = service_speed(it)
    _, bench = design_loops(it, cruise, cruise, PERIOD, None, "pid", {})
    report, loop = bench.reports["heading"], bench.closed["heading"]
    # A symmetric craft: roll, yaw and sway by themselves, whatever the surge loop does.
    lateral = [3, 5, 7, 9, 11]
    A = bench.linear.A[np.ix_(lateral, lateral)]
    b = (bench.linear.B @ bench.linear.carried)[lateral, 5:]
    angle_of, rate_of = (signal.StateSpace(A, b, np.eye(5)[i : i + 1], [[0.0]]) for i in (1, 4))
    gains = loop.gains
    omega = np.geomspace(0.01, 100.0, 20_000) * gains.bandwidth
    s = 1j * omega
    angle, rate = (signal.freqresp(p, omega)[1] for p in (angle_of, rate_of))
    law = (gains.proportional + gains.integral / s) * angle
    law = law + gains.derivative / (1 + gains.filter_time * s) * rate
    whole = law * np.exp(-0.5 * PERIOD * s) / (1 + 0.1 * s)
    last = np.flatnonzero(np.abs(whole) > 1.0)[-1]
    assert report.margins.crossover == pytest.approx(omega[last], rel=1e-2)
    crossings = np.flatnonzero(np.diff(np.abs(whole) > 1.0))
    phase = np.degrees(np.abs(np.angle(-whole[crossings]))).min()
    assert report.margins.phase == pytest.approx(phase, abs=0.5)
    turns = np.flatnonzero(np.diff(np.sign(whole.imag)))
    sizes = -whole[turns].real
    assert report.margins.gain == pytest.approx(
        1.0 / sizes[(sizes > 0) & (sizes < 1)].max(), rel=1e-2
    )
    assert report.margins.sensitivity == pytest.approx((1 / np.abs(1 + whole)).max(), rel=1e-2)


@pytest.mark.usefixtures("x64")
def test_sliding_mode_steers_a_ship_within_its_design():
    tuning = design(load("mariner", Vehicle), period=PERIOD, heading="sliding").tuning
    assert tuning.loops[-1].margins.sensitivity < 1.7
    pilot = tuning.autopilot
    memory = begin(pilot, 1, jnp.float64)
    track = sail("mariner", setpoint(heading=0.4), 400.0, pilot, memory, steer, tuning.trim.speed)
    assert np.abs(track[-50:, 5] - 0.4).max() < 0.02
    assert track[:, 5].max() < 1.15 * 0.4


@pytest.mark.usefixtures("x64")
def test_full_ship_that_keeps_no_course_by_herself_turns_at_the_rate_asked_for():
    tuning = tuned("kvlcc2_l7")
    assert growth(np.linalg.eigvals(linearise(craft("kvlcc2_l7"), 1.18).A)) > 0.005
    assert tuning.failures == ()
    pilot = tuning.autopilot
    for speed in (0.5, 1.1):
        wanted = setpoint(velocity=(speed, np.nan, np.nan), yaw_rate=0.01)
        memory = begin(pilot, 1, jnp.float64)
        track = sail("kvlcc2_l7", wanted, 400.0, pilot, memory, steer, speed)
        np.testing.assert_allclose(track[-50:, 11], 0.01, rtol=0.03)
        assert track[:, 11].max() < 0.012


@pytest.mark.usefixtures("x64")
def test_bluerov2_moves_to_a_station_and_holds_it():
    pilot = tuned("bluerov2").autopilot
    wanted = setpoint(position=(2.0, -1.0, DEPTH + 0.5), heading=1.0)
    track = sail("bluerov2", wanted, 70.0, pilot, begin(pilot, 1, jnp.float64), steer)
    np.testing.assert_allclose(track[-1, :3], [2.0, -1.0, DEPTH + 0.5], atol=0.05)
    assert abs(track[-1, 5] - 1.0) < 0.03
    assert track[:, 5].max() < 1.25


@pytest.mark.usefixtures("x64")
def test_wamv_follows_surge_sway_and_yaw_rate_together():
    pilot = tuned("wamv").autopilot
    wanted = setpoint(velocity=(0.8, 0.2, np.nan), yaw_rate=0.1)
    track = sail("wamv", wanted, 40.0, pilot, begin(pilot, 1, jnp.float64), steer)
    np.testing.assert_allclose(track[-1, [6, 7, 11]], [0.8, 0.2, 0.1], atol=0.01)


def test_vehicle_without_a_thruster_ahead_refuses_a_speed():
    with pytest.raises(SpecError, match="cannot choose its speed"):
        design(load("mariner", Vehicle), 5.0)


@pytest.mark.usefixtures("x64")
def test_station_keeping_with_a_wave_filter_is_slower_and_keeps_its_margins():
    tuning = design(load("wamv", Vehicle), period=PERIOD, wave_frequency=0.9).tuning
    plain = {loop.name: loop for loop in tuned("wamv").loops}
    for loop in tuning.loops:
        if loop.name.startswith("station"):
            assert loop.bandwidth <= 0.4 * 0.9 + 1e-9 < plain[loop.name].bandwidth
            assert loop.margins.sensitivity < 1.7
    assert tuning.autopilot.station.filter is not None
    assert tuning.autopilot.heading.filter is None  # a boat of 5 m is steered through the waves


def test_gains_of_ones_own_are_flown_and_judged_like_designed_ones():
    otter = load("otter", Vehicle)
    designed = design(otter).tuning
    heading = next(loop for loop in designed.loops if loop.name == "heading")
    own = {"heading": LoopGains(proportional=0.8 * heading.proportional)}
    chosen = design(otter, gains=own).tuning
    np.testing.assert_allclose(
        chosen.autopilot.heading.law.proportional, 0.8 * heading.proportional, rtol=1e-12
    )
    found = next(loop for loop in chosen.loops if loop.name == "heading")
    assert found.proportional == pytest.approx(0.8 * heading.proportional)
    assert found.integral == pytest.approx(heading.integral, rel=1e-12)
    assert found.margins != heading.margins
    wild = {"heading": LoopGains(proportional=2000.0, derivative=0.0)}
    unfit = design(otter, gains=wild).tuning
    assert any("unstable" in reason for reason in unfit.failures)
    shown = next(loop for loop in unfit.loops if loop.name == "heading").margins
    assert np.isnan([shown.phase, shown.gain]).all()  # far from the critical point, and no margin
    with pytest.raises(SpecError, match="has no loop `depth`"):
        design(otter, gains={"depth": LoopGains(proportional=1.0)})


@pytest.mark.parametrize("name", ["mariner", "remus100_x"])
def test_against_a_turn_stands_what_slipping_leaves(name):
    """Slow turns by the linear model: A_vv v + A_vr r = 0 gives v, and N by all of M ν̇ = A ν."""
    craft_, speed = craft(name), service_speed(craft(name))
    linear = linearise(craft_, speed)
    rate = 1e-5 * speed / craft_.length
    forces = np.linalg.solve(linear.B[6:], linear.A[6:])
    slip = -forces[1, 11] / forces[1, 7] * rate
    expected = -(forces[5, 11] * rate + forces[5, 7] * slip)
    assert turning_drag(craft_, linear, rate) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", ["mariner", "remus100_mss", "remus100_x"])
def test_no_turn_is_asked_for_that_half_of_the_moment_cannot_keep_up(name):
    """Without slip a hull seems to turn twice as fast as it does, and the loop saturates."""
    autopilot = tuned(name).autopilot
    rates = np.broadcast_to(autopilot.heading.reference.rate_limit, np.shape(autopilot.speeds))
    for speed, rate in zip(np.asarray(autopilot.speeds), rates, strict=True):
        linear = linearise(craft(name), float(speed))
        most = authority(craft(name), float(speed), linear.wrench, 5)
        assert abs(turning_drag(craft(name), linear, float(rate))) <= 0.501 * most
