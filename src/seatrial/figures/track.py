"""The map of a run: north up, equal scales, the vehicles' outlines along their tracks.

Under the tracks lie the legs of missions with their circles of acceptance, and beside the track
of a vehicle with a navigation filter runs the one that it believes.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import VehicleInfo
from seatrial.figures.encounters import draw_bodies, draw_closest
from seatrial.figures.style import INK, MUTED, vehicle_colours
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_OUTLINES = 9
_SMALLEST_OUTLINE = 0.035
"""Shortest outline that is still seen, as a share of the map's width."""
_FARTHEST = 1e9
"""From the datum, m; what a vehicle says that diverged beyond it is not drawn."""
_ELLIPSES = 13
_SURE = 2.4477
"""Radius of the 95 % ellipse of two normal numbers in standard deviations: √(−2 ln 0.05)."""
_MOST_NAMES = 8
_LETTERS_BESIDE_TITLE = 40


def draw_track(axes: "Axes", run: Recording) -> None:
    """Draw every vehicle's track from above."""
    colours = vehicle_colours(run.header)
    tracks = {v.name: _track(run, v.name) for v in run.header.vehicles}
    others = draw_bodies(axes, run)
    everywhere = np.concatenate(
        [*(t[:, :2] for t in tracks.values()), *(_reach(v) for v in run.header.vehicles), others]
    )
    axes.set_title("Track over ground, north up")
    if not len(everywhere):
        axes.text(0.5, 0.5, "no vehicle was ever afloat", ha="center", transform=axes.transAxes)
        return
    extent = float(max(np.ptp(everywhere, axis=0).max(), 1e-3))
    extent = max(extent, 3.0 * max(v.length for v in run.header.vehicles))
    crowd = len(tracks) > _MOST_NAMES
    enlarged = 1.0
    for vehicle in run.header.vehicles:
        track = tracks[vehicle.name]
        if not len(track):
            continue
        scale = max(1.0, _SMALLEST_OUTLINE * extent / vehicle.length)
        enlarged = max(enlarged, scale)
        colour = colours[vehicle.name]
        _draw_legs(axes, vehicle, crowd)
        axes.plot(track[:, 1], track[:, 0], color=colour, lw=1.0 if crowd else 1.6, zorder=3)
        if vehicle.estimated and not crowd:
            believed = run.vehicle(vehicle.name)["estimate_position"].values
            axes.plot(believed[:, 1], believed[:, 0], "--", color=INK, lw=0.9, zorder=3.5)
            _draw_ellipses(axes, run.vehicle(vehicle.name), colour)
        axes.plot(
            *track[0, 1::-1], "o", ms=6, mfc="white", mec=colour, mew=1.6, zorder=5, clip_on=False
        )
        _draw_outlines(axes, vehicle, track, scale, colour, count=1 if crowd else _OUTLINES)
    if not crowd and len(tracks) > 1:
        _draw_names(axes, colours)
    if not crowd:
        draw_closest(axes, run, colours)
    _frame(axes, everywhere, extent)
    note = "○ start, filled: end"
    if not crowd and any(v.estimated for v in run.header.vehicles):
        note += ", dashed: estimate, 95 % ellipses"
    if enlarged > 1.05:
        note += f", hulls {enlarged:.2g} times as large"
    axes.set_xlabel(f"east [m]      ({note})")
    axes.set_ylabel("north [m]")


def _track(run: Recording, name: str) -> Array:
    """(T, 3) north, east, heading of the frames in which the vehicle was alive."""
    data = run.vehicle(name)
    position, euler = data["position"].values, data["euler"].values
    near = np.all(np.abs(position[:, :2]) < _FARTHEST, axis=1)
    return np.column_stack([position[near, :2], euler[near, 2]])


def _reach(vehicle: VehicleInfo) -> Array:
    """(K, 2) corners around the vehicle's waypoints, north and east."""
    corners = [vehicle.legs[0].start[:2]] if vehicle.legs else []
    for leg in (leg for leg in vehicle.legs if leg.has_place):
        north, east, _ = leg.end
        corners += [(north + s * leg.acceptance, east + s * leg.acceptance) for s in (-1.0, 1.0)]
    return np.array(corners).reshape(-1, 2)


def _draw_legs(axes: "Axes", vehicle: VehicleInfo, crowd: bool) -> None:
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


def _draw_outlines(
    axes: "Axes", vehicle: VehicleInfo, track: Array, scale: float, colour: str, count: int
) -> None:
    """Outlines at equal steps of the way travelled; the last one is filled."""
    from matplotlib.patches import Polygon

    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track[:, :2], axis=0).T))])
    length = scale * vehicle.length
    steps = int(np.clip(way[-1] / (2.5 * length), 0, count))
    places = np.searchsorted(way, np.linspace(0.0, way[-1], steps + 1)[1:]) if steps else [-1]
    shape = _outline(vehicle, scale)
    for i, place in enumerate(places):
        north, east, heading = track[min(int(place), len(track) - 1)]
        c, s = np.cos(heading), np.sin(heading)
        corners = np.column_stack(
            [east + s * shape[:, 0] + c * shape[:, 1], north + c * shape[:, 0] - s * shape[:, 1]]
        )
        last = i == len(places) - 1
        axes.add_patch(
            Polygon(
                corners,
                facecolor=colour if last else "white",
                edgecolor=colour,
                lw=1.1,
                zorder=6 if last else 4,
            )
        )


def _outline(vehicle: VehicleInfo, scale: float) -> Array:
    """Corners (forward, starboard) of a hull seen from above, bow pointed so that it is seen."""
    half_length = 0.5 * scale * vehicle.length
    half_beam = 0.5 * scale * max(vehicle.beam, 0.28 * vehicle.length)
    shape = np.array([(1.0, 0.0), (0.45, 1.0), (-1.0, 0.8), (-1.0, -0.8), (0.45, -1.0)])
    return shape * (half_length, half_beam)


def _draw_names(axes: "Axes", colours: dict[str, str]) -> None:
    """Who is who: beside the title, or on the map when the names are too long for that."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=c, lw=2.5, label=name) for name, c in colours.items()]
    if sum(len(name) + 5 for name in colours) <= _LETTERS_BESIDE_TITLE:
        axes.legend(
            handles=handles,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.01),
            ncols=len(handles),
            fontsize=9,
        )
    else:
        axes.legend(handles=handles, loc="upper left", ncols=3, frameon=True, edgecolor="none")


def _frame(axes: "Axes", everywhere: Array, extent: float) -> None:
    middle = 0.5 * (everywhere.min(axis=0) + everywhere.max(axis=0))
    half = np.maximum(0.5 * np.ptp(everywhere, axis=0), 0.25 * extent) + 0.07 * extent
    # Limits that are grown, not set: equal scales then widen them to fill whatever room there is.
    axes.update_datalim([(middle + half)[::-1], (middle - half)[::-1]])
    axes.margins(0.0)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
