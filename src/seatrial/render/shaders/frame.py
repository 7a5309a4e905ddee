"""From where a picture is rasterised, and how far around: the frame.

Solids are rasterised as by a pinhole, in straight lines. With a straight lens and one instant for
all rows, the frame is the picture itself. A lens that bends sees its faces in a frame that holds
all of its directions, with pixels `FINER` times as small as the picture's where it magnifies most;
each ray looks up there which face it meets, and meets it where it is. So edges between faces are up
to a quarter of a pixel off, and nothing else is. With a rolling shutter the frame is that of the
middle of all rows, or of some where the camera turns so far meanwhile that one frame would not hold
them.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.render.picture import Lens, Shot
from seatrial.render.rotating import turns

Array = NDArray[np.float64]

FINER = 2.0
LARGEST = 8192
"""Columns and rows of a frame."""
WIDEST = 20.0
"""Tangent from the axis to what a frame can hold: 87°."""
MOST_TURN = 0.3
"""Of a camera while the rows of one frame are taken, rad."""
ABOUT_LEVEL = 1e-4
"""How much a direction may rise that is still looked at as falling: some pixels too many."""
WHOLE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
"""Corners of a sheet, from −1 to 1 across it."""
NOWHERE = np.zeros((1, 2))
SAMPLED = 33
"""Rows by whose directions the extent of a frame is found."""


@dataclass(frozen=True)
class Frame:
    """A pinhole's view."""

    eye: Array
    """(3,) NED, m."""
    turn: Array
    """(3, 3) from the camera's axes to the world's."""
    first: Array
    """(2,) tangents to the right and down at its first corner."""
    extent: Array
    """(2,) of tangents across it."""
    size: tuple[int, int]
    """Columns and rows."""
    rows: NDArray[np.float32] | None
    """(H, 4, 4) of a rolling shutter: the rows of each one's matrix with its origin from the eye,
    and when it is taken from the middle on, s."""
    time: float
    """Of the middle, s."""

    def within(self, middle: Array, radius: Array) -> NDArray[np.bool_]:
        """(B,) whether spheres about places from the eye (B, 3) may be seen."""
        x, y, z = (middle @ self.turn).T
        inside = x > -radius
        for side, k in ((y, 0), (z, 1)):
            low, high = self.first[k], self.first[k] + self.extent[k]
            inside &= side - low * x > -radius * np.hypot(1.0, low)
            inside &= high * x - side > -radius * np.hypot(1.0, high)
        return np.asarray(inside)

    def around(self, middle: Array, radius: Array) -> Array:
        """(4, 2) corners, from −1 to 1 across it, of a rectangle that holds spheres about places
        from the eye (B, 3)."""
        if not len(middle):
            return NOWHERE
        x, *sides = (middle @ self.turn).T
        near = x - radius
        if np.any(near < 0.05 * radius):
            return WHOLE
        ends = []
        for k, side in enumerate(sides):
            low, high = side - radius, side + radius
            low = (np.minimum(low / near, low / (x + radius)) - self.first[k]) / self.extent[k]
            high = (np.maximum(high / near, high / (x + radius)) - self.first[k]) / self.extent[k]
            ends.append((2.0 * low.min() - 1.0, 2.0 * high.max() - 1.0))
        (left, right), (top, bottom) = np.clip(ends, -1.0, 1.0)
        return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])

    def part(self, falling: Array, least: float, most: float) -> Array:
        """(K, 2) corners, from −1 to 1 across it, of a part that holds all unit vectors in the
        camera's axes whose product with a vector (3,) lies between bounds, and some beside."""
        corners = WHOLE
        for side, bound in ((1.0, least), (-1.0, -most)):
            tangents = self.first + 0.5 * (corners + 1.0) * self.extent
            along = np.column_stack([np.ones(len(tangents)), tangents])
            longest = float(np.linalg.norm(along, axis=1).max(initial=1.0))
            over = along @ (side * falling) - (bound if bound > 0.0 else bound * longest)
            corners = _clipped(corners, over + ABOUT_LEVEL)
        return corners


def _clipped(corners: Array, over: Array) -> Array:
    """The part of a convex outline (K, 2) where what is known at its corners is positive."""
    found = []
    for k in range(len(corners)):
        a, b = over[k - 1], over[k]
        if (a > 0.0) != (b > 0.0):
            found.append(corners[k - 1] + a / (a - b) * (corners[k] - corners[k - 1]))
        if b > 0.0:
            found.append(corners[k])
    return np.array(found) if found else NOWHERE


def bands_of(shot: Shot) -> list[slice]:
    """Rows of the picture that are drawn together."""
    rows = shot.lens.height
    if shot.motion is None:
        return [slice(0, rows)]
    angle = float(np.linalg.norm(shot.motion.turn) * np.ptp(shot.motion.late))
    edges = np.linspace(0, rows, min(rows, 1 + int(angle / MOST_TURN)) + 1).round().astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def frame_of(shot: Shot, band: slice) -> Frame:
    """For some rows of a shot."""
    lens, motion = shot.lens, shot.motion
    eye, turn, time, rows = shot.position, rotation_matrix(shot.attitude), shot.time, None
    if motion is not None:
        middle = float(motion.late[band].mean())
        eye = eye + middle * motion.velocity
        turn = turn @ turns(motion.turn, np.array([middle]))[0]
        time += middle
        late = motion.late - middle
        if np.ptp(late) > 0.0:
            rows = np.zeros((len(late), 4, 4))
            rows[:, :3, :3] = turn @ turns(motion.turn, late)
            rows[:, :3, 3] = np.outer(late, motion.velocity)
            rows[:, 3, 0] = late
    if rows is None and not any(lens.distortion):
        half = 0.5 * np.array([lens.width, lens.height]) / lens.focal_length
        return Frame(eye, turn, -half, 2.0 * half, (lens.width, lens.height), None, time)
    low, high = _extent(lens, turn, rows, band)
    step = float(np.abs(_smallest_step(lens)))
    wanted = np.ceil(FINER * (high - low) / step)
    columns, lines = (int(np.clip(side, 1, LARGEST)) for side in wanted)
    single = None if rows is None else rows.astype(np.float32)
    return Frame(eye, turn, low, high - low, (columns, lines), single, time)


def _extent(lens: Lens, turn: Array, rows: Array | None, band: slice) -> tuple[Array, Array]:
    """Least and greatest tangents (2,) of the directions of some rows of a lens, seen by the camera
    of the middle."""
    own = lens.rays.reshape(lens.height, lens.width, 3)
    some = np.unique(np.linspace(band.start, band.stop - 1, SAMPLED).astype(int))
    along = own[some]
    if rows is not None:
        along = np.einsum("rij,rcj->rci", np.swapaxes(turn[None], 1, 2) @ rows[some, :3, :3], along)
    ahead = np.maximum(along[..., :1], 1.0 / WIDEST)
    tangents = np.clip(along[..., 1:] / ahead, -WIDEST, WIDEST).reshape(-1, 2)
    low, high = tangents.min(axis=0), tangents.max(axis=0)
    # Half a pixel more all around, what lies between the rows that were looked at, and what comes
    # into view while the camera moves on.
    more = 2.0 / lens.focal_length + 0.02 * (high - low)
    return low - more, high + more


def _smallest_step(lens: Lens) -> float:
    """Of tangents, from one pixel of a lens to the next: in its middle and at its corners."""
    x, y = np.array(
        [lens.rays[i, 1:] / lens.rays[i, 0] for i in (0, lens.width - 1, -lens.width, -1)]
        + [np.zeros(2)]
    ).T
    aside, below = lens.pixel_steps(x, y)
    return float(min(np.hypot(*aside).min(), np.hypot(*below).min()))


def three_of(four: NDArray[np.float32]) -> NDArray[np.float32]:
    """The first three of four numbers; one after the other, which takes half as long as at once."""
    found = np.empty((*four.shape[:2], 3), np.float32)
    for c in range(3):
        found[..., c] = four[..., c]
    return found
