"""How fast vehicles go on after a time step in which they touch something.

With ν_f the velocity at the end of the step without contact and F the forces of `touch`,

    M (ν − ν_f) = h Σ Jᵀ F(u)

for all vehicles that step together, of whatever kinds: what a ball does to another vehicle acts on
that one with the opposite sign. The balls that press and the weights w of friction come from the
last guess. There are three: without friction, which tells who presses; with the slip of before the
step, which solves a hull that rests or slides as before; and with the slip that friction leaves
that is as large as its push allows (`touch.next_rub`), for one that begins to slide, comes to rest,
or strikes at a slant.

Vehicles that may touch each other are solved by conjugate gradients, each vehicle's own 6 × 6 block
as the preconditioner. In the end the velocity is made that which the forces give: however far the
iteration has come, action is equal to reaction, and what is left is an error of the forces' law.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from seatrial.core.contact import symmetric
from seatrial.core.contact.load import Load, loads
from seatrial.core.contact.pairs import against, onto, onto_own, pairs_of
from seatrial.core.contact.sides import Bodies, Side, bodies_of, joined, places
from seatrial.core.contact.surfaces import CANDIDATES, balls, bottom, neighbours, solid
from seatrial.core.contact.touch import (
    TINY,
    Law,
    Rub,
    Touch,
    first_rub,
    force,
    law,
    next_rub,
    slip,
    stiffness,
    touch_of,
    wrench,
)
from seatrial.geometry import shapes
from seatrial.geometry.grid import HeightGrid
from seatrial.spatial.vectors import Vec3

Guess: TypeAlias = tuple[jax.Array, list[Law], list[Rub]]
"""ν − ν_f of all vehicles, the forces' laws that made it, and what the next one takes from it."""
Operator: TypeAlias = Callable[[jax.Array], jax.Array]
Going: TypeAlias = tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]

TOLERANCES = (1e-1, 1e-1, 1e-4)
"""Of the conjugate gradients in each round of guessing who presses and how hard it rubs."""
MOST_GRADIENTS = 200
"""Steps of conjugate gradients in each round."""


class Pushed(NamedTuple):
    """What contact does to vehicles of one kind in a time step."""

    change: jax.Array
    """(6, ...) what it adds to the velocity."""
    load: Load
    """Of the bottom and solids."""
    met: Load | None
    """Of other vehicles; None for those who pass through them."""


def near(sides: Sequence[Side], t: jax.Array) -> jax.Array | None:
    """Whether any of the vehicles may touch anything; None where there is nothing to touch."""
    found: list[jax.Array] = []
    for side in sides:
        hull, ocean, place = side.hull, side.ocean, side.moved.place
        if ocean.seabed is not None:
            depth = ocean.seabed.depth
            if isinstance(depth, HeightGrid):
                gap = bottom(hull, ocean.seabed, balls(hull, place, side.moved.turned)).gap
            else:
                gap = depth - place[2] - hull.reach
            found.append(jnp.any(jnp.asarray(gap) < 0.0))
        if ocean.solids is not None:
            solids = shapes.underway(ocean.solids, t)
            found.append(jnp.any(shapes.gaps(solids, place) < hull.reach))
        if hull.near is not None:
            theirs = [joined(sides, [s.moved.place[i] for s in sides])[hull.near] for i in range(3)]
            apart = jnp.sqrt(sum((q - p) ** 2 for p, q in zip(place, theirs, strict=True)))
            reach = joined(sides, [s.hull.reach for s in sides])
            found.append(jnp.any(apart < reach[hull.near] + hull.reach))
    return jnp.any(jnp.stack(found)) if found else None


def pushed(
    sides: Sequence[Side], responses: Sequence[symmetric.Rows], t: jax.Array, dt: float
) -> list[Pushed]:
    """What contact makes of the end of a step, at `t`, for vehicles that step together.

    `responses` are their M⁻¹.
    """
    sides, bodies = bodies_of(sides, responses)
    touches: list[Touch] = []
    for side, whose in zip(sides, places(sides), strict=True):
        hull, ocean, place = side.hull, side.ocean, side.moved.place
        at = balls(hull, place, side.moved.turned)
        if ocean.seabed is not None:
            touches.append(touch_of(side, whose, bottom(hull, ocean.seabed, at), dt))
        if ocean.solids is not None:
            solids = shapes.riding(shapes.underway(ocean.solids, t), t)
            around = solid(hull, shapes.near(solids, place, CANDIDATES), at)
            touches.append(touch_of(side, whose, around, dt))
        if hull.near is not None:
            around = solid(hull, neighbours(sides, hull.near, side.afloat), at)
            pairs = pairs_of(side, whose, bodies)
            touches.append(touch_of(side, whose, around, dt, pairs, bodies.velocity))
    coupled = any(touch.mates is not None for touch in touches)
    change, laws, _ = (_together if coupled else _apart)(bodies, touches, dt)
    forces = [
        force(touch, by, slip(touch, change)) for touch, by in zip(touches, laws, strict=True)
    ]
    if coupled:
        impulse = _impulse(bodies, touches, forces, dt)
        change = jnp.stack(symmetric.multiply(bodies.response, list(impulse)))
    found = []
    told = zip(*loads(sides, touches, forces), strict=True)
    for side, whose, (load, met) in zip(sides, places(sides), told, strict=True):
        dtype = jnp.result_type(side.moved.velocity.u)
        found.append(Pushed(change[:, whose].astype(dtype), load, met))
    return found


def _apart(bodies: Bodies, touches: list[Touch], dt: float) -> Guess:
    """For vehicles that touch no others: each by itself."""
    mass = symmetric.inverse(bodies.response)

    def guess(number: int, last: Guess) -> Guess:
        laws = [law(touch, rub) for touch, rub in zip(touches, last[2], strict=True)]
        block = symmetric.whole(_held(mass, touches, laws, dt))
        forces = [force(touch, by, touch.free) for touch, by in zip(touches, laws, strict=True)]
        wanted = _impulse(bodies, touches, forces, dt)
        found = jnp.stack(symmetric.solve(symmetric.factor(block), list(wanted)))
        return _guessed(bodies, touches, number, found, laws, last)

    found: Guess = jax.lax.fori_loop(0, len(TOLERANCES), guess, _begun(bodies, touches))
    return found


def _together(bodies: Bodies, touches: list[Touch], dt: float) -> Guess:
    """For vehicles that may touch each other."""
    mass = symmetric.inverse(bodies.response)

    def guess(number: int, last: Guess) -> Guess:
        change = last[0]
        laws = [law(touch, rub) for touch, rub in zip(touches, last[2], strict=True)]
        lower = _held(mass, touches, laws, dt)
        held, own = symmetric.whole(lower), jnp.stack(lower)
        links = []
        for touch, by in zip(touches, laws, strict=True):
            if touch.mates is not None:
                link = symmetric.whole([dt * value for value in stiffness(touch, by)])
                links.append((touch.mates.pairs, link))
                own = onto_own(own, touch.mates.pairs, link)
        block = symmetric.factor(symmetric.whole(own))

        def operated(x: jax.Array) -> jax.Array:
            """(M + h Σ Jᵀ W J) x."""
            found = jnp.stack(symmetric.multiply(held, list(x)))
            for pairs, link in links:
                resisting = symmetric.multiply(link, list(against(pairs, x)))
                found = onto(found, pairs, symmetric.once(resisting))
            return found

        def conditioned(x: jax.Array) -> jax.Array:
            return symmetric.once(symmetric.solve(block, list(x)))

        forces = [force(touch, by, touch.free) for touch, by in zip(touches, laws, strict=True)]
        wanted = _impulse(bodies, touches, forces, dt)
        pressed = jnp.asarray(sum(own[k] - mass[i][i] for k, i in ((0, 0), (2, 1), (5, 2)))) > 0.0
        first = jnp.where(pressed, change, 0.0)
        tolerance = jnp.asarray(TOLERANCES, wanted.dtype)[number]

        def solve(operated: Operator, wanted: jax.Array) -> jax.Array:
            return _conjugate(operated, conditioned, bodies.response, wanted, first, tolerance)

        found: jax.Array = jax.lax.custom_linear_solve(
            operated, wanted, solve, transpose_solve=solve, symmetric=True
        )
        return _guessed(bodies, touches, number, found, laws, last)

    found: Guess = jax.lax.fori_loop(0, len(TOLERANCES), guess, _begun(bodies, touches))
    return found


def _held(
    mass: symmetric.Rows, touches: list[Touch], laws: list[Law], dt: float
) -> list[jax.Array]:
    """Lower half of M + h Σ Jᵀ W J of each vehicle, over touches with what is no vehicle."""
    found = [jnp.asarray(mass[i][j]) for i, j in symmetric.LOWER]
    for touch, by in zip(touches, laws, strict=True):
        if touch.mates is None:
            added = stiffness(touch, by)
            found = [
                old.at[touch.whose].add(dt * new) for old, new in zip(found, added, strict=True)
            ]
    return found


def _begun(bodies: Bodies, touches: list[Touch]) -> Guess:
    """Before the first guess: velocities stay as they were before the step."""
    none = [Law(*[jnp.zeros_like(touch.dent)] * 3) for touch in touches]
    return bodies.before - bodies.velocity, none, [first_rub(touch) for touch in touches]


def _guessed(
    bodies: Bodies,
    touches: list[Touch],
    number: int,
    found: jax.Array,
    laws: list[Law],
    last: Guess,
) -> Guess:
    """A guess that found a change of velocity."""
    begun = bodies.before - bodies.velocity
    first = jnp.asarray(number) == 0
    rubs = [
        next_rub(touch, by, rub, slip(touch, found), slip(touch, begun), first)
        for touch, by, rub in zip(touches, laws, last[2], strict=True)
    ]
    return found, laws, rubs


def _impulse(bodies: Bodies, touches: list[Touch], forces: list[Vec3], dt: float) -> jax.Array:
    """(6, ...) h Σ Jᵀ F on every vehicle."""
    found = jnp.zeros_like(bodies.velocity)
    for touch, pushing in zip(touches, forces, strict=True):
        push = dt * symmetric.once(wrench(touch, pushing))
        if touch.mates is None:
            found = found.at[:, touch.whose].add(push)
        else:
            found = onto(found, touch.mates.pairs, push)
    return found


def _conjugate(
    operated: Operator,
    conditioned: Operator,
    response: symmetric.Rows,
    wanted: jax.Array,
    first: jax.Array,
    tolerance: jax.Array,
) -> jax.Array:
    """Conjugate gradients, preconditioned; Hestenes and Stiefel (1952).

    They end when the impulse r that each vehicle still lacks is small, r · M⁻¹ r beside what its
    own springs and dampers would make of `wanted`. They begin with `first` where that is nearer
    than nothing, which it need not be for a derivative.
    """

    def lacking(rest: jax.Array) -> jax.Array:
        answer = symmetric.multiply(response, list(rest))
        return jnp.sum(rest * jnp.stack(answer), axis=0)

    def unfinished(at: Going) -> jax.Array:
        return (at[-1] < MOST_GRADIENTS) & jnp.any(lacking(at[1]) > enough)

    def onward(at: Going) -> Going:
        x, rest, along, size, number = at
        image = operated(along)
        way = size / (jnp.sum(along * image) + TINY)
        rest = rest - way * image
        better = conditioned(rest)
        later = jnp.sum(rest * better)
        return x + way * along, rest, better + later / (size + TINY) * along, later, number + 1

    enough = tolerance**2 * jnp.sum(wanted * conditioned(wanted), axis=0)
    image = operated(first)
    nearer = jnp.sum(first * (wanted - 0.5 * image)) > 0.0
    rest = wanted - jnp.where(nearer, image, 0.0)
    better = conditioned(rest)
    at = (jnp.where(nearer, first, 0.0), rest, better, jnp.sum(rest * better), jnp.int32(0))
    return jax.lax.while_loop(unfinished, onward, at)[0]
