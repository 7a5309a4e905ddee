"""Designing one loop of a vehicle at one speed.

A loop is as fast as the actuators allow (their strength, lag and rate), but never so fast that its
margins, with lag and dead time, fall short.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.design import gains as design
from seatrial.design.authority import Craft, authority, response_times
from seatrial.design.gains import Gains, Outer, Plant
from seatrial.design.linearisation import Linear, drag, turning_drag
from seatrial.design.margins import Margins, frequencies, margins
from seatrial.gnc.control.loops import FeedForward, Speed
from seatrial.gnc.control.pid import Pid
from seatrial.gnc.control.reference import Reference
from seatrial.gnc.control.wave_filter import WaveFilter, response
from seatrial.pytree import constant

Array = NDArray[np.float64]

SHARE = 0.7
"""Share of what actuators can give beside the trim that a loop may count on."""

DEAD_TIME = 1.5
"""Periods of dead time: half of one by which orders are held, and one to sense and compute."""

INERTIAL_DEAD_TIME = 0.5
"""The same for angles: inertial sensors give them, and orders go out, at once."""

LAG_LIMIT = 0.4
"""Bandwidth times the sum of lag and dead time at which a design begins."""

FROUDE_LIMIT = 2.0
"""Largest bandwidth times √length, √m rad/s: 0.64 √(g/L), about where waves as long as the hull
move it. A faster loop would only follow them."""

WAVE_LIMIT = 0.4
"""Bandwidth of station keeping over the frequency of the waves that it must not answer."""

WAVE_DAMPING, WAVE_CUTOFF = 0.1, 2.0
"""Damping of the notch, and cut-off of the low-pass filter over the frequency of the waves."""

MOST_TILT = 0.15
"""Roll or pitch, where the vehicle does not control them, that a push ahead or aside may cause,
rad."""

SLOWEST = 0.4
"""Least speed of the design over the service speed."""


STATIONS = ("hold", "stay")
"""Modes in which a station is kept: at a heading, and at any that it happens to have."""

OwnGains = Mapping[str, Mapping[str, float]]
"""By loop, fields of its `Gains`."""


@dataclasses.dataclass(frozen=True)
class LoopReport:
    """One loop at the speed that the tuning is for; SI units, angles in rad."""

    name: str
    bandwidth: float
    """rad/s."""
    damping: float
    """Damping ratio of the design."""
    mass: float
    """Inertia that the loop moves, with the water's: kg or kg m²."""
    drag: float
    """Linear damping at the bandwidth: N s/m or N m s."""
    proportional: float
    integral: float
    derivative: float
    authority: float
    """Force or moment that actuators can give beside the trim, N or N m."""
    lag: float
    """Of the actuators, s."""
    margins: Margins


@dataclasses.dataclass(frozen=True)
class Closed:
    """A loop that is closed."""

    dof: int
    plant: Plant
    gains: Gains
    outer: Outer | None = None
    """What asks it for its value, where that depends on the vehicle's motion."""


@dataclasses.dataclass
class Bench:
    """A vehicle at one speed while its loops are designed."""

    craft: Craft
    linear: Linear
    cruise: float
    period: float
    closed: dict[str, Closed] = dataclasses.field(default_factory=dict)
    loops: dict[str, Closed] = dataclasses.field(default_factory=dict)
    """Every loop of the design, closed or not."""
    reports: dict[str, LoopReport] = dataclasses.field(default_factory=dict)
    strengths: dict[int, float] = dataclasses.field(default_factory=dict)
    growths: dict[str, float] = dataclasses.field(default_factory=dict)
    """Largest real part of the poles by mode, 1/s."""
    failures: list[str] = dataclasses.field(default_factory=list)
    """Where the design does not keep its own limits."""
    adrift: list[str] = dataclasses.field(default_factory=list)
    """Why no station can be kept where the water passes at this speed."""
    lookahead: float = 0.0
    """Of line-of-sight guidance, m."""
    own: OwnGains = dataclasses.field(default_factory=dict)
    """Gains that the user has chosen, by loop."""

    def chosen(self, name: str, gains: Gains) -> Gains:
        """The gains of a loop with those that the user has chosen in place of the designed."""
        return dataclasses.replace(gains, **self.own.get(name, {}))

    def fails(self, mode: str, reason: str) -> None:
        """Note a limit that is not kept."""
        into = self.adrift if self.standing(mode) else self.failures
        into.append(f"{mode} at {self.linear.speed:.3g} m/s: {reason}")

    def standing(self, mode: str) -> bool:
        """Whether the speed of a mode is that of the water, which passes a vehicle on station."""
        return mode in STATIONS and self.linear.speed > 0.0

    @property
    def hovers(self) -> bool:
        """Whether it goes up and down by thrust, and is only kept level; fins pitch it to dive."""
        return not self.craft.floats and 2 in self.craft.dofs

    def authority(self, dof: int) -> float:
        """Force or moment that is left beside the trim, and that does not tilt the craft much."""
        if dof not in self.strengths:
            most = authority(self.craft, self.linear.speed, self.linear.wrench, dof)
            for tilt in {3, 4} - set(self.craft.dofs):
                lever = abs(self.linear.carried[tilt, dof])
                if dof < 3 and lever > 1e-9:
                    most = min(most, MOST_TILT * self.righting(tilt) / lever)
            self.strengths[dof] = most
        return self.strengths[dof]

    def righting(self, dof: int) -> float:
        """Righting moment per rad of roll or pitch."""
        return float(-self.linear.A[6 + dof, dof] / self.linear.B[6 + dof, dof])

    def level_righting(self, dof: int) -> float:
        """The same of a craft that keeps its depth while it is tilted.

        Pitched by θ it then has w = u θ through the water, and Munk's moment (X_u̇ − Z_ẇ) u w takes
        from what rights it.
        """
        A = self.linear.A
        heave = -A[2, dof] / A[2, 8]
        return float(-(A[6 + dof, dof] + A[6 + dof, 8] * heave) / self.linear.B[6 + dof, dof])

    def system(self, *opened: str) -> tuple[Array, Array]:
        """A and B with the loops closed that are there so far, except some."""
        return self.closing([n for n in self.closed if n not in opened], self.closed)

    def closing(self, names: Iterable[str], loops: dict[str, Closed]) -> tuple[Array, Array]:
        """A and B with some loops closed."""
        A, B = self.linear.A, self.linear.B @ self.linear.carried
        for name in names:
            loop = loops[name]
            A, B = design.close(A, B, loop.dof, loop.plant, loop.gains, loop.outer)
        return A, B

    def plant(self, dof: int, position: int | None, *opened: str) -> Plant:
        """One degree of freedom; its velocity in body axes where there is no position."""
        A, B = self.system(*opened)
        place, rate = np.zeros(len(A)), np.zeros(len(A))
        if position is None:
            rate[6 + dof] = 1.0
        else:
            place[position] = 1.0
            rate[:12] = self.linear.A[position]
        lag, _ = response_times(self.craft, self.linear.speed, dof)
        turns = dof > 2
        dead = INERTIAL_DEAD_TIME if turns else DEAD_TIME
        return Plant(A, B[:, dof], place, rate, lag, dead * self.period)

    def report(self, name: str, loop: Closed, found: Margins) -> None:
        """Note a loop, or better margins of one that is noted already."""
        gains = loop.gains
        self.reports[name] = LoopReport(
            name,
            gains.bandwidth,
            design.DAMPING,
            gains.mass,
            gains.damping,
            gains.proportional,
            gains.integral,
            gains.derivative or 0.0,
            self.authority(loop.dof),
            loop.plant.lag,
            found,
        )


def _limit(bench: Bench, plant: Plant, dof: int, step: float, order: int) -> float:
    """Bandwidth at which a design begins: actuators, size of the craft, its own instability.

    A sudden error of `step` asks for m ω² step of a position loop (`order` 2), m ω step of a speed
    loop (1), and for this divided by ω in every second.
    """
    available = SHARE * bench.authority(dof)
    _, full_range = response_times(bench.craft, bench.linear.speed, dof)
    strong = (available / (plant.mass * step)) ** (1.0 / order)
    quick = math.inf
    if full_range > 0:
        quick = (available / (full_range * plant.mass * step)) ** (1.0 / (order + 1))
    limit = min(strong, quick, FROUDE_LIMIT / math.sqrt(bench.craft.length))
    # What is unstable needs a loop faster than itself, also one that saturates early; the integral
    # of a speed loop takes from its margin.
    quickest = LAG_LIMIT / (plant.lag + plant.delay)
    faster = 2.0 if order == 2 else 4.0
    return float(min(max(limit, faster * plant.growths().max(initial=0.0)), quickest))


def speed_loop(bench: Bench, name: str, dof: int, step: float, *, alone: bool = False) -> Speed:
    """A PI loop on a velocity; `alone` takes the other degrees of freedom as held."""
    plant = bench.plant(dof, None, name)
    drag = -float(bench.linear.A[6 + dof, 6 + dof]) * plant.mass
    if alone:
        held = np.array([[-drag / plant.mass]])
        one = np.ones(1)
        plant = dataclasses.replace(plant, A=held, b=one / plant.mass, position=one, rate=one)

    def attempt(omega: float, coupled: bool = False) -> tuple[Gains, Any, bool]:
        damping = min(drag, plant.impedance(omega).real) if coupled else drag
        made = design.speed_gains(plant, damping, omega)
        loop = design.speed_loop(plant, made, frequencies(omega))
        return made, loop, alone or design.stable(plant, made)

    limit = _limit(bench, plant, dof, step, 1)
    gains, found = design.fastest(attempt, limit)
    if not alone and not _fit(plant, gains, found):
        # A full ship drifts as she turns, and the drift takes the damping of her yaw away.
        other = design.fastest(functools.partial(attempt, coupled=True), limit)
        if _fit(plant, *other):
            gains, found = other
    if name in bench.own:
        gains, grid = bench.chosen(name, gains), frequencies(gains.bandwidth)
        found = margins(design.speed_loop(plant, gains, grid), grid)
    loop = Closed(dof, bench.plant(dof, None, name), gains)
    bench.closed[name] = bench.loops[name] = loop
    bench.report(name, loop, found)
    most = 0.5 * bench.authority(dof) / plant.mass
    return Speed(
        pid_of(gains), feed_forward(bench, dof, gains), number(gains.bandwidth), number(most)
    )


def _fit(plant: Plant, gains: Gains, found: Margins) -> bool:
    """Whether a design keeps its margins and leaves nothing growing."""
    return found.sensitivity <= design.MOST_SENSITIVE and not design.growing(plant, gains)


def position_loop(
    bench: Bench,
    name: str,
    dof: int,
    position: int,
    step: float,
    *opened: str,
    waves: float | None = None,
    make: Callable[[Plant, float], Gains] = design.position_gains,
    most: float = design.MOST_SENSITIVE,
) -> Closed:
    """A loop on a position or an angle, with the gains that `make` gives for a bandwidth."""
    plant = bench.plant(dof, position, name, *opened)

    def attempt(omega: float) -> tuple[Gains, Any, bool]:
        made = make(plant, omega)
        loop = filtered(design.position_loop(plant, made, frequencies(omega)), omega, waves)
        return made, loop, design.stable(plant, made)

    limit = _limit(bench, plant, dof, step, 2)
    if waves is not None:
        limit = min(limit, WAVE_LIMIT * waves)
    gains, found = design.fastest(attempt, limit, most)
    if name in bench.own:
        gains, grid = bench.chosen(name, gains), frequencies(gains.bandwidth)
        whole = filtered(design.position_loop(plant, gains, grid), gains.bandwidth, waves)
        found = margins(whole, grid)
    loop = bench.loops[name] = Closed(dof, plant, gains)
    bench.report(name, loop, found)
    return loop


def filtered(loop: Any, omega: float, waves: float | None) -> Any:
    """L with a wave filter in it."""
    if waves is None:
        return loop
    s = np.asarray(1j * frequencies(omega), np.complex128)
    return loop * response(waves, WAVE_DAMPING, WAVE_CUTOFF * waves, s)


def wave_filter(waves: float | None) -> WaveFilter | None:
    """Filter for waves of a frequency."""
    if waves is None:
        return None
    return WaveFilter(*map(number, (waves, WAVE_DAMPING, WAVE_CUTOFF * waves)))


def number(value: float) -> jax.Array:
    """A gain as an array."""
    return constant(value, np.float64)


def pid_of(gains: Gains) -> Pid:
    """Gains as the loop uses them."""
    return Pid(
        number(gains.proportional),
        number(gains.integral),
        None if gains.derivative is None else number(gains.derivative),
        number(gains.tracking),
        None if gains.filter_time is None else number(gains.filter_time),
    )


def feed_forward(bench: Bench, dof: int, gains: Gains) -> FeedForward:
    """Inertia and drag: those of the design, and what grows with the square of the velocity."""
    if dof == 0:
        return FeedForward(number(gains.mass), *map(number, _resistance(bench)))
    return FeedForward(number(gains.mass), number(gains.damping), number(_quadratic(bench, dof)))


def _resistance(bench: Bench) -> tuple[float, float]:
    """d and d₂ of the resistance d u + d₂ |u| u, through half and whole service speed."""
    bare = dataclasses.replace(bench.linear, wrench=np.zeros(6))
    half, whole = (drag(bench.craft, bare, 0, s * bench.cruise) for s in (0.5, 1.0))
    quadratic = 2.0 * (whole - 2.0 * half) / bench.cruise**2
    return (whole - quadratic * bench.cruise**2) / bench.cruise, quadratic


def _quadratic(bench: Bench, dof: int) -> float:
    """Coefficient of v|v| in the drag, from the model at two velocities to either side."""
    reach = 0.1 * max(bench.cruise, 0.2) / (bench.craft.length if dof > 2 else 1.0)
    forces = []
    for size in (reach, 2.0 * reach):
        both = [drag(bench.craft, bench.linear, dof, way * size) for way in (1.0, -1.0)]
        forces.append(0.5 * (both[0] - both[1]))
    return max((forces[1] - 2.0 * forces[0]) / (2.0 * reach**2), 0.0)


def reference_for(bench: Bench, loop: Closed, forward: FeedForward, fastest: float) -> Reference:
    """Half of what actuators can give, for acceleration and for a steady rate."""
    half = 0.5 * bench.authority(loop.dof)
    linear, quadratic = max(float(forward.linear), 0.0), float(forward.quadratic)
    steady = 2.0 * half / (linear + math.sqrt(linear**2 + 4.0 * quadratic * half) + 1e-12)
    rate = min(steady, fastest)
    if loop.dof == 5 and 1 not in bench.craft.dofs and bench.linear.speed > 0.0:
        rate = _steady_turn(bench, rate, half)
    return Reference(*map(number, (loop.gains.bandwidth, rate, half / loop.plant.mass)))


def _steady_turn(bench: Bench, fastest: float, moment: float) -> float:
    """Fastest turn, up to a rate, that a moment keeps up while the hull slips as it likes."""

    def holds(rate: float) -> bool:
        return not abs(turning_drag(bench.craft, bench.linear, rate)) > moment

    if holds(fastest):
        return fastest
    low, high = 0.0, fastest
    for _ in range(10):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low or high
