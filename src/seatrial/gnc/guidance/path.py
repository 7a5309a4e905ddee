"""Paths of straight lines, circular arcs and cubic pieces, and how to follow them.

A path is a table with a row of thirteen numbers per segment, so that vehicles on different kinds of
segment share one program. A segment runs over u = 0 … 1:

    0, c0 (3), c1 (3), c2 (3), c3 (3)                          p = c0 + c1 u + c2 u² + c3 u³
    1, centre north and east, radius, azimuth, sweep, depth, change of depth, and five zeros
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from seatrial.gnc.guidance.track import TrackErrors
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.pytree import pytree
from seatrial.spatial.trig import wrap_signed

Row = NDArray[np.float64]

_NEWTON_STEPS = 3
"""Per call; the foot point moves little between two calls."""
_SEARCH = 32
"""Points per segment among which the first foot point is looked for."""
_QUADRATURE = np.polynomial.legendre.leggauss(16)


def line(start: ArrayLike, end: ArrayLike) -> Row:
    """Straight segment between two points (3,)."""
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    return np.concatenate([[0.0], a, b - a, np.zeros(6)])


def arc(
    centre: ArrayLike, radius: float, azimuth: float, sweep: float, depth: float, sinks: float = 0.0
) -> Row:
    """Arc from the azimuth at which it begins, seen from its centre; clockwise sweeps count up."""
    north, east = np.asarray(centre, np.float64)[:2]
    return np.array([1.0, north, east, radius, azimuth, sweep, depth, sinks, 0, 0, 0, 0, 0])


def hermite(start: ArrayLike, leave: ArrayLike, end: ArrayLike, arrive: ArrayLike) -> Row:
    """Cubic from a point to another with these derivatives dp/du at its ends, each (3,)."""
    a, va, b, vb = (np.asarray(v, np.float64) for v in (start, leave, end, arrive))
    return np.concatenate([[0.0], a, va, 3 * (b - a) - 2 * va - vb, 2 * (a - b) + va + vb])


@pytree
class Path:
    """Segments one after the other."""

    segments: jax.Array
    """(S, 13)."""
    lengths: jax.Array
    """(S,) m."""
    before: jax.Array
    """(S,) way to the start of each segment, m."""


def make_path(rows: list[Row], dtype: Any = np.float64) -> Path:
    """Put segments together."""
    lengths = np.array([segment_length(row) for row in rows])
    before = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    return Path(
        segments=jnp.asarray(np.array(rows), dtype),
        lengths=jnp.asarray(lengths, dtype),
        before=jnp.asarray(before, dtype),
    )


class Place(NamedTuple):
    """A point of a path and the derivatives by u there, (3, ...) each."""

    point: Any
    first: Any
    second: Any


def evaluate(row: Any, u: Any) -> Place:
    """Segments (13, ...) at u (...), NumPy or JAX."""
    xp = row.__array_namespace__()
    c0, c1, c2, c3 = row[1:4], row[4:7], row[7:10], row[10:13]
    cubic = Place(
        c0 + u * (c1 + u * (c2 + u * c3)),
        c1 + u * (2.0 * c2 + 3.0 * u * c3),
        2.0 * c2 + 6.0 * u * c3,
    )
    north, east, radius, azimuth, sweep, depth, sinks = (row[i] for i in range(1, 8))
    angle = azimuth + sweep * u
    c, s = radius * xp.cos(angle), radius * xp.sin(angle)
    level = xp.zeros_like(angle)
    round_ = Place(
        xp.stack([north + c, east + s, depth + sinks * u]),
        xp.stack([-sweep * s, sweep * c, sinks + level]),
        xp.stack([-(sweep**2) * c, -(sweep**2) * s, level]),
    )
    return Place(*(xp.where(row[0] > 0.5, a, b) for a, b in zip(round_, cubic, strict=True)))


def segment_length(row: Row) -> float:
    """Arc length, m, by Gauss and Legendre's rule with sixteen points."""
    nodes, weights = _QUADRATURE
    at = 0.5 * (nodes + 1.0)
    first = evaluate(np.broadcast_to(row[:, None], (13, at.size)), at).first
    return float(0.5 * np.sum(weights * np.sqrt(np.sum(first**2, axis=0))))


def sample(rows: list[Row], spacing: float) -> Row:
    """Points (K, 3) of a path, at most about `spacing` apart, ends of segments included."""
    points = []
    for row in rows:
        steps = max(1, int(np.ceil(segment_length(row) / spacing)))
        u = np.arange(steps) / steps
        points.append(evaluate(np.broadcast_to(row[:, None], (13, steps)), u).point.T)
    points.append(evaluate(rows[-1], np.float64(1.0)).point[None])
    return np.concatenate(points)


@pytree
class PathFollower:
    """Line of sight relative to the tangent at the foot point; Fossen (2021), chapter 12.

    χ_d = χ_p − atan(y_e / Δ), with the turn of the path, κ U, as yaw rate to feed forward. The foot
    point is found by Newton's method from where it was last, so the vehicle must stay nearer to the
    path than its radius of curvature.
    """

    path: Path
    lookahead: jax.Array
    """Δ, m."""

    def begin(self, position: jax.Array) -> jax.Array:
        """Memory (2, N), segment and u: the point of the path nearest to (3, N)."""
        u = jnp.linspace(0.0, 1.0, _SEARCH, dtype=self.path.segments.dtype)
        rows = jnp.moveaxis(self.path.segments, 0, -1)[..., None]  # 13, S, 1
        points = evaluate(rows, u + jnp.zeros_like(rows[0])).point  # 3, S, U
        flat = points.reshape(3, -1, 1)
        nearest = jnp.argmin(jnp.sum((flat - position[:, None]) ** 2, axis=0), axis=0)
        return jnp.stack([(nearest // _SEARCH).astype(u.dtype), u[nearest % _SEARCH]])

    def guide(
        self, memory: jax.Array, estimate: Estimate, speed: jax.Array, dt: float
    ) -> tuple[jax.Array, Setpoint, TrackErrors]:
        """Move the foot point along and steer to the path."""
        last = self.path.segments.shape[0] - 1
        number, u = memory[0].astype(jnp.int32), memory[1]
        finished = (u >= 1.0) & (number < last)
        number, u = number + finished, jnp.where(finished, 0.0, u)
        row = self.path.segments[number].T
        for _ in range(_NEWTON_STEPS):
            u = _nearer(row, u, estimate.position)
        place = evaluate(row, u)
        tangent, away = place.first, estimate.position - place.point
        level = jnp.sqrt(tangent[0] ** 2 + tangent[1] ** 2)
        level = jnp.maximum(level, 1e-9)
        cos_c, sin_c = tangent[0] / level, tangent[1] / level
        ahead = cos_c * away[0] + sin_c * away[1]
        # Past its end the path goes on straight, so that `remaining` turns negative.
        beyond = jnp.where((number == last) & (u >= 1.0), jnp.maximum(ahead, 0.0), 0.0)
        along = self.path.before[number] + u * self.path.lengths[number] + beyond
        errors = TrackErrors(
            along=along,
            cross=cos_c * away[1] - sin_c * away[0],
            vertical=away[2],
            remaining=self.path.before[last] + self.path.lengths[last] - along,
            course=jnp.arctan2(sin_c, cos_c),
            slope=jnp.arctan2(-tangent[2], level),
        )
        bend = (tangent[0] * place.second[1] - tangent[1] * place.second[0]) / level**3
        none = jnp.full_like(level, jnp.nan)
        speed = jnp.broadcast_to(jnp.asarray(speed, level.dtype), level.shape)
        setpoint = Setpoint(
            position=jnp.stack([none, none, none]),
            heading=none,
            course=wrap_signed(errors.course - jnp.arctan2(errors.cross, self.lookahead)),
            velocity=jnp.stack([speed, none, none]),
            yaw_rate=bend * speed,
            depth=place.point[2],
            pitch=none,
        )
        return jnp.stack([number.astype(memory.dtype), u]), setpoint, errors


def _nearer(row: jax.Array, u: jax.Array, position: jax.Array) -> jax.Array:
    """One step of Newton's method for (p − P(u)) · P'(u) = 0, kept within the segment."""
    place = evaluate(row, u)
    away = position - place.point
    slope = jnp.sum(away * place.first, axis=0)
    square = jnp.sum(place.first * place.first, axis=0)
    bend = jnp.sum(away * place.second, axis=0)
    # Beyond the centre of curvature Newton's step would lead to the farthest point.
    return jnp.clip(u + slope / jnp.maximum(square - bend, 0.25 * square), 0.0, 1.0)
