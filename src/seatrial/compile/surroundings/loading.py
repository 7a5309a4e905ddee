"""Which part of a map a run begins with, and how that part follows its vehicles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.loaded import Follow, Source
from seatrial.geometry.terrain import side_for
from seatrial.geometry.window import Chart, Window, nodes_between, window

Array = NDArray[np.float64]

MOST_ALONG = 2048
MOST_NODES = MOST_ALONG**2
"""Of a bottom in a compiled program: 32 MB in double precision."""
NEAR_ALONG = 512
"""Nodes along a side of a part that follows a vehicle: it is read in some milliseconds."""
SIGHT = 100.0
"""How far from a vehicle the bottom is known at least, m; farther where its sensors look."""
WAY = 100.0
"""That a vehicle can go from one look to the next, m."""
MARGIN = SIGHT + WAY
"""Around what vehicles can reach, or do on their missions, m."""


@dataclass(frozen=True)
class Reach:
    """Where the vehicles of a run begin and go."""

    low: Array
    """(2,) least north and east that they can come to, m."""
    high: Array
    places: Array
    """(K, 2) where they begin and the waypoints of their missions."""
    starts: dict[str, tuple[int, Array]]
    """Of every vehicle the place of its participant in the scenario, and where it begins (2,)."""
    fastest: float
    """Upper bound on the speed over ground of all of them, m/s."""
    sight: float
    """Longest range of their sensors, m; 0 without any."""


def chosen(chart: Chart, reach: Reach) -> Window | None:
    """What the vehicles can reach, or where that is too much what is near to them and to their
    waypoints; None where that is too much too."""
    all_of_it = window(chart, reach.low, reach.high)
    if _nodes(all_of_it.counts) <= MOST_NODES:
        return all_of_it
    low, high = reach.places.min(axis=0), reach.places.max(axis=0)
    room = 2.0 * max(MARGIN, reach.sight + WAY)
    wanted = nodes_between(chart, low - room, high + room)
    rows, columns = (
        side_for(min(max(count, NEAR_ALONG), most))
        for count, most in zip(wanted, chart.shape, strict=True)
    )
    if rows * columns > MOST_NODES:
        return None
    sides = rows, columns
    if len(reach.starts) > 1:
        sides = _grown(chart, sides)
    return window(chart, low, high, sides)


def _grown(chart: Chart, sides: tuple[int, int]) -> tuple[int, int]:
    """As many nodes as there may be, always more along the shorter side: vehicles may part."""
    while True:
        longer = [
            (side * float(step), axis)
            for axis, (side, step, count) in enumerate(
                zip(sides, chart.spacing, chart.shape, strict=True)
            )
            if side < count
        ]
        if not longer:
            return sides
        axis = min(longer)[1]
        more = side_for(sides[axis] + 1)
        other = (more, sides[1]) if axis == 0 else (sides[0], more)
        if other[0] * other[1] > MOST_NODES:
            return sides
        sides = other


def follow_of(source: Source, here: Window, reach: Reach) -> Follow:
    """How the part that was chosen follows the vehicles."""
    chart = source.chart
    rows, columns = (side_for(count) for count in here.counts)
    # A radar that sees farther than the part shall not have it read without end.
    lengths = np.where(here.counts < np.array(chart.shape), chart.spacing * here.counts, np.inf)
    sight = min(max(SIGHT, reach.sight), max(SIGHT, 0.25 * float(lengths.min()) - WAY))
    return Follow(source, (rows, columns), sight + WAY, WAY / reach.fastest)


def _nodes(counts: tuple[int, int]) -> int:
    rows, columns = counts
    return side_for(rows) * side_for(columns)
