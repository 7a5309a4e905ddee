"""Reads coefficient names: `X_u_au`, `N_ur`, `Y_vd`, `Y_v_v_delta`, `Y_0u`."""

import difflib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seatrial.core.forces.coefficients import RANGE, Term
from seatrial.errors import Problem, SpecError
from seatrial.hull.added_mass import spheroid
from seatrial.spec.vehicle import Hydrodynamics, Nondimensional

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
    """Meaning of a coefficient's name, or None; `symbols` maps actuator names to states.

    Where a name can be read in several ways, the longest actuator's name comes first.
    """
    found = readings(name, symbols)
    return found[0] if found else None


def readings(name: str, symbols: dict[str, int]) -> list[Factors]:
    """Every meaning that a coefficient's name can have with these actuators."""
    head, _, rest = name.partition("_")
    if head not in FORCES or len(head) != 1 or not rest:
        return []
    dof = FORCES.index(head)
    if _is_acceleration(rest):
        return [Factors(dof, acceleration=VELOCITIES.index(rest[0]))]
    return _readings(rest.split("_"), Factors(dof), symbols)


def _readings(tokens: list[str], so_far: Factors, symbols: dict[str, int]) -> list[Factors]:
    if not tokens:
        return [so_far]
    found: list[Factors] = []
    for length in range(len(tokens), 0, -1):
        symbol = "_".join(tokens[:length])
        if symbol in symbols:
            actuators = (*so_far.actuators, symbols[symbol])
            found += _readings(tokens[length:], replace(so_far, actuators=actuators), symbols)
    velocities, absolutes = list(so_far.velocities), list(so_far.absolutes)
    if _read_velocities(tokens[0], velocities, absolutes):
        moving = replace(so_far, velocities=tuple(velocities), absolutes=tuple(absolutes))
        found += _readings(tokens[1:], moving, symbols)
    return list(dict.fromkeys(found))


def reads_as_velocities(symbol: str) -> bool:
    """Whether an actuator of this name would take over coefficients of the velocities."""
    tokens = symbol.split("_")
    return _is_acceleration(symbol) or all(_read_velocities(t, [], []) for t in tokens)


def _is_acceleration(text: str) -> bool:
    return len(text) == 2 and text[0] in VELOCITIES and text[1] == "d"


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
    radiated: NDArray[np.bool_]
    """Which of the terms are damping by waves that the hull makes."""

    def only(self, kept: NDArray[np.bool_]) -> "Polynomial":
        """The same with some of its terms."""
        terms = tuple(t for t, keep in zip(self.terms, kept, strict=True) if keep)
        return Polynomial(terms, self.values[kept], self.added_mass, self.radiated[kept])


def without_damping(polynomial: Polynomial) -> Polynomial:
    """The same without terms of velocities alone: forces on the hull take their place, but for what
    goes away with waves."""
    others = [bool(t.actuators) or not t.velocities + t.absolutes for t in polynomial.terms]
    return polynomial.only(np.array(others, bool) | polynomial.radiated)


def without_radiation(polynomial: Polynomial) -> Polynomial:
    """The same where the waves that the hull makes are solved for."""
    return polynomial.only(~polynomial.radiated)


def compile_coefficients(
    hydrodynamics: Hydrodynamics, extra: dict[str, float], symbols: dict[str, int]
) -> Polynomial:
    """Parse every name, make every value dimensional, and split off the added mass.

    `extra` holds dimensional coefficients from elsewhere (a fitted cross-flow drag).
    """
    terms: list[Term] = []
    values: list[float] = []
    radiated: list[bool] = []
    added = np.zeros((6, 6))
    if hydrodynamics.added_mass_spheroid is not None:
        shape = hydrodynamics.added_mass_spheroid
        added += spheroid(shape.length, shape.diameter, hydrodynamics.reference_density)
    problems: list[Problem] = []
    for table, prime in (
        ("coefficients", hydrodynamics.nondimensional),
        ("dimensional_coefficients", None),
        ("radiation_damping", None),
    ):
        for name, value in getattr(hydrodynamics, table).items():
            meanings = readings(name, symbols)
            if len(meanings) != 1:
                problem = _ambiguous if meanings else _unknown
                problems.append(problem(hydrodynamics, table, name, symbols))
                continue
            factors = meanings[0]
            if table == "radiation_damping" and not _is_linear_damping(factors):
                problems.append(_not_radiated(hydrodynamics, name))
                continue
            density = hydrodynamics.reference_density
            perturbed = table != "coefficients" and hydrodynamics.about_speed > 0.0
            if perturbed and _names_surge(factors):
                problems.append(_beside_perturbation(hydrodynamics, table, name))
                continue
            if factors.acceleration is not None:
                mass = value * _mass_scale(prime, density, factors)
                added[factors.dof, factors.acceleration] -= mass
                continue
            if value > 0.0 and _damps(factors):
                problems.append(_drives(hydrodynamics, table, name, value))
                continue
            scale, power = _force_scale(prime, density, factors)
            terms.append(_term(factors, power))
            values.append(value * scale)
            radiated.append(table == "radiation_damping")
    for name, value in extra.items():
        fitted = parse(name, symbols)
        assert fitted is not None, name
        terms.append(_term(fitted, 0))
        values.append(value)
        radiated.append(False)
    if problems:
        raise SpecError(problems)
    return Polynomial(tuple(terms), np.array(values), added, np.array(radiated, bool))


def low_speed_pull(polynomial: Polynomial, about_speed: float) -> float | None:
    """Surge force per deviation of speed beyond the range of a perturbation form, N s/m.

    On a straight course the terms in u alone are X = U² P(a) with a = 1 − U₀/U, so that dX/dU =
    2 U P + U₀ P'. Below the edge U₁ = U₀/(1 + RANGE) the first part lives on with a held; a pull of
    −U₁ P'(−RANGE) per speed that is cut off, U₀ (1 − U/U₁), gives the second part. None where the
    coefficients are not a perturbation divided by the speed of the moment.
    """
    if about_speed == 0.0 or not any(term.speed_power for term in polynomial.terms):
        return None
    slope = 0.0
    for value, term in zip(polynomial.values, polynomial.terms, strict=True):
        plain, absolute = len(term.velocities), len(term.absolutes)
        of_surge = plain + absolute > 0 and not any((*term.velocities, *term.absolutes))
        if term.dof == 0 and of_surge and not term.actuators:
            slope += value * (plain + absolute) * (-RANGE) ** (plain - 1) * RANGE**absolute
    return max(-about_speed / (1.0 + RANGE) * slope, 0.0)


def _term(f: Factors, speed_power: int) -> Term:
    return Term(f.dof, f.velocities, f.absolutes, f.actuators, speed_power)


def _force_scale(
    prime: Nondimensional | None, density: float, factors: Factors
) -> tuple[float, int]:
    """Factor to SI, and the power of the instantaneous speed that is still missing."""
    if prime is None:
        return 1.0, 0
    indices = (*factors.velocities, *factors.absolutes)
    angular = sum(i >= 3 for i in indices)
    scale = 0.5 * density * (prime.draught or prime.length)
    scale *= prime.length ** ((2 if factors.dof >= 3 else 1) + angular)
    power = 2 - len(indices)
    if prime.speed == "instantaneous":
        return scale, power
    return scale * float(prime.speed) ** power, 0


def _mass_scale(prime: Nondimensional | None, density: float, factors: Factors) -> float:
    if prime is None:
        return 1.0
    assert factors.acceleration is not None
    angular = (factors.dof >= 3) + (factors.acceleration >= 3)
    return float(0.5 * density * (prime.draught or prime.length) * prime.length ** (2 + angular))


def _damps(factors: Factors) -> bool:
    """Whether a term is the drag on a motion by itself: N_r r, or N_r|r| r."""
    return (
        not factors.actuators
        and factors.velocities == (factors.dof,)
        and (set(factors.absolutes) <= {factors.dof})
    )


def _is_linear_damping(factors: Factors) -> bool:
    return len(factors.velocities) == 1 and not factors.absolutes + factors.actuators


def _not_radiated(hydrodynamics: Hydrodynamics, name: str) -> Problem:
    return hydrodynamics.problem(
        ("radiation_damping", name),
        f"`{name}` is no damping by waves",
        value=hydrodynamics.radiation_damping[name],
        expected="a force over one velocity, such as `Z_w` or `M_q`",
        mend=f"write `{name}` among `coefficients`",
    )


def _drives(hydrodynamics: Hydrodynamics, table: str, name: str, value: float) -> Problem:
    return hydrodynamics.problem(
        (table, name),
        f"`{name}` drives the motion that it should damp",
        value=value,
        expected="a force against the motion: 0 or less",
        mend=f"write `{name}: {-value:g}`",
    )


def _names_surge(factors: Factors) -> bool:
    return 0 in (*factors.velocities, *factors.absolutes)


def _beside_perturbation(hydrodynamics: Hydrodynamics, table: str, name: str) -> Problem:
    return hydrodynamics.problem(
        (table, name),
        f"`{name}` multiplies the surge speed, which stands for u − `about_speed` here",
        value=getattr(hydrodynamics, table)[name],
        expected="dimensional coefficients of the other velocities",
        mend="give it in the prime system among `coefficients`",
    )


def _ambiguous(
    hydrodynamics: Hydrodynamics, table: str, name: str, symbols: dict[str, int]
) -> Problem:
    return hydrodynamics.problem(
        (table, name),
        f"the coefficient name `{name}` can be read in more than one way",
        value=getattr(hydrodynamics, table)[name],
        expected=f"one product only; actuators of this vehicle: {', '.join(symbols)}",
        mend="rename the actuator whose name is made of others' names or of velocities",
    )


def _unknown(
    hydrodynamics: Hydrodynamics, table: str, name: str, symbols: dict[str, int]
) -> Problem:
    common = [f"{f}_{v}" for f in FORCES for v in VELOCITIES]
    common += [f"{f}_{v}_a{v}" for f in FORCES for v in VELOCITIES]
    common += [f"{f}_{v}d" for f in FORCES for v in VELOCITIES]
    common += [f"{f}_{s}" for f in FORCES for s in symbols]
    close = difflib.get_close_matches(name, common, n=1)
    actuators = ", ".join(symbols) or "none"
    return hydrodynamics.problem(
        (table, name),
        f"the coefficient name `{name}` means nothing",
        value=getattr(hydrodynamics, table)[name],
        expected=f"{GRAMMAR}; actuators of this vehicle: {actuators}",
        mend=f"did you mean `{close[0]}`?" if close else "see docs/describe-a-vehicle.md",
    )
