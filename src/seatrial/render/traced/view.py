"""A camera as a thin lens: where its rays begin, and where they go.

A lens of focal length f and f-number N has an opening of the radius f / 2N. What lies at its focus
is sharp; a point elsewhere is spread over a disc (Hecht 2017, Optics, section 5.2.3).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.render.lens import pixel_rays
from seatrial.render.picture import Aperture, Lens, Shot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """A shot, and where its rays go."""

    shot: Shot

    @property
    def aperture(self) -> Aperture:
        """Opening of the lens."""
        return self.shot.lens.aperture

    @property
    def width(self) -> int:
        """Of the picture."""
        return self.shot.lens.width

    @property
    def height(self) -> int:
        """Of the picture."""
        return self.shot.lens.height

    @property
    def position(self) -> Array:
        """(3,) NED, m."""
        return np.asarray(self.shot.position, np.float64)

    @property
    def axes(self) -> Array:
        """(3, 3) camera's axes to the world's: columns forward, right and down."""
        return rotation_matrix(self.shot.attitude)

    @property
    def under_water(self) -> bool:
        """Whether the camera is below the mean level of the sea."""
        return bool(self.position[2] > 0.0)

    @property
    def corners(self) -> Array:
        """(H + 1, W + 1, 2) right and down over forward, of rays through corners of pixels."""
        return _corners(self.shot.lens)

    @cached_property
    def rays(self) -> Array:
        """(H W, 3) unit vectors through the middles of the pixels, in the world."""
        return np.asarray(self.shot.lens.rays @ self.axes.T)


@lru_cache(maxsize=8)
def _corners(lens: Lens) -> Array:
    rays = pixel_rays(lens.width + 1, lens.height + 1, lens.focal_length, lens.distortion)
    if rays is None:
        raise ValueError("this distortion folds the picture over within its frame")
    return (rays[:, 1:] / rays[:, :1]).reshape(lens.height + 1, lens.width + 1, 2)
