"""Reads hydrodynamic coefficients that WAMIT or Nemoh computed before.

WAMIT's numeric output (User Manual, chapter 4): `.1` has lines `PER I J A [B]`, added mass and
damping over ρ Lᵏ and ρ Lᵏ ω, with periods 0 (infinite frequency) and negative (zero frequency);
`.3` has `PER BETA I MOD PHA RE IM`, excitation over ρ g A Lᵐ. Nemoh's `RadiationCoefficients.tec`
and `ExcitationForce.tec` have one zone per motion or heading. Both codes have z up and time as
exp(iωt) (WAMIT) or exp(−iωt) (Nemoh).
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.errors import Problem, SpecError
from seatrial.hull.potential.solution import Solution
from seatrial.hull.potential.solver import TURN

Array = NDArray[np.float64]


def read_wamit(
    base: Path, density: float, length: float, stiffness: Array, volume: float
) -> Solution:
    """`BASE.1` and `BASE.3`, of a body whose origin is on the waterline; `length` is ULEN."""
    radiation = _rows(base.with_suffix(".1"))
    excitation = _rows(base.with_suffix(".3"))
    power = np.array([[3.0 + (i > 2) + (j > 2) for j in range(6)] for i in range(6)])
    scale = density * length**power
    omega = np.array(sorted({2.0 * np.pi / row[0] for row in radiation if row[0] > 0.0}))
    place = {round(w, 9): i for i, w in enumerate(omega)}
    added, damping = np.zeros((2, len(omega), 6, 6))
    infinite: Array | None = None
    for row in radiation:
        i, j = int(row[1]) - 1, int(row[2]) - 1
        if row[0] == 0.0:
            infinite = np.zeros((6, 6)) if infinite is None else infinite
            infinite[i, j] = row[3] * scale[i, j]
        elif row[0] > 0.0:
            w = 2.0 * np.pi / row[0]
            at = place[round(w, 9)]
            added[at, i, j] = row[3] * scale[i, j]
            damping[at, i, j] = row[4] * scale[i, j] * w
    if infinite is None:
        raise _refusal(base, "no added mass at infinite frequency", "a period of 0 in the .1 file")
    degrees = sorted({row[1] % 360.0 for row in excitation})
    headings, found = _even(base, np.radians(degrees))
    loads = np.zeros((6, len(omega), len(headings)), np.complex128)
    for row in excitation:
        frequency = round(2.0 * np.pi / row[0], 9)
        if frequency not in place:
            continue
        at = place[frequency]
        i, moment = int(row[2]) - 1, int(row[2]) > 3
        unit = density * GRAVITY * length ** (3.0 if moment else 2.0)
        value = (row[5] + 1j * row[6]) * unit
        # a heading counted from forward through port is one through starboard, negative
        loads[i, at, found[round(float(-np.radians(row[1])) % (2 * np.pi), 6)]] = value
    # WAMIT's phases lead the wave ζ = A cos(ωt − kx): its own exp(iωt)
    return _solution(base, omega, headings, added, damping, infinite, loads, stiffness, volume)


def read_nemoh(folder: Path, stiffness: Array, volume: float) -> Solution:
    """`RadiationCoefficients.tec` and `ExcitationForce.tec` of a folder `results`."""
    radiation = _zones(folder / "RadiationCoefficients.tec")
    excitation = _zones(folder / "ExcitationForce.tec")
    if len(radiation) != 6:
        raise _refusal(folder, f"{len(radiation)} motions", "six motions of one body")
    tables = [table for _, table in radiation]
    omega = tables[0][:, 0]
    added = np.stack([t[:, 1:13:2] for t in tables], axis=1)
    damping = np.stack([t[:, 2:13:2] for t in tables], axis=1)
    degrees = [_heading(title) for title, _ in excitation]
    headings, found = _even(folder, np.radians(degrees))
    loads = np.zeros((6, len(omega), len(headings)), np.complex128)
    for degree, (_, table) in zip(degrees, excitation, strict=True):
        values = table[:, 1:13:2] * np.exp(-1j * table[:, 2:13:2])  # to exp(iωt)
        loads[:, :, found[round(float(-np.radians(degree)) % (2 * np.pi), 6)]] = values.T
    # A(∞) by Ogilvie's relation at the highest frequency: A∞ = A(ω) + (1/ω) ∫ K sin ωt dt
    infinite = added[-1]
    return _solution(folder, omega, headings, added, damping, infinite, loads, stiffness, volume)


def _solution(
    path: Path,
    omega: Array,
    headings: Array,
    added: Array,
    damping: Array,
    infinite: Array,
    loads: NDArray[np.complex128],
    stiffness: Array,
    volume: float,
) -> Solution:
    turn = np.outer(TURN, TURN)
    return Solution(
        omega=omega,
        headings=headings,
        added_mass=added * turn,
        damping=damping * turn,
        infinite=infinite * turn,
        froude_krylov=np.zeros_like(loads),
        diffraction=TURN[:, None, None] * loads,
        stiffness=stiffness,
        volume=volume,
        panels=0,
        source=f"read from {path.name}",
    )


def _rows(path: Path) -> list[list[float]]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise _refusal(path, str(error.strerror), "a file of WAMIT's numeric output") from None
    rows = []
    for line in lines:
        try:
            rows.append([float(word) for word in line.split()])
        except ValueError:
            continue  # a heading
    if not rows or any(len(row) < 4 for row in rows):
        raise _refusal(path, "too few numbers in a line", "WAMIT's numeric output")
    return rows


def _zones(path: Path) -> list[tuple[str, Array]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise _refusal(path, str(error.strerror), "a result of Nemoh") from None
    zones = []
    for part in re.split(r"(?im)^\s*zone", text)[1:]:
        title, _, body = part.partition("\n")
        rows = [[float(w) for w in line.split()] for line in body.splitlines() if line.strip()]
        if not rows or len({len(r) for r in rows}) != 1 or len(rows[0]) < 13:
            raise _refusal(path, "a zone without thirteen columns", "six motions of one body")
        zones.append((title, np.array(rows)))
    if not zones:
        raise _refusal(path, "no zone", "a result of Nemoh in Tecplot's format")
    return zones


def _heading(title: str) -> float:
    found = re.search(r"beta\s*=\s*([-+0-9.eE]+)", title)
    return float(found.group(1)) if found else 0.0


def _even(path: Path, headings: Array) -> tuple[Array, dict[float, int]]:
    """Headings through starboard, evenly around, and where each is."""
    turned = np.sort(np.round((-headings) % (2.0 * np.pi), 6))
    if len(turned) < 4 or np.ptp(np.diff([*turned, turned[0] + 2.0 * np.pi])) > 1e-3:
        raise _refusal(
            path, f"{len(turned)} headings", "headings evenly all around, four or more of them"
        )
    return turned, {float(h): i for i, h in enumerate(turned)}


def _refusal(path: Path, found: str, expected: str) -> SpecError:
    return SpecError(
        Problem(f"{path}: these results cannot be used", value=found, expected=expected)
    )
