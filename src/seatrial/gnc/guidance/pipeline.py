"""Following a pipeline by what a fan of beams across the way sees of it.

The chart has a line, and the pipeline lies beside it by s (north, east), which changes along it. A
profile across the way is a bottom, a straight line to which most returns belong (iteratively
reweighted least squares), and what stands above it: returns higher than half of the pipe. Their
mean, weighted by how near they are to where the pipe is expected, is at y to starboard, and with n
the unit vector across the leg and c a place of it, p that of the vehicle,

    y = n · (c + s − p) + error

A Kalman filter keeps (s_n, s_e, g). Over a way ds along the leg s ← s + n g ds: g is the angle
between the pipe and its chart, a first-order Gauss–Markov process over the distance, and s wanders
besides. After a bend the same s serves another n, so that a chart which is off as a whole is known
in both directions from then on.

Where the pipe is not seen for some way, its last known place is weaved about, as widely as s is
uncertain, more so the longer the way; without ever a return that is a search along the chart.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import root
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3

CHART = 3.0
"""Standard deviation of the chart's places, m."""
WANDER = 0.01
"""Variance that the way beside the chart gains per metre, m."""
BEND, LENGTH = 0.2, 15.0
"""Standard deviation of the angle between pipe and chart, rad, and how long it lasts, m."""
PATIENCE = 4.0
"""Way without a return after which a pipe is searched for, m."""
WEAVE = 30.0
"""Way from one side to the other and back in a search, m."""
WIDEST = 6.0
"""Of a search to either side, m."""
ROUNDS = 4
"""Of fitting the bottom."""
ROUGH = 0.1
"""How far returns of the bottom lie from a straight line, m."""
LEAST = 2
"""Returns that make a pipe."""
MOST = 5.0
"""Standard deviations that an innovation counts with at most."""


@pytree
class Tracker:
    """What a vehicle sees of a pipeline, and by what."""

    arm: jax.Array
    """(3,) place of the sonar in the body frame, m."""
    beams: jax.Array
    """(B, 3) unit vectors in body axes."""
    rise: jax.Array
    """How far above the bottom a return is the pipe's, m."""
    noise: jax.Array
    """Standard deviation of the place of a pipe that is seen, m."""
    ahead: jax.Array
    """How far ahead the vehicle steers, m."""
    place: int = static()
    """Of the sensor in the suite."""
    box: int = static()
    """How many samples may be on their way at once."""


class Line(NamedTuple):
    """What is known of the pipeline beside its chart."""

    mean: jax.Array
    """(3, N) s_n, s_e, m, and g, rad."""
    spread: jax.Array
    """(3, 3, N) their covariance."""
    unseen: jax.Array
    """(N,) way since it was seen last, m."""


class Charted(NamedTuple):
    """The leg that is followed, as the chart has it."""

    start: jax.Array
    """(3, N) NED, m."""
    end: jax.Array
    offset: jax.Array
    """(N,) of the leg from the pipe, to starboard, m; NaN where no pipe is followed."""

    @property
    def followed(self) -> jax.Array:
        """(N,) whether a pipe is."""
        return jnp.isfinite(self.offset)

    @property
    def way(self) -> tuple[jax.Array, jax.Array]:
        """North and east of the unit vector along it."""
        north, east = self.end[0] - self.start[0], self.end[1] - self.start[1]
        length = jnp.maximum(root(north * north + east * east), 1e-6)
        return north / length, east / length


def begin(count: int, dtype: jnp.dtype) -> Line:
    """The chart is all that is known."""
    start = jnp.diag(jnp.array([CHART, CHART, BEND], dtype)) ** 2
    return Line(
        mean=jnp.zeros((3, count), dtype),
        spread=jnp.broadcast_to(start[:, :, None], (3, 3, count)).astype(dtype),
        unseen=jnp.zeros(count, dtype),
    )


def move(line: Line, leg: Charted, turned: jax.Array, believed: Estimate, period: float) -> Line:
    """Go on for a control period; where the leg has `turned` (N,), the angle is another one."""
    north, east, _ = rotation(believed.attitude).to_world(vec3(believed.velocity))
    along = leg.way
    way = jnp.maximum(period * (north * along[0] + east * along[1]), 0.0)
    way = jnp.where(leg.followed, way, 0.0).astype(line.unseen.dtype)
    n, e = -along[1] * way, along[0] * way
    kept = jnp.where(turned, 0.0, jnp.exp(-way / LENGTH))
    s_n, s_e, g = line.mean
    # P ← F P Fᵀ + Q with the rows of F (1, 0, n ds), (0, 1, e ds) and (0, 0, k).
    p = line.spread
    rows = jnp.stack([p[0] + n * p[2], p[1] + e * p[2], kept * p[2]])
    columns = [rows[:, 0] + n * rows[:, 2], rows[:, 1] + e * rows[:, 2], kept * rows[:, 2]]
    spread = jnp.stack(columns, axis=1)
    gained = WANDER * way
    spread = spread.at[0, 0].add(gained).at[1, 1].add(gained)
    spread = spread.at[2, 2].add(BEND**2 * (1.0 - kept * kept))
    mean = jnp.stack([s_n + n * g, s_e + e * g, kept * g])
    dtype = line.mean.dtype
    return Line(mean.astype(dtype), spread.astype(dtype), line.unseen + way)


def see(
    tracker: Tracker,
    line: Line,
    leg: Charted,
    believed: Estimate,
    values: jax.Array,
    usable: jax.Array,
    age: jax.Array,
) -> Line:
    """Take in a profile (B, N) that is `age` seconds old."""
    turned = rotation(believed.attitude)
    moving = turned.to_world(vec3(believed.velocity))
    lengths = values[: tracker.beams.shape[0]]
    x, y, z = (tracker.arm[i] + lengths * tracker.beams[:, i, None] for i in range(3))
    north, east, down = (
        e - age * v for e, v in zip(turned.to_world((x, y, z)), moving, strict=True)
    )
    along = leg.way
    aside = along[0] * east - along[1] * north
    heard = lengths > 0.0
    risen = _above_bottom(aside, down, heard) > tracker.rise
    h_n, h_e = -along[1], along[0]
    p = line.spread
    column = p[:, 0] * h_n + p[:, 1] * h_e
    known = column[0] * h_n + column[1] * h_e
    away = [c - b for c, b in zip(leg.start[:2], believed.position[:2], strict=True)]
    offset = jnp.where(leg.followed, leg.offset, 0.0)
    expected = h_n * (away[0] + line.mean[0]) + h_e * (away[1] + line.mean[1]) - offset
    variance = known + tracker.noise**2
    near = jnp.exp(-0.5 * jnp.minimum((aside - expected) ** 2 / variance, 50.0))
    weight = jnp.where(heard & risen, near, 0.0)
    whole = jnp.sum(weight, axis=0)
    found = jnp.sum(weight * aside, axis=0) / jnp.maximum(whole, 1e-30)
    seen = usable & leg.followed & (jnp.sum(heard & risen, axis=0) >= LEAST)
    # What lies beyond all that can be expected is something else.
    seen &= jnp.abs(found - expected) < MOST * jnp.sqrt(variance)
    gain = column / variance
    mean = line.mean + gain * (found - expected)
    spread = p - gain[:, None] * column[None]
    dtype = line.mean.dtype
    return Line(
        jnp.where(seen, mean, line.mean).astype(dtype),
        jnp.where(seen, spread, p).astype(dtype),
        jnp.where(seen, 0.0, line.unseen).astype(dtype),
    )


def _above_bottom(aside: jax.Array, down: jax.Array, heard: jax.Array) -> jax.Array:
    """(B, N) how far returns are above the straight line to which most belong, m."""

    def fit(_: int, off: jax.Array) -> jax.Array:
        weight = jnp.where(heard, 1.0 / (1.0 + (off / ROUGH) ** 2), 0.0)
        whole = jnp.maximum(jnp.sum(weight, axis=0), 1e-9)
        y, z = (jnp.sum(weight * v, axis=0) / whole for v in (aside, down))
        across = aside - y
        slope = jnp.sum(weight * across * (down - z), axis=0) / (
            jnp.sum(weight * across * across, axis=0) + 1e-9
        )
        return z + slope * across - down

    # The deepest half first: what stands on the bottom does not pull the line up.
    middle = jnp.nanmedian(jnp.where(heard, down, jnp.nan), axis=0)
    above: jax.Array = jax.lax.fori_loop(0, ROUNDS, fit, jnp.minimum(down - middle, 0.0))
    return above


def beside(tracker: Tracker, line: Line, leg: Charted) -> jax.Array:
    """(3, N) how far from the chart to go, m; zero where no pipe is followed."""
    along = leg.way
    h_n, h_e = -along[1], along[0]
    p = line.spread
    unsure = jnp.sqrt(p[0, 0] * h_n * h_n + 2.0 * p[0, 1] * h_n * h_e + p[1, 1] * h_e * h_e)
    astray = jnp.maximum(line.unseen - PATIENCE, 0.0)
    wide = jnp.minimum(unsure * (1.0 + astray / WEAVE), WIDEST)
    weave = jnp.where(astray > 0.0, wide * jnp.sin(2.0 * jnp.pi / WEAVE * astray), 0.0)
    # The angle leads, so that a pipe that leaves its chart is not cut late.
    lead = jnp.where(astray > 0.0, 0.0, line.mean[2] * tracker.ahead)
    north = line.mean[0] + h_n * (weave + lead)
    east = line.mean[1] + h_e * (weave + lead)
    shift = jnp.stack([north, east, jnp.zeros_like(north)])
    return jnp.where(leg.followed, shift, 0.0)
