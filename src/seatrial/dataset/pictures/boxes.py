"""Instances of a scene: bodies that belong together, and the boxes around them.

A thing of several parts is several bodies whose names begin with its own, before a slash. In
pictures of instances 0 is nothing, 1 the surface of the water, 2 the bottom, and things count on
from there in the order of the scene.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.pictures.objects import box_around
from seatrial.geometry.bodies import Body, quaternion_of, rotation_matrix
from seatrial.render.picture import FIRST_BODY, Shot, kind_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Instances:
    """The things of a scene."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    number: NDArray[np.uint16]
    """Of the instance, for every number of the renderer's: nothing, water, bottom, bodies."""
    parts: tuple[tuple[Body, ...], ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """In order of appearance."""
        return tuple(dict.fromkeys(self.kinds))


def instances(bodies: Sequence[Body]) -> Instances:
    """Bodies put together by their names."""
    parts: dict[str, list[Body]] = {}
    for body in bodies:
        parts.setdefault(body.name.partition("/")[0], []).append(body)
    names = tuple(parts)
    place = {name: FIRST_BODY + i for i, name in enumerate(names)}
    of_bodies = [place[body.name.partition("/")[0]] for body in bodies]
    return Instances(
        names,
        tuple(kind_of(some[0].shape, some[0].kind) for some in parts.values()),
        np.array([*range(FIRST_BODY), *of_bodies], np.uint16),
        tuple(tuple(some) for some in parts.values()),
    )


def boxes(known: Instances, picture: NDArray[np.uint16], shot: Shot) -> bytes:
    """JSON of what a picture of instances shows: a box in the picture, px (left, top, right and
    bottom, the last two beyond it), how many pixels are seen, and a box in space: its middle in the
    camera's axes (ahead, right, down), m, the quaternion (scalar first) from its axes to the
    camera's, and its length, width and height."""
    rows = []
    poses = _vehicles(known, shot)
    for number in np.unique(picture[picture >= FIRST_BODY]).tolist():
        mask = picture == number
        i = number - FIRST_BODY
        rows.append(
            {
                "instance": number,
                "name": known.names[i],
                "class": known.kinds[i],
                "box": box_around(mask),
                "pixels": int(mask.sum()),
                **_in_space(known.parts[i], shot, poses.get(known.names[i])),
            }
        )
    return (json.dumps(rows, indent=1) + "\n").encode()


def _vehicles(known: Instances, shot: Shot) -> dict[str, tuple[Array, Array]]:
    """Where the vehicles among the things are."""
    if shot.others is None:
        return {}
    names = [
        n for n, some in zip(known.names, known.parts, strict=True) if some[0].shape == "vehicle"
    ]
    return {
        name: (row[:3], rotation_matrix(row[3:]))
        for name, row in zip(names, shot.others, strict=True)
    }


def _in_space(
    parts: tuple[Body, ...], shot: Shot, pose: tuple[Array, Array] | None
) -> dict[str, list[float]]:
    """The box in the axes of the first part that holds all of them."""
    place, turned = pose or parts[0].pose(shot.time)
    corners = []
    for part in parts:
        where, how = pose or part.pose(shot.time)
        corners.append((part.mesh().vertices @ how.T + where - place) @ turned)
    every = np.concatenate(corners)
    low, high = every.min(axis=0), every.max(axis=0)
    camera = rotation_matrix(shot.attitude)
    middle = camera.T @ (place + turned @ (0.5 * (low + high)) - shot.position)
    return {
        "centre": middle.tolist(),
        "orientation": _quaternion(camera.T @ turned).tolist(),
        "size": (high - low).tolist(),
    }


def _quaternion(matrix: Array) -> Array:
    """Of a rotation matrix, with a scalar that is not negative."""
    q = quaternion_of(matrix)
    return q if q[0] >= 0.0 else -q
