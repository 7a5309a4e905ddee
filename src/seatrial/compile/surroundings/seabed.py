"""From the description of a bottom to its depths, as far as a run can reach.

A map is an array of the compiled program, so only the part around the vehicles is loaded, and its
sides have one of a few numbers of nodes: other maps, places and seeds share the program.
"""

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry import synthetic
from seatrial.bathymetry.store import MapInfo, open_map
from seatrial.engine.plan import Loaded
from seatrial.errors import SpecError
from seatrial.geometry.terrain import Terrain, side_for, terrain
from seatrial.seeding import generator
from seatrial.spec import seabed as spec
from seatrial.spec.world import World

Array = NDArray[np.float64]

MOST_ALONG = 2048
MOST_NODES = MOST_ALONG**2
"""Of a bottom in a compiled program: 32 MB in double precision."""
SAME_PLACE = 1.0
"""Distance up to which the datums of a map and of a world are the same, m."""
SHALLOWEST = 1.0
"""Least depth that waves are given where the bottom is a map, m."""


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


class Bottom(NamedTuple):
    """The bottom of a run."""

    depth: float | Terrain
    """Of a flat one, m, or over a grid."""
    for_waves: float
    """That crests of its waves are spaced by, m; motion and loads follow the depth under them."""
    loaded: Loaded | None = None
    """Of a map."""

    @property
    def deepest(self) -> float:
        """Greatest depth, m; a little where all of it is land."""
        if isinstance(self.depth, Terrain):
            return max(float(self.depth.depth.max()), SHALLOWEST)
        return self.depth


def bottom_of(world: World, seed: int, reach: Reach | None = None) -> Bottom | None:
    """The bottom of a world as far as vehicles reach, or its middle; None for deep water."""
    described = world.seabed
    if described is None:
        return None
    if isinstance(described, spec.Seabed):
        return Bottom(described.depth, described.depth)
    loaded = None
    if isinstance(described, spec.SeabedMap):
        found, whole = _from_map(world, described, reach)
        loaded = Loaded(found.origin, found.corner, whole)
    else:
        found = _made_up(described, seed, reach)
    return Bottom(found.with_room(), _depth_for_waves(found, reach), loaded)


def _depth_for_waves(found: Terrain, reach: Reach | None) -> float:
    """The mean under the places where vehicles begin and under their waypoints, so far as those are
    afloat; without any the mean of all that is under water."""
    under = found.depth.ravel() if reach is None else found.at(*reach.places.T)
    wet = under[under > 0.0]
    return max(float(wet.mean()), SHALLOWEST) if len(wet) else SHALLOWEST


def _made_up(made: spec.MadeUp, seed: int, reach: Reach | None) -> Terrain:
    # A little more than asked for, so that there is no need for a rim that repeats the edge.
    counts = [side_for(math.ceil(extent / made.spacing) + 1) for extent in made.extent]
    _check_size(made, ("extent",), counts[0], counts[1], made.extent)
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
    whole = terrain(origin, (made.spacing, made.spacing), depth)
    if reach is not None:
        rows, columns = _window(whole.origin, whole.spacing, whole.depth.shape, reach)
        whole = terrain(
            (whole.north[rows.start], whole.east[columns.start]),
            whole.spacing,
            whole.depth[rows, columns],
        )
    return whole


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


def _from_map(
    world: World, described: spec.SeabedMap, reach: Reach | None
) -> tuple[Terrain, tuple[Array, Array]]:
    """The part that is loaded, and between which corners the map lies."""
    file = Path(described.map)
    if not file.is_absolute() and described._source is not None:
        file = Path(described._source.file).parent / file

    def refused(message: str, expected: str, mend: str) -> SpecError:
        return described.error(("map",), message, value=described.map, expected=expected, mend=mend)

    def unreadable(error: Exception) -> SpecError:
        made = file.name if file.suffix else "bottom.nc"
        return refused(
            f"no map can be read from `{file}` ({getattr(error, 'strerror', None) or error})",
            "a file of `seatrial seabed import`",
            f"make it: seatrial seabed import SOUNDINGS --out {made}",
        )

    with ExitStack() as stack:
        try:
            source = stack.enter_context(open_map(file))
        except (OSError, ValueError) as error:
            raise unreadable(error) from None
        info = source.info
        _check_datum(world, described, info)
        rows, columns = (_middle(count) for count in info.shape)
        if reach is not None:
            _check_starts(info, reach, refused)
            rows, columns = _window(info.origin, info.spacing, info.shape, reach)
        counts = rows.stop - rows.start, columns.stop - columns.start
        extent = counts[0] * float(info.spacing[0]), counts[1] * float(info.spacing[1])
        _check_size(described, ("map",), *counts, extent)
        try:
            found = source.read(rows, columns)
        except (OSError, ValueError) as error:
            raise unreadable(error) from None
    holes = int(np.isnan(found.depth).sum())
    if holes:
        raise refused(
            f"{holes} of the {found.depth.size} nodes around the vehicles have no depth",
            "a map without holes",
            "import it again with `--holes fill`, or keep away from them",
        )
    return found, (info.origin, _corner(info))


def _corner(info: MapInfo) -> Array:
    """(2,) north and east of the last node, m."""
    return np.asarray(info.origin + info.spacing * (np.array(info.shape) - 1))


def _middle(count: int) -> slice:
    """So many nodes along a side as a program may hold, for whoever has no vehicles."""
    first = max(0, (count - MOST_ALONG) // 2)
    return slice(first, min(count, first + MOST_ALONG))


def _window(
    origin: Array, spacing: Array, shape: tuple[int, ...], reach: Reach
) -> tuple[slice, slice]:
    """Rows and columns that hold what the vehicles reach, widened to a usual number of nodes."""
    found = []
    for axis in range(2):
        first = math.floor((reach.low[axis] - origin[axis]) / spacing[axis])
        last = math.ceil((reach.high[axis] - origin[axis]) / spacing[axis]) + 1
        wanted = side_for(min(last - first, shape[axis]))
        first -= (wanted - (last - first)) // 2
        first = max(0, min(first, shape[axis] - wanted))
        found.append(slice(first, min(first + wanted, shape[axis])))
    return found[0], found[1]


def _check_size(
    owner: spec.MadeUp | spec.SeabedMap,
    path: tuple[str, ...],
    rows: int,
    columns: int,
    extent: tuple[float, float],
) -> None:
    if side_for(rows) * side_for(columns) <= MOST_NODES:
        return
    if isinstance(owner, spec.MadeUp):
        mend = "make `extent` smaller, or `spacing` larger"
    else:
        mend = (
            "shorten the run, give its vehicles a `mission` (only its surroundings are loaded "
            "then), or import the map again with a larger `--spacing`"
        )
    raise owner.error(
        path,
        f"{extent[0]:.4g} m by {extent[1]:.4g} m of bottom are {rows} by {columns} nodes",
        expected=f"at most {MOST_NODES} nodes where the vehicles can be",
        mend=mend,
    )


def _check_datum(world: World, described: spec.SeabedMap, info: MapInfo) -> None:
    if info.datum is None:
        return
    from seatrial.spatial.geodesy import to_ned

    here = (world.datum.latitude_deg, world.datum.longitude_deg)
    away = float(np.linalg.norm(to_ned(*info.datum, 0.0, here)))
    if away > SAME_PLACE:
        latitude, longitude = info.datum
        raise described.error(
            ("map",),
            f"the map's datum lies {away / 1000.0:.4g} km from the world's",
            value=described.map,
            expected=f"a world with the datum {latitude:.8g}, {longitude:.8g}",
            mend=f"write `datum: {{latitude_deg: {latitude!r}, longitude_deg: {longitude!r}}}` "
            f"beside `seabed`, or import the map with `--datum {here[0]:g},{here[1]:g}`",
        )


def _check_starts(
    info: MapInfo, reach: Reach, refused: Callable[[str, str, str], SpecError]
) -> None:
    """Refuse a map that a vehicle does not begin on; it goes on as at its edge for all else."""
    corner = _corner(info)
    for name, (_, place) in reach.starts.items():
        beyond = np.maximum(info.origin - place, place - corner).max()
        if beyond > 0.0:
            (n0, e0), (n1, e1) = info.origin, corner
            raise refused(
                f"`{name}` begins {beyond:.4g} m outside of the map",
                f"a start between {n0:.4g} and {n1:.4g} m north, {e0:.4g} and {e1:.4g} m east",
                "start it on the map, or import the map about another `--datum`",
            )
