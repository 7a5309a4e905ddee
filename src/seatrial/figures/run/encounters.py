"""Who met whom: other vessels on the map, the distances to them, and the rule that applied."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.scene import Body
from seatrial.figures.run.legend import Name
from seatrial.figures.style import INK, MUTED
from seatrial.record.reader import Recording
from seatrial.signals import RULES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_MOST_LINES = 12
"""Distances on one diagram."""
_LETTER = 0.058
"""Width of a letter of the smallest text, inches."""
_ROW, _ALL_ROWS = 0.13, 0.55
"""Height of a bar with its words, and of all of them at most, as shares of the diagram."""
_COLOURS = {
    **{"concrete": "#c9cdd1", "rock": "#b8ab9a", "wood": "#c8a982", "steel": "#aab6c4"},
    **{"plastic": "#e6c15c", "rubber": "#8b8f94", "aluminium": "#d3dbe3"},
}
"""Of bodies from above, by material."""
_MARKS = 6
"""Places of another vessel that are marked on the map."""


def bodies(run: Recording) -> list[Body]:
    """Everything of the scene that is no vehicle."""
    scene = run.scene
    return [] if scene is None else [b for b in scene.bodies if b.shape != "vehicle"]


def is_encounter(run: Recording) -> bool:
    """Whether somebody on a mission had others to keep clear of."""
    if "rule" not in run.dataset:
        return False
    return len(run.header.vehicles) > 1 or any(b.motion is not None for b in bodies(run))


def draw_bodies(axes: "Axes", run: Recording) -> Array:
    """Draw them on the map, east over north; returns where they are, (K, 2) north and east."""
    from matplotlib.patches import Circle, Polygon

    first, last = run.dataset.time.values[[0, -1]]
    reach: list[Array] = []
    low, high = _neighbourhood(run)
    for body in bodies(run):
        if body.motion is not None:
            way = np.array([body.motion.at(t)[0] for t in np.linspace(first, last, _MARKS)])
            axes.plot(way[:, 1], way[:, 0], ":", color=INK, lw=1.0, zorder=2)
            axes.plot(way[:, 1], way[:, 0], "D", color=INK, ms=0.4 * _letters(), zorder=2.5)
            axes.annotate(
                body.name, (way[-1, 1], way[-1, 0]), textcoords="offset points", xytext=(4, 5),
                color=INK, fontsize=_letters(), zorder=2.5,
            )  # fmt: skip
            reach.append(way)
        elif body.shape == "circle" and body.outline is not None:
            north, east = body.outline[0]
            axes.add_patch(Circle((east, north), body.radius, fc="#d8dde2", ec=MUTED, zorder=1.7))
            reach.append(body.outline)
        elif body.outline is not None:
            axes.add_patch(Polygon(body.outline[:, ::-1], fc="#d8dde2", ec=MUTED, zorder=1.7))
            reach.append(body.outline)
        else:
            seen = body.footprint(float(first))
            colour = _COLOURS.get(body.material, "#d8dde2")
            axes.add_patch(Polygon(seen[:, ::-1], fc=colour, ec=MUTED, lw=0.6, zorder=1.7))
            if np.all((seen >= low) & (seen <= high)):
                reach.append(seen)
    return np.concatenate(reach) if reach else np.zeros((0, 2))


def _neighbourhood(run: Recording) -> tuple[Array, Array]:
    """Corners of the box around the tracks, as wide again on every side, north and east; bodies of
    the world beyond it do not widen the map."""
    places = run.dataset.position.values[..., :2].reshape(-1, 2)
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    more = max(float(np.max(high - low)), 10.0)
    return low - more, high + more


def draw_distances(
    axes: "Axes", width: float, run: Recording, colours: dict[str, str], time_scale: float
) -> list[Name]:
    """Distances between everybody, and over them the rule that each vehicle kept to."""
    time = run.dataset.time.values
    lines = _pairs(run)
    for a, _, distance in lines[:_MOST_LINES]:
        axes.plot(time / time_scale, distance, color=colours[a], lw=1.1)
        if np.isfinite(distance).any():
            k = int(np.nanargmin(distance))
            axes.plot(time[k] / time_scale, distance[k], "o", color=colours[a], ms=3.5)
            if len(lines) <= 3:
                axes.annotate(
                    f"{distance[k]:.1f} m",
                    (time[k] / time_scale, distance[k]),
                    textcoords="offset points",
                    xytext=(4, 4),
                    fontsize=_letters(),
                )
    bars = _draw_rules(axes, run, colours, time / time_scale, _LETTER / width)
    highest = max((float(np.nanmax(d, initial=0.0)) for _, _, d in lines), default=0.0)
    below = 1.0 - min(_ROW * bars, _ALL_ROWS)  # bars stand above the lines
    axes.set_ylim(0.0, 1.05 * max(highest, 1.0) / below)
    return []


def _places(run: Recording) -> dict[str, Array]:
    """(T, 2) north and east of vehicles and of vessels on a timetable."""
    time = run.dataset.time.values
    own = {
        v.name: run.dataset.sel(vehicle=v.name).position.values[:, :2] for v in run.header.vehicles
    }
    return own | {
        b.name: np.array([b.motion.at(t)[0] for t in time])
        for b in bodies(run)
        if b.motion is not None
    }


def _pairs(run: Recording) -> list[tuple[str, str, Array]]:
    """Who met whom, and their distance over time; those that came nearest first."""
    names = [v.name for v in run.header.vehicles]
    everybody = _places(run)
    vessels = [name for name in everybody if name not in names]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    pairs += [(a, b) for a in names for b in vessels]
    lines = [(a, b, np.hypot(*(everybody[a] - everybody[b]).T)) for a, b in pairs]
    return sorted(lines, key=lambda line: float(np.nanmin(line[2], initial=np.inf)))


def draw_closest(axes: "Axes", run: Recording, colours: dict[str, str]) -> None:
    """On the map, where the two who came nearest to each other were then, and how far apart."""
    if not is_encounter(run):
        return
    places = _places(run)
    for a, b, distance in _pairs(run)[:1]:
        if not np.isfinite(distance).any():
            continue
        k = int(np.nanargmin(distance))
        (n1, e1), (n2, e2) = places[a][k], places[b][k]
        axes.plot([e1, e2], [n1, n2], "-", color=INK, lw=1.4, marker="o", ms=3, zorder=5.5)
        axes.annotate(
            f"{distance[k]:.1f} m at {run.dataset.time.values[k]:.0f} s",
            (0.5 * (e1 + e2), 0.5 * (n1 + n2)),
            textcoords="offset points", xytext=(6, 6), fontsize=_letters(), color=INK, zorder=7,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
        )  # fmt: skip


def _draw_rules(
    axes: "Axes", run: Recording, colours: dict[str, str], time: Array, letter: float
) -> int:
    """A bar per vehicle at the top, named where a rule begins to apply; how many there are."""
    size = 0.9 * _letters()
    letter *= time[-1] - time[0]
    acting = [
        v.name
        for v in run.header.vehicles
        if np.nanmax(run.dataset["rule"].sel(vehicle=v.name).values, initial=0.0) > 0
    ]
    for row, name in enumerate(acting):
        codes = np.nan_to_num(run.dataset["rule"].sel(vehicle=name).values).astype(int)
        edges = np.flatnonzero(np.diff(codes)) + 1
        free = time[0]
        for first, last in zip([0, *edges], [*edges, len(codes)], strict=True):
            code = int(codes[first])
            if code == 0:
                continue
            height = 0.98 - min(_ROW, _ALL_ROWS / len(acting)) * row
            span = [time[first], time[last - 1]]
            axes.plot(span, [height] * 2, color=colours[name], lw=2.5, transform=_across(axes))
            start = min(span[0], time[-1] - letter * len(RULES[code]))
            if start >= free:  # where rules follow each other quickly the line alone tells
                axes.text(
                    start, height - 0.012, RULES[code], color=colours[name], fontsize=size,
                    va="top", transform=_across(axes),
                )  # fmt: skip
                free = start + letter * (len(RULES[code]) + 1)
    return len(acting)


def _letters() -> float:
    """Size of small text in this figure, points."""
    import matplotlib

    return float(matplotlib.rcParams["legend.fontsize"])


def _across(axes: "Axes"):  # type: ignore[no-untyped-def]  # matplotlib has no types
    """Time along, share of the height upwards."""
    return axes.get_xaxis_transform()
