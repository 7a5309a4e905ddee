"""Maps of what the sun sees: three, each for what lies farther from the camera than the one before.

Maps of what stands still do not follow the camera but jump: their middles lie on a lattice across
the sun's direction, so that one serves many pictures, and which one is used depends on nothing but
where the camera is. What moves is drawn anew for every picture, in coarser maps of the same places.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.render.live.solids import SHADOW
from seatrial.render.shaders.bodies import Bodies
from seatrial.render.shaders.uniforms import Uniforms

Array = NDArray[np.float64]

SPANS = (10.0, 50.0, 300.0)
"""Distances from the camera to which each of them reaches, m."""
LATTICE = 0.25
"""Distance between middles, over how far a map reaches."""
SIDE, MOVING_SIDE = 1536, 512
"""Pixels along each side of a map of what stands still, and of what moves."""
ALONG = 100.0
"""Distance between middles along the sun's direction, m."""


class Sunlight(NamedTuple):
    """What decides a map."""

    sun: Array
    """(3,) towards it."""
    deepest: float
    """Below which nothing throws a shadow that is seen, m."""
    reach: float
    """How far from the camera shadows are seen, m."""


class _Map(NamedTuple):
    middle: Array
    """(3,) in the sun's axes, m."""
    half: float
    """Of its side, m."""
    deep: float
    """Of what it holds, from its middle along the sun's direction either way, m."""

    def matrix(self, axes: Array, eye: Array) -> Array:
        """(3, 4) from places relative to an eye to −1 … 1; depths grow away from the sun."""
        scale = np.array([1.0 / self.half, 1.0 / self.half, -1.0 / self.deep])
        return np.column_stack([scale[:, None] * axes, scale * (axes @ eye - self.middle)])

    def holds(self, places: Array, radii: Array) -> NDArray[np.bool_]:
        """(B,) whether spheres about places (B, 3) in the sun's axes touch it."""
        off = np.abs(places - self.middle)
        inside = (off[:, 0] < self.half + radii) & (off[:, 1] < self.half + radii)
        return inside & (off[:, 2] < self.deep + radii)


class Shadows:
    """Maps for one scene, sun and neighbourhood at a time, in quarters of two textures."""

    def __init__(self, gl: Any) -> None:
        self._gl = gl
        self.texture, self._target = self._sheet(SIDE)
        self.moving, self._moving_target = self._sheet(MOVING_SIDE)
        self._known: list[tuple[Any, ...] | None] = [None] * len(SPANS)
        self._empty = [True] * len(SPANS)

    def _sheet(self, side: int) -> tuple[Any, Any]:
        texture = self._gl.depth_texture((2 * side, 2 * side))
        texture.compare_func = "<="
        texture.filter = self._gl.LINEAR, self._gl.LINEAR
        texture.repeat_x = texture.repeat_y = False
        return texture, self._gl.framebuffer(depth_attachment=texture)

    def cast(
        self, program: Any, bodies: Bodies, eye: Array, light: Sunlight, uniforms: Uniforms
    ) -> None:
        """Draw what is not there yet, and tell programs where on the maps places are looked up."""
        self._gl.enable_only(self._gl.DEPTH_TEST)
        self._gl.depth_func = "<"
        axes = _axes(light.sun)
        texels, moving, rows, nearest = np.zeros(4), np.zeros(4), np.zeros((12, 4)), 0.0
        places = (bodies.middles + eye) @ axes.T
        high = bodies.shown & (bodies.middles[:, 2] + eye[2] - bodies.radii < light.deepest)
        for k, span in enumerate(SPANS):
            if nearest >= light.reach:
                break
            nearest = span
            sheet = _map_at(axes @ eye, span)
            matrix = sheet.matrix(axes, eye)
            program["sunward"].write(matrix.astype(np.float32))
            held = high & sheet.holds(places, bodies.radii)
            still, movers = held & ~bodies.moving, held & bodies.moving
            key = bodies, light.sun.tobytes(), light.deepest, sheet.middle.tobytes()
            if key != self._known[k]:
                self._known[k], self._empty[k] = key, not still.any()
                if not self._empty[k]:
                    self._draw(program, bodies, still, self._target, SIDE, k)
            if not self._empty[k]:
                texels[k] = 2.0 * sheet.half / SIDE
            if movers.any():
                self._draw(program, bodies, movers, self._moving_target, MOVING_SIDE, k)
                moving[k] = 2.0 * sheet.half / MOVING_SIDE
            half = 0.5 * matrix
            half[:, 3] += 0.5
            rows[3 * k : 3 * k + 3] = half
        uniforms.put("texels", texels)
        uniforms.put("moving_texels", moving)
        uniforms.put("spans", SPANS)
        uniforms.put_rows("cascades", list(rows))

    def _draw(
        self,
        program: Any,
        bodies: Bodies,
        chosen: NDArray[np.bool_],
        target: Any,
        side: int,
        k: int,
    ) -> None:
        """Into a quarter of a sheet."""
        target.viewport = quarter = (k & 1) * side, (k >> 1) * side, side, side
        target.use()
        target.clear(viewport=quarter)
        bodies.draw(program, chosen, None)


def _map_at(eye: Array, span: float) -> _Map:
    """The map of the lattice for an eye in the sun's axes."""
    step = np.array([LATTICE * span, LATTICE * span, ALONG])
    half = (1.0 + 0.75 * LATTICE) * span
    return _Map(np.round(eye / step) * step, half, half + 0.5 * ALONG + SHADOW)


def _axes(sun: Array) -> Array:
    """(3, 3) two axes across a direction, and the direction."""
    aside = np.cross(sun, [1.0, 0.0, 0.0] if abs(sun[0]) < 0.7 else [0.0, 1.0, 0.0])
    aside /= np.linalg.norm(aside)
    return np.stack([aside, np.cross(sun, aside), sun])
