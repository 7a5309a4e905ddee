"""Many directions turned at once, component by component."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def turn(matrix: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors (3, ...) turned by a matrix (3, 3, ...), whose last axes broadcast to theirs.

    Term by term on long rows: a product of matrices of three columns is slower, and waits for
    threads of its own where several samples are expanded at once.
    """
    x, y, z = vectors
    found = np.empty(vectors.shape, np.float32)
    for row, side in zip(matrix, found, strict=True):
        np.multiply(row[0], x, out=side)
        side += row[1] * y
        side += row[2] * z
    return found


def turns(rate: Array, times: Array) -> Array:
    """(C, 3, 3) rotations exp([ω] τ), by Rodrigues."""
    speed = float(np.linalg.norm(rate))
    if speed < 1e-12:
        return np.broadcast_to(np.eye(3), (len(times), 3, 3))
    x, y, z = rate / speed
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = (speed * times)[:, None, None]
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross))
