"""All sensors of a vehicle, each at its own rate, inside the compiled run.

Time is counted in time steps. A sensor of period P takes its sample number k at step k P. Sensors
of one period are looked at together, so they share what is costly to see. Random numbers of a
window of steps are drawn all at once, before the window is run.
"""

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from seatrial import faults as faulting
from seatrial.faults import LosesLock, SensorFault
from seatrial.pytree import batched, pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.noise import draws as drawing
from seatrial.sensors.noise.draws import Wanted
from seatrial.sensors.sensor import Sensor

MOST_JITTER = 4.0
"""Jitter is cut at so many standard deviations."""


@pytree
class Fitted:
    """A sensor as it is fitted to the vehicles of a group."""

    sensor: Sensor
    keys: jax.Array = batched()
    """(2, N) of the sensor's own noise."""
    latency: jax.Array
    """From taking a sample to having it, s."""
    jitter: jax.Array | None
    """Standard deviation of the latency, s."""
    jitter_keys: jax.Array | None = batched()
    """(2, N)."""
    faults: tuple[SensorFault, ...]
    size: int = static()
    """Numbers in a measurement."""
    period: int = static()
    """Time steps from sample to sample."""
    interval: float = static()
    """The same in seconds."""
    inertial: bool = static()
    """Whether it feels the acceleration."""
    contacts: bool = static(default=False)
    """Whether it looks for other vehicles."""

    @property
    def streams(self) -> list[tuple[jax.Array, int]]:
        """Keys and numbers per sample of its noise, of its jitter, and of each of its faults."""
        jitter = [] if self.jitter_keys is None else [(self.jitter_keys, 1)]
        broken = [(fault.keys, self.size + 1) for fault in self.faults]
        return [(self.keys, self.sensor.draws), *jitter, *broken]


class Sample(NamedTuple):
    """One measurement of every vehicle, or a window of them with samples in front.

    It is kept as one array, the values and three rows under them: a loop that carries many small
    arrays spends its time on carrying.
    """

    rows: jax.Array
    """(D + 3, N)."""

    @property
    def values(self) -> jax.Array:
        """(D, N)."""
        return self.rows[..., :-3, :]

    @property
    def valid(self) -> jax.Array:
        """(N,) whether the sensor said anything."""
        return self.rows[..., -3, :] > 0.5

    @property
    def delay(self) -> jax.Array:
        """(N,) from taking the sample to having it, s."""
        return self.rows[..., -2, :]

    @property
    def fault(self) -> jax.Array:
        """(N,) bits of the faults that distort it, as a whole number."""
        return self.rows[..., -1, :]

    def silent(self, alive: jax.Array) -> "Sample":
        """The same, but invalid where a vehicle is not alive."""
        valid = jnp.where(alive, self.rows[..., -3, :], 0.0)
        return Sample(self.rows.at[..., -3, :].set(valid))


class Sensing(NamedTuple):
    """What a sensor hands from one sample to the next."""

    memory: jax.Array
    last: Sample


class Window(NamedTuple):
    """A sensor's share of a window of time steps."""

    first: jax.Array
    """Number of its first sample in the window."""
    noise: jax.Array
    """(samples, draws, N)."""
    delay: jax.Array | None
    """(samples, 1, N)."""
    fault_noise: tuple[jax.Array, ...]
    """(samples, D + 1, N) of every fault."""
    taken: Sample
    """(samples, …): the measurements, filled in as the window is run."""


def begin(suite: tuple[Fitted, ...], count: int, dtype: Any) -> tuple[Sensing, ...]:
    """All sensors of `count` vehicles before their first sample."""
    start = jnp.int64(drawing.START)
    wanted = [Wanted(f.keys, start, 1, f.sensor.starting_draws) for f in suite]
    drawn = drawing.normals(wanted, dtype) if wanted else ()
    return tuple(
        Sensing(f.sensor.begin(draws[0]), Sample(jnp.zeros((f.size + 3, count), dtype)))
        for f, draws in zip(suite, drawn, strict=True)
    )


def open_window(
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    starts: tuple[jax.Array, ...],
    steps: int,
) -> tuple[Window, ...]:
    """Draw the random numbers of `steps` time steps, and make room for samples.

    `starts` says for each sensor at which time step its window begins.
    """
    firsts = [-(-start // f.period) for f, start in zip(suite, starts, strict=True)]
    wanted = [
        Wanted(keys, first + 1, ceil(steps / f.period), count)
        for f, first in zip(suite, firsts, strict=True)
        for keys, count in f.streams
    ]
    drawn = iter(drawing.normals(wanted, sensing[0].last.rows.dtype) if wanted else ())
    windows = []
    for fitted, (_, last), first in zip(suite, sensing, firsts, strict=True):
        noise = next(drawn)
        delay = None if fitted.jitter_keys is None else next(drawn)
        disturbed = tuple(next(drawn) for _ in fitted.faults)
        room = jnp.zeros((len(noise), *last.rows.shape), last.rows.dtype)
        windows.append(Window(first, noise, delay, disturbed, Sample(room)))
    return tuple(windows)


def sense(
    suite: tuple[Fitted, ...],
    which: Sequence[int],
    sensing: tuple[Sensing, ...],
    windows: tuple[Window, ...],
    since: jax.Array,
    index: jax.Array,
    look: Look,
    tick: int,
) -> tuple[tuple[Sensing, ...], tuple[Window, ...]]:
    """Let those of the sensors `which` that are due at step `index` take their samples.

    `since` (F, N) is when each fault of the vehicles set in, infinite while it is away. These
    sensors are asked every `tick` steps.
    """
    after, filled = list(sensing), list(windows)
    for period in sorted({suite[i].period for i in which}):
        places = [i for i in which if suite[i].period == period]

        def sample(before: list[Sensing], places: list[int] = places) -> list[Sensing]:
            return [
                _measure(suite[i], old, windows[i], since, index, look)
                for i, old in zip(places, before, strict=True)
            ]

        before = [sensing[i] for i in places]
        if period == tick:
            taken = sample(before)
        else:
            taken = jax.lax.cond(index % period == 0, sample, lambda old: old, before)
        for i, new in zip(places, taken, strict=True):
            after[i] = new
            filled[i] = _put(windows[i], index // period, new.last)
    return tuple(after), tuple(filled)


def _put(window: Window, number: jax.Array, sample: Sample) -> Window:
    """Write a sample into its row; before the first one of a window its row is overwritten."""
    row = jnp.maximum(number - window.first, 0)
    rows = jax.lax.dynamic_update_index_in_dim(window.taken.rows, sample.rows, row, 0)
    return window._replace(taken=Sample(rows))


def _measure(
    fitted: Fitted,
    before: Sensing,
    window: Window,
    since: jax.Array,
    index: jax.Array,
    look: Look,
) -> Sensing:
    row = index // fitted.period - window.first
    memory, last = before.memory, before.last
    for fault in fitted.faults:
        if fault.kind == "loss_of_lock":
            lost = jnp.isfinite(since[fault.index])
            memory = cast(LosesLock, fitted.sensor).lose_lock(memory, lost, look.t)
    reading = fitted.sensor.measure(memory, look, _row(window.noise, row))
    dtype = last.rows.dtype
    finite = jnp.all(jnp.isfinite(reading.values), axis=0)
    values = jnp.where(finite, reading.values, 0.0).astype(dtype)
    valid = reading.valid & finite
    delay = jnp.broadcast_to(fitted.latency, valid.shape)
    if reading.delay is not None:
        delay = delay + reading.delay.astype(dtype)
    if fitted.jitter is not None and window.delay is not None:
        spread = jnp.clip(_row(window.delay, row)[0], -MOST_JITTER, MOST_JITTER)
        delay = jnp.maximum(delay + fitted.jitter * spread, 0.0)
    bits = jnp.zeros_like(delay)
    for fault, noise in zip(fitted.faults, window.fault_noise, strict=True):
        values, valid, late, struck = faulting.distort(
            fault,
            since[fault.index],
            values,
            valid,
            last.values,
            last.valid,
            look.t,
            _row(noise, row),
        )
        values, delay = values.astype(dtype), delay + late.astype(dtype)
        bits = bits + jnp.where(struck, float(1 << fault.index), 0.0).astype(dtype)
    if fitted.jitter is not None or fitted.faults or reading.delay is not None:
        # A message does not overtake the one before it.
        delay = jnp.maximum(delay, last.delay - fitted.interval)
    below = jnp.stack([valid.astype(dtype), delay.astype(dtype), bits])
    return Sensing(reading.memory, Sample(jnp.concatenate([values, below])))


def _row(rows: jax.Array, row: jax.Array) -> jax.Array:
    found: jax.Array = jax.lax.dynamic_index_in_dim(rows, row, 0, keepdims=False)
    return found
