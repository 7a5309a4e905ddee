"""`seatrial sensors check` and `seatrial bench sensors`."""

import json
from pathlib import Path
from typing import Any

import typer

from seatrial.api import run as run_scenario
from seatrial.compile.scenario import compile_scenario, with_overrides
from seatrial.scenario import runner
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Participant, Scenario, Start
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

BENCH_SCENARIO = """
kind: scenario
name: bench
duration: 600
time_step: 0.005
world: {name: bench, seabed: {depth: 40}}
vehicles:
  - name: remus100_mss
    vehicle: remus100_mss
    start: {position: [0, 0, 5], speed: 1.5}
    commands: {propeller_rpm: 1000}
    sensors:
      - {type: imu, name: imu, rate: 200, errors: adis16448}
      - {type: gnss, name: gnss, rate: 5}
      - {type: dvl, name: dvl, rate: 5}
      - {type: pressure, name: depth, rate: 10}
      - {type: compass, name: compass, rate: 10}
      - {type: shaft, name: rpm, rate: 10, channel: propeller}
"""
"""What the speed of sensors is stated for."""


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
    from seatrial.record.figures.plot import save
    from seatrial.record.figures.sensors_check import draw_check

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
    from seatrial.spec.scenario import ZigZag

    return {"manoeuvre": ZigZag(type="zigzag", helm=0.17, heading_change=0.17, approach=5.0)}


def bench_rows(duration: float) -> list[dict[str, Any]]:
    """Time a vehicle with its sensors, and the same one without any."""
    described = with_overrides(load_text(BENCH_SCENARIO, Scenario), duration=duration)
    bare = described.vehicles[0].model_copy(update={"sensors": ()})
    rows = []
    for scenario in (described, described.model_copy(update={"vehicles": (bare,)})):
        plan = compile_scenario(scenario)
        runner.run(plan)  # compiles
        summary, wall = min((runner.run(plan) for _ in range(3)), key=lambda result: result[1])
        rows.append(
            {
                "vehicle": scenario.vehicles[0].vehicle.name,
                "sensors": {s.name: s.rate for s in scenario.vehicles[0].fitted},
                "time_step": scenario.time_step,
                "integrator": scenario.integrator,
                "duration": summary.duration,
                "wall_s": wall,
                "real_time_factor": summary.duration / wall,
            }
        )
    return rows


def show_bench(duration: float, as_json: bool) -> None:
    """Print what `bench_rows` measured."""
    rows = bench_rows(duration)
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        fitted = ", ".join(f"{name} {rate:g} Hz" for name, rate in row["sensors"].items())
        factor = row["real_time_factor"]
        typer.echo(f"{factor:10,.0f} × real time  {row['vehicle']} with {fitted or 'no sensors'}")
