"""Noise of few paths per pixel taken out by Open Image Denoise, or by a box filter.

Only the noisy picture itself is given to it: with albedo and normals as guides it would stamp what
lies behind the water onto the water (Zwilgmeyer 2021, section 5.7.1).
"""

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from seatrial.errors import SeatrialError
from seatrial.render.traced.backend import mitsuba
from seatrial.render.traced.settings import Denoise

Picture = NDArray[np.float32]


BOX = 3
"""Side of the box filter, px."""


def denoised(picture: Picture, how: Denoise) -> Picture:
    """(H, W, 3) linear radiance without its noise."""
    if how == "none":
        return picture
    if how == "box":
        return np.asarray(uniform_filter(picture, (BOX, BOX, 1), mode="nearest"), np.float32)
    if find_spec("mitsuba_oidn") is None:
        raise SeatrialError("denoising needs Open Image Denoise: pip install 'seatrial[pictures]'")
    mitsuba()  # chooses LLVM before the import below does
    import mitsuba_oidn as oidn

    # It takes a mean of less than 1e-8 for one, and draws light into pictures of the night.
    mean = np.float32(picture.mean(dtype=np.float64))
    if not mean > 0.0:
        return picture
    found = oidn.denoise(np.ascontiguousarray(picture / mean, np.float32), hdr=True)
    return np.asarray(np.maximum(mean * np.asarray(found), 0.0), np.float32)
