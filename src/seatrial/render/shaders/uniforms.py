"""What every program is told of a shot: one block of vectors, the same for all of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

FIELDS: dict[str, int] = {
    "turn": 3,  # rows of the matrix from the camera's axes to the world's
    "frame": 1,  # first tangents of the rasterised frame, right and down, and 1 over its extents
    "raster": 1,  # the size of one of its pixels in tangents
    "picture": 1,  # columns, rows, 1 / focal length
    "eye": 1,  # north and east within the repeat of the grain, depth
    "sun": 1,  # towards it; whether it throws shadows
    "sun_irradiance": 1,
    "molecular": 1,  # share of the sky's light that molecules scatter
    "sky_irradiance": 1,
    "upwelling": 1,
    "horizon": 1,  # colour of fog, and extinction
    "sun_in_water": 1,  # towards it; 1 over the cosine from straight up
    "beam": 1,  # of the sun below the surface
    "even": 1,  # of the sky below the surface
    "attenuation": 1,
    "daylight": 1,
    "scattering": 1,
    "backscatter": 1,
    "veiling": 1,  # of level water without end at the surface
    "veiling_here": 1,  # the same where the camera is
    "reaches": 1,  # through the surface, in its mirror from below; depth of shadows; whether at all
    "waves": 1,  # middle of the grids from the eye; highest; steepest
    "lost": 1,  # variance of slopes that the grids leave out, and of the ripples
    "tiled": 1,  # north and east of the eye within the tile of the ripples
    "floor_first": 1,  # first node of a mapped bottom, from the eye
    "floor_step": 1,  # between nodes; depth of a flat one
    "floor_count": 1,  # nodes towards north and east; of the whole map
    "sediment": 1,
    "stone": 1,
    "spans": 1,  # how far from the eye the maps of shadows reach
    "texels": 1,  # sizes of their pixels, m; 0 of one that is not there
    "moving_texels": 1,  # the same of what moves
    "cascades": 12,  # three rows for each, to places and depths on it from 0 to 1
}
"""Name -> vectors of four numbers."""
_FIRST = dict(zip(FIELDS, np.cumsum([0, *FIELDS.values()]).tolist(), strict=False))


def block() -> str:
    """The block in the language of shaders."""
    rows = "".join(f"  vec4 {name}{f'[{n}]' if n > 1 else ''};\n" for name, n in FIELDS.items())
    return f"layout(std140) uniform Shot {{\n{rows}}};\n"


class Uniforms:
    """Values of the block."""

    def __init__(self) -> None:
        self._rows: NDArray[np.float32] = np.zeros((sum(FIELDS.values()), 4), np.float32)

    def put(self, name: str, *values: ArrayLike) -> None:
        """The numbers of a field, one after the other."""
        numbers = np.concatenate([np.ravel(value) for value in values])
        first = _FIRST[name]
        self._rows[first : first + FIELDS[name]].reshape(-1)[: len(numbers)] = numbers

    def put_rows(self, name: str, rows: Sequence[ArrayLike]) -> None:
        """Vectors of a field of several, each filled up with 0."""
        for k, row in enumerate(rows):
            self._rows[_FIRST[name] + k, : len(np.ravel(row))] = np.ravel(row)

    @property
    def bytes(self) -> bytes:
        """As the card has it."""
        return self._rows.tobytes()
