"""A linear quadratic regulator for the pose of a vehicle, from its own equations of motion."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.design.authority import Craft, authority, response_times
from seatrial.design.linearisation import linearise
from seatrial.design.loop_bench import DEAD_TIME, LAG_LIMIT, SHARE
from seatrial.gnc.control.lqr import StateFeedback, lqr

DType = np.dtype[Any]

ANGLE = 0.3
"""Error of an angle that is as bad as one of a vehicle's length, rad."""

SLOWER = 2.0
"""Factor on the weight of forces until the actuators can follow."""


@dataclasses.dataclass(frozen=True)
class Regulator:
    """A law for `gnc.control.lqr.hold_pose`, and what it makes of the vehicle."""

    law: StateFeedback
    bias: jax.Array
    """(6, 1) wrench of the trim at rest."""
    poles: tuple[complex, ...]
    """Of the vehicle with the loop closed, rad/s."""


def regulate(craft: Craft, dtype: DType, *, period: float = 0.1) -> Regulator:
    """Regulator for the degrees of freedom that the vehicle controls at rest.

    Weights by Bryson's rule: an error of the vehicle's length or of 0.3 rad costs as much as the
    force that actuators can give. Forces are made dearer until every pole is slow enough for the
    lag of the actuators. Call inside `jax.enable_x64(True)`.
    """
    linear = linearise(craft, 0.0)
    dofs = list(craft.dofs)
    kept = [*dofs, *(6 + d for d in dofs)]
    A = linear.A[np.ix_(kept, kept)]
    B = (linear.B @ linear.carried)[np.ix_(kept, dofs)]
    sizes = np.array([craft.length if d < 3 else ANGLE for d in dofs])
    forces = np.array([SHARE * authority(craft, 0.0, linear.wrench, d) for d in dofs])
    if len(dofs) == 0 or forces.min() <= 0.0:
        raise ValueError(
            f"`{craft.name}` cannot hold a pose at rest: what it controls needs thrusters, fins "
            "need way on"
        )
    Q = np.diag(np.concatenate([1.0 / sizes**2, np.zeros(len(dofs))]))
    lag = max(response_times(craft, 0.0, d)[0] for d in dofs)
    own = float(np.abs(np.linalg.eigvals(A)).max())  # a craft may roll faster than that by itself
    fastest = max(LAG_LIMIT / (lag + DEAD_TIME * period), 1.2 * own)
    price = 1.0
    while True:
        # Forces counted in shares of the largest keep the Riccati equation well conditioned.
        K = forces[:, None] * lqr(A, B * forces, Q, price * np.eye(len(dofs)))
        poles = np.linalg.eigvals(A - B @ K)
        if np.abs(poles).max() <= fastest:
            break
        price *= SLOWER
    gain, ahead = np.zeros((6, 12)), np.zeros((6, 6))
    gain[np.ix_(dofs, kept)] = K
    # A wanted velocity takes what the velocity feedback would hold against, and the drag.
    rates = slice(len(dofs), None)
    drag = -np.linalg.solve(B[rates], A[rates, rates])
    ahead[np.ix_(dofs, dofs)] = K[:, rates] + drag
    return Regulator(
        StateFeedback(jnp.asarray(gain, dtype), jnp.asarray(ahead, dtype)),
        jnp.asarray(np.where(np.isin(np.arange(6), dofs), linear.wrench, 0.0)[:, None], dtype),
        tuple(complex(p) for p in poles),
    )
