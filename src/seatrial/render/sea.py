"""Where rays of light meet the surface of the sea, from above or from below.

The waves of an instant are laid on a level grid around the sensor, all components at once: with
θ = a − b, a = ω t + ε − k x cos μ and b = k y sin μ,

    ζ = Σ A cos a cos b + Σ A sin a sin b

is two products of matrices. Beyond the grid the surface is taken as level. A ray is then followed
through the band of heights in which there are waves, in equal steps, and the first crossing is
narrowed down by secants on the grid.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.triangles import shares
from seatrial.ocean import Ocean

Array = NDArray[np.float64]

NODES = 257
"""Of the grid, along each side."""
WIDEST = 200.0
"""Half of its side at most, m: spacings of 1.6 m and less."""
STEPS = (4, 32)
"""Least and most in which a ray crosses the band of the waves; one per cell of the grid between."""
SECANTS = 3
LEVEL = 1e-30
"""Slope of a ray that never reaches a level surface."""


class Crossing(NamedTuple):
    """Where P of some rays go through the surface."""

    ray: NDArray[np.int64]
    """(P,) which of them."""
    distance: Array
    """(P,) m."""
    normal: Array
    """(P, 3) of the surface, up, unit, NED."""
    cosine: NDArray[np.floating[Any]]
    """(P,) of the incidence; positive from above, negative from below."""

    def part(self, some: NDArray[np.integer | np.bool_]) -> "Crossing":
        """Some of them."""
        return Crossing(*(part[some] for part in self))


@dataclass(frozen=True)
class Sea:
    """The surface at one instant, around a place."""

    middle: Array
    """(2,) north and east, m."""
    step: float
    """Of the grid, m."""
    height: Array | None
    """(NODES, NODES) above the mean level, m; None where the sea is flat."""

    def at(self, x: Array, y: Array) -> tuple[Array, Array, Array]:
        """Height, and how it rises towards north and east, at places relative to the middle."""
        if self.height is None:
            level = np.zeros_like(x)
            return level, level, level
        half, last = 0.5 * (NODES - 1), NODES - 2
        a, b = x / self.step + half, y / self.step + half
        outside = (a < 0.0) | (b < 0.0) | (a > last + 1) | (b > last + 1)
        i, j = (np.clip(c, 0, last).astype(np.int64) for c in (a, b))
        s, t = a - i, b - j
        flat, first = self.height.ravel(), i * NODES + j
        h00, h01 = flat[first], flat[first + 1]
        h10, h11 = flat[first + NODES], flat[first + NODES + 1]
        low, high = h00 + s * (h10 - h00), h01 + s * (h11 - h01)
        north = ((h10 - h00) * (1.0 - t) + (h11 - h01) * t) / self.step
        height, east = low + t * (high - low), (high - low) / self.step
        there = ~outside
        return height * there, north * there, east * there

    def crossing(
        self, origins: Array, directions: NDArray[np.floating[Any]], reach: float
    ) -> Crossing:
        """Where rays (R, 3) first go through the surface within `reach`; from each of `origins`
        (G, 3) begin R / G of them."""
        each = len(directions) // len(origins)
        down, z = directions[:, 2], origins[:, 2]
        if self.height is None:
            # A ray that is as steep as this gets there; in each group by its own height.
            least = np.maximum(np.abs(z) / reach, LEVEL).astype(np.float32)
            side = np.where(z > 0.0, -1.0, 1.0).astype(down.dtype)
            towards = down.reshape(len(z), each) * side[:, None]
            rays = np.flatnonzero(towards >= least[:, None])
            down = down.take(rays)
            straight = np.repeat(-z, shares(rays, len(z), each)) / down
            up = np.broadcast_to([0.0, 0.0, -1.0], (len(rays), 3))
            return Crossing(rays, straight, up, down)
        z = np.repeat(z, each)
        top = float(np.abs(self.height).max())
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (-top - z) / down, (top - z) / down
        inside = np.abs(z) <= top
        near = np.where(down == 0.0, np.where(inside, 0.0, np.inf), np.minimum(*ends))
        far = np.where(down == 0.0, np.where(inside, np.inf, -np.inf), np.maximum(*ends))
        near, far = np.maximum(near, 0.0), np.minimum(far, reach)
        rays = np.flatnonzero(near <= far)
        near, far = near[rays], far[rays]
        start = origins[rays // each] - np.array([*self.middle, 0.0])
        along = directions[rays].astype(np.float64)
        x, y, z = start.T
        dx, dy, dz = along.T

        def under(which: NDArray[np.int64], at: Array) -> Array:
            """How deep below the surface some of the rays are at a distance."""
            height, _, _ = self.at(x[which] + at * dx[which], y[which] + at * dy[which])
            return np.asarray(z[which] + at * dz[which] + height)

        everyone = np.arange(len(rays))
        # Which side a ray begins on is told by its origin, not by where it enters the band.
        side = np.where(under(everyone, np.zeros(len(rays))) > 0.0, -1.0, 1.0)
        steps = np.clip(np.ceil((far - near) / self.step), *STEPS)
        stride = (far - near) / steps
        before, going = near.copy(), everyone
        value = side * under(everyone, near)
        found = np.full(len(rays), np.inf)
        low, high = np.empty(len(rays)), np.empty(len(rays))
        for step in range(1, STEPS[1] + 1):
            at = near[going] + step * stride[going]
            now = side[going] * under(going, at)
            through = now >= 0.0
            hit = going[through]
            low[hit], high[hit] = value[going[through]], now[through]
            found[hit] = at[through]
            stay = ~through & (steps[going] > step)
            going = going[stay]
            value[going], before[going] = now[stay], at[stay]
            if not len(going):
                break
        met = np.flatnonzero(np.isfinite(found))
        a, b, fa, fb = before[met], found[met], low[met], high[met]
        for _ in range(SECANTS):
            fall = np.where(fb > fa, fb - fa, 1.0)
            middle = a + (b - a) * np.clip(-fa / fall, 0.0, 1.0)
            fm = side[met] * under(met, middle)
            over = fm < 0.0
            a, fa = np.where(over, middle, a), np.where(over, fm, fa)
            b, fb = np.where(over, b, middle), np.where(over, fb, fm)
        fall = np.where(fb > fa, fb - fa, 1.0)
        at = a + (b - a) * np.clip(-fa / fall, 0.0, 1.0)
        _, north, east = self.at(x[met] + at * dx[met], y[met] + at * dy[met])
        steep = np.column_stack([-north, -east, -np.ones(len(met))])
        steep /= np.linalg.norm(steep, axis=1, keepdims=True)
        cosine = -np.einsum("pc,pc->p", steep, along[met])
        return Crossing(rays[met], at, steep, cosine)


def sea_at(ocean: Ocean, place: Array, t: float, reach: float) -> Sea:
    """The surface around a place (2,) as far as rays of some reach need it."""
    waves = ocean.waves
    half = min(reach, WIDEST)
    step = 2.0 * half / (NODES - 1)
    if waves is None:
        return Sea(place, step, None)
    amplitude, wavenumber, direction, phase, observed = (
        np.asarray(part, np.float64)
        for part in (
            *(waves.amplitude, waves.wavenumber, waves.direction),
            *(waves.phase, waves.observed),
        )
    )
    kx, ky = wavenumber * np.cos(direction), wavenumber * np.sin(direction)
    nodes = step * (np.arange(NODES) - 0.5 * (NODES - 1))
    a = (observed * t + phase - kx * place[0] - ky * place[1]) - np.outer(nodes, kx)
    b = np.outer(ky, nodes)
    single = np.float32
    height = (amplitude * np.cos(a)).astype(single) @ np.cos(b).astype(single)
    height += (amplitude * np.sin(a)).astype(single) @ np.sin(b).astype(single)
    return Sea(place, step, height.astype(np.float64))
