"""The water over depth as sonars feel it, and how sound bends in it.

Where the sound speed c depends on depth alone, the angle θ of a ray from the vertical obeys Snell's
law, sin θ / c = p. In a layer of thickness h with a constant gradient the ray is an arc of a circle
(Jensen et al. 2011, section 3.3; Lurton 2010, section 2.8); between its ends, 1 and 2, it goes

    Δx = h (sin θ₁ + sin θ₂) / (cos θ₁ + cos θ₂)
    Δt = h / (c₂ − c₁) · ln[ c₂ (1 + cos θ₁) / (c₁ (1 + cos θ₂)) ]

A ray that is bent to the horizontal is given up there.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

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
    """Rays at the depths at which layers begin, B of them."""

    depth: Array
    """(M + 1,) m."""
    out: Array
    """(B, M + 1) horizontal distance from the start, m; nan below where a ray turned."""
    time: Array
    """(B, M + 1) from the start, s."""


@dataclass(frozen=True)
class Column:
    """Water by depth; beyond its ends it goes on with its last values."""

    depth: Array
    """(Z,) rising, m."""
    speed: Array
    """(Z,) of sound, m/s."""
    absorption: Array
    """(Z,) at the sonar's frequency, dB/m."""

    def speed_at(self, depth: float) -> float:
        """Of sound, m/s."""
        return float(np.interp(depth, self.depth, self.speed))

    def absorption_at(self, depth: float) -> float:
        """dB/m."""
        return float(np.interp(depth, self.depth, self.absorption))

    def trace(self, start: float, end: float, angle: Array) -> Rays:
        """Rays from a depth down to another one, at angles (B,) from the vertical below π/2."""
        depth = self._layers(start, end)
        speed = np.interp(depth, self.depth, self.speed)
        sine = np.sin(angle)[:, None] * (speed / speed[0])
        with np.errstate(invalid="ignore"):
            cosine = np.sqrt(1.0 - sine**2)  # nan where the ray has turned
        out, time = _over_layers(np.diff(depth), speed, sine, cosine)
        zero = np.zeros((len(angle), 1))
        return Rays(
            depth,
            np.concatenate([zero, np.cumsum(out, axis=1)], axis=1),
            np.concatenate([zero, np.cumsum(time, axis=1)], axis=1),
        )

    def _layers(self, start: float, end: float) -> Array:
        """(M + 1,) depths between which the sound speed changes equally much, and little."""
        inner = self.depth[(self.depth > start) & (self.depth < end)]
        depth = np.array([start, *inner, end])
        speed = np.interp(depth, self.depth, self.speed)
        change = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(speed)))])
        count = min(max(math.ceil(change[-1] / (BEND * speed[0])), 1), MOST_LAYERS)
        layers = np.interp(np.linspace(0.0, change[-1], count + 1), change, depth)
        layers[0], layers[-1] = start, end  # where the change is none at all
        return np.asarray(layers)

    def time_into(self, top: Array, bottom: Array, parameter: Array) -> Array:
        """(B,) time that rays of p = sin θ / c take from a depth to another one of the same
        layer."""
        depth = np.stack([top, bottom], axis=1)
        speed = np.interp(depth, self.depth, self.speed)
        sine = parameter[:, None] * speed
        cosine = np.sqrt(np.maximum(1.0 - sine**2, 0.0))
        return _over_layers(np.diff(depth, axis=1), speed, sine, cosine)[1][:, 0]


def _over_layers(h: Array, speed: Array, sine: Array, cosine: Array) -> tuple[Array, Array]:
    """Δx and Δt of layers (…, M) between M + 1 depths."""
    out = h * (sine[:, 1:] + sine[:, :-1]) / (cosine[:, 1:] + cosine[:, :-1])
    rise = np.diff(speed, axis=-1)
    straight = np.abs(rise) < UNIFORM * speed[..., :-1]
    ratio = speed[..., 1:] * (1.0 + cosine[:, :-1]) / (speed[..., :-1] * (1.0 + cosine[:, 1:]))
    bent = h / np.where(straight, 1.0, rise) * np.log(ratio)
    along = h / (speed[..., :-1] * cosine[:, :-1])
    return np.asarray(out), np.where(straight, along, bent)
