"""Maps of the bottom: hills shaded by a light from the north-west, contours, land apart."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.figures.style import INK, MUTED, STYLE
from seatrial.geometry.terrain import Terrain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seatrial.figures.page import Page

Array = NDArray[np.float64]

COLOURS = "YlGnBu"
"""Light where it is shallow."""
LAND = "#d9cfb8"
SHORE = "#6b5d43"
HOLE = "#ffffff"
CONTOUR = "#8da7bb"
MOST_PIXELS = 1200
"""Along a side of a picture; a finer map is thinned out."""
LIGHT_TOWARDS, LIGHT_HEIGHT = np.radians(315.0), np.radians(45.0)
"""Where the light comes from, clockwise from north, and how high it stands, rad."""
STEEP = 0.5
"""Slope that the steepest tenth of a bottom is drawn with at least."""
DARKEST, BRIGHTEST = 0.45, 1.25
CONTOURS = 9


def draw_seabed(terrain: Terrain, title: str) -> "Page":
    """A picture of a map, north up."""
    import matplotlib

    from seatrial.figures.page import Page

    with matplotlib.rc_context(STYLE):
        figure = Page(figsize=(7.6, 6.4), dpi=130, layout="constrained")
        axes = figure.add_subplot()
        picture = _shade(axes, terrain)
        draw_contours(axes, terrain, named=True)
        axes.set_xlabel("east [m]")
        axes.set_ylabel("north [m]")
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.grid(False)
        if picture is not None:
            bar = figure.colorbar(picture, ax=axes, shrink=0.85, label="depth [m]")
            bar.ax.invert_yaxis()
    return figure


def _shade(axes: "Axes", terrain: Terrain) -> Any:
    """Colours by depth, darker where a slope is turned away from the light."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, to_rgb

    step = max(1, -(-max(terrain.depth.shape) // MOST_PIXELS))
    depth = terrain.depth[::step, ::step]
    north, east = terrain.north[::step], terrain.east[::step]
    wet = depth[depth > 0.0]
    deepest = float(wet.max()) if wet.size else 1.0
    shallow = float(wet.min()) if wet.size and not (depth <= 0.0).any() else 0.0
    scale = Normalize(shallow, max(deepest, shallow + 1e-3))
    colours = colormaps[COLOURS](scale(np.nan_to_num(depth)))[..., :3]
    colours[depth <= 0.0] = to_rgb(LAND)
    across = terrain.spacing * step
    bright = shading(np.nan_to_num(depth, nan=deepest), float(across[0]), float(across[1]))
    shaded = np.clip(colours * bright[..., None], 0.0, 1.0)
    shaded[np.isnan(depth)] = to_rgb(HOLE)
    half = 0.5 * across
    axes.imshow(
        shaded,
        origin="lower",
        extent=(east[0] - half[1], east[-1] + half[1], north[0] - half[0], north[-1] + half[0]),
        interpolation="nearest",
    )
    return ScalarMappable(scale, COLOURS) if wet.size else None


def shading(depth: Array, north: float, east: float) -> Array:
    """(A, B) brightness of the facets of a grid of such steps; 1 for a level one.

    By Lambert's law, the cosine between normal and light. Gentle slopes are exaggerated.
    """
    down_north, down_east = np.gradient(depth, north, east)
    steep = float(np.quantile(np.hypot(down_north, down_east), 0.9))
    more = np.clip(STEEP / max(steep, 1e-6), 1.0, 50.0)
    a, b = more * down_north, more * down_east
    level = np.cos(LIGHT_HEIGHT) * (np.cos(LIGHT_TOWARDS) * a + np.sin(LIGHT_TOWARDS) * b)
    light = (level + np.sin(LIGHT_HEIGHT)) / np.sqrt(1.0 + a * a + b * b)
    return np.asarray(np.clip(light / np.sin(LIGHT_HEIGHT), DARKEST, BRIGHTEST))


def draw_contours(axes: "Axes", terrain: Terrain, named: bool = False) -> None:
    """Lines of equal depth, and the shore."""
    from matplotlib.ticker import MaxNLocator

    step = max(1, -(-max(terrain.depth.shape) // MOST_PIXELS))
    depth = terrain.depth[::step, ::step]
    north, east = terrain.north[::step], terrain.east[::step]
    least, greatest = float(np.nanmin(depth)), float(np.nanmax(depth))
    if greatest - least < 1e-3:
        return
    levels = MaxNLocator(CONTOURS).tick_values(max(least, 0.0), greatest)
    levels = [level for level in levels if max(least, 0.0) < level < greatest]
    if levels:
        colour = INK if named else CONTOUR
        lines = axes.contour(
            east, north, depth, levels, colors=colour, linewidths=0.6, alpha=0.7, zorder=1.2
        )
        axes.clabel(
            lines, fontsize=6.5 if not named else 7.5, fmt="%g", colors=INK if named else MUTED
        )
    if least < 0.0 < greatest:
        axes.contour(east, north, depth, [0.0], colors=SHORE, linewidths=1.3, zorder=1.3)
        if not named:
            axes.contourf(
                east, north, depth, [-np.inf, 0.0], colors=[LAND], zorder=1.1, extend="neither"
            )
