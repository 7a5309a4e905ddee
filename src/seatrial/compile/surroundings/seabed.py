"""From the description of a bottom to its depths, as far as a run can reach.

A map is an array of the compiled program, so only the part around the vehicles is loaded, and its
sides have one of a few numbers of nodes: other maps, places and seeds share the program.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry import synthetic
from seatrial.compile.surroundings.charted import part_of_map
from seatrial.compile.surroundings.loading import MOST_NODES, Reach, chosen, follow_of
from seatrial.engine.loaded import Loaded
from seatrial.geometry.terrain import Terrain, side_for, terrain
from seatrial.geometry.window import Chart, Window
from seatrial.seeding import generator
from seatrial.spec import seabed as spec
from seatrial.spec.world import World

Array = NDArray[np.float64]

SHALLOWEST = 1.0
"""Least depth that waves are given where the bottom is a map, m."""


class Bottom(NamedTuple):
    """The bottom of a run."""

    depth: float | Terrain
    """Of a flat one, m, or over a grid."""
    for_waves: float
    """That crests of its waves are spaced by, m; motion and loads follow the depth under them."""
    loaded: Loaded | None = None
    """The part of a map that a run begins with."""

    @property
    def deepest(self) -> float:
        """Greatest depth, m, of all that a run may load; a little where all of it is land."""
        if not isinstance(self.depth, Terrain):
            return self.depth
        deepest = float(self.depth.depth.max())
        if self.loaded is not None and self.loaded.follow is not None:
            deepest = max(deepest, self.loaded.follow.source.deepest)
        return max(deepest, SHALLOWEST)


def bottom_of(world: World, seed: int, reach: Reach | None = None) -> Bottom | None:
    """The bottom of a world as far as vehicles reach, or its middle; None for deep water."""
    described = world.seabed
    if described is None:
        return None
    if isinstance(described, spec.Seabed):
        return Bottom(described.depth, described.depth)
    if isinstance(described, spec.SeabedMap):
        loaded = part_of_map(world, described, reach)
    else:
        loaded = _part_made_up(described, seed, reach)
    found = loaded.part
    return Bottom(found.with_room(), _depth_for_waves(found, reach), loaded)


def _depth_for_waves(found: Terrain, reach: Reach | None) -> float:
    """The mean under the places where vehicles begin and under their waypoints, so far as those are
    afloat; without any the mean of all that is under water."""
    under = found.depth.ravel() if reach is None else found.at(*reach.places.T)
    wet = under[under > 0.0]
    return max(float(wet.mean()), SHALLOWEST) if len(wet) else SHALLOWEST


def _part_made_up(made: spec.MadeUp, seed: int, reach: Reach | None) -> Loaded:
    whole = _made_up(made, seed)
    chart = Chart(whole.origin, whole.spacing, _counts(whole))
    here = None if reach is None else chosen(chart, reach)
    if reach is None or here is None or here.counts == chart.shape:
        return Loaded(whole, chart, survey=False)
    source = MadeUp(made, seed, chart, float(whole.depth.max()))
    part = whole.part(*here)
    # What was cut out keeps all of it alive.
    own = Terrain(part.origin, part.spacing, part.depth.copy(), part.whole)
    return Loaded(own, chart, survey=False, follow=follow_of(source, here, reach))


class MadeUp:
    """A bottom that is made up again when a run leaves the part of it that it began with."""

    def __init__(self, made: spec.MadeUp, seed: int, chart: Chart, deepest: float) -> None:
        self._made, self._seed = made, seed
        self.chart, self.deepest = chart, deepest
        """Where its nodes lie, and its greatest depth, m."""

    @cached_property
    def _whole(self) -> Terrain:
        return _made_up(self._made, self._seed)

    def read(self, window: Window) -> Terrain:
        """A part of it."""
        return self._whole.part(*window)


def _counts(found: Terrain) -> tuple[int, int]:
    rows, columns = found.depth.shape
    return rows, columns


def _made_up(made: spec.MadeUp, seed: int) -> Terrain:
    # A little more than asked for, so that there is no need for a rim that repeats the edge.
    counts = [side_for(math.ceil(extent / made.spacing) + 1) for extent in made.extent]
    _check_size(made, counts[0], counts[1])
    half = [0.5 * made.spacing * (count - 1) for count in counts]
    north = np.linspace(-half[0], half[0], counts[0])
    east = np.linspace(-half[1], half[1], counts[1])
    x, y = np.meshgrid(north, east, indexing="ij")
    depth = _shaped(made, north, east, x, y, seed)
    if made.coast is not None:
        coast = made.coast
        depth = synthetic.with_coast(
            depth, x, y, coast.towards, coast.distance, coast.slope, coast.height
        )
    origin = np.array(made.centre) - np.array(half)
    return terrain(origin, (made.spacing, made.spacing), depth)


def _check_size(made: spec.MadeUp, rows: int, columns: int) -> None:
    if side_for(rows) * side_for(columns) <= MOST_NODES:
        return
    raise made.error(
        ("extent",),
        f"{made.extent[0]:.4g} m by {made.extent[1]:.4g} m of bottom are {rows} by {columns} nodes",
        expected=f"at most {MOST_NODES} nodes",
        mend="make `extent` smaller, or `spacing` larger",
    )


def _shaped(made: spec.MadeUp, north: Array, east: Array, x: Array, y: Array, seed: int) -> Array:
    """Depths about the centre, (A, B)."""
    random = generator(seed, f"seabed/{spec.shape(made)}")
    level = np.full(x.shape, made.depth)

    def rough(relief: float, largest: float = 100.0, hurst: float = 0.8) -> Array:
        return synthetic.fractal(x.shape, made.spacing, relief, largest, hurst, random)

    match made:
        case spec.FractalSeabed():
            return level + rough(made.relief, made.largest, made.hurst)
        case spec.RippledSeabed():
            if made.length < 4.0 * made.spacing:
                raise made.error(
                    ("length",),
                    "the grid is too coarse for such ripples",
                    value=made.length,
                    expected=f"at least four times `spacing`, {4.0 * made.spacing:g} m",
                    mend="make `spacing` smaller",
                )
            return synthetic.rippled(made.depth, x, y, made.height, made.length, made.towards)
        case spec.SlopingSeabed():
            return synthetic.sloped(made.depth, x, y, made.gradient, made.towards)
        case spec.Canyon():
            return synthetic.canyon(
                *(made.depth, x, y, made.relief, made.width, made.towards),
                *(made.meander, made.meander_length, random),
            )
        case spec.Reef():
            low, high = (north[0], east[0]), (north[-1], east[-1])
            heads = synthetic.scattered(made.count, low, high, made.height, made.radius, random)
            return level + rough(made.relief) - synthetic.mounds(north, east, *heads)
        case spec.WreckSite():
            reach = made.length
            pieces = synthetic.scattered(
                *(made.debris, (-reach, -reach), (reach, reach)),
                *(0.1 * made.height, max(0.2 * made.beam, 2.0 * made.spacing), random),
            )
            rise = synthetic.wreck(
                x, y, made.length, made.beam, made.height, made.heading, made.scour
            )
            return level + rough(made.relief) - rise - synthetic.mounds(north, east, *pieces)
        case spec.HarbourBasin():
            if made.wall < 2.0 * made.spacing:
                raise made.error(
                    ("wall",),
                    "the grid is too coarse for such walls",
                    value=made.wall,
                    expected=f"at least twice `spacing`, {2.0 * made.spacing:g} m",
                    mend="make `spacing` smaller",
                )
            outside = made.depth if made.approach is None else made.approach
            return synthetic.harbour(
                *(x, y, made.depth, outside, made.basin, made.towards),
                *(made.entrance, made.wall, made.height),
            )
    raise TypeError(f"no bottom for {type(made).__name__}")
