"""The autopilot on a body whose physics is simple: mass, inertia and linear drag in a plane."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.gnc.control import Autopilot, begin, control
from seatrial.gnc.control.autopilot import at_speed
from seatrial.gnc.control.loops import (
    Dive,
    FeedForward,
    Righting,
    Speed,
    Station,
    TrackingLoop,
    begin_dive,
    follow_dive,
)
from seatrial.gnc.control.pid import Pid
from seatrial.gnc.control.reference import Reference
from seatrial.gnc.control.sliding import SlidingMode
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.spatial.rotations import from_euler

pytestmark = pytest.mark.usefixtures("x64")

MASS, INERTIA, DRAG, TURNING_DRAG = 50.0, 20.0, 40.0, 15.0
PERIOD, OMEGA = 0.1, 0.8


def parts(kind=jnp.float64):
    def numbers(*values):
        return tuple(None if v is None else jnp.asarray([v], kind) for v in values)

    def pid(mass, drag):
        given = (mass * OMEGA**2, 0.1 * mass * OMEGA**3, 2 * OMEGA * mass - drag, 0.2 * OMEGA)
        return Pid(*numbers(*given, None))

    heading = TrackingLoop(
        pid(INERTIA, TURNING_DRAG),
        FeedForward(*numbers(INERTIA, TURNING_DRAG, 0.0)),
        Reference(*numbers(OMEGA, 0.4, 0.3)),
        *numbers(0.0),
    )
    ahead = FeedForward(*numbers(MASS, DRAG, 0.0))
    given = (2 * OMEGA * MASS - DRAG, OMEGA**2 * MASS, None, 0.5 * OMEGA, None)
    speed = Speed(Pid(*numbers(*given)), ahead, *numbers(OMEGA, 0.5))
    station = Station(
        pid(MASS, DRAG), pid(MASS, DRAG), ahead, ahead, Reference(*numbers(OMEGA, 1.0, 0.3))
    )
    return heading, speed, station


def autopilot(kind=jnp.float64, heading=None):
    track, speed, station = parts(kind)
    return Autopilot(
        speeds=jnp.zeros(1, kind),
        surge=speed,
        sway=speed,
        heave=None,
        yaw_rate=None,
        heading=heading or track,
        crab_time=jnp.asarray([5.0 / OMEGA], kind),
        depth=None,
        roll=None,
        pitch=None,
        station=station,
    )


def asked(count=1, **given):
    def full(name, shape):
        value = jnp.full(shape, jnp.nan)
        return value if name not in given else jnp.broadcast_to(jnp.asarray(given[name]), shape)

    three, one = (3, count), (count,)
    shapes = {"position": three, "velocity": three}
    return Setpoint(*(full(n, shapes.get(n, one)) for n in Setpoint._fields))


def voyage(
    pilot, setpoint, seconds, current=(0.0, 0.0), moment=0.0, limit=jnp.inf, heading=0.0, known=True
):
    """North, east, heading and their body rates over time; the drag is on the water."""
    steps, fine = round(seconds / PERIOD), 10
    flow = jnp.asarray(current)

    def rates(x, force):
        c, s = jnp.cos(x[2]), jnp.sin(x[2])
        water = jnp.stack([c * flow[0] + s * flow[1], c * flow[1] - s * flow[0]])
        u, v, r = x[3], x[4], x[5]
        return jnp.stack(
            [
                c * u - s * v,
                s * u + c * v,
                r,
                (force[0] - DRAG * (u - water[0])) / MASS + v * r,
                (force[1] - DRAG * (v - water[1])) / MASS - u * r,
                (force[5] + moment - TURNING_DRAG * r) / INERTIA,
            ]
        )

    def one(carry, _):
        x, memory, achieved = carry
        still = jnp.zeros((1,))
        estimate = Estimate(
            jnp.stack([x[0], x[1], still]),
            from_euler(still, still, x[2]),
            jnp.stack([x[3], x[4], still, still, still, x[5]]),
            jnp.asarray([*current, 0.0])[:, None] * (1.0 if known else 0.0),
        )
        memory, demand = control(pilot, memory, setpoint, estimate, achieved, PERIOD)
        force = jnp.clip(demand, -limit, limit)
        for _ in range(fine):
            x = x + PERIOD / fine * rates(x, force)
        return (x, memory, force), x[:, 0]

    x = jnp.zeros((6, 1)).at[2].set(heading)
    memory = begin(pilot, 1, jnp.float64)
    start = (x, memory, jnp.zeros((6, 1)))
    return np.asarray(jax.lax.scan(one, start, jnp.arange(steps))[1])


def test_station_is_kept_in_a_current_that_nobody_told_about():
    pilot = autopilot()
    place = jnp.asarray([[4.0], [-3.0], [jnp.nan]])
    track = voyage(pilot, asked(position=place, heading=1.0), 150.0, (0.4, 0.3), known=False)
    np.testing.assert_allclose(track[-1, :3], [4.0, -3.0, 1.0], atol=0.01)
    assert track[:, 0].max() < 4.9


def test_heading_goes_the_short_way_round_without_overshoot():
    track = voyage(autopilot(), asked(heading=-2.8), 40.0, heading=2.8)
    unwrapped = track[:, 2]
    assert unwrapped.min() > 2.79
    np.testing.assert_allclose(unwrapped[-1], 2 * np.pi - 2.8, atol=1e-3)
    assert unwrapped.max() < 2 * np.pi - 2.8 + 0.03


def test_course_is_held_across_a_current():
    speed = jnp.asarray([[1.0], [0.0], [jnp.nan]])
    track = voyage(autopilot(), asked(course=0.5, velocity=speed), 200.0, (0.0, 0.3))
    moved = track[-1, :2] - track[-100, :2]
    np.testing.assert_allclose(np.arctan2(moved[1], moved[0]), 0.5, atol=0.01)


def test_saturated_turn_settles_without_windup():
    # The step asks for 6 N m to begin with.
    track = voyage(autopilot(), asked(heading=2.0), 400.0, limit=0.8)
    assert track[:, 2].max() < 2.0 * 1.12
    np.testing.assert_allclose(track[-1, 2], 2.0, atol=0.02)


def test_sliding_mode_bounds_the_error_of_an_unknown_moment():
    track, _, _ = parts()
    slope, gain, unknown = 0.6 * OMEGA, 0.3 * OMEGA * INERTIA, 6.0
    law = SlidingMode(
        *(jnp.asarray([v]) for v in (slope, gain, unknown, unknown / gain, 0.1 * slope))
    )
    plain = autopilot()
    sliding = autopilot(heading=TrackingLoop(law, track.feed_forward, track.reference, track.bias))
    errors = {}
    for name, pilot in (("plain", plain), ("sliding", sliding)):
        way = voyage(pilot, asked(heading=0.0), 60.0, moment=4.0)
        errors[name] = np.abs(way[:, 2]).max()
        np.testing.assert_allclose(way[-1, 2], 0.0, atol=0.01)
    assert errors["sliding"] < 0.7 * errors["plain"]


def test_vehicle_that_is_asked_nothing_is_left_alone():
    pilot, count = autopilot(), 3
    heading = jnp.asarray([jnp.nan, 0.5, jnp.nan])
    estimate = Estimate(
        jnp.zeros((3, count)),
        from_euler(*(jnp.zeros(count),) * 3),
        jnp.zeros((6, count)).at[0].set(1.0),
        jnp.zeros((3, count)),
    )
    memory = begin(pilot, count, jnp.float64)
    for _ in range(3):
        memory, demand = control(
            pilot, memory, asked(count, heading=heading), estimate, jnp.zeros((6, count)), PERIOD
        )
    np.testing.assert_array_equal(np.asarray(demand)[:, [0, 2]], 0.0)
    assert float(demand[5, 1]) > 0.0
    assert np.isnan(np.asarray(memory.heading.value)[[0, 2]]).all()


def test_single_precision_stays_single():
    pilot = autopilot(jnp.float32)
    still = jnp.zeros(2, jnp.float32)
    estimate = Estimate(
        jnp.zeros((3, 2), jnp.float32),
        from_euler(still, still, still),
        jnp.zeros((6, 2), jnp.float32),
        jnp.zeros((3, 2), jnp.float32),
    )
    wanted = jax.tree.map(lambda a: a.astype(jnp.float32), asked(2, heading=1.0))
    memory = begin(pilot, 2, jnp.float32)
    memory, demand = control(pilot, memory, wanted, estimate, jnp.zeros((6, 2), jnp.float32), 0.1)
    assert {a.dtype for a in jax.tree.leaves((memory, demand))} == {np.dtype(np.float32)}


def test_gains_are_interpolated_over_speed():
    pilot = autopilot()
    stacked = jax.tree.map(lambda a: jnp.concatenate([a, 3.0 * a]), pilot)
    stacked = stacked.__class__(**{**vars(stacked), "speeds": jnp.asarray([1.0, 2.0])})
    found = at_speed(stacked, jnp.asarray([0.0, 1.0, 1.25, 2.0, 9.0]))
    one = float(pilot.heading.law.proportional[0])
    np.testing.assert_allclose(
        found.heading.law.proportional, one * np.array([1.0, 1.0, 1.5, 3.0, 3.0]), rtol=1e-12
    )


def test_sway_is_that_over_ground_of_a_craft_that_rolls_while_it_heaves():
    pilot, still = autopilot(), jnp.zeros(1)
    roll, heave = 0.2, -0.5
    aside = heave * np.tan(roll)  # v cos φ = w sin φ: it goes straight up

    def push(sway):
        estimate = Estimate(
            jnp.zeros((3, 1)),
            from_euler(jnp.full(1, roll), still, still),
            jnp.array([[0.0], [sway], [heave], [0.0], [0.0], [0.0]]),
            jnp.zeros((3, 1)),
        )
        wish = asked(velocity=jnp.array([[jnp.nan], [0.0], [jnp.nan]]))
        memory = begin(pilot, 1, jnp.float64)
        for _ in range(50):
            memory, demand = control(pilot, memory, wish, estimate, jnp.zeros((6, 1)), PERIOD)
        return float(demand[1, 0])

    assert abs(push(aside)) < 1e-9
    assert push(0.0) < -1.0  # along its own axis it stands still, and drifts to starboard


def _dive(bias=0.0, awash=0.3, floats=0.08):
    """A cascade of an AUV like the REMUS, with the moment that holds it in trim."""
    stiffness, limit = 5.9, 0.14
    pitch = TrackingLoop(
        Pid(_number(3.8), _number(0.43), _number(21.8), _number(0.2), None),
        FeedForward(_number(8.7), _number(0.0), _number(0.0)),
        Reference(_number(0.8), _number(0.1), _number(0.1)),
        _number(bias),
        Righting(_number(stiffness), _number(0.0)),
    )
    dive = Dive(
        *(_number(0.12), _number(0.0015), Reference(_number(0.12), _number(0.17), _number(0.01))),
        *(_number(limit), _number(0.3), _number(0.0), *map(_number, (awash, floats)), pitch),
    )
    return dive, stiffness * limit


def _number(value):
    return jnp.full(1, value)


def _moments(dive, memory, depth, angle, seconds, order=3.0):
    """What it asks for while something holds it there; the memory afterwards."""
    zero, nothing = jnp.zeros(1), jnp.full(1, jnp.nan)

    @jax.jit
    def step(memory, depth, angle):
        return follow_dive(
            *(dive, memory, _number(order), nothing, nothing, depth, zero, _number(1.5)),
            *(angle, zero, zero, PERIOD),
        )

    found = []
    for _ in range(round(seconds / PERIOD)):
        memory, moment = step(memory, _number(depth), _number(angle))
        found.append(float(moment[0]))
    return memory, found


def test_a_dive_that_the_surface_prevents_does_not_become_a_plunge():
    dive, steepest = _dive()
    # Waves hold its bow up for a minute; then it is under, with its bow far down.
    memory, held = _moments(dive, begin_dive(dive, jnp.zeros(1)), 0.3, 0.1, 60.0)
    assert held[-1] < -steepest
    _, freed = _moments(dive, memory, 4.0, -0.5, 3.0)
    assert freed[-1] > 0.0


@pytest.mark.parametrize(("order", "depth"), [(0.0, 0.08), (0.2, 0.08)])
def test_nothing_winds_up_in_an_auv_that_is_to_be_at_the_surface_and_is(order, depth):
    """Ordered to the surface for 22 minutes, a REMUS 100 wound its stern plane to the limit; at
    0.1 m it pressed its bow down against the surface until it plunged to 1.2 m."""
    dive, steepest = _dive()
    memory, brief = _moments(dive, begin_dive(dive, jnp.full(1, depth)), depth, 0.0, 60.0, order)
    memory, long = _moments(dive, memory, depth, 0.0, 1200.0, order)
    assert abs(long[-1]) < 0.2 * steepest
    np.testing.assert_allclose(long[-1], brief[-1], atol=0.02 * steepest)


def test_a_vehicle_that_lies_awash_asks_for_a_dive_whatever_holds_it_in_trim():
    """The moment of the trim is that of a hull that flies under water. It outweighed all that the
    integral could ask for, and a buoyant vehicle stayed at the surface."""
    dive, steepest = _dive(bias=2.2)
    plain, _ = _dive(bias=0.0)
    nothing = jnp.zeros(1)
    memory, held = _moments(dive, begin_dive(dive, nothing), 0.08, 0.0, 120.0)
    _, without = _moments(plain, begin_dive(plain, nothing), 0.08, 0.0, 120.0)
    assert held[-1] < -steepest
    np.testing.assert_allclose(held[-1], without[-1], rtol=0.01)
    # Under water it has forgotten that at once, and does not plunge.
    under, _ = _moments(dive, memory, 0.4, 0.0, PERIOD)
    assert abs(float(memory.pitch.pid.integral[0])) > 2.2
    assert abs(float(under.pitch.pid.integral[0])) <= (5.9 + 0.25 * 3.8) * 0.14 + 1e-9
