"""Pairs of vehicles that may touch, and what a force between the two does to both.

All balls of one vehicle i that touch another one j see the velocity of i against j, as a twist
about the origin of i and in its axes,

    u = ν_i − X ν_j,      X = [[R, −S(d) R], [0, R]]

with R from the axes of j to those of i and d from the origin of j to that of i. A wrench f on i, of
the forces at all those balls, is −Xᵀ f on j: each force acts on both at the same place with
opposite signs.

Craft afloat push and rub each other level and at the height of their origins, so that nobody is
rolled over or lifted by another: between two of them d is level.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.contact import symmetric
from seatrial.core.contact.sides import Bodies, Side, Whose
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Twist, Vec3, Wrench, add, cross


class Pairs(NamedTuple):
    """Vehicles of one kind, each with those that it may touch, (K, N) each."""

    whose: Whose
    """Which of all vehicles they are."""
    which: jax.Array
    """Those at the other side."""
    turned: Rotation
    """R."""
    away: Vec3
    """d, m."""
    level: jax.Array
    """1 between craft afloat, else 0."""
    sane: jax.Array
    """False where one of the two has diverged."""


def pairs_of(side: Side, whose: Whose, bodies: Bodies) -> Pairs:
    """Of the vehicles of a side."""
    which = side.hull.near
    assert which is not None
    own = side.moved.turned
    theirs = Rotation(*(jnp.asarray(r)[which] for r in bodies.turned))
    x, y, z = (
        p - jnp.asarray(q)[which] for p, q in zip(side.moved.place, bodies.place, strict=True)
    )
    level = (bodies.afloat[which] & side.afloat).astype(z.dtype)
    columns = [
        own.to_body((theirs.r00, theirs.r10, theirs.r20)),
        own.to_body((theirs.r01, theirs.r11, theirs.r21)),
        own.to_body((theirs.r02, theirs.r12, theirs.r22)),
    ]
    return Pairs(
        whose=whose,
        which=which,
        turned=Rotation(*(columns[j][i] for i in range(3) for j in range(3))),
        away=own.to_body((x, y, z * (1.0 - level))),
        level=level,
        sane=bodies.sane[whose] & bodies.sane[which],
    )


def against(pairs: Pairs, velocity: jax.Array) -> jax.Array:
    """(6, K, N) u, of the velocities (6, T) of all vehicles."""
    theirs = _seen(pairs, Twist(*velocity[:, pairs.which]))
    own = velocity[:, pairs.whose]
    return symmetric.once([a - b for a, b in zip(own, theirs, strict=True)])


def onto(found: jax.Array, pairs: Pairs, wrench: jax.Array) -> jax.Array:
    """Add wrenches (6, K, N) on vehicles, and what they are on the others, to those (6, T) of
    all."""
    back = symmetric.once(_returned(pairs, Wrench(*wrench)))
    own = jnp.stack([jnp.sum(row, axis=0) for row in wrench])
    return found.at[:, pairs.whose].add(own).at[:, pairs.which].add(-back)


def onto_own(found: jax.Array, pairs: Pairs, matrix: symmetric.Rows) -> jax.Array:
    """Add what K u makes of each vehicle's own velocity, for (K, N) entries of the matrix K, to the
    lower halves (21, T) of the matrices of all."""
    back = []
    for j in range(6):
        moved = symmetric.multiply(matrix, _seen(pairs, Twist(*(float(i == j) for i in range(6)))))
        back.append(_returned(pairs, Wrench(*moved)))
    own = [jnp.sum(jnp.asarray(matrix[i][j]), axis=0) for i, j in symmetric.LOWER]
    theirs = [back[j][i] for i, j in symmetric.LOWER]
    return found.at[:, pairs.whose].add(jnp.stack(own)).at[:, pairs.which].add(jnp.stack(theirs))


def _seen(pairs: Pairs, velocity: Twist) -> Twist:
    """X ν."""
    turning = pairs.turned.to_world(velocity.angular)
    moving = add(pairs.turned.to_world(velocity.linear), cross(turning, pairs.away))
    return Twist(*moving, *turning)


def _returned(pairs: Pairs, wrench: Wrench) -> Wrench:
    """Xᵀ f."""
    turning = add(wrench.moment, cross(pairs.away, wrench.force))
    return Wrench(*pairs.turned.to_body(wrench.force), *pairs.turned.to_body(turning))
