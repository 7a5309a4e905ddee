"""Inertia, added mass and their Coriolis forces about an arbitrary origin."""

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.pytree import constant, pytree, static
from seatrial.spatial.vectors import Scalar, Twist, Vec3, Wrench, cross

Matrix = NDArray[np.float64]
Pattern = tuple[tuple[bool, ...], ...]


@pytree
class Inertia:
    """Mass matrices and the inverses that the step needs.

    `rigid_body` is M_RB and `added_mass` M_A about the vehicle's origin, (6, 6) or (6, 6, N).
    Patterns say which entries are not zero, so that a symmetric craft compiles to less code.
    """

    rigid_body: jax.Array
    added_mass: jax.Array
    inverse_wet: jax.Array
    """(M_RB + M_A)⁻¹."""
    inverse_dry: jax.Array
    """M_RB⁻¹, for a craft that has left the water."""
    mass: jax.Array
    rigid_pattern: Pattern = static()
    added_pattern: Pattern = static()
    inverse_pattern: Pattern = static()
    rigid_coriolis: bool = static(default=True)
    added_coriolis: bool = static(default=True)


def skew(r: Matrix) -> Matrix:
    """S(r) with S(r) a = r × a; Fossen (2021) eq. 2.7."""
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rigid_body_matrix(mass: float, centre: Matrix, tensor: Matrix) -> Matrix:
    """M_RB about the origin from the inertia tensor about the CG; Fossen (2021) eq. 3.57."""
    s = skew(centre)
    upper = np.hstack([mass * np.eye(3), -mass * s])
    lower = np.hstack([mass * s, tensor - mass * s @ s])
    return np.vstack([upper, lower])


def build(
    rigid: Matrix,
    added: Matrix,
    mass: float,
    dtype: np.dtype[Any],
    *,
    rigid_coriolis: bool,
    added_coriolis: bool,
) -> Inertia:
    """Precompute the inverses; the caller has checked that M_RB + M_A is positive definite."""
    wet, dry = np.linalg.inv(rigid + added), np.linalg.inv(rigid)
    return Inertia(
        rigid_body=constant(rigid, dtype),
        added_mass=constant(added, dtype),
        inverse_wet=constant(wet, dtype),
        inverse_dry=constant(dry, dtype),
        mass=constant(mass, dtype),
        rigid_pattern=_pattern(rigid),
        added_pattern=_pattern(added),
        inverse_pattern=_pattern(np.abs(wet) + np.abs(dry)),
        rigid_coriolis=rigid_coriolis,
        added_coriolis=added_coriolis,
    )


def _pattern(matrix: Matrix) -> Pattern:
    tiny = 1e-13 * np.sqrt(np.outer(np.abs(np.diag(matrix)), np.abs(np.diag(matrix))))
    return tuple(tuple(bool(v) for v in row) for row in np.abs(matrix) > tiny)


def multiply(matrix: jax.Array, pattern: Pattern, vector: tuple[Scalar, ...]) -> list[Scalar]:
    """Matrix times vector, written out over the entries that are not zero."""
    rows: list[Scalar] = []
    for i in range(6):
        value: Scalar = 0.0
        for j in range(6):
            if pattern[i][j]:
                value = value + matrix[i, j] * vector[j]
        rows.append(value)
    return rows


def coriolis(matrix: jax.Array, pattern: Pattern, nu: Twist) -> Wrench:
    """C(ν) ν for a mass matrix, from Kirchhoff's equations; Fossen (2021) theorem 3.2.

    With the momenta [h₁, h₂] = M ν: C(ν) ν = [ω × h₁, v × h₁ + ω × h₂]. For the added mass the
    second line holds Munk's moment.
    """
    h = multiply(matrix, pattern, nu)
    h1: Vec3 = (h[0], h[1], h[2])
    h2: Vec3 = (h[3], h[4], h[5])
    force = cross(nu.angular, h1)
    munk = cross(nu.linear, h1)
    turning = cross(nu.angular, h2)
    moment = tuple(a + b for a, b in zip(munk, turning, strict=True))
    return Wrench(*force, *moment)


def acceleration(inertia: Inertia, wrench: Wrench, wet: Scalar) -> list[Scalar]:
    """ν̇ = M⁻¹ τ, where the inverse blends from wet to dry as the craft leaves the water.

    The blend is exact at both ends and positive definite between them; how the added mass of a
    half-submerged hull really varies is not known in general.
    """
    wet_part = multiply(inertia.inverse_wet, inertia.inverse_pattern, wrench)
    dry_part = multiply(inertia.inverse_dry, inertia.inverse_pattern, wrench)
    return [d + wet * (w - d) for w, d in zip(wet_part, dry_part, strict=True)]


def answering(inertia: Inertia, wet: Scalar) -> list[list[Scalar]]:
    """The same inverse, (6, 6) entries: how a velocity answers to an impulse. Its symmetric part,
    where measured coefficients made it a little less."""
    dry, change = inertia.inverse_dry, inertia.inverse_wet - inertia.inverse_dry

    def entry(i: int, j: int) -> Scalar:
        return 0.5 * (dry[i, j] + dry[j, i] + wet * (change[i, j] + change[j, i]))

    return [[entry(i, j) for j in range(6)] for i in range(6)]
