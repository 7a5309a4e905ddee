"""Cuts the vehicles of a plan into parts that cores work on side by side."""

from dataclasses import dataclass

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.engine.command.pilot import Pilot
from seatrial.engine.compiled.group import Group
from seatrial.engine.plan import Plan
from seatrial.ocean import Ocean
from seatrial.pytree import take

VEHICLES_PER_PART = 256
"""A group is cut into parts of at most this many vehicles, whose wave phases fit into the cache
of a core; parts run on all cores at once. It must not depend on the number of cores, or a run
would give other bytes on another machine."""

SMALLEST_SPLIT = 64
"""From this many vehicles on there are at least two parts: a second core gains more than the
shorter loops of a part lose."""


@dataclass(frozen=True)
class Member:
    """Vehicles of one fleet in a part."""

    fleet: int
    """Place of the fleet in the plan."""
    first: int
    """Place of the first of these vehicles in the fleet."""
    count: int
    """How many there are; further columns repeat the last one, so that parts share a program."""
    group: Group
    ocean: Ocean

    @property
    def columns(self) -> NDArray[np.int64]:
        """The vehicle of each column, counted in the fleet."""
        last = self.first + self.count - 1
        return np.minimum(self.first + np.arange(self.group.count), last)


Part = tuple[Member, ...]
"""Vehicles that are computed together."""


def parts_of(plan: Plan) -> list[Part]:
    """All vehicles of a plan, each in one part; where some meet others, all of them in one."""
    if any(fleet.group.meets_others for fleet in plan.fleets):
        return [
            tuple(
                Member(i, 0, fleet.group.count, fleet.group, fleet.ocean)
                for i, fleet in enumerate(plan.fleets)
            )
        ]
    return [
        (Member(i, first, count, group, fleet.ocean),)
        for i, fleet in enumerate(plan.fleets)
        for group, first, count in split(fleet.group)
    ]


def split(group: Group) -> list[tuple[Group, int, int]]:
    """Equal parts of a group, each with its first vehicle and how many of them are new."""
    whole = group.count < SMALLEST_SPLIT or isinstance(group.commander, Pilot)
    if jax.default_backend() != "cpu" or whole:
        return [(group, 0, group.count)]
    number = max(2, -(-group.count // VEHICLES_PER_PART))
    size = -(-group.count // number)
    parts = []
    for first in range(0, group.count, size):
        index = np.minimum(np.arange(first, first + size), group.count - 1)
        parts.append((take(group, index), first, min(size, group.count - first)))
    return parts
