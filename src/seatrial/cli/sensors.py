"""`seatrial sensors check`: a minute of every sensor against the truth."""

from pathlib import Path
from typing import Any

import typer

from seatrial.api import run as run_scenario
from seatrial.spec.loading import load
from seatrial.spec.scenario import Participant, Scenario, Start, ZigZag
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

CHECK_DURATION = 60.0
CHECK_WORLD = {
    "kind": "world",
    "name": "sensor_check",
    "waves": {"spectrum": "jonswap", "significant_height": 0.3, "peak_period": 4.0},
    "wind": {"speed": 5.0},
    "current": {"speed": 0.2, "towards": 1.0},
    "seabed": {"depth": 30.0},
}
"""Enough of everything for every sensor to have something to measure."""


def show_check(name: str, out: Path | None, seed: int) -> None:
    """Run a vehicle for a minute and draw each of its sensors against the truth."""
    vehicle = load(name, Vehicle)
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
        duration=CHECK_DURATION,
        world=World.model_validate(CHECK_WORLD),
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
    finished = run_scenario(scenario)
    from seatrial.figures.plot import save
    from seatrial.figures.sensors_check import draw_check

    info = finished.header.vehicles[0]
    known = {s.name: s for s in info.sensors}
    pairs = [(known[s.name], known[f"{s.name}_ideal"]) for s in vehicle.sensors]
    page = draw_check(finished.recording, info.name, pairs)
    out = out or Path(f"{vehicle.name}-sensors.png")
    save(page, out)
    for sensor, _ in pairs:
        typer.echo(f"{sensor.name:>14}  {sensor.type:<13} {sensor.rate:6g} Hz")
    typer.echo(f"figure: {out}")


def _dives(vehicle: Vehicle) -> bool:
    return vehicle.buoyancy.craft == "submerged"


def _orders(vehicle: Vehicle) -> dict[str, Any]:
    """A zig-zag where the vehicle knows helm and engine, else nothing."""
    if vehicle.manoeuvring is None:
        return {}
    return {"manoeuvre": ZigZag(type="zigzag", helm=0.17, heading_change=0.17, approach=5.0)}
