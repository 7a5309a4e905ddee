"""From seatrial's frames to ROS's and back, written once.

World: NED (north, east, down) here, ENU (east, north, up) in ROS. Body: forward, starboard, down
here, forward, left, up in ROS (REP 103). Both changes of axes are half turns, about
(1, 1, 0)/√2 and about the x axis, so each function below is its own inverse and serves both ways.

Arrays carry the components on their last axis.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SQRT_HALF = float(np.sqrt(0.5))


def swap_world(vector: Array) -> Array:
    """NED to ENU or ENU to NED: exchange the horizontal axes, flip the vertical one."""
    return np.stack([vector[..., 1], vector[..., 0], -vector[..., 2]], axis=-1)


def swap_body(vector: Array) -> Array:
    """Forward-starboard-down to forward-left-up or back: flip the last two axes."""
    return np.stack([vector[..., 0], -vector[..., 1], -vector[..., 2]], axis=-1)


def swap_attitude(quaternion: Array) -> Array:
    """Body-to-world quaternion, scalar first, between NED/FSD and ENU/FLU.

    q' = q_w ⊗ q ⊗ q_b with the half turns q_w = (0, 1, 1, 0)/√2 and q_b = (0, 1, 0, 0), times −1
    so that applying it twice gives q and not −q.
    """
    w, x, y, z = (quaternion[..., i] for i in range(4))
    return _SQRT_HALF * np.stack([w + z, x + y, x - y, w - z], axis=-1)


def swap_mounting(quaternion: Array) -> Array:
    """Sensor-to-body quaternion, scalar first, with both frames turned about their own x axis."""
    w, x, y, z = (quaternion[..., i] for i in range(4))
    return np.stack([w, x, -y, -z], axis=-1)
