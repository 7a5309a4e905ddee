"""Loop closures in a sequence of pictures with depth, as RTAB-Map finds them in principle.

Every picture has ORB features (Rublee and others 2011). The hypothesis of a picture is the one
among all that were taken well before it with which most of its features agree (Lowe's ratio test).
A hypothesis is accepted when at least `INLIERS` of the matches fit one motion of the camera between
the two, found by RANSAC from the depths of the earlier picture (perspective from n points), and
rejected otherwise; 20 is RTAB-Map's own number (Labbé and Michaud 2019).

The truth says whether an accepted one is right: its motion is within `TURN` and `SHIFT` of what the
vehicle did. A picture could have closed the loop if an earlier one looked nearly the same way.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.exports.axes import matrix, optical
from seatrial.dataset.pictures.pixels import read_depth, read_png
from seatrial.dataset.sequence import Camera, Dataset
from seatrial.errors import SeatrialError

Array = NDArray[np.float64]

FEATURES = 500
RATIO = 0.75
FEWEST = 12
"""Matches that make a hypothesis."""
INLIERS = 20
ERROR = 3.0
"""Of a match that fits, px."""
FARTHEST = 60.0
"""Depth beyond which a place is not used, m."""
TURN, SHIFT = math.radians(3.0), 1.0
"""By which an accepted motion may be wrong, rad and m."""
ALIKE = math.radians(10.0)
"""Between the headings of two pictures that show the same, rad."""


@dataclass(frozen=True)
class Closures:
    """What became of the pictures of a run."""

    pictures: int
    features: float
    """In a picture, in the mean."""
    accepted: int
    rejected: int
    right: int
    """Of those accepted."""
    possible: int
    """Pictures for which an earlier one looked nearly the same way."""
    missed: int
    """Of those, without a right closure."""
    pairs: tuple[tuple[int, int, int, bool], ...]
    """Picture, its hypothesis, inliers, and whether it was accepted."""

    @property
    def wrong(self) -> int:
        """Accepted, and not so."""
        return self.accepted - self.right


def close_loops(data: Dataset, apart: float) -> Closures:
    """Loop closures of a dataset's first camera between pictures at least so far apart, s."""
    cv = opencv()
    camera = data.cameras[0]
    motion = data.motion(camera.folder).of(optical(camera.mounting))
    poses = [matrix(p, q) for p, q in zip(motion.position, motion.attitude, strict=True)]
    gap = math.ceil(apart * camera.rate)
    orb, matcher = cv.ORB_create(FEATURES), cv.BFMatcher(cv.NORM_HAMMING)
    seen = [_features(cv, orb, data, camera, i) for i in range(camera.frames)]
    pairs, right, possible, missed = [], 0, 0, 0
    for i in range(camera.frames):
        earlier = range(max(0, i - gap + 1))
        alike = any(_turned(poses[k], poses[i]) < ALIKE for k in earlier)
        best: list[tuple[int, int]] = []
        hypothesis = -1
        for k in earlier:
            matches = _matches(matcher, seen[i], seen[k])
            if len(matches) > len(best):
                best, hypothesis = matches, k
        true = False
        if len(best) >= FEWEST:
            found = _motion(cv, camera, seen[i], seen[hypothesis], best)
            inliers = 0 if found is None else found[1]
            accepted = inliers >= INLIERS
            if accepted and found is not None:
                true = _agrees(found[0], poses[hypothesis], poses[i])
            pairs.append((i, hypothesis, inliers, accepted))
        right += true
        possible += alike
        missed += alike and not true
    accepted_count = sum(p[3] for p in pairs)
    return Closures(
        pictures=camera.frames,
        features=float(np.mean([len(s.places) for s in seen])),
        accepted=accepted_count,
        rejected=len(pairs) - accepted_count,
        right=right,
        possible=possible,
        missed=missed,
        pairs=tuple(pairs),
    )


@dataclass(frozen=True)
class _Features:
    places: Array
    """(F, 2) columns and rows."""
    points: Array
    """(F, 3) in optical axes, m; NaN where no depth is known."""
    descriptors: Any


def _features(cv: Any, orb: Any, data: Dataset, camera: Camera, frame: int) -> _Features:
    grey = cv.cvtColor(read_png(data.picture(camera, "A", frame)), cv.COLOR_RGB2GRAY)
    keys, descriptors = orb.detectAndCompute(grey, None)
    if descriptors is None:
        return _Features(np.zeros((0, 2)), np.zeros((0, 3)), None)
    places = np.array([key.pt for key in keys], np.float64)
    depth = read_depth(data.picture(camera, "D", frame), data.manifest["depth_range"])
    column, row = np.rint(places).astype(int).T
    far = depth[row, column].astype(np.float64)
    far[far > FARTHEST] = np.nan
    fx, fy, cx, cy = camera.intrinsics
    rays = np.column_stack([(places[:, 0] - cx) / fx, (places[:, 1] - cy) / fy, np.ones(len(far))])
    return _Features(places, rays * far[:, None], descriptors)


def _matches(matcher: Any, now: _Features, before: _Features) -> list[tuple[int, int]]:
    if now.descriptors is None or before.descriptors is None or len(before.places) < 2:
        return []
    pairs = matcher.knnMatch(now.descriptors, before.descriptors, k=2)
    return [(a.queryIdx, a.trainIdx) for a, b in pairs if a.distance < RATIO * b.distance]


def _motion(
    cv: Any, camera: Camera, now: _Features, before: _Features, matches: list[tuple[int, int]]
) -> tuple[Array, int] | None:
    """Transform from the earlier camera to this one, and how many matches fit it."""
    here, there = np.array(matches).T
    points, places = before.points[there], now.places[here]
    known = np.isfinite(points).all(axis=1)
    if known.sum() < 6:
        return None
    fx, fy, cx, cy = camera.intrinsics
    lens = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    cv.setRNGSeed(1)
    done, turn, shift, fit = cv.solvePnPRansac(
        points[known], places[known], lens, np.array(camera.distortion), reprojectionError=ERROR
    )
    if not done or fit is None:
        return None
    found = np.eye(4)
    found[:3, :3] = cv.Rodrigues(turn)[0]
    found[:3, 3] = shift.ravel()
    return found, len(fit)


def _agrees(found: Array, before: Array, now: Array) -> bool:
    """Whether a motion is the one that was made."""
    true = np.linalg.inv(now) @ before
    off = np.linalg.norm(found[:3, 3] - true[:3, 3])
    return bool(_turned(found, true) < TURN and off < SHIFT)


def _turned(a: Array, b: Array) -> float:
    """Angle between two rotations, rad."""
    cosine = 0.5 * (np.trace(a[:3, :3].T @ b[:3, :3]) - 1.0)
    return math.acos(min(1.0, max(-1.0, cosine)))


def opencv() -> Any:
    """OpenCV, or which package has it."""
    try:
        import cv2
    except ImportError:
        raise SeatrialError(
            "this study looks at pictures with OpenCV: pip install opencv-python-headless"
        ) from None
    return cv2
