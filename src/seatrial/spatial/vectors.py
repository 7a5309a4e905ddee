"""Three-component vectors and six-component wrenches as tuples of arrays."""

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

Scalar: TypeAlias = jax.Array | float
"""One number per vehicle: an array of the batch's shape, or a plain number for all of them."""

Vec3: TypeAlias = tuple[Scalar, Scalar, Scalar]


class Wrench(NamedTuple):
    """Generalised force in the body frame about the vehicle's origin, N and N m (SNAME letters)."""

    X: Scalar
    Y: Scalar
    Z: Scalar
    K: Scalar
    M: Scalar
    N: Scalar

    @property
    def force(self) -> Vec3:
        """The three forces."""
        return self.X, self.Y, self.Z

    @property
    def moment(self) -> Vec3:
        """The three moments."""
        return self.K, self.M, self.N


class Twist(NamedTuple):
    """Generalised velocity in the body frame at the vehicle's origin, m/s and rad/s."""

    u: Scalar
    v: Scalar
    w: Scalar
    p: Scalar
    q: Scalar
    r: Scalar

    @property
    def linear(self) -> Vec3:
        """Velocity of the origin."""
        return self.u, self.v, self.w

    @property
    def angular(self) -> Vec3:
        """Angular velocity."""
        return self.p, self.q, self.r


NO_WRENCH = Wrench(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
STILL = Twist(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def add(a: Vec3, b: Vec3) -> Vec3:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Vec3, b: Vec3) -> Vec3:
    """Return a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(s: Scalar, a: Vec3) -> Vec3:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


def dot(a: Vec3, b: Vec3) -> Scalar:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return a × b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def vec3(array: jax.Array) -> Vec3:
    """Split the leading axis of a (3, ...) array."""
    return array[0], array[1], array[2]


def wrench_at(force: Vec3, point: Vec3) -> Wrench:
    """Wrench about the origin of a force that acts at `point`."""
    return Wrench(*force, *cross(point, force))


def total(wrenches: list[Wrench]) -> Wrench:
    """Sum of wrenches, component by component."""
    result = NO_WRENCH
    for w in wrenches:
        result = Wrench(*(a + b for a, b in zip(result, w, strict=True)))
    return result


def scale_wrench(s: Scalar, w: Wrench) -> Wrench:
    """Every component of `w` times `s`."""
    return Wrench(*(s * c for c in w))


def safe_norm(a: Vec3, tiny: float = 1e-12) -> Scalar:
    """Length of a vector with a finite gradient at zero."""
    return jnp.sqrt(dot(a, a) + tiny * tiny)


def across(a: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors square to a unit vector and to each other."""
    upright = jnp.abs(jnp.asarray(a[2])) > 0.9
    other = (jnp.where(upright, 1.0, 0.0), 0.0, jnp.where(upright, 0.0, 1.0))
    first = cross(a, other)
    first = scale(1.0 / safe_norm(first), first)
    return first, cross(a, first)
