"""Random numbers of one sample of a dense sensor, which is made outside the compiled loop."""

import numpy as np
from numpy.typing import NDArray


def stream(key: NDArray[np.uint32], number: int) -> np.random.Generator:
    """Philox-4x64 (Salmon et al. 2011) keyed by a sensor's stream (2,), with the number of the
    sample as the counter: a sample's noise does not depend on what else is computed with it."""
    wide = (int(key[0]) << 32) | int(key[1])
    return np.random.Generator(np.random.Philox(key=wide, counter=int(number) << 192))
