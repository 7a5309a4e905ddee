"""Patterns of boards that programs of vision look for: squares of a chess board, and markers.

A pattern is a grid (rows, columns) of cells, 0 for black and 1 for white, seen from in front, the
first row on top. Around it lies a white margin, which finders of markers need.

A marker is a square of 4 × 4 bits within a black frame of one cell, as ArUco's are (Garrido-Jurado
et al. 2014, Pattern Recognition 47(6)). The codes are found here, not taken from a list: numbers of
sixteen bits are gone through in a scattered order, and one is kept if it differs in at least four
bits from every turn of those before it, and from its own turns.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.uint8]

BITS = 4
"""Of a marker, along each side."""
MARKERS = 50
"""In the dictionary."""
APART = 4
"""Bits in which any two turns differ."""
MARGIN = 2
"""Cells of white around markers, and between them."""


@cache
def dictionary() -> NDArray[np.uint8]:
    """(MARKERS, BITS, BITS) codes, 1 for white."""
    kept: list[Cells] = []
    turns: list[NDArray[np.uint8]] = []
    for i in range(1 << 16):
        # An odd factor goes through all numbers once, far apart.
        number = (i * 40503 + 12345) & 0xFFFF
        code = ((number >> np.arange(16)) & 1).astype(np.uint8).reshape(BITS, BITS)
        own = np.stack([np.rot90(code, k).ravel() for k in range(1, 4)])
        flat = code.ravel()
        if np.min(np.sum(own != flat, axis=1)) < APART:
            continue
        if turns and np.min(np.sum(np.concatenate(turns) != flat, axis=1)) < APART:
            continue
        kept.append(code)
        turns.append(np.concatenate([flat[None], own]))
        if len(kept) == MARKERS:
            break
    return np.stack(kept)


def marker(number: int) -> Cells:
    """(BITS + 2, BITS + 2) cells of one of the dictionary, with its black frame."""
    return np.pad(dictionary()[number], 1)


def checker(columns: int, rows: int) -> Cells:
    """Squares, the first one black, with a margin of one."""
    squares = (np.add.outer(np.arange(rows), np.arange(columns)) % 2).astype(np.uint8)
    return np.pad(squares, 1, constant_values=1)


def markers(columns: int, rows: int, first: int = 0) -> Cells:
    """Markers row by row, from a number of the dictionary on."""
    side = BITS + 2 + MARGIN
    found = np.ones((rows * side + MARGIN, columns * side + MARGIN), np.uint8)
    for i in range(rows):
        for j in range(columns):
            top, left = MARGIN + i * side, MARGIN + j * side
            code = marker(first + i * columns + j)
            found[top : top + BITS + 2, left : left + BITS + 2] = code
    return found
