"""First-order wave loads on a surface craft: the sum over components, stage two of two.

Stage one (`seatrial.hull.froude_krylov`) integrates the pressure of every component over the
hull once, for all headings, and expands the result in harmonics of the heading ψ. What is left
for a step is one sine and cosine per component and a matrix product:

    F_o(t) = Σ_n [cos nψ P_on + sin nψ Q_on],  [P; Q] = W [cos φ; sin φ],
    φ_c = ω_c t + ε_c − k_c (x cos μ_c + y sin μ_c).

Encounter effects follow from the moving position; there is no table of encounter frequencies.
The idea of two stages is ASVLite's (Thomas, Bossens and Tarapore 2021, section III-B).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.ocean.waves import Waves, time_phase
from seatrial.pytree import pytree, static
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.trig import sincos
from seatrial.spatial.vectors import Scalar, Twist, Vec3, Wrench

OUTPUTS = ("X", "Y", "Z", "K", "M", "N", "elevation", "slope_x", "slope_y", *"uvwpq")
"""Wrench (heave without its hydrostatic part), then the surface that the hull feels (elevation,
slopes), then the mean motion of the water around the hull; all along and across the heading, in
axes that stay level."""


class Contribution(NamedTuple):
    """What a row of the matrix adds to an output: factor × row × cos nψ (or sin nψ)."""

    output: int
    harmonic: int
    sine: bool
    row: int
    factor: float


@pytree
class WaveExcitation:
    """Force amplitudes of one hull in one sea."""

    cosine: jax.Array
    """(R, C) amplitudes of cos φ."""
    sine: jax.Array
    """(R, C) amplitudes of sin φ."""
    north: jax.Array
    """(C,) k cos μ, rad/m."""
    east: jax.Array
    """(C,) k sin μ, rad/m."""
    contributions: tuple[Contribution, ...] = static()


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


def evaluate(
    model: WaveExcitation, waves: Waves, x: Scalar, y: Scalar, rotation: Rotation, t: jax.Array
) -> WaveLoads:
    """Loads on vehicles at (x, y).

    The pressures push horizontally and vertically however the craft leans, so the vectors are
    turned from level axes into the body's. Taking one for the other would be right to first
    order, but heave times pitch has a mean: the craft would drift against short waves.
    """
    column = (slice(None), *(None for _ in jnp.shape(x)))
    phase = time_phase(waves, t)[column] - model.north[column] * x - model.east[column] * y
    sine, cosine = sincos(phase)
    # Two products, not one of joined arrays: that spares a copy, much of a GPU's step.
    sums = _product(model.cosine, cosine) + _product(model.sine, sine)
    harmonics = _heading_harmonics(rotation, max(c.harmonic for c in model.contributions))
    result: list[Scalar] = [0.0] * len(OUTPUTS)
    for part in model.contributions:
        cos_n, sin_n = harmonics[part.harmonic]
        angle = part.factor * (sin_n if part.sine else cos_n)
        result[part.output] = result[part.output] + angle * sums[part.row]
    c, s = harmonics[1] if len(harmonics) > 1 else _heading_harmonics(rotation, 1)[1]

    def to_body(along: Scalar, across: Scalar, down: Scalar) -> Vec3:
        return rotation.to_body((c * along - s * across, s * along + c * across, down))

    X, Y, Z, K, M, N, elevation, along, across, u, v, w, p, q = result
    return WaveLoads(
        wrench=Wrench(*to_body(X, Y, Z), *to_body(K, M, N)),
        elevation=elevation,
        slope=(c * along - s * across, s * along + c * across),
        motion=Twist(*to_body(u, v, w), *to_body(p, q, 0.0)),
    )


def _heading_harmonics(rotation: Rotation, highest: int) -> list[tuple[Scalar, Scalar]]:
    """cos nψ and sin nψ for n = 0 … highest, by the angle-addition recurrence."""
    norm = 1.0 / jnp.sqrt(rotation.r00**2 + rotation.r10**2 + 1e-12)
    c1, s1 = rotation.r00 * norm, rotation.r10 * norm
    result: list[tuple[Scalar, Scalar]] = [(1.0, 0.0)]
    for _ in range(highest):
        c, s = result[-1]
        result.append((c * c1 - s * s1, s * c1 + c * s1))
    return result


def _product(amplitudes: jax.Array, field: jax.Array) -> jax.Array:
    """(R, C) times (C, ...), in full precision.

    Left to itself a GPU rounds single precision to ten bits here; three passes of its tensor
    cores keep all of it and are faster than its ordinary units.
    """
    precise: jax.lax.Precision | jax.lax.DotAlgorithmPreset = jax.lax.Precision.HIGHEST
    if jax.default_backend() == "gpu" and amplitudes.dtype == jnp.float32:
        precise = jax.lax.DotAlgorithmPreset.TF32_TF32_F32_X3
    flat = field.reshape(field.shape[0], -1)
    result: jax.Array = jnp.matmul(amplitudes, flat, precision=precise)
    return result.reshape((amplitudes.shape[0], *field.shape[1:]))
