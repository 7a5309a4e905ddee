"""Frames of other layouts: a world whose z points up, and cameras that look along z.

Ours is NED; east, north, up is its half turn about the horizontal line towards the north-east. A
camera of ours looks along x, with columns towards y and rows towards z; the optical axes of
everybody else are those three, turned round: columns, rows, depth.
"""

import numpy as np

from seatrial.dataset.flight import Array, Motion, Mounting, multiply, rotate

TO_ENU = np.array([0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0])
"""Quaternion from NED to ENU."""
FROM_OPTICAL = np.array([0.5, 0.5, 0.5, 0.5])
"""Quaternion from optical axes to those of our cameras."""


def in_enu(motion: Motion) -> tuple[Array, Array, Array]:
    """Position, quaternion to ENU and velocity in ENU, of whatever moves so."""
    velocity = rotate(TO_ENU, rotate(motion.attitude, motion.velocity))
    return rotate(TO_ENU, motion.position), multiply(TO_ENU, motion.attitude), velocity


def optical(mounting: Mounting) -> Mounting:
    """The same camera with optical axes."""
    turn = multiply(np.asarray(mounting.orientation), FROM_OPTICAL)
    return Mounting(mounting.position, tuple(turn.tolist()))


def matrix(position: Array, quaternion: Array) -> Array:
    """(4, 4) transform of points from a frame to its parent's."""
    found = np.eye(4)
    found[:3, :3] = rotate(quaternion, np.eye(3)).T
    found[:3, 3] = position
    return found


def relative(sensor: Mounting, body: Mounting) -> Array:
    """(4, 4) transform of points from the frame of a sensor to that of another on the vehicle."""
    of_sensor = matrix(np.asarray(sensor.position), np.asarray(sensor.orientation))
    of_body = matrix(np.asarray(body.position), np.asarray(body.orientation))
    return np.asarray(np.linalg.inv(of_body) @ of_sensor)
