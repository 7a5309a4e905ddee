"""What a receiver makes of the echoes in its bins: the sum over a pulse, what is lost on the way,
noise, speckle and decibels.

All of it is done to every cell of a picture, hundreds of thousands of them: one compiled program
goes over a cell once, and other threads go on meanwhile.
"""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.programs import compile_program
from seatrial.sensors.noise.draws import threefry
from seatrial.sensors.sonar.bins import Picture, pulse_weights, summed

Array = NDArray[np.float64]


class Pulse(NamedTuple):
    """How long pulses are, over the bins."""

    weights: Picture
    """(K, M) of the bin itself, and of those beside it that are not heard whole, the nearer first.
    """
    whole: int
    """Bins to either side, with the one that is told, that are heard whole; the same for all pulses
    of a receiver."""


def pulse(lengths: Array, least: float, most: float) -> Pulse:
    """Pulses that cover so many bins (K,), between the `least` and the `most` that the receiver ever
    has."""
    whole = max(math.floor(0.5 * least), 1)
    beside = math.ceil(0.5 * most + 1.0)
    weights = pulse_weights(lengths, beside)
    return Pulse(np.delete(weights, np.s_[1:whole], axis=1).astype(np.float32), whole)
