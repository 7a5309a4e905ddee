"""Where an azimuth thruster may push: allowed angles to convex polygons of force, on the host."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Interval = tuple[float, float]

CHORDS = 24
"""Sides of the polygon inside a full circle; the most that is lost of a thrust is
1 − cos(π / 24) = 0.9 %."""

AHEAD, ASTERN, EITHER = 0, 1, 2
"""Which largest thrust bounds a piece: ahead, astern, or the smaller of both."""


class Piece(NamedTuple):
    """A convex polygon of forces, for a largest thrust of one."""

    normals: Array
    """(K, 2) outward."""
    reach: Array
    """(K,)."""
    side: int


def allowed_angles(limit: float, forbidden: Sequence[Interval]) -> list[Interval]:
    """Intervals within ±limit that are left when the forbidden zones are taken away, rad."""
    left = [(-limit, limit)]
    turns = range(-math.ceil(limit / math.tau) - 1, math.ceil(limit / math.tau) + 2)
    for begin, end in forbidden:
        for turn in turns:
            a, b = begin + turn * math.tau, end + turn * math.tau
            left = [
                part
                for low, high in left
                for part in ((low, min(high, a)), (max(low, b), high))
                if part[1] > part[0]
            ]
    return sorted(set(left))


def pieces(limit: float, forbidden: Sequence[Interval], *, reversible: bool) -> list[Piece]:
    """Convex pieces that together cover every force the thruster can make."""
    if limit >= math.pi and not forbidden:
        return [_circle(AHEAD)]
    angles = allowed_angles(limit, forbidden)
    found: list[Piece] = []
    if reversible and _covers([*angles, *((a + math.pi, b + math.pi) for a, b in angles)]):
        found.append(_circle(EITHER))
    for begin, end in angles:
        width = min(end - begin, math.pi)
        starts = sorted({begin, end - width})
        found += [_wedge(a, a + width, AHEAD) for a in starts]
        if reversible:
            found += [_wedge(a + math.pi, a + math.pi + width, ASTERN) for a in starts]
    return found


def variants(covers: Sequence[Sequence[Piece]]) -> tuple[Array, Array, NDArray[np.int32]]:
    """Every choice of one piece per thruster: normals, reach and side as in `Azimuths`."""
    choices = list(itertools.product(*covers))
    faces = max(len(p.reach) for cover in covers for p in cover)
    normals = np.zeros((faces, 2, len(covers), len(choices), 1))
    reach = np.ones((faces, len(covers), len(choices), 1))
    sides = np.zeros((len(covers), len(choices), 1), np.int32)
    for v, choice in enumerate(choices):
        for i, piece in enumerate(choice):
            normals[: len(piece.reach), :, i, v, 0] = piece.normals
            reach[: len(piece.reach), i, v, 0] = piece.reach
            sides[i, v, 0] = piece.side
    return normals, reach, sides


def stacked(intervals: Sequence[Sequence[Interval]]) -> Array:
    """Intervals of every thruster as one array, (Z, 2, q, 1)."""
    table: Array = np.full((max(map(len, intervals)), 2, len(intervals), 1), np.nan)
    for i, own in enumerate(intervals):
        table[: len(own), :, i, 0] = own
    return table


def _covers(intervals: Sequence[Interval]) -> bool:
    """Whether intervals of angle leave no direction out."""
    edges = np.sort(np.mod([e for interval in intervals for e in interval], math.tau))
    middles = 0.5 * (edges + np.append(edges[1:], edges[0] + math.tau))
    return all(any((m - a) % math.tau <= b - a for a, b in intervals) for m in middles)


def _circle(side: int) -> Piece:
    """A polygon inside the circle, with corners ahead, astern and to both sides."""
    step = math.tau / CHORDS
    middles = (np.arange(CHORDS) + 0.5) * step
    normals = np.stack([np.cos(middles), np.sin(middles)], axis=1)
    return Piece(normals, np.full(CHORDS, math.cos(0.5 * step)), side)


def _wedge(begin: float, end: float, side: int) -> Piece:
    """A sector no wider than half a circle: two straight edges, and chords for the arc."""
    count = max(1, math.ceil((end - begin) / (math.tau / CHORDS) - 1e-9))
    step = (end - begin) / count
    middles = begin + (np.arange(count) + 0.5) * step
    arc = np.stack([np.cos(middles), np.sin(middles)], axis=1)
    edges = np.array(
        [[math.sin(begin), -math.cos(begin)], [-math.sin(end), math.cos(end)]],
    )
    reach = np.concatenate([np.zeros(2), np.full(count, math.cos(0.5 * step))])
    return Piece(np.vstack([edges, arc]), reach, side)
