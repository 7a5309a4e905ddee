"""Symmetric positive definite 6 × 6 systems written out, one for each vehicle of a batch.

A library's routine is called once per matrix; written out, vehicles share every instruction.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from seatrial.spatial.vectors import Scalar

Rows: TypeAlias = Sequence[Sequence[Scalar]]
LOWER = [(i, j) for i in range(6) for j in range(i + 1)]
"""Places of the entries of a lower half."""


def factor(matrix: Rows) -> list[list[Scalar]]:
    """L of M = L Lᵀ (Cholesky), with 1/L_ii on its diagonal; only the lower half of M is read."""
    found: list[list[Scalar]] = []
    for i in range(6):
        row: list[Scalar] = []
        for j in range(i):
            rest = matrix[i][j] - sum(row[k] * found[j][k] for k in range(j))
            row.append(rest * found[j][j])
        pivot = matrix[i][i] - sum(value * value for value in row)
        found.append([*row, 1.0 / jnp.sqrt(pivot)])
    return found


def solve(factored: Rows, right: Sequence[Scalar]) -> list[Scalar]:
    """M⁻¹ b."""
    y: list[Scalar] = []
    for i in range(6):
        y.append((right[i] - sum(factored[i][k] * y[k] for k in range(i))) * factored[i][i])
    x = list(y)
    for i in reversed(range(6)):
        rest = sum(factored[k][i] * x[k] for k in range(i + 1, 6))
        x[i] = (y[i] - rest) * factored[i][i]
    return x


def inverse(matrix: Rows) -> list[list[Scalar]]:
    """M⁻¹."""
    factored = factor(matrix)
    # symmetric: its columns are its rows
    return [solve(factored, [float(i == j) for i in range(6)]) for j in range(6)]


def once(rows: Iterable[Scalar]) -> jax.Array:
    """The rows as an array that is written out: whoever needs all of them would otherwise compute
    all of them anew for each of its own."""
    barrier: Any = jax.lax.optimization_barrier  # JAX gives it no types
    found: jax.Array = barrier(jnp.stack([jnp.asarray(row) for row in rows]))
    return found


def whole(lower: Iterable[Scalar]) -> list[list[Scalar]]:
    """M by the entries of its lower half."""
    entries = dict(zip(LOWER, lower, strict=True))
    return [[entries[max(i, j), min(i, j)] for j in range(6)] for i in range(6)]


def multiply(matrix: Rows, vector: Sequence[Scalar]) -> list[Scalar]:
    """M v."""
    return [sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix]
