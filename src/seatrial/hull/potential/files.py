"""Reads hydrodynamic coefficients that WAMIT or Nemoh computed before.

WAMIT's numeric output (User Manual, chapter 4) with ULEN = 1: `.1` has lines `PER I J A [B]`, added
mass over ρ and damping over ρω, with the period 0 for infinite frequency; `.3` has `PER BETA I MOD
PHA RE IM`, excitation over ρ g. Nemoh's `RadiationCoefficients.tec` and `ExcitationForce.tec` have
one zone per motion or heading. Both have x forward and z up; time is exp(iωt) in WAMIT and
exp(−iωt) in Nemoh. Moments are about an origin on the waterline.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.errors import Problem, SpecError
from seatrial.hull.potential.solution import MIRROR, Solution, symmetric
from seatrial.hull.potential.solver import TURN

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Loads = dict[float, Complex]
"""Degrees through port -> (6, W) loads of waves towards there."""


def read_results(path: Path, density: float, stiffness: Array, volume: float) -> Solution:
    """A folder of Nemoh's, or `BASE.1` of WAMIT's beside its `BASE.3`."""
    if path.is_dir():
        return _read_nemoh(path, stiffness, volume)
    return _read_wamit(path, density, stiffness, volume)


def _read_wamit(path: Path, density: float, stiffness: Array, volume: float) -> Solution:
    radiation = _rows(path.with_suffix(".1"), 5)
    excitation = _rows(path.with_suffix(".3"), 7)
    omega = np.array(sorted({2.0 * np.pi / row[0] for row in radiation if row[0] > 0.0}))
    place = {round(w, 9): i for i, w in enumerate(omega)}
    added, damping = np.zeros((2, len(omega), 6, 6))
    infinite: Array | None = None
    for row in radiation:
        i, j = int(row[1]) - 1, int(row[2]) - 1
        if row[0] == 0.0:
            infinite = np.zeros((6, 6)) if infinite is None else infinite
            infinite[i, j] = row[3] * density
        elif row[0] > 0.0:
            w = 2.0 * np.pi / row[0]
            at = place[round(w, 9)]
            added[at, i, j] = row[3] * density
            damping[at, i, j] = row[4] * density * w
    if infinite is None:
        infinite = _at_infinity(omega, added, damping)
    loads: Loads = {}
    for row in excitation:
        if row[0] <= 0.0:
            continue
        frequency = round(2.0 * np.pi / row[0], 9)
        if frequency in place:
            of = loads.setdefault(row[1], np.zeros((6, len(omega)), np.complex128))
            of[int(row[2]) - 1, place[frequency]] = (row[5] + 1j * row[6]) * density * GRAVITY
    return _solution(path, omega, added, damping, infinite, loads, stiffness, volume)


def _read_nemoh(folder: Path, stiffness: Array, volume: float) -> Solution:
    radiation = _zones(folder / "RadiationCoefficients.tec")
    excitation = _zones(folder / "ExcitationForce.tec")
    if len(radiation) != 6:
        raise _refusal(folder, f"{len(radiation)} motions", "six motions of one body")
    tables = [table for _, table in radiation]
    omega = tables[0][:, 0]
    added = np.stack([t[:, 1:13:2] for t in tables], axis=1)
    damping = np.stack([t[:, 2:13:2] for t in tables], axis=1)
    loads: Loads = {}
    for title, table in excitation:
        values = table[:, 1:13:2] * np.exp(-1j * table[:, 2:13:2])  # to exp(iωt)
        loads[_heading(title)] = values.T
    infinite = _at_infinity(omega, added, damping)
    return _solution(folder, omega, added, damping, infinite, loads, stiffness, volume)


def _at_infinity(omega: Array, added: Array, damping: Array) -> Array:
    """A∞ = A(ω) + (1/ω) ∫ K(t) sin ωt dt (Ogilvie 1964), the mean over the upper half of ω."""
    time = np.arange(0.0, 40.0 * np.pi / omega[-1], 0.2 / omega[-1])
    step = np.gradient(omega)
    kernel = 2.0 / np.pi * np.einsum("tw,wij->tij", np.cos(time[:, None] * omega) * step, damping)
    sines = np.sin(omega[:, None] * time) * (time[1] - time[0]) / omega[:, None]
    found = added + np.einsum("wt,tij->wij", sines, kernel)
    return np.asarray(found[len(omega) // 2 :].mean(axis=0))


def _solution(
    path: Path,
    omega: Array,
    added: Array,
    damping: Array,
    infinite: Array,
    loads: Loads,
    stiffness: Array,
    volume: float,
) -> Solution:
    turn = np.outer(TURN, TURN)
    headings, around = _around(path, loads, symmetric(added[0]))
    return Solution(
        omega=omega,
        headings=headings,
        added_mass=added * turn,
        damping=damping * turn,
        infinite=infinite * turn,
        froude_krylov=np.zeros_like(around),
        diffraction=TURN[:, None, None] * around,
        stiffness=stiffness,
        volume=volume,
        panels=0,
        source=f"read from {path.name}",
    )


def _rows(path: Path, columns: int) -> list[list[float]]:
    """Lines of so many numbers; of waves of no or of endless length one fewer, without damping."""
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
    if not rows or any(len(row) < columns - (row[:1] <= [0.0]) for row in rows):
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


def _around(path: Path, loads: Loads, even: bool) -> tuple[Array, Complex]:
    """Headings through starboard, evenly around, and the loads (6, W, H) towards them. Of a hull
    that is its own mirror image those of one side are enough."""
    found = {_degrees(-heading): values for heading, values in loads.items()}
    if even:
        for heading, values in list(found.items()):
            found.setdefault(_degrees(-heading), MIRROR[:, None] * values)
    turned = sorted(found)
    if len(turned) < 4 or np.ptp(np.diff([*turned, turned[0] + 360.0])) > 0.05:
        raise _refusal(
            path,
            f"{len(turned)} headings",
            "headings evenly all around, four or more of them"
            + (", or from 0 to 180 degrees" if even else ""),
        )
    return np.radians(turned), np.stack([found[heading] for heading in turned], axis=2)


def _degrees(heading: float) -> float:
    return round(heading % 360.0, 3) % 360.0


def _refusal(path: Path, found: str, expected: str) -> SpecError:
    return SpecError(
        Problem(f"{path}: these results cannot be used", value=found, expected=expected)
    )
