"""Hulls of described vehicles as they are drawn."""

from collections.abc import Iterable
from dataclasses import replace

from seatrial.compile.swarm import members_of
from seatrial.engine.frames import HullShape, RunHeader
from seatrial.errors import SpecError
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle


def hull_shapes(vehicles: Iterable[tuple[str, Vehicle]]) -> dict[str, HullShape]:
    """By name; a description that many share is made once."""
    from seatrial.compile.vehicles.hull_forces import hull_mesh  # much to import

    made: dict[int, HullShape] = {}
    found = {}
    for name, vehicle in vehicles:
        if vehicle.hull is None:
            continue
        if id(vehicle) not in made:
            made[id(vehicle)] = HullShape(hull_mesh(vehicle), vehicle.hull.shape)
        found[name] = made[id(vehicle)]
    return found


def with_recorded_shapes(header: RunHeader) -> RunHeader:
    """The header of a recording, which knows its hulls again."""
    return replace(header, shapes=lambda: recorded_shapes(header.description))


def recorded_shapes(description: str) -> dict[str, HullShape]:
    """Of a recording, from the scenario in it; none where a mesh has gone since."""
    try:
        scenario = load_text(description, Scenario)
        return hull_shapes(
            (member.name, member.participant.vehicle)
            for i, participant in enumerate(scenario.vehicles)
            for member in members_of(participant, i, scenario.seed)
        )
    except SpecError:
        return {}
