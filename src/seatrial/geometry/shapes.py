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

from collections.abc import Callable, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike, NDArray

from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.fields import NODES, distance_field
from seatrial.pytree import constant, pytree
from seatrial.spatial.vectors import Scalar, Vec3, add, scale

Array = NDArray[np.float64]

FAR = 1e7
"""Where the rows lie that stand for no solid, m."""
TINY = 1e-9
"""Added to lengths, m, so that their gradients exist at zero."""
LEAST_ROOM = 4
Rows = Callable[[jax.Array], list[jax.Array]]
"""Gives the components of an array of solids, each with axes for the points."""


@pytree
class Prisms:
    """Half planes of convex outlines, n · (x, y) ≤ c in the solid's own axes."""

    normal: jax.Array
    """(E, M, 2)."""
    offset: jax.Array
    """(E, M) m; 0 with a zero normal, and so never the farthest, where there are fewer."""
    there: jax.Array
    """(M,) which solids are prisms."""


@pytree
class Fields:
    """Distances to meshes at the nodes of a grid around each."""

    values: jax.Array
    """(F × NODES³,) one field after the other, m."""
    number: jax.Array
    """(M,) which field a solid has; −1 for none."""
    origin: jax.Array
    """(3, M) of the first node in the solid's own axes, m."""
    spacing: jax.Array
    """(3, M) between nodes, m."""


@pytree
class Timetables:
    """Solids that move along straight stretches."""

    row: jax.Array
    """(A,) which solid."""
    since: jax.Array
    """(S, A) when each stretch begins, s; infinite for one that never does."""
    position: jax.Array
    """(S, 2, A) m."""
    velocity: jax.Array
    """(S, 2, A) m/s."""
    facing: jax.Array
    """(S, 2, A) cosine and sine of the heading."""


@pytree
class Rides:
    """Solids that follow the waves, as `bodies.Ride` says."""

    row: jax.Array
    """(B,) which solid."""
    amplitude: jax.Array
    """(C,) m."""
    sway: jax.Array
    """(C, B) m."""
    omega: jax.Array
    """(C,) rad/s, double."""
    phase: jax.Array
    """(C, B) rad, double."""
    direction: jax.Array
    """(C,) rad."""
    lean: jax.Array
    """(2, B) m."""
    radius: jax.Array
    """(B,) m."""


@pytree
class Solids:
    """M solids."""

    position: jax.Array
    """(3, M) NED, m; of those that move, once they are placed."""
    axes: jax.Array
    """(9, M) rotation from their own axes to the world's, row by row."""
    half: jax.Array
    """(3, M) half sizes of the core, m."""
    radius: jax.Array
    """(1, M) by which it is grown, m."""
    upright: jax.Array
    """(1, M) 1 for a cylinder, whose half sizes are its radius, anything and half its height."""
    reach: jax.Array
    """(1, M) of a ball around `position` that holds it wherever it moves by the waves, m."""
    stiffness: jax.Array
    """(1, M) of its fender, N/m; infinite for a hard one."""
    damping: jax.Array
    """(1, M) of its fender, N s/m; infinite for a hard one."""
    body: jax.Array
    """(1, M) its place in the list of bodies; −1 for rows that stand for none."""
    velocity: jax.Array | None = None
    """(3, M) over ground, m/s; None where nothing moves."""
    prisms: Prisms | None = None
    fields: Fields | None = None
    timetables: Timetables | None = None
    rides: Rides | None = None


def build_solids(bodies: Sequence[Body], dtype: DTypeLike = np.float64) -> Solids | None:
    """All bodies but vehicles; None where there are none. Arrays have room for 4, 8, 16, … ."""
    listed = [(i, body) for i, body in enumerate(bodies) if body.shape != "vehicle"]
    if not listed:
        return None
    room = LEAST_ROOM
    while room < len(listed):
        room *= 2
    position = np.full((3, room), FAR)
    axes = np.repeat(np.eye(3).reshape(9, 1), room, axis=1)
    half, radius, upright, reach = (np.zeros((n, room)) for n in (3, 1, 1, 1))
    stiffness, damping = np.full((2, 1, room), np.inf)
    number = np.full((1, room), -1)
    for m, (i, body) in enumerate(listed):
        place, turned = body.pose(0.0)
        position[:, m] = place if body.ride is None else np.asarray(body.position)
        axes[:, m] = turned.ravel()
        half[:, m], radius[0, m], upright[0, m] = _core(body)
        corners = body.mesh().vertices
        reach[0, m] = np.linalg.norm(corners, axis=1).max() + _roams(body)
        number[0, m] = i
        if body.fender is not None:
            stiffness[0, m], damping[0, m] = body.fender.stiffness, body.fender.damping
    only = [body for _, body in listed]
    moving = any(body.moves for body in only)
    return Solids(
        position=constant(position, dtype),
        axes=constant(axes, dtype),
        half=constant(half, dtype),
        radius=constant(radius, dtype),
        upright=constant(upright, dtype),
        reach=constant(reach, dtype),
        stiffness=constant(stiffness, dtype),
        damping=constant(damping, dtype),
        body=constant(number, np.int32),
        velocity=constant(np.zeros((3, room)), dtype) if moving else None,
        prisms=_prisms(only, room, dtype),
        fields=_fields(only, room, dtype),
        timetables=_timetables(only, dtype),
        rides=_rides(only),
    )


def with_rides(solids: Solids, bodies: Sequence[Body]) -> Solids:
    """The same solids, of which those afloat follow other waves; all but vehicles, in order."""
    return replace(solids, rides=_rides(list(bodies)))


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


def _core(body: Body) -> tuple[list[float], float, float]:
    """Half sizes, radius by which they are grown, and whether it is upright and round."""
    if body.shape == "sphere":
        return [0.0, 0.0, 0.0], body.radius, 0.0
    if body.shape in ("cylinder", "circle"):
        return [body.radius, body.radius, 0.5 * body.height], 0.0, 1.0
    if body.shape in ("mesh", "polygon"):
        return np.abs(body.mesh().vertices).max(axis=0).tolist(), 0.0, 0.0
    height = body.height or body.beam
    return [0.5 * body.length, 0.5 * body.beam, 0.5 * height], 0.0, 0.0


def _roams(body: Body) -> float:
    """How far the waves take it from its place, m."""
    if body.ride is None:
        return 0.0
    return float(body.ride.radius + np.sum(np.abs(body.ride.amplitude)))


def _prisms(bodies: list[Body], room: int, dtype: DTypeLike) -> Prisms | None:
    outlines = {m: b for m, b in enumerate(bodies) if b.shape == "polygon"}
    if not outlines:
        return None
    most = LEAST_ROOM
    while most < max(len(b.outline) for b in outlines.values()):  # type: ignore[arg-type]
        most *= 2
    normal, offset, there = np.zeros((most, room, 2)), np.zeros((most, room)), np.zeros(room, bool)
    for m, body in outlines.items():
        assert body.outline is not None
        assert body.position is not None
        corners = body.outline - body.position[:2]
        edge = np.roll(corners, -1, axis=0) - corners
        outward = np.stack([edge[:, 1], -edge[:, 0]], axis=1)
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        reach = np.sum(outward * corners, axis=1)
        if np.sum(reach) < 0.0:  # the outline goes the other way round
            outward, reach = -outward, -reach
        normal[: len(reach), m], offset[: len(reach), m], there[m] = outward, reach, True
    return Prisms(constant(normal, dtype), constant(offset, dtype), constant(there))


def _fields(bodies: list[Body], room: int, dtype: DTypeLike) -> Fields | None:
    """Fields of the meshes; those that share their vertices share a field."""
    rows = {m: body for m, body in enumerate(bodies) if body.shape == "mesh"}
    if not rows:
        return None
    number, origin, spacing = np.full(room, -1), np.zeros((3, room)), np.ones((3, room))
    kept: dict[int, tuple[int, Array, Array]] = {}
    values: list[NDArray[np.float32]] = []
    for m, body in rows.items():
        key = id(body.vertices)
        if key not in kept:
            field = distance_field(body.mesh())
            kept[key] = (len(values), field.origin, field.spacing)
            values.append(field.values.ravel())
        number[m], origin[:, m], spacing[:, m] = kept[key]
    return Fields(
        values=constant(np.concatenate(values), dtype),
        number=constant(number, np.int32),
        origin=constant(origin, dtype),
        spacing=constant(spacing, dtype),
    )


def _timetables(bodies: list[Body], dtype: DTypeLike) -> Timetables | None:
    moving = [(m, b, b.motion) for m, b in enumerate(bodies) if b.motion is not None]
    if not moving:
        return None
    most = LEAST_ROOM
    while most < max(len(way.since) for _, _, way in moving):
        most *= 2
    count = len(moving)
    since = np.full((most, count), np.inf)
    position, velocity, facing = np.zeros((3, most, 2, count))
    for a, (_, body, way) in enumerate(moving):
        stretches = len(way.since)
        since[:stretches, a] = way.since
        position[:stretches, :, a], velocity[:stretches, :, a] = way.position, way.velocity
        still = rotation_matrix(body.attitude)[:2, 0]
        speed = np.linalg.norm(way.velocity, axis=1, keepdims=True)
        facing[:stretches, :, a] = np.where(
            speed > 0.0, way.velocity / np.where(speed > 0.0, speed, 1.0), still
        )
    return Timetables(
        row=constant([m for m, _, _ in moving], np.int32),
        since=constant(since),
        position=constant(position),
        velocity=constant(velocity),
        facing=constant(facing, dtype),
    )


def _rides(bodies: list[Body]) -> Rides | None:
    afloat = [(m, body.ride) for m, body in enumerate(bodies) if body.ride is not None]
    if not afloat:
        return None
    first = afloat[0][1]
    return Rides(
        row=constant([m for m, _ in afloat], np.int32),
        amplitude=constant(first.amplitude),
        sway=constant(np.stack([ride.sway for _, ride in afloat], axis=1)),
        omega=constant(first.omega),
        phase=constant(np.stack([ride.phase for _, ride in afloat], axis=1)),
        direction=constant(first.direction),
        lean=constant(np.stack([ride.lean for _, ride in afloat], axis=1)),
        radius=constant([ride.radius for _, ride in afloat]),
    )
