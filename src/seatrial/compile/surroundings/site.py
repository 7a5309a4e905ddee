"""The sea and the bodies of a scenario, each built once, for its plan and for its pictures."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from seatrial.compile.events.schedule import settle_time_step
from seatrial.compile.surroundings.light import stage_of
from seatrial.compile.surroundings.reach import beyond_start, bottom_within_reach
from seatrial.compile.surroundings.scene import bodies_of, ray_scene
from seatrial.compile.surroundings.seabed import Bottom
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.swarm import Member, members_of
from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.geometry.solids import build_solids
from seatrial.ocean import Ocean, Seabed
from seatrial.render.picture import Stage
from seatrial.spec.scenario import Scenario

DType = np.dtype[Any]


class Site:
    """Where a scenario takes place; call inside `jax.enable_x64(True)`."""

    def __init__(self, scenario: Scenario) -> None:
        self.timed = settle_time_step(scenario)
        self._oceans: dict[DType, Ocean] = {}

    @cached_property
    def bottom(self) -> Bottom | None:
        """As far as the vehicles may get."""
        return bottom_within_reach(self.timed)

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """Of the world and the scenario."""
        return bodies_of(self.timed, self.timed.seed, self.bottom)

    def ocean(self, dtype: DType) -> Ocean:
        """The sea in a precision."""
        if dtype not in self._oceans:
            ocean = build_ocean(self.timed.world, self.timed.seed, dtype, self.bottom)
            self._oceans[dtype] = replace(ocean, solids=build_solids(self.bodies, dtype))
        return self._oceans[dtype]

    def finest_ocean(self) -> Ocean:
        """The sea in the best precision in which it was asked for."""
        return self._oceans[max(self._oceans, key=lambda dtype: dtype.itemsize)]

    def rays(self, members: Sequence[Member], dtype: DType) -> RayScene:
        """What rays meet, with the vehicles in an order."""
        hulls = [(m.name, m.participant.vehicle) for m in members]
        return ray_scene(self.timed, hulls, self.bodies, self.ocean(dtype))

    def stage(self) -> Stage:
        """Everything that can be seen, and the light on it; vehicles as the scenario has them.

        Pictures are drawn in any order, so that all of the bottom that vehicles reach is there.
        """
        double = np.dtype(np.float64)
        members = [
            member
            for i, participant in enumerate(self.timed.vehicles)
            for member in members_of(participant, i, self.timed.seed)
        ]
        rays, ocean = self.rays(members, double), self.ocean(double)
        farther = None if self.bottom is None else beyond_start(self.timed, self.bottom)
        if farther is not None:
            grid = farther.grid()
            rays, ocean = rays.over(grid), replace(ocean, seabed=Seabed(grid))
        return stage_of(self.timed.world, rays, ocean)
