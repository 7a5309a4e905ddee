"""How slowly a vehicle may go: what its trim takes, and where fins no longer take it up or down."""

import math

import numpy as np

from seatrial.design.authority import Craft, effort_limits, strength
from seatrial.design.linearisation import Linear, linearise

SLOWER = 0.93
"""Step by which the slowest speed is looked for."""

HALVINGS = 8


def trim_load(craft: Craft, linear: Linear) -> float:
    """Share of the limits of its actuators that straight and level motion takes, thrust ahead left
    out; more than 1 where they cannot hold it, infinite where nothing could."""
    from scipy.optimize import linprog

    dofs = [dof for dof in craft.dofs if dof > 0]
    columns, size = strength(craft, linear.speed)
    low, high = effort_limits(craft, linear.speed)
    count, rows = len(size), columns[dofs]
    scale = np.maximum(np.abs(rows * size).sum(axis=1), 1e-12)
    # The least s with Σ rows e = trim and s low ≤ e ≤ s high.
    found = linprog(
        [*np.zeros(count), 1.0],
        A_eq=np.hstack([rows / scale[:, None], np.zeros((len(dofs), 1))]),
        b_eq=linear.wrench[dofs] / scale,
        A_ub=np.block([[np.eye(count), -high[:, None]], [-np.eye(count), low[:, None]]]),
        b_ub=np.zeros(2 * count),
        bounds=[*[(None, None)] * count, (0.0, None)],
    )
    return float(found.x[-1]) if found.success else math.inf


def slowest_flown(craft: Craft, fastest: float) -> float | None:
    """Speed below which the fins of a craft that dives by its pitch do not hold its depth, m/s.

    They then cannot hold its trim, or they act the other way round: pitched down by its planes, a
    slow vehicle is lifted by their force more than it sinks along its axis. Infinite where that is
    so at `fastest` too; None for craft that do not dive so.
    """
    if craft.floats or 2 in craft.dofs or 4 not in craft.dofs:
        return None
    if not _flies(craft, fastest):
        return math.inf
    high = fastest
    while _flies(craft, high * SLOWER):
        high *= SLOWER
        if high < 1e-3 * fastest:
            return 0.0
    low = high * SLOWER
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _flies(craft, middle) else (middle, high)
    return high


def _flies(craft: Craft, speed: float) -> bool:
    linear = linearise(craft, speed)
    return trim_load(craft, linear) <= 1.0 and depth_response(linear) < 0.0


def depth_response(linear: Linear) -> float:
    """Rate at which a vehicle sinks in the end per moment that fins pitch it up with, m/s per N m:
    0 = A y + b over pitch, heave and rate of pitch, at the speed that it has."""
    states = [4, 8, 10]
    moment = (linear.B @ linear.carried)[:, 4]
    steady = np.linalg.solve(linear.A[np.ix_(states, states)], -moment[states])
    return float(linear.A[2, states] @ steady)
