"""Reads coefficient names: `X_u_au`, `N_ur`, `Y_vd`, `Y_v_v_delta`, `Y_0u`."""

import difflib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.core.forces.coefficients import Term
from seatrial.errors import Problem, SpecError
from seatrial.hull.added_mass import spheroid
from seatrial.spec.vehicle import Hydrodynamics

FORCES = "XYZKMN"
VELOCITIES = "uvwpqr"

GRAMMAR = (
    "a force letter (X Y Z K M N), then `_`, then velocities (u v w p q r), absolute values "
    "(a before a letter: `au`), actuator names, `0` for a constant, or one velocity with `d` "
    "for an added mass (`Y_vd`)"
)


@dataclass(frozen=True)
class Factors:
    """What a name multiplies its coefficient with."""

    dof: int
    velocities: tuple[int, ...] = ()
    absolutes: tuple[int, ...] = ()
    actuators: tuple[int, ...] = ()
    acceleration: int | None = None


def parse(name: str, symbols: dict[str, int]) -> Factors | None:
    """Meaning of a coefficient's name, or None; `symbols` maps actuator names to states."""
    head, _, rest = name.partition("_")
    if head not in FORCES or len(head) != 1 or not rest:
        return None
    dof = FORCES.index(head)
    if len(rest) == 2 and rest[0] in VELOCITIES and rest[1] == "d":
        return Factors(dof, acceleration=VELOCITIES.index(rest[0]))
    tokens = rest.split("_")
    velocities: list[int] = []
    absolutes: list[int] = []
    actuators: list[int] = []
    i = 0
    while i < len(tokens):
        length = _symbol_length(tokens[i:], symbols)
        if length:
            actuators.append(symbols["_".join(tokens[i : i + length])])
            i += length
        elif _read_velocities(tokens[i], velocities, absolutes):
            i += 1
        else:
            return None
    return Factors(dof, tuple(velocities), tuple(absolutes), tuple(actuators))


def _symbol_length(tokens: list[str], symbols: dict[str, int]) -> int:
    """How many leading tokens form an actuator's name; the longest such name wins."""
    for length in range(len(tokens), 0, -1):
        if "_".join(tokens[:length]) in symbols:
            return length
    return 0


def _read_velocities(token: str, velocities: list[int], absolutes: list[int]) -> bool:
    letters = token.removeprefix("0")
    if not token:
        return False
    i = 0
    while i < len(letters):
        absolute = letters[i] == "a"
        i += absolute
        if i == len(letters) or letters[i] not in VELOCITIES:
            return False
        (absolutes if absolute else velocities).append(VELOCITIES.index(letters[i]))
        i += 1
    return True


@dataclass(frozen=True)
class Polynomial:
    """The parsed coefficients of a vehicle, dimensional."""

    terms: tuple[Term, ...]
    values: NDArray[np.float64]
    added_mass: NDArray[np.float64]
    """(6, 6) M_A."""


def compile_coefficients(
    hydrodynamics: Hydrodynamics, extra: dict[str, float], symbols: dict[str, int]
) -> Polynomial:
    """Parse every name, make every value dimensional, and split off the added mass.

    `extra` holds dimensional coefficients from elsewhere (a fitted cross-flow drag).
    """
    terms: list[Term] = []
    values: list[float] = []
    added = np.zeros((6, 6))
    if hydrodynamics.added_mass_spheroid is not None:
        shape = hydrodynamics.added_mass_spheroid
        added += spheroid(shape.length, shape.diameter, hydrodynamics.reference_density)
    problems: list[Problem] = []
    for name, value in hydrodynamics.coefficients.items():
        factors = parse(name, symbols)
        if factors is None:
            problems.append(_unknown(hydrodynamics, name, symbols))
            continue
        if factors.acceleration is not None:
            added[factors.dof, factors.acceleration] -= value * _mass_scale(hydrodynamics, factors)
            continue
        scale, power = _force_scale(hydrodynamics, factors)
        terms.append(_term(factors, power))
        values.append(value * scale)
    for name, value in extra.items():
        factors = parse(name, symbols)
        assert factors is not None, name
        terms.append(_term(factors, 0))
        values.append(value)
    if problems:
        raise SpecError(problems)
    return Polynomial(tuple(terms), np.array(values), added)


def _term(f: Factors, speed_power: int) -> Term:
    return Term(f.dof, f.velocities, f.absolutes, f.actuators, speed_power)


def _force_scale(hydrodynamics: Hydrodynamics, factors: Factors) -> tuple[float, int]:
    """Factor to SI, and the power of the instantaneous speed that is still missing."""
    prime = hydrodynamics.nondimensional
    if prime is None:
        return 1.0, 0
    indices = (*factors.velocities, *factors.absolutes)
    angular = sum(i >= 3 for i in indices)
    scale = 0.5 * hydrodynamics.reference_density
    scale *= prime.length ** ((3 if factors.dof >= 3 else 2) + angular)
    power = 2 - len(indices)
    if prime.speed == "instantaneous":
        return scale, power
    return scale * float(prime.speed) ** power, 0


def _mass_scale(hydrodynamics: Hydrodynamics, factors: Factors) -> float:
    prime = hydrodynamics.nondimensional
    if prime is None:
        return 1.0
    assert factors.acceleration is not None
    angular = (factors.dof >= 3) + (factors.acceleration >= 3)
    return float(0.5 * hydrodynamics.reference_density * prime.length ** (3 + angular))


def _unknown(hydrodynamics: Hydrodynamics, name: str, symbols: dict[str, int]) -> Problem:
    common = [f"{f}_{v}" for f in FORCES for v in VELOCITIES]
    common += [f"{f}_{v}_a{v}" for f in FORCES for v in VELOCITIES]
    common += [f"{f}_{v}d" for f in FORCES for v in VELOCITIES]
    common += [f"{f}_{s}" for f in FORCES for s in symbols]
    close = difflib.get_close_matches(name, common, n=1)
    actuators = ", ".join(symbols) or "none"
    return hydrodynamics.problem(
        ("coefficients", name),
        f"the coefficient name `{name}` means nothing",
        value=hydrodynamics.coefficients[name],
        expected=f"{GRAMMAR}; actuators of this vehicle: {actuators}",
        mend=f"did you mean `{close[0]}`?" if close else "see docs/describe-a-vehicle.md",
    )
