"""Pictures of lenses that distort, for a renderer whose cameras are straight.

A straight camera at the same place draws a finer picture that is wide enough. Each pixel of the
distorting one is the mean of what lies at some places of it there (bilinear between pixels).
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from seatrial.render.picture import STRAIGHT, Lens
from seatrial.render.traced.view import View

Picture = NDArray[np.float32]

FINER = 2
"""Pixels of the straight picture to one of the other, along each side, where they look alike."""


def straight(view: View) -> Lens:
    """The lens of the straight camera; its own where that does not distort."""
    lens = view.shot.lens
    if lens.distortion == STRAIGHT:
        return lens
    focal = FINER * lens.focal_length
    reach = np.abs(view.corners).reshape(-1, 2).max(axis=0)
    width, height = (2 * math.ceil(focal * far) + 2 for far in reach)
    return Lens(width, height, focal, aperture=lens.aperture)


def paths(view: View, samples: int) -> int:
    """Of a pixel of the straight picture, of so many of a pixel of the other."""
    return samples if view.shot.lens.distortion == STRAIGHT else math.ceil(samples / FINER**2)


def bent(picture: Picture, view: View) -> Picture:
    """(H, W, 3) from what the straight camera drew."""
    if view.shot.lens.distortion == STRAIGHT:
        return picture
    lens, corners = straight(view), view.corners
    middle = 0.5 * (lens.width - 1), 0.5 * (lens.height - 1)
    total = np.zeros((view.height, view.width, 3))
    steps = (np.arange(FINER) + 0.5) / FINER
    for t in steps:
        for s in steps:
            upper = corners[:-1, :-1] * (1.0 - s) + corners[:-1, 1:] * s
            lower = corners[1:, :-1] * (1.0 - s) + corners[1:, 1:] * s
            place = lens.focal_length * (upper * (1.0 - t) + lower * t) + middle
            at = place[..., 1], place[..., 0]
            for band in range(3):
                total[..., band] += map_coordinates(picture[..., band], at, order=1, mode="nearest")
    return (total / FINER**2).astype(np.float32)
