"""Radiation memory as a stable state-space model, fitted to a boundary-element solution.

Cummins (1962): the force of the waves that a hull has radiated is −A∞ ν̇ − ∫ K(t − τ) ν(τ) dτ with

    K(t) = (2/π) ∫ B(ω) cos ωt dω,   K(iω) = B(ω) + iω (A(ω) − A∞)      (Ogilvie 1964).

The integral becomes ẋ = A x + B ν, μ = C x (Perez and Fossen 2008, J. Ship Research 52). Poles that
all motions share are found by vector fitting (Gustavsen and Semlyen 1999), unstable ones turned
over; the outputs C are then fitted to K(iω) with K(0) = 0, since a hull in steady motion radiates
nothing; and states that hardly matter are left out by balanced truncation, which keeps the model
stable (Moore 1981).

Waves that a hull has radiated give it no energy back: K + K* must have no negative eigenvalue at
any frequency, also beyond the solved ones, where data hold the fit by a hair. For given poles K is
linear in C, and x*(K + K*)x >= 0 with a given x is a half-space of it. The outputs are therefore
fitted again within the half-spaces of those motions x that would gain, until there are none left
(cutting planes; the problem is convex), each time as a least-distance problem (Lawson and Hanson
1974, chapter 23).
"""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seatrial import cache
from seatrial.hull.potential.solution import Solution, Tail

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

PAIRS = (3, 4, 5, 6, 8)
"""Pairs of poles that are tried, the fewest that suffice."""
ROUNDS = 12
"""Of moving the poles."""
GOAL = 0.015
"""Error of K(iω) over the largest of its motion, root mean square over frequency."""
REDUCED = 0.025
"""The same of the model with fewer states, unless all of them err more."""
CHECKED = np.concatenate([np.linspace(0.0025, 2.0, 800), np.geomspace(2.05, 100.0, 60)])
"""Frequencies at which no energy may be given back, as shares of the last one: as close as the
narrowest valleys of a damping ask, of which one between two of 200 went unseen."""
TAIL_WEIGHT = 0.05
"""Of the data beyond the solved band."""
VERSION = 3
"""Of what is kept; another one is fitted again."""
LOSS = 1e-4
"""Energy that may be given back, as a share of the largest damping: less than a fit can tell."""
CUTS = 60
"""Rounds of cutting planes."""


@dataclass(frozen=True)
class Memory:
    """ẋ = A x + B ν, μ = C x."""

    A: Array
    B: Array
    C: Array
    infinite: Array
    """(6, 6) added mass at infinite frequency that goes with it: panels err in theirs by some per
    cent, and no memory that takes energy could make up for that."""
    error: float
    """As `GOAL`, of the worst motion."""

    def response(self, omega: Array) -> Complex:
        """(W, 6, 6) K(iω)."""
        return np.asarray(self.C @ _resolvent(self.A, self.B, omega))


def kernel(solution: Solution | Tail, infinite: Array) -> Complex:
    """(W, 6, 6) K(iω) of the solution."""
    w = solution.omega[:, None, None]
    return np.asarray(solution.damping + 1j * w * (solution.added_mass - infinite))


@dataclass(frozen=True)
class _Data:
    """What is fitted: K(iω) of motions made alike, in the solved band and, weaker, beyond."""

    omega: Array
    target: Complex
    weight: Array
    """(W,) 1 in the solved band."""
    moves: NDArray[np.bool_]
    """(6,) motions that radiate."""

    def misfit(self, model: Memory) -> float:
        """Root mean square over the solved band, of the worst entry."""
        error = np.abs(model.response(self.omega) - self.target)[self.weight == 1.0] ** 2
        return float(np.sqrt(error.mean(axis=0)).max())


def recall_memory(solution: Solution) -> Memory:
    """The fitted model, or the one that was fitted to the same solution before."""
    digest = hashlib.sha256(f"{VERSION} {PAIRS} {GOAL} {REDUCED}".encode())
    tail = solution.tail
    beyond = () if tail is None else (tail.omega, tail.added_mass, tail.damping)
    for array in (
        *(solution.omega, solution.added_mass, solution.damping, solution.infinite),
        *beyond,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    return cache.recall(
        "hull-memory", digest.hexdigest()[:32], "memory", lambda: fit_memory(solution)
    )


def fit_memory(solution: Solution) -> Memory:
    """The smallest stable and passive model within the goal, or else the best."""
    data, size = _data(solution)
    best: Memory | None = None
    for pairs in PAIRS:
        A, B = _states(_poles(data, pairs), data.moves)
        more = _unseen(data, A, B)
        rest = replace(data, target=data.target - 1j * data.omega[:, None, None] * more)
        found = _passive(rest, A, B)
        if best is None or found.error < best.error:
            best, chosen, extra = found, rest, more
        if best.error <= GOAL:
            break
    assert best is not None
    best = _reduced(chosen, best)
    return Memory(
        A=best.A,
        B=best.B * size,
        C=size[:, None] * best.C,
        infinite=solution.infinite + np.outer(size, size) * extra,
        error=best.error,
    )


def _data(solution: Solution) -> tuple[_Data, Array]:
    """What is fitted, and the (6,) sizes by which motions were made alike."""
    omega, weight = solution.omega, np.ones(len(solution.omega))
    target = kernel(solution, solution.infinite)
    size = np.sqrt(np.abs(np.einsum("wii->wi", target)).max(axis=0))
    beyond = solution.tail
    if beyond is not None:
        target = np.concatenate([target, kernel(beyond, solution.infinite)])
        omega = np.concatenate([omega, beyond.omega])
        weight = np.concatenate([weight, np.full(len(beyond.omega), TAIL_WEIGHT)])
    moves = size > 1e-4 * size.max()
    # Motions of different units and sizes made alike, so that none is fitted at another's cost.
    scaled = target / np.outer(*2 * [np.where(moves, size, np.inf)])
    return _Data(omega, scaled, weight, moves), np.where(moves, size, 0.0)


def _measured(data: _Data, A: Array, B: Array, C: Array) -> Memory:
    model = Memory(A, B, C, np.zeros((6, 6)), 0.0)
    return replace(model, error=data.misfit(model))


def _poles(data: _Data, pairs: int) -> Complex:
    """(P,) one of each pair of stable poles of all entries of K, by vector fitting.

    With σ(s) = 1 + Σ c̃ₙ φₙ(s) and the partial fractions φₙ of the present poles,
    σ K = Σ cₙ φₙ + s e is a linear problem; the zeros of σ are the next poles. e is added mass, see
    `_unseen`.
    """
    omega, target = data.omega, data.target
    upper = [(i, j) for i in range(6) for j in range(i, 6) if np.abs(target[:, i, j]).max() > 1e-3]
    values = np.stack([target[:, i, j] for i, j in upper])
    beta = np.linspace(0.15, 0.9, pairs) * omega[-1]
    poles = -0.4 * beta + 1j * beta
    for _ in range(ROUNDS):
        phi = _fractions(omega, poles)
        states = phi.shape[1]
        left = np.zeros((2 * values.size, (states + 1) * len(values) + states))
        weighed = data.weight[:, None] * np.column_stack([phi, 1j * omega / omega[-1]])
        right = np.zeros(2 * values.size)
        for k, f in enumerate(values):
            rows = slice(2 * k * len(omega), 2 * (k + 1) * len(omega))
            own = slice(k * (states + 1), (k + 1) * (states + 1))
            shared = -(data.weight * f)[:, None] * phi
            left[rows, own] = np.concatenate([weighed.real, weighed.imag])
            left[rows, -states:] = np.concatenate([shared.real, shared.imag])
            right[rows] = np.concatenate([data.weight * f.real, data.weight * f.imag])
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


def _outputs(data: _Data, A: Array, B: Array) -> Array:
    """C by least squares on K(iω), with K(0) = 0."""
    left, right = _equations(data, A, B)
    return np.asarray(np.linalg.lstsq(left, right, rcond=None)[0].T)


def _unseen(data: _Data, A: Array, B: Array) -> Array:
    """(6, 6) what least squares would add to the added mass at infinite frequency, E of K + iωE
    (Perez and Fossen 2008, who identify it with the memory)."""
    left, right = _equations(data, A, B)
    inertia = np.kron((data.weight * data.omega)[:, None], np.eye(6))
    nothing = np.zeros_like(inertia)
    wide = np.column_stack([left, np.concatenate([nothing, inertia, np.zeros((6, 6))])])
    # the panels' own answer counts as one more frequency
    believed = np.column_stack([np.zeros((6, len(A))), data.omega[-1] * np.eye(6)])
    wide, right = np.concatenate([wide, believed]), np.concatenate([right, np.zeros((6, 6))])
    found = np.linalg.lstsq(wide, right, rcond=None)[0][len(A) :].T
    return np.asarray(0.5 * (found + found.T) * np.outer(data.moves, data.moves))


def _equations(data: _Data, A: Array, B: Array) -> tuple[Array, Array]:
    """The least-squares problem of Cᵀ: one matrix for all six outputs, and their right sides."""
    weight = data.weight[:, None, None]
    at_rest = -np.linalg.solve(A, B)
    known = np.moveaxis(weight * _resolvent(A, B, data.omega), 1, 2).reshape(-1, len(A))
    wanted = (weight * data.target).transpose(0, 2, 1).reshape(-1, 6)
    left = np.concatenate([known.real, known.imag, 1e3 * at_rest.T])
    return left, np.concatenate([wanted.real, wanted.imag, np.zeros((6, 6))])


def _resolvent(A: Array, B: Array, omega: Array) -> Complex:
    """(W, S, 6) states per unit velocity, (iω − A)⁻¹ B."""
    return np.asarray(np.linalg.inv(1j * omega[:, None, None] * np.eye(len(A)) - A) @ B)


def _passive(data: _Data, A: Array, B: Array) -> Memory:
    """With the outputs nearest to the data by which no motion at any frequency gains energy."""
    from scipy.optimize import nnls

    moves = data.moves
    left, right = _equations(data, A, B)
    q, r = np.linalg.qr(left)
    free = np.linalg.lstsq(r, q.T @ right, rcond=None)[0]  # (S, 6) what the data alone would have
    back = np.linalg.pinv(r)
    # beyond the band damping falls as 1/ω²: measured against ω⁻¹ at least, so that it counts there
    states = _resolvent(A, B, CHECKED * data.omega[-1])[:, :, moves]
    states *= np.maximum(CHECKED, 1.0)[:, None, None]
    planes: list[Array] = []
    heights: list[float] = []
    outputs = free
    for _ in range(CUTS):
        K = np.einsum("si,wsj->wij", outputs[:, moves], states)
        values, vectors = np.linalg.eigh(0.5 * (K + np.conj(np.swapaxes(K, 1, 2))))
        gaining = _valleys(values) & (values < -LOSS)
        if not gaining.any():
            break
        for w, k in np.argwhere(gaining):
            x = vectors[w, :, k]
            # Re(x* Cᵀ z) with z the states of x, as a function of what is added to `free`
            slope = np.zeros((len(A), 6))
            slope[:, moves] = np.real(np.conj(x)[None, :] * (states[w] @ x)[:, None])
            planes.append((back.T @ slope).ravel())
            heights.append(-float(np.sum(slope * free)))
        # least ‖y‖ with P y ≥ h: of the residual of [Pᵀ; hᵀ] u ≈ (0, …, 0, 1), u ≥ 0
        P, h = np.array(planes), np.array(heights)
        known = np.concatenate([P.T, h[None]])
        goal = np.zeros(len(known))
        goal[-1] = 1.0
        rest = known @ nnls(known, goal, maxiter=100 * len(h))[0] - goal
        outputs = free + back @ (-rest[:-1] / rest[-1]).reshape(-1, 6)
    return _measured(data, A, B, np.ascontiguousarray(outputs.T))


def _valleys(values: Array) -> NDArray[np.bool_]:
    """Where each eigenvalue (W, N) is lowest among its neighbours along the frequencies."""
    padded = np.pad(values, ((1, 1), (0, 0)), constant_values=np.inf)
    return np.asarray((values <= padded[:-2]) & (values <= padded[2:]))


def _reduced(data: _Data, full: Memory) -> Memory:
    """Balanced, and cut to the fewest states whose misfit is not much more than that of all."""
    from scipy.linalg import solve_continuous_lyapunov

    P = solve_continuous_lyapunov(full.A, -full.B @ full.B.T)
    Q = solve_continuous_lyapunov(full.A.T, -full.C.T @ full.C)
    roots = []
    for gramian in (P, Q):
        values, vectors = np.linalg.eigh(0.5 * (gramian + gramian.T))
        roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    u, s, vt = np.linalg.svd(roots[1].T @ roots[0])
    enough = max(1.3 * full.error, REDUCED)
    for order in range(6, int(np.sum(s > 1e-9 * s[0])) + 1, 2):
        scale = 1.0 / np.sqrt(s[:order])
        left, right = (roots[1] @ u[:, :order]) * scale, (roots[0] @ vt[:order].T) * scale
        A, B = left.T @ full.A @ right, left.T @ full.B
        if np.linalg.eigvals(A).real.max() >= 0.0:
            continue
        if _measured(data, A, B, _outputs(data, A, B)).error > enough:
            continue  # the bound on energy can only make it worse
        found = _passive(data, A, B)
        if found.error <= enough:
            return found
    return full
