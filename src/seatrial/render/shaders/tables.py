"""Tables of the stage and the shot as textures: sky, grain, waves, ripples, lamps, lenses."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.render.appearance import patterns
from seatrial.render.live.solids import strength_on_axis
from seatrial.render.live.surface import NODES, RIPPLES, Surface
from seatrial.render.picture import Lens, Light
from seatrial.render.sky import Sky, SkyTable

MOST_KEPT = 8
"""Tables of a kind, beside the one in use: skies, lenses, scenes."""


def table(gl: Any, values: NDArray[Any], smooth: bool = False, repeats: bool = False) -> Any:
    """A texture of numbers (rows, columns) or (rows, columns, 1 to 4), in single precision;
    `smooth` between its nodes."""
    rows, columns = values.shape[:2]
    parts = values.shape[2] if values.ndim == 3 else 1
    data = np.ascontiguousarray(values, np.float32)
    made = gl.texture((columns, rows), parts, data, dtype="f4")
    mode = gl.LINEAR if smooth else gl.NEAREST
    made.filter = mode, mode
    made.repeat_x = made.repeat_y = repeats
    return made


class Shelf:
    """What is kept of a kind, by what it belongs to; the oldest is let go."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The thing of a key, made where there is none."""
        if key not in self._kept:
            while len(self._kept) >= self._most:
                self._kept.popitem(last=False)[1].release()
            self._kept[key] = make()
        self._kept.move_to_end(key)
        return self._kept[key]

    def clear(self) -> None:
        """Let go of all."""
        while self._kept:
            self._kept.popitem()[1].release()


class Tables:
    """Textures that pictures have in common."""

    def __init__(self, gl: Any) -> None:
        self._gl = gl
        fine, coarse = patterns()
        self.fine = table(gl, fine, smooth=True, repeats=True)
        self.coarse = table(gl, coarse, smooth=True, repeats=True)
        self.heights = table(gl, np.zeros((2 * NODES, NODES)), smooth=True)
        self.slopes = table(gl, np.zeros((2 * NODES, NODES, 2)), smooth=True)
        self.ripples = table(gl, np.zeros((RIPPLES, RIPPLES, 2)), smooth=True, repeats=True)
        self.nothing = table(gl, np.zeros((1, 1, 4)))
        self._surface: Surface | None = None
        self._skies, self._lenses = Shelf(), Shelf()

    def sky(self, sky: Sky) -> Any:
        """What depends on the elevation: light scattered on the way, and the clouds'."""

        def make() -> Any:
            found: SkyTable = sky.table
            row = np.zeros((1, SkyTable.STEPS + 1, 4))
            row[0, :, :3], row[0, :, 3] = found.path.T, found.clouds
            return table(self._gl, row)

        return self._skies.get(sky, make)

    def lens(self, lens: Lens) -> Any:
        """Tangents of the directions of its pixels."""

        def make() -> Any:
            tangents = lens.rays[:, 1:] / lens.rays[:, :1]
            return table(self._gl, tangents.reshape(lens.height, lens.width, 2))

        return self._lenses.get(lens, make)

    def lay(self, surface: Surface) -> None:
        """The sea of an instant, in place of the one before."""
        if surface is self._surface:
            return
        self._surface = surface
        if surface.grids is not None:
            # Their imaginary parts are differences between nodes, which the card finds by itself.
            nodes = surface.grids.real
            self.heights.write(np.ascontiguousarray(nodes[0]))
            self.slopes.write(np.ascontiguousarray(nodes[1:].T))
        if surface.ripples is not None:
            self.ripples.write(surface.ripples.view(np.float32))

    def lamps(self, lights: tuple[Light, ...], eye: NDArray[np.float64]) -> Any:
        """Three columns for each: place from the eye and intensity; axis and exponent; colour."""
        rows = np.zeros((max(len(lights), 1), 3, 4))
        for row, light in zip(rows, lights, strict=False):
            row[0] = *(light.position - eye), strength_on_axis(light)
            row[1] = *light.direction, light.exponent
            row[2, :3] = light.colour
        return table(self._gl, rows)
