"""First-order wave loads on a surface craft: the sum over components, stage two of two.

Stage one (`seatrial.hull`) integrates the pressure of every component over the hull once, for a
table of headings. What is left for a step is one sine and cosine per component, the three rows of
the table next to the heading ψ, and a matrix product:

    F(t) = Σ_j B_j(ψ) W_j [cos φ; sin φ],   φ_c = ω_c t + ε_c − k_c (x cos μ_c + y sin μ_c).

A hull of which the mean drift coefficients D are known has eight more outputs: the two halves of
S₀ = Σ a exp(iφ) and of S_D = Σ a D exp(iφ) for X, Y and N. Their product is the slowly varying
drift of Newman (1974, Second-order, slowly-varying forces on vessels in irregular waves),

    F(t) = Re[S₀* S_D] = Σ_i Σ_j a_i a_j ½ (D_i + D_j) cos(φ_i − φ_j),   mean Σ a² D.

Over a bottom that is a map the wavenumber k_h under the hull is not the k of the table. What is a
derivative of the wave along the level grows with k_h/k: horizontal forces, the moments of roll and
pitch, horizontal velocity and turning of the water once, the moment of yaw twice. What the surface
and the frequency alone decide (elevation, heave, vertical velocity) does not. That is exact for
hulls that are small against the waves that feel the bottom; drift, the averaging over a longer hull
and the decay of vertical motion over its draught stay those of the mean depth.

Encounter effects follow from the moving position; there is no table of encounter frequencies.
The idea of two stages is ASVLite's (Thomas, Bossens and Tarapore 2021, section III-B).
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.ocean.dispersion import local
from seatrial.ocean.waves import Waves, time_phase
from seatrial.pytree import pytree, static
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.trig import sincos_of_column
from seatrial.spatial.vectors import Scalar, Twist, Wrench, scale

OUTPUTS = (*"XYZKMN", "elevation", "slope_x", "slope_y", *"uvwpq", "p_rate", "q_rate")
"""Wrench (heave without its hydrostatic part), then the surface that the hull feels (elevation,
slopes), then the mean motion of the water around the hull and how fast its turning changes; all in
NED axes."""
DRIFT_OUTPUTS = 8
"""More of them, of a hull whose mean drift is known."""
STEEPNESS = (1, 1, 0, 1, 1, 2, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1)
"""With which power of k_h/k each output goes; drift with none. The slopes are those of the surface
that is drawn."""


@pytree
class WaveExcitation:
    """Force amplitudes of one hull in one sea."""

    table: jax.Array
    """(H + 3, O, 2C) rows over the heading, float32: amplitudes of cos φ, then of sin φ. Row r
    stands at 2π(r − 1)/H; a hull that waves push alike from all sides has a single row."""
    north: jax.Array
    """(C,) k cos μ, rad/m."""
    east: jax.Array
    """(C,) k sin μ, rad/m."""
    displaced: jax.Array | None
    """Mass of the water that X, Y and Z accelerate, kg; None of solved loads, which hold what the
    hull adds to it."""
    presses: bool = static()
    """False where pressure is integrated over the hull at every step, and X, Y and Z tell of the
    water's acceleration only."""


class WaveLoads(NamedTuple):
    """What the waves do to a surface craft."""

    wrench: Wrench
    """Body axes; without the hydrostatic part of heave."""
    elevation: Scalar
    """Of the surface, averaged over the hull."""
    slope: tuple[Scalar, Scalar]
    """Of that surface towards north and east."""
    motion: Twist
    """Mean motion of the water around the hull, body axes."""
    acceleration: Twist | None
    """Of that water, for the added mass, body axes."""


def evaluate(
    model: WaveExcitation,
    waves: Waves,
    x: Scalar,
    y: Scalar,
    rotation: Rotation,
    t: jax.Array,
    bottom: jax.Array | None = None,
) -> WaveLoads:
    """Loads on vehicles at (x, y), where the `bottom` is so deep if it is a map.

    The pressures push horizontally and vertically however the craft leans, so the vectors are
    turned from level axes into the body's. Taking one for the other would be right to first
    order, but heave times pitch has a mean: the craft would drift against short waves.
    """
    column = (slice(None), *(None for _ in jnp.shape(x)))
    phase = time_phase(waves, t)[column] - model.north[column] * x - model.east[column] * y
    sine, cosine = sincos_of_column(phase)
    steeper = None
    if bottom is not None and waves.by_depth is not None:
        steeper = local(waves.by_depth, bottom).wavenumber / waves.wavenumber[column]
    if model.table.shape[0] == 1:
        sums = _by_one_row(model.table[0], cosine, sine, steeper)
    else:
        # At a pitch of ±90° there is no heading; the small number keeps its derivative finite.
        heading = jnp.arctan2(rotation.r10, rotation.r00 + 1e-12)
        sums = _by_heading(model.table, heading, cosine, sine, steeper)
    X, Y, Z, K, M, N, elevation, north, east, *moving = sums[: len(OUTPUTS)]
    u, v, w, p, q, p_rate, q_rate = moving
    acceleration = None
    if model.displaced is not None:
        level = scale(1.0 / model.displaced, (X, Y, Z))
        turning = rotation.to_body((p_rate, q_rate, 0.0))
        acceleration = Twist(*rotation.to_body(level), *turning)
    if not model.presses:
        X = Y = Z = jnp.zeros_like(elevation)
    if len(sums) > len(OUTPUTS):
        a, b = sums[len(OUTPUTS) :: 2], sums[len(OUTPUTS) + 1 :: 2]
        X, Y, N = (first + a[0] * a[i] + b[0] * b[i] for i, first in ((1, X), (2, Y), (3, N)))
    return WaveLoads(
        wrench=Wrench(*rotation.to_body((X, Y, Z)), *rotation.to_body((K, M, N))),
        elevation=elevation,
        slope=(north, east),
        motion=Twist(*rotation.to_body((u, v, w)), *rotation.to_body((p, q, 0.0))),
        acceleration=acceleration,
    )


def _by_heading(
    table: jax.Array,
    heading: jax.Array,
    cosine: jax.Array,
    sine: jax.Array,
    steeper: jax.Array | None,
) -> jax.Array:
    """(O, ...) outputs of vehicles with headings of their own."""
    table = jnp.asarray(table)
    outputs, columns = table.shape[1:]
    field = jnp.concatenate([cosine, sine]).reshape(columns, -1).T
    first, weights = _place(heading.reshape(-1), table.shape[0] - 3)
    ratios: tuple[jax.Array, ...] = ()
    if steeper is not None:
        ratios = (steeper.reshape(columns // 2, -1).T,)

    def one(first: jax.Array, weights: jax.Array, field: jax.Array, *ratio: jax.Array) -> jax.Array:
        start = (first, jnp.zeros_like(first), jnp.zeros_like(first))
        rows = jax.lax.dynamic_slice(table, start, (3, outputs, columns))
        a, b, c = (w * row for w, row in zip(weights, rows, strict=True))
        blended = a + b + c
        if ratio:
            blended = blended * _steepened(jnp.tile(ratio[0], 2), outputs)
        return jnp.matmul(blended, field, precision=jax.lax.Precision.HIGHEST)

    if len(field) == 1:
        sums = one(first[0], weights[0], field[0], *(r[0] for r in ratios))[:, None]
    elif jax.default_backend() == "cpu":
        # One after the other the rows stay in the cache; gathered for all they would not fit.
        sums = jax.lax.map(lambda each: one(*each), (first, weights, field, *ratios)).T
    else:
        a, b, c = (weights[:, j, None, None] * table[first + j] for j in range(3))
        blended = a + b + c
        if steeper is not None:
            doubled = jnp.tile(ratios[0], (1, 2))
            blended = blended * jax.vmap(lambda ratio: _steepened(ratio, outputs))(doubled)
        sums = jnp.sum(blended * field[:, None], axis=2).T
    return sums.reshape(-1, *heading.shape)


def _steepened(ratio: jax.Array, outputs: int) -> jax.Array:
    """(O, 2C) factors of the amplitudes for ratios (2C,) of wavenumbers."""
    powers = jnp.stack([jnp.ones_like(ratio), ratio, ratio * ratio])
    return powers[jnp.asarray(_powers(outputs))]


def _powers(outputs: int) -> list[int]:
    return [*STEEPNESS, *(0,) * (outputs - len(STEEPNESS))]


def _place(heading: jax.Array, count: int) -> tuple[jax.Array, jax.Array]:
    """The first of three rows around each heading, (N,), and their weights, (N, 3).

    The weights are a quadratic B-spline's, smooth where the middle row changes.
    """
    turns = heading * (0.5 / math.pi)
    along = (turns - jnp.floor(turns)) * count + 0.5
    first = jnp.floor(along)
    f = along - first
    weights = jnp.stack([0.5 * (1.0 - f) ** 2, 0.5 + f * (1.0 - f), 0.5 * f * f], axis=-1)
    return first.astype(jnp.int32), weights


def _by_one_row(
    amplitudes: jax.Array, cosine: jax.Array, sine: jax.Array, steeper: jax.Array | None = None
) -> jax.Array:
    """(O, 2C) times the field of all vehicles, in full precision."""
    if steeper is not None:
        fields = [(cosine, sine)]
        while len(fields) <= max(STEEPNESS):
            fields.append((steeper * fields[-1][0], steeper * fields[-1][1]))
        by_power = [_by_one_row(amplitudes, *field) for field in fields]
        return jnp.stack([by_power[p][i] for i, p in enumerate(_powers(amplitudes.shape[0]))])
    columns = [field.reshape(field.shape[0], -1) for field in (cosine, sine)]
    precise: jax.lax.Precision | jax.lax.DotAlgorithmPreset = jax.lax.Precision.HIGHEST
    if cosine.dtype == jnp.float32:
        # Two products spare a copy, much of a GPU's step. Left to itself a GPU rounds to ten bits
        # here; three passes of its tensor cores keep all and are faster than its ordinary units.
        if jax.default_backend() == "gpu":
            precise = jax.lax.DotAlgorithmPreset.TF32_TF32_F32_X3
        halves = jnp.split(amplitudes, 2, axis=1)
        a, b = (jnp.matmul(h, f, precision=precise) for h, f in zip(halves, columns, strict=True))
        sums = a + b
    else:
        field = jnp.concatenate(columns)
        sums = jnp.matmul(amplitudes.astype(field.dtype), field, precision=precise)
    return sums.reshape(-1, *cosine.shape[1:])
