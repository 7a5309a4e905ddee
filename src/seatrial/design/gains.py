"""Gains by pole placement, from the mechanical impedance of a degree of freedom.

At the frequency ω of the design the vehicle answers a force like a body of mass m, damping d and
stiffness k: Z(jω) = force/velocity = jωm + d + k/(jω). Taking Z from the whole linearised vehicle
at that frequency brings in the coupling between sway and yaw, or heave and pitch, which matters
there. A PID with

K_p + k = m ω²,  K_d + d = 2 ζ ω m,  K_i = (K_p + k) ω/10

puts two poles at ω and a slow one for the integral (Fossen 2021, algorithm 15.1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from seatrial.design.margins import Margins, actuation, frequencies, margins, respond

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Made = TypeVar("Made")

DAMPING = 1.0
"""ζ of the design."""

LEVEL_DAMPING = 0.5
"""ζ of roll and pitch loops, whose own stiffness leaves actuators less time."""

FILTER = 0.05
"""Time constant of the derivative filter, times ω."""

MOST_SENSITIVE = 1.6
"""Largest |1/(1 + L)| of a design. It implies a gain margin of 1.6/0.6 (8.5 dB) and a phase margin
of 2 arcsin(1/3.2) (36°) at least (Åström and Murray 2021, section 10.3)."""

SLOWER = 0.85
"""Step by which a bandwidth is lowered until the margins suffice."""

STEPS = 40

MUCH = 0.4
"""Share of the proportional part that a passing stiffness must do to be distrusted."""

SLIDING = 0.6
"""λ of a sliding mode over the bandwidth of the PID that it stands for."""

TAKING_PART = 0.02
"""Share of a degree of freedom's answer to a sudden force that makes a mode its own."""

NEUTRAL = 1e-3
"""Growth below this counts as none, 1/s."""

PHYSICAL = 12
"""States of the vehicle itself; those of closed loops follow after them."""

SWIFT = 1e-3
"""Lags and dead times below this count as this when a loop is closed, s."""


@dataclass(frozen=True)
class Plant:
    """One degree of freedom of a linearised vehicle."""

    A: Array
    b: Array
    """Rates of the states per unit of demanded force."""
    position: Array
    """Row that picks the position (or angle) out of the states."""
    rate: Array
    """Row that picks the velocity."""
    lag: float
    """Time constant of the actuators, s."""
    delay: float
    """Dead time, s."""

    @property
    def mass(self) -> float:
        """Inertia that a sudden force meets."""
        return 1.0 / float(self.rate @ self.b)

    def impedance(self, omega: float) -> complex:
        """Force per velocity at jω."""
        response = respond(self.A, self.b, self.rate[None], np.array([omega]))
        return complex(1.0 / response[0, 0])

    @property
    def righting(self) -> float:
        """Stiffness of the degree of freedom itself; not negative."""
        return max(-self.mass * float(self.rate @ self.A @ self.position), 0.0)

    def growths(self) -> Array:
        """Rates at which this degree of freedom runs away by itself, 1/s; none if it does not."""
        values, vectors = np.linalg.eig(self.A)
        weights = np.linalg.lstsq(vectors, self.b.astype(complex), rcond=1e-12)[0]
        residues = np.abs((self.rate @ vectors) * weights)
        own = residues > TAKING_PART * abs(float(self.rate @ self.b))
        return np.asarray(values.real[own & (values.real > NEUTRAL)])


@dataclass(frozen=True)
class Gains:
    """Gains of a loop; without a derivative it is a PI loop."""

    proportional: float
    integral: float
    derivative: float | None
    filter_time: float | None
    bandwidth: float
    mass: float
    damping: float
    """d of the vehicle at the bandwidth."""

    @property
    def tracking(self) -> float:
        """Rate at which the integral follows what actuators give, 1/s.

        Between those of integral and derivative action (Åström and Murray 2021, section 11.4).
        """
        return (0.5 if self.derivative is None else 0.2) * self.bandwidth


def speed_gains(plant: Plant, drag: float, omega: float) -> Gains:
    """PI with a double pole at ω; where the vehicle itself is faster, integral action alone.

    `drag` is the linear damping while other degrees of freedom are held. The poles are the roots of
    m s² + (K_p + d) s + K_i, and −ω is one of them in either case.
    """
    proportional = max(2.0 * omega * plant.mass - drag, 0.0)
    integral = omega * (proportional + drag - omega * plant.mass)
    return Gains(proportional, integral, None, None, omega, plant.mass, drag)


def position_gains(plant: Plant, omega: float) -> Gains:
    """PID with two poles at ω; where the drag is more than they need, one at ω and a faster one.

    Where the coupling with other degrees of freedom does much of the work of the proportional part
    at ω, as the fins of a weathervane do, it is not counted on: it comes from the slip, which
    follows in a long turn, and a loop that leaned on it would weave. What lasts is what rights the
    craft; the poles then lie at ω_c, m ω_c² = m ω² + k − k₀.
    """
    z, mass = plant.impedance(omega), plant.mass
    stiffness = omega * (omega * mass - z.imag)
    whole = omega * max(mass * omega, z.real - mass * omega)
    passing = stiffness - plant.righting
    if passing > MUCH * whole:
        quick = float(np.sqrt((whole + passing) / mass))
        derivative = max(2.0 * DAMPING * quick * mass - z.real, 0.0)
        proportional = max(whole - plant.righting, 0.0)
        integral = 0.1 * omega * (proportional + max(plant.righting, 0.0))
    else:
        derivative = max(2.0 * DAMPING * omega * mass - z.real, 0.0)
        proportional = max(whole - stiffness, 0.0)
        integral = 0.1 * omega * (proportional + max(stiffness, 0.0))
    return Gains(proportional, integral, derivative, FILTER / omega, omega, mass, z.real)


def level_gains(plant: Plant, omega: float, steady: float) -> Gains:
    """PID that adds the stiffness m ω² to what rights the craft by itself, and damps their sum.

    K_p = m ω² − min(k, k₀, 0), ω_c² = (K_p + k)/m, K_d = 2 ζ ω_c m − d. To place poles at ω would
    take away the stiffness of a craft that rights itself faster than ω, and the tilt that its
    thrust causes would be left to the integral. k₀, `steady`, is the stiffness of a tilt that lasts
    while the craft keeps its depth.
    """
    mass = plant.mass
    z = plant.impedance(omega)
    stiffness = omega * (omega * mass - z.imag)
    proportional = mass * omega**2 + max(-stiffness, -steady, 0.0)
    whole = proportional + stiffness
    derivative = max(2.0 * LEVEL_DAMPING * float(np.sqrt(whole * mass)) - z.real, 0.0)
    integral = 0.1 * omega * whole
    filter_time = FILTER * float(np.sqrt(mass / whole))
    return Gains(proportional, integral, derivative, filter_time, omega, mass, z.real)


def speed_loop(plant: Plant, gains: Gains, omega: Array) -> Complex:
    """L(jω) of a speed loop."""
    law = gains.proportional + gains.integral / (1j * omega)
    velocity = respond(plant.A, plant.b, plant.rate[None], omega)[0]
    return np.asarray(law * velocity * actuation(plant.lag, plant.delay, omega))


def position_loop(plant: Plant, gains: Gains, omega: Array) -> Complex:
    """L(jω) of a position loop: the rate is measured, not differentiated."""
    s = 1j * omega
    rows = np.stack([plant.position, plant.rate])
    position, rate = respond(plant.A, plant.b, rows, omega)
    law = (gains.proportional + gains.integral / s) * position
    law = law + (gains.derivative or 0.0) / (1.0 + (gains.filter_time or 0.0) * s) * rate
    return np.asarray(law * actuation(plant.lag, plant.delay, omega))


def sliding_gains(plant: Plant, omega: float) -> Gains:
    """PID that a sliding mode with λ = 0.6 ω and gain K = 0.6 ω m equals in its boundary layer.

    Its poles are (s + λ)² (m s + d + K), so that it is as fast as a PID of bandwidth ω.
    """
    slope, mass = SLIDING * omega, plant.mass
    z = plant.impedance(omega)
    whole = slope * mass + max(z.real, 0.0)
    return Gains(
        mass * slope**2 + 2.0 * slope * whole,
        slope**2 * whole,
        slope * mass + 2.0 * slope * mass,
        None,
        omega,
        mass,
        z.real,
    )


@dataclass(frozen=True)
class Outer:
    """What asks a position loop for its value: w = F x + G z, ż = H x + J z for one state z.

    x are the vehicle's own states. What is asked goes through the loop's reference model.
    """

    direct: Array
    """F, (12,)."""
    inner: float
    """G."""
    driven: Array
    """H, (12,)."""
    decay: float
    """J, 1/s."""
    righting: float = 0.0
    """Stiffness that the loop feeds forward, N m per rad."""


def close(
    A: Array, B: Array, input: int, plant: Plant, gains: Gains, outer: Outer | None = None
) -> tuple[Array, Array]:
    """A and B with one loop closed; the first states and all inputs stay what they were.

    New states: integral, filtered rate, dead time (Padé approximation of first order), lag; with
    an outer loop also the reference, its rate and the state of that loop.
    """
    n = len(A)
    size = n + (4 if outer is None else 7)
    wide = np.zeros((size, size))
    wide[:n, :n] = A
    wide[:n, n + 3] = B[:, input]
    rate, place = (np.resize(row[:PHYSICAL], n) for row in (plant.rate, plant.position))
    rate[PHYSICAL:] = place[PHYSICAL:] = 0.0
    output = rate if gains.derivative is None else place
    demand = np.zeros(size)
    demand[:n] = -gains.proportional * output
    demand[n] = -1.0
    wide[n, :n] = gains.integral * output
    if outer is not None:
        _refer(wide, demand, n, gains, outer)
    if gains.derivative is not None and gains.filter_time:
        wide[n + 1, :n] = rate / gains.filter_time
        wide[n + 1, n + 1] = -1.0 / gains.filter_time
        demand[n + 1] = -gains.derivative
    elif gains.derivative is not None:
        wide[n + 1, n + 1] = -1.0
        demand[:n] -= gains.derivative * rate
    lag, delay = max(plant.lag, SWIFT), max(plant.delay, SWIFT)
    wide[n + 2] = 4.0 / delay * demand
    wide[n + 2, n + 2] -= 2.0 / delay
    wide[n + 3] = -demand / lag
    wide[n + 3, n + 2] += 1.0 / lag
    wide[n + 3, n + 3] -= 1.0 / lag
    return wide, np.vstack([B, np.zeros((size - n, B.shape[1]))])


def _refer(wide: Array, demand: Array, n: int, gains: Gains, outer: Outer) -> None:
    """Let a loop whose states begin at `n` follow a reference r̈ = ω² (w − r) − 2 ω ṙ."""
    value, speed, state = n + 4, n + 5, n + 6
    bandwidth, derivative = gains.bandwidth, gains.derivative or 0.0
    wide[state, :PHYSICAL], wide[state, state] = outer.driven, outer.decay
    wide[value, speed] = 1.0
    wide[speed, :PHYSICAL] = bandwidth**2 * outer.direct
    wide[speed, state] = bandwidth**2 * outer.inner
    wide[speed, value] -= bandwidth**2
    wide[speed, speed] -= 2.0 * bandwidth
    wide[n, value] = -gains.integral
    if gains.filter_time:
        wide[n + 1, speed] = -1.0 / gains.filter_time
    else:
        demand[speed] += derivative
    demand[value] += gains.proportional + outer.righting
    demand[speed] += gains.damping
    demand += gains.mass * wide[speed]


def stable(plant: Plant, gains: Gains) -> bool:
    """Whether a loop takes away the growth of its own degree of freedom, and adds none."""
    before = int(np.sum(np.linalg.eigvals(plant.A).real > NEUTRAL))
    return growing(plant, gains) <= before - len(plant.growths())


def growing(plant: Plant, gains: Gains) -> int:
    """How many poles grow with the loop closed."""
    A, _ = close(plant.A, plant.b[:, None], 0, plant, gains)
    return int(np.sum(np.linalg.eigvals(A).real > NEUTRAL))


def fastest(
    attempt: Callable[[float], tuple[Made, Complex, bool]],
    limit: float,
    most: float = MOST_SENSITIVE,
) -> tuple[Made, Margins]:
    """The design of the largest bandwidth up to a limit whose sensitivity is at most `most`.

    `attempt` gives for a bandwidth what it designs, L on the grid of that bandwidth, and whether
    the loop is stable. Where no bandwidth is good enough, the stable design that comes nearest.
    """
    best: tuple[bool, float, Made, Margins] | None = None
    for k in range(STEPS):
        omega = limit * SLOWER**k
        made, loop, is_stable = attempt(omega)
        found = margins(loop, frequencies(omega))
        if is_stable and found.sensitivity <= most:
            return made, found
        rank = (is_stable, -found.sensitivity)
        if best is None or rank > best[:2]:
            best = (*rank, made, found)
    assert best is not None
    return best[2], best[3]
