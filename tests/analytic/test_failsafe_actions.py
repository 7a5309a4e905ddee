"""What each action of a failsafe makes of a leg, and when failsafes come and go."""

from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.engine.command import passage
from seatrial.gnc import failsafe_actions
from seatrial.gnc import failsafes as guarding
from seatrial.gnc.failsafes import CODE, FailsafeState, Monitors
from seatrial.gnc.guidance import circling
from seatrial.gnc.guidance.circling import Circle
from seatrial.gnc.mission import DOCK, HOLD, SURFACE, TRACK, Mission, begin, leg_of
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.signals import FAILSAFES

ACTIONS = ("none", "warn", "slow", "hold", "return", "surface", "surface", "abort")
"""Of eight vehicles; the seventh is up already."""
COUNT = len(ACTIONS)
START, PLACE, END = (1.0, 2.0, 6.0), (30.0, 0.0, 9.0), (80.0, 0.0, 10.0)


def everywhere(place):
    return jnp.asarray(np.repeat(np.array(place)[:, None], COUNT, axis=1))


def mission():
    one = jnp.ones((1, COUNT))
    return Mission(
        kind=jnp.full((1, COUNT), TRACK),
        start=everywhere(START)[None],
        end=everywhere(END)[None],
        speed=1.5 * one,
        acceptance=one,
        heading=0.3 * one,
        velocity=jnp.zeros((1, 3, COUNT)),
        dwell=one,
        timeout=one,
        watched=-one.astype(int),
        threshold=one,
        side=one,
        count=jnp.full(COUNT, 1),
        flat=False,
        altitude=4.0 * one,
    )


def state(action):
    none = jnp.zeros((0, COUNT))
    return FailsafeState(
        counts=none,
        on=none,
        action=jnp.asarray([CODE[word] for word in action]),
        place=everywhere(PLACE),
        centre=everywhere(PLACE)[:2],
        leg=jnp.zeros(COUNT, int),
        closest=jnp.zeros(COUNT),
        patient=jnp.zeros(COUNT),
        heard=none,
        expected=none,
        doubt=none,
        dead=none,
        stand=none,
        made=none,
        acted=none,
        slow=none,
        hint=jnp.zeros(COUNT),
        hinted=jnp.zeros(COUNT, bool),
        strength=none,
    )


def sailing(north, east, velocity):
    """Where eight vehicles believe to be, with these velocities over ground, heading north."""
    none = jnp.zeros((3, COUNT))
    moving = jnp.zeros((6, COUNT)).at[:2].set(jnp.asarray(velocity)[:, None])
    attitude = jnp.zeros((4, COUNT)).at[0].set(1.0)
    return Estimate(none.at[0].set(north).at[1].set(east), attitude, moving, none)


@partial(jax.jit, static_argnums=3)
def obeyed(state, mission, top, circle=None):
    leg = leg_of(mission, begin(mission).leg)
    failsafes = SimpleNamespace(circle=None if circle is None else Circle(*circle))
    believed = sailing(30.0, 0.0, (1.5, 0.0))
    return leg, failsafe_actions.obey(failsafes, state, mission, leg, believed, top)


def test_each_action_is_another_leg_and_a_warning_is_none():
    top = jnp.arange(COUNT) == 6
    own, found = obeyed(state(ACTIONS), mission(), top)
    kinds = [TRACK, TRACK, TRACK, DOCK, DOCK, SURFACE, HOLD, DOCK]
    assert found.kind.tolist() == kinds
    assert found.speed.tolist() == pytest.approx([1.5, 1.5, 0.75, *(5 * [1.5])])
    ends = [END, END, END, PLACE, START, (30.0, 0.0, 0.0), (30.0, 0.0, 0.0), PLACE]
    np.testing.assert_allclose(found.end.T, ends)
    for given in (found.heading, found.altitude):
        assert np.isnan(np.asarray(given)).tolist() == 3 * [False] + 5 * [True]
    for part, before in zip(jax.tree.leaves(found), jax.tree.leaves(own), strict=True):
        np.testing.assert_array_equal(part[..., :2], before[..., :2])


def test_who_cannot_stop_is_led_round_a_circle_that_it_is_on_already():
    """It heads north at the western end of a circle of 20 m, clockwise."""
    here = state(ACTIONS)._replace(centre=jnp.asarray([[30.0], [20.0]]) + jnp.zeros((2, COUNT)))
    _, found = obeyed(here, mission(), jnp.zeros(COUNT, bool), (20.0, 0.0, 0.5))
    assert found.kind.tolist() == [TRACK, TRACK, TRACK, TRACK, DOCK, SURFACE, SURFACE, DOCK]
    np.testing.assert_allclose(found.start[:, 3], (30.0, 0.0, PLACE[2]), atol=1e-5)
    np.testing.assert_allclose(found.end[:, 3], (50.0, 0.0, PLACE[2]), atol=1e-5)
    assert not found.last[3]
    assert found.last[4:].all()


def test_a_craft_that_cannot_stop_is_turned_away_where_its_circle_still_fits():
    """Of 20 m, with 2 s until it turns, at 1.5 m/s towards a side of its fence, along it, away
    from it, and into a corner."""
    circle = Circle(20.0, 2.0, 0.5)
    fence = jnp.asarray([[-300.0, -300.0], [0.0, -300.0], [0.0, 300.0], [-300.0, 300.0]])
    failsafes = SimpleNamespace(circle=circle, slack=1.0)
    leaving = jax.jit(
        lambda believed, on: guarding._leaving(failsafes, fence, believed, jnp.zeros(COUNT), on)
    )
    rows = [
        ((-24.1, 0.0), (1.5, 0.0), False),
        ((-23.9, 0.0), (1.5, 0.0), True),
        ((-2.0, 0.0), (0.0, 1.5), False),
        ((-0.5, 0.0), (0.0, 1.5), True),
        ((-2.0, 0.0), (-1.5, 0.0), False),
        # 1 + 2 · 1.5 / √2 + 20 (1 + 1/√2) from both sides
        ((-37.4, 262.6), (1.06066, 1.06066), False),
        ((-37.2, 262.8), (1.06066, 1.06066), True),
    ]
    for place, velocity, expected in rows:
        found = leaving(sailing(*place, velocity), jnp.asarray(False))
        assert bool(found[0]) == expected, (place, velocity)
    # Once turned away it needs a quarter of the radius more, whichever way it goes.
    for north, expected in ((-28.9, True), (-29.1, False)):
        found = leaving(sailing(north, 0.0, (1.5, 0.0)), jnp.asarray(True))
        assert bool(found[0]) == expected
    middle = circling.beside(circle, fence, sailing(-40.0, 270.0, (1.5, 0.0)))
    np.testing.assert_allclose(middle[:, 0], (-37.0, 250.0), atol=1e-4)  # to port: a side is near


def test_who_is_to_stay_or_return_and_does_not_know_where_it_is_asks_for_its_depth_alone():
    here = state(ACTIONS)
    lost = jnp.zeros((len(FAILSAFES), COUNT), bool).at[FAILSAFES.index("position")].set(True)
    found = failsafe_actions.adrift(here._replace(on=lost))
    assert [word for word, drifts in zip(ACTIONS, found, strict=True) if drifts] == [
        "hold",
        "return",
    ]
    assert not failsafe_actions.adrift(here._replace(on=~lost)).any()
    at_fence = lost.at[FAILSAFES.index("fence")].set(True)
    assert not failsafe_actions.adrift(here._replace(on=at_fence)).any()
    asked = Setpoint(
        *(jnp.ones(shape) for shape in 2 * [(3, COUNT), (COUNT,), (COUNT,)] + [(COUNT,)])
    )
    left = passage.drifting(asked, found)
    np.testing.assert_array_equal(left.depth, asked.depth)
    for part in left._replace(depth=left.heading):
        np.testing.assert_array_equal(np.isnan(part), np.broadcast_to(found, part.shape))


def test_a_count_is_full_after_its_time_and_empty_after_it_again():
    rise, fall = 0.25, 0.5
    count, on = jnp.zeros((1, 1)), jnp.zeros((1, 1), bool)
    history = []
    for cause in [True] * 3 + [False] + [True] * 4 + [False] * 4:
        count, on = guarding._counted(count, on, jnp.asarray([[cause]]), rise, fall)
        history.append(bool(on[0, 0]))
    # Up 3, down 2, up 4 quarters: full at the seventh; the cause gone, empty two periods later.
    assert history == [False] * 6 + [True] * 3 + [False] * 3


def test_an_actuator_is_dead_that_stays_where_it_was_and_well_that_lags_as_its_drive_does():
    """Of four: one follows its lag, one stands, one is limited in rate, one is in its dead band."""
    column = lambda *numbers: jnp.asarray(numbers)[:, None]  # noqa: E731
    share = 1.0 - np.exp(-0.1 / 0.5)
    monitors = Monitors(
        low=column(*4 * [-10.0]),
        high=column(*4 * [10.0]),
        dead_band=column(0.0, 0.0, 0.0, 2.0),
        share=column(share, share, 1.0, share),
        most=column(np.inf, np.inf, 0.05, np.inf),
        tolerance=column(*4 * [1.5]),
        rise=jnp.asarray(0.05),
        fall=jnp.asarray(0.1 / 60.0),
        channels=(0, 1, 2, 3),
        effectors=(0, 1, 1, 2),
    )
    orders = column(8.0, 8.0, 8.0, 1.9)
    zero = jnp.zeros((4, 1))
    now = state(["none"] * COUNT)._replace(expected=zero, doubt=zero, dead=zero.astype(bool))
    compare = jax.jit(lambda *given: guarding.compare(monitors, *given, jnp.asarray([True])))
    dead = []
    for k in range(60):
        t = 0.1 * (k + 1)
        real = column(8.0 * (1.0 - np.exp(-t / 0.5)), 0.0, 0.5 * t, 0.0)
        now = compare(now._replace(heard=real), orders)
        dead.append(np.asarray(now.dead)[:, 0].tolist())
    first = next(k for k, row in enumerate(dead) if any(row))
    assert dead[first] == dead[-1] == [False, True, False, False]
    # 1.5 of 8 are passed after 0.104 s; two seconds of it are 20 periods.
    assert first == pytest.approx(21, abs=1)
    health = guarding.health_of(monitors, now, jnp.ones((3, 1)))
    assert health[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_a_vehicle_that_does_half_of_what_it_is_told_does_not_answer_and_a_swinging_one_does():
    """Of three, with m v̇ + d v = h τ and a swell: well, half as strong, and well but held back by
    a steady 15 % of its authority."""
    mass, drag, period, most = 50.0, 40.0, 0.1, 100.0
    one = jnp.ones((1, 1))
    answer = guarding.Answer(
        mass=mass * jnp.eye(1, 6),
        authority=most * one,
        judged=one,
        most=jnp.asarray(0.22),
        faint=jnp.asarray(jnp.inf),
        rise=jnp.asarray(0.1),
        fall=jnp.asarray(0.1),
        time=jnp.asarray(30.0),
        share=jnp.asarray(-np.expm1(-period / 30.0)),
        dofs=(0,),
    )
    strength, against = np.array([1.0, 0.5, 1.0]), np.array([0.0, 0.0, -15.0])
    none = jnp.zeros((0, 3))
    still = jnp.zeros((1, 3))
    watched = state(ACTIONS)._replace(
        made=still[None],
        acted=still,
        slow=jnp.zeros((6, 3)),
        heard=none,
        hint=still[0],
        hinted=still[0] > 0.0,
        strength=still + 1.0,
    )
    trusted = jnp.ones(3, bool)
    listen = jax.jit(guarding.listen)
    v, found = np.zeros(3), []
    for k in range(1200):
        order = 60.0 + 10.0 * np.sin(0.3 * k * period)
        swell = 60.0 * np.sin(0.9 * k * period)
        v = v + period / mass * (strength * order + against + swell - drag * v)
        made = jnp.zeros((1, 6, 3)).at[0, 0].set(order)
        moving = jnp.zeros((6, 3)).at[0].set(v)
        watched, missing = listen(answer, watched, made, made[0] - drag * moving, moving)
        watched, weak = guarding.judge(answer, watched, missing, trusted)
        found.append(np.asarray(weak))
    found = np.array(found)
    strength = np.asarray(watched.strength)
    assert strength[0, 1] == pytest.approx(0.5, abs=0.06)  # a swell is left in the averages
    assert not found[:, [0, 2]].any()
    assert 200 < np.argmax(found[:, 1]) < 600
    assert found[600:, 1].all()


def test_of_two_thrusters_the_weak_one_is_told_and_a_net_on_the_hull_is_neither():
    """Of four vehicles that turn: well, the left one a third as strong, the right one lost, and
    well with a net, which takes surge alone."""
    one = jnp.ones((2, 1))
    answer = guarding.Answer(
        mass=jnp.zeros((2, 6)),
        authority=jnp.asarray([[200.0], [80.0]]),
        judged=one,
        most=jnp.asarray(0.35),
        faint=jnp.asarray(jnp.inf),
        rise=jnp.asarray(0.1),
        fall=jnp.asarray(0.1),
        time=jnp.asarray(30.0),
        share=jnp.asarray(1.0),
        dofs=(0, 5),
    )
    thrust = np.array([90.0, 60.0])
    part = np.zeros((2, 6, 4))
    part[:, 0] = thrust[:, None]
    part[:, 5] = (0.4 * np.array([1.0, -1.0]) * thrust)[:, None]
    lost = np.array([[0.0, 2.0 / 3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    missing = np.einsum("en,edn->dn", lost, part[:, [0, 5]])
    missing[0, 3] = 100.0
    here = state(ACTIONS)._replace(
        made=jnp.asarray(part[:, [0, 5]]),
        heard=jnp.zeros((0, 4)),
        hint=jnp.zeros(4),
        hinted=jnp.zeros(4, bool),
        strength=jnp.ones((2, 4)),
    )
    trusted = jnp.ones(4, bool)
    after, _ = guarding.judge(answer, here, jnp.asarray(missing) / answer.authority, trusted)
    found = after.strength
    np.testing.assert_allclose(found, [[1.0, 1.0 / 3.0, 1.0, 1.0], [1.0, 1.0, 0.1, 1.0]], rtol=1e-5)


def test_what_also_pushes_where_no_thruster_does_is_not_a_thruster_that_fails():
    """Of five vehicles with a thruster to either side: half of both lost; the same with a stream
    abeam that the filter does not know of; the same where the estimate is lost; a third of one that
    is hardly used, where wind may be to blame and where nothing else may."""
    answer = guarding.Answer(
        mass=jnp.zeros((3, 6)),
        authority=jnp.asarray([[100.0], [100.0], [40.0]]),
        judged=jnp.asarray([[1.0], [0.0], [1.0]]),
        most=jnp.asarray(0.35),
        faint=jnp.asarray([jnp.inf, jnp.inf, jnp.inf, jnp.inf, 0.05]),
        rise=jnp.asarray(0.3),
        fall=jnp.asarray(0.01),
        time=jnp.asarray(30.0),
        share=jnp.asarray(1.0),
        dofs=(0, 1, 5),
    )
    thrust = np.array([50.0, 50.0, 50.0, 10.0, 10.0])
    made = np.stack([[thrust, 0.0 * thrust, way * 0.4 * thrust] for way in (1.0, -1.0)])
    missing = 0.5 * made.sum(axis=0)
    missing[1, 1] = 60.0
    missing[:, 3:] = 0.9 * made[0, :, 3:]
    here = state(ACTIONS)._replace(
        made=jnp.asarray(made),
        heard=jnp.zeros((0, 5)),
        hint=jnp.zeros(5),
        hinted=jnp.zeros(5, bool),
        strength=jnp.ones((2, 5)),
    )
    trusted = jnp.asarray([True, True, False, True, True])
    seen = []
    for _ in range(4):
        here, weak = guarding.judge(answer, here, jnp.asarray(missing) / answer.authority, trusted)
        seen.append(weak.tolist())
    assert seen[0] == [True, False, False, False, False]
    assert seen[-1] == [True, False, False, False, True]
    np.testing.assert_allclose(here.strength[:, 4], [0.1, 1.0], rtol=1e-5)
    # Once the allocation hardly asks it any more, what it still lacks is enough to remember it by.
    here = here._replace(made=0.2 * here.made)
    here, weak = guarding.judge(
        answer, here, 0.2 * jnp.asarray(missing) / answer.authority, trusted
    )
    assert weak[4]
    assert here.hint[4] == 1.0
