"""Ballasts the vehicles of a scenario that say `trim: neutral`, in its own water."""

import jax
import numpy as np

from seatrial.compile.surroundings.seabed import Bottom
from seatrial.compile.surroundings.world import build_ocean
from seatrial.ocean import Ocean, water
from seatrial.programs import call
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.vehicle import SubmergedBuoyancy
from seatrial.spec.world import World


def settle_trim(scenario: Scenario, bottom: Bottom | None = None) -> Scenario:
    """The scenario with the displaced volume of every trimmed vehicle written out; call inside
    `jax.enable_x64(True)`.

    A craft is ballasted by taking a little mass on board or off. Its mass stays what the
    description says, since the coefficients belong to that, and its volume is what this mass needs
    to float where it starts: the weight that the two differ by is the same.
    """
    if not any(_is_trimmed(p) for p in scenario.vehicles):
        return scenario
    world = scenario.world
    still = World(
        kind="world", name="still", water=world.water, datum=world.datum, seabed=world.seabed
    )
    ocean = build_ocean(still, 0, np.dtype(np.float64), bottom)
    vehicles = tuple(_trimmed(p, ocean) if _is_trimmed(p) else p for p in scenario.vehicles)
    return scenario.model_copy(update={"vehicles": vehicles})


def _is_trimmed(participant: Participant) -> bool:
    buoyancy = participant.vehicle.buoyancy
    return isinstance(buoyancy, SubmergedBuoyancy) and buoyancy.trim is not None


_density = jax.jit(water.density)


def _trimmed(participant: Participant, ocean: Ocean) -> Participant:
    vehicle = participant.vehicle
    assert isinstance(vehicle.buoyancy, SubmergedBuoyancy)
    depth = participant.start.position[2] + vehicle.buoyancy.centre[2]
    volume = vehicle.inertia.mass / float(call(_density, ocean.water, np.float64(depth)))
    settled = vehicle.buoyancy.model_copy(update={"volume": volume, "trim": None})
    floating = vehicle.model_copy(update={"buoyancy": settled})
    return participant.model_copy(update={"vehicle": floating})
