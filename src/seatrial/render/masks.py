"""Colours of masks, for people to look at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN = 0.618034
"""Turn of the colour wheel from one number to the next: neighbours are far apart in colour."""
THIRDS = np.array([0.0, 2.1, 4.2])
"""Of a turn, from red to green to blue, rad."""


def coloured(numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """(H, W, 3) colours of numbers (H, W), one for each; 0, nothing, is black."""
    hue = 2.0 * np.pi * GOLDEN * numbers.astype(np.float64)[..., None]
    shades = 140.0 + 115.0 * np.cos(hue + THIRDS)
    return np.where(numbers[..., None] > 0, shades, 0.0).astype(np.uint8)
