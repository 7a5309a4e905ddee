"""Sound on its way between two places under water: straight, as fast as the water is on average.

The time from the depth z₁ to z₂ over the distance r is r / c̄ with the harmonic mean of the sound
speed between the two depths, 1/c̄ = ∫ dz / c / (z₂ − z₁): what a straight ray meets, whatever its
slant. Rays bend, but over the hundreds of metres of acoustic positioning the time differs by parts
in ten thousand in all but the sharpest thermoclines (Urick 1983, section 5.4).
"""

import jax
import jax.numpy as jnp

from seatrial.ocean.curves import Curve, evaluate
from seatrial.spatial.vectors import Scalar

LEVEL = 1.0
"""Thickness of the water that a level way is taken to run through, m."""


def mean_slowness(travel: Curve, z1: Scalar, z2: Scalar) -> jax.Array:
    """1/c̄ between two depths, s/m; `travel` is ∫ dz / c from the surface on, s."""
    top, base = jnp.minimum(z1, z2), jnp.maximum(z1, z2)
    deepest = travel.knots[-1].astype(travel.values.dtype)
    top = jnp.clip(top, 0.0, deepest - LEVEL)
    base = jnp.clip(base, top + LEVEL, deepest)
    found: jax.Array = (evaluate(travel, base) - evaluate(travel, top)) / (base - top)
    return found
