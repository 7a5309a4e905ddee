"""`seatrial check`: everything that a run would refuse, without running."""

import warnings

from seatrial.compile.scenario import compile_scenario
from seatrial.compile.vehicles.plausibility import within_reach
from seatrial.compile.vehicles.proportions import doubts_about_vehicle
from seatrial.errors import SpecWarning
from seatrial.spec.loading import load
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.sensors.inertial import ImuErrors
from seatrial.spec.sensors.optical import LidarModel
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

MOST_OF_A_SWARM = 100
"""Vessels of a swarm that are looked at: the others are of the same kind."""


def check_description(reference: str) -> str:
    """Load and compile a description; returns what it describes or raises SpecError."""
    described = load(reference)
    if isinstance(described, Scenario):
        few = [
            one.model_copy(update={"count": min(one.count, MOST_OF_A_SWARM)})
            for one in described.vehicles
        ]
        compile_scenario(described.model_copy(update={"vehicles": tuple(few)}))
        return "scenario"
    if isinstance(described, World):
        check_world(described)
        return "world"
    if isinstance(described, ImuErrors | LidarModel):
        return described.kind  # loading it was the whole check
    assert isinstance(described, Vehicle)
    check_vehicle(described)
    return "vehicle"


def check_world(world: World) -> None:
    """Build the ocean, as a run would."""
    import jax
    import numpy as np

    from seatrial.compile.surroundings.world import build_ocean

    with jax.enable_x64(True), within_reach(world):
        build_ocean(world, seed=0, dtype=np.dtype(np.float64))


def check_vehicle(vehicle: Vehicle) -> None:
    """Compile the vehicle with its sensors, alone in calm water."""
    import jax
    import numpy as np

    from seatrial.compile.events.schedule import settle_time_step
    from seatrial.compile.sensors.fitting import FittedOut
    from seatrial.compile.surroundings.world import build_ocean
    from seatrial.compile.vehicles.vehicle import compile_vehicle

    alone = Participant(name="vehicle", vehicle=vehicle)
    scenario = settle_time_step(
        Scenario(kind="scenario", name="check", duration=1.0, vehicles=(alone,))
    )
    with jax.enable_x64(True), within_reach(vehicle):
        dtype = np.dtype(np.float64)
        calm = build_ocean(scenario.world, seed=0, dtype=dtype)
        compiled = compile_vehicle(vehicle, calm, dtype)
        FittedOut(scenario, alone, compiled.channels, calm, dtype)
    for doubt in doubts_about_vehicle(vehicle):
        warnings.warn(str(doubt), SpecWarning, stacklevel=2)
