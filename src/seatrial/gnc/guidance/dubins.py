"""Shortest paths of bounded curvature between two poses, on the host; Dubins (1957).

A shortest path is three pieces at most: turn, straight, turn (four words) or turn, turn the other
way, turn (two words). S is a turn to starboard, P to port, and I (in between) a straight line.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.gnc.guidance.path import Row, arc, line

WORDS = ("SIS", "PIP", "SIP", "PIS", "SPS", "PSP")
_SIDE = {"S": 1.0, "P": -1.0}
_FULL = 2.0 * np.pi

Array = NDArray[np.float64]
Pose = tuple[float, float, float]
"""North, east (m) and heading (rad)."""


@dataclass(frozen=True)
class Dubins:
    """One path."""

    word: str
    start: Pose
    radius: float
    pieces: tuple[float, float, float]
    """Angles of the turns (rad, at least zero) and the length of a straight piece (m)."""

    @property
    def length(self) -> float:
        """Of the whole path, m."""
        return sum(
            p if letter == "I" else self.radius * p
            for letter, p in zip(self.word, self.pieces, strict=True)
        )

    def rows(self, depth: float = 0.0) -> list[Row]:
        """As segments of a path at one depth."""
        north, east, heading = self.start
        at, rows = np.array([north, east]), []
        for letter, piece in zip(self.word, self.pieces, strict=True):
            if piece <= 1e-12:
                continue
            if letter == "I":
                ahead = at + piece * np.array([np.cos(heading), np.sin(heading)])
                rows.append(line([*at, depth], [*ahead, depth]))
            else:
                side = _SIDE[letter]
                centre = _centre(at, heading, side, self.radius)
                azimuth = float(np.arctan2(*(at - centre)[::-1]))
                rows.append(arc(centre, self.radius, azimuth, side * piece, depth))
                heading += side * piece
                ahead = centre - self.radius * side * _starboard(heading)
            at = ahead
        return rows


def shortest(start: Pose, goal: Pose, radius: float) -> Dubins:
    """The shortest of all words."""
    return min(all_words(start, goal, radius), key=lambda path: path.length)


def all_words(start: Pose, goal: Pose, radius: float) -> list[Dubins]:
    """A path for every word that can join the poses (the shorter where a word has two)."""
    found = []
    for word in WORDS:
        pieces = (
            _turn_line_turn(word, start, goal, radius)
            if word[1] == "I"
            else _three_turns(word, start, goal, radius)
        )
        if pieces is not None:
            found.append(Dubins(word, start, radius, pieces))
    return found


def _turn_line_turn(
    word: str, start: Pose, goal: Pose, radius: float
) -> tuple[float, float, float] | None:
    """Along the tangent from the first circle to the last.

    With the centres c₁ and c₂, sides a and b (+1 to starboard) and the tangent's heading φ, its
    ends are c₁ − a r n(φ) and c₂ − b r n(φ), where n(φ) points to starboard. Their difference must
    be a multiple l of the direction φ, so that l² = |c₂ − c₁|² − (a − b)² r².
    """
    a, b = _SIDE[word[0]], _SIDE[word[2]]
    way = _centre(np.array(goal[:2]), goal[2], b, radius) - _centre(
        np.array(start[:2]), start[2], a, radius
    )
    square = float(way @ way) - (a - b) ** 2 * radius**2
    if square < 0.0:
        return None
    straight = float(np.sqrt(square))
    if a == b and straight < 1e-9 * radius:
        # One and the same circle: rounding must not choose where it would be left.
        return _angle(a * (goal[2] - start[2])), 0.0, 0.0
    heading = np.arctan2(way[1], way[0]) + np.arctan2((a - b) * radius, straight)
    return _angle(a * (heading - start[2])), straight, _angle(b * (goal[2] - heading))


def _three_turns(
    word: str, start: Pose, goal: Pose, radius: float
) -> tuple[float, float, float] | None:
    """By a circle that touches the first and the last, on either side of them."""
    a = _SIDE[word[0]]
    first = _centre(np.array(start[:2]), start[2], a, radius)
    last = _centre(np.array(goal[:2]), goal[2], a, radius)
    way = last - first
    distance = float(np.hypot(*way))
    if distance > 4.0 * radius:
        return None
    candidates = []
    for lean in (1.0, -1.0):
        angle = np.arctan2(way[1], way[0]) + lean * np.arccos(distance / (4.0 * radius))
        middle = first + 2.0 * radius * np.array([np.cos(angle), np.sin(angle)])
        one, two = (_heading_at(middle - c, a) for c in (first, last))
        candidates.append(
            (_angle(a * (one - start[2])), _angle(-a * (two - one)), _angle(a * (goal[2] - two)))
        )
    return min(candidates, key=sum)


def _heading_at(outwards: Array, side: float) -> float:
    """Of a turn to `side` where its circle is left in this direction from the centre."""
    return float(np.arctan2(side * outwards[0], -side * outwards[1]))


def _centre(at: Array, heading: float, side: float, radius: float) -> Array:
    centre: Array = at + side * radius * _starboard(heading)
    return centre


def _starboard(heading: float) -> Array:
    return np.array([-np.sin(heading), np.cos(heading)])


def _angle(angle: float) -> float:
    """Within 0 … 2π; a turn that rounding made a full one is none."""
    turned = float(angle % _FULL)
    return 0.0 if turned > _FULL - 1e-9 else turned
