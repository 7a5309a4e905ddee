"""`seatrial bench sensors` and `seatrial bench closed-loop`: what whole runs cost."""

import json
from typing import Any

import typer

from seatrial.compile.scenario import compile_scenario, with_overrides
from seatrial.engine.run import run
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Scenario

REPEATS = 3

SENSORS = """
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


def sensor_cases(duration: float) -> dict[str, Scenario]:
    """A vehicle with its sensors, and the same one without any."""
    described = with_overrides(load_text(SENSORS, Scenario), duration=duration)
    bare = described.vehicles[0].model_copy(update={"sensors": ()})
    return {
        "with sensors": described,
        "without": described.model_copy(update={"vehicles": (bare,)}),
    }


def closed_loop_cases(duration: float | None) -> dict[str, Scenario]:
    """Sookshma on its waypoints with sensors and filter, and the same fed back the truth."""
    described = with_overrides(load("sookshma-waypoints", Scenario), duration=duration)
    told = described.vehicles[0].model_copy(update={"feedback": "truth", "sensors": ()})
    return {
        "sensors and filter": described,
        "feedback of the truth": described.model_copy(update={"vehicles": (told,)}),
    }


def show(cases: dict[str, Scenario], as_json: bool) -> None:
    """Time every case; print as it goes, or all as one JSON list."""
    rows = []
    for name, scenario in cases.items():
        row = time_run(name, scenario)
        rows.append(row)
        if not as_json:
            typer.echo(
                f"{row['real_time_factor']:10,.0f} × real time  {row['vehicle']}, {row['case']}"
            )
    if as_json:
        typer.echo(json.dumps(rows, indent=2))


def time_run(case: str, scenario: Scenario) -> dict[str, Any]:
    """The best of several runs without a recording; the first, which compiles, does not count."""
    plan = compile_scenario(scenario)
    run(plan)
    best = min((run(plan) for _ in range(REPEATS)), key=lambda ending: ending.wall_time)
    summary, wall = best.summary, best.wall_time
    vehicle = scenario.vehicles[0]
    return {
        "case": case,
        "vehicle": vehicle.vehicle.name,
        "sensors": {s.name: s.rate for s in vehicle.fitted},
        "time_step": plan.schedule.time_step,
        "integrator": scenario.integrator,
        "duration": summary.duration,
        "wall_s": wall,
        "real_time_factor": summary.duration / wall,
    }
