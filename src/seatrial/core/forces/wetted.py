"""Forces on the triangles of a hull that are under the water now.

Every triangle is cut exactly where the surface, linear over it, crosses it. The pressure, linear
over what is left, is integrated exactly: with p_i and r_i at the corners of a wet piece of area A

    ∫ p dA = A/3 Σ p_i,   ∫ p r dA = A/12 (Σ p_i r_i + Σ p_i Σ r_i).

`Surface` adds what moving water does to each wet triangle, after Kerner (2015, Water interaction
model for boats in video games): friction along it and pressure or suction across it; and the
momentum of the water that a triangle meets when it enters (von Karman 1929) in place of his
clamped slamming force, which depends on the time step.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.core.forces import wave_patch
from seatrial.core.forces.wave_patch import LocalSea
from seatrial.pytree import pytree, static
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import (
    Scalar,
    Twist,
    Vec3,
    Wrench,
    add,
    cross,
    dot,
    scale,
    subtract,
    total,
    vec3,
)

VISCOSITY = 1.19e-6
"""Kinematic, of sea water at 15 °C (ITTC 7.5-02-01-03), m²/s."""


@pytree
class HullMesh:
    """A closed hull in body axes."""

    vertices: jax.Array
    """(3, V) m."""
    corners: jax.Array
    """(3, T) whole numbers: the columns of `vertices` at the corners of every triangle."""
    triangles: jax.Array
    """(3, 3, T) the same vertices, corner by corner."""


@pytree
class Surface:
    """What moving water does to a wet triangle."""

    length: jax.Array
    """Of the hull, for the Reynolds number, m."""
    form_factor: jax.Array
    """k of the viscous resistance (1 + k) C_F."""
    pressure: jax.Array
    """(2,) coefficients of |v| v_ref and of |v|² where the water is pushed."""
    suction: jax.Array
    """The same where it is left behind."""
    reference_speed: jax.Array
    """v_ref of the linear part, m/s."""
    slamming: jax.Array
    """Length of the water that an entering area takes along, m."""


@pytree
class CutHull:
    """A hull whose wet triangles are found at every instant."""

    mesh: HullMesh
    surface: Surface | None = None
    holds: bool = static(default=True)
    """Whether the pressure on it holds the craft up; False where only `surface` is wanted."""


class WetLoads(NamedTuple):
    """What the water does to a hull under its surface."""

    wrench: Wrench
    """Body axes, about the origin."""
    volume: Scalar
    """Displaced, m³."""


class _Piece(NamedTuple):
    """Wet triangles (T,): corners, depths under the surface, heads of pressure, vector of area."""

    points: tuple[Vec3, Vec3, Vec3]
    depths: tuple[Scalar, Scalar, Scalar]
    heads: tuple[Scalar, Scalar, Scalar]
    area: Vec3


def loads(
    hull: CutHull,
    sea: LocalSea | None,
    z: Scalar,
    turned: Rotation,
    relative: Twist,
    density: Scalar,
) -> WetLoads:
    """Loads on one vehicle whose origin is `z` deep; `relative` is its velocity through water that
    moves with the current alone."""
    vertices: Vec3 = (hull.mesh.vertices[0], hull.mesh.vertices[1], hull.mesh.vertices[2])
    offset = turned.to_world(vertices)
    depth, head = wave_patch.pressure_head(sea, offset, z + offset[2])
    barrier: Any = jax.lax.optimization_barrier  # computed once, not again for every corner
    depth, head = barrier((depth, head))
    points = [vec3(corner) for corner in hull.mesh.triangles]
    depths, heads = (
        [_at_corner(values, corner) for corner in hull.mesh.corners] for values in (depth, head)
    )
    pieces = _cut(points, depths, heads)
    volume = sum(jnp.sum(dot(p.area, turned.down) * sum(p.depths)) for p in pieces) / 3.0
    parts = [_pressure(piece, density * GRAVITY) for piece in pieces] if hull.holds else []
    if hull.surface is not None:
        flow = None
        if sea is not None:
            orbital = barrier(turned.to_body(wave_patch.velocity(sea, offset)))
            flow = [_at_corner(orbital, corner) for corner in hull.mesh.corners]
        parts.append(_moving(hull.surface, points, depths, pieces, turned, relative, density, flow))
    return WetLoads(total(parts), volume)


def _at_corner(values: Any, corner: jax.Array) -> Any:
    """Values (V,) or tuples of such at one corner of every triangle."""
    return jax.tree.map(lambda v: jnp.take(v, corner, mode="clip"), values)


def _cut(points: list[Vec3], depths: list[Scalar], heads: list[Scalar]) -> tuple[_Piece, _Piece]:
    """The wet part of every triangle as two triangles, either of which may be empty.

    With a the corner that is alone on its side of the surface, and ab, ac the points where the
    surface crosses its edges: (a, ab, ac) is wet when a is; else (ab, b, c) and (ab, c, ac) are.
    """
    wet = [d > 0.0 for d in depths]
    first = (wet[0] != wet[1]) & (wet[0] != wet[2])
    second = (wet[1] != wet[0]) & (wet[1] != wet[2])
    mixed = first | second | ((wet[2] != wet[0]) & (wet[2] != wet[1]))

    def choose(x: Any, y: Any, z: Any) -> Any:
        return jax.tree.map(lambda i, j, k: jnp.where(first, i, jnp.where(second, j, k)), x, y, z)

    corners = [(p, d, h) for p, d, h in zip(points, depths, heads, strict=True)]
    (a, da, ha), (b, db, hb), (c, dc, hc) = (
        choose(*(corners[(i + k) % 3] for i in range(3))) for k in range(3)
    )
    alone = mixed & (da > 0.0)
    dry = mixed & (da <= 0.0)
    ab = add(a, scale(da / jnp.where(mixed, da - db, 1.0), subtract(b, a)))
    ac = add(a, scale(da / jnp.where(mixed, da - dc, 1.0), subtract(c, a)))

    def either(flag: jax.Array, x: Any, y: Any) -> Any:
        return jax.tree.map(lambda i, j: jnp.where(flag, i, j), x, y)

    zero = jnp.zeros_like(da)
    p, dp, hp = either(dry, (ab, zero, zero), (a, da, ha))
    q, dq, hq = either(alone, (ab, zero, zero), (b, db, hb))
    r, dr, hr = either(alone, (ac, zero, zero), (c, dc, hc))
    there = 0.5 * (mixed | wet[0])
    one = _Piece(
        (p, q, r), (dp, dq, dr), (hp, hq, hr), scale(there, cross(subtract(q, p), subtract(r, p)))
    )
    two = _Piece(
        (ab, c, ac),
        (zero, dc, zero),
        (zero, hc, zero),
        scale(0.5 * dry, cross(subtract(c, ab), subtract(ac, ab))),
    )
    return one, two


def _pressure(piece: _Piece, weight: Scalar) -> Wrench:
    """Of a pressure `weight` times the head, which is linear over each wet triangle."""
    head = sum(piece.heads)
    (p, q, r), (hp, hq, hr) = piece.points, piece.heads
    arm = scale(
        1.0 / 12.0,
        add(scale(head, add(p, add(q, r))), add(scale(hp, p), add(scale(hq, q), scale(hr, r)))),
    )
    force = scale(head / 3.0, piece.area)
    moment = cross(arm, piece.area)
    return Wrench(*(-weight * jnp.sum(c) for c in (*force, *moment)))


def _moving(
    surface: Surface,
    points: list[Vec3],
    depths: list[Scalar],
    pieces: tuple[_Piece, _Piece],
    turned: Rotation,
    relative: Twist,
    density: Scalar,
    flow: list[Vec3] | None,
) -> Wrench:
    """Friction, pressure drag and slamming of every wet triangle, at the middle of its wet part."""
    whole = scale(0.5, cross(subtract(points[1], points[0]), subtract(points[2], points[0])))
    size = jnp.sqrt(dot(whole, whole))
    normal = scale(1.0 / size, whole)
    wet = [dot(piece.area, normal) for piece in pieces]
    area = wet[0] + wet[1]
    middles = [scale(a, add(*p.points[:2])) for a, p in zip(wet, pieces, strict=True)]
    middles = [add(m, scale(a, p.points[2])) for m, a, p in zip(middles, wet, pieces, strict=True)]
    centre = scale(1.0 / (3.0 * jnp.maximum(area, 1e-9 * size)), add(*middles))
    speed = add(relative.linear, cross(relative.angular, centre))
    entering = [add(relative.linear, cross(relative.angular, p)) for p in points]
    if flow is not None:
        speed = subtract(speed, scale(1.0 / 3.0, add(flow[0], add(flow[1], flow[2]))))
        entering = [subtract(v, w) for v, w in zip(entering, flow, strict=True)]

    # ITTC (1957): C_F = 0.075 / (log₁₀ Re − 2)², over the hull's own length and speed
    through = jnp.sqrt(dot(relative.linear, relative.linear) + 1e-12)
    reynolds = jnp.maximum(through * surface.length / VISCOSITY, 1e3)
    friction = (1.0 + surface.form_factor) * 0.075 / (jnp.log10(reynolds) - 2.0) ** 2

    fast = jnp.sqrt(dot(speed, speed) + 1e-12)
    across = dot(speed, normal)
    along = subtract(speed, scale(across, normal))
    pushed = across > 0.0
    linear, quadratic = (
        jnp.where(pushed, surface.pressure[i], -surface.suction[i]) for i in (0, 1)
    )
    # |v| cos θ of the angle between flow and normal is the speed across
    push = (linear * surface.reference_speed + quadratic * fast) * jnp.abs(across)

    def share(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
        return _wet_share([a, b, c])

    _, rate = jax.jvp(share, tuple(depths), tuple(dot(v, turned.down) for v in entering))
    slam = 2.0 * surface.slamming * jnp.maximum(rate, 0.0) * size * jnp.maximum(across, 0.0)
    half = 0.5 * density
    force = add(
        scale(-half * friction * area * fast, along),
        scale(-half * (push * area + slam), normal),
    )
    return Wrench(*(jnp.sum(c) for c in (*force, *cross(centre, force))))


def _wet_share(depths: list[Scalar]) -> Scalar:
    """Share of every triangle's area that is under water."""
    d = jnp.stack([jnp.asarray(v) for v in depths])
    wet = d > 0.0
    count = jnp.sum(wet, axis=0)
    shares = []
    for i in range(3):
        a, b, c = d[i], d[(i + 1) % 3], d[(i + 2) % 3]
        odd = (wet[i] != wet[(i + 1) % 3]) & (wet[i] != wet[(i + 2) % 3])
        tip = (a / jnp.where(odd, a - b, 1.0)) * (a / jnp.where(odd, a - c, 1.0))
        shares.append(jnp.where(odd, tip, 0.0))
    corner = shares[0] + shares[1] + shares[2]
    return jnp.where(count == 3, 1.0, jnp.where(count == 2, 1.0 - corner, corner))
