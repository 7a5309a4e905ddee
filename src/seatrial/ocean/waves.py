"""Linear (Airy) waves: elevation, slope, orbital motion and dynamic pressure anywhere.

A sea is a sum of regular components. With θ = ω t − k (x cos μ + y sin μ) + ε, z down and water
depth h (Dean and Dalrymple 1991, chapter 3; Faltinsen 1990, table 2.1):

    elevation (up)         ζ  = a cos θ
    velocity potential     φ  = −(a ω / k) C(z) sin θ
    velocity towards μ     v  =  a ω C(z) cos θ
    velocity down          w  =  a ω S(z) sin θ
    dynamic pressure       p  =  ρ g a P(z) cos θ

    C = cosh k(h − z) / sinh kh,  S = sinh k(h − z) / sinh kh,  P = cosh k(h − z) / cosh kh

In deep water all three decay factors are exp(−k z).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY, SEAWATER_DENSITY
from seatrial.ocean.blocks import in_blocks, sums
from seatrial.ocean.dispersion import DepthTable, local
from seatrial.pytree import pytree, static
from seatrial.spatial.trig import sincos, sincos_of_column, wrap
from seatrial.spatial.vectors import Scalar, Vec3, add, scale

STRETCHING = ("constant", "wheeler", "linear")
"""What becomes of the decay factors above the mean level, where linear theory says nothing.

constant: the value at the mean level holds up to the crest (vertical extrapolation).
wheeler: depth is measured from the instantaneous surface, z' = h (z + ζ) / (h + ζ) (Wheeler 1970),
    so that the factors never exceed their value at the mean level and troughs are stretched too.
linear: the tangent at the mean level is continued upwards (Rodenbusch and Forristall 1986).
"""


@pytree
class Waves:
    """Regular components; the component axis is the first."""

    amplitude: jax.Array
    """(C,) m."""
    omega: jax.Array
    """(C,) circular frequency in the water's own frame, which the wavenumber belongs to, rad/s."""
    wavenumber: jax.Array
    """(C,) rad/m."""
    direction: jax.Array
    """(C,) azimuth towards which the component travels, rad from north through east."""
    phase: jax.Array
    """(C,) rad."""
    observed: jax.Array
    """(C,) circular frequency at a fixed place, ω + k·U, as a current U carries the waves along
    (Doppler); rad/s, float64 whatever the other arrays are."""
    band: jax.Array
    """(C,) middle of the frequency band that a component was drawn from, rad/s: of every seed."""
    depth: jax.Array | None = None
    """Water depth, m, that the wavenumbers belong to; None for deep water."""
    stretching: str = static(default="constant")
    """One of `STRETCHING`."""
    by_depth: DepthTable | None = None
    """Wavenumbers at other depths, over a bottom that is a map."""


Gradient = tuple[Vec3, Vec3, Vec3]
"""Rows ∇u, ∇v, ∇w: the derivatives of each component of a velocity along x, y and z."""


class WaveSample(NamedTuple):
    """Waves at one or many points."""

    elevation: Scalar
    """Of the surface above or below the point, positive up, m."""
    slope: tuple[Scalar, Scalar]
    """Derivatives of the elevation along x and y."""
    velocity: Vec3
    """Orbital velocity, NED, m/s."""
    acceleration: Vec3
    """Local derivative ∂v/∂t, NED, m/s²."""
    gradient: Gradient
    """Of the orbital velocity, 1/s."""
    pressure: Scalar
    """Dynamic pressure, Pa."""


def time_phase(waves: Waves, t: jax.Array | float) -> jax.Array:
    """Return ((ω + k·U) t + ε) mod 2π of every component, (C,).

    Reduced in the precision of the frequencies, which is double wherever a run is computed, so that
    a float32 sea keeps its phases after hours.
    """
    angle = wrap(waves.observed * t + waves.phase.astype(waves.observed.dtype))
    return angle.astype(waves.amplitude.dtype)


def elevation(waves: Waves, x: Scalar, y: Scalar, t: jax.Array | float) -> jax.Array:
    """Height of the surface above the mean level, m."""
    now = time_phase(waves, t)
    kx, ky = _wavevector(waves)

    def at(x: jax.Array, y: jax.Array) -> jax.Array:
        _, cos = _sincos_theta(now, kx, ky, x, y)
        return sums(waves.amplitude[None], cos)[0]

    return in_blocks(at, x, y)


def slope(waves: Waves, x: Scalar, y: Scalar, t: jax.Array | float) -> tuple[jax.Array, jax.Array]:
    """Derivatives of the elevation along x and y."""
    now = time_phase(waves, t)
    kx, ky = _wavevector(waves)

    def at(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        sin, _ = _sincos_theta(now, kx, ky, x, y)
        north, east = sums(jnp.stack([waves.amplitude * kx, waves.amplitude * ky]), sin)
        return north, east

    return in_blocks(at, x, y)


def sample(
    waves: Waves,
    position: Vec3,
    t: jax.Array | float,
    density: Scalar = SEAWATER_DENSITY,
    bottom: Scalar | None = None,
) -> WaveSample:
    """Everything at once; what a compiled program does not use of it costs nothing.

    With the depth of the `bottom` under the points, the motion under the surface is that of waves
    of the same height and frequency in water of that depth; elevation and slope are the same.
    """
    now = time_phase(waves, t)
    kx, ky = _wavevector(waves)
    amplitude, k = waves.amplitude, waves.wavenumber
    north, east = kx / k, ky / k
    omega = waves.omega.astype(amplitude.dtype)
    speed = amplitude * omega
    observed = waves.observed.astype(amplitude.dtype)
    rate = speed * observed

    # One product for each purpose, so that who asks for the velocity alone pays for that alone.
    level, tilt = amplitude[None], jnp.stack([amplitude * kx, amplitude * ky])
    moving, sinking = jnp.stack([speed * north, speed * east]), speed[None]
    # ∂θ/∂x = −k cos μ: the gradients are the same sines and cosines with other weights.
    behind_rows = jnp.stack(
        [-rate * north, -rate * east, speed * north * kx, speed * north * ky, speed * east * ky]
    )
    rising_rows = jnp.stack([rate, -speed * kx, -speed * ky])

    def at(x: jax.Array, y: jax.Array, z: jax.Array, *under: jax.Array) -> WaveSample:
        sin, cos = _sincos_theta(now, kx, ky, x, y)
        zeta = sums(level, cos)[0]
        slope_x, slope_y = sums(tilt, sin)
        column = k.reshape(-1, *(1,) * zeta.ndim)
        here = local(waves.by_depth, under[0]) if under and waves.by_depth is not None else None
        depth, number = (waves.depth, column) if here is None else here
        horizontal, vertical, pressure = _decay(waves.stretching, depth, number, z, zeta)
        u, v = sums(moving, horizontal * cos)
        w = sums(sinking, vertical * sin)[0]
        if here is None:
            ut, vt, ux, uy, vy = sums(behind_rows, horizontal * sin)
            wt, wx, wy = sums(rising_rows, vertical * cos)
        else:
            ratio = number / column
            ut, vt = sums(behind_rows[:2], horizontal * sin)
            ux, uy, vy = sums(behind_rows[2:], ratio * horizontal * sin)
            wt = sums(rising_rows[:1], vertical * cos)[0]
            wx, wy = sums(rising_rows[1:], ratio * vertical * cos)
        found = WaveSample(
            elevation=zeta,
            slope=(slope_x, slope_y),
            velocity=(u, v, w),
            acceleration=(ut, vt, wt),
            # C' = −k S and S' = −k C: without rotation and divergence, ∂u/∂z = ∂w/∂x and so on.
            gradient=((ux, uy, wx), (uy, vy, wy), (wx, wy, -(ux + vy))),
            pressure=GRAVITY * sums(level, pressure * cos)[0],
        )
        if waves.stretching == "wheeler":
            return _with_moving_depth(depth, z, found, -sums((amplitude * observed)[None], sin)[0])
        # Above the mean level C and S do not follow the theory, nor do their slopes.
        slopes: Vec3 = (0.0, 0.0, 0.0)
        if waves.stretching == "linear":
            tilted = jnp.stack([-speed * kx, -speed * ky])
            if here is None:
                steep = speed * k if waves.depth is None else speed * k / jnp.tanh(k * waves.depth)
                across, fall = sums(tilted, cos), sums(steep[None], sin)[0]
            else:
                steep = number / jnp.tanh(number * here.depth)
                across, fall = (
                    sums(tilted, number / column * cos),
                    sums(speed[None], steep * sin)[0],
                )
            slopes = (across[0], across[1], -fall)
        return _with_slopes_above(z, found, slopes)

    by_place = waves.by_depth is not None and bottom is not None
    found = in_blocks(at, *position, *((bottom,) if by_place else ()))
    return found._replace(pressure=density * found.pressure)


def _with_slopes_above(z: jax.Array, wave: WaveSample, slopes: Vec3) -> WaveSample:
    """The sample with other derivatives of the velocity along z above the mean level."""
    u, v, w = (
        (row[0], row[1], jnp.where(z < 0.0, above, row[2]))
        for row, above in zip(wave.gradient, slopes, strict=True)
    )
    return wave._replace(gradient=(u, v, w))


def _with_moving_depth(
    h: jax.Array | None, z: jax.Array, wave: WaveSample, rise: jax.Array
) -> WaveSample:
    """The sample with the derivatives that come from reading C and S at Wheeler's depth z'.

    z' moves with the surface, whose rate is `rise`: ∂v/∂t gains (∂v/∂z')(∂z'/∂ζ) ∂ζ/∂t, and the
    gradient likewise. Above the surface the factors are held.
    """
    zeta = wave.elevation
    with_z: Scalar = 1.0 if h is None else h / (h + zeta)
    with_zeta: Scalar = 1.0 if h is None else h * (h - z) / (h + zeta) ** 2
    wet = z + zeta >= 0.0
    uz, vz, wz = (jnp.where(wet, row[2], 0.0) for row in wave.gradient)
    deeper: Vec3 = (uz, vz, wz)
    north, east = with_zeta * wave.slope[0], with_zeta * wave.slope[1]
    u, v, w = (
        (row[0] + d * north, row[1] + d * east, with_z * d)
        for row, d in zip(wave.gradient, deeper, strict=True)
    )
    local = add(wave.acceleration, scale(with_zeta * rise, deeper))
    return wave._replace(acceleration=local, gradient=(u, v, w))


def _wavevector(waves: Waves) -> tuple[jax.Array, jax.Array]:
    sin, cos = sincos(waves.direction)
    return waves.wavenumber * cos, waves.wavenumber * sin


def _sincos_theta(
    now: jax.Array, kx: jax.Array, ky: jax.Array, x: jax.Array, y: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Sine and cosine of θ with the component axis before the points' axes, (C, ...)."""
    column = (-1, *(1,) * x.ndim)
    angle = now.reshape(column) - kx.reshape(column) * x - ky.reshape(column) * y
    return sincos_of_column(angle)


def _decay(
    stretching: str, h: jax.Array | None, k: jax.Array, z: jax.Array, zeta: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Factors C, S and P at depth z in water h deep, (C, ...), stretched above the mean level."""
    if stretching == "wheeler":
        z = z + zeta if h is None else h * (z + zeta) / (h + zeta)
    below = jnp.maximum(z, 0.0)
    above = jnp.maximum(-z, 0.0) if stretching == "linear" else None
    if h is None:
        down = jnp.exp(-k * below)
        if above is not None:
            down = down + k * above
        return down, down, down
    # cosh and sinh written with decaying exponentials only, so that k h may be as large as it likes
    below = jnp.minimum(below, h)
    down = jnp.exp(-k * below)
    up = jnp.exp(-k * (2.0 * h - below))
    twice = jnp.exp(-2.0 * k * h)
    horizontal = (down + up) / (1.0 - twice)
    vertical = (down - up) / (1.0 - twice)
    pressure = (down + up) / (1.0 + twice)
    if above is not None:
        tanh = (1.0 - twice) / (1.0 + twice)
        horizontal = horizontal + k * above
        vertical = vertical + k * above / tanh
        pressure = pressure + k * above * tanh
    return horizontal, vertical, pressure
