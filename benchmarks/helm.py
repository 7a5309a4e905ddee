"""Squares, slants and turns of ROVs, and azimuth thrusters on station: tables.

    python benchmarks/helm.py rov --feedback truth
    python benchmarks/helm.py station --seeds 5

Of an ROV: the largest tilt, how near it came to the waypoint that it missed by most, in three
dimensions, and legs done. On their own sensors ROVs carry a DVL and a USBL to a transponder on the
bottom. Of `wamv_azimuth` on station by its own sensors: the distance off (rms from one minute on),
the thrust of the hardest working thruster (rms), and for which share of the time more than 5 N of
their thrusts cancel each other.
"""

import argparse
import json

import numpy as np

import seatrial as st
from seatrial.spec.loading import load_text

ROVS = ("bluerov2", "bluerov2_heavy", "sf30k")
CURRENTS = {"calm": "", "0.3 m/s": ", current: {speed: 0.3, towards_deg: 70}"}
SEAS = {
    "calm": "",
    "sea state 3, 0.3 m/s": ", current: {speed: 0.3, towards_deg: 70}, "
    "waves: {spectrum: sea_state, code: 3, towards_deg: 45}",
}
APART = 100.0
"""From mission to mission, m."""
BOTTOM = 60.0
FITTED = """
    sensors:
      - {{type: imu, name: imu, rate: 50, errors: lsm6dsr}}
      - {{type: ahrs, name: ahrs, rate: 10}}
      - {{type: pressure, name: depth, rate: 10, position: [-0.2, 0.0, 0.0]}}
      - {{type: dvl, name: dvl, rate: 5, position: [-0.1, 0.0, 0.12]}}
      - {{type: usbl, name: usbl, rate: 0.5, transponder: [4, {east}, 59]}}
"""
SETTLED = 60.0
AGAINST = 5.0
"""N."""


def slant(degrees: float) -> list[list[float]]:
    """Down by this angle and up again, 5 m each."""
    level, down = 5.0 * np.cos(np.radians(degrees)), 5.0 * np.sin(np.radians(degrees))
    return [[round(level, 3), 0.0, round(10.0 + down, 3)], [round(2.0 * level, 3), 0.0, 10.0]]


WAYS: dict[str, list[list[float]]] = {
    "square": [[6, 0, 10], [6, 6, 10], [0, 6, 10], [0, 0, 10]],
    "slant of 15 deg": slant(15),
    "slant of 30 deg": slant(30),
    "slant of 60 deg": slant(60),
    "turn by 170 deg": [[7, 0, 10], [0.1, 1.2, 10]],
}
SIDEWAYS = [
    {"do": "velocity", "sway": 0.3, "duration": 20},
    {"do": "velocity", "surge": 0.2, "sway": -0.2, "duration": 20},
]


def rov(vehicle: str, current: str, feedback: str) -> None:
    """One scenario: a vehicle for every way."""
    missions: dict[str, list[dict]] = {}
    for k, (name, way) in enumerate(WAYS.items()):
        shifted = [[n, e + APART * k, d] for n, e, d in way]
        missions[name] = [{"do": "goto", "waypoints": shifted, "speed": 0.5, "acceptance": 0.7}]
    missions["sideways"] = SIDEWAYS
    text = (
        "kind: scenario\nname: rov\nduration: 160\nstop_when_done: false\n"
        f"world: {{name: w, seabed: {{depth: {BOTTOM}}}{CURRENTS[current]}}}\nvehicles:\n"
    )
    for k, mission in enumerate(missions.values()):
        text += (
            f"  - name: rov_{k}\n    vehicle: {vehicle}\n    feedback: {feedback}\n"
            f"    start: {{position: [0, {APART * k}, 10]}}\n    mission: {json.dumps(mission)}"
        )
        text += FITTED.format(east=APART * k) if feedback == "estimate" else "\n"
    run = st.run(load_text(text, st.Scenario))
    for k, name in enumerate(missions):
        data, legs = run.recording.vehicle(f"rov_{k}"), run.header.vehicles[k].legs
        _, x, y, _ = data["attitude"].values.T
        tilt = np.degrees(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))
        ends = [np.array(leg.end) for leg in legs if leg.kind == "track"]
        missed = max(
            (np.linalg.norm(data["position"].values - end, axis=1).min() for end in ends),
            default=np.nan,
        )
        near = f"{missed:.2f}" if ends else "–"
        done = int(data["leg"].values.ravel()[-1])
        print(
            f"| {vehicle} | {current} | {feedback} | {name} | {tilt.max():.1f} | {near} | "
            f"{done} of {len(legs)} |",
            flush=True,
        )


def station(sea: str, seeds: int) -> None:
    """A vehicle on station under every seed."""
    text = (
        "kind: scenario\nname: station\nduration: 260\n"
        f"world: {{name: w, seabed: {{depth: 50}}{SEAS[sea]}}}\n"
        "vehicles:\n  - name: craft\n    vehicle: wamv_azimuth\n    mission:\n"
        "      - {do: hold, position: [0, 0, 0], heading_deg: 30, duration: 300}\n"
    )
    data = st.run_many(load_text(text, st.Scenario), seeds=range(1, seeds + 1))
    late = data.sel(time=data.time > SETTLED).isel(vehicle=0)
    off = np.sqrt(np.mean(np.sum(late.position.values[..., :2] ** 2, axis=-1)))
    channels = [str(c) for c in late.channel.values]
    pushes = [c for c in channels if f"{c}_angle" in channels]
    thrust = [late.command.sel(channel=c).values for c in pushes]
    angle = [late.command.sel(channel=f"{c}_angle").values for c in pushes]
    hardest = max(float(np.sqrt(np.mean(t**2))) for t in thrust)
    ahead, aside = (
        sum(t * part(a) for t, a in zip(thrust, angle, strict=True)) for part in (np.cos, np.sin)
    )
    wasted = sum(np.abs(t) for t in thrust) - np.hypot(ahead, aside)
    print(
        f"| {sea} | {seeds} | {off:.2f} | {hardest:.1f} | {100 * np.mean(wasted > AGAINST):.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("rov", "station"))
    parser.add_argument("--vehicle", choices=ROVS, action="append")
    parser.add_argument("--feedback", choices=("truth", "estimate"), default="truth")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    if given.what == "rov":
        print("| vehicle | water | feedback | way | tilt, largest deg | missed by m | legs done |")
        print("|---|---|---|---|---|---|---|")
        for vehicle in given.vehicle or ROVS:
            for current in CURRENTS:
                rov(vehicle, current, given.feedback)
    else:
        print("| sea | seeds | off m | thrust N | cancelled % |")
        print("|---|---|---|---|---|")
        for sea in SEAS:
            station(sea, given.seeds)


if __name__ == "__main__":
    main()
