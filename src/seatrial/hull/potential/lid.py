"""Panels on the water inside a hull, which leave no wave standing there.

At some frequencies the water that a hull displaces could slosh inside it, and the integral equation
has no answer there: these irregular frequencies go when that surface carries panels too. Strips
across the waterplane are filled from side to side, so that no part of it stays open whatever the
panels of the hull are. (capytaine's own lid tells inside from outside by the panels below a point,
and takes one that lies on the side of a panel to be outside: of a box of 20 by 10 panels it covers
a twentieth.)
"""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

INSET = 0.05
"""Share of its length and breadth by which a lid ends before the hull, whose panels it would
disturb: with it added mass and damping of coarse hulls are nearer to those of fine ones, and waves
of a twentieth of a waterplane are far beyond what is solved for."""

WITHIN = 1e-3
"""Share of a strip by which its ends are looked up inside of it: an outline has corners there."""


def lid_panels(outline: Array, size: float) -> Array:
    """Quadrangles (K, 4, 2) about as large as `size` that fill an outline of segments (S, 2, 2).

    They go round as x towards y.
    """
    if len(outline) == 0:
        return np.zeros((0, 4, 2))
    first, last = outline[:, :, 0].min(), outline[:, :, 0].max()
    first, last = first + INSET * (last - first), last - INSET * (last - first)
    ends = np.linspace(first, last, max(1, math.ceil((last - first) / size - 1e-6)) + 1)
    cells: list[Array] = []
    for x0, x1 in pairwise(ends):
        inside = WITHIN * (x1 - x0)
        aft, ahead = _crossings(outline, x0 + inside), _crossings(outline, x1 - inside)
        if len(aft) != len(ahead):  # a part of the waterplane begins or ends in this strip
            aft = ahead = _crossings(outline, 0.5 * (x0 + x1))
        for low, high in zip(range(0, len(aft), 2), range(1, len(aft), 2), strict=False):
            width = 0.5 * (aft[high] - aft[low] + ahead[high] - ahead[low])
            share = np.linspace(INSET, 1.0 - INSET, max(1, math.ceil(width / size - 1e-6)) + 1)
            y0, y1 = (y[low] + share * (y[high] - y[low]) for y in (aft, ahead))
            corners = [(x0, y0[:-1]), (x1, y1[:-1]), (x1, y1[1:]), (x0, y0[1:])]
            cells.append(np.stack([np.stack([0.0 * y + x, y], -1) for x, y in corners], axis=1))
    return np.concatenate(cells) if cells else np.zeros((0, 4, 2))


def _crossings(outline: Array, x: float) -> Array:
    """Where the line of one x meets the outline, in order: in and out in turn."""
    (x0, y0), (x1, y1) = outline[:, 0].T, outline[:, 1].T
    met = (x0 <= x) != (x1 <= x)
    share = (x - x0[met]) / (x1 - x0)[met]
    return np.sort(y0[met] + share * (y1 - y0)[met])
