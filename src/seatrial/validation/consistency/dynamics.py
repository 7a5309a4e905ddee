"""Dynamics that are as wrong as a filter is told.

The filter's twin is the model that the vehicle sails by, so that in still water it predicts every
velocity exactly; no real one does, and the filter is told so (`spec.navigation.Dynamics`). A craft
on the surface is pushed by the wind, which its twin does not know. Under water there is no such
thing: there what the twin predicts is made wrong, or everything would err by less than is stated.
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.gnc.navigation.aids.velocities import BodyVelocity
from seatrial.gnc.navigation.state import Filter, Twin
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree
from seatrial.seeding import generator
from seatrial.spatial.vectors import safe_norm, vec3
from seatrial.spec import navigation as spec

Array = NDArray[np.float64]

AXES = 3


@pytree
class MistakenTwin:
    """A twin whose velocity is off by what comes in the last three rows of its orders, below the
    speed `pace` in proportion to the speed."""

    twin: Twin
    pace: jax.Array

    def begin(self, relative: jax.Array) -> jax.Array:
        """Memory of the twin, and no mistake."""
        return jnp.concatenate([self.twin.begin(relative), jnp.zeros_like(relative[:AXES])])

    def advance(
        self, memory: jax.Array, estimate: Estimate, orders: jax.Array, dt: float
    ) -> jax.Array:
        """Memory of the twin, and the mistake of now."""
        after = self.twin.advance(memory[:-AXES], estimate, orders[:-AXES], dt)
        return jnp.concatenate([after, orders[-AXES:].astype(after.dtype)])

    def velocity(self, memory: jax.Array) -> jax.Array:
        """What the twin predicts, and the mistake."""
        right = self.twin.velocity(memory[:-AXES])
        share = jnp.minimum(1.0, safe_norm(vec3(right[:AXES])) / self.pace)
        return right.at[:AXES].add(share * memory[-AXES:])


def as_told(
    filter: Filter, told: spec.Dynamics, orders: Array, period: float, seeds: tuple[int, ...]
) -> tuple[Filter, Array]:
    """A filter whose dynamics are mistaken, and the orders (T, A, N) with the mistakes."""
    aid = filter.aids[filter.sensors + filter.known.index("dynamics")]
    assert isinstance(aid, BodyVelocity)
    if aid.pace is None or filter.twin is None:
        return filter, orders
    drawn = [
        generator(seed, "consistency/dynamics").normal(size=(len(orders), AXES)) for seed in seeds
    ]
    stays = math.exp(-period / told.correlation_time)
    mistakes = np.stack(drawn, axis=-1)
    for k in range(1, len(mistakes)):
        mistakes[k] = stays * mistakes[k - 1] + math.sqrt(1.0 - stays**2) * mistakes[k]
    twin = MistakenTwin(filter.twin, aid.pace)
    return dataclasses.replace(filter, twin=twin), np.concatenate(
        [orders, told.deviation * mistakes], axis=1
    )
