"""Sensors that tell a velocity, over ground or through the water."""

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.aiding import (
    ATTITUDE,
    AXES,
    CURRENT,
    VELOCITY,
    Motion,
    Own,
    Slow,
    frame,
    rates,
    spread,
)
from seatrial.gnc.navigation.kalman import Component, Innovation, Row, Test
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Scalar, Vec3, add, cross, dot, safe_norm, scale, subtract, vec3

SCALE_MOUNTING_BIAS = 7
"""Slow errors of a log that has all of them."""


@pytree
class BodyVelocity:
    """Velocity of a point of the body along axes of the sensor: DVL, speed log, own dynamics.

    u = R_bsᵀ (Rᵀ (v − λ c) + ω × r), with λ = 0 over ground and λ = 1 through the water, where c is
    the current and what waves add to it, is read as
    (1 + s) u − ε × u + b. Of the slow errors there are all seven (scale s, mounting ε, bias b), the
    scale alone, one bias for each axis measured, or none.
    """

    arm: jax.Array
    matrix: jax.Array
    """(9,) from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) m/s, over ground."""
    water_deviation: jax.Array
    """(3,) m/s, through the water."""
    test: Test
    slow: Slow
    axes: tuple[int, ...] = static()
    """Which axes of the sensor are measured: the first numbers of the measurement."""
    lock: int | None = static()
    """Which number says 0 for nothing, 1 for ground and 2 for water; None where it is water."""
    pace: jax.Array | None = None
    """Speed below which one bias for each axis is in proportion to the speed, m/s: that of own
    dynamics whose coefficients are wrong. None where it is the same at any speed."""
    fades: bool = static(default=False)
    """Whether the deviation through the water is what waves do to the vehicle, which fades with
    them below the surface, and comes on top of the other."""

    @property
    def groups(self) -> tuple[int, ...]:
        """All axes."""
        return (len(self.axes),)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """All axes together."""
        arm, mounting = vec3(self.arm), frame(self.matrix)
        around = cross(motion.angular, arm)
        water: Scalar = 1.0
        present: Scalar = True
        if self.lock is not None:
            present = values[self.lock] > 0.5
            water = jnp.where(values[self.lock] > 1.5, 1.0, 0.0)
        drift = motion.current
        if motion.swell is not None:
            drift = add(drift, motion.swell.velocity())
        relative = subtract(motion.velocity, scale(water, drift))
        still = add(motion.rotation.to_body(relative), around)
        seen = mounting.to_body(still)
        wrong, rows = self._errors(seen, own)
        parts = []
        for place, i in enumerate(self.axes):
            axis = mounting.to_world(AXES[i])
            e = motion.rotation.to_world(axis)
            row = spread(VELOCITY, e) | spread(ATTITUDE, cross(e, relative))
            row |= rates(cross(axis, arm), motion) | spread(CURRENT, scale(-water, e))
            if motion.swell is not None:
                row |= motion.swell.rows(scale(-water, e))
            ground, through = self.deviation[i] ** 2, self.water_deviation[i] ** 2
            residual = values[place] - seen[i] - wrong[place]
            variance = ground + water * (through - ground)
            if self.fades and motion.swell is not None:
                variance = ground + motion.swell.share**2 * through
            parts.append(Component(residual, row | rows[place], variance))
        return [Innovation(parts, present, VELOCITY)]

    def _errors(self, seen: Vec3, own: Own) -> tuple[list[Scalar], list[Row]]:
        """What the slow errors add to each axis measured of a velocity in sensor axes, and rows."""
        wrong: list[Scalar] = [0.0] * len(self.axes)
        rows: list[Row] = [{} for _ in self.axes]
        kinds = self.slow.size
        if kinds == len(self.axes) and kinds > 1:
            share: Scalar = 1.0
            if self.pace is not None:
                share = jnp.minimum(1.0, safe_norm(seen) / self.pace)
            rows = [{own.first + k: share} for k in range(kinds)]
            wrong = [share * own.values[k] for k in range(kinds)]
        elif kinds:
            rows = [{own.first: seen[i]} for i in self.axes]
            wrong = [own.values[0] * seen[i] for i in self.axes]
        if kinds == SCALE_MOUNTING_BIAS:
            for k, i in enumerate(self.axes):
                rows[k] |= spread(own.first + 1, cross(AXES[i], seen)) | {own.first + 4 + i: 1.0}
                turned = dot(cross(AXES[i], seen), vec3(own.values[1:4]))
                wrong[k] = wrong[k] + turned + own.values[4 + i]
        return wrong, rows
