"""Room for a number of things in steps, so that one more of them is usually the same program.

A compiled program belongs to the shapes of its arrays. Rows of a timetable, legs of a mission,
windows of a fault and corners of a polygon therefore come in arrays of 4, 8, 16, … rows, of which
the last ones stand for nothing.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEAST = 4
"""Rows of the smallest array."""


def room_for(count: int) -> int:
    """The first of 4, 8, 16, … that holds so many."""
    room = LEAST
    while room < count:
        room *= 2
    return room


def with_room(rows: Array, fill: float | None = None) -> Array:
    """Rows followed by rows of `fill`, or by copies of the last one."""
    more = room_for(len(rows)) - len(rows)
    last = rows[-1:] if fill is None else np.full_like(rows[-1:], fill)
    return np.concatenate([rows, np.repeat(last, more, axis=0)])
