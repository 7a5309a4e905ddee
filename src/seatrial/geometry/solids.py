"""The solids of a world as arrays for the compiled loop, and how they come from its bodies.

What is made of them, distances and rays, is in `shapes`. Arrays count solids on their second axis.
"""

from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np
from numpy.typing import DTypeLike, NDArray

from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.fields import distance_field
from seatrial.pytree import constant, pytree

Array = NDArray[np.float64]

FAR = 1e7
"""Where the rows lie that stand for no solid, m."""
LEAST_ROOM = 4


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
