"""Thrust to order and back: what a shaft speed gives, and which shaft speed gives a thrust.

Thrusters of one sort are handled together: parameters are (a, 1) or (a, S, 1), orders, thrusts and
the speed of the water through them (a, N).
"""

from typing import Any

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static

LEAST_SHAFT_SPEED = 0.1
"""Below which the derivative of an order is that at this speed, rev/s."""


@pytree
class PolynomialThrust:
    """T = Σ c_i nⁱ ahead and −Σ c_i |n|ⁱ astern, n in rev/s, whatever the speed is."""

    coefficients: jax.Array
    """(2, a, P, 1) ahead and astern."""
    speeds: jax.Array
    """(2, a, T, 1) |n| at equal distances up to the limit."""
    roots: jax.Array
    """(2, a, T, 1) √T at these, made monotone: a straight line where T grows with n²."""
    rows: tuple[int, ...] = static()
    """Which effectors these are."""

    def thrust(self, n: jax.Array, inflow: jax.Array) -> jax.Array:
        """Thrust at shaft speed n."""
        ahead, astern = (self._polynomial(i, jnp.abs(n))[0] for i in range(2))
        return jnp.where(n >= 0, ahead, -astern)

    def inverse(self, thrust: jax.Array, inflow: jax.Array) -> jax.Array:
        """Shaft speed that gives the thrust; the highest there is where none does."""
        ahead, astern = (self._inverse(i, jnp.abs(thrust)) for i in range(2))
        return jnp.where(thrust >= 0, ahead, -astern)

    def _polynomial(self, side: int, n: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Value and slope."""
        c = self.coefficients[side]
        value, slope = c[:, -1] + 0.0 * n, 0.0 * n
        for i in range(c.shape[1] - 2, -1, -1):
            slope = slope * n + value
            value = value * n + c[:, i]
        return value, slope

    def _inverse(self, side: int, thrust: jax.Array) -> jax.Array:
        speeds, roots = self.speeds[side], self.roots[side]
        wanted = jnp.sqrt(thrust)
        above = wanted[:, None] >= roots  # (a, T, N)
        at = jnp.clip(jnp.sum(above, axis=1) - 1, 0, roots.shape[1] - 2)
        n0, n1, r0, r1 = (
            jnp.take_along_axis(table, (at + shift)[:, None], axis=1)[:, 0]
            for table in (speeds, roots)
            for shift in (0, 1)
        )
        gap = r1 - r0
        n = n0 + (n1 - n0) * jnp.clip((wanted - r0) / jnp.where(gap > 0, gap, 1.0), 0.0, 1.0)
        for _ in range(3):  # Newton, within the interval
            value, slope = self._polynomial(side, n)
            n = jnp.clip(n + (thrust - value) / jnp.where(slope > 0, slope, jnp.inf), n0, n1)
        return n


@pytree
class OpenWaterThrust:
    """T = (1 − t) ρ D⁴ K_T(J) n² ahead with J = (1 − w) u / (n D), K_T(0) times a factor astern.

    K_T is made of straight pieces, so that T is a quadratic function of n in each of them.
    """

    scale: jax.Array
    """(a, 1) (1 − t) ρ D⁴."""
    advance: jax.Array
    """(a, 1) (1 − w) / D."""
    astern: jax.Array
    """(a, 1) K_T astern."""
    intercept: jax.Array
    """(a, S, 1) of the pieces, K_T = intercept + slope J."""
    slope: jax.Array
    first: jax.Array
    """(a, S, 1) J where a piece begins and ends; infinite at both ends of the curve."""
    last: jax.Array
    rows: tuple[int, ...] = static()
    """Which effectors these are."""

    def thrust(self, n: jax.Array, inflow: jax.Array) -> jax.Array:
        """Thrust at shaft speed n in water that comes in at `inflow`."""
        v = self.advance * inflow
        ahead = n > 0
        j = (v / jnp.where(ahead, n, 1.0))[:, None]
        pieces = self.intercept * (n * n)[:, None] + self.slope * (v * n)[:, None]
        here = (j >= self.first) & (j < self.last)
        k = jnp.where(ahead, jnp.sum(jnp.where(here, pieces, 0.0), axis=1), -self.astern * n * n)
        return self.scale * k

    def inverse(self, thrust: jax.Array, inflow: jax.Array) -> jax.Array:
        """Shaft speed that gives the thrust.

        A propeller in a stream brakes before it is reversed: the highest speed ahead that gives
        the thrust is taken, and the propeller turns astern only where there is none.
        """
        c = (thrust / self.scale)[:, None]
        v = (self.advance * inflow)[:, None]
        b = self.slope * v
        root = jnp.sqrt(jnp.maximum(b * b + 4.0 * self.intercept * c, 0.0))
        real = b * b + 4.0 * self.intercept * c >= 0
        half = -0.5 * (b + jnp.where(b >= 0, root, -root))
        speeds = jnp.concatenate(
            [
                half / jnp.where(self.intercept != 0, self.intercept, jnp.inf),
                -c / jnp.where(half != 0, half, jnp.inf),
            ],
            axis=1,
        )
        first, last, real = (
            jnp.concatenate([a, a], axis=1)
            for a in jnp.broadcast_arrays(self.first, self.last, real)
        )
        j = v / jnp.where(speeds > 0, speeds, 1.0)
        slop = 1e-9 * (1.0 + jnp.abs(j))
        fits = real & (speeds > 0) & (j >= first - slop) & (j <= last + slop)
        ahead = jnp.max(jnp.where(fits, speeds, 0.0), axis=1)
        reversible = jnp.where(self.astern > 0, self.astern, jnp.inf)
        astern = -jnp.sqrt(jnp.maximum(-c[:, 0] / reversible, 0.0))
        return jnp.where(ahead > 0, ahead, astern)


Curve = PolynomialThrust | OpenWaterThrust


@jax.custom_jvp
def order(curve: Curve, thrust: jax.Array, inflow: jax.Array) -> jax.Array:
    """Shaft speed that gives a thrust; its derivative is that of the curve, turned over.

    A propeller at rest has no slope, and its inverse no derivative: below `LEAST_SHAFT_SPEED` the
    slope there is taken. Where a thrust cannot be had the order does not depend on it.
    """
    return curve.inverse(thrust, inflow)


@order.defjvp
def _order_jvp(
    primals: tuple[Curve, jax.Array, jax.Array], tangents: tuple[Any, jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    curve, thrust, inflow = primals
    n = order(curve, thrust, inflow)
    made, drift = jax.jvp(
        lambda c, speed: c.thrust(n, speed), (curve, inflow), (tangents[0], tangents[2])
    )
    turning = jnp.where(
        n < 0, jnp.minimum(n, -LEAST_SHAFT_SPEED), jnp.maximum(n, LEAST_SHAFT_SPEED)
    )
    slope = jax.jvp(lambda s: curve.thrust(s, inflow), (turning,), (jnp.ones_like(n),))[1]
    had = jnp.abs(made - thrust) <= 1e-6 * (jnp.abs(thrust) + jnp.abs(made)) + 1e-12
    follows = had & (slope > 0)
    return n, jnp.where(follows, (tangents[1] - drift) / jnp.where(follows, slope, 1.0), 0.0)


def thrusts(curves: tuple[Curve, ...], orders: jax.Array, inflow: jax.Array) -> jax.Array:
    """Efforts of orders, (A, N); an effector without a curve is ordered by its effort."""
    for curve in curves:
        rows = jnp.asarray(curve.rows)
        orders = orders.at[rows].set(curve.thrust(orders[rows], inflow[rows]))
    return orders


def orders_of(curves: tuple[Curve, ...], efforts: jax.Array, inflow: jax.Array) -> jax.Array:
    """Orders that give the efforts, (A, N)."""
    for curve in curves:
        rows = jnp.asarray(curve.rows)
        efforts = efforts.at[rows].set(order(curve, efforts[rows], inflow[rows]))
    return efforts
