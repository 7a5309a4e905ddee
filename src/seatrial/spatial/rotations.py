"""Unit quaternions, scalar first, Hamilton, body to world. Fossen (2021), section 2.2."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.spatial.gradients import arcsine, bearing
from seatrial.spatial.vectors import Scalar, Vec3, dot, scale


class Rotation(NamedTuple):
    """Rotation matrix R (body to world), row by row, so that v_world = R v_body."""

    r00: Scalar
    r01: Scalar
    r02: Scalar
    r10: Scalar
    r11: Scalar
    r12: Scalar
    r20: Scalar
    r21: Scalar
    r22: Scalar

    def to_world(self, v: Vec3) -> Vec3:
        """Return R v."""
        return (
            self.r00 * v[0] + self.r01 * v[1] + self.r02 * v[2],
            self.r10 * v[0] + self.r11 * v[1] + self.r12 * v[2],
            self.r20 * v[0] + self.r21 * v[1] + self.r22 * v[2],
        )

    def to_body(self, v: Vec3) -> Vec3:
        """Return Rᵀ v."""
        return (
            self.r00 * v[0] + self.r10 * v[1] + self.r20 * v[2],
            self.r01 * v[0] + self.r11 * v[1] + self.r21 * v[2],
            self.r02 * v[0] + self.r12 * v[1] + self.r22 * v[2],
        )

    @property
    def down(self) -> Vec3:
        """The world's down axis seen from the body: Rᵀ e_z."""
        return self.r20, self.r21, self.r22


def rotation(attitude: jax.Array) -> Rotation:
    """Rotation matrix of a (4, ...) unit quaternion; Fossen (2021) eq. 2.74."""
    w, x, y, z = attitude[0], attitude[1], attitude[2], attitude[3]
    return Rotation(
        *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def multiply(a: jax.Array, b: jax.Array) -> jax.Array:
    """Hamilton product a ⊗ b of (4, ...) quaternions."""
    aw, ax, ay, az = a[0], a[1], a[2], a[3]
    bw, bx, by, bz = b[0], b[1], b[2], b[3]
    return jnp.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def derivative(attitude: jax.Array, angular: Vec3) -> jax.Array:
    """Return q̇ = ½ q ⊗ [0, ω] for a body rate ω; Fossen (2021) eq. 2.78."""
    w, x, y, z = attitude[0], attitude[1], attitude[2], attitude[3]
    p, q, r = angular
    return 0.5 * jnp.stack(
        [
            -x * p - y * q - z * r,
            w * p + y * r - z * q,
            w * q - x * r + z * p,
            w * r + x * q - y * p,
        ]
    )


def normalise(attitude: jax.Array) -> jax.Array:
    """Scale back to unit length."""
    w, x, y, z = attitude[0], attitude[1], attitude[2], attitude[3]
    return attitude * (1.0 / jnp.sqrt(w * w + x * x + y * y + z * z))


def from_euler(roll: Scalar, pitch: Scalar, yaw: Scalar) -> jax.Array:
    """Quaternion of the ZYX Euler angles (yaw, then pitch, then roll)."""
    cr, sr = jnp.cos(0.5 * roll), jnp.sin(0.5 * roll)
    cp, sp = jnp.cos(0.5 * pitch), jnp.sin(0.5 * pitch)
    cy, sy = jnp.cos(0.5 * yaw), jnp.sin(0.5 * yaw)
    return jnp.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )


def from_rotation_vector(angle: Vec3) -> jax.Array:
    """Quaternion [cos θ/2, n sin θ/2] of a rotation vector θ n, rad."""
    half = scale(0.5, angle)
    square = jnp.asarray(dot(half, half))
    # sin(x)/x by its series near zero, where the quotient has no gradient.
    small = square < 1e-8
    length = jnp.sqrt(jnp.where(small, 1.0, square))
    ratio = jnp.where(small, 1.0 - square / 6.0, jnp.sin(length) / length)
    return jnp.stack([jnp.where(small, 1.0 - square / 2.0, jnp.cos(length)), *scale(ratio, half)])


def to_euler(attitude: jax.Array) -> jax.Array:
    """Roll, pitch and yaw (ZYX) as a (3, ...) array, rad; pitch within ±π/2."""
    r = rotation(attitude)
    return jnp.stack(
        [
            bearing(r.r21, r.r22),
            -arcsine(jnp.asarray(r.r20)),
            bearing(r.r10, r.r00),
        ]
    )
