"""The part of a survey's map that a run begins with."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from seatrial.bathymetry.store import Map, MapInfo, open_map
from seatrial.compile.surroundings.loading import (
    MARGIN,
    MOST_ALONG,
    MOST_NODES,
    Reach,
    chosen,
    follow_of,
)
from seatrial.engine.loaded import Loaded
from seatrial.errors import SpecError
from seatrial.geometry.window import Window, nodes_between
from seatrial.spec import seabed as spec
from seatrial.spec.world import World

SAME_PLACE = 1.0
"""Distance up to which the datums of a map and of a world are the same, m."""


def part_of_map(world: World, described: spec.SeabedMap, reach: Reach | None) -> Loaded:
    """The part that a run begins with; the middle where there are no vehicles."""
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
        here: Window | None = Window(*(_middle(count) for count in info.shape))
        if reach is not None:
            _check_starts(info, reach, refused)
            here = chosen(info.chart, reach)
        if here is None:
            raise _too_large(info, reach, refused)
        follow = None
        try:
            found = source.read(*here)
            if reach is not None and here.counts != info.shape:
                whole = Map(file.absolute(), info, source.deepest)
                follow = follow_of(whole, here, reach)
        except (OSError, ValueError) as error:
            raise unreadable(error) from None
    holes = int(np.isnan(found.depth).sum())
    if holes:
        raise refused(
            f"{holes} of the {found.depth.size} nodes around the vehicles have no depth",
            "a map without holes",
            "import it again with `--holes fill`, or keep away from them",
        )
    return Loaded(found, info.chart, survey=True, follow=follow)


def _middle(count: int) -> slice:
    """So many nodes along a side as a program may hold, for whoever has no vehicles."""
    first = max(0, (count - MOST_ALONG) // 2)
    return slice(first, min(count, first + MOST_ALONG))


def _too_large(
    info: MapInfo, reach: Reach | None, refused: Callable[[str, str, str], SpecError]
) -> SpecError:
    assert reach is not None
    low, high = reach.places.min(axis=0), reach.places.max(axis=0)
    rows, columns = nodes_between(info.chart, low - MARGIN, high + MARGIN)
    return refused(
        f"starts and waypoints lie {high[0] - low[0]:.4g} m apart towards north and "
        f"{high[1] - low[1]:.4g} m towards east: {rows} by {columns} nodes",
        f"at most {MOST_NODES} nodes around all of them",
        "run the vehicles, or parts of the mission, one by one, or import the map again with a "
        "larger `--spacing`",
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
    corner = info.chart.corner
    for name, (_, place) in reach.starts.items():
        beyond = np.maximum(info.origin - place, place - corner).max()
        if beyond > 0.0:
            (n0, e0), (n1, e1) = info.origin, corner
            raise refused(
                f"`{name}` begins {beyond:.4g} m outside of the map",
                f"a start between {n0:.4g} and {n1:.4g} m north, {e0:.4g} and {e1:.4g} m east",
                "start it on the map, or import the map about another `--datum`",
            )
