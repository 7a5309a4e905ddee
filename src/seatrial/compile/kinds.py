"""The different vehicles of a scenario, each compiled once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from seatrial.compile.control.compiled_controllers import CompiledControllers
from seatrial.compile.sensors.fitting import FittedOut
from seatrial.compile.surroundings.site import Site
from seatrial.compile.swarm import Member
from seatrial.compile.vehicles.vehicle import CompiledVehicle, compile_vehicle
from seatrial.compile.vehicles.wave_forces import load_wave_forces
from seatrial.geometry.rays import RayScene
from seatrial.spec import scenario as spec
from seatrial.spec.sensors.contacts import Ais, Radar

DType = np.dtype[Any]

_OWN = {
    *("name", "start", "commands", "manoeuvre", "mission", "controller"),
    *("count", "formation", "spacing"),
}
"""What tells vehicles of one kind apart, or is put into arrays per vehicle."""


class Kinds:
    """The different vehicles of a scenario, each compiled once, and the seas they need."""

    def __init__(
        self,
        scenario: spec.Scenario,
        members: list[Member],
        controllers: CompiledControllers,
        site: Site,
    ) -> None:
        self._scenario = scenario
        self.site = site
        self._controllers = controllers
        self._different: list[tuple[int, spec.Participant]] = []
        for i, participant in enumerate(scenario.vehicles):
            if self._find(participant) is None:
                self._different.append((i, participant))
        in_fleets = sorted(members, key=self.key)
        self._numbers = {member.name: i + 1 for i, member in enumerate(in_fleets)}
        # The vehicles in the order of the traffic, which is the fleets'.
        rays = site.rays(in_fleets, self.dtype(scenario.vehicles[0]))
        self._kinds = [self._compile(participant, i, rays) for i, participant in self._different]

    def key(self, member: Member) -> tuple[int, str, int, int]:
        """Vehicles of one kind that take orders in the same way share a program."""
        order = member.participant.manoeuvre
        steps = order.steps if isinstance(order, spec.Spiral) else 0
        index = self._find(member.participant)
        assert index is not None
        own = self._controllers.key(member.name)
        return index, order.type if order else "", steps, own

    def of(self, participant: spec.Participant) -> "Kind":
        """What a participant was compiled to."""
        index = self._find(participant)
        assert index is not None
        return self._kinds[index]

    def dtype(self, participant: spec.Participant) -> DType:
        """Single precision for swarms, double for others, unless the scenario says otherwise."""
        chosen = self._scenario.precision or ("single" if participant.count > 1 else "double")
        return np.dtype(np.float64 if chosen == "double" else np.float32)

    def _find(self, participant: spec.Participant) -> int | None:
        wanted = self._alike(participant)
        for i, (_, known) in enumerate(self._different):
            if self._alike(known) == wanted:
                return i
        return None

    def _alike(self, participant: spec.Participant) -> tuple[DType, bool, dict[str, Any]]:
        """Equal for vehicles that share a model, sensors, faults and a pilot."""
        shared = {name: value for name, value in participant if name not in _OWN}
        return self.dtype(participant), bool(participant.mission), shared

    def _compile(self, participant: spec.Participant, index: int, rays: RayScene) -> "Kind":
        dtype = self.dtype(participant)
        loaded = None
        if participant.wave_forces is not None:
            loaded = load_wave_forces(self._scenario, index, self.site.ocean(dtype), dtype)
        vehicle = compile_vehicle(
            participant.vehicle,
            self.site.ocean(dtype),
            dtype,
            self._scenario.integrator,
            loaded,
            vehicles_touch(self._scenario),
        )
        sensors = FittedOut(
            self._scenario,
            participant,
            vehicle.channels,
            self.site.ocean(dtype),
            dtype,
            rays,
            self._numbers,
        )
        return Kind(vehicle, sensors)


@dataclass(frozen=True)
class Kind:
    """What a sort of vehicle was compiled to."""

    vehicle: CompiledVehicle
    sensors: FittedOut


def vehicles_touch(scenario: spec.Scenario) -> bool:
    """Whether vehicles push each other: as the scenario says, or where they meet anyway."""
    alone = len(scenario.vehicles) == 1 and scenario.vehicles[0].count == 1
    if alone or scenario.vehicles_touch is not None:
        return bool(scenario.vehicles_touch) and not alone
    looking = any(isinstance(s, Ais | Radar) for p in scenario.vehicles for s in p.fitted)
    return looking or scenario.stop_when_collided
