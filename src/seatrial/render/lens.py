"""Lenses: which ray a pixel looks along.

A pixel (u, v) lies at x' = (u − cu) / f, y' = (v − cv) / f with the focal length f in pixels. The
ray through it is (1, x, y) in the sensor's axes, where (x, y) is what the lens distorts to (x', y')
by Brown's model; it is found by Newton's method, once for a camera.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ITERATIONS = 30
"""Of Newton's method at most."""
CONVERGED = 1e-12


class Distortion(NamedTuple):
    """Brown's coefficients."""

    k1: float = 0.0
    k2: float = 0.0
    k3: float = 0.0
    p1: float = 0.0
    p2: float = 0.0

    def apply(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Where a point at (x, y) over its depth is seen."""
        square = x * x + y * y
        radial = 1.0 + square * (self.k1 + square * (self.k2 + square * self.k3))
        return (
            x * radial + 2.0 * self.p1 * x * y + self.p2 * (square + 2.0 * x * x),
            y * radial + self.p1 * (square + 2.0 * y * y) + 2.0 * self.p2 * x * y,
        )

    def reach(self) -> float:
        """Radius over the depth at which the image of a lens folds back, ∞ where it never does:
        d(r (1 + k1 r² + k2 r⁴ + k3 r⁶))/dr = 0. Of what lies farther out it shows nothing."""
        slope = [7.0 * self.k3, 5.0 * self.k2, 3.0 * self.k1, 1.0]
        squares = np.roots(np.trim_zeros(slope, "f"))
        folds = squares[np.isreal(squares) & (squares.real > 0.0)].real
        return float(np.sqrt(folds.min(initial=np.inf)))

    def undo(self, seen_x: Array, seen_y: Array) -> tuple[Array, Array] | None:
        """(x, y) of points that are seen at a place; None where the lens shows no such points.

        Beyond the radius at which the image folds back, a place has no point or a wrong one: the
        Jacobian has changed its sign there.
        """
        x, y = seen_x.copy(), seen_y.copy()
        if not any(self):
            return x, y
        for _ in range(ITERATIONS):
            now_x, now_y = self.apply(x, y)
            xx, xy, yy = self._slopes(x, y)
            determinant = xx * yy - xy * xy
            if not np.all(determinant > 0.0):
                return None
            off_x, off_y = now_x - seen_x, now_y - seen_y
            x -= (yy * off_x - xy * off_y) / determinant
            y -= (xx * off_y - xy * off_x) / determinant
            if max(np.abs(off_x).max(), np.abs(off_y).max()) < CONVERGED:
                return x, y
        return None

    def steps(self, x: Array, y: Array) -> tuple[Array, Array]:
        """(2, P) how (x, y) changes with the place at which it is seen, to the right and down."""
        xx, xy, yy = self._slopes(x, y)
        determinant = xx * yy - xy * xy
        return np.stack([yy, -xy]) / determinant, np.stack([-xy, xx]) / determinant

    def _slopes(self, x: Array, y: Array) -> tuple[Array, Array, Array]:
        """∂x'/∂x, ∂x'/∂y = ∂y'/∂x, ∂y'/∂y."""
        square = x * x + y * y
        radial = 1.0 + square * (self.k1 + square * (self.k2 + square * self.k3))
        grows = self.k1 + square * (2.0 * self.k2 + 3.0 * square * self.k3)
        return (
            radial + 2.0 * x * x * grows + 2.0 * self.p1 * y + 6.0 * self.p2 * x,
            2.0 * x * y * grows + 2.0 * self.p1 * x + 2.0 * self.p2 * y,
            radial + 2.0 * y * y * grows + 6.0 * self.p1 * y + 2.0 * self.p2 * x,
        )


def pixel_rays(
    width: int, height: int, focal_length: float, distortion: Distortion
) -> Array | None:
    """(H W, 3) unit vectors through the middles of pixels; None where the lens cannot show them."""
    u = (np.arange(width) - 0.5 * (width - 1)) / focal_length
    v = (np.arange(height) - 0.5 * (height - 1)) / focal_length
    found = distortion.undo(*(grid.ravel() for grid in np.meshgrid(u, v)))
    if found is None:
        return None
    x, y = found
    length = np.sqrt(1.0 + x * x + y * y)
    return np.stack([1.0 / length, x / length, y / length], axis=1)
