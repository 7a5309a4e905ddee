"""The vehicles that take part in contact: kind by kind, and all of them in a row."""

from collections.abc import Sequence
from types import EllipsisType
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from seatrial.core.contact import symmetric
from seatrial.core.contact.hull import Contact
from seatrial.ocean import Ocean
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Scalar, Twist, Vec3

Whose: TypeAlias = slice | EllipsisType
"""Some vehicles in a row of all; all of them where there is one kind, of one vehicle or many."""

SANE = 1e4
"""Faster than this, m/s or rad/s, a vehicle has diverged, and touches nobody."""
AWAY = 1e6
"""Where one that has diverged is taken to be, north, east and up, m."""


class Moved(NamedTuple):
    """Vehicles at the end of a time step without contact."""

    place: Vec3
    turned: Rotation
    velocity: Twist
    """ν_f."""
    before: Twist
    """ν as the step began."""


class Side(NamedTuple):
    """Vehicles of one kind that step with others, and what is around them."""

    hull: Contact
    ocean: Ocean
    moved: Moved
    share: float
    """σ: the pose moves on by σ h of what contact adds to the velocity."""
    afloat: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an array with one number per vehicle."""
        return jnp.shape(self.moved.place[2])


class Bodies(NamedTuple):
    """All vehicles that step together, one kind after the other, (T,) each."""

    place: Vec3
    turned: Rotation
    velocity: jax.Array
    """(6, T) ν_f."""
    before: jax.Array
    """(6, T) ν as the step began."""
    response: symmetric.Rows
    """M⁻¹."""
    afloat: jax.Array
    sane: jax.Array
    """False for one that has diverged."""


def places(sides: Sequence[Side]) -> list[Whose]:
    """Which of all vehicles those of each side are."""
    if len(sides) == 1:
        return [...]
    found: list[Whose] = []
    first = 0
    for side in sides:
        found.append(slice(first, first + side.shape[0]))
        first += side.shape[0]
    return found


def joined(sides: Sequence[Side], values: Sequence[Scalar]) -> jax.Array:
    """One number per vehicle of each side, for all of them in a row."""
    whole = [jnp.broadcast_to(v, side.shape) for v, side in zip(values, sides, strict=True)]
    return whole[0] if len(whole) == 1 else jnp.concatenate(whole)


def bodies_of(
    sides: Sequence[Side], responses: Sequence[symmetric.Rows]
) -> tuple[Sequence[Side], Bodies]:
    """All vehicles in a row. One that has diverged would spread to those with whom it is solved:
    it rests far away, there and in the sides, which are returned too."""
    sane = [jnp.ones(side.shape, bool) for side in sides]
    if sides[0].hull.near is not None:
        found = [_steadied(*one) for one in zip(sides, responses, strict=True)]
        sides, responses, sane = (list(part) for part in zip(*found, strict=True))

    def row(values: Sequence[Scalar]) -> jax.Array:
        return joined(sides, values)

    moved = [side.moved for side in sides]
    x, y, z = (row(values) for values in zip(*(m.place for m in moved), strict=True))
    bodies = Bodies(
        place=(x, y, z),
        turned=Rotation(*(row(v) for v in zip(*(m.turned for m in moved), strict=True))),
        velocity=jnp.stack([row(v) for v in zip(*(m.velocity for m in moved), strict=True)]),
        before=jnp.stack([row(v) for v in zip(*(m.before for m in moved), strict=True)]),
        response=[[row([r[i][j] for r in responses]) for j in range(6)] for i in range(6)],
        afloat=row([jnp.asarray(side.afloat) for side in sides]),
        sane=row(sane),
    )
    return sides, bodies


def _steadied(side: Side, response: symmetric.Rows) -> tuple[Side, symmetric.Rows, jax.Array]:
    """With those at rest far away that have diverged, and which have not."""
    moved = side.moved
    numbers = [*moved.place, *moved.turned, *moved.before]
    sane = jnp.all(jnp.stack([jnp.isfinite(jnp.asarray(n)) for n in numbers]), axis=0)
    sane &= jnp.all(jnp.stack([jnp.abs(v) < SANE for v in moved.velocity]), axis=0)

    def kept(values: Sequence[Scalar], instead: Sequence[float]) -> list[jax.Array]:
        return [jnp.where(sane, v, i) for v, i in zip(values, instead, strict=True)]

    x, y, z = kept(moved.place, (AWAY, AWAY, -AWAY))
    steady = Moved(
        place=(x, y, z),
        turned=Rotation(*kept(moved.turned, (1, 0, 0, 0, 1, 0, 0, 0, 1))),
        velocity=Twist(*kept(moved.velocity, (0.0,) * 6)),
        before=Twist(*kept(moved.before, (0.0,) * 6)),
    )
    rows = [kept(row, [float(i == j) for j in range(6)]) for i, row in enumerate(response)]
    return side._replace(moved=steady), rows, sane
