"""Sensors that tell a place: satellites, pressure, ranges and bearings by sound or radio."""

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.aiding import (
    ATTITUDE,
    AXES,
    POSITION,
    VELOCITY,
    Aid,
    Motion,
    Own,
    Slow,
    frame,
    rates,
    spread,
)
from seatrial.gnc.navigation.kalman import Component, Innovation, Row, Test
from seatrial.gnc.navigation.waves import Sea
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import across, add, cross, dot, safe_norm, scale, subtract, vec3


@pytree
class Antenna:
    """What a receiver needs on a vehicle that dives."""

    margin: jax.Array
    """Least height above the water, m."""
    delay: jax.Array
    """From coming up to being heard, s."""

    def awash(self, depth: jax.Array, deviation: jax.Array) -> jax.Array:
        """(N,) whether it may be under water at this depth, which is known to `deviation`."""
        return -depth < self.margin + 2.0 * deviation


@pytree
class Fix:
    """A position of a point of the body, and its velocity where the receiver gives one: GNSS, UWB.

    p + R r + d and v + R (ω × r), NED; the drift d is a slow error, of all three axes or of none.
    """

    arm: jax.Array
    """(3,)."""
    deviation: jax.Array
    """(3,) m."""
    velocity_deviation: jax.Array | None
    """(3,) m/s."""
    test: Test
    slow: Slow
    antenna: Antenna | None = None
    """Where the vehicle dives."""

    @property
    def groups(self) -> tuple[int, ...]:
        """Position, and velocity."""
        return (3,) if self.velocity_deviation is None else (3, 3)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """The first three numbers are the position, the next three the velocity."""
        arm = vec3(self.arm)
        there = motion.rotation.to_world(arm)
        place = add(motion.position, there)
        parts = []
        for i in range(3):
            row: Row = spread(ATTITUDE, cross(there, AXES[i])) | {POSITION + i: 1.0}
            residual = values[i] - place[i]
            parts.append(Component(*own.added(residual, row, i), self.deviation[i] ** 2))
        found = [Innovation(parts, True, POSITION)]
        if self.velocity_deviation is not None:
            around = motion.rotation.to_world(cross(motion.angular, arm))
            speed = add(motion.velocity, around)
            parts = []
            for i in range(3):
                row = spread(ATTITUDE, cross(around, AXES[i])) | {VELOCITY + i: 1.0}
                lever = cross(motion.rotation.to_body(AXES[i]), arm)
                row |= rates(lever, motion)
                variance = self.velocity_deviation[i] ** 2
                parts.append(Component(values[3 + i] - speed[i], row, variance))
            found.append(Innovation(parts, True, VELOCITY))
        return found


@pytree
class Above:
    """Waves above a pressure sensor, as noise."""

    sea: Sea
    variance: jax.Array
    """Of the noise at the surface, m²."""


@pytree
class Depth:
    """Depth of a point of the body: the third component of p + R r, and an offset where it has one.

    The reading times `per_unit`, less `zero`, is the depth. Waves above press on it: in deep water
    the pressure of a particle stays what it is while its orbit carries it up and down (linear
    waves; Newman 1977, chapter 6), so that a reading is the depth less that by which the water
    was displaced downwards. A craft that moves with the water reads nothing of the waves. Where
    there are no states for that displacement, it is white noise that stands for its slow swaying.
    """

    arm: jax.Array
    zero: jax.Array
    """m."""
    per_unit: jax.Array
    """m per unit of the reading."""
    deviation: jax.Array
    """m."""
    test: Test
    slow: Slow
    waves: Above | None = None
    """For a filter without states for them; None for another and in calm water."""
    component: int = static(default=0)
    """Which number of the measurement it is."""

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (1,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """One number."""
        variance = self.deviation**2
        if self.waves is not None:
            depth = jnp.maximum(motion.position[2], 0.0)
            variance = variance + self.waves.variance * self.waves.sea.share(depth) ** 2
        there = motion.rotation.to_world(vec3(self.arm))
        read = values[self.component] * self.per_unit - self.zero
        residual = read - motion.position[2] - there[2]
        row: Row = {POSITION + 2: 1.0, ATTITUDE: there[1], ATTITUDE + 1: -there[0]}
        if motion.swell is not None:
            sunk, displaced = motion.swell.sunk()
            residual, row = residual + sunk, row | {i: -h for i, h in displaced.items()}
        part = Component(*own.added(residual, row, 0), variance)
        return [Innovation([part], True, POSITION)]


@pytree
class Ranges:
    """Distances from a point of the body to known places, each with a gate of its own: UWB."""

    arm: jax.Array
    anchors: jax.Array
    """(3, A) NED, m."""
    deviation: jax.Array
    """(A,) m."""
    test: Test
    slow: Slow
    first: int = static()
    """Which number of the measurement is the first distance."""
    antenna: Antenna | None = None
    """Where the vehicle dives."""

    @property
    def groups(self) -> tuple[int, ...]:
        """One for every anchor."""
        return (1,) * int(self.anchors.shape[1])

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """A distance that is not positive was not measured."""
        there = motion.rotation.to_world(vec3(self.arm))
        place = add(motion.position, there)
        found = []
        for a in range(len(self.groups)):
            apart = subtract(place, vec3(self.anchors[:, a]))
            distance = safe_norm(apart)
            towards = scale(1.0 / distance, apart)
            row = spread(POSITION, towards) | spread(ATTITUDE, cross(there, towards))
            measured = values[self.first + a]
            part = Component(measured - distance, row, self.deviation[a] ** 2)
            found.append(Innovation([part], measured > 0.0, POSITION))
        return found


@pytree
class Beacon:
    """Distance and direction of a transponder whose place is told with them: USBL.

    From the sensor it lies at s = R_bsᵀ (Rᵀ (b − p) − r), b its place. The measured vector m is
    compared with s along s, where it errs by the distance, and along two axes e across it, where it
    errs by |s| times the angle; the place errs in all of them. With d = b − p and w = R R_bs e the
    rows are −w in the position and w × d in the attitude.
    """

    arm: jax.Array
    matrix: jax.Array
    """(9,) from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) of the distance (m), of the direction (rad), of the place (m)."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """All three numbers."""
        return (3,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """Distance, bearing, elevation, and the place of the transponder."""
        del own
        mounting, arm = frame(self.matrix), vec3(self.arm)
        away = subtract(vec3(values[3:6]), motion.position)
        seen = mounting.to_body(subtract(motion.rotation.to_body(away), arm))
        length, level = values[0], values[0] * jnp.cos(values[2])
        measured = (
            level * jnp.cos(values[1]),
            level * jnp.sin(values[1]),
            length * jnp.sin(values[2]),
        )
        far = safe_norm(seen)
        ahead = scale(1.0 / far, seen)
        first, second = across(ahead)
        parts = []
        for e, deviation in (
            (ahead, self.deviation[0]),
            (first, self.deviation[1] * far),
            (second, self.deviation[1] * far),
        ):
            w = motion.rotation.to_world(mounting.to_world(e))
            row = spread(POSITION, scale(-1.0, w)) | spread(ATTITUDE, cross(w, away))
            residual = dot(e, subtract(measured, seen))
            parts.append(Component(residual, row, deviation**2 + self.deviation[2] ** 2))
        return [Innovation(parts, length > 0.0, POSITION)]


def read(aid: Aid, values: jax.Array) -> jax.Array:
    """The numbers of a measurement that an aid compares."""
    first = 0
    if isinstance(aid, Depth):
        first = aid.component
    elif isinstance(aid, Ranges):
        first = aid.first
    return values[first : first + sum(aid.groups)]
