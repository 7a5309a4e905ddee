"""Optical flow: how far what a pixel shows has moved in the picture when the next one is taken.

The place that a pixel shows is known from its depth; it moves with the body it belongs to (the
surface of the water is taken to stand still), and is seen by the next shot through its own lens:

    flow = π₂(p') − π₁(p), px, columns and rows; NaN where nothing is seen, and for what is then
    behind the camera
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.render.picture import FIRST_BODY, Lens, Shot

Array = NDArray[np.float64]
Pose = tuple[Array, Array]


def optical_flow(
    bodies: Sequence[Body],
    shot: Shot,
    following: Shot,
    depth: NDArray[np.float32],
    instance: NDArray[np.uint16],
) -> NDArray[np.float32]:
    """(H, W, 2) of a shot with its passes of depths and instances."""
    lens = shot.lens
    rays = lens.rays
    along = depth.ravel().astype(np.float64) / rays[:, 0]
    seen = np.isfinite(along)
    places = (
        shot.position
        + (rays * np.where(seen, along, 0.0)[:, None]) @ rotation_matrix(shot.attitude).T
    )
    flat = instance.ravel()
    for number in np.unique(flat[flat >= FIRST_BODY]).tolist():
        before, after = (pose_of(bodies, number - FIRST_BODY, s) for s in (shot, following))
        if before is None or after is None:
            continue
        if not (np.array_equal(before[0], after[0]) and np.array_equal(before[1], after[1])):
            own = flat == number
            places[own] = (places[own] - before[0]) @ before[1] @ after[1].T + after[0]
    turned = (places - following.position) @ rotation_matrix(following.attitude)
    ahead = seen & (turned[:, 0] > 1e-6)
    where = project(following.lens, np.where(ahead[:, None], turned, [1.0, 0.0, 0.0]))
    columns, rows = np.meshgrid(np.arange(lens.width), np.arange(lens.height))
    moved = where - np.column_stack([columns.ravel(), rows.ravel()])
    moved[~ahead] = np.nan
    return moved.reshape(lens.height, lens.width, 2).astype(np.float32)


def project(lens: Lens, places: Array) -> Array:
    """(P, 2) column and row at which places (P, 3) in the camera's axes are seen."""
    x, y = lens.distortion.apply(places[:, 1] / places[:, 0], places[:, 2] / places[:, 0])
    middle = 0.5 * np.array([lens.width - 1, lens.height - 1])
    return np.asarray(lens.focal_length * np.column_stack([x, y]) + middle)


def pose_of(bodies: Sequence[Body], index: int, shot: Shot) -> Pose | None:
    """Place and rotation of a body; None for a vehicle that is not told of."""
    body = bodies[index]
    if body.shape != "vehicle":
        return body.pose(shot.time)
    if shot.others is None:
        return None
    row = shot.others[sum(other.shape == "vehicle" for other in bodies[:index])]
    return row[:3], rotation_matrix(row[3:])
