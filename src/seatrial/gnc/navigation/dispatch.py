"""The functions that every navigation filter offers, for callers that do not mind which it is."""

import jax

from seatrial.gnc.navigation import ekf15, eskf, watching
from seatrial.gnc.navigation.state import Filter, NavState
from seatrial.gnc.types import Estimate

AnyFilter = Filter | ekf15.Filter
AnyState = NavState | ekf15.NavState


def begin(filter: AnyFilter, start: Estimate, count: int) -> AnyState:
    """A filter that believes `start`."""
    if isinstance(filter, Filter):
        return eskf.begin(filter, start, count)
    return ekf15.begin(filter, start, count)


def predict(
    filter: AnyFilter, state: AnyState, values: jax.Array, dt: float, usable: jax.Array
) -> AnyState:
    """State at the next inertial sample (6, N)."""
    if isinstance(filter, Filter):
        assert isinstance(state, NavState)
        return eskf.predict(filter, state, values, dt, usable)
    assert isinstance(state, ekf15.NavState)
    return ekf15.predict(filter, state, values, dt, usable)


def update(
    filter: AnyFilter,
    state: AnyState,
    index: int,
    values: jax.Array,
    usable: jax.Array,
    age: jax.Array | float | None = None,
) -> AnyState:
    """State after a measurement (D, N) of the aid at `index`, taken `age` seconds ago."""
    if isinstance(filter, Filter):
        assert isinstance(state, NavState)
        return eskf.update(filter, state, index, values, usable, age)
    assert isinstance(state, ekf15.NavState)
    return ekf15.update(filter, state, index, values, usable, age)


def aid_by_knowledge(
    filter: AnyFilter, state: AnyState, orders: jax.Array | None, dt: float, usable: jax.Array
) -> AnyState:
    """State after taking in what the vehicle knows without a sensor, once a control period."""
    if isinstance(filter, Filter):
        assert isinstance(state, NavState)
        return eskf.aid_by_knowledge(filter, state, orders, dt, usable)
    assert isinstance(state, ekf15.NavState)
    return ekf15.aid_by_knowledge(filter, state, usable)


def estimate(filter: AnyFilter, state: AnyState, ahead: jax.Array | None = None) -> Estimate:
    """What guidance and control are told, `ahead` (N,) of the last inertial sample, s."""
    if isinstance(filter, Filter):
        assert isinstance(state, NavState)
        return eskf.estimate(filter, state, ahead)
    assert isinstance(state, ekf15.NavState)
    return ekf15.estimate(filter, state, ahead)


def deviations(filter: AnyFilter, state: AnyState) -> jax.Array:
    """(12, N) standard deviations of position (NED), attitude and velocity (u v w p q r)."""
    if isinstance(filter, Filter):
        assert isinstance(state, NavState)
        return eskf.deviations(filter, state)
    assert isinstance(state, ekf15.NavState)
    return ekf15.deviations(state)


def spread(state: AnyState) -> jax.Array:
    """(N,) standard deviation of the horizontal position, along the worse of north and east, m."""
    return eskf.spread(state) if isinstance(state, NavState) else ekf15.spread(state)


def health(filter: AnyFilter, state: AnyState) -> jax.Array:
    """(1 + sensors, N) how the IMU and every sensor are found, as `signals.HEALTH` numbers it."""
    if isinstance(filter, Filter):
        assert isinstance(state, NavState)
        return watching.health(filter, state)
    assert isinstance(state, ekf15.NavState)
    return ekf15.health(filter, state)
