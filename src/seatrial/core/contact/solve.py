"""How fast vehicles go on after a time step in which they touch something.

With ν_f the velocity at the end of the step without contact, J the matrix from a hull's velocity to
that of a touching point, and u = J ν − v_s its velocity against the surface,

    M (ν − ν_f) = h Σ Jᵀ F(u),      F = n b − W u,      W = D n nᵀ + w (1 − n nᵀ)

where D = c s + σ h k, b = k (δ + σ h n · u_f) and w = μ F_n / |u_t|: the pose moves on by σ h of
what contact adds to the velocity, σ as the integrator has it for a constant force. The balls that
press and the weights w come from the last guess, which begins with the velocity before the step: a
hull that rests or slides as before is solved at once. This is iteratively reweighted least squares
for Coulomb's friction, as smooth as a step of ε makes it.

Vehicles of one group push each other in one system: what a ball does to another hull acts on that
hull. It is solved by conjugate gradients, each vehicle's own 6 × 6 block as the preconditioner.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.contact import symmetric
from seatrial.core.contact.hull import Contact
from seatrial.core.contact.load import Load, together, told, told_to_mate, untouched
from seatrial.core.contact.surfaces import (
    CANDIDATES,
    Surface,
    balls,
    bottom,
    neighbours,
    points,
    solid,
)
from seatrial.geometry import shapes
from seatrial.geometry.grid import HeightGrid
from seatrial.ocean import Ocean
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Scalar, Twist, Vec3, add, cross, dot, scale, subtract

FRICTION = 0.5
"""Coulomb coefficient of a hull on sand, concrete or another hull."""
CREEP = 5e-5
"""ε, m/s."""
ONSET = 0.0005
"""Over which the damper comes in, m."""
YIELD = 4.0
"""c over h k, time steps in which a dent goes back: what strikes hardly bounces."""
ROUNDS = 3
"""Of guessing who presses and how hard it rubs."""
GRADIENTS = 6
"""Steps of conjugate gradients in each."""
TINY = 1e-30
"""Keeps a quotient of nothing by nothing from spreading."""
SANE = 1e4
"""Faster than this, m/s or rad/s, a vehicle has diverged, and touches nobody."""


class Moved(NamedTuple):
    """Vehicles at the end of a time step without contact."""

    place: Vec3
    turned: Rotation
    velocity: Twist
    """ν_f."""
    before: Twist
    """ν as the step began."""


class _Mate(NamedTuple):
    """The vehicle of the same group at the other side of a touch, (P, N) each."""

    which: jax.Array
    there: jax.Array
    """1, or 0 where it is none."""
    foot: Vec3
    """In its own axes, from its origin."""
    turned: Rotation
    """From its axes to those of the one whose ball it is."""
    number: jax.Array
    """(N,) of the one whose ball it is, as `BOTTOM` says."""


class _Touch(NamedTuple):
    """The balls of hulls against one surface, (P, ...) each, in the hulls' own axes."""

    partner: Scalar
    """As `BOTTOM` says."""
    normal: Vec3
    foot: Vec3
    """Where a ball touches, from the hull's origin."""
    dent: Scalar
    """δ."""
    free: Vec3
    """u_f."""
    bias: Scalar
    """b, N."""
    drag: Scalar
    """D, N s/m."""
    grip: Scalar
    """Most that w may be, N s/m."""
    mate: _Mate | None
    down: Vec3 | None
    """Between craft afloat, which push and rub each other level and at the height of their origins,
    so that nobody is rolled over or lifted by another; None elsewhere."""


class _Law(NamedTuple):
    """F of one guess."""

    bias: Scalar
    drag: Scalar
    weight: Scalar


def near(
    model: Contact, ocean: Ocean, place: Vec3, turned: Rotation, t: jax.Array, afloat: bool
) -> jax.Array | None:
    """Whether any of the vehicles may touch anything; None where there is nothing to touch."""
    found: list[jax.Array] = []
    if ocean.seabed is not None:
        depth = ocean.seabed.depth
        if isinstance(depth, HeightGrid):
            gap = bottom(model, ocean.seabed, balls(model, place, turned)).gap
        else:
            gap = depth - place[2] - model.reach
        found.append(jnp.any(jnp.asarray(gap) < 0.0))
    if ocean.solids is not None:
        solids = shapes.underway(ocean.solids, t)
        found.append(jnp.any(shapes.gaps(solids, place) < model.reach))
    others = neighbours(model, place, turned, t, afloat)
    if others is not None:
        away = [q - p for p, q in zip(place, others.position, strict=True)]
        apart = jnp.sqrt(sum(d * d for d in away))
        found.append(jnp.any(apart < others.reach[0] + model.reach))
    return jnp.any(jnp.stack(found)) if found else None


def pushed(
    model: Contact,
    response: symmetric.Rows,
    ocean: Ocean,
    moved: Moved,
    t: jax.Array,
    dt: float,
    share: float,
    afloat: bool,
) -> tuple[list[Scalar], Load]:
    """What contact adds to the velocity by the end of the step, at `t`, and what was touched.

    `response` is M⁻¹.
    """
    place, turned = moved.place, moved.turned
    at = balls(model, place, turned)
    surfaces: list[Surface] = []
    if ocean.seabed is not None:
        surfaces.append(bottom(model, ocean.seabed, at))
    if ocean.solids is not None:
        solids = shapes.riding(shapes.underway(ocean.solids, t), t)
        surfaces.append(solid(model, shapes.near(solids, place, CANDIDATES), at))
    others = neighbours(model, place, turned, t, afloat)
    if others is not None:
        surfaces.append(solid(model, others, at, model.kin))
    touches = [_touch(model, moved, surface, dt, share, afloat) for surface in surfaces]
    change, laws = _solved(symmetric.inverse(response), touches, moved, dt)
    like = jnp.asarray(moved.velocity.u)
    added: list[Scalar] = [jnp.broadcast_to(c, like.shape).astype(like.dtype) for c in change]
    return added, _load(touches, laws, change, place, turned)


def _touch(
    model: Contact, moved: Moved, surface: Surface, dt: float, share: float, afloat: bool
) -> _Touch:
    turned = moved.turned
    nx, ny, nz = turned.to_body(surface.normal)
    normal: Vec3 = (nx, ny, nz)
    foot = subtract(points(model, jnp.ndim(moved.place[2])), scale(model.radius, normal))
    dent = -jnp.asarray(surface.gap)
    k: Scalar = model.stiffness
    c: Scalar = YIELD * dt * k
    grip: Scalar = jnp.inf
    mate = down = None
    if surface.mate is not None:
        assert surface.stiffness is not None
        assert surface.damping is not None
        if afloat:
            down = turned.down
            foot = _level(foot, down)
        mate = _mate(model, moved, surface.mate, foot, afloat)
        own = surface.mate >= 0
        sane = jnp.abs(jnp.stack([jnp.asarray(v) for v in moved.velocity])).max(axis=0) < SANE
        dent = jnp.where(sane & jnp.where(own, sane[mate.which], True), dent, -1.0)
        # One of another group is known late: its spring is soft, and shared by the balls.
        touching = jnp.maximum(jnp.sum(dent > 0.0, axis=0), 1)
        k = jnp.where(own, k, surface.stiffness / touching)
        c = jnp.where(own, c, surface.damping / touching)
        grip = jnp.where(own, jnp.inf, c)
    elif surface.stiffness is not None and surface.damping is not None:
        # An infinite fender leaves k as it is.
        k, c = k / (1.0 + k / surface.stiffness), jnp.minimum(c, surface.damping)
    free = _at(moved.velocity, foot)
    if surface.velocity is not None:
        free = subtract(free, turned.to_body(surface.velocity))
    if mate is not None:
        free = subtract(free, _of_mate(mate, moved.velocity))
    onset = jnp.clip(dent / ONSET, 0.0, 1.0)
    return _Touch(
        partner=surface.partner,
        normal=normal,
        foot=foot,
        dent=dent,
        free=free,
        bias=k * (dent + share * dt * dot(normal, free)),
        drag=k * (share * dt) + c * onset,
        grip=grip,
        mate=mate,
        down=down,
    )


def _mate(model: Contact, moved: Moved, which: jax.Array, foot: Vec3, level: bool) -> _Mate:
    there, which = which >= 0, jnp.maximum(which, 0)

    def of(values: Scalar) -> jax.Array:
        return jnp.asarray(values)[which]

    theirs = Rotation(*(of(r) for r in moved.turned))
    world = add(moved.place, moved.turned.to_world(foot))
    away = subtract(world, (of(moved.place[0]), of(moved.place[1]), of(moved.place[2])))
    if level:
        away = (away[0], away[1], jnp.zeros_like(jnp.asarray(away[2])))
    columns = [
        moved.turned.to_body((theirs.r00, theirs.r10, theirs.r20)),
        moved.turned.to_body((theirs.r01, theirs.r11, theirs.r21)),
        moved.turned.to_body((theirs.r02, theirs.r12, theirs.r22)),
    ]
    between = Rotation(*(columns[j][i] for i in range(3) for j in range(3)))
    assert model.number is not None
    here = there.astype(jnp.result_type(world[0]))
    return _Mate(which, here, theirs.to_body(away), between, model.number)


def _level(way: Vec3, down: Vec3) -> Vec3:
    """What of a way is level."""
    return subtract(way, scale(dot(way, down), down))


def _at(velocity: Twist, foot: Vec3) -> Vec3:
    """J ν."""
    return add(velocity.linear, cross(velocity.angular, foot))


def _of_mate(mate: _Mate, velocity: Twist) -> Vec3:
    """Velocity of the other side of a touch, in the axes of the one whose ball it is."""
    theirs = Twist(*(jnp.asarray(v)[mate.which] for v in velocity))
    return scale(mate.there, mate.turned.to_world(_at(theirs, mate.foot)))


def _change_of_slip(touch: _Touch, change: Twist) -> Vec3:
    moving = _at(change, touch.foot)
    return moving if touch.mate is None else subtract(moving, _of_mate(touch.mate, change))


def _slip(touch: _Touch, change: Twist) -> Vec3:
    """u after a change of the velocities."""
    return add(touch.free, _change_of_slip(touch, change))


def _law(touch: _Touch, slip: Vec3) -> _Law:
    """Who presses, and how hard it rubs, by the last guess."""
    closing = -dot(slip, touch.normal)
    push = jnp.maximum(touch.bias + touch.drag * closing, 0.0)
    push = jnp.where(touch.dent > 0.0, push, 0.0)
    along = add(slip, scale(closing, touch.normal))
    if touch.down is not None:
        along = _level(along, touch.down)
    most = FRICTION * push
    weight = most / (jnp.sqrt(dot(along, along) + CREEP**2) + most / touch.grip)
    pressing = push > 0.0
    return _Law(jnp.where(pressing, touch.bias, 0.0), jnp.where(pressing, touch.drag, 0.0), weight)


def _resisted(touch: _Touch, law: _Law, slip: Vec3) -> Vec3:
    """W u."""
    across = (law.drag - law.weight) * dot(touch.normal, slip)
    if touch.down is not None:
        slip = _level(slip, touch.down)
    return add(scale(law.weight, slip), scale(across, touch.normal))


def _force(touch: _Touch, law: _Law, slip: Vec3) -> Vec3:
    """F, on the hull whose ball it is."""
    return subtract(scale(law.bias, touch.normal), _resisted(touch, law, slip))


def _gathered(touch: _Touch, force: Vec3) -> list[jax.Array]:
    """Σ Jᵀ F over the balls, and over those of others that touch a hull."""
    whole = jnp.shape(touch.dent)
    rows = [jnp.broadcast_to(f, whole) for f in (*force, *cross(touch.foot, force))]
    found = [jnp.sum(row, axis=0) for row in rows]
    mate = touch.mate
    if mate is None:
        return found
    back = mate.turned.to_body(scale(-mate.there, force))
    return [
        row.at[mate.which].add(r)
        for row, r in zip(found, (*back, *cross(mate.foot, back)), strict=True)
    ]


def _block(mass: symmetric.Rows, touches: list[_Touch], laws: list[_Law], dt: float
           ) -> list[list[Scalar]]:  # fmt: skip
    """M + h Σ Jᵀ W J of each hull by itself, its lower half."""
    matrix = [list(row) for row in mass]
    for touch, law in zip(touches, laws, strict=True):
        (x, y, z), w = touch.foot, jnp.broadcast_to(law.weight, jnp.shape(touch.dent))
        row = (*touch.normal, *cross(touch.foot, touch.normal))
        down = touch.down
        rise = None if down is None else (*down, *cross(touch.foot, down))
        # w [1, −S(r)]ᵀ [1, −S(r)]
        turning: dict[tuple[int, int], Scalar] = {
            (0, 0): w, (1, 1): w, (2, 2): w,
            (3, 1): -w * z, (3, 2): w * y, (4, 0): w * z,
            (4, 2): -w * x, (5, 0): -w * y, (5, 1): w * x,
            (3, 3): w * (y * y + z * z), (4, 4): w * (x * x + z * z), (5, 5): w * (x * x + y * y),
            (4, 3): -w * x * y, (5, 3): -w * x * z, (5, 4): -w * y * z,
        }  # fmt: skip
        for i in range(6):
            for j in range(i + 1):
                term = (law.drag - law.weight) * row[i] * row[j] + turning.get((i, j), 0.0)
                if rise is not None:
                    term = term - w * rise[i] * rise[j]
                matrix[i][j] = matrix[i][j] + dt * jnp.sum(term, axis=0)
    return matrix


def _solved(
    mass: symmetric.Rows, touches: list[_Touch], moved: Moved, dt: float
) -> tuple[Twist, list[_Law]]:
    """ν − ν_f, and the forces' laws of the last guess."""
    coupled = any(touch.mate is not None for touch in touches)

    def total(forces: list[Vec3]) -> list[jax.Array]:
        rows = [_gathered(*one) for one in zip(touches, forces, strict=True)]
        return [dt * sum(row[1:], start=row[0]) for row in zip(*rows, strict=True)]

    def guess(_: int, last: tuple[jax.Array, list[_Law]]) -> tuple[jax.Array, list[_Law]]:
        change = last[0]
        laws = [_law(touch, _slip(touch, Twist(*change))) for touch in touches]
        forces = [_force(touch, law, touch.free) for touch, law in zip(touches, laws, strict=True)]
        block = symmetric.factor(_block(mass, touches, laws, dt))

        def operated(x: jax.Array) -> jax.Array:
            """(M + h Σ Jᵀ W J) x."""
            resisting = [
                _resisted(touch, law, _change_of_slip(touch, Twist(*x)))
                for touch, law in zip(touches, laws, strict=True)
            ]
            own = symmetric.multiply(mass, list(x))
            return jnp.stack([a + b for a, b in zip(own, total(resisting), strict=True)])

        def conditioned(x: jax.Array) -> jax.Array:
            return jnp.stack(symmetric.solve(block, list(x)))

        wanted = jnp.stack(total(forces))
        if coupled:
            return _conjugate(operated, conditioned, wanted, change), laws
        return conditioned(wanted), laws

    started = jnp.stack(
        [jnp.asarray(b - f) for b, f in zip(moved.before, moved.velocity, strict=True)]
    )
    none = [_Law(*[jnp.zeros_like(touch.dent)] * 3) for touch in touches]
    change, laws = jax.lax.fori_loop(0, ROUNDS, guess, (started, none))
    return Twist(*change), laws


def _conjugate(
    operated: Callable[[jax.Array], jax.Array],
    conditioned: Callable[[jax.Array], jax.Array],
    wanted: jax.Array,
    first: jax.Array,
) -> jax.Array:
    """Conjugate gradients, preconditioned; Hestenes and Stiefel (1952)."""

    def onward(_: int, at: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        x, rest, along, size = at
        image = operated(along)
        way = size / (jnp.sum(along * image) + TINY)
        rest = rest - way * image
        better = conditioned(rest)
        later = jnp.sum(rest * better)
        return x + way * along, rest, better + later / (size + TINY) * along, later

    rest = wanted - operated(first)
    better = conditioned(rest)
    at = (first, rest, better, jnp.sum(rest * better))
    found: jax.Array = jax.lax.fori_loop(0, GRADIENTS, onward, at)[0]
    return found


def _load(
    touches: list[_Touch], laws: list[_Law], change: Twist, place: Vec3, turned: Rotation
) -> Load:
    """What was touched, by the forces of the last guess."""
    found = untouched(jnp.asarray(change.u))
    for touch, law in zip(touches, laws, strict=True):
        force = _force(touch, law, _slip(touch, Twist(*change)))
        sizes = jnp.sqrt(dot(force, force))
        world = add(place, turned.to_world(touch.foot))
        found = together(found, told(sizes, world, touch.partner))
        if touch.mate is not None:
            mate = touch.mate
            felt = told_to_mate(sizes * mate.there, world, mate.which, mate.number)
            found = together(found, felt)
    return found
