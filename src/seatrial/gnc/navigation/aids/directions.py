"""Sensors that tell an attitude: compass, attitude reference, magnetometer."""

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.aiding import (
    ATTITUDE,
    AXES,
    Motion,
    Own,
    Slow,
    attitude_error,
    frame,
    spread,
)
from seatrial.gnc.navigation.kalman import Component, Innovation, Row, Test
from seatrial.pytree import pytree
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import multiply
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import cross, dot, vec3


@pytree
class Heading:
    """Heading of the sensor's x axis: a compass. e = R R_bs e_x, ψ = atan2(e_E, e_N).

    It reads ψ less its deviation A + B sin μ + C cos μ + D sin 2μ + E cos 2μ, with μ the magnetic
    heading; the coefficients are slow errors.
    """

    matrix: jax.Array
    offset: jax.Array
    """Added to the reading to get the heading from true north: the declination, rad."""
    declination: jax.Array
    """rad."""
    deviation: jax.Array
    """rad."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (1,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """One number; of no use while the axis is near the vertical."""
        north, east, down = motion.rotation.to_world(frame(self.matrix).to_world(AXES[0]))
        level = jnp.asarray(north * north + east * east)
        safe = jnp.maximum(level, 1e-3)
        residual = wrap_signed(values[0] + self.offset - bearing(east, north))
        row: Row = {
            ATTITUDE: -north * down / safe,
            ATTITUDE + 1: -east * down / safe,
            ATTITUDE + 2: 1.0,
        }
        if self.slow.size:
            once = bearing(east, north) - self.declination
            twice = 2.0 * once
            parts = (
                jnp.ones_like(once),
                jnp.sin(once),
                jnp.cos(once),
                jnp.sin(twice),
                jnp.cos(twice),
            )
            for k, part in enumerate(parts):
                row[own.first + k] = -part
                residual = residual + part * own.values[k]
        return [Innovation([Component(residual, row, self.deviation**2)], level > 0.03, ATTITUDE)]


@pytree
class Attitude:
    """Orientation of the sensor in the world: an AHRS. δθ = 2 vec(q_measured ⊗ q_predicted⁻¹).

    Its slow errors are rotations about north, east and down.
    """

    mounting: jax.Array
    """(4,) quaternion from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) about north, east and down, rad."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (3,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """The first four numbers are the quaternion, scalar first."""
        error = attitude_error(values[:4], multiply(motion.attitude, self.mounting[:, None]))
        parts = []
        for i in range(3):
            found = own.added(error[i], {ATTITUDE + i: 1.0}, i)
            parts.append(Component(*found, self.deviation[i] ** 2))
        return [Innovation(parts, True, ATTITUDE)]


@pytree
class Field:
    """The Earth's magnetic field in the sensor's axes: R_bsᵀ Rᵀ m + h, h of iron a slow error."""

    matrix: jax.Array
    field: jax.Array
    """(3,) NED, T."""
    deviation: jax.Array
    """(3,) T."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (3,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """Three numbers."""
        mounting, field = frame(self.matrix), vec3(self.field)
        parts = []
        for i in range(3):
            e = motion.rotation.to_world(mounting.to_world(AXES[i]))
            found = own.added(values[i] - dot(e, field), spread(ATTITUDE, cross(e, field)), i)
            parts.append(Component(*found, self.deviation[i] ** 2))
        return [Innovation(parts, True, ATTITUDE)]


@pytree
class Level:
    """That a craft floats upright: its z axis down, for want of anything better."""

    deviation: jax.Array
    """Of roll and pitch, rad."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """Both tilts."""
        return (2,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """Nothing is measured: the tilt that would bring z to down is z × down."""
        del values, own
        z = motion.rotation.to_world(AXES[2])
        parts = [
            Component(error, {ATTITUDE + i: 1.0}, self.deviation**2)
            for i, error in enumerate((z[1], -jnp.asarray(z[0])))
        ]
        return [Innovation(parts, True, ATTITUDE)]
