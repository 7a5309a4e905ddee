"""Taps: what a dense sensor (sonar, camera, laser) leaves in the compiled loop.

A dense sensor's array is too much for the loop. There it is a tap: a sensor of the usual kind, with
its rate, latency, jitter and faults, whose few numbers say from where and how the sensor looked.
The engine expands the taps of a block against the world, on all cores, into the measurements that
leave the run.

The rows of a tap are its view and its components. The view is the place of the sensor (NED), the
quaternion from its axes to the world's, and the number of the sample; of a sensor that sweeps also
its velocity (NED) and its rate of turn (its own axes); of one that sees other vehicles the nearest
of them, each with its number in the traffic, its place and its quaternion, and where they move on
during a sweep their velocity (NED), and of one that sees the
vehicle that carries it the same of that. For every component c of the final measurement there are
the two numbers with which faults have the last word about it: c is
reported as keep · c + shift. Faults act on them as on the values of any sensor:

    dropout                     the sample is invalid: nothing is expanded, there is no array
    freeze                      the view is the last one: the same array again, with its noise, and
                                the same numbers
    bias, drift, spikes, noise  added to `shift`: the numbers change, the array does not
    stuck                       `keep` is 0 and `shift` the value: the same
    delay                       numbers and array arrive later
"""

from typing import Any, Literal, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.core.types import Traffic
from seatrial.ocean import Ocean
from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.signals import PayloadInfo
from seatrial.spatial.rotations import multiply
from seatrial.spatial.vectors import Vec3

Array = NDArray[np.float64]

VIEW = 8
"""Rows of every view: place (3), quaternion (4), number."""
MOTION = 6
"""Rows of velocity and rate of turn."""
OTHER = 8
"""Rows of another vehicle: its number, place and quaternion."""
VELOCITY = 3
"""Rows of its velocity."""
MOST_SEEN = 32
"""Other vehicles that a tap tells of at most, the nearest."""


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
    needs: Literal["water", "air", ""] = static()
    """What it must be in to give anything; nothing in particular when empty."""
    sweeps: bool = static(default=False)
    """Whether its motion during a sample matters."""
    passing: bool = static(default=False)
    """Whether the motion of other vehicles during a sample matters."""
    vehicles: int = static(default=1)
    """In the run, where it sees them; 1 where it sees none."""
    itself: bool = static(default=False)
    """Whether it sees the vehicle that carries it."""

    @property
    def seen(self) -> int:
        """Other vehicles that it tells of."""
        return min(self.vehicles - 1, MOST_SEEN)

    @property
    def view(self) -> int:
        """Rows before those of the components."""
        return VIEW + MOTION * self.sweeps + self._other * (self.seen + self.itself)

    @property
    def _other(self) -> int:
        """Rows of each vehicle that it tells of."""
        return OTHER + VELOCITY * self.passing

    @property
    def rows(self) -> int:
        """All of them."""
        return self.view + 2 * self.components

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
        if self.needs:
            wet = feel(look.ocean, place, look.t).submerged
            valid = wet if self.needs == "water" else ~wet
        number = jnp.broadcast_to(jnp.round(look.t * self.rate), shape)
        untouched = [*(jnp.ones(shape),) * self.components, *(jnp.zeros(shape),) * self.components]
        turned = multiply(look.state.attitude, self.turn)
        view = [*(jnp.asarray(p) for p in place), *turned, number]
        if self.sweeps:
            view += look.rotation.to_world(look.velocity(self.mount.arm))
            view += self.mount.to_sensor(look.angular)
        if self.seen:
            view += self._others(look.traffic, place)
        if self.itself:
            own = look.traffic.own if self.vehicles > 1 else jnp.zeros(shape)
            view += [
                jnp.broadcast_to(own, shape).astype(dtype),
                *look.state.position,
                *look.state.attitude,
            ]
            view += [jnp.zeros(shape, dtype)] * (VELOCITY * self.passing)
        values = jnp.stack([*view, *untouched])
        return Reading(memory, values.astype(dtype), valid)

    def _others(self, traffic: Traffic, place: Vec3) -> list[jax.Array]:
        """Rows of the nearest other vehicles."""
        position = traffic.position[:, : self.vehicles]
        away = position[:, :, None] - jnp.stack(place)[:, None]
        own = jnp.arange(self.vehicles)[:, None] == traffic.own
        apart = jnp.where(own, jnp.inf, jnp.sum(away * away, axis=0))  # (V, N)
        _, which = jax.lax.top_k(-apart.T, self.seen)
        rows: list[jax.Array] = []
        for number in which.T:
            pose = (*position[:, number], *traffic.attitude[:, number])
            rows += [number.astype(position.dtype), *pose]
            if self.passing:
                rows += [*traffic.velocity[:, number]]
        return rows

    def read(self, taps: NDArray[Any], keys: NDArray[np.uint32]) -> tuple["Views", Array, Array]:
        """Rows (K, R) of taps and their keys (K, 2) as views, `keep` and `shift` (K, D)."""
        wide = np.ascontiguousarray(taps, np.float64)
        number = np.rint(wide[:, VIEW - 1]).astype(np.int64)
        keep, shift = np.split(wide[:, self.view :], 2, axis=1)
        views = Views(wide[:, :3], wide[:, 3:7], number, keys)
        if self.sweeps:
            views = views._replace(velocity=wide[:, VIEW : VIEW + 3])
            views = views._replace(turn=wide[:, VIEW + 3 : VIEW + MOTION])
        if self.seen or self.itself:
            views = views._replace(others=self._poses(wide))
        return views, keep, shift

    def _poses(self, wide: Array) -> Array:
        """(K, V, 7) poses of all vehicles, or (K, V, 10) with velocities; NaN for those that are
        not told of."""
        told, other = self.seen + self.itself, self._other
        poses = np.full((len(wide), self.vehicles, other - 1), np.nan)
        rows = wide[:, self.view - other * told : self.view].reshape(len(wide), told, other)
        which = np.rint(rows[..., 0]).astype(np.int64)
        poses[np.arange(len(wide))[:, None], which] = rows[..., 1:]
        return poses


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
    velocity: Array | None = None
    """(K, 3) of the sensor over ground, NED, m/s, of one that sweeps."""
    turn: Array | None = None
    """(K, 3) rate of turn about the sensor's axes, rad/s, of one that sweeps."""
    others: Array | None = None
    """(K, V, 7) place and quaternion of every vehicle of the run, in the order of the traffic, and
    (K, V, 10) with its velocity over ground where `Tap.passing`; NaN for the own one, unless the
    sensor sees it, and for those that are too far. None where there is nobody to be seen."""

    def part(self, some: slice | NDArray[np.int64]) -> "Views":
        """Some of them."""
        parts: Any = (None if array is None else array[some] for array in self)
        return Views(*parts)


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
