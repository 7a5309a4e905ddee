"""Taps of dense sensors expanded into the measurements that leave a run, on all cores.

The same function serves a run, block by block, and whoever steers by a dense sensor, sample by
sample. A sample depends on its own tap alone, so neither blocks nor cores change a byte.
"""

import math
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.ocean import Ocean
from seatrial.sensors.tap import DenseSensor, Expanded, Tap
from seatrial.signals import Measurements

PART = 128
"""Most samples that are expanded together: loops of NumPy so long that it costs threads little to
wake each other behind them, and short enough for the cache."""
LARGE = 1 << 17
"""Bytes of a sample that is long enough a loop alone."""

USUAL_SAMPLE = 128
"""Bytes of a sample without an array."""


def weight(dense: DenseSensor) -> int:
    """How many usual samples one of a dense sensor weighs in memory."""
    info = dense.payload
    size = np.dtype(info.dtype).itemsize * int(np.prod(info.shape))
    return 1 + size // USUAL_SAMPLE


def samples_together(dense: DenseSensor, count: int) -> int:
    """How many samples of so many are expanded at once: as many parts for each core."""
    info = dense.payload
    if np.dtype(info.dtype).itemsize * int(np.prod(info.shape)) >= LARGE:
        return 1
    cores = os.cpu_count() or 1
    rounds = max(1, math.ceil(count / (PART * cores)))
    return max(1, math.ceil(count / (rounds * cores)))


def expand(
    dense: DenseSensor, tap: Tap, taps: Measurements, keys: NDArray[np.uint32], ocean: Ocean
) -> Measurements:
    """Measurements of the dense sensor from samples of its tap, vehicles on the second axis.

    `keys` (2, N) are the vehicles' random streams. Where a tap is invalid nothing is expanded:
    numbers and array are 0 there.
    """
    info = dense.payload
    vehicles = taps.valid.shape[1]
    flat = taps.values.reshape(-1, taps.values.shape[-1])
    chosen = np.flatnonzero(taps.valid)
    views, keep, shift = tap.read(flat[chosen], np.ascontiguousarray(keys.T)[chosen % vehicles])
    values = np.zeros((len(flat), keep.shape[1]), taps.values.dtype)
    valid = np.zeros(len(flat), np.bool_)
    payload: NDArray[Any] = np.zeros((len(flat), *info.shape), info.dtype)

    together = samples_together(dense, len(chosen))

    def fill(first: int) -> None:
        part = slice(first, first + together)
        some: Expanded = dense.expand(views.part(part), ocean)
        at = chosen[part]
        values[at] = np.where(some.valid[:, None], keep[part] * some.values + shift[part], 0.0)
        valid[at] = some.valid
        payload[at] = some.payload

    starts = range(0, len(chosen), together)
    if len(starts) > 1:
        list(_workers().map(fill, starts))
    else:
        for first in starts:
            fill(first)
    shape = taps.valid.shape
    return replace(
        taps,
        values=values.reshape(*shape, keep.shape[1]),
        valid=valid.reshape(shape),
        payload=payload.reshape(*shape, *info.shape),
    )


@cache
def _workers() -> Executor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="taps")
