"""A minute of every sensor of a vehicle against the truth."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seatrial.record.reader import Recording
from seatrial.signals import SensorInfo
from seatrial.spec.scenario import Participant, Scenario, Start, ZigZag
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World
from seatrial.validation.sailing import sail

if TYPE_CHECKING:
    from seatrial.figures.page import Page

DURATION = 60.0
WORLD = {
    "kind": "world",
    "name": "sensor_check",
    "waves": {"spectrum": "jonswap", "significant_height": 0.3, "peak_period": 4.0},
    "wind": {"speed": 5.0},
    "current": {"speed": 0.2, "towards": 1.0},
    "seabed": {"depth": 30.0},
}
"""Enough of everything for every sensor to have something to measure."""


@dataclass(frozen=True)
class SensorCheck:
    """A minute at sea, in which every sensor has an ideal twin."""

    recording: Recording
    pairs: tuple[tuple[SensorInfo, SensorInfo], ...]
    """Each sensor, and the same one without errors."""

    def draw(self) -> "Page":
        """Each sensor against the truth."""
        from seatrial.figures.sensors_check import draw_check

        return draw_check(self.recording, self.recording.header.vehicles[0].name, list(self.pairs))


def check_sensors(vehicle: Vehicle, seed: int = 0) -> SensorCheck:
    """Run a vehicle for a minute; refuses one that has no sensors."""
    if not vehicle.sensors:
        raise vehicle.error(
            ("sensors",),
            f"the vehicle `{vehicle.name}` has no sensors",
            expected="a vehicle with a `sensors` list",
            mend="add sensors to its description",
        )
    ideal = tuple(
        s.model_copy(update={"name": f"{s.name}_ideal", "fidelity": "ideal"})
        for s in vehicle.sensors
    )
    scenario = Scenario(
        kind="scenario",
        name="sensor-check",
        seed=seed,
        duration=DURATION,
        world=World.model_validate(WORLD),
        vehicles=(
            Participant(
                name=vehicle.name,
                vehicle=vehicle,
                sensors=(*vehicle.sensors, *ideal),
                start=Start(position=(0.0, 0.0, 5.0 if _dives(vehicle) else 0.0)),
                **_orders(vehicle),
            ),
        ),
    )
    recording = sail(scenario)
    known = {s.name: s for s in recording.header.vehicles[0].sensors}
    pairs = tuple((known[s.name], known[f"{s.name}_ideal"]) for s in vehicle.sensors)
    return SensorCheck(recording, pairs)


def _dives(vehicle: Vehicle) -> bool:
    return vehicle.buoyancy.craft == "submerged"


def _orders(vehicle: Vehicle) -> dict[str, Any]:
    """A zig-zag where the vehicle knows helm and engine, else nothing."""
    if vehicle.manoeuvring is None:
        return {}
    return {"manoeuvre": ZigZag(type="zigzag", helm=0.17, heading_change=0.17, approach=5.0)}
