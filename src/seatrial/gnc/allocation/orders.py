"""From a demanded wrench to orders: limits, programme, angles, rates, thrust curves.

Demands are clipped by what the limits allow for good, as if there were time to get there; what
comes out is then approached as fast as turning rates and shafts allow, making at every instant as
much of it as the angles of that instant can. Everything is computed in double precision.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.allocation import bounds, programme
from seatrial.gnc.allocation.azimuth import Steered, steer
from seatrial.gnc.allocation.bounds import Limits
from seatrial.gnc.allocation.curves import orders_of, thrusts
from seatrial.gnc.allocation.effectors import LEAST_SPEED, Azimuths, EffectorGroup, Effectors
from seatrial.spatial.gradients import root

OPPOSED = 1.5
"""Thrust on the way to other angles over the largest at the end of it."""


class Allocation(NamedTuple):
    """What is ordered, and what comes of it."""

    orders: jax.Array
    """(C, N) in units of the command channels."""
    wrench: jax.Array
    """(6, N) that these orders make once the actuators have followed, body axes."""


class _Now(NamedTuple):
    """The effectors at this instant."""

    columns: jax.Array
    """(E, 6, N) wrench per unit of effort."""
    inflow: jax.Array
    """(A, N) speed of the water along each effector."""
    low: jax.Array
    """(A, N) least and largest effort, zero between them."""
    high: jax.Array
    last: jax.Array
    """(A, N) last orders."""
    angle: jax.Array
    """(q, N) last angles ordered."""
    earliest: jax.Array
    """(A, N) orders that can be had by the next instant."""
    latest: jax.Array


def allocate(
    effectors: Effectors,
    demand: jax.Array,
    through_water: jax.Array,
    previous: jax.Array,
    period: float,
    health: jax.Array | None = None,
) -> Allocation:
    """Orders for a demanded wrench.

    `demand` and `through_water`, the velocity relative to the water, are (6, N) in body axes;
    `previous` are the last orders (C, N), `period` is the time since, s. `health` (A, N) is the
    share of its wrench that an effector still makes: 0 for a dead one, which is left out.
    Channels without an effector (tanks beside thrusters or fins) keep their last order.
    """
    dtype = previous.dtype
    wide = jax.tree.map(_widened, effectors)
    now = _instant(wide, _widened(through_water), _widened(previous), period, health)
    efforts = _efforts(wide, now, _widened(demand))
    orders, angles = _paced(wide, now, efforts, period)
    result = _widened(previous).at[jnp.asarray(wide.channels)].set(orders)
    if wide.azimuths is not None:
        result = result.at[jnp.asarray(wide.azimuths.channels)].set(angles)
    achieved = _cartesian(wide, thrusts(wide.curves, orders, now.inflow), angles)
    return Allocation(result.astype(dtype), programme.times(now.columns, achieved).astype(dtype))


def wrench(effectors: Effectors, through_water: jax.Array, orders: jax.Array) -> jax.Array:
    """What orders (C, N), whoever gave them, make: (6, N) in body axes."""
    return jnp.sum(wrenches(effectors, through_water, orders), axis=0)


def wrenches(effectors: Effectors, through_water: jax.Array, orders: jax.Array) -> jax.Array:
    """The same of each effector that is well, (A, 6, N)."""
    wide = jax.tree.map(_widened, effectors)
    now = _instant(wide, _widened(through_water), _widened(orders), 0.0, None)
    efforts = _cartesian(wide, thrusts(wide.curves, now.last, now.inflow), now.angle)
    parts = now.columns * efforts[:, None]
    count = len(wide.channels)
    if wide.azimuths is None:
        return parts
    return parts[:count].at[jnp.asarray(wide.azimuths.effectors)].add(parts[count:])


def _widened(a: jax.Array) -> jax.Array:
    return a.astype(jnp.float64) if jnp.issubdtype(a.dtype, jnp.floating) else a


def _instant(
    e: Effectors,
    through_water: jax.Array,
    previous: jax.Array,
    period: float,
    health: jax.Array | None,
) -> _Now:
    count = len(e.channels)
    last = jnp.clip(previous[jnp.asarray(e.channels)], e.low, e.high)
    along = jnp.sum(e.inflow[:, :, None] * through_water, axis=1)
    flow = along[:count]
    angle = flow[:0]
    # Squares before signs: below the least speed a fin has no effect at all.
    gain = jnp.where(e.fin, jnp.where(jnp.abs(flow) > LEAST_SPEED, flow * flow, 0.0), 1.0)
    if health is not None:
        gain = gain * health
    columns = jnp.where(
        (e.fin & (flow < 0))[:, None], e.astern.T[:count, :, None], e.columns.T[:count, :, None]
    )
    columns = columns * gain[:, None]
    if e.azimuths is not None:
        rows = jnp.asarray(e.azimuths.effectors)
        limit = e.azimuths.limit
        angle = jnp.clip(previous[jnp.asarray(e.azimuths.channels)], -limit, limit)
        turned = jnp.cos(angle) * flow[rows] + jnp.sin(angle) * along[count:]
        flow = flow.at[rows].set(turned)
        second = e.columns.T[count:, :, None] * gain[rows][:, None]
        columns = jnp.concatenate([columns, second])
    earliest, latest = (jnp.broadcast_to(limit, last.shape) for limit in (e.low, e.high))
    if e.rate is not None:
        earliest = jnp.maximum(earliest, last - e.rate * period)
        latest = jnp.minimum(latest, last + e.rate * period)
    low = jnp.minimum(thrusts(e.curves, jnp.broadcast_to(e.low, last.shape), flow), 0.0)
    high = jnp.maximum(thrusts(e.curves, jnp.broadcast_to(e.high, last.shape), flow), 0.0)
    return _Now(columns, flow, low, high, last, angle, earliest, latest)


def _cartesian(e: Effectors, efforts: jax.Array, angles: jax.Array) -> jax.Array:
    """Thrusts and angles (A, N) and (q, N) as efforts (E, N)."""
    if e.azimuths is None:
        return efforts
    rows = jnp.asarray(e.azimuths.effectors)
    thrust = efforts[rows]
    first = efforts.at[rows].set(thrust * jnp.cos(angles))
    return jnp.concatenate([first, thrust * jnp.sin(angles)])


def _efforts(e: Effectors, now: _Now, demand: jax.Array) -> jax.Array:
    """Efforts (E, N) that the limits allow, whatever the rates."""
    efforts = jnp.zeros((now.columns.shape[0], *demand.shape[1:]), demand.dtype)
    for group in e.groups:
        parts, size = _members(e, group), _sizes(e, group, now)
        columns, goal = _scaled(group, now.columns[parts] * size[:, None], demand)
        if _alone(group):
            step = columns[0]
            x = goal / jnp.where(step != 0, step, jnp.inf)
            rows = jnp.asarray(group.fixed)
            value = jnp.clip(x * size, now.low[rows], now.high[rows])
        else:
            value = size * _solution(e, group, now, columns, goal, size)
        efforts = efforts.at[parts].set(value)
    return efforts


def _alone(group: EffectorGroup) -> bool:
    """One effector for one degree of freedom needs no programme."""
    return len(group.dofs) == len(group.fixed) == 1 and not group.turning


def _members(e: Effectors, group: EffectorGroup) -> jax.Array:
    """Which efforts belong to a group: single ones, then first and second ones of pairs."""
    if e.azimuths is None or not group.turning:
        return jnp.asarray(group.fixed)
    first = [e.azimuths.effectors[i] for i in group.turning]
    second = [len(e.channels) + i for i in group.turning]
    return jnp.asarray([*group.fixed, *first, *second])


def _sizes(e: Effectors, group: EffectorGroup, now: _Now) -> jax.Array:
    """Unit in which each effort of a group is counted: its largest."""
    size = jnp.maximum(now.high, -now.low)
    parts = [size[jnp.asarray(group.fixed, int)]]
    if e.azimuths is not None and group.turning:
        parts += 2 * [size[jnp.asarray([e.azimuths.effectors[i] for i in group.turning])]]
    return jnp.concatenate(parts)


def _scaled(
    group: EffectorGroup, columns: jax.Array, demand: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Rows of a group's degrees of freedom, as shares of what all effectors together can make."""
    rows = jnp.asarray(group.dofs)
    columns = columns[:, rows]
    most = jnp.sum(jnp.abs(columns), axis=0)
    factor = jnp.where(most > 0, 1.0 / jnp.where(most > 0, most, 1.0), 0.0)
    return columns * factor, demand[rows] * factor


def _solution(
    e: Effectors,
    group: EffectorGroup,
    now: _Now,
    columns: jax.Array,
    goal: jax.Array,
    size: jax.Array,
) -> jax.Array:
    """Solve one group in scaled units."""
    rows = jnp.asarray(group.fixed, int)
    unit = jnp.where(size > 0, size, jnp.inf)
    n = len(group.fixed)
    low, high = now.low[rows] / unit[:n], now.high[rows] / unit[:n]
    zero = jnp.zeros_like(size)
    found, goal = programme.least(columns, goal)
    limits = Limits(low, high)
    if e.azimuths is not None and group.turning:
        limits = _with_sectors(e.azimuths, group, now, limits, unit[n : n + len(group.turning)])
        # A further axis for the variants, before that of the vehicles.
        limits = limits._replace(low=low[:, None], high=high[:, None])
        columns, goal = columns[:, :, None], goal[:, None]
        shape = (size.shape[0], e.azimuths.side.shape[1], *size.shape[1:])
        found, zero = (jnp.broadcast_to(a[:, None], shape) for a in (found, zero))
    ready = bounds.inside(limits, found)
    x = programme.follow(columns, limits, zero, goal, zero, found, ready, clip=True)
    if limits.normals is None:
        return x
    if limits.normals.shape[3] == 1:
        return x[:, 0]
    missed = jnp.sum((goal - programme.times(columns, x)) ** 2, axis=0)
    cost = missed / (jnp.sum(goal * goal, axis=0) + 1e-30) + 1e-6 * jnp.sum(x * x, axis=0)
    best = jnp.argmin(cost, axis=0)
    return jnp.take_along_axis(x, best[None, None], axis=1)[:, 0]


def _with_sectors(
    a: Azimuths, group: EffectorGroup, now: _Now, limits: Limits, unit: jax.Array
) -> Limits:
    """Add the polygons of a group's azimuth thrusters."""
    which = jnp.asarray(group.turning)
    rows = jnp.asarray([a.effectors[i] for i in group.turning])
    ahead, astern = (now.high[rows] / unit)[:, None], (-now.low[rows] / unit)[:, None]
    side = a.side[which]
    radius = jnp.where(side == 0, ahead, jnp.where(side == 1, astern, jnp.minimum(ahead, astern)))
    return limits._replace(normals=a.normals[:, :, which], reach=a.reach[:, which] * radius)


def _paced(
    e: Effectors, now: _Now, efforts: jax.Array, period: float
) -> tuple[jax.Array, jax.Array]:
    """Orders (A, N) and angles (q, N) that come nearest to the efforts within one period."""
    count = len(e.channels)
    thrust, steered = efforts[:count], None
    if e.azimuths is not None:
        rows = jnp.asarray(e.azimuths.effectors)
        steered = steer(
            e.azimuths,
            thrust[rows],
            efforts[count:],
            now.angle,
            now.low[rows],
            now.high[rows],
            period,
        )
        thrust = thrust.at[rows].set(steered.thrust)
    if e.rate is not None or steered is not None:
        thrust = _caught_up(e, now, efforts, thrust, steered)
    orders = orders_of(e.curves, thrust, now.inflow)
    if e.dead_band is not None:
        orders = _over_dead_band(e, now, thrust, orders)
    # What has no effect stands still; a dead propeller would else be asked to turn with the stream.
    working = jnp.any(now.columns[:count] != 0, axis=1)
    orders = jnp.clip(jnp.where(working, orders, 0.0), now.earliest, now.latest)
    return orders, now.angle if steered is None else steered.angle


def _over_dead_band(e: Effectors, now: _Now, thrust: jax.Array, orders: jax.Array) -> jax.Array:
    """Round orders within the dead band to zero or to its edge, whichever thrust is nearer."""
    assert e.dead_band is not None
    edge = jnp.where(orders < 0, -e.dead_band, e.dead_band)
    least = thrusts(e.curves, edge, now.inflow)
    rounded = jnp.where(jnp.abs(thrust) < 0.5 * jnp.abs(least), 0.0, edge)
    return jnp.where(jnp.abs(orders) < e.dead_band, rounded, orders)


def _most_opposed(now: _Now, efforts: jax.Array, count: int, rows: jax.Array) -> jax.Array:
    """Largest thrust that azimuth thrusters may use on the way to other angles.

    Where they stand nearly parallel, only huge opposed thrusts make a force across them: the
    singular configuration of Johansen, Fossen and Berge (2004), who pay for it in the objective.
    Here no thruster pushes much harder than the hardest will once the angles are right.
    """
    along, across = efforts[rows], efforts[count:]
    hardest = jnp.max(root(along * along + across * across), axis=0)
    return OPPOSED * hardest + jnp.zeros_like(along)


def _caught_up(
    e: Effectors, now: _Now, efforts: jax.Array, thrust: jax.Array, steered: Steered | None
) -> jax.Array:
    """Thrusts within reach that make as much as possible of the wrench of the efforts."""
    ends = [thrusts(e.curves, limit, now.inflow) for limit in (now.earliest, now.latest)]
    low, high = jnp.minimum(*ends), jnp.maximum(*ends)
    columns = now.columns
    settled = jnp.ones(thrust.shape[1:], bool)
    if steered is not None and e.azimuths is not None:
        count, rows = len(e.channels), jnp.asarray(e.azimuths.effectors)
        most = _most_opposed(now, efforts, count, rows)
        least, largest = low[rows], high[rows]
        largest = jnp.maximum(jnp.minimum(largest, most), least)
        least = jnp.minimum(jnp.maximum(least, -most), largest)
        low = low.at[rows].set(jnp.where(steered.barred, 0.0, least))
        high = high.at[rows].set(jnp.where(steered.barred, 0.0, largest))
        c, s = jnp.cos(steered.angle)[:, None], jnp.sin(steered.angle)[:, None]
        columns = columns.at[rows].set(c * columns[rows] + s * columns[count:])[:count]
        settled = jnp.all(steered.settled, axis=0)
    goal = programme.times(now.columns, efforts)
    last = thrusts(e.curves, now.last, now.inflow)
    for group in e.groups:
        if _alone(group):
            continue  # the last clip does it
        turning = () if e.azimuths is None else e.azimuths.effectors
        rows = jnp.asarray([*group.fixed, *(turning[i] for i in group.turning)])
        size = jnp.maximum(now.high, -now.low)[rows]
        unit = jnp.where(size > 0, size, jnp.inf)
        limits = Limits(low[rows] / unit, high[rows] / unit)
        scaled, wanted = _scaled(group, columns[rows] * size[:, None], goal)
        found = thrust[rows] / unit
        start = jnp.clip(last[rows] / unit, limits.low, limits.high)
        ready = settled & bounds.inside(limits, found)
        x = programme.follow(scaled, limits, start, wanted, found, found, ready, clip=False)
        thrust = thrust.at[rows].set(size * x)
    return thrust
