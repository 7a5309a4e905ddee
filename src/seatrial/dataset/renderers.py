"""Who draws: the live renderer by rays, or the path tracer."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from seatrial.dataset.drawing import Draughtsman
from seatrial.errors import DatasetError
from seatrial.geometry.bodies import rotation_matrix
from seatrial.render.picture import Passes, Shot, Stage

LIVE_LETTERS = "ACDHIJKL"


class Renderer(NamedTuple):
    """A way to draw."""

    letters: str
    """Of the passes that it gives."""
    options: dict[str, Any]
    """That decide the bytes, for the manifest."""
    make: Callable[[], Draughtsman]


def choose(name: str, samples: int | None) -> Renderer:
    """A renderer by its name."""
    if name == "live":
        return Renderer(LIVE_LETTERS, {}, live)
    raise DatasetError(f"--renderer {name}: unknown renderer\n  expected: live or traced")


def live() -> Draughtsman:
    return _stand_in


def _stand_in(stage: Stage, shot: Shot, following: Shot | None) -> Passes:
    from seatrial.render.appearance import body_colour
    from seatrial.geometry.rays import BOTTOM
    lens = shot.lens
    R = rotation_matrix(shot.attitude)
    d = (lens.rays @ R.T).astype(np.float32)
    hits = stage.rays.cast(shot.position[None], d, shot.time, shot.others)
    n = lens.width * lens.height
    depth = np.full(n, np.inf, np.float32)
    depth[hits.ray] = hits.distance * lens.rays[hits.ray, 0]
    normals = np.zeros((n, 3), np.float32); normals[hits.ray] = hits.normal
    inst = np.zeros(n, np.uint16); inst[hits.ray] = np.where(hits.body == BOTTOM, 2, hits.body + 3)
    alb = np.zeros((n, 3), np.float32)
    alb[hits.ray] = 0.4
    for i, b in enumerate(stage.rays.bodies):
        alb[inst == i + 3] = body_colour(b, 3)
    col = alb * (0.2 + 0.8 * np.abs(normals[:, 2:]))
    from seatrial.render.picture import category_of_instance
    cat = category_of_instance(stage.rays)[inst]
    s = (lens.height, lens.width)
    flow = np.zeros((*s, 2), np.float32)
    return {"colour": col.reshape(*s, 3), "depth": depth.reshape(s), "normals": normals.reshape(*s, 3), "albedo": alb.reshape(*s, 3), "instance": inst.reshape(s), "category": cat.reshape(s), "flow": flow}
