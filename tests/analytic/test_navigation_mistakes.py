"""Dynamics of the study of consistency, which are as wrong as its filters are told."""

import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.gnc.navigation.aids.velocities import BodyVelocity
from seatrial.gnc.types import Estimate
from seatrial.pytree import constant, pytree
from seatrial.spec.navigation import Dynamics
from seatrial.validation.consistency import dynamics
from voyages import matched

pytestmark = pytest.mark.usefixtures("x64")

PERIOD, FRAMES, CRAFT = 0.5, 400, 200
PACE = 1.0


@pytree
class _Steady:
    """A twin that goes as its orders say."""

    scale: object

    def begin(self, relative):
        return relative

    def advance(self, memory, estimate, orders, dt):
        return memory.at[:3].set(self.scale * orders)

    def velocity(self, memory):
        return memory


def _filter(pace):
    plain = matched(("dvl",))
    aid = BodyVelocity(**(vars(plain.aids[0]) | {"pace": pace}))
    twin = _Steady(constant(1.0))
    return plain.__class__(**(vars(plain) | {"aids": (aid,), "known": ("dynamics",), "twin": twin}))


def _orders(speed):
    return np.broadcast_to(np.array([speed, 0.0, 0.0])[:, None], (FRAMES, 3, CRAFT))


def _off(speed):
    """(T, 3, N) what the mistaken twin predicts less what is right."""
    orders = _orders(speed)
    filter, told = dynamics.as_told(
        _filter(constant(PACE)), Dynamics(), orders, PERIOD, tuple(range(CRAFT))
    )
    still = Estimate(*[jnp.zeros((n, CRAFT)) for n in (3, 4, 6, 3)])
    memory = filter.twin.begin(jnp.zeros((6, CRAFT)))
    found = []
    for order in told:
        memory = filter.twin.advance(memory, still, jnp.asarray(order), PERIOD)
        found.append(np.asarray(filter.twin.velocity(memory))[:3])
    return np.stack(found) - orders


def test_mistakes_are_as_large_and_last_as_long_as_a_filter_is_told():
    # 600 series of 200 s, each of about three independent values: 3 % of the deviation.
    told, off = Dynamics(), _off(2.0)
    np.testing.assert_allclose(off.std(), told.deviation, rtol=0.1)
    for share in (0.5, 1.0):
        later = round(share * told.correlation_time / PERIOD)
        alike = np.mean(off[later:] * off[:-later]) / np.mean(off**2)
        np.testing.assert_allclose(alike, np.exp(-share), atol=0.08)


def test_mistakes_are_in_proportion_to_a_low_speed_and_none_at_rest():
    fast = _off(2.0)
    np.testing.assert_allclose(_off(0.25), 0.25 / PACE * fast, atol=1e-12)
    np.testing.assert_allclose(_off(0.0), 0.0, atol=1e-12)


def test_a_craft_that_the_wind_drives_has_no_other_mistakes():
    filter, orders = _filter(None), _orders(1.0)
    same, told = dynamics.as_told(filter, Dynamics(), orders, PERIOD, tuple(range(CRAFT)))
    assert same is filter
    assert told is orders


def test_one_vehicle_has_the_same_mistakes_among_others():
    orders = _orders(1.0)[..., :2]
    filter = _filter(constant(PACE))
    _, both = dynamics.as_told(filter, Dynamics(), orders, PERIOD, (4, 9))
    _, one = dynamics.as_told(filter, Dynamics(), orders[..., 1:], PERIOD, (9,))
    np.testing.assert_array_equal(both[..., 1:], one)
