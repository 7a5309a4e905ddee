"""The water over depth as sonars feel it, and how sound bends in it.

Where the sound speed c depends on depth alone, the angle θ of a ray from the vertical obeys Snell's
law, sin θ / c = p. In a layer of thickness h with a constant gradient the ray is an arc of a circle
(Jensen et al. 2011, section 3.3; Lurton 2010, section 2.8); between its ends, 1 and 2, it goes

    Δx = h (sin θ₁ + sin θ₂) / (cos θ₁ + cos θ₂)
    Δt = h / (c₂ − c₁) · ln[ c₂ (1 + cos θ₁) / (c₁ (1 + cos θ₂)) ]

A ray that is bent to the horizontal is given up there.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_LAYERS = 32
"""Of a ray's way: their chords stand for the arcs."""

BEND = 1e-4
"""Relative change of the sound speed over a layer, unless there are too many: a ray at 65 degrees
turns by 2e-4 rad in it, and its chord is 3e-5 of its length off."""

UNIFORM = 1e-9
"""Relative change of the sound speed over a layer below which a ray is straight in it."""


class Rays(NamedTuple):
    """Rays at the depths at which layers begin: B of each of K pings."""

    depth: Array
    """(K, M + 1, 1) m."""
    speed: Array
    """(K, M + 1, 1) of sound there, m/s."""
    cosine: Array
    """(K, M + 1, B) of the angle from the vertical; nan below where a ray turned."""
    out: Array
    """(K, M + 1, B) horizontal distance from the start, m."""
    time: Array
    """(K, M + 1, B) from the start, s."""


@dataclass(frozen=True)
class Column:
    """Water by depth; beyond its ends it goes on with its last values."""

    depth: Array
    """(Z,) rising, m."""
    speed: Array
    """(Z,) of sound, m/s."""
    absorption: Array
    """(Z,) at the sonar's frequency, dB/m."""

    @cached_property
    def _change(self) -> Array:
        """(Z,) by how much the sound speed has changed on the way down, m/s."""
        return np.concatenate([[0.0], np.cumsum(np.abs(np.diff(self.speed)))])

    def speed_at(self, depth: float | Array) -> Any:
        """Of sound, m/s."""
        return np.interp(depth, self.depth, self.speed)

    def absorption_at(self, depth: float | Array) -> Any:
        """dB/m."""
        return np.interp(depth, self.depth, self.absorption)

    def layers(self, start: Array, end: Array) -> NDArray[np.int64]:
        """(K,) into how many the water between two depths is cut, so that the sound speed changes
        little in each."""
        first, last = (np.interp(depth, self.depth, self._change) for depth in (start, end))
        count = np.ceil((last - first) / (BEND * self.speed_at(start)))
        return np.asarray(np.clip(count, 1, MOST_LAYERS), np.int64)

    def trace(self, start: Array, end: Array, layers: int, sine: Array) -> Rays:
        """Rays from depths (K,) down to others, through layers in which the sound speed changes
        equally much, at sines (K, B) of the angle from the vertical, below 1."""
        first, last = (np.interp(depth, self.depth, self._change) for depth in (start, end))
        share = np.linspace(0.0, 1.0, layers + 1)
        depth = np.interp(
            first[:, None] + share * (last - first)[:, None], self._change, self.depth
        )
        # Where the change is none at all, any depth has the same.
        depth = np.clip(depth, start[:, None], end[:, None])
        depth[:, 0], depth[:, -1] = start, end
        depth = depth[..., None]
        speed = self.speed_at(depth)
        sine = sine[:, None] * (speed / speed[:, :1])
        cosine = 1.0 - sine * sine
        with np.errstate(invalid="ignore"):
            np.sqrt(cosine, out=cosine)  # nan where the ray has turned
        out, time = (np.zeros_like(sine) for _ in range(2))
        thick = np.diff(depth, axis=1)
        upper, lower = cosine[:, :-1], cosine[:, 1:]
        wide = sine[:, 1:] + sine[:, :-1]
        wide /= upper + lower
        wide *= thick
        steps = wide, _time_over(thick, speed[:, :-1], speed[:, 1:], upper, lower)
        for total, step in zip((out, time), steps, strict=True):
            for m in range(layers):  # NumPy is slow at running sums along an inner axis
                np.add(total[:, m], step[:, m], out=total[:, m + 1])
        return Rays(depth, speed, cosine, out, time)


def _time_over(h: Array, c1: Array, c2: Array, cos1: Array, cos2: Array) -> Array:
    """Δt."""
    rise = c2 - c1
    straight = np.abs(rise) < UNIFORM * c1
    if straight.all():
        return h / (c1 * cos1)
    bent = 1.0 + cos1
    bent /= 1.0 + cos2
    bent *= c2 / c1
    np.log(bent, out=bent)
    bent *= h / np.where(straight, 1.0, rise)
    return np.where(straight, h / (c1 * cos1), bent) if straight.any() else bent
