"""The map: north up, equal scales, hulls at their true size or arrows where those are too small.

Under the tracks lie the legs of missions with their circles of acceptance, and beside the track
of a vehicle with a navigation filter runs the one that it believes.
"""

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import VehicleInfo
from seatrial.figures.run.encounters import draw_bodies, draw_closest
from seatrial.figures.run.legend import Name, write_title
from seatrial.figures.run.lines import Line
from seatrial.figures.seabed import draw_contours
from seatrial.figures.style import INK, MUTED, RED
from seatrial.geometry.terrain import Terrain

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.markers import MarkerStyle

Array = NDArray[np.float64]

_PLACES = 9
"""At which a vehicle is drawn along its track."""
_SMALLEST_HULL = 0.02
"""Shortest hull that is still seen, as a share of the map's width."""
_ARROW = [(0.0, 1.0), (0.55, -0.8), (-0.55, -0.8), (0.0, 1.0)]
_FARTHEST = 1e9
"""From the datum, m; what a vehicle says that diverged beyond it is not drawn."""
_ELLIPSES = 13
_SURE = 2.4477
"""Radius of the 95 % ellipse of two normal numbers in standard deviations: √(−2 ln 0.05)."""
_MOST_NAMES = 8
_LETTERS_PER_INCH = 13.5
_WIDEST_FENCE = 3.0
"""In sizes of what it is around; a wider one is drawn as far as the map goes."""


def draw_track(axes: "Axes", lines: list[Line], width: float, named: bool = True) -> None:
    """Draw every vehicle's track from above on axes of about so many inches."""
    runs = list({id(x.run): x.run for x in lines}.values())
    tracks = [_track(x) for x in lines]
    others = [draw_bodies(axes, run) for run in runs]
    terrain = runs[0].scene.terrain if len(runs) == 1 and runs[0].scene is not None else None
    everywhere = np.concatenate(
        [*(t[:, :2] for t in tracks), *(reach(x.vehicle) for x in lines), *others]
    )
    crowd = len(lines) > _MOST_NAMES
    names: list[Name] = [(x.label, x.colour, "-") for x in lines]
    several = named and not crowd and len(lines) > 1
    write_title(axes, "Track over ground, north up", names if several else [], width)
    if not len(everywhere):
        axes.text(0.5, 0.5, "no vehicle was ever afloat", ha="center", transform=axes.transAxes)
        return
    vehicles = [x.vehicle for x in lines]
    everywhere = with_fences(everywhere, vehicles)
    extent = float(max(np.ptp(everywhere, axis=0).max(), 1e-3))
    extent = max(extent, 3.0 * max(x.vehicle.length for x in lines))
    thick = _thickness()
    believed_too = not crowd and len(runs) == 1
    arrows = hulls = False
    for x, track in zip(lines, tracks, strict=True):
        if not len(track):
            continue
        draw_legs(axes, x.vehicle, crowd)
        axes.plot(
            track[:, 1], track[:, 0], color=x.colour, lw=(0.8 if crowd else 1.2) * thick, zorder=3
        )
        if x.vehicle.estimated and believed_too:
            believed = x.data["estimate_position"].values
            axes.plot(believed[:, 1], believed[:, 0], "--", color=INK, lw=0.9, zorder=3.5)
            _draw_ellipses(axes, x.data, x.colour)
        axes.plot(
            *track[0, 1::-1],
            "o",
            ms=4.5 * thick,
            mfc="white",
            mec=x.colour,
            mew=1.2 * thick,
            zorder=5,
            clip_on=False,
        )
        seen = x.vehicle.length >= _SMALLEST_HULL * extent
        length = x.vehicle.length if seen else 2.0 * _SMALLEST_HULL * extent
        places = _places(track, length, 1 if crowd else _PLACES)
        (_draw_hulls if seen else _draw_arrows)(axes, x.vehicle, places, x.colour)
        hulls, arrows = hulls or seen, arrows or not seen
    if not crowd and len(runs) == 1:
        draw_closest(axes, runs[0], {x.vehicle.name: x.colour for x in lines})
    frame(axes, everywhere, extent)
    notes = ["○ start, filled: end"]
    if draw_fences(axes, vehicles):
        notes.append("red: fence")
    if terrain is not None:
        limits = axes.dataLim.frozen()
        draw_contours(axes, _around(terrain, everywhere, extent))
        axes.dataLim.set(limits)  # the bottom goes on; the map is of the tracks
        axes.autoscale_view()
        notes.append("contours: depth in m")
    if hulls:
        notes.append("hulls to scale")
    if arrows:
        notes.append("arrows: heading, not to scale")
    if believed_too and any(x.vehicle.estimated for x in lines):
        notes.append("dashed: estimate, 95\N{NO-BREAK SPACE}% ellipses")
    note = textwrap.fill(f"({', '.join(notes)})", max(20, int(_LETTERS_PER_INCH * width)))
    axes.set_xlabel(f"east [m]\n{note}")
    axes.set_ylabel("north [m]")


def _around(terrain: Terrain, everywhere: Array, extent: float) -> Terrain:
    """The part of a bottom that a map of these places shows, with a margin on the wider side."""
    low = everywhere.min(axis=0) - extent - terrain.spacing
    high = everywhere.max(axis=0) + extent + terrain.spacing
    i, j = (
        slice(*np.clip(np.searchsorted(axis, [a, b]), [0, 2], [len(axis) - 2, len(axis)]))
        for axis, a, b in zip((terrain.north, terrain.east), low, high, strict=True)
    )
    first = np.array([terrain.north[i.start], terrain.east[j.start]])
    return Terrain(first, terrain.spacing, terrain.depth[i, j])


def mark(heading: float) -> "MarkerStyle":
    """An arrow that points where the bow does."""
    from matplotlib.markers import MarkerStyle
    from matplotlib.path import Path

    return MarkerStyle(Path(_ARROW)).rotated(deg=-float(np.degrees(heading)))


def _thickness() -> float:
    """Of lines in this figure, points; marks go with it."""
    import matplotlib

    return float(matplotlib.rcParams["lines.linewidth"])


def _track(x: Line) -> Array:
    """(T, 3) north, east, heading of the frames in which the vehicle was alive."""
    position, euler = x.data["position"].values, x.data["euler"].values
    near = np.all(np.abs(position[:, :2]) < _FARTHEST, axis=1)
    return np.column_stack([position[near, :2], euler[near, 2]])


def reach(vehicle: VehicleInfo) -> Array:
    """(K, 2) corners around the vehicle's waypoints, north and east."""
    corners = [vehicle.legs[0].start[:2]] if vehicle.legs else []
    for leg in (leg for leg in vehicle.legs if leg.has_place):
        north, east, _ = leg.end
        corners += [(north + s * leg.acceptance, east + s * leg.acceptance) for s in (-1.0, 1.0)]
    return np.array(corners).reshape(-1, 2)


def with_fences(everywhere: Array, vehicles: list[VehicleInfo]) -> Array:
    """Places (K, 2) of a map, with the corners of fences that are not far wider."""
    most = _WIDEST_FENCE * float(np.ptp(everywhere, axis=0).max())
    fences = [np.array(v.fence) for v in vehicles if v.fence]
    return np.concatenate([everywhere, *(f for f in fences if np.ptp(f, axis=0).max() <= most)])


def draw_fences(axes: "Axes", vehicles: list[VehicleInfo]) -> bool:
    """Where vehicles must not leave; whether there is any."""
    from matplotlib.lines import Line2D

    fences = {v.fence for v in vehicles if v.fence}
    for fence in sorted(fences):
        north, east = zip(*fence, fence[0], strict=True)
        # An artist, unlike a plot, leaves the limits of the map as they are.
        axes.add_artist(Line2D(east, north, color=RED, lw=1.0, ls="-.", zorder=1.7))
    return bool(fences)


def draw_legs(axes: "Axes", vehicle: VehicleInfo, crowd: bool) -> None:
    """What the mission asked for: its legs, and where each one counts as reached."""
    from matplotlib.patches import Circle

    for leg in vehicle.legs:
        if leg.kind == "track":
            (north, east), (to_north, to_east) = leg.start[:2], leg.end[:2]
            axes.plot([east, to_east], [north, to_north], color=MUTED, lw=0.7, zorder=1.5)
        if leg.has_place and not crowd:
            circle = Circle((leg.end[1], leg.end[0]), leg.acceptance, fill=False, ec=MUTED, lw=0.8)
            circle.set_zorder(1.6)
            axes.add_patch(circle)


def _draw_ellipses(axes: "Axes", data: "xarray.Dataset", colour: str) -> None:
    """Where the filter is 95 % sure to be, at equal steps of the way, as it says of north and
    east."""
    from matplotlib.patches import Ellipse

    believed, sigma = data["estimate_position"].values, data["estimate_deviation"].values
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(believed[:, :2], axis=0).T))])
    for k in np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], _ELLIPSES))):
        (north, east), (tall, wide) = believed[k, :2], 2.0 * _SURE * sigma[k, :2]
        if np.isfinite([north, east, tall, wide]).all() and max(tall, wide) < _FARTHEST:
            for alpha, edge in ((0.13, "none"), (0.7, colour)):
                filled = edge == "none"
                ellipse = Ellipse((east, north), wide, tall, fill=filled, fc=colour, ec=edge)
                ellipse.set(alpha=alpha, lw=0.8, zorder=2.0)
                axes.add_patch(ellipse)


def _places(track: Array, length: float, count: int) -> Array:
    """(K, 3) north, east, heading at equal steps of the way travelled; the last is the end."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track[:, :2], axis=0).T))])
    steps = int(np.clip(way[-1] / (2.5 * length), 1, count))
    rows = np.searchsorted(way, np.linspace(0.0, way[-1], steps + 1)[1:])
    rows[-1] = len(track) - 1
    return track[np.minimum(rows, len(track) - 1)]


def _draw_hulls(axes: "Axes", vehicle: VehicleInfo, places: Array, colour: str) -> None:
    """Outlines of length and beam as they are; the last one is filled."""
    from matplotlib.patches import Polygon

    shape = np.array([(1.0, 0.0), (0.45, 1.0), (-1.0, 0.8), (-1.0, -0.8), (0.45, -1.0)])
    shape = shape * (0.5 * vehicle.length, 0.5 * vehicle.beam)
    for north, east, heading in places:
        c, s = np.cos(heading), np.sin(heading)
        corners = np.column_stack(
            [east + s * shape[:, 0] + c * shape[:, 1], north + c * shape[:, 0] - s * shape[:, 1]]
        )
        outline = Polygon(corners, facecolor="white", edgecolor=colour, lw=1.1, zorder=4)
        axes.add_patch(outline)
    outline.set(facecolor=colour, zorder=6)


def _draw_arrows(axes: "Axes", vehicle: VehicleInfo, places: Array, colour: str) -> None:
    """Marks of one size on paper, which point where the bow does; the last one is filled."""
    thick = _thickness()
    for north, east, heading in places:
        (drawn,) = axes.plot(
            east,
            north,
            marker=mark(float(heading)),
            ms=6.2 * thick,
            mfc="white",
            mec=colour,
            mew=1.0,
            zorder=4,
        )
    drawn.set(mfc=colour, zorder=6)


def frame(axes: "Axes", everywhere: Array, extent: float) -> None:
    """Limits around places, (K, 2) north and east, on equal scales."""
    middle = 0.5 * (everywhere.min(axis=0) + everywhere.max(axis=0))
    half = np.maximum(0.5 * np.ptp(everywhere, axis=0), 0.25 * extent) + 0.07 * extent
    # Limits that are grown, not set: equal scales then widen them to fill whatever room there is.
    axes.update_datalim([(middle + half)[::-1], (middle - half)[::-1]])
    axes.margins(0.0)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
