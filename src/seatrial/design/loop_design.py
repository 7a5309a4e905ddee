"""The loops of a vehicle at one speed, designed one after the other.

Each loop is designed with those before it closed: roll, pitch, sway, heading, surge, depth. The
margins that are reported are those with all others closed.
"""

import dataclasses
import math
from typing import Any, Literal

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.design import gains as design
from seatrial.design.authority import Craft
from seatrial.design.gains import Gains
from seatrial.design.linearisation import linearise
from seatrial.design.loop_bench import (
    FROUDE_LIMIT,
    SHARE,
    SLOWEST,
    Bench,
    feed_forward,
    filtered,
    number,
    pid_of,
    position_loop,
    reference_for,
    speed_loop,
    wave_filter,
)
from seatrial.design.margins import actuation, frequencies, margins, respond
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.loops import Dive, Righting, Station, Track
from seatrial.gnc.control.pid import Pid
from seatrial.gnc.control.reference import Reference
from seatrial.gnc.control.sliding import SlidingMode
from seatrial.pytree import constant

Array = NDArray[np.float64]

Law = Literal["pid", "sliding"]
"""How a heading is held."""

HEADING_STEP, LEVEL_STEP = 0.5, 0.3
"""Sudden errors that must not ask for more than the actuators have, rad."""

SPEED_STEP, SIDE_STEP, RATE_STEP = 0.3, 0.15, 0.2
"""The same for surge, for sway and heave as shares of the service speed, for the rate of turn as a
share of service speed over length."""

WAVE_SHARE = 0.4
"""A heading loop gets a wave filter where the craft's largest bandwidth is below this share of the
frequency of the waves."""

CASCADE = 0.25
"""Largest bandwidth of depth over that of the pitch that makes it."""

UNKNOWN = 0.2
"""Moment that a sliding mode takes as unknown, as a share of what actuators can give."""

GENTLE = 0.25
"""Largest speed over the service speed at which depth by heave and position change."""

STEEPEST = 0.45
"""Largest pitch of a dive, rad."""


def design_loops(
    craft: Craft,
    speed: float,
    cruise: float,
    period: float,
    waves: float | None,
    heading: Law,
    *,
    keep_station: bool,
) -> tuple[Autopilot, Bench]:
    """The autopilot for one speed, and how it was designed; arguments as those of `tune`."""
    bench = Bench(craft, linearise(craft, speed), cruise, period)
    dofs = craft.dofs
    roll = _level(bench, "roll", 3) if 3 in dofs else None
    pitch = _level(bench, "pitch", 4) if 4 in dofs else None
    surge = sway = heave = yaw_rate = track = crab_time = None
    if 1 in dofs:
        # First alone, because the sway of a slender craft makes it turn; later in company.
        sway = speed_loop(bench, "sway", 1, SIDE_STEP * cruise, alone=True)
    if 5 in dofs:
        yaw_rate = speed_loop(bench, "yaw rate", 5, RATE_STEP * cruise / craft.length)
        del bench.closed["yaw rate"]
        track = _heading(bench, waves, heading)
        crab_time = number(5.0 / bench.closed["heading"].gains.bandwidth)
    if 1 in dofs:
        sway = speed_loop(bench, "sway", 1, SIDE_STEP * cruise)
    if 0 in dofs:
        surge = speed_loop(bench, "surge", 0, SPEED_STEP * cruise)
    depth: Track | Dive | None = None
    if not craft.floats and 2 in dofs:
        heave = speed_loop(bench, "heave", 2, SIDE_STEP * cruise)
        del bench.closed["heave"]
        depth = _depth(bench)
    elif not craft.floats and pitch is not None:
        depth, pitch = _dive(bench, pitch), None
    keeps = keep_station and {0, 1, 5} <= set(dofs)
    station = _station(bench, waves) if keeps else None
    _review(bench, waves)
    autopilot = Autopilot(
        speeds=number(bench.linear.speed),
        surge=surge,
        sway=sway,
        heave=heave,
        yaw_rate=yaw_rate,
        heading=track,
        crab_time=crab_time,
        depth=depth,
        roll=roll,
        pitch=pitch,
        station=station,
    )
    return autopilot, bench


def _level(bench: Bench, name: str, dof: int) -> Track:
    loop = bench.closed[name] = position_loop(bench, name, dof, dof, LEVEL_STEP)
    forward = feed_forward(bench, dof, loop.gains)
    reference = reference_for(bench, loop, forward, loop.gains.bandwidth)
    trim, wrench = bench.linear.state[dof], bench.linear.wrench[dof]
    righting = Righting(number(max(bench.righting(dof), 0.0)), number(trim))
    return Track(pid_of(loop.gains), forward, reference, number(wrench), righting)


def _depth(bench: Bench) -> Track:
    loop = bench.closed["depth"] = position_loop(bench, "depth", 2, 2, bench.craft.length)
    forward = feed_forward(bench, 2, loop.gains)
    # Slowly, because going up or down pitches a craft that has way on.
    reference = reference_for(bench, loop, forward, GENTLE * bench.cruise)
    return Track(pid_of(loop.gains), forward, reference, number(bench.linear.wrench[2]))


def _heading(bench: Bench, waves: float | None, law: Law) -> Track:
    sliding = law == "sliding"
    met = _met(bench, waves)
    loop = position_loop(bench, "heading", 5, 5, HEADING_STEP, waves=met, sliding=sliding)
    bench.closed["heading"] = loop
    forward = feed_forward(bench, 5, loop.gains)
    reference = reference_for(bench, loop, forward, loop.gains.bandwidth)
    chosen: Pid | SlidingMode = pid_of(loop.gains)
    if sliding:
        slope = design.SLIDING * loop.gains.bandwidth
        unknown = UNKNOWN * bench.authority(5)
        # Half of the gain within the boundary layer comes from the switching part.
        gain = 0.5 * slope * loop.gains.mass
        chosen = SlidingMode(*map(number, (slope, gain, unknown, unknown / gain, slope)))
    moment = number(bench.linear.wrench[5])
    return Track(chosen, forward, reference, moment, filter=wave_filter(met))


def _met(bench: Bench, waves: float | None) -> float | None:
    """Waves that a heading loop filters.

    A craft that is quick enough to be steered through them is not slowed by a filter.
    """
    quickest = FROUDE_LIMIT / math.sqrt(bench.craft.length)
    return waves if waves is not None and quickest < WAVE_SHARE * waves else None


def _dive(bench: Bench, pitch: Track) -> Dive:
    """Depth by pitch: the outer loop of a cascade around the pitch loop."""
    inner = bench.closed["pitch"]
    speed, plant = bench.linear.speed, inner.plant
    A, B = bench.system()
    depth = np.zeros((1, len(A)))
    depth[0, 2] = 1.0

    def attempt(omega: float) -> tuple[float, Any, bool]:
        grid = frequencies(omega)
        # From a wanted pitch through its reference model to the moment, and on to the depth.
        moment = _track_response(pitch, inner.gains, grid)
        moment = moment * actuation(plant.lag, plant.delay, grid)
        down = -respond(A, B[:, 4], depth, grid)[0] * moment
        return omega, (omega + 0.1 * omega**2 / (1j * grid)) / speed * down, True

    omega, found = design.fastest(attempt, CASCADE * inner.gains.bandwidth)
    law = Gains(omega, 0.1 * omega**2, None, None, omega, 0.0, 0.0)
    bench.report("depth", dataclasses.replace(inner, gains=law), found)
    steepest = min(STEEPEST, SHARE * bench.authority(4) / max(bench.righting(4), 1e-9))
    climb = 0.8 * speed * math.sin(steepest)
    return Dive(
        proportional=number(omega),
        integral=number(0.1 * omega**2),
        reference=Reference(*map(number, (omega, climb, 0.5 * omega * climb))),
        pitch_limit=number(steepest),
        least_speed=number(0.5 * SLOWEST * bench.cruise),
        trim_pitch=number(bench.linear.state[4]),
        pitch=pitch,
    )


def _track_response(loop: Track, gains: Gains, grid: Array) -> Any:
    """Demanded moment per wanted angle, the measured angle left out."""
    s, omega = 1j * grid, gains.bandwidth
    model = omega**2 / (s + omega) ** 2
    law = gains.proportional + gains.integral / s
    law = law + (gains.derivative or 0.0) * s / (1.0 + (gains.filter_time or 0.0) * s)
    ahead = gains.mass * s**2 + gains.damping * s
    if loop.righting is not None:
        ahead = ahead + float(loop.righting.stiffness)
    return model * (law + ahead)


def _station(bench: Bench, waves: float | None) -> Station:
    """Surge and sway by position, with speed loops open and the heading held."""
    length = bench.craft.length
    surge, sway = (
        position_loop(bench, f"station {name}", dof, dof, length, "surge", "sway", waves=waves)
        for dof, name in enumerate(("surge", "sway"))
    )
    forwards = [feed_forward(bench, dof, loop.gains) for dof, loop in enumerate((surge, sway))]
    limits = [
        # Slowly, because moving ahead and aside at once turns a slender craft.
        reference_for(bench, loop, forward, GENTLE * bench.cruise)
        for loop, forward in zip((surge, sway), forwards, strict=True)
    ]
    slower = Reference(
        *(constant(np.minimum(a, b)) for a, b in zip(*map(jax.tree.leaves, limits), strict=True))
    )
    return Station(
        pid_of(surge.gains),
        pid_of(sway.gains),
        forwards[0],
        forwards[1],
        slower,
        wave_filter(waves),
    )


def _review(bench: Bench, waves: float | None) -> None:
    """Margins of each loop with all the others closed."""
    for name, loop in bench.closed.items():
        A, B = bench.system(name)
        rate, place = (
            np.concatenate([row[:12], np.zeros(len(A) - 12)])
            for row in (loop.plant.rate, loop.plant.position)
        )
        plant = dataclasses.replace(loop.plant, A=A, b=B[:, loop.dof], position=place, rate=rate)
        grid = frequencies(loop.gains.bandwidth)
        if loop.gains.derivative is None:
            found = margins(design.speed_loop(plant, loop.gains, grid), grid)
        else:
            met = _met(bench, waves) if name == "heading" else None
            whole = design.position_loop(plant, loop.gains, grid)
            found = margins(filtered(whole, loop.gains.bandwidth, met), grid)
        bench.report(name, loop, found)
