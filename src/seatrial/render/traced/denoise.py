"""Noise of few paths per pixel taken out by Open Image Denoise.

Only the noisy picture itself is given to it: with albedo and normals as guides it would stamp what
lies behind the water onto the water (Zwilgmeyer 2021, section 5.7.1).
"""

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import SeatrialError
from seatrial.render.traced.backend import mitsuba

Picture = NDArray[np.float32]


def denoised(picture: Picture) -> Picture:
    """(H, W, 3) linear radiance without its noise."""
    if find_spec("mitsuba_oidn") is None:
        raise SeatrialError("denoising needs Open Image Denoise: pip install 'seatrial[pictures]'")
    mitsuba()  # chooses LLVM before the import below does
    import mitsuba_oidn as oidn

    found = oidn.denoise(np.ascontiguousarray(picture, np.float32), hdr=True)
    return np.maximum(np.asarray(found, np.float32), 0.0)
