"""Signed distances to the solids of a world, for the compiled loop: contact and beams.

Boxes, upright cylinders, spheres and capsules are one formula with numbers of their own: a core of
half sizes h, grown by a radius r all around. With q = |p| − h in the solid's own axes, where a
cylinder has |(x, y)| − h_x in place of the first two,

    d = |max(q, 0)| + min(max(q_x, q_y, q_z), 0) − r

is exact, outside and inside. A convex polygon from a top to a bottom has the largest distance to
its planes: exact inside and beside its faces, too small beyond its edges, so that a ray which goes
on by it never passes a surface. A mesh has a distance field on a grid (`fields`).

Arrays count solids on their second axis; further axes, if any, are those of the points.
"""

from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp

from seatrial.geometry.fields import NODES
from seatrial.geometry.solids import FAR, Fields, Prisms, Rides, Solids
from seatrial.spatial.vectors import Scalar, Vec3, add, scale

TINY = 1e-9
"""Added to lengths, m, so that their gradients exist at zero."""
Rows = Callable[[jax.Array], list[jax.Array]]
"""Gives the components of an array of solids, each with axes for the points."""


def distance(solids: Solids, point: Vec3) -> tuple[jax.Array, Vec3, jax.Array]:
    """Distance from points to the nearest solid (negative inside), its outward normal there in the
    world's axes, and which row of `solids` it is.

    Solids that move are where they were `placed`. `solids` may hold the same for every point, or
    on further axes others for each.
    """
    found, normal = distances(solids, point)
    nearest = nearest_of(found)
    x, y, z = (mean_of(nearest, n) for n in normal)
    rows = jnp.arange(found.shape[0], dtype=jnp.int32).reshape(-1, *(1,) * (found.ndim - 1))
    return jnp.min(found, axis=0), (x, y, z), jnp.max(jnp.where(nearest, rows, 0), axis=0)


def nearest_of(found: jax.Array) -> jax.Array:
    """(M, ...) which solid is the nearest to each point: one of them, or several as near.

    Whoever wants something of it reduces over this choice (`mean_of`): on a CPU, looking it up by
    its number costs several times more.
    """
    return found == jnp.min(found, axis=0)


def mean_of(chosen: jax.Array, values: Scalar) -> jax.Array:
    """Mean over the first axis of what is chosen."""
    return jnp.sum(jnp.where(chosen, values, 0.0), axis=0) / jnp.sum(chosen, axis=0)


def distances(solids: Solids, point: Vec3) -> tuple[jax.Array, Vec3]:
    """(M, ...) to every solid, and the normals."""
    whole = jnp.broadcast_shapes(*(jnp.shape(c) for c in point))

    def rows(values: jax.Array) -> list[jax.Array]:
        """The components of an array, each (M, ...) with axes for the points."""
        more = values.shape[2:]
        shape = (*values.shape[:2], *(1,) * (len(whole) - len(more)), *more)
        return list(values.reshape(shape))

    r = rows(solids.axes)
    ax, ay, az = (
        jnp.asarray(p)[None] - c for p, c in zip(point, rows(solids.position), strict=True)
    )
    lx, ly, lz = (r[i] * ax + r[3 + i] * ay + r[6 + i] * az for i in range(3))
    local = (lx, ly, lz)
    found, normal = _core_distance(
        local, rows(solids.half), rows(solids.radius)[0], rows(solids.upright)[0] > 0.5
    )
    if solids.prisms is not None:
        found, normal = _prism_distance(solids.prisms, rows, local, rows(solids.half)[2], found,
                                        normal)  # fmt: skip
    if solids.fields is not None:
        found, normal = _field_distance(solids.fields, rows, local, found, normal)
    nx, ny, nz = normal
    x, y, z = (r[3 * i] * nx + r[3 * i + 1] * ny + r[3 * i + 2] * nz for i in range(3))
    return found, (x, y, z)


def placed(solids: Solids, t: Scalar) -> Solids:
    """The solids with those that move where they are at a time, and how fast."""
    return riding(underway(solids, t), t)


def underway(solids: Solids, t: Scalar) -> Solids:
    """The solids with those on a timetable where they are at a time."""
    on = solids.timetables
    if on is None or solids.velocity is None:
        return solids
    time = jnp.asarray(t, jnp.float64)
    dtype = solids.position.dtype
    stretch = jnp.maximum(jnp.sum(time >= on.since, axis=0) - 1, 0)

    def now(values: jax.Array) -> jax.Array:
        return jnp.take_along_axis(values, stretch[None, None], axis=0)[0]

    since = jnp.take_along_axis(on.since, stretch[None], axis=0)[0]
    speed = now(on.velocity)
    place = now(on.position) + speed * (time - since)
    c, s = now(on.facing)
    axes = solids.axes
    for i, value in ((0, c), (1, -s), (3, s), (4, c)):
        axes = axes.at[i, on.row].set(value.astype(dtype))
    return replace(
        solids,
        position=solids.position.at[:2, on.row].set(place.astype(dtype)),
        velocity=solids.velocity.at[:2, on.row].set(speed.astype(dtype)),
        axes=axes,
        timetables=None,
    )


def riding(solids: Solids, t: Scalar) -> Solids:
    """The solids with those that float where the waves have them at a time."""
    ride = solids.rides
    if ride is None or solids.velocity is None:
        return solids
    time = jnp.asarray(t, jnp.float64)
    dtype = solids.position.dtype
    off, rate = jax.jvp(lambda at: _ridden(ride, at), (time,), (jnp.ones_like(time),))
    return replace(
        solids,
        position=solids.position.at[:, ride.row].add(off.astype(dtype)),
        velocity=solids.velocity.at[:, ride.row].set(rate.astype(dtype)),
        rides=None,
    )


def near(solids: Solids, place: Vec3, count: int, wanted: jax.Array | bool = True) -> Solids:
    """The `count` solids whose balls are nearest to each place, those that are `wanted` (M, ...)
    first; places' axes come after theirs."""
    if solids.position.shape[1] <= count:
        return solids
    gap = gaps(solids, place) if wanted is True else jnp.where(wanted, gaps(solids, place), FAR)
    _, which = jax.lax.top_k(-jnp.moveaxis(gap, 0, -1), count)
    which = jnp.moveaxis(which, -1, 0)

    def some(values: jax.Array) -> jax.Array:
        return values[:, which]

    prisms, fields = solids.prisms, solids.fields
    return replace(
        solids,
        position=some(solids.position),
        axes=some(solids.axes),
        half=some(solids.half),
        radius=some(solids.radius),
        upright=some(solids.upright),
        reach=some(solids.reach),
        stiffness=some(solids.stiffness),
        damping=some(solids.damping),
        body=some(solids.body),
        velocity=None if solids.velocity is None else some(solids.velocity),
        prisms=None
        if prisms is None
        else Prisms(prisms.normal[:, which], prisms.offset[:, which], prisms.there[which]),
        fields=None
        if fields is None
        else Fields(fields.values, fields.number[which], some(fields.origin), some(fields.spacing)),
    )


def gaps(solids: Solids, place: Vec3) -> jax.Array:
    """(M, ...) from places to the balls around the solids, negative within; cheap."""
    x, y, z = (
        jnp.asarray(p)[None] - c.reshape(-1, *(1,) * jnp.ndim(p))
        for p, c in zip(place, solids.position, strict=True)
    )
    reach = solids.reach[0].reshape(-1, *(1,) * jnp.ndim(place[0]))
    return jnp.sqrt(x * x + y * y + z * z) - reach


def pierced(solids: Solids, start: Vec3, along: Vec3, farthest: Scalar) -> jax.Array:
    """(M, ...) whether one of the rays (B, ...) from a place may meet each solid: it goes through
    its ball, nearer than `farthest`."""
    tail = (1,) * jnp.ndim(start[0])
    away = [
        c.reshape(-1, *tail) - jnp.asarray(p)[None]
        for p, c in zip(start, solids.position, strict=True)
    ]
    reach = solids.reach[0].reshape(-1, *tail)
    square = sum(d * d for d in away)
    ahead = sum(d[:, None] * jnp.asarray(b)[None] for d, b in zip(away, along, strict=True))
    aside = square[:, None] - ahead * ahead
    through = (aside <= reach[:, None] ** 2) & (ahead >= -reach[:, None])
    return jnp.any(through, axis=1) & (jnp.sqrt(square) - reach < farthest)


def cast(
    solids: Solids, start: Vec3, along: Vec3, reach: Scalar, steps: int
) -> tuple[jax.Array, jax.Array]:
    """How far rays along unit vectors go before they meet a solid, `reach` where they do not, and
    which row it is, −1 for none.

    Sphere tracing (Hart 1996): a ray goes on by the distance to the nearest solid, which it cannot
    pass, `steps` times; one that grazes a surface may still be under way then and counts as having
    met nothing.
    """

    def onward(_: int, way: jax.Array) -> jax.Array:
        free = distance(solids, add(start, scale(way, along)))[0]
        return jnp.minimum(way + jnp.maximum(free, 0.0), reach)

    shape = jnp.broadcast_shapes(*(jnp.shape(c) for c in (*start, *along, reach)))
    way = jax.lax.fori_loop(0, steps, onward, jnp.zeros(shape, jnp.result_type(*start)))
    found, _, row = distance(solids, add(start, scale(way, along)))
    met = (found < 1e-3 * (1.0 + 0.01 * way)) & (way < reach)
    return jnp.where(met, way, reach), jnp.where(met, row, -1)


def _core_distance(
    local: Vec3, half: list[jax.Array], radius: jax.Array, upright: jax.Array
) -> tuple[jax.Array, Vec3]:
    """Distance to a core that is grown by a radius, and its gradient, in the solid's axes."""
    x, y, z = (jnp.asarray(c) for c in local)
    level = jnp.sqrt(x * x + y * y + TINY * TINY)
    a = jnp.where(upright, level, jnp.abs(x)) - half[0]
    b = jnp.where(upright, -FAR, jnp.abs(y) - half[1])
    c = jnp.abs(z) - half[2]
    out = [jnp.maximum(q, 0.0) for q in (a, b, c)]
    outside = jnp.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + TINY * TINY)
    deepest = jnp.maximum(jnp.maximum(a, b), c)
    found = jnp.where(deepest > 0.0, outside, deepest) - radius
    # Outside a core the gradient points away from its nearest place, inside through its next face.
    ga, gb, gc = (
        jnp.where(deepest > 0.0, q / outside, (inner >= deepest).astype(found.dtype))
        for q, inner in zip(out, (a, b, c), strict=True)
    )
    nx = jnp.where(upright, x / level, jnp.sign(x)) * ga
    ny = jnp.where(upright, y / level * ga, jnp.sign(y) * gb)
    return found, (nx, ny, jnp.sign(z) * gc)


def _prism_distance(
    prisms: Prisms,
    rows: Rows,
    local: Vec3,
    half_height: jax.Array,
    found: jax.Array,
    normal: Vec3,
) -> tuple[jax.Array, Vec3]:
    """Those that are prisms with the largest distance to their planes in place of their core's."""
    x, y, z = local
    normals = [rows(n[..., i]) for n in (prisms.normal,) for i in (0, 1)]
    offsets = rows(prisms.offset)
    farthest = jnp.abs(z) - half_height
    nx, ny, nz = jnp.zeros_like(farthest + x), jnp.zeros_like(farthest + x), jnp.sign(z)
    for px, py, c in zip(*normals, offsets, strict=True):
        plane = px * x + py * y - c
        real = px * px + py * py > 0.5
        plane = jnp.where(real, plane, -FAR)
        nearer = plane > farthest
        nx, ny, nz = (jnp.where(nearer, new, old) for new, old in ((px, nx), (py, ny), (0.0, nz)))
        farthest = jnp.maximum(plane, farthest)
    there = rows(prisms.there[None])[0]
    return jnp.where(there, farthest, found), _choose(there, (nx, ny, nz), normal)


def _field_distance(
    fields: Fields, rows: Rows, local: Vec3, found: jax.Array, normal: Vec3
) -> tuple[jax.Array, Vec3]:
    """Those that are meshes with what their field says, linear between its nodes.

    Beyond the grid d ≥ √(e² + f²), e the way to the grid's nearest place and f the field there: the
    mesh lies within the grid, and the angle at that place is obtuse.
    """
    number = rows(fields.number[None])[0]
    there = number >= 0
    origin, spacing = rows(fields.origin), rows(fields.spacing)
    cell, share, beyond = [], [], []
    for p, o, h in zip(local, origin, spacing, strict=True):
        u = (p - o) / h
        inside = jnp.clip(u, 0.0, NODES - 1.0)
        i = jnp.clip(jnp.floor(inside).astype(jnp.int32), 0, NODES - 2)
        cell.append(i)
        share.append(inside - i)
        beyond.append((u - inside) * h)
    first = jnp.where(there, number, 0) * NODES**3

    def node(a: int, b: int, c: int) -> jax.Array:
        i, j, k = (n + step for n, step in zip(cell, (a, b, c), strict=True))
        value: jax.Array = fields.values[first + (i * NODES + j) * NODES + k]
        return value

    s, t, u = share
    corner = {(a, b, c): node(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)}

    def blend(a: Scalar, b: Scalar, w: Scalar) -> Scalar:
        return a + w * (b - a)

    edge = {(b, c): blend(corner[0, b, c], corner[1, b, c], s) for b in (0, 1) for c in (0, 1)}
    side = {c: blend(edge[0, c], edge[1, c], t) for c in (0, 1)}
    value = blend(side[0], side[1], u)
    rise = {(b, c): corner[1, b, c] - corner[0, b, c] for b in (0, 1) for c in (0, 1)}
    gx = blend(blend(rise[0, 0], rise[1, 0], t), blend(rise[0, 1], rise[1, 1], t), u)
    gy = blend(edge[1, 0] - edge[0, 0], edge[1, 1] - edge[0, 1], u)
    gz = side[1] - side[0]
    gradient = [g / h for g, h in zip((gx, gy, gz), spacing, strict=True)]
    length = jnp.sqrt(sum(g * g for g in gradient) + TINY * TINY)
    off2 = sum(e * e for e in beyond)
    outside = off2 > 0.0
    far = jnp.sqrt(jnp.where(outside, off2, 1.0) + jnp.maximum(value, 0.0) ** 2)
    new = jnp.where(outside, far, value)
    # Beyond the grid both lead away from the mesh: the way from the grid, and up the field there.
    directions = [
        jnp.where(outside, e + jnp.maximum(value, 0.0) * g / length, g)
        for e, g in zip(beyond, gradient, strict=True)
    ]
    norm = jnp.sqrt(sum(d * d for d in directions) + TINY * TINY)
    x, y, z = (d / norm for d in directions)
    return jnp.where(there, new, found), _choose(there, (x, y, z), normal)


def _choose(there: jax.Array, new: Vec3, old: Vec3) -> Vec3:
    x, y, z = (jnp.where(there, a, b) for a, b in zip(new, old, strict=True))
    return x, y, z


def _ridden(ride: Rides, t: jax.Array) -> jax.Array:
    """(3, B) from where they are in a calm, m."""
    angle = (ride.omega * t)[:, None] + ride.phase
    along = ride.sway * jnp.sin(angle)
    north = ride.lean[0] + jnp.cos(ride.direction) @ along
    east = ride.lean[1] + jnp.sin(ride.direction) @ along
    off = jnp.sqrt(north * north + east * east + TINY * TINY)
    held = jnp.minimum(1.0, ride.radius / off)
    return jnp.stack([held * north, held * east, -(ride.amplitude @ jnp.cos(angle))])
