"""The loaded part of a map follows the vehicles of a run, without compiling anything.

Now and then, at instants that depend on the plan alone, it is looked whether a vehicle may come
within sight of the edge of that part before the next look. Then the part around the vehicles is
read and put into the plan. Whoever drives the engine, and in whatever steps, the same parts are
loaded at the same instants.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.engine.compiled.judging import RUNNING
from seatrial.engine.loaded import Follow, Loaded, Moved
from seatrial.engine.plan import Fleet, Plan
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import RayScene
from seatrial.geometry.window import Chart, Window, window, with_depths
from seatrial.sensors.ranging.bottom_rays import Reach

Array = NDArray[np.float64]
Codes = NDArray[np.int32]

NEVER = 1 << 30
"""Control periods until the next look at vehicles whose map is loaded whole."""
LEAST_MOVE = 8
"""A part is loaded anew where it lies elsewhere by one share in so many of a side: vehicles that
are too far apart for it shall not have it read at every look."""


class Following:
    """Looks after the loaded part of a run."""

    def __init__(self, now: Loaded | None, period: float) -> None:
        """`now` is what a run begins with; `period` the control period, s."""
        self._now = now
        self._periods = NEVER
        if now is not None and now.follow is not None:
            self._periods = max(1, int(now.follow.every / period + 1e-9))

    @classmethod
    def of(cls, plan: Plan) -> "Following":
        """At the start of a plan."""
        return cls(plan.loaded, plan.schedule.time_step * plan.schedule.substeps)

    def rest(self, periods: int) -> int:
        """Control periods from the one of that number on until the next look."""
        return self._periods - periods % self._periods

    def due(self, periods: int) -> bool:
        """Whether it is time to look; the start has its part already."""
        return periods > 0 and periods % self._periods == 0

    def look(self, vehicles: Sequence[tuple[Array, Codes]], time: float) -> Moved | None:
        """Another part, where vehicles need it: their positions (3, N) and status (N,), by fleet.

        It holds all that run, or those that it can, of which the first is always one.
        """
        now = self._now
        if now is None or now.follow is None or now.unread:
            return None
        follow = now.follow
        places = np.concatenate(
            [np.asarray(at, np.float64)[:2, codes == RUNNING].T for at, codes in vehicles]
        )
        if not len(places):
            return None
        # Who has left the map has the bottom of its edge, and shall not draw the part from others.
        places = np.clip(places, now.chart.origin, now.chart.corner)
        wanted = around(now.chart, follow, places)
        if _holds(now, places, follow.room) or not _worth_while(now, wanted):
            return None
        try:
            found = follow.source.read(wanted)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            self._now = replace(now, unread=f"the map cannot be read any more ({why})")
        else:
            known, holes = with_depths(found, follow.source.deepest)
            self._now = replace(now, part=known, holes=holes)
        return Moved(time, self._now)


def _worth_while(loaded: Loaded, wanted: Window) -> bool:
    """Whether another part lies elsewhere by enough, or reaches to an edge of the map."""
    part = loaded.part
    for first, side, span, end in zip(
        part.first, part.depth.shape, wanted, loaded.chart.shape, strict=True
    ):
        moved = abs(span.start - first)
        at_edge = span.start == 0 or span.stop == end
        if moved and (at_edge or moved * LEAST_MOVE >= side):
            return True
    return False


def around(chart: Chart, follow: Follow, places: Array) -> Window:
    """The part that holds places (K, 2) and the room around them: all, or those that it can, in
    their order."""
    low, high = places.min(axis=0), places.max(axis=0)
    most = follow.spread(chart)
    if np.any(high - low > most):
        low = high = places[0]
        for place in places[1:]:
            lower, higher = np.minimum(low, place), np.maximum(high, place)
            if np.all(higher - lower <= most):
                low, high = lower, higher
    return window(chart, low - follow.room, high + follow.room, follow.sides)


def _holds(loaded: Loaded, places: Array, room: float) -> bool:
    """Whether the bottom is known around places, so far as the map goes."""
    low, high = places.min(axis=0) - room, places.max(axis=0) + room
    chart = loaded.chart
    enough = (loaded.low <= np.maximum(low, chart.origin)) & (
        np.minimum(high, chart.corner) <= loaded.high
    )
    return bool(enough.all())


def with_loaded(plan: Plan, loaded: Loaded, like: Plan | None = None) -> Plan:
    """The plan over another part of its map, in whatever holds one; call it inside
    `jax.enable_x64(True)`.

    `like` is over that part already: what rays meet there is not built again.
    """
    assert loaded.follow is not None
    part = loaded.part.filled_up(*loaded.follow.sides)
    grid = jax.device_put(part.grid())
    same: dict[int, RayScene] = {}

    def scene_of(fleet: int, sensor: str, held: str, scene: RayScene) -> RayScene:
        if like is not None:
            there: RayScene = getattr(like.fleets[fleet].dense[sensor], held)
            return there.following(scene.bodies)
        return same.setdefault(id(scene), scene.over(grid))

    return replace(
        plan,
        fleets=tuple(
            _over(fleet, grid, partial(scene_of, i)) for i, fleet in enumerate(plan.fleets)
        ),
        scene=replace(plan.scene, terrain=part),
        loaded=loaded,
    )


def _over(
    fleet: Fleet, grid: HeightGrid, scene_of: Callable[[str, str, RayScene], RayScene]
) -> Fleet:
    def renewed(held: Any) -> Any:
        if isinstance(held, HeightGrid):
            return grid
        return held.over(grid) if isinstance(held, Reach) else held

    group, ocean = jax.tree.map(
        renewed, (fleet.group, fleet.ocean), is_leaf=lambda held: isinstance(held, _HOLDERS)
    )
    dense = {name: seeing(one, partial(scene_of, name)) for name, one in fleet.dense.items()}
    return replace(fleet, group=group, ocean=ocean, dense=dense)


_HOLDERS = (HeightGrid, Reach)
"""What depends on the depths of the loaded part, in the arrays of a program."""


def seeing(dense: Any, other: Callable[[str, RayScene], RayScene]) -> Any:
    """A dense sensor that looks into other scenes; `other` gives one for each that it holds, by the
    name of its field."""
    if not is_dataclass(dense):
        return dense
    held = {f.name: getattr(dense, f.name) for f in fields(dense)}
    scenes = {name: other(name, s) for name, s in held.items() if isinstance(s, RayScene)}
    return replace(dense, **scenes)  # type: ignore[type-var]  # it is an instance
