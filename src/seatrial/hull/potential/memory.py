"""Radiation memory as a stable state-space model, fitted to a boundary-element solution.

Cummins (1962): the force of the waves that a hull has radiated is −A∞ ν̇ − ∫ K(t − τ) ν(τ) dτ with

    K(t) = (2/π) ∫ B(ω) cos ωt dω,   K(iω) = B(ω) + iω (A(ω) − A∞)      (Ogilvie 1964).

The integral becomes ẋ = A x + B ν, μ = C x (Perez and Fossen 2008, J. Ship Research 52). Poles that
all motions share are found by vector fitting (Gustavsen and Semlyen 1999), unstable ones turned
over; the outputs C are then fitted to K(iω) with K(0) = 0, since a hull in steady motion radiates
nothing; and states that hardly matter are left out by balanced truncation, which keeps the model
stable (Moore 1981).
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial import cache
from seatrial.hull.potential.solution import Solution

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

PAIRS = (3, 4, 5, 6, 8)
"""Pairs of poles that are tried, the fewest that suffice."""
ROUNDS = 12
"""Of moving the poles."""
GOAL = 0.015
"""Error of K(iω) over the largest of its motion, root mean square over frequency."""


@dataclass(frozen=True)
class Memory:
    """ẋ = A x + B ν, μ = C x."""

    A: Array
    B: Array
    C: Array
    error: float
    """As `GOAL`, of the worst motion."""

    def response(self, omega: Array) -> Complex:
        """(W, 6, 6) K(iω)."""
        resolvent = np.linalg.inv(1j * omega[:, None, None] * np.eye(len(self.A)) - self.A)
        return np.asarray(self.C @ resolvent @ self.B)


def kernel(solution: Solution) -> Complex:
    """(W, 6, 6) K(iω) of the solution."""
    w = solution.omega[:, None, None]
    return np.asarray(solution.damping + 1j * w * (solution.added_mass - solution.infinite))


def recall_memory(solution: Solution) -> Memory:
    """The fitted model, or the one that was fitted to the same solution before."""
    digest = hashlib.sha256(f"{PAIRS} {GOAL}".encode())
    for array in (solution.omega, solution.added_mass, solution.damping, solution.infinite):
        digest.update(np.ascontiguousarray(array).tobytes())
    return cache.recall(
        "hull-memory", digest.hexdigest()[:32], "memory", lambda: fit_memory(solution)
    )


def fit_memory(solution: Solution) -> Memory:
    """The smallest stable model within the goal, or else the best."""
    target = kernel(solution)
    # Motions of different units and sizes made alike, so that none is fitted at another's cost.
    size = np.sqrt(np.abs(np.einsum("wii->wi", target)).max(axis=0))
    moves = size > 1e-4 * size.max()
    size = np.where(moves, size, np.inf)
    scaled = target / size[:, None] / size[None, :]
    best: Memory | None = None
    for pairs in PAIRS:
        poles = _poles(solution.omega, scaled, pairs)
        A, B = _states(poles, moves)
        C = _outputs(A, B, solution.omega, scaled)
        full = Memory(A, B, C, _misfit(Memory(A, B, C, 0.0), solution.omega, scaled))
        if best is None or full.error < best.error:
            best = full
        if best.error <= GOAL:
            break
    assert best is not None
    best = _reduced(best, solution.omega, scaled)
    units = np.where(moves, size, 0.0)
    return Memory(best.A, best.B * units, units[:, None] * best.C, best.error)


def _misfit(model: Memory, omega: Array, target: Complex) -> float:
    error = np.abs(model.response(omega) - target) ** 2
    return float(np.sqrt(error.mean(axis=0)).max())


def _poles(omega: Array, target: Complex, pairs: int) -> Complex:
    """(P,) one of each pair of stable poles of all entries of K, by vector fitting.

    With σ(s) = 1 + Σ c̃ₙ φₙ(s) and the partial fractions φₙ of the present poles, σ K = Σ cₙ φₙ is a
    linear problem; the zeros of σ are the next poles.
    """
    upper = [(i, j) for i in range(6) for j in range(i, 6) if np.abs(target[:, i, j]).max() > 1e-3]
    values = np.stack([target[:, i, j] for i, j in upper])
    beta = np.linspace(0.15, 0.9, pairs) * omega[-1]
    poles = -0.4 * beta + 1j * beta
    for _ in range(ROUNDS):
        phi = _fractions(omega, poles)
        states = phi.shape[1]
        left = np.zeros((2 * values.size, states * (len(values) + 1)))
        right = np.zeros(2 * values.size)
        for k, f in enumerate(values):
            rows = slice(2 * k * len(omega), 2 * (k + 1) * len(omega))
            own = slice(k * states, (k + 1) * states)
            left[rows, own] = np.concatenate([phi.real, phi.imag])
            shared = -f[:, None] * phi
            left[rows, -states:] = np.concatenate([shared.real, shared.imag])
            right[rows] = np.concatenate([f.real, f.imag])
        found = np.linalg.lstsq(left, right, rcond=None)[0][-states:]
        A, b = _blocks(poles), np.tile([2.0, 0.0], len(poles))
        zeros = np.linalg.eigvals(A - np.outer(b, found))
        zeros = -np.abs(zeros.real) - 1e-3 * omega[-1] + 1j * np.abs(zeros.imag)
        # Two real zeros become a pair again: K has no use for single poles.
        ordered = zeros[np.argsort(zeros.imag, kind="stable")]
        poles = ordered[::2].real + 1j * np.maximum(ordered[::2].imag, 1e-3 * omega[-1])
    return np.asarray(poles)


def _fractions(omega: Array, poles: Complex) -> Complex:
    """(W, 2P) partial fractions with real coefficients."""
    s = 1j * omega[:, None]
    one, other = 1.0 / (s - poles), 1.0 / (s - np.conj(poles))
    return np.asarray(np.stack([one + other, 1j * (one - other)], axis=2).reshape(len(omega), -1))


def _blocks(poles: Complex) -> Array:
    from scipy.linalg import block_diag

    return np.asarray(block_diag(*(np.array([[p.real, p.imag], [-p.imag, p.real]]) for p in poles)))


def _states(poles: Complex, moves: NDArray[np.bool_]) -> tuple[Array, Array]:
    """All poles for every motion that radiates."""
    motions = np.flatnonzero(moves)
    A: Array = np.kron(np.eye(len(motions)), _blocks(poles)).astype(np.float64)
    B: Array = np.zeros((len(A), 6))
    for k, motion in enumerate(motions):
        B[2 * len(poles) * k : 2 * len(poles) * (k + 1) : 2, motion] = 2.0
    return A, B


def _outputs(A: Array, B: Array, omega: Array, target: Complex) -> Array:
    """C by least squares on K(iω), with K(0) = 0."""
    resolvent = np.linalg.inv(1j * omega[:, None, None] * np.eye(len(A)) - A) @ B
    at_rest = -np.linalg.solve(A, B)
    known = np.moveaxis(resolvent, 1, 2).reshape(-1, len(A))
    wanted = target.transpose(0, 2, 1).reshape(-1, 6)
    left = np.concatenate([known.real, known.imag, 1e3 * at_rest.T])
    right = np.concatenate([wanted.real, wanted.imag, np.zeros((6, 6))])
    return np.asarray(np.linalg.lstsq(left, right, rcond=None)[0].T)


def _reduced(full: Memory, omega: Array, target: Complex) -> Memory:
    """Balanced, and cut to the fewest states whose misfit is not much more than that of all."""
    from scipy.linalg import solve_continuous_lyapunov

    P = solve_continuous_lyapunov(full.A, -full.B @ full.B.T)
    Q = solve_continuous_lyapunov(full.A.T, -full.C.T @ full.C)
    roots = []
    for gramian in (P, Q):
        values, vectors = np.linalg.eigh(0.5 * (gramian + gramian.T))
        roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    u, s, vt = np.linalg.svd(roots[1].T @ roots[0])
    kept = full
    for order in range(6, int(np.sum(s > 1e-9 * s[0])) + 1, 2):
        scale = 1.0 / np.sqrt(s[:order])
        left, right = (roots[1] @ u[:, :order]) * scale, (roots[0] @ vt[:order].T) * scale
        A, B = left.T @ full.A @ right, left.T @ full.B
        if np.linalg.eigvals(A).real.max() >= 0.0:
            continue
        kept = Memory(A, B, _outputs(A, B, omega, target), 0.0)
        if _misfit(kept, omega, target) <= max(1.3 * full.error, GOAL):
            break
    return Memory(kept.A, kept.B, kept.C, _misfit(kept, omega, target))
