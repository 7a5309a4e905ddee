"""Many directions turned at once, component by component."""

import numpy as np
from numpy.typing import NDArray


def turn(matrix: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors (3, ...) turned by a matrix (3, 3, ...), whose last axes broadcast with theirs.

    Term by term on long rows: a product of matrices of three columns is slower, and waits for
    threads of its own where several samples are expanded at once.
    """
    x, y, z = vectors
    return np.stack([row[0] * x + row[1] * y + row[2] * z for row in matrix])
