"""How far two pictures of one shot are apart, and how far they may be."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

from seatrial.render.picture import FIRST_BODY, srgb

PASSES = ("colour", "depth", "normals", "instance", "category")
BRIGHT = 0.2
"""Mean radiance at which pictures are compared as screens show them, of white."""
CLOSE = 3
"""Of 255 steps of sRGB, between two colours that are said to be the same."""


class Apart(NamedTuple):
    """Shares of all pixels, unless another unit is given."""

    masks: float
    """Where another thing is seen, although rays see only one around."""
    edges: float
    """Where another thing is seen at all."""
    depth: float
    """Whose depth none of the pixels around has: outside of what a pixel covers."""
    normals: float
    """Whose normals none of the pixels around has."""
    solids: float
    """Colours that are not the same, of solids."""
    water: float
    """Colours that are not the same, of water and sky."""
    steps: float
    """Mean difference of colours, in steps of sRGB out of 255."""
    mean: float
    """Mean radiance over that of rays, − 1."""

    def faults(self, bounds: "Apart") -> list[str]:
        """What is beyond its bound."""
        return [
            f"{name} {value:.2g} > {bound:.2g}"
            for name, value, bound in zip(self._fields, self, bounds, strict=True)
            if not abs(value) <= bound
        ]


BOUNDS = Apart(
    masks=1e-4,
    edges=1e-3,
    depth=1e-3,
    normals=3e-3,
    solids=0.01,
    water=0.1,
    steps=6.0,
    mean=0.01,
)
"""Solids agree but for edges of shadows. Bodies that waves mirror are looked up where a calm sea
would show them: a wave shows them, or does not, some pixels beside where it does by rays."""
ROLLING = BOUNDS._replace(edges=2e-3, normals=5e-3, solids=0.03)
"""With a rolling shutter, where edges between faces are up to a quarter of a pixel off."""


def apart(rays, shaders):
    """Of the passes `PASSES` of both."""
    seen, other = rays["instance"], shaders["instance"]
    deep = [np.nan_to_num(passes["depth"], posinf=1e9) for passes in (rays, shaders)]
    # Of two bodies with a face at one and the same place, either is right.
    differ = (seen != other) & (np.abs(deep[0] - deep[1]) > 1e-5 * deep[0])
    plain = maximum_filter(seen, 3) == minimum_filter(seen, 3)
    solid = (seen == 2) | (seen >= FIRST_BODY)
    exposed = BRIGHT / rays["colour"].mean()
    first, second = (srgb(exposed * passes["colour"]).astype(int) for passes in (rays, shaders))
    differences = np.abs(first - second).max(axis=2)
    strange = differences > CLOSE
    normals = np.stack(
        [_outside(rays["normals"][..., k], shaders["normals"][..., k], 0.02) for k in range(3)]
    )
    return Apart(
        masks=float(np.mean(differ & plain)),
        edges=float(np.mean(differ)),
        depth=float(np.mean(_outside(*deep, 1e-4 * deep[0]))),
        normals=float(np.mean(normals.any(axis=0))),
        solids=float(np.mean(strange & solid)),
        water=float(np.mean(strange & ~solid)),
        steps=float(np.mean(differences)),
        mean=float(shaders["colour"].mean() / rays["colour"].mean() - 1.0),
    )


def _outside(rays, shaders, more):
    """Where values lie beyond those of the pixels around, by more than stated."""
    low, high = minimum_filter(rays, 3), maximum_filter(rays, 3)
    return (shaders < low - more) | (shaders > high + more)
