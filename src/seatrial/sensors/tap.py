"""Taps: what a dense sensor (sonar, camera, laser) leaves in the compiled loop.

A dense sensor's array is too much for the loop. There it is a tap: a sensor of the usual kind, with
its rate, latency, jitter and faults, whose few numbers say from where and how the sensor looked.
The engine expands the taps of a block against the world, on all cores, into the measurements that
leave the run.

The rows of a tap are the place of the sensor (NED), the quaternion from its axes to the world's,
the number of the sample, and for every component c of the final measurement the two numbers with
which faults have the last word about it: c is reported as keep · c + shift. Faults act on them as
on the values of any sensor:

    dropout                     the sample is invalid: nothing is expanded, there is no array
    freeze                      place, attitude and number are the last ones: the same array again,
                                with its noise, and the same numbers
    bias, drift, spikes, noise  added to `shift`: the numbers change, the array does not
    stuck                       `keep` is 0 and `shift` the value: the same
    delay                       numbers and array arrive later
"""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.ocean import Ocean
from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.signals import PayloadInfo
from seatrial.spatial.rotations import multiply

Array = NDArray[np.float64]

VIEW = 8
"""Rows before those of the components: place (3), quaternion (4), number."""


def rows(components: int) -> int:
    """Rows of the tap of a sensor whose measurement has so many components."""
    return VIEW + 2 * components


@pytree
class Tap:
    """Where a dense sensor looks from."""

    mount: Mount
    turn: jax.Array
    """(4, 1) quaternion from the sensor's axes to the body's."""
    rate: jax.Array
    """Samples per second, double precision."""
    components: int = static()
    """Of the final measurement."""
    under_water: bool = static()
    """Whether it gives nothing out of the water."""

    @property
    def draws(self) -> int:
        """None: the array has its noise when it is expanded."""
        return 0

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing is remembered."""
        return draws

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Place, attitude, number of the sample, and components as they come."""
        place = look.place(self.mount.arm)
        dtype = look.state.position.dtype
        shape = look.state.position.shape[1:]
        valid = jnp.ones(shape, bool)
        if self.under_water:
            valid = feel(look.ocean, place, look.t).submerged
        number = jnp.broadcast_to(jnp.round(look.t * self.rate), shape)
        untouched = [*(jnp.ones(shape),) * self.components, *(jnp.zeros(shape),) * self.components]
        turned = multiply(look.state.attitude, self.turn)
        values = jnp.stack([*(jnp.asarray(p) for p in place), *turned, number, *untouched])
        return Reading(memory, values.astype(dtype), valid)


class Views(NamedTuple):
    """From where some samples are to be expanded."""

    position: Array
    """(K, 3) of the sensor, NED, m."""
    attitude: Array
    """(K, 4) quaternion, scalar first, sensor to world."""
    number: NDArray[np.int64]
    """(K,) of the sample; it was taken at `number` over the rate."""
    keys: NDArray[np.uint32]
    """(K, 2) of the random stream of each sample's sensor."""

    def part(self, some: slice) -> "Views":
        """Some of them."""
        return Views(self.position[some], self.attitude[some], self.number[some], self.keys[some])


class Expanded(NamedTuple):
    """Samples of a dense sensor."""

    values: Array
    """(K, D)."""
    valid: NDArray[np.bool_]
    """(K,)."""
    payload: NDArray[Any]
    """(K, *shape)."""


class DenseSensor(Protocol):
    """The half of a dense sensor that lives outside the compiled loop."""

    @property
    def payload(self) -> PayloadInfo:
        """What the array of one sample is."""

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """The samples; each depends on its own view and number alone, to the last bit, whatever
        others are expanded with it."""


def read(taps: NDArray[Any], keys: NDArray[np.uint32]) -> tuple[Views, Array, Array]:
    """Rows (K, R) of taps and their keys (K, 2) as views, `keep` and `shift` (K, D)."""
    wide = np.ascontiguousarray(taps, np.float64)
    number = np.rint(wide[:, VIEW - 1]).astype(np.int64)
    keep, shift = np.split(wide[:, VIEW:], 2, axis=1)
    return Views(wide[:, :3], wide[:, 3:7], number, keys), keep, shift
