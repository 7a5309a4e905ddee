"""The loops of a vehicle at one speed, designed one after the other.

Each loop is designed with those before it closed: roll, pitch, sway, heading, surge, depth. Then
the loops are looked at as they fly, mode by mode (`modes`): the margins that are reported are the
worst of each loop with all others of a mode closed.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, Literal

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.design import gains as design
from seatrial.design.authority import Craft
from seatrial.design.gains import Gains, Outer, Plant
from seatrial.design.linearisation import Linear, linearise, slopes_at
from seatrial.design.loop_bench import (
    FROUDE_LIMIT,
    SHARE,
    SLOWEST,
    STATIONS,
    Bench,
    OwnGains,
    feed_forward,
    filtered,
    number,
    pid_of,
    position_loop,
    reference_for,
    speed_loop,
    wave_filter,
)
from seatrial.design.margins import Margins, actuation, frequencies, margins, respond
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.loops import Dive, Righting, Station, TrackingLoop
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

GENTLE, SINKING = 0.25, 0.5
"""Largest speeds over the service speed at which position, and depth by heave, change."""

CRAB = 15.0
"""Time in which the crab angle is learnt, times the bandwidth of the heading loop."""

LEAST_LOOKAHEAD = 2.0
"""Lookahead in lengths, where the heading loop is quick enough for it."""

MOST_WEAVING = 1.75
"""Largest sensitivity of line-of-sight guidance to the cross-track error."""

MOST_COMPANY = 2.0
"""Largest |1/(1 + L)| of a loop with the others of its mode closed: a gain margin of 6 dB and a
phase margin of 29°. By itself, when it is designed, each keeps `gains.MOST_SENSITIVE`."""

FREE = 1e-4
"""Poles smaller than this are those of positions that nothing holds, 1/s."""

SIDE_SPEED, SIDE_SHARE = 0.05, 0.8
"""Step with which the speed sideways is looked for, m/s, and the share of it that is used."""

STEEPEST = 0.45
"""Largest pitch of a dive, rad."""
AWASH = 0.25
"""Depth down to which the surface may hold a vehicle that dives by its fins, lengths."""


def design_loops(
    craft: Craft,
    speed: float,
    cruise: float,
    period: float,
    waves: float | None,
    heading: Law,
    own: OwnGains,
    *,
    resting: Bench | None = None,
) -> tuple[Autopilot, Bench]:
    """The autopilot for one speed, and how it was designed; arguments as those of `tune`.

    A station is kept with the gains of `resting`, whatever the speed of the water that passes; the
    design without it has its own.
    """
    bench = Bench(craft, linearise(craft, speed), cruise, period, own=own)
    dofs = craft.dofs
    roll = _level(bench, "roll", 3) if 3 in dofs else None
    # The depth of a craft that hovers calms its pitch, which is designed again with that closed.
    alone = MOST_COMPANY if bench.hovers else design.MOST_SENSITIVE
    pitch = _level(bench, "pitch", 4, alone) if 4 in dofs else None
    surge = sway = heave = yaw_rate = track = crab_time = None
    if 1 in dofs:
        # First alone, because the sway of a slender craft makes it turn; later in company.
        sway = speed_loop(bench, "sway", 1, SIDE_STEP * cruise, alone=True)
    if 5 in dofs:
        yaw_rate = speed_loop(bench, "yaw rate", 5, RATE_STEP * cruise / craft.length)
        del bench.closed["yaw rate"]
        track = _heading(bench, waves, heading)
        crab_time = number(CRAB / bench.closed["heading"].gains.bandwidth)
    if 1 in dofs:
        sway = speed_loop(bench, "sway", 1, SIDE_STEP * cruise)
    if 0 in dofs:
        surge = speed_loop(bench, "surge", 0, SPEED_STEP * cruise)
    depth: TrackingLoop | Dive | None = None
    if not craft.floats and 2 in dofs:
        heave = speed_loop(bench, "heave", 2, SIDE_STEP * cruise)
        del bench.closed["heave"]
        depth = _depth(bench)
        if pitch is not None:
            # Again in company: with way on, who keeps the depth of a pitched craft pitches it more.
            pitch = _level(bench, "pitch", 4)
    elif not craft.floats and pitch is not None:
        depth, pitch = _dive(bench, pitch), None
    station = None
    if {0, 1, 5} <= set(dofs):
        if resting is None:
            station = _station(bench, waves)
        else:
            held = ("station surge", "station sway")
            bench.loops |= {name: resting.loops[name] for name in held}
    if track is not None:
        bench.lookahead = _lookahead(bench, track)
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


def modes(bench: Bench) -> dict[str, list[str]]:
    """Loops that are closed together, by what is asked of the autopilot."""
    there = bench.loops
    common = [n for n in ("roll", "pitch", "depth") if n in there]
    # A craft that dives by its pitch has its depth in the pitch loop.
    found = {
        "track": [*common, "sway", "surge", "heading"],
        "velocity": [*common, "sway", "surge", "yaw rate"],
    }
    if "station surge" in there:
        for mode, turn in zip(STATIONS, ("heading", "yaw rate"), strict=True):
            found[mode] = [*common, "station surge", "station sway", turn]
    return {mode: [n for n in names if n in there] for mode, names in found.items()}


def fastest_sideways(bench: Bench) -> float:
    """Speed to starboard at which the loops of a craft at rest are still stable, m/s.

    Across the flow the moment of the added mass (Munk's) rolls and turns the craft further.
    """
    speed = 0.0
    while speed < 2.0 * bench.cruise + SIDE_SPEED:
        A = slopes_at(bench.craft, bench.linear, 1, speed + SIDE_SPEED)
        if _grows(bench, "velocity", dataclasses.replace(bench.linear, A=A)):
            break
        speed += SIDE_SPEED
    return SIDE_SHARE * speed


def stands_across(bench: Bench, speed: float) -> bool:
    """Whether the loops of a craft at rest keep a station in water that passes from the side."""
    across = linearise(bench.craft, speed, 1)
    return not any(_grows(bench, mode, across) for mode in STATIONS)


def _grows(bench: Bench, mode: str, linear: Linear) -> bool:
    """Whether a mode of a craft at rest is unstable where it moves otherwise."""
    moving = dataclasses.replace(bench, linear=linear)
    poles = np.linalg.eigvals(moving.closing(modes(bench)[mode], bench.loops)[0])
    return growth(poles) > design.NEUTRAL


def _lookahead(bench: Bench, track: TrackingLoop) -> float:
    """Least lookahead whose line of sight keeps the margin of a design, at least two lengths.

    The sensitivity of the loop over the cross-track error is that of the poles without and with
    it: 1/(1 + L) = det(sI − A_open)/det(sI − A_closed). Where no lookahead keeps it that is
    shorter than the radius of the tightest turn, as with a hull that slips long after it has
    turned, it is the one of those that weaves least: with a longer one legs would end before the
    vehicle is on them.
    """
    speed, heading = bench.linear.speed, bench.loops["heading"]
    least = LEAST_LOOKAHEAD * bench.craft.length
    if speed <= 0.0:
        return least
    names = modes(bench)["track"]
    grid = 1j * frequencies(heading.gains.bandwidth)

    def poles(distance: float) -> Any:
        loop = dataclasses.replace(heading, outer=_line_of_sight(bench, distance))
        A, _ = bench.closing(names, bench.loops | {"heading": loop})
        return np.linalg.eigvals(A)

    opened = np.sum(np.log(np.abs(grid[:, None] - poles(math.inf))), axis=1)

    @functools.cache
    def weaving(distance: float) -> float:
        """Largest sensitivity."""
        closed = poles(distance)
        if growth(closed) > design.NEUTRAL:
            return math.inf
        size = opened - np.sum(np.log(np.abs(grid[:, None] - closed)), axis=1)
        return float(np.exp(np.max(size)))

    tried = [least / design.SLOWER**k for k in range(design.STEPS)]
    ahead = next((a for a in tried if weaving(a) <= MOST_WEAVING), tried[-1])
    radius = speed / float(track.reference.rate_limit)
    if ahead > radius > least:
        ahead = min((a for a in tried if a <= radius), key=weaving)
    bench.loops["heading"] = dataclasses.replace(heading, outer=_line_of_sight(bench, ahead))
    return ahead


def _line_of_sight(bench: Bench, lookahead: float) -> Outer:
    """ψ_d = −y/Δ − β̂ with the crab angle v/U learnt in the time of the autopilot."""
    speed, learning = bench.linear.speed, CRAB / bench.loops["heading"].gains.bandwidth
    east, sway = np.eye(12)[1], np.eye(12)[7]
    return Outer(-east / lookahead, -1.0, sway / (speed * learning), -1.0 / learning)


def growth(poles: Any) -> float:
    """Largest real part of poles, those of free positions left out, 1/s."""
    return float(np.max(poles.real[np.abs(poles) > FREE], initial=-math.inf))


def _level(bench: Bench, name: str, dof: int, most: float = design.MOST_SENSITIVE) -> TrackingLoop:
    make: Callable[[Plant, float], Gains] = design.position_gains
    if bench.hovers:
        make = functools.partial(design.level_gains, steady=bench.level_righting(dof))
    loop = bench.closed[name] = position_loop(
        bench, name, dof, dof, LEVEL_STEP, make=make, most=most
    )

    forward = feed_forward(bench, dof, loop.gains)
    reference = reference_for(bench, loop, forward, loop.gains.bandwidth)
    trim, wrench = bench.linear.state[dof], bench.linear.wrench[dof]
    righting = Righting(number(max(bench.righting(dof), 0.0)), number(trim))
    return TrackingLoop(pid_of(loop.gains), forward, reference, number(wrench), righting)


def _depth(bench: Bench) -> TrackingLoop:
    loop = bench.closed["depth"] = position_loop(bench, "depth", 2, 2, bench.craft.length)
    forward = feed_forward(bench, 2, loop.gains)
    # Slowly, because going up or down pitches a craft that has way on.
    reference = reference_for(bench, loop, forward, SINKING * bench.cruise)
    return TrackingLoop(pid_of(loop.gains), forward, reference, number(bench.linear.wrench[2]))


def _heading(bench: Bench, waves: float | None, law: Law) -> TrackingLoop:
    sliding = law == "sliding"
    met = _met(bench, waves)
    make = design.sliding_gains if sliding else design.position_gains
    loop = position_loop(bench, "heading", 5, 5, HEADING_STEP, waves=met, make=make)
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
    return TrackingLoop(chosen, forward, reference, moment, filter=wave_filter(met))


def _met(bench: Bench, waves: float | None) -> float | None:
    """Waves that a heading loop filters.

    A craft that is quick enough to be steered through them is not slowed by a filter.
    """
    quickest = FROUDE_LIMIT / math.sqrt(bench.craft.length)
    return waves if waves is not None and quickest < WAVE_SHARE * waves else None


def _dive(bench: Bench, pitch: TrackingLoop) -> Dive:
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
    bench.report("depth by pitch", dataclasses.replace(inner, gains=law), found)
    down = np.eye(12)[2]
    stiffness = float(pitch.righting.stiffness) if pitch.righting is not None else 0.0
    outer = Outer(omega / speed * down, -1.0 / speed, -0.1 * omega**2 * down, 0.0, stiffness)
    bench.loops["pitch"] = dataclasses.replace(inner, outer=outer)
    steepest = min(STEEPEST, SHARE * bench.authority(4) / max(bench.righting(4), 1e-9))
    climb = 0.8 * speed * math.sin(steepest)
    return Dive(
        proportional=number(omega),
        integral=number(0.1 * omega**2),
        reference=Reference(*map(number, (omega, climb, 0.5 * omega * climb))),
        pitch_limit=number(steepest),
        least_speed=number(0.5 * SLOWEST * bench.cruise),
        trim_pitch=number(bench.linear.state[4]),
        awash=number(AWASH * bench.craft.length),
        floats=number(bench.craft.floating_depth),
        pitch=pitch,
    )


def _track_response(loop: TrackingLoop, gains: Gains, grid: Array) -> Any:
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
    """Poles of each mode, and the worst margins of each loop with the others of a mode closed."""
    worst: dict[str, tuple[str, Margins]] = {}
    for mode, names in modes(bench).items():
        grown = growth(np.linalg.eigvals(bench.closing(names, bench.loops)[0]))
        bench.growths[mode] = grown
        unstable = grown > design.NEUTRAL
        if unstable:
            bench.fails(mode, f"the closed loops are unstable (a pole at {grown:+.3g} 1/s)")
        for name in names:
            found = _in_company(bench, waves, name, [n for n in names if n != name])
            found = found.of_unstable() if unstable else found
            if bench.standing(mode):
                _heed(bench, mode, name, found)
            elif name not in worst or _rank(found) > _rank(worst[name][1]):
                worst[name] = (mode, found)
    for name, (mode, found) in worst.items():
        bench.report(name, bench.loops[name], found)
        _heed(bench, mode, name, found)


def _heed(bench: Bench, mode: str, name: str, found: Margins) -> None:
    """Note margins that fall short."""
    if found.sensitivity > MOST_COMPANY and not math.isnan(found.phase):
        bench.fails(
            mode,
            f"`{name}` has a sensitivity of {found.sensitivity:.2f} "
            f"(phase margin {found.phase:.0f}°), more than {MOST_COMPANY:g}",
        )


def _rank(found: Margins) -> tuple[bool, float]:
    """The worst is highest."""
    return math.isnan(found.phase), found.sensitivity


def _in_company(bench: Bench, waves: float | None, name: str, others: list[str]) -> Margins:
    loop = bench.loops[name]
    A, B = bench.closing(others, bench.loops)
    rate, place = (
        np.concatenate([row[:12], np.zeros(len(A) - 12)])
        for row in (loop.plant.rate, loop.plant.position)
    )
    plant = dataclasses.replace(loop.plant, A=A, b=B[:, loop.dof], position=place, rate=rate)
    grid = frequencies(loop.gains.bandwidth)
    if loop.gains.derivative is None:
        return margins(design.speed_loop(plant, loop.gains, grid), grid)
    met = waves if name.startswith("station") else None
    met = _met(bench, waves) if name == "heading" else met
    whole = design.position_loop(plant, loop.gains, grid)
    return margins(filtered(whole, loop.gains.bandwidth, met), grid)
