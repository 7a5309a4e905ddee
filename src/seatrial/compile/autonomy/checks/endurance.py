"""Whether a mission can be seen through: time, charge, and knowing where one is."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import numpy as np

from seatrial.compile.autonomy.checks.case import Array, MissionCase
from seatrial.compile.autonomy.failsafes import deviation_of
from seatrial.conventions import GRAVITY
from seatrial.errors import Problem
from seatrial.gnc.allocation import Effectors, allocate
from seatrial.programs import outcome
from seatrial.sensors.machinery.battery import Battery
from seatrial.signals import SensorInfo
from seatrial.spec.navigation import Navigation
from seatrial.spec.sensors.position import Ahrs, Compass

HOURS = 3600.0
"""Time of a mission from which on it is compared with the run's, s."""
AWASH = 1.0
"""Depth of the origin up to which a craft that dives hears radio, m."""
LOOKS = 1001
"""Instants of a run at which it is asked how far its position spreads."""
SETTLED = 1e3
"""Time after which no limit on the rate of an order counts any more, s."""


def time(case: MissionCase) -> Iterator[Problem]:
    """Doubt a mission that lasts for hours beyond the run; a run cut short on purpose ends
    `unfinished`, which says enough."""
    needed, duration = sum(case.lasts), case.scenario.duration
    if needed > max(duration, HOURS):
        yield case.problem(
            ("mission",),
            f"it takes about {needed / 3600.0:.3g} h at the speeds that it asks for, and the "
            f"run ends after {duration / 3600.0:.3g} h",
            "a mission that the run can see the end of",
            "check the waypoints, which are in metres from the datum, or give more `duration`",
        )


def charge(case: MissionCase) -> Iterator[Problem]:
    """Doubt a mission for which the battery is too small, in calm water without a current, as far
    as the run sees it."""
    described = next((s for s in case.participant.fitted if s.type == "battery"), None)
    if described is None:
        return
    battery = case.sensors.built(described.name)
    assert isinstance(battery, Battery)
    failsafe = case.participant.failsafes.battery
    least = failsafe.charge if failsafe is not None and case.leaves("battery") else 0.0
    there = described.capacity * max(described.charge - least, 0.0)
    speeds = np.array([leg.speed for leg in case.legs])
    moving, resting = (_power(case, battery, v) for v in (speeds, 0.0 * speeds))
    still = np.array([leg.dwell for leg in case.legs])
    needed = float(moving @ (np.array(case.lasts) - still) + resting @ still)
    needed *= min(case.scenario.duration / max(sum(case.lasts), 1e-9), 1.0)
    if needed > there:
        left = f" until `failsafes.battery` acts at {least:g}" if least else ""
        yield case.problem(
            ("mission",),
            f"it takes about {needed / 1e3:.3g} kJ, {moving.max():.3g} W at most, and the battery "
            f"has {there / 1e3:.3g} kJ{left}",
            f"a mission of at most {100.0 * there / needed:.2g} % of this",
            "go slower, or a shorter way, or give the battery more `capacity`",
        )


def _power(case: MissionCase, battery: Battery, speeds: Array) -> Array:
    """What the battery gives at speeds through still water, W."""
    tuning, effectors = case.tuning, case.designed.effectors
    demand = np.repeat(np.array(tuning.trim.wrench)[:, None], len(speeds), axis=1)
    if (surge := tuning.autopilot.surge) is not None:
        grid, model = np.asarray(tuning.autopilot.speeds), surge.feed_forward
        linear, quadratic = (
            np.interp(speeds, grid, np.asarray(part)) for part in (model.linear, model.quadratic)
        )
        demand[0] = (linear + quadratic * speeds) * speeds
    channels = 1 + max(*effectors.channels, *(load.channel for load in battery.loads), 0)
    if effectors.azimuths is not None:
        channels = max(channels, 1 + max(effectors.azimuths.channels))
    flow = np.zeros((6, len(speeds)))
    flow[0] = speeds
    with jax.enable_x64(True):
        none = np.zeros((channels, len(speeds)))
        return np.asarray(outcome(_settled_power, effectors, battery, demand, flow, none))


@jax.jit
def _settled_power(
    effectors: Effectors, battery: Battery, demand: jax.Array, flow: jax.Array, before: jax.Array
) -> Any:
    # One program for all: outside of one, the loop of the allocator is compiled at every call.
    orders = allocate(effectors, demand, flow, before, SETTLED).orders
    return battery.power(orders).astype(np.float64)


def position(case: MissionCase) -> Iterator[Problem]:
    """Doubt a mission on which nothing bounds the position for long."""
    if case.participant.feedback == "truth" or case.participant.failsafes.position is None:
        return
    described = case.participant.navigation or Navigation()
    named = None if described.aids is None else {aid.sensor for aid in described.aids}
    used = [s for s in case.sensors.infos if named is None or s.name in named]
    types = {sensor.type for sensor in used}
    deepest = max(float(case.start[2]), *(float(leg.end[2]) for leg in case.legs))
    hears = not case.dives or deepest <= AWASH
    if (types & {"gnss", "uwb"} and hears) or types & {"lbl", "usbl"}:
        return
    spread, why = _spread(case, described, used, deepest)
    limit = deviation_of(case.participant)
    lasts = case.scenario.duration
    if types & {"gnss", "uwb"}:
        lasts = min(lasts, _under_water(case))
    times = np.linspace(0.0, lasts, LOOKS)
    beyond = times[spread(times) > limit]
    if len(beyond):
        yield case.problem(
            ("mission",),
            f"nothing bounds the position of `{case.participant.name}`: {why} its standard "
            f"deviation grows to about {float(spread(times)[-1]):.1f} m after {lasts:.0f} s",
            f"at most {limit:g} m, which it passes after {beyond[0]:.0f} s",
            "add a GNSS or UWB where it can hear them, LBL, USBL or a DVL under water, or say "
            "`feedback: truth`",
        )


def _under_water(case: MissionCase) -> float:
    """Longest time for which the mission stays below the reach of radio, s."""
    points = [case.start, *(leg.end for leg in case.legs)]
    longest = now = 0.0
    for (a, b), lasts in zip(pairwise(points), case.lasts, strict=True):
        now = (0.0 if max(a[2], b[2]) <= AWASH else now) + lasts
        longest = max(longest, now)
    return longest


def _spread(
    case: MissionCase, described: Navigation, used: list[SensorInfo], depth: float
) -> tuple[Callable[[Array], Array], str]:
    """Deviation of the position, m, that grows with the time, s, and what it comes from.

    Dead reckoning errs by its speed times the errors of heading and scale. Without a velocity over
    ground the current stays as unknown as the velocity with which the vehicle was put in, v₀, and
    its dynamics err by σ for τ at a time: (v₀ t)² and 2 σ² τ (t − τ (1 − e^(−t/τ))), the integral
    of a Gauss–Markov velocity, squared. With no velocity at all a tilt θ is felt as g θ: ½ g θ t².
    """
    speed = max(leg.speed for leg in case.legs)
    bottom = max(case.bottom(leg.end) for leg in case.legs)
    for sensor in (s for s in case.participant.fitted if s.type == "dvl"):
        named = any(info.name == sensor.name for info in used)
        if named and bottom - depth <= sensor.maximum_altitude:
            wrong = math.hypot(sensor.scale, sensor.misalignment, _heading(case, used))
            why = f"{wrong:.2g} of the way is wrong by the DVL and the heading, so that"
            return partial(np.multiply, math.hypot(wrong * speed, sensor.bias)), why
    dynamics = described.dynamics
    if dynamics is None and not {"dvl", "speed_log"} & {info.type for info in used}:
        tilted = 0.5 * GRAVITY * described.start.tilt
        return lambda t: tilted * t**2, "no sensor tells its velocity, so that"
    known = min(described.current, described.start.velocity)
    wrong = 0.0 if dynamics is None else dynamics.deviation
    lasting = 1.0 if dynamics is None else dynamics.correlation_time

    def adrift(t: Array) -> Array:
        walked = 2.0 * wrong**2 * lasting * (t + lasting * np.expm1(-t / lasting))
        return np.sqrt((known * t) ** 2 + walked)

    return adrift, f"the current is known to {known:g} m/s at first, so that"


def _heading(case: MissionCase, used: list[SensorInfo]) -> float:
    """Standard deviation of the heading by the best of the sensors that tell it, rad: of a
    reference what drifts, of a compass its noise and what is left of its deviation."""
    names = {info.name for info in used}
    found = []
    for sensor in (s for s in case.participant.fitted if s.name in names):
        full, noisy = sensor.fidelity == "full", sensor.fidelity != "ideal"
        if isinstance(sensor, Ahrs):
            found.append(math.hypot(noisy * sensor.heading_error, full * sensor.heading_bias))
        elif isinstance(sensor, Compass):
            constant, *others = sensor.deviation
            stays = math.hypot(sensor.residual, constant, math.hypot(*others) / math.sqrt(2.0))
            found.append(math.hypot(noisy * sensor.noise, full * stays))
    return min(found, default=math.radians(2.0))
