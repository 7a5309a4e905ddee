"""Which motions a vehicle can control, and which parts of its allocation hang together."""

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.gnc.allocation.curves import thrusts
from seatrial.gnc.allocation.effectors import EffectorGroup, Effectors
from seatrial.programs import call

Array = NDArray[np.float64]

DOFS = ("surge", "sway", "heave", "roll", "pitch", "yaw")

PREFERENCE = (0, 5, 4, 2, 1, 3)
"""Of degrees of freedom that hang together, the first of these is controlled: a stern plane is
there for the pitch, not for the heave that comes with it."""

INDEPENDENT = 1e-3
"""Share of a degree of freedom that others must leave for it to count as controllable."""


_thrusts = jax.jit(thrusts)


def strength(effectors: Effectors, speed: float) -> Array:
    """Largest wrench of every effort (6, E), fins at the given speed."""
    rest = np.zeros_like(effectors.low)
    low, high = (
        np.asarray(call(_thrusts, effectors.curves, limit, rest))
        for limit in (effectors.low, effectors.high)
    )
    size: Array = np.maximum(high, -low) * np.where(np.asarray(effectors.fin), speed**2, 1.0)
    turning = [] if effectors.azimuths is None else list(effectors.azimuths.effectors)
    largest: Array = np.concatenate([size, size[turning]])[:, 0] * np.asarray(effectors.columns)
    return largest


def _per_length(largest: Array, length: float) -> Array:
    units: Array = np.array([1.0, 1.0, 1.0, length, length, length])
    shares: Array = largest / units[:, None]
    return shares


def independent(largest: Array, length: float) -> tuple[int, ...]:
    """Degrees of freedom that can be demanded independently, by preference."""
    rows = _per_length(largest, length)
    chosen: list[int] = []
    basis = np.zeros((0, rows.shape[1]))
    for d in PREFERENCE:
        left = rows[d] - (rows[d] @ basis.T) @ basis
        size = float(np.linalg.norm(left))
        if size > INDEPENDENT * np.linalg.norm(rows[d]) and size > 1e-6 * np.abs(rows).max():
            chosen.append(d)
            basis = np.vstack([basis, left / size])
    return tuple(sorted(chosen))


def groups_of(
    largest: Array, dofs: tuple[int, ...], count: int, turning: list[int]
) -> tuple[EffectorGroup, ...]:
    """Parts of the problem that have nothing to do with each other.

    They are clipped one by one: a rudder that is too weak at low speed must not take the thrust
    away that would make it stronger.
    """
    owner = [*range(count), *turning]
    touches = np.zeros((len(dofs), count), bool)
    for column, i in enumerate(owner):
        for row, d in enumerate(dofs):
            if abs(largest[d, column]) > 1e-9 * np.abs(largest[d]).max(initial=0.0):
                touches[row, i] = True
    groups: list[EffectorGroup] = []
    left = set(range(len(dofs)))
    while left:
        rows, columns = {min(left)}, set[int]()
        while True:
            more = {int(i) for r in rows for i in np.flatnonzero(touches[r])}
            wider = rows | {int(r) for i in more for r in np.flatnonzero(touches[:, i])}
            if more == columns and wider == rows:
                break
            rows, columns = wider, more
        left -= rows
        if columns:
            groups.append(
                EffectorGroup(
                    dofs=tuple(dofs[r] for r in sorted(rows)),
                    fixed=tuple(sorted(columns - set(turning))),
                    turning=tuple(turning.index(i) for i in sorted(columns & set(turning))),
                )
            )
    return tuple(groups)
