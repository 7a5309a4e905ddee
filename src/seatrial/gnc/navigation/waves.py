"""What waves do to the water about a vehicle, as a filter reckons with it.

Each wave fades with its own wavenumber, as e^(−kz), so a sea at some depth is not the sea of the
surface made smaller: short waves are gone, and what is left is slower and closer to one frequency.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.kalman import Row
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Scalar, Vec3

SWAY = 8
"""States of the waves: x along north, east, down and of the second stage down, then y of them."""

LEAST_WIDTH = 0.1
"""Of the spectrum of a sea, as a share of its frequency; also of a regular one, which is met at
other frequencies on other courses."""

ROUNDS = 12
"""Doublings of a twentieth of a radian, after which nothing is left of the narrowest sea."""

_DRIVE = math.sqrt(8.0)


@pytree
class Sea:
    """How the energy of waves is spread over wavenumbers: as a gamma distribution beyond k₀,

    E(k) ∝ (k − k₀)^(p−1) e^(−(k−k₀)/θ).   At the depth z it is e^(−2kz) times as large, which is
    a gamma distribution again, with θ_z = θ/(1 + 2θz) in place of θ and e^(−2k₀z) (1 + 2θz)^(−p) of
    the energy.
    """

    longest: jax.Array
    """k₀, 1/m."""
    spread: jax.Array
    """θ, 1/m."""
    shape: jax.Array
    """p."""
    pull: jax.Array
    """γ of ω² = γ k, m/s²: g in deep water."""

    def share(self, depth: jax.Array) -> jax.Array:
        """Of the displacement at the surface that is left at a depth."""
        fading = self.longest * depth + 0.5 * self.shape * jnp.log1p(2.0 * self.spread * depth)
        return jnp.exp(-fading)


class Water(NamedTuple):
    """The motion of the water at the depth of a vehicle, each (N,)."""

    share: jax.Array
    """Of the displacement at the surface."""
    mean_square: jax.Array
    """Of its frequency, (rad/s)²."""
    frequency: jax.Array
    """ω of the oscillators, rad/s."""
    damping: jax.Array
    """a of the oscillators, 1/s."""

    def turn(self, step: jax.Array) -> tuple[jax.Array, ...]:
        """Cosine and sine of ω dt, a/ω, and what the second stage gets of the first."""
        angle = self.frequency * step
        drive = _DRIVE * self.damping * step
        return jnp.cos(angle), jnp.sin(angle), self.damping / self.frequency, drive

    def settled(self) -> jax.Array:
        """(8, 8, N) covariance of the states in a sea that has always been there.

        Σ Φᵏ Q Φᵏᵀ over the steps of the past, of which each round takes as many again: what is
        known of one state, such as how fast the water rises, tells less of another, such as how
        high it stands, than if all were independent.
        """
        step = 0.05 / self.frequency
        fading = jnp.exp(-self.damping * step)
        unit = jnp.broadcast_to(
            jnp.eye(SWAY, dtype=step.dtype)[..., None], (SWAY, SWAY, *step.shape)
        )
        moved = swung(self.turn(step), fading * unit)
        P = unit * self.walk(step)

        def further(_: int, of: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            P, phi = of
            before = jnp.einsum("ijn,jkn,lkn->iln", phi, P, phi)
            return P + before, jnp.einsum("ijn,jkn->ikn", phi, phi)

        P, _ = jax.lax.fori_loop(0, ROUNDS, further, (P, moved))
        symmetric: jax.Array = 0.5 * (P + P.swapaxes(0, 1))
        return symmetric

    def walk(self, step: jax.Array) -> jax.Array:
        """(8, N) variance that a period adds to the states: 4 a dt to y of the first stages."""
        more = 4.0 * self.damping * step
        none = jnp.zeros_like(more)
        return jnp.stack([none, none, none, none, more, more, more, none])


def swung(turn: tuple[jax.Array, ...], rows: jax.Array) -> jax.Array:
    """The states of the waves (8, ..., N) after a step (`Water.turn`) in which nothing faded."""
    c, s, lean, drive = turn
    x, y = rows[: SWAY // 2], rows[SWAY // 2 :]
    x, y = c * x + s * y, c * y - s * x
    second = y[3:] + drive * (y[2:3] - lean * x[2:3])
    return jnp.concatenate([x, y[:3], second])


@pytree
class Waves:
    """How waves move the water along north, east and down: damped oscillators.

    ẋ = −a x + ω y,   ẏ = −ω x − a y + noise of density 2 √a,   u = y − (a/ω) x

    keeps u, which is s/((s + a)² + ω²) of the noise, at the variance 1 (Fossen 2021, chapter 10,
    writes the same process with other states). A horizontal velocity is so many times u. Of one
    such oscillator a displacement would wander slowly, which no sea does, and by displacements
    depths are told: downwards a second one, driven by √8 a u of the first, has a displacement of

        ζ = √32 a^(3/2) s²/((s + a)² + ω²)² of the noise,

    of variance 1 too, and of the spectrum ∝ ω′⁴ below and ω′⁻⁴ above. Mean squares of its rate and
    of its integral are w² + 4a² and 1/w², w² = ω² + a². Those of the sea are γ⟨k⟩ and ⟨1/k⟩/γ with
    ⟨k⟩ = k₀ + pθ and 1/⟨1/k⟩ = ⟨k⟩ − pθ²/(⟨k⟩ + 2θ), the second convergent of Stieltjes' continued
    fraction, so that a = ½ θ √(γp/(⟨k⟩ + 2θ)). Nothing of this is chosen: the oscillators have the
    height, the frequency and the width of the sea at the depth of the vehicle.

    One noise of the same variance for every sample would be far too small where waves are long
    beside the samples: a filter that is told so takes the orbits of the water, which come back
    again and again with the vehicle's rolling, for tilts and biases of its IMU.
    """

    sea: Sea
    height: jax.Array
    """(2,) standard deviation of the displacement at the surface, sideways and up, m."""
    dives: bool = static()
    """Whether the vehicle leaves the surface."""

    def at(self, depth: jax.Array) -> Water:
        """The water at a depth (N,)."""
        sea = self.sea
        below = jnp.maximum(depth, 0.0) if self.dives else jnp.zeros_like(depth)
        theta = sea.spread / (1.0 + 2.0 * sea.spread * below)
        mean = sea.longest + sea.shape * theta
        square = sea.pull * mean
        width = 0.5 * theta * jnp.sqrt(sea.pull * sea.shape / (mean + 2.0 * theta))
        damping = jnp.maximum(width, LEAST_WIDTH * jnp.sqrt(square))
        frequency = jnp.sqrt(square - 5.0 * damping**2)
        return Water(sea.share(below), square, frequency, damping)

    def sway(self, first: int, values: jax.Array, depth: jax.Array) -> "Swell":
        """What is believed (8, N) of it at a depth."""
        water = self.at(depth)
        a, omega = water.damping, water.frequency
        lean = -a / omega
        up = self.height[1] * water.share
        side = math.sqrt(0.5) * self.height[0] * water.share * jnp.sqrt(water.mean_square)
        drive = up * _DRIVE * a
        down: Row = {
            2: drive * lean,
            6: drive,
            3: up * (a * a / omega - omega),
            7: -2.0 * up * a,
        }
        number = jnp.where(depth > 0.0, water.mean_square / self.sea.pull, 0.0)
        if not self.dives:
            number = jnp.zeros_like(number)
        return Swell(
            first,
            water.share,
            number * up,
            {3: up * lean, 7: up},
            ({0: side * lean, 4: side}, {1: side * lean, 5: side}, down),
            values,
        )


class Swell(NamedTuple):
    """What the filter believes of the water that waves move, where the vehicle is."""

    first: int
    """Where its rows begin in the error state."""
    share: jax.Array
    """Of the motion at the surface."""
    blur: jax.Array
    """Standard deviation by which the displacement changes with the depth, m/m."""
    sinks: Row
    """What the states make of the displacement down, m."""
    flows: tuple[Row, Row, Row]
    """What they make of the velocity, NED, m/s."""
    values: jax.Array
    """(8, N)."""

    def sunk(self) -> tuple[Scalar, Row]:
        """By how much the water lies deeper than without waves, m, and the row of it."""
        return self._sum(self.sinks), {self.first + i: h for i, h in self.sinks.items()}

    def velocity(self) -> Vec3:
        """Of the water, NED."""
        north, east, down = (self._sum(flow) for flow in self.flows)
        return north, east, down

    def rows(self, e: Vec3) -> Row:
        """Row of e · velocity."""
        along = zip(e, self.flows, strict=True)
        return {self.first + i: part * h for part, flow in along for i, h in flow.items()}

    def _sum(self, row: Row) -> Scalar:
        return sum((h * self.values[i] for i, h in row.items()), start=jnp.zeros(()))
