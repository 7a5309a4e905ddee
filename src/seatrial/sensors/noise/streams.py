"""Random numbers of dense sensors, drawn outside the compiled loop, sample by sample.

Philox-4x64 (Salmon et al. 2011) keyed by the sensor's stream, with the number of the sample as the
counter: a sample has the same numbers whatever is drawn before it.
"""

import numpy as np
from numpy.typing import NDArray


def stream(key: NDArray[np.uint32], number: int) -> np.random.Generator:
    """The random numbers of one sample of the sensor that has a key of two words."""
    wide = (int(key[0]) << 32) | int(key[1])
    return np.random.Generator(np.random.Philox(key=wide, counter=number << 192))
